//! Extracts what the user wants and what they got: "gaming laptops, not business laptops".
//!
//! Question and answer help: a phrase that only the answer has is what the user got, a phrase that
//! only the question has is what they want. A side that is not certain stays unknown.

mod roles;
mod tokens;
mod reading;
mod questions;
mod pairs;
mod wanted;
mod unwanted;
mod unspaced;

use model::Contrast;

use super::Exchange;
use crate::text::WordKind;
use pairs::{PAIR_RULES, Pair, PairKind};
use reading::{Clause, Reading, Sentence, Span};
use roles::Role;
use unwanted::{Ground, Known};

#[cfg(test)]
mod tests;

/// The wanted and the unwanted phrase of a correction, in the words of the message. `None` when the
/// message names neither, or when it is not clear which is which.
pub fn extract_contrast(exchange: &Exchange<'_>) -> Option<Contrast> {
    if is_program_output(exchange.message.original()) {
        return None;
    }
    let words = &exchange.message.text.words;
    if words.iter().any(|word| word.kind == WordKind::Sign && !is_emoji(exchange, word.start)) {
        return unspaced::extract_unspaced_contrast(exchange);
    }
    let text = Reading::new(exchange);
    let correction = Correction::new(&text);
    let (wants, instead_of) = match correction.find_pair() {
        Some(pair) => (Some(pair.wants), Some(pair.instead_of)),
        None => correction.find_sides(),
    };
    let side = |span: Option<Span>| span.and_then(|span| text.text(span));
    let contrast = Contrast { wants: side(wants), instead_of: side(instead_of) };
    (contrast.wants.is_some() || contrast.instead_of.is_some()).then_some(contrast)
}

/// True for a pasted error or log line, whose words are not the user's wish.
fn is_program_output(message: &str) -> bool {
    const MARKS: [&str; 8] = [
        "error:",
        "exception",
        "traceback",
        "fatal:",
        "warning:",
        "could not ",
        "not found",
        "undefined",
    ];
    let lower = message.to_lowercase();
    let has_code = |word: &str| {
        // ORA-00933, CS0246, E0382.
        let letters = word.bytes().take_while(u8::is_ascii_uppercase).count();
        let digits = word.bytes().rev().take_while(u8::is_ascii_digit).count();
        (1..=4).contains(&letters) && digits >= 4 && letters + digits + 1 >= word.len()
    };
    let is_coded = message.split([' ', ':', '[', ']', '(', ')']).any(has_code);
    is_coded || MARKS.iter().any(|mark| lower.contains(mark))
}

fn is_emoji(exchange: &Exchange<'_>, at: usize) -> bool {
    let written = exchange.message.original().get(at..);
    written.and_then(|rest| rest.chars().next()).is_none_or(|c| !crate::text::is_ideograph(c))
}

/// Words of a clause such as "wrong table".
const MAX_WRONG_WORDS: usize = 3;

/// Where a wanted phrase comes from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Source {
    /// "I meant X", "I want X".
    Stated,
    Other,
}

/// The sentences of a message that may correct.
struct Correction<'t, 'a> {
    text: &'t Reading<'a>,
    sentences: Vec<&'t Sentence>,
    /// True when the user is pleased, and no "but" follows.
    is_pleased: bool,
}

impl<'t, 'a> Correction<'t, 'a> {
    fn new(text: &'t Reading<'a>) -> Self {
        let end = text.tokens.len();
        let praise = (0..end).find(|at| text.starts(Role::Praise, *at));
        let is_pleased =
            praise.is_some_and(|praise| !(praise..end).any(|at| text.starts(Role::Yet, at)));
        let sentences = text.sentences.iter().filter(|sentence| !text.asks(sentence)).collect();
        Self { text, sentences, is_pleased }
    }

    fn find_pair(&self) -> Option<Pair> {
        self.sentences.iter().find_map(|sentence| {
            PAIR_RULES.iter().find_map(|(rule, kind)| {
                let pair = rule(self.text, sentence.span)?;
                let is_inverted = self.text.is_only_answered(pair.wants)
                    && !self.text.is_answered(pair.instead_of);
                let is_remark = self.is_pleased
                    && *kind == PairKind::Contrast
                    && !self.text.is_request(sentence.span);
                (!is_inverted && !is_remark).then_some(pair)
            })
        })
    }

    fn find_sides(&self) -> (Option<Span>, Option<Span>) {
        let wanted = self.find_wanted();
        let known = Known {
            wants: wanted.map(|(span, _)| span),
            is_stated: wanted.is_some_and(|(_, source)| source == Source::Stated),
            is_single_clause: self.sentences.len() == 1 && self.sentences[0].clauses.len() == 1,
        };
        let unwanted = self.find_unwanted(&known);
        let wants = known.wants.or_else(|| self.find_wanted_late(unwanted));
        let instead_of = unwanted
            .map(|(span, _)| span)
            .or_else(|| wants.and_then(|wants| self.find_answered(wants)));
        let is_topic = unwanted.is_some_and(|(_, ground)| ground == Ground::Topic);
        let end = self.text.tokens.len();
        let is_suitable = is_topic && self.text.has_role(Role::Fits, Span::new(0, end));
        let is_praised = (self.is_pleased || is_suitable) && wants.is_none();
        let is_denied = unwanted.is_some_and(|(_, ground)| ground == Ground::Denied);
        (wants, instead_of.filter(|_| !is_praised || is_denied))
    }

    fn clauses(&self) -> impl Iterator<Item = (&'t Sentence, Clause)> {
        let sentences = self.sentences.iter().copied();
        sentences.flat_map(|sentence| sentence.clauses.iter().map(move |c| (sentence, *c)))
    }

    /// The first phrase that a rule finds in a clause and that the answer did not give.
    fn first_wanted(&self, rule: impl Fn(Clause) -> Option<Span>) -> Option<Span> {
        let mut found = self.clauses().filter_map(|(_, clause)| rule(clause));
        found.find(|span| !self.text.is_only_answered(*span))
    }

    fn find_wanted(&self) -> Option<(Span, Source)> {
        let text = self.text;
        let after = |role: Role| self.first_wanted(|clause| text.wanted_after(role, clause));
        let stated = |span| (span, Source::Stated);
        let other = |span| (span, Source::Other);
        let opening = self.opening_fragment().filter(|span| self.text.is_telling(*span));
        // A longer fragment may be a statement before an order.
        let is_order = || after(Role::Want).or_else(|| after(Role::Do)).is_some();
        let short = opening.filter(|span| text.word_count(*span) <= 2 || !is_order());
        after(Role::Said)
            .map(stated)
            .or_else(|| short.map(other))
            .or_else(|| self.first_wanted(|c| text.wanted_after_conclusion(c)).map(other))
            .or_else(|| self.first_wanted(|c| text.wanted_before_is_what(c)).map(other))
            .or_else(|| self.first_wanted(|c| text.wanted_before_end(c)).map(other))
            .or_else(|| self.first_wanted(|c| text.wanted_before_please(c)).map(other))
            .or_else(|| after(Role::Want).map(stated))
            .or_else(|| after(Role::Do).map(other))
            .or_else(|| after(Role::Fact).map(other))
            .or_else(|| opening.map(other))
    }

    /// A fragment at the start of the message, behind thanks and fillers.
    fn opening_fragment(&self) -> Option<Span> {
        let sentence = self.sentences.first().filter(|sentence| !sentence.is_question)?;
        let says_nothing = |clause: &&Clause| {
            let span = clause.span;
            let is_light = |at: usize| {
                self.text.length(Role::Praise, at, span.end) > 0
                    || self.text.length(Role::Filler, at, span.end) > 0
            };
            let is_wrong = self.text.length(Role::Wrong, span.start, span.end) > 0
                && self.text.word_count(span) <= MAX_WRONG_WORDS
                && span.end < sentence.span.end;
            is_wrong || self.text.is_filler(span) || (span.start..span.end).all(is_light)
        };
        let clause = sentence.clauses.iter().find(|clause| !says_nothing(clause));
        let fragment = self.text.fragment(*clause.or(sentence.clauses.first())?)?;
        (!self.is_pleased && !self.text.is_only_answered(fragment)).then_some(fragment)
    }

    fn find_unwanted(&self, known: &Known) -> Option<(Span, Ground)> {
        let text = self.text;
        let stated = self.clauses().find_map(|(sentence, clause)| {
            let is_question = sentence.is_question;
            text.unwanted_after(clause, is_question, known).or_else(|| {
                let is_echo = is_question || clause.mark == '?';
                let echo = is_echo.then(|| text.unwanted_echo(clause, known)).flatten();
                echo.map(|span| (span, Ground::Echoed))
            })
        });
        let judged = || {
            let mut found = self.clauses().filter_map(|(_, c)| text.unwanted_before(c, known));
            found.next().map(|span| (span, Ground::Judged))
        };
        let topic = || {
            let statements = self.clauses().filter(|(sentence, _)| !sentence.is_question);
            let mut found = statements.filter_map(|(_, c)| text.unwanted_topic(c, known));
            found.next().map(|span| (span, Ground::Topic))
        };
        // Without a wish, a statement about the answer is no correction ("BA-07 was withdrawn").
        stated.or_else(judged).or_else(|| known.wants.and_then(|_| topic()))
    }

    /// A fragment behind the sentence that names what is not wanted, or behind a colon.
    fn find_wanted_late(&self, unwanted: Option<(Span, Ground)>) -> Option<Span> {
        if self.is_pleased {
            return None;
        }
        let behind = unwanted.and_then(|unwanted| self.fragment_behind(unwanted));
        let behind_colon = || {
            let statements = self.sentences.iter().filter(|sentence| !sentence.is_question);
            let mut clauses = statements.flat_map(|sentence| sentence.clauses.iter().skip(1));
            clauses.find_map(|clause| {
                let mark = clause.span.start.checked_sub(1).map(|at| self.text.mark(at));
                let opens = mark.is_some_and(|mark| ":→".contains(mark));
                opens.then(|| self.new_fragment(*clause)).flatten()
            })
        };
        behind
            .or_else(behind_colon)
            .or_else(|| unwanted.and_then(|unwanted| self.find_missed(unwanted)))
    }

    fn new_fragment(&self, clause: Clause) -> Option<Span> {
        let fragment = self.text.fragment(clause)?;
        let is_new = !self.text.is_only_answered(fragment) && self.text.is_telling(fragment);
        is_new.then_some(fragment)
    }

    fn fragment_behind(&self, (unwanted, ground): (Span, Ground)) -> Option<Span> {
        let later = self.sentences.iter().skip(1).filter(|sentence| !sentence.is_question);
        later.filter_map(|sentence| sentence.clauses.first()).find_map(|clause| {
            if clause.span.overlaps(unwanted) {
                return None;
            }
            let found = self.new_fragment(*clause)?;
            // "No nuts!! Allergy" gives a reason.
            let is_wanted = ground != Ground::Denied
                || self.text.has_role(Role::Only, clause.span)
                || self.text.is_missed(found);
            is_wanted.then_some(found)
        })
    }

    /// The only words that the answer missed: "Spanish? The client is in Dublin, English of course".
    fn find_missed(&self, (unwanted, ground): (Span, Ground)) -> Option<Span> {
        if !matches!(ground, Ground::Echoed | Ground::Given) {
            return None;
        }
        let text = self.text;
        let mut runs: Vec<Span> = Vec::new();
        for at in self.sentences.iter().flat_map(|s| s.span.start..s.span.end) {
            let is_new = text.is_missed(Span::new(at, at + 1)) && !unwanted.contains(at);
            match runs.last_mut() {
                Some(run) if is_new && run.end == at => run.end = at + 1,
                _ if is_new => runs.push(Span::new(at, at + 1)),
                _ => {}
            }
        }
        match runs[..] {
            [only] => Some(only),
            _ => None,
        }
    }

    /// The only words, outside the clause of the wanted phrase, that the answer introduced.
    fn find_answered(&self, wants: Span) -> Option<Span> {
        let (_, clause) = self.clauses().find(|(_, c)| c.span.contains(wants.start))?;
        let sentences: Vec<Span> = self.text.sentences.iter().map(|s| s.span).collect();
        self.text.only_answered_run(wants, &sentences, clause.span)
    }
}
