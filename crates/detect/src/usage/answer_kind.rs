//! The kind of an answer.

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum AnswerKind {
    /// Prose for a reader, possibly with code.
    Response,
    /// Code that was written to a file.
    Code,
}
