//! A message split into tokens, clauses and sentences, with the roles of its phrases and what it
//! shares with question and answer.

use super::roles::{Role, RolePhrases};
use super::tokens::{Token, tokenize};
use crate::stems::{collect_stems, word_stems};
use crate::verdict::Exchange;

const MAX_FILLERS: usize = 5;
const MAX_PHRASE_WORDS: usize = 8;

/// A range of tokens.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Span {
    pub(super) start: usize,
    pub(super) end: usize,
}

impl Span {
    pub(super) fn new(start: usize, end: usize) -> Self {
        Self { start, end }
    }

    pub(super) fn overlaps(self, other: Self) -> bool {
        self.start < other.end && other.start < self.end
    }

    pub(super) fn contains(self, at: usize) -> bool {
        (self.start..self.end).contains(&at)
    }

    pub(super) fn len(self) -> usize {
        self.end.saturating_sub(self.start)
    }
}

#[derive(Clone, Copy, Debug)]
pub(super) struct Clause {
    pub(super) span: Span,
    /// The mark that ends it; a blank at the end of the message.
    pub(super) mark: char,
}

#[derive(Clone, Debug)]
pub(super) struct Sentence {
    pub(super) span: Span,
    pub(super) clauses: Vec<Clause>,
    pub(super) is_question: bool,
}

#[derive(Clone, Copy, Debug)]
struct RoleMatch {
    at: usize,
    end: usize,
    role: Role,
}

/// Options of [`Reading::phrase`].
#[derive(Clone, Copy, Debug)]
pub(super) struct Trim {
    /// Ends the phrase at the next break or stop word.
    pub(super) cuts: bool,
    pub(super) drops_fillers: bool,
    pub(super) drops_articles: bool,
    pub(super) max_words: usize,
}

impl Trim {
    pub(super) const TO_BREAK: Self =
        Self { cuts: true, drops_fillers: true, drops_articles: true, max_words: MAX_PHRASE_WORDS };
    pub(super) const WHOLE: Self = Self { cuts: false, ..Self::TO_BREAK };
}

pub(super) struct Reading<'a> {
    original: &'a str,
    pub(super) tokens: Vec<Token>,
    matches: Vec<RoleMatch>,
    /// Index of the first match of each token, and the number of matches.
    first_match: Vec<usize>,
    pub(super) sentences: Vec<Sentence>,
}

impl<'a> Reading<'a> {
    pub(super) fn new(exchange: &Exchange<'a>) -> Self {
        let original = exchange.message.original();
        let tokens = tokenize(&exchange.message.text, original);
        let mut reading = Self {
            original,
            matches: Vec::with_capacity(tokens.len() * 2),
            first_match: Vec::with_capacity(tokens.len() + 1),
            sentences: Vec::new(),
            tokens,
        };
        reading.match_roles();
        reading.mark_words(exchange);
        reading.split_sentences();
        reading
    }

    fn match_roles(&mut self) {
        for at in 0..self.tokens.len() {
            self.first_match.push(self.matches.len());
            for (words, role) in RolePhrases::loaded().starting_with(self.tokens[at].hash) {
                if let Some(end) = self.match_phrase(at, words) {
                    self.matches.push(RoleMatch { at, end, role: *role });
                }
            }
        }
        self.first_match.push(self.matches.len());
    }

    /// End of the phrase that starts at a token. A hyphen between its words is skipped.
    fn match_phrase(&self, at: usize, words: &[u32]) -> Option<usize> {
        let mut end = at;
        for (position, word) in words.iter().enumerate() {
            let is_hyphen = |at: usize| self.tokens[at].mark == '-' && self.is_glued(at);
            if position > 0 && end < self.tokens.len() && is_hyphen(end) {
                end += 1;
            }
            if self.tokens.get(end)?.hash != *word {
                return None;
            }
            end += 1;
        }
        Some(end)
    }

    fn mark_words(&mut self, exchange: &Exchange<'_>) {
        let question = exchange.question.map(|q| collect_stems(&q.text)).unwrap_or_default();
        let text = &exchange.message.text;
        let mut words = text.lexical_words().peekable();
        for at in 0..self.tokens.len() {
            let token = self.tokens[at];
            if token.is_mark {
                continue;
            }
            while words.peek().is_some_and(|word| word.end < token.end) {
                words.next();
            }
            let Some(word) = words.peek() else { break };
            let folded = text.folded_word(word);
            // The rest of an elided word: "anglais" of "l'anglais".
            let folded = match folded.split_once('\'') {
                Some((_, rest)) if word.start < token.start => rest,
                _ => folded,
            };
            let stems: Vec<u32> = word_stems(folded).collect();
            let is_in = |all: &[u32]| stems.iter().any(|stem| all.binary_search(stem).is_ok());
            let is_light = self.is_role(Role::Light, at) || self.is_role(Role::Article, at);
            let raw = self.original.get(token.start..token.end).unwrap_or_default();
            let is_copula = matches!(raw, "é" | "è" | "É" | "È" | "tá" | "está");
            // "IT" and "US" name something.
            let is_name = raw.len() == 2 && raw.chars().all(char::is_uppercase);
            let is_clause = is_copula || (self.is_role(Role::Clause, at) && !is_name);
            let in_answer = exchange.answer.is_some_and(|answer| is_in(&answer.stems));
            let token = &mut self.tokens[at];
            token.in_answer = in_answer;
            token.in_question = is_in(&question);
            token.is_content = is_name || !is_light;
            token.is_clause = is_clause;
        }
    }

    fn split_sentences(&mut self) {
        let mut clauses: Vec<Clause> = Vec::new();
        let mut start = 0;
        for at in 0..=self.tokens.len() {
            let is_end = at == self.tokens.len();
            let mark = if is_end { ' ' } else { self.tokens[at].mark };
            let ends_sentence = is_end || self.ends_sentence(at);
            if !ends_sentence && !self.is_break(at) {
                continue;
            }
            if at > start {
                clauses.push(Clause { span: Span::new(start, at), mark });
            } else if mark == '?' {
                // "Really?!" and "…?" are questions.
                match clauses.last_mut() {
                    Some(last) => last.mark = '?',
                    None => self.mark_last_sentence_as_question(),
                }
            }
            if ends_sentence && mark != '¿' {
                self.push_sentence(std::mem::take(&mut clauses));
            }
            start = at + 1;
        }
    }

    fn mark_last_sentence_as_question(&mut self) {
        if let Some(last) = self.sentences.last_mut() {
            last.is_question = true;
            last.clauses.iter_mut().next_back().into_iter().for_each(|clause| clause.mark = '?');
        }
    }

    fn push_sentence(&mut self, clauses: Vec<Clause>) {
        let (Some(first), Some(last)) = (clauses.first(), clauses.last()) else { return };
        let span = Span::new(first.span.start, last.span.end);
        let is_question = last.mark == '?';
        self.sentences.push(Sentence { span, clauses, is_question });
    }

    /// True for a mark inside a name: "e-mail", "v1.5", "docker/compose".
    fn is_glued(&self, at: usize) -> bool {
        let Some((before, after)) = at.checked_sub(1).zip(self.tokens.get(at + 1)) else {
            return false;
        };
        let (before, mark) = (&self.tokens[before], &self.tokens[at]);
        before.end == mark.start
            && mark.end == after.start
            && !before.is_mark
            && !after.is_mark
            && "-/_.:&+#@".contains(mark.mark)
    }

    fn ends_sentence(&self, at: usize) -> bool {
        let is_abbreviated = || {
            at > 0
                && self.tokens[at - 1].end == self.tokens[at].start
                && self.is_role(Role::Abbreviation, at - 1)
        };
        let token = &self.tokens[at];
        token.is_mark
            && ".!?…;¿\n".contains(token.mark)
            && !self.is_glued(at)
            && (token.mark != '.' || !is_abbreviated())
    }

    /// True for a mark between clauses or sentences.
    pub(super) fn is_break(&self, at: usize) -> bool {
        let token = &self.tokens[at];
        token.is_mark
            && !self.is_glued(at)
            && (",:–—()→-=>|".contains(token.mark) || self.ends_sentence(at))
    }

    /// Length in tokens of the longest phrase with the role that starts at a token and ends by
    /// `end`; 0 without one.
    pub(super) fn length(&self, role: Role, at: usize, end: usize) -> usize {
        let Some((first, last)) = self.first_match.get(at).zip(self.first_match.get(at + 1)) else {
            return 0;
        };
        let known = self.matches[*first..*last].iter();
        let fits = known.filter(|found| found.role == role && found.end <= end);
        fits.map(|found| found.end - found.at).max().unwrap_or(0)
    }

    pub(super) fn longest(&self, roles: &[Role], at: usize, end: usize) -> usize {
        roles.iter().map(|role| self.length(*role, at, end)).max().unwrap_or(0)
    }

    /// Length of the longest phrase with the role that ends at `end`.
    pub(super) fn length_before(&self, role: Role, end: usize, start: usize) -> usize {
        let first = start.max(end.saturating_sub(MAX_PHRASE_WORDS));
        let ends_there = |at: &usize| {
            let range = self.first_match[*at]..self.first_match[*at + 1];
            self.matches[range].iter().any(|found| found.role == role && found.end == end)
        };
        (first..end).find(ends_there).map_or(0, |at| end - at)
    }

    /// True when a phrase with the role starts at the token.
    pub(super) fn starts(&self, role: Role, at: usize) -> bool {
        self.length(role, at, self.tokens.len()) > 0
    }

    /// True when the token alone has the role.
    pub(super) fn is_role(&self, role: Role, at: usize) -> bool {
        self.length(role, at, at + 1) == 1
    }

    pub(super) fn has_role(&self, role: Role, span: Span) -> bool {
        (span.start..span.end).any(|at| self.length(role, at, span.end) > 0)
    }

    pub(super) fn is_mark(&self, at: usize) -> bool {
        self.tokens[at].is_mark
    }

    pub(super) fn mark(&self, at: usize) -> char {
        self.tokens[at].mark
    }

    pub(super) fn is_content(&self, at: usize) -> bool {
        self.tokens[at].is_content
    }

    pub(super) fn is_clause_word(&self, at: usize) -> bool {
        self.tokens[at].is_clause
    }

    pub(super) fn word_count(&self, span: Span) -> usize {
        self.tokens[span.start..span.end].iter().filter(|token| !token.is_mark).count()
    }

    fn content(&self, span: Span) -> impl Iterator<Item = &Token> {
        self.tokens[span.start..span.end].iter().filter(|token| token.is_content)
    }

    /// True when every content word occurs in the answer and none in the question.
    pub(super) fn is_only_answered(&self, span: Span) -> bool {
        self.content(span).next().is_some()
            && self.content(span).all(|token| token.in_answer && !token.in_question)
    }

    pub(super) fn is_answered(&self, span: Span) -> bool {
        self.content(span).any(|token| token.in_answer)
    }

    /// True when a content word occurs in the answer but not in the question.
    pub(super) fn is_introduced(&self, span: Span) -> bool {
        self.content(span).any(|token| token.in_answer && !token.in_question)
    }

    /// True when a content word occurs in the question but not in the answer.
    pub(super) fn is_missed(&self, span: Span) -> bool {
        self.content(span).any(|token| token.in_question && !token.in_answer)
    }

    /// True for a bare fragment that may be a wish: it repeats the question, or has a number. Other
    /// fragments are as often remarks ("suspicious").
    pub(super) fn is_telling(&self, span: Span) -> bool {
        let has_number = || {
            let text = self.text(span).unwrap_or_default();
            text.chars().any(|c| c.is_ascii_digit())
        };
        self.is_missed(span) || has_number()
    }

    /// End of the run of content words from `at` that occur in the answer.
    pub(super) fn answered_run(&self, at: usize, end: usize) -> usize {
        let continues = |at: &usize| {
            let token = &self.tokens[*at];
            (token.is_mark && self.is_glued(*at)) || (token.is_content && token.in_answer)
        };
        (at..end).find(|at| !continues(at)).unwrap_or(end)
    }

    /// First token that is no filler.
    pub(super) fn skip_fillers(&self, start: usize, end: usize) -> usize {
        let mut at = start;
        for _ in 0..MAX_FILLERS {
            let length = self.length(Role::Filler, at, end);
            if length > 0 && at + length < end {
                at += length;
            } else if at < end && self.is_mark(at) {
                at += 1;
            } else {
                break;
            }
        }
        at
    }

    pub(super) fn is_filler(&self, span: Span) -> bool {
        let mut at = span.start;
        while at < span.end {
            let length = self.length(Role::Filler, at, span.end);
            let skips = self.is_mark(at) || self.is_role(Role::NegativeAnswer, at);
            at += if length > 0 { length } else { usize::from(skips) };
            if length == 0 && !skips {
                return false;
            }
        }
        true
    }

    /// True for a phrase without words of a clause.
    pub(super) fn is_nominal(&self, span: Span) -> bool {
        !(span.start..span.end).any(|at| self.is_clause_word(at))
    }

    /// The part of a span that may name something.
    pub(super) fn phrase(&self, span: Span, trim: Trim, stops: &[Role]) -> Option<Span> {
        let Span { mut start, mut end } = span;
        if start >= end {
            return None;
        }
        if trim.drops_fillers {
            start = self.skip_leading(start, end);
        }
        if trim.cuts {
            end = self.find_stop(start, end, stops);
        }
        end = self.strip_tail(start, end);
        while trim.drops_articles && start + 1 < end && self.length(Role::Article, start, end) > 0 {
            start += 1;
        }
        let words = self.word_count(Span::new(start, end));
        let named = self.content(Span::new(start, end)).next().is_some();
        (words <= trim.max_words && named).then_some(Span { start, end })
    }

    /// First token behind fillers and marks, of which the last stays.
    fn skip_leading(&self, mut start: usize, end: usize) -> usize {
        loop {
            let length = self.length(Role::Filler, start, end);
            if length > 0 && start + length < end {
                start += length;
            } else if start + 1 < end && self.is_mark(start) {
                start += 1;
            } else {
                return start;
            }
        }
    }

    fn find_stop(&self, start: usize, end: usize, stops: &[Role]) -> usize {
        let stops_at = |at: &usize| {
            self.is_break(*at)
                || self.longest(&[Role::Stop, Role::Instead], *at, end) > 0
                || self.longest(stops, *at, end) > 0
        };
        (start + 1..end).find(stops_at).unwrap_or(end)
    }

    fn strip_tail(&self, start: usize, mut end: usize) -> usize {
        while end > start {
            let length = self.length_before(Role::Tail, end, start);
            if self.is_mark(end - 1) {
                end -= 1;
            } else if length > 0 && end - length > start {
                end -= length;
            } else {
                break;
            }
        }
        end
    }

    pub(super) fn text(&self, span: Span) -> Option<String> {
        let (first, last) =
            (self.tokens.get(span.start)?, self.tokens.get(span.end.checked_sub(1)?)?);
        self.original.get(first.start..last.end).map(str::to_owned)
    }

    pub(super) fn same_words(&self, span: Span) -> bool {
        let words = &self.tokens[span.start..span.end];
        words.len() > 1 && words.iter().all(|word| word.hash == words[0].hash)
    }

    /// True for a token of one byte.
    pub(super) fn is_letter(&self, at: usize) -> bool {
        self.tokens[at].end - self.tokens[at].start == 1
    }

    pub(super) fn ends_in_participle(&self, at: usize) -> bool {
        let token = &self.tokens[at];
        self.original.get(token.start..token.end).is_some_and(|word| word.ends_with("ed"))
    }
}
