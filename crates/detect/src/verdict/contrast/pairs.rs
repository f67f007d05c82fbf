//! Rules for sentences that name both sides: "X, not Y", "not Y but X", "replace Y by X".

use super::reading::{Reading, Span, Trim};
use super::roles::Role;

/// A wanted and an unwanted phrase.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Pair {
    pub(super) wants: Span,
    pub(super) instead_of: Span,
}

/// Roles after which the wanted phrase follows.
pub(super) const MARKERS: &[Role] = &[Role::Said, Role::Want, Role::Do];
const SENTENCE_MARKERS: &[Role] = &[Role::Said, Role::Want, Role::Do, Role::Fact, Role::Request];
/// Tokens between a negation and its "but".
const MAX_UNWANTED_TOKENS: usize = 12;
/// Tokens of a sentence in which a negation without a comma separates: "Dreisatz nicht Pythagoras".
const MAX_SHORT_SENTENCE: usize = 6;
/// Tokens of a side that needs no further evidence.
const MAX_TINY_SIDE: usize = 3;

type Rule = fn(&Reading<'_>, Span) -> Option<Pair>;

/// The rules in order.
pub(super) const PAIR_RULES: &[(Rule, PairKind)] = &[
    (find_negated_then_wanted, PairKind::Contrast),
    (find_replacement, PairKind::Replacement),
    (find_leading_instead, PairKind::Contrast),
    (find_separated_sides, PairKind::Contrast),
    (find_comparison, PairKind::Contrast),
];

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum PairKind {
    /// May also be a remark about something else, when the user is pleased.
    Contrast,
    Replacement,
}

impl Reading<'_> {
    /// True for a phrase that may name a side.
    pub(super) fn names_side(&self, span: Span) -> bool {
        self.is_nominal(span) && self.may_name_side(span)
    }

    /// As [`Self::names_side`], for a phrase that may contain a verb.
    pub(super) fn may_name_side(&self, span: Span) -> bool {
        !self.is_filler(span)
            && !self.has_role(Role::Remark, span)
            && !self.has_role(Role::Praise, span)
    }

    /// The phrase without "please" or "would be better" at its end.
    pub(super) fn strip_want_end(&self, span: Span) -> Option<Span> {
        let length = self.length_before(Role::WantEnd, span.end, span.start);
        if length > 0 && span.end - length > span.start {
            return self.phrase(Span::new(span.start, span.end - length), Trim::WHOLE, &[]);
        }
        Some(span)
    }

    fn is_aligned(&self, pair: Pair) -> bool {
        self.is_answered(pair.instead_of) || self.is_missed(pair.wants)
    }

    /// False for a preposition that compares only after a verb of preference: "I prefer X to Y".
    fn may_compare(&self, verb: usize, than: usize) -> bool {
        let needs = |than_role: Role, verb_role: Role| {
            !self.is_role(than_role, than) || self.is_role(verb_role, verb)
        };
        needs(Role::PreferenceThan, Role::Preferring)
            && needs(Role::RomanceThan, Role::RomancePreferring)
    }

    fn last_break(&self, start: usize, end: usize) -> usize {
        (start..end).rev().find(|at| self.is_break(*at)).map_or(start, |at| at + 1)
    }

    /// The wanted phrase before a separator, and true after a marker such as "I meant".
    fn wanted_before(&self, start: usize, end: usize) -> Option<(Span, bool)> {
        let mut marker = None;
        let mut at = start;
        while at < end {
            let length = self.longest(SENTENCE_MARKERS, at, end);
            if length > 0 {
                marker = Some(at + length);
            }
            at += length.max(1);
        }
        let stops = [Role::Not, Role::Got];
        let marked = marker.and_then(|at| self.phrase(Span::new(at, end), Trim::TO_BREAK, &stops));
        if let Some(marked) = marked {
            return Some((marked, true));
        }
        let clause = Span::new(self.last_break(start, end), end);
        let bare = self.phrase(clause, Trim::WHOLE, &[]).and_then(|span| self.strip_want_end(span));
        bare.map(|span| (span, false))
    }

    fn skip_markers(&self, mut at: usize, end: usize) -> usize {
        loop {
            let length = self.longest(MARKERS, at, end);
            if length == 0 {
                return at;
            }
            at += length;
        }
    }
}

/// "Not Y but X", "nie Y tylko X", "Y değil X".
fn find_negated_then_wanted(text: &Reading<'_>, sentence: Span) -> Option<Pair> {
    let Span { start, end } = sentence;
    let negations = (start..end).map(|at| (at, text.length(Role::Not, at, end)));
    for (at, length) in negations.filter(|(_, length)| *length > 0) {
        let first = at + length + 1;
        let last = end.min(at + length + MAX_UNWANTED_TOKENS);
        let found = (first..last).find_map(|but| wanted_after_but(text, at + length, but, end));
        if found.is_some() {
            return found;
        }
    }
    find_postponed_negation(text, sentence)
}

fn wanted_after_but(text: &Reading<'_>, from: usize, but: usize, end: usize) -> Option<Pair> {
    let length = text.length(Role::But, but, end);
    let is_joined = text.is_role(Role::StrongBut, but) || text.is_break(but - 1);
    let is_weak = text.is_role(Role::WeakBut, but);
    if length == 0 || !(is_joined || is_weak) {
        return None;
    }
    let instead_of = text.phrase(Span::new(from, but), Trim::TO_BREAK, &[])?;
    let after = but + length;
    let marker = text.longest(MARKERS, after, end);
    let wants = text.phrase(Span::new(after + marker, end), Trim::TO_BREAK, &[Role::Not])?;
    let pair = Pair { wants, instead_of };
    let names_wanted = if marker > 0 { text.may_name_side(wants) } else { text.names_side(wants) };
    let needs_evidence = !is_joined || (is_weak && marker == 0);
    let is_contrast = text.names_side(instead_of) && names_wanted;
    (is_contrast && (!needs_evidence || text.is_aligned(pair))).then_some(pair)
}

/// Turkish: "kedi değil köpek istedim".
fn find_postponed_negation(text: &Reading<'_>, sentence: Span) -> Option<Pair> {
    let Span { start, end } = sentence;
    (start + 1..end).filter(|at| text.is_role(Role::PostponedNegation, *at)).find_map(|at| {
        let instead_of = text.phrase(Span::new(start, at), Trim::WHOLE, &[])?;
        let skips = |at: &usize| text.is_mark(*at) || text.is_role(Role::PostponedTail, *at);
        let after = (at + 1..end).find(|at| !skips(at))?;
        let trim = Trim { max_words: 9, ..Trim::TO_BREAK };
        let mut wants = text.strip_want_end(text.phrase(Span::new(after, end), trim, &[])?)?;
        let verb =
            (wants.start + 1..wants.end).find(|at| text.length(Role::WantEnd, *at, wants.end) > 0);
        if let Some(verb) = verb {
            wants = text.phrase(Span::new(wants.start, verb), Trim::WHOLE, &[])?;
        }
        let named = text.names_side(instead_of) && text.may_name_side(wants);
        named.then_some(Pair { wants, instead_of })
    })
}

/// "X instead of Y", "X, not Y".
fn find_separated_sides(text: &Reading<'_>, sentence: Span) -> Option<Pair> {
    let Span { start, end } = sentence;
    (start + 1..end)
        .find_map(|at| find_instead(text, sentence, at))
        .or_else(|| (start + 1..end).find_map(|at| find_negation(text, sentence, at)))
}

fn find_instead(text: &Reading<'_>, sentence: Span, at: usize) -> Option<Pair> {
    let Span { start, end } = sentence;
    let length = text.length(Role::Instead, at, end);
    let is_over = text.is_role(Role::Over, at);
    let is_choice = || (start..at).any(|at| text.is_role(Role::Choosing, at));
    if length == 0 || (is_over && !is_choice()) {
        return None;
    }
    let trim = Trim { drops_articles: false, ..Trim::TO_BREAK };
    let after = text.phrase(Span::new(at + length, end), trim, MARKERS)?;
    if let Some(from) = find_blamed(text, start, at) {
        // "You used Y instead of X."
        let before = text.phrase(Span::new(from, at), Trim::WHOLE, &[])?;
        let pair = Pair { wants: after, instead_of: before };
        let named = text.may_name_side(before) && text.names_side(after);
        return (named && !text.is_only_answered(after)).then_some(pair);
    }
    let before = if text.is_break(at - 1) { at - 1 } else { at };
    let (wants, is_marked) = text.wanted_before(start, before)?;
    let pair = Pair { wants, instead_of: after };
    let named = if is_marked {
        text.may_name_side(wants) && (text.names_side(after) || after.len() <= MAX_TINY_SIDE)
    } else {
        text.names_side(wants) && text.names_side(after) && text.is_aligned(pair)
    };
    named.then(|| share_preposition(text, pair))
}

/// Where the phrase after "you gave me" starts, when the clause before a separator blames the
/// answer.
fn find_blamed(text: &Reading<'_>, start: usize, end: usize) -> Option<usize> {
    if text.is_request(Span::new(start, end)) {
        return None;
    }
    let clause = text.last_break(start, end);
    let markers = (clause..end).map(|at| (at, text.length(Role::Got, at, end)));
    let marker = markers.rev().find(|(_, length)| *length > 1);
    let subject = text.skip_fillers(clause, end);
    let addresses = text.is_role(Role::Addressee, subject);
    let from = marker.map(|(at, length)| at + length).or(addresses.then_some(subject + 1));
    from.filter(|from| *from < end)
}

/// "By project and not by employee": the wanted side starts at the same preposition.
fn share_preposition(text: &Reading<'_>, pair: Pair) -> Pair {
    let Pair { wants, instead_of } = pair;
    let first = text.tokens[instead_of.start].hash;
    let is_preposition =
        !text.is_content(instead_of.start) && !text.is_role(Role::Article, instead_of.start);
    let same = (wants.start + 1..wants.end).rev().find(|at| text.tokens[*at].hash == first);
    match same.filter(|_| is_preposition) {
        Some(start) => Pair { wants: Span::new(start, wants.end), instead_of },
        None => pair,
    }
}

fn find_negation(text: &Reading<'_>, sentence: Span, at: usize) -> Option<Pair> {
    let Span { start, end } = sentence;
    if !text.is_role(Role::Separator, at) {
        return None;
    }
    let after_break = text.is_break(at - 1);
    let is_short = sentence.len() <= MAX_SHORT_SENTENCE;
    let separates = text.is_role(Role::BareSeparator, at) || is_short;
    // "It is not X" negates a verb.
    if !after_break && (!separates || text.is_clause_word(at - 1)) {
        return None;
    }
    let trim = Trim { drops_articles: false, drops_fillers: false, ..Trim::TO_BREAK };
    let instead_of = text.phrase(Span::new(at + 1, end), trim, &[])?;
    let may_negate_verb = !after_break && text.is_role(Role::VerbNegation, at);
    if may_negate_verb && !text.is_answered(instead_of) {
        return None;
    }
    let before = if after_break { at - 1 } else { at };
    let (wants, is_marked) = text.wanted_before(start, before)?;
    let pair = Pair { wants, instead_of };
    let is_tiny = wants.len() <= MAX_TINY_SIDE
        && instead_of.len() <= MAX_TINY_SIDE
        && !(start..at).any(|other| text.length(Role::Filler, other, at) > 0);
    let named = if is_marked { text.may_name_side(wants) } else { text.names_side(wants) };
    let is_contrast = is_marked || after_break || is_tiny || text.is_aligned(pair);
    (named && text.names_side(instead_of) && is_contrast).then_some(pair)
}

/// "Instead of Y give me X", "Y yerine X".
fn find_leading_instead(text: &Reading<'_>, sentence: Span) -> Option<Pair> {
    let Span { start, end } = sentence;
    let first = text.skip_fillers(start, end);
    let opens = |at: &usize| {
        text.length(Role::Instead, *at, end) > 0 && text.length(Role::CopulaInstead, *at, end) == 0
    };
    let found = [start, first].into_iter().filter(opens).find_map(|at| {
        let from = at + text.length(Role::Instead, at, end);
        (from + 1..end).find_map(|at| {
            let marker = text.longest(MARKERS, at, end).max(text.length(Role::WantEnd, at, end));
            let length = if marker == 0 { usize::from(text.is_break(at)) } else { marker };
            if length == 0 {
                return None;
            }
            let instead_of = text.phrase(Span::new(from, at), Trim::WHOLE, &[])?;
            let after = text.skip_markers(at + length, end);
            let wants = text.phrase(Span::new(after, end), Trim::TO_BREAK, &[])?;
            Some(Pair { wants, instead_of })
        })
    });
    found.or_else(|| {
        let at = (start + 1..end).find(|at| text.length(Role::InsteadEnd, *at, end) > 0)?;
        let instead_of = text.phrase(Span::new(start, at), Trim::WHOLE, &[])?;
        let wants = text.phrase(Span::new(at + 1, end), Trim::TO_BREAK, &[])?;
        Some(Pair { wants: text.strip_want_end(wants)?, instead_of })
    })
}

/// "Replace Y by X". Y is in the answer.
fn find_replacement(text: &Reading<'_>, sentence: Span) -> Option<Pair> {
    const MAX_REPLACED_TOKENS: usize = 10;
    let Span { start, end } = sentence;
    let verbs = (start..end).map(|at| at + text.length(Role::Swap, at, end));
    verbs.zip(start..end).filter(|(from, at)| from > at).find_map(|(from, _)| {
        (from + 1..end.min(from + MAX_REPLACED_TOKENS)).find_map(|to| {
            let length = text.length(Role::SwapTo, to, end);
            if length == 0 {
                return None;
            }
            let instead_of = text.phrase(Span::new(from, to), Trim::WHOLE, &[])?;
            let wants = text.phrase(Span::new(to + length, end), Trim::TO_BREAK, &[])?;
            let named = text.names_side(wants) && text.names_side(instead_of);
            (named && text.is_answered(instead_of)).then_some(Pair { wants, instead_of })
        })
    })
}

/// "X would be better than Y", "I prefer X to Y".
fn find_comparison(text: &Reading<'_>, sentence: Span) -> Option<Pair> {
    let Span { start, end } = sentence;
    (start..end).find_map(|at| {
        let length = text.length(Role::Better, at, end);
        if length == 0 {
            return None;
        }
        (at + length..end).find_map(|than| {
            let than_length = text.length(Role::Than, than, end);
            if than_length == 0 || than + than_length >= end || !text.may_compare(at, than) {
                return None;
            }
            let instead_of =
                text.phrase(Span::new(than + than_length, end), Trim::TO_BREAK, &[])?;
            let before = text.phrase(Span::new(start, at), Trim::WHOLE, &[]);
            let wants = match before.filter(|span| text.names_side(*span)) {
                Some(span) => span,
                None => text.phrase(Span::new(at + length, than), Trim::WHOLE, &[])?,
            };
            Some(Pair { wants, instead_of })
        })
    })
}
