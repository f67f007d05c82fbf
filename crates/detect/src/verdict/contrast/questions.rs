//! Questions and remarks that correct nothing.

use super::reading::{Reading, Sentence, Span};
use super::roles::Role;

impl Reading<'_> {
    /// True when a clause asks for something to be done: "can you", "kannst du".
    pub(super) fn is_request(&self, span: Span) -> bool {
        let Span { start, end } = span;
        let opens = |at: usize| {
            self.length(Role::Request, at, end) > 0
                || self.length(Role::Request, self.skip_fillers(at, end), end) > 0
        };
        opens(start) || (start..end).any(|at| self.is_break(at) && opens(at + 1))
    }

    /// True for a question or a remark that wants nothing else: "is it better to use X instead of
    /// Y?", "I'd rather not say".
    pub(super) fn asks(&self, sentence: &Sentence) -> bool {
        let Span { start, end } = sentence.span;
        let is_question = sentence.is_question;
        if (start..end).any(|at| self.is_role(Role::AskingWord, at)) {
            return true;
        }
        if self.is_request(sentence.span) {
            return false;
        }
        let asks = |at: usize| self.length(Role::Asks, at, end) > 0;
        let opens =
            |at: usize| asks(at) || (is_question && self.length(Role::AsksIfQuestion, at, end) > 0);
        let joins = |at: usize| self.is_break(at) || (at > start && self.is_role(Role::Or, at));
        opens(start)
            || opens(self.skip_fillers(start, end))
            || (is_question && (start..end).any(|at| joins(at) && asks(at + 1)))
    }
}
