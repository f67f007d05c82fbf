//! Rules that find the wanted phrase in a clause.

use super::pairs::MARKERS;
use super::reading::{Clause, Reading, Span, Trim};
use super::roles::Role;

const MAX_FRAGMENT_WORDS: usize = 5;
/// Words of a clause whose beginning may be a fragment: "day first because we're European".
const MAX_FRAGMENT_CLAUSE: usize = 6;

impl Reading<'_> {
    /// The phrase after "I meant", "I want", "use" or "we use".
    pub(super) fn wanted_after(&self, role: Role, clause: Clause) -> Option<Span> {
        let Span { start, end } = clause.span;
        let opening = self.skip_fillers(start, end);
        let mut at = start;
        while at < end {
            let negation = self.length(Role::Not, at, end);
            if negation > 1 {
                at += negation;
                continue;
            }
            let mut length = self.length(role, at, end);
            if role == Role::Do && at != start && at != opening && !self.follows_lead_in(at, start)
            {
                length = 0;
            }
            if length == 0 {
                at += 1;
                continue;
            }
            let before = at.checked_sub(1).filter(|_| at > start);
            let is_relative = before.is_some_and(|before| {
                [Role::Negation, Role::Relative, Role::Comparing]
                    .iter()
                    .any(|role| self.is_role(*role, before))
            });
            if is_relative {
                at += length;
                continue;
            }
            let stops: &[Role] =
                if role == Role::Fact { &[Role::Got, Role::FactStop] } else { &[Role::Got] };
            let (after, found) = self.phrase_after_marker(at, Span::new(at + length, end), stops);
            if let Some(found) = found {
                if self.is_obliged(at, found) && at > start {
                    // "Only Slack ones should be muted."
                    let subject = self.phrase(Span::new(start, at), Trim::WHOLE, &[])?;
                    return self.names_side(subject).then_some(subject);
                }
                if self.may_be_wanted(found, role) {
                    return Some(found);
                }
            }
            at = after;
        }
        None
    }

    /// True when an order may start here: "and use", "could you use".
    fn follows_lead_in(&self, at: usize, start: usize) -> bool {
        self.is_role(Role::LeadIn, at - 1) || self.length_before(Role::Request, at, start) > 0
    }

    fn phrase_after_marker(&self, at: usize, rest: Span, stops: &[Role]) -> (usize, Option<Span>) {
        let Span { start, end } = rest;
        let mut after = start.max(at + 1);
        loop {
            let length = self.longest(MARKERS, after, end);
            if length == 0 {
                break;
            }
            after += length;
        }
        let found = self.phrase(Span::new(after, end), Trim::TO_BREAK, stops);
        let found = found.and_then(|span| self.cut_at_conjunction(span));
        (after, found.and_then(|span| self.cut_at_verb(span)))
    }

    /// "I said the gate and you opened the garage": ends before what the answer gave.
    fn cut_at_conjunction(&self, span: Span) -> Option<Span> {
        let joins = |at: &usize| {
            self.is_role(Role::Conjunction, *at)
                && !self.is_introduced(Span::new(span.start, *at))
                && self.is_introduced(Span::new(*at + 1, span.end))
        };
        let last = span.end.saturating_sub(1);
        match (span.start + 1..last).find(joins) {
            Some(at) => self.phrase(Span::new(span.start, at), Trim::TO_BREAK, &[]),
            None => Some(span),
        }
    }

    fn cut_at_verb(&self, span: Span) -> Option<Span> {
        let ends = |at: &usize| {
            self.is_clause_word(*at) || (*at > span.start && self.is_role(Role::Negation, *at))
        };
        match (span.start..span.end).find(ends) {
            Some(at) if at == span.start => None,
            Some(at) => self.phrase(Span::new(span.start, at), Trim::TO_BREAK, &[]),
            None => Some(span),
        }
    }

    fn is_obliged(&self, marker: usize, found: Span) -> bool {
        found.len() == 1
            && self.is_role(Role::Obligation, marker)
            && self.ends_in_participle(found.start)
    }

    fn may_be_wanted(&self, span: Span, role: Role) -> bool {
        let starts = |role: Role| self.is_role(role, span.start);
        self.may_name_side(span)
            && !starts(Role::Negation)
            && !starts(Role::PronounObject)
            && (role != Role::Fact || !starts(Role::NoFact))
    }

    fn has_negation(&self, span: Span) -> bool {
        (span.start..span.end).any(|at| self.is_role(Role::Negation, at))
    }

    /// "X is what we use here".
    pub(super) fn wanted_before_is_what(&self, clause: Clause) -> Option<Span> {
        let Span { start, end } = clause.span;
        let markers = (start + 1..end).filter(|at| self.length(Role::IsWhat, *at, end) > 0);
        let mut found = markers.filter_map(|at| self.affirmed(Span::new(start, at), Trim::WHOLE));
        found.next()
    }

    /// "X would be better" at the end of a clause.
    pub(super) fn wanted_before_end(&self, clause: Clause) -> Option<Span> {
        const MAX_TAIL_TOKENS: usize = 5;
        let Span { start, end } = clause.span;
        let first = start.max(end.saturating_sub(MAX_TAIL_TOKENS));
        (first + 1..=end).rev().find_map(|at| {
            let length = self.length_before(Role::WantEnd, at, start);
            if length == 0 || at - length <= start || !self.is_tail(at, end) {
                return None;
            }
            self.affirmed(Span::new(start, at - length), Trim::WHOLE)
        })
    }

    fn is_tail(&self, mut at: usize, end: usize) -> bool {
        while at < end {
            let length = self.length(Role::Tail, at, end);
            if length == 0 && !self.is_mark(at) {
                return false;
            }
            at += length.max(1);
        }
        true
    }

    /// "X please", also before further words.
    pub(super) fn wanted_before_please(&self, clause: Clause) -> Option<Span> {
        let Span { start, end } = clause.span;
        if self.has_negation(clause.span) {
            return None;
        }
        let trim = Trim { max_words: 6, ..Trim::WHOLE };
        let polite = (start + 1..end).filter(|at| self.length(Role::Polite, *at, end) > 0);
        polite.filter_map(|at| self.affirmed(Span::new(start, at), trim)).next()
    }

    fn affirmed(&self, span: Span, trim: Trim) -> Option<Span> {
        let found = self.phrase(span, trim, &[])?;
        let is_less = self.longest(&[Role::Less, Role::Not], span.start, span.end) > 0;
        (self.names_side(found) && !self.has_negation(found) && !is_less).then_some(found)
    }

    /// "I run on asphalt so road shoes".
    pub(super) fn wanted_after_conclusion(&self, clause: Clause) -> Option<Span> {
        const MAX_REST_TOKENS: usize = 3;
        let Span { start, end } = clause.span;
        let follows = |at: &usize| {
            let Some(before) = at.checked_sub(1) else { return false };
            (*at > start || self.is_break(before))
                && !self.is_role(Role::Negation, before)
                && !self.is_role(Role::Too, before)
        };
        (start..end).filter(follows).find_map(|at| {
            let length = self.length(Role::So, at, end);
            if length == 0 {
                return None;
            }
            let trim = Trim { max_words: MAX_FRAGMENT_WORDS, ..Trim::TO_BREAK };
            let found = self.affirmed(Span::new(at + length, end), trim)?;
            let reaches_end = found.end + MAX_REST_TOKENS >= end;
            if reaches_end { self.strip_want_end(found) } else { None }
        })
    }

    /// A clause without a verb: "US dollars obviously".
    pub(super) fn fragment(&self, clause: Clause) -> Option<Span> {
        let Span { start, end } = clause.span;
        let opening = self.skip_fillers(start, end);
        let opens = |role: Role| self.length(role, opening, end) > 0;
        let negates = opens(Role::Not)
            || self.length(Role::Not, start, end) > 0
            || self.has_negation(clause.span);
        let judges = (start..end).any(|at| self.length(Role::Remark, at, end) > 0)
            || opens(Role::Less)
            || opens(Role::Too);
        let is_open = "?)".contains(clause.mark);
        let is_long = self.word_count(Span::new(opening, end)) > MAX_FRAGMENT_CLAUSE;
        let is_statement = opens(Role::Do) || self.is_role(Role::Possessor, opening);
        if negates || judges || is_open || is_long || is_statement {
            return None;
        }
        let max_words = MAX_FRAGMENT_WORDS;
        let trim = Trim { drops_articles: false, max_words, ..Trim::TO_BREAK };
        let found = self.phrase(Span::new(opening, end), trim, &[])?;
        if !self.names_side(found) || self.looks_like_clause(opening, found, end) {
            return None;
        }
        let found = self.phrase(found, Trim { max_words, ..Trim::WHOLE }, &[])?;
        let once = Span::new(found.start, found.start + 1);
        Some(if self.same_words(found) { once } else { found })
    }

    fn looks_like_clause(&self, opening: usize, found: Span, end: usize) -> bool {
        let is_cut_off = found.end < end
            && self.is_clause_word(found.end)
            && self.length(Role::Tail, found.end, end) == 0;
        let marks = |at: usize| {
            let roles = [Role::Said, Role::Want, Role::Fact, Role::WantEnd, Role::Got];
            self.longest(&roles, at, found.end) > 0 || self.is_role(Role::Demonstrative, at)
        };
        // "Distinct throws the duplicates": an article after a content word.
        let has_object = (opening + 1..found.end)
            .any(|at| self.length(Role::Article, at, end) > 0 && self.is_content(at - 1));
        let mut content = (found.start..found.end).filter(|at| self.is_content(*at));
        let first = content.next();
        let is_name = |at: usize| at + 1 < found.end && self.is_mark(at + 1);
        let starts_with_answer =
            first.is_some_and(|at| self.is_only_answered(Span::new(at, at + 1)) && !is_name(at));
        is_cut_off
            || (found.start..found.end).any(marks)
            || has_object
            || (starts_with_answer && content.next().is_some())
    }
}
