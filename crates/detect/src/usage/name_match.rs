//! Finds names in an answer.

use super::answer_kind::AnswerKind;
use super::certainty::Certainty;
use super::name::{ItemName, NameEndings, NamePart};
use super::parsed_answer::ParsedAnswer;
use super::tokenizer::{Gap, Token, TokenKind};
use super::word_lists::word_lists;
use crate::lexicon::lexicon;

#[derive(Clone, Copy, Debug)]
pub(super) struct NameMatch {
    pub(super) first: usize,
    pub(super) last: usize,
    pub(super) certainty: Certainty,
}

impl ItemName {
    pub(super) fn find_best_match(
        &self,
        answer: &ParsedAnswer<'_>,
        endings: &NameEndings,
    ) -> Option<NameMatch> {
        let joined = self.joined_text();
        let starts = answer.suffixes.find_prefix(&answer.tokenized, joined);
        starts
            .filter_map(|first| self.match_at(answer, endings, first, joined))
            .max_by_key(|found| (found.certainty, std::cmp::Reverse(found.first)))
    }

    fn match_at(
        &self,
        answer: &ParsedAnswer<'_>,
        endings: &NameEndings,
        first: usize,
        joined: &str,
    ) -> Option<NameMatch> {
        let tokens = &answer.tokenized.tokens;
        let from = tokens[first].folded_start as usize;
        if !answer.tokenized.folded[from..].starts_with(joined) {
            return None;
        }
        let to = (from + joined.len()) as u32;
        let last = first + tokens[first..].iter().position(|p| p.folded_end >= to)?;
        // "webhook signatures" matches "Webhook signature".
        let rest = &answer.tokenized.folded[to as usize..tokens[last].folded_end as usize];
        let plural = rest == "s" && !self.is_one_word() && tokens[last].kind == TokenKind::Letters;
        let whole = rest.is_empty() || plural;
        let open = !answer.ignored[first] && !is_inside_longer_text(self, answer, first, last);
        if !whole || !open || !self.has_matching_gaps(answer, first, last) {
            return None;
        }
        let certainty = self.rate_match(answer, endings, first, last)?;
        Some(NameMatch { first, last, certainty })
    }

    /// A sentence end or a comma may occur inside a match only if the name has one.
    fn has_matching_gaps(&self, answer: &ParsedAnswer<'_>, first: usize, last: usize) -> bool {
        let tokens = &answer.tokenized.tokens;
        (first + 1..=last).all(|at| {
            let between = answer.separator_before(at);
            let is_separated = || between.contains([',', ';']) || tokens[at].gap == Gap::Break;
            between.len() <= 6 && (self.has_comma || !is_separated())
        })
    }
}

/// Names with at least this many ideographs are not part of another word by chance.
const MIN_LONG_IDEOGRAPHS: usize = 4;

fn is_inside_longer_text(
    name: &ItemName,
    answer: &ParsedAnswer<'_>,
    first: usize,
    last: usize,
) -> bool {
    let tokens = &answer.tokenized.tokens;
    let (one, next) = (&tokens[first], tokens.get(last + 1));
    let strict_hyphen = name.is_one_word()
        || (name.has_hyphen && name.is_identifier)
        || matches!(name.part, NamePart::Tail(_))
        || tokens[last].kind != TokenKind::Letters;
    // "Falcon v3" does not match "Falcon v3.5". ("3.5" alone is one token.)
    let version_continues = next.is_some_and(|n| n.gap == Gap::Dot && n.kind == TokenKind::Number)
        && matches!(tokens[last].kind, TokenKind::Number | TokenKind::Mixed);
    let joins = |a: &Token, b: &Token| match b.gap {
        Gap::None if a.kind == TokenKind::Sign || b.kind == TokenKind::Sign => {
            ideographs_join(name, answer, a, b)
        }
        Gap::None | Gap::Underscore => true,
        Gap::Hyphen => strict_hyphen,
        Gap::Dot | Gap::Apostrophe | Gap::Tight | Gap::Space | Gap::Break => false,
    };
    let before = first > 0 && joins(&tokens[first - 1], one);
    let after = next.is_some_and(|next| joins(&tokens[last], next));
    before || after || version_continues || is_inside_longer_name(name, answer, last)
}

/// "Premium" does not match "Premium Plus", nor "Skarv 2" "Skarv 2 GT".
fn is_inside_longer_name(name: &ItemName, answer: &ParsedAnswer<'_>, last: usize) -> bool {
    let tokens = &answer.tokenized.tokens;
    let Some(next) = tokens.get(last + 1).filter(|next| next.gap == Gap::Space) else {
        return false;
    };
    let extends_name = match next.kind {
        TokenKind::Letters | TokenKind::Mixed => {
            next.is_capitalised && !lexicon().is_stop_word(next.hash)
        }
        TokenKind::Number => tokens[last].kind == TokenKind::Letters && name.is_one_word(),
        TokenKind::Sign => false,
    };
    answer.separator_before(last + 1) == " "
        && extends_name
        && tokens[last].is_capitalised | (tokens[last].kind != TokenKind::Letters)
        && answer.kind == AnswerKind::Response
        && (!answer.capitalises_nouns || next.kind == TokenKind::Number)
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Script {
    Hiragana,
    Katakana,
    Ideograph,
    Other,
}

/// True when two neighbouring tokens may belong to one word. 京都 does not match 東京都, nor サービス
/// ログインサービス. Without word segmentation, a word may also end at a particle, and long ideograph names
/// always match.
fn ideographs_join(name: &ItemName, answer: &ParsedAnswer<'_>, a: &Token, b: &Token) -> bool {
    let (one, other) = (classify_script(answer, a), classify_script(answer, b));
    if one != other {
        return false;
    }
    let particle = |token: &Token| word_lists().particles.contains(&token.hash);
    match one {
        Script::Katakana => true,
        Script::Ideograph => {
            name.tokens().len() < MIN_LONG_IDEOGRAPHS && !particle(a) && !particle(b)
        }
        Script::Hiragana | Script::Other => false,
    }
}

fn classify_script(answer: &ParsedAnswer<'_>, token: &Token) -> Script {
    let first = answer.tokenized.folded_token(token).chars().next().map_or(0, u32::from);
    match (token.kind, first) {
        (TokenKind::Sign, 0x3040..=0x309F) => Script::Hiragana,
        (TokenKind::Sign, 0x30A0..=0x30FF | 0xFF66..=0xFF9D) => Script::Katakana,
        (TokenKind::Sign, _) => Script::Ideograph,
        (TokenKind::Letters | TokenKind::Number | TokenKind::Mixed, _) => Script::Other,
    }
}
