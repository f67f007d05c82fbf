//! Detects messages that end a conversation on good terms.

use crate::phrases::Cue;

use crate::utterance::{Utterance, is_bare};

/// True for thanks or praise with little else. A user who leaves after such a message has not
/// abandoned the task.
pub fn is_farewell(message: &Utterance) -> bool {
    let pleased = message.has(Cue::Thanks) || message.has(Cue::Praise);
    let asks = message.original().trim_end().ends_with(['?', '？']);
    pleased && !asks && is_bare(message)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn thanks_end_a_conversation_and_questions_do_not() {
        for kind in ["Thanks!", "thank you so much", "perfect, thanks", "Danke!"] {
            assert!(is_farewell(&Utterance::read(kind)), "{kind}");
        }
        for other in ["thanks?", "no", "What is the capital of Peru?", "", "try again"] {
            assert!(!is_farewell(&Utterance::read(other)), "{other}");
        }
    }
}
