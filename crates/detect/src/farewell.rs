//! Messages that end a conversation kindly.

use crate::phrases::Cue;

use crate::utterance::{Utterance, is_bare};

/// Thanks or praise and hardly anything else: who says so and leaves has not given up.
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
