//! Rules that find what the answer gave and the user does not want.

use super::reading::{Clause, Reading, Span, Trim};
use super::roles::Role;

/// Form of a message that names an unwanted phrase.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Ground {
    /// "You used Y", "that's Y".
    Given,
    /// "Not Y", "don't use Y".
    Denied,
    /// A question that repeats it: "Y?"
    Echoed,
    /// "Y is overkill".
    Judged,
    /// A statement about Y.
    Topic,
}

/// Findings that the search for an unwanted phrase starts from.
#[derive(Clone, Copy, Debug)]
pub(super) struct Known {
    pub(super) wants: Option<Span>,
    /// True when "I meant" or "I want" introduced the wanted phrase.
    pub(super) is_stated: bool,
    /// True when the message is a single clause.
    pub(super) is_single_clause: bool,
}

impl Known {
    fn overlaps(&self, span: Span) -> bool {
        self.wants.is_some_and(|wants| wants.overlaps(span))
    }
}

const MAX_DENIED_TOKENS: usize = 6;
const MAX_POINTED_WORDS: usize = 3;
const MAX_ECHO_WORDS: usize = 5;

impl Reading<'_> {
    /// "You used Y", "not Y".
    pub(super) fn unwanted_after(
        &self,
        clause: Clause,
        is_question: bool,
        known: &Known,
    ) -> Option<(Span, Ground)> {
        let Span { start, end } = clause.span;
        (start..end).find_map(|at| {
            if known.wants.is_some_and(|wants| wants.contains(at)) {
                return None;
            }
            let given = self.length(Role::Got, at, end);
            let denied = self.length(Role::Not, at, end);
            let (length, ground) =
                if given > 0 { (given, Ground::Given) } else { (denied, Ground::Denied) };
            if length == 0 || (ground == Ground::Denied && is_question) {
                return None;
            }
            let stops = [Role::Want, Role::Said];
            let found = self.phrase(Span::new(at + length, end), Trim::TO_BREAK, &stops)?;
            if known.overlaps(found) {
                return None;
            }
            let verb = (found.start..found.end).find(|at| self.is_clause_word(*at));
            let noun = Span::new(found.start, verb.unwrap_or(found.end));
            if self.is_introduced(noun) {
                return Some((self.answered_part(noun), ground));
            }
            let named = self.names_side(found) && !self.is_missed(found);
            let counts = match ground {
                Ground::Given => known.is_stated && self.is_pointed_at(at, found),
                Ground::Denied => self.is_denied(at, clause, found, known),
                Ground::Echoed | Ground::Judged | Ground::Topic => false,
            };
            (named && counts).then_some((found, ground))
        })
    }

    /// "That's Y, I asked for X".
    fn is_pointed_at(&self, at: usize, found: Span) -> bool {
        self.is_role(Role::Pointer, at) && self.word_count(found) <= MAX_POINTED_WORDS
    }

    /// A clause that only denies: "no nuts".
    fn is_denied(&self, at: usize, clause: Clause, found: Span, known: &Known) -> bool {
        let Span { start, end } = clause.span;
        let is_remark = (at..end).any(|at| self.length(Role::Remark, at, end) > 0);
        let points = (found.start..found.end).any(|at| self.is_role(Role::Demonstrative, at));
        let opens = at <= self.skip_fillers(start, end);
        let denies_noun = self.is_role(Role::NegativeArticle, at)
            || self.length(Role::Not, at, end) > 1
            || (known.is_single_clause
                && self.is_role(Role::NegationOfNoun, at)
                && at + 1 < end
                && self.is_role(Role::NounStart, at + 1));
        opens && denies_noun && !is_remark && !points && end - at <= MAX_DENIED_TOKENS
    }

    /// "Y?", "Y?? I said X".
    pub(super) fn unwanted_echo(&self, clause: Clause, known: &Known) -> Option<Span> {
        let trim = Trim { max_words: MAX_ECHO_WORDS, ..Trim::TO_BREAK };
        let found = self.phrase(clause.span, trim, &[])?;
        let repeats = self.is_nominal(found) && self.is_introduced(found);
        (repeats && !known.overlaps(found)).then(|| self.answered_part(found))
    }

    /// "Y is overkill", "Y bitte nicht".
    pub(super) fn unwanted_before(&self, clause: Clause, known: &Known) -> Option<Span> {
        const MAX_REST_TOKENS: usize = 3;
        const MAX_JUDGED_TOKENS: usize = 4;
        let Span { start, end } = clause.span;
        let found = (start + 1..=end).rev().take(MAX_REST_TOKENS + 1).find_map(|at| {
            let length = self.length_before(Role::NotEnd, at, start);
            if length == 0 || at - length <= start {
                return None;
            }
            let found = self.phrase(Span::new(start, at - length), Trim::WHOLE, &[])?;
            if self.is_introduced(found) {
                return Some(self.answered_part(found));
            }
            let is_plain = at == end && found.len() <= MAX_JUDGED_TOKENS;
            (is_plain && self.names_side(found)).then_some(found)
        });
        found.filter(|found| !known.overlaps(*found))
    }

    /// A statement about something that only the answer named: "Hahn is far away".
    pub(super) fn unwanted_topic(&self, clause: Clause, known: &Known) -> Option<Span> {
        const MAX_LIGHT_WORDS: usize = 3;
        let end = clause.span.end;
        let start = self.skip_fillers(clause.span.start, end);
        let is_light = |at: &usize| !self.is_mark(*at) && !self.is_content(*at);
        let lights = (start..end).take(MAX_LIGHT_WORDS).take_while(is_light).count();
        let first = start + lights;
        if first >= end || !self.is_only_answered(Span::new(first, first + 1)) {
            return None;
        }
        let trim = Trim { drops_fillers: false, ..Trim::WHOLE };
        let mut run = self.answered_run(first + 1, end);
        // "Node-7" is not the "node-1" of the answer, and a single letter names little.
        if self.is_mark(run - 1) || self.is_letter(first) {
            return None;
        }
        if run < end && self.mark(run) == '%' {
            run += 1;
        }
        let found = self.phrase(Span::new(start, run), trim, &[])?;
        (self.is_content(found.start) && !known.overlaps(found)).then_some(found)
    }

    /// From the first to the last word that the answer has.
    fn answered_part(&self, span: Span) -> Span {
        let answered = |at: &usize| self.is_answered(Span::new(*at, *at + 1));
        let first = (span.start..span.end).find(answered);
        let last = (span.start..span.end).rev().find(answered);
        first.zip(last).map_or(span, |(first, last)| Span::new(first, last + 1))
    }

    /// The only run of words outside the wanted clause that the answer introduced.
    pub(super) fn only_answered_run(
        &self,
        wants: Span,
        sentences: &[Span],
        clause: Span,
    ) -> Option<Span> {
        let mut runs = Vec::new();
        for sentence in sentences {
            let mut at = sentence.start;
            while at < sentence.end {
                let joined = || (wants.end..at).any(|at| self.is_role(Role::Conjunction, at));
                let is_near = clause.contains(at) && !joined();
                let is_wrong_kind = at > sentence.start && self.is_role(Role::Wrong, at - 1);
                let is_run = self.is_only_answered(Span::new(at, at + 1))
                    && !wants.contains(at)
                    && !is_wrong_kind;
                if is_run && !is_near {
                    let end = self.answered_run(at + 1, sentence.end);
                    runs.push(Span::new(at, end));
                    at = end;
                } else {
                    at += 1;
                }
            }
        }
        match runs[..] {
            [only] => Some(only),
            _ => None,
        }
    }
}
