//! Detects messages that end a conversation on good terms.

use crate::phrases::Cue;

use crate::utterance::{Utterance, is_bare_remark};

/// True for thanks or praise with little else. A user who leaves after such a message has not
/// abandoned the task.
pub fn is_farewell(message: &Utterance) -> bool {
    let pleased = message.has_any_cue(&[Cue::Thanks, Cue::Praise]);
    pleased && !message.ends_with_question() && is_bare_remark(message)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn thanks_are_a_farewell_and_questions_are_not() {
        for kind in ["Thanks!", "thank you so much", "perfect, thanks", "Danke!"] {
            assert!(is_farewell(&Utterance::read(kind)), "{kind}");
        }
        for other in ["thanks?", "no", "What is the capital of Peru?", "", "try again"] {
            assert!(!is_farewell(&Utterance::read(other)), "{other}");
        }
    }
}
