//! Rates how certainly matched words are meant as the item's name.

use super::answer_kind::AnswerKind;
use super::layout::is_in_comment;
use super::name::{ItemName, NameEndings, NamePart, PathTail};
use super::parsed_answer::ParsedAnswer;
use super::tokenizer::{Gap, TokenKind};
use super::weight::is_known_word;
use super::word_lists::word_lists;
use crate::text::closing_quote;

const MIN_LONG_WORD_BYTES: u32 = 14;
/// Names with at least this many words rarely match by chance.
const MIN_DISTINCTIVE_WORDS: usize = 5;

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Certainty {
    /// Everyday words that could mean anything.
    Common,
    /// Rare words, or words written as a name.
    Likely,
    /// Distinctive: hardly anything else has this name.
    Sure,
}

impl ItemName {
    /// Certainty of a match at the given tokens; `None` when the words mean something else.
    pub(super) fn rate_match(
        &self,
        answer: &ParsedAnswer<'_>,
        endings: &NameEndings,
        first: usize,
        last: usize,
    ) -> Option<Certainty> {
        let plain = self.rate_plain_match(answer, first, last);
        match &self.part {
            NamePart::Whole if self.is_common_file() => Some(Certainty::Common),
            NamePart::Whole => Some(plain),
            NamePart::Head => {
                let is_capitalised = answer.tokenized.tokens[first].is_capitalised;
                (is_capitalised && plain > Certainty::Common).then_some(Certainty::Likely)
            }
            NamePart::Title => endings.is_unique(self, self.first).then_some(plain),
            NamePart::Tail(tail) => {
                self.rate_tail_match(tail, plain, answer, endings, (first, last))
            }
        }
    }

    fn rate_plain_match(&self, answer: &ParsedAnswer<'_>, first: usize, last: usize) -> Certainty {
        let tokens = &answer.tokenized.tokens[first..=last];
        let spaced = tokens[1..].iter().any(|p| matches!(p.gap, Gap::Space | Gap::Break));
        if self.has_letters_and_digits() && self.joined_text().len() >= 4 {
            return Certainty::Sure;
        }
        if self.is_one_word() {
            return self.rate_single_word(answer, first);
        }
        let capitals =
            tokens.iter().filter(|p| p.kind == TokenKind::Letters).all(|p| p.is_capitalised);
        let proper = capitals && !answer.capitalises_nouns && tokens[0].gap == Gap::Space;
        if self.is_identifier && self.tokens().len() > 1 {
            return if spaced && !proper { Certainty::Likely } else { Certainty::Sure };
        }
        let count = self.tokens().len();
        let distinctive = (count >= 3 && self.weight >= 1.4)
            || (count >= MIN_DISTINCTIVE_WORDS && self.weight >= 1.0);
        if distinctive || proper {
            return Certainty::Sure;
        }
        if self.weight >= 1.0 { Certainty::Likely } else { Certainty::Common }
    }

    /// Certainty of a match on the last part of a path, such as `login.py`.
    ///
    /// It needs to be unique among the items, and the answer must not place it in another folder.
    /// An everyday word needs the preceding part.
    fn rate_tail_match(
        &self,
        tail: &PathTail,
        plain: Certainty,
        answer: &ParsedAnswer<'_>,
        endings: &NameEndings,
        (first, last): (usize, usize),
    ) -> Option<Certainty> {
        let same_file = |file: &String| answer.written_text(first, last).eq_ignore_ascii_case(file);
        let context = self.find_path_context(tail, answer, first)?;
        let reach = context.parts.checked_sub(1).map_or(self.first, |at| tail.preceding_parts[at]);
        if !endings.is_unique(self, reach) || !tail.file.as_ref().is_none_or(same_file) {
            return None;
        }
        if context.parts > 0 && (tail.file.is_some() || !self.is_one_word()) {
            return Some(Certainty::Sure);
        }
        if tail.is_ordinary {
            return None;
        }
        if tail.file.is_some() {
            return Some(Certainty::Sure);
        }
        if self.is_one_word() {
            let word = is_known_word(self.joined_text());
            return match (word, context.tokens) {
                (_, 1..) => Some(Certainty::Likely),
                (false, 0) => Some(plain.min(Certainty::Likely)),
                (true, 0) => (plain > Certainty::Common).then_some(Certainty::Common),
            };
        }
        Some(if plain == Certainty::Sure { plain } else { Certainty::Common })
    }

    /// The part of the path that the answer has before the tail; `None` when it has another path.
    fn find_path_context(
        &self,
        tail: &PathTail,
        answer: &ParsedAnswer<'_>,
        first: usize,
    ) -> Option<PathContext> {
        let name_tokens = &self.tokenized.tokens;
        let answer_tokens = &answer.tokenized.tokens;
        let mut matched = 0;
        while matched < self.first && matched < first {
            let at = first - matched;
            let glue = answer_tokens[at].gap;
            let is_path_mark =
                |mark: &str| matches!(mark, "/" | "\\" | "::" | "#" | "->" | "/_" | "::_");
            let glued = match glue {
                Gap::None | Gap::Underscore | Gap::Hyphen | Gap::Dot => true,
                Gap::Tight => is_path_mark(answer.separator_before(at)),
                Gap::Apostrophe | Gap::Space | Gap::Break => false,
            };
            if !glued {
                break;
            }
            if answer_tokens[at - 1].hash != name_tokens[self.first - matched - 1].hash {
                // In `client.settle_batch()` the word before the dot is an arbitrary variable name.
                let is_variable = matched == 0 && glue == Gap::Dot && tail.file.is_none();
                if is_variable && (!self.is_one_word() || self.mentions_owner(tail, answer)) {
                    return Some(PathContext { parts: 0, tokens: usize::from(self.is_one_word()) });
                }
                return None;
            }
            matched += 1;
        }
        let reached = self.first - matched;
        let parts = tail.preceding_parts.iter().filter(|start| **start >= reached).count();
        Some(PathContext { parts, tokens: matched })
    }

    /// True when the answer names the class elsewhere: `gateway = PaymentGateway()`.
    fn mentions_owner(&self, tail: &PathTail, answer: &ParsedAnswer<'_>) -> bool {
        let Some(start) = tail.preceding_parts.first() else { return false };
        if *start >= self.first {
            return false;
        }
        let joined = self.tokenized.folded_range(*start, self.first - 1);
        let distinctive = self.first - start > 1 || !is_known_word(joined);
        distinctive && answer.suffixes.find_prefix(&answer.tokenized, joined).next().is_some()
    }

    fn rate_single_word(&self, answer: &ParsedAnswer<'_>, at: usize) -> Certainty {
        let token = &answer.tokenized.tokens[at];
        // A hyphenated compound counts as one word.
        let length = self.joined_text().len() as u32;
        let unknown = !is_known_word(self.joined_text());
        if token.kind == TokenKind::Sign || length < 2 {
            return Certainty::Common;
        }
        if unknown && length >= MIN_LONG_WORD_BYTES {
            return Certainty::Sure;
        }
        let Some(marking) = find_marking(self, answer, at) else {
            return if unknown { Certainty::Likely } else { Certainty::Common };
        };
        match marking {
            _ if unknown => Certainty::Sure,
            Marking::Code if token.is_capitalised && answer.is_masked(token.start as usize) => {
                Certainty::Sure
            }
            Marking::Code | Marking::Quoted => Certainty::Likely,
            // "Stay in your Target zone"
            Marking::Capital => Certainty::Common,
        }
    }

    /// True for files that exist in every project: `README.md`.
    fn is_common_file(&self) -> bool {
        let tokens = self.tokens();
        let is_file = |ending: &str| word_lists().file_endings.contains(ending);
        let stem = match tokens {
            [_] => self.last,
            [.., ending]
                if ending.gap == Gap::Dot && is_file(self.tokenized.folded_token(ending)) =>
            {
                self.last - 1
            }
            _ => return false,
        };
        let joined = self.tokenized.folded_range(self.first, stem);
        word_lists().common_files.contains(&crate::text::hash(0, joined.as_bytes()))
    }
}

struct PathContext {
    parts: usize,
    tokens: usize,
}

/// The way in which a word is written as a name.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Marking {
    Code,
    /// In quotation marks or bold.
    Quoted,
    /// A capital where only names have one.
    Capital,
}

fn find_marking(name: &ItemName, answer: &ParsedAnswer<'_>, at: usize) -> Option<Marking> {
    let token = &answer.tokenized.tokens[at];
    let same_case = token.is_capitalised == name.tokens()[0].is_capitalised;
    let (start, end) = (token.start as usize, token.end as usize);
    let (before, after) = (&answer.text[..start], &answer.text[end..]);
    if before.ends_with('`') && after.starts_with('`') {
        return same_case.then_some(Marking::Code);
    }
    let in_code = answer.kind == AnswerKind::Code || answer.is_masked(start);
    let is_bold = before.ends_with("**") && after.starts_with("**");
    let is_quoted = before.chars().next_back().and_then(closing_quote);
    let is_quoted = is_quoted.is_some_and(|closing| after.starts_with(closing));
    if answer.kind == AnswerKind::Response && (is_bold || is_quoted) {
        return (same_case && token.is_capitalised).then_some(Marking::Quoted);
    }
    if in_code {
        let qualified = after.starts_with("::") || after.starts_with(['(', '.']);
        let declared = ["def ", "fn ", "class ", "struct ", "function ", "func ", "interface "];
        let is_declaration = declared.iter().any(|word| before.ends_with(word));
        let typed = answer.kind == AnswerKind::Code
            && token.is_capitalised
            && !is_in_comment(answer.text, start);
        let is_used = (qualified || typed) && !before.ends_with('.') && !is_declaration;
        return (same_case && is_used).then_some(Marking::Code);
    }
    let follows_a_name = at > 0 && answer.tokenized.tokens[at - 1].is_capitalised;
    let is_name = token.is_capitalised
        && same_case
        && token.gap == Gap::Space
        && !answer.capitalises_nouns
        && !follows_a_name;
    is_name.then_some(Marking::Capital)
}
