//! Warnings: a request was accepted, but part of it has no effect yet or none at all.

use std::sync::atomic::{AtomicU64, Ordering};

use model::ConversationId;

// One list: the variant and its code on the wire.
macro_rules! codes {
    ($($(#[$doc:meta])* $code:ident $word:literal),+ $(,)?) => {
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        pub enum WarningCode { $($(#[$doc])* $code),+ }

        impl WarningCode {
            pub const ALL_CODES: &[Self] = &[$(Self::$code),+];

            pub const fn as_word(self) -> &'static str {
                match self { $(Self::$code => $word),+ }
            }
        }
    };
}

codes! {
    /// A decision id that this server did not issue.
    UnknownDecision "unknown_decision",
    /// Feedback on a turn that does not exist yet.
    UnknownTurn "unknown_turn",
    /// A report of abandonment that finds no turn.
    UnknownSession "unknown_session",
    /// Feedback that names another conversation than its turn's.
    OtherConversation "other_conversation",
    /// An API key while the server has none.
    UnknownKey "unknown_key",
    /// A field that another one overrides.
    OverriddenField "overridden_field",
}

/// Why part of a request has no effect.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Warning {
    pub code: WarningCode,
    /// The field of the request.
    pub field: &'static str,
    pub detail: String,
}

impl Warning {
    /// Feedback that waits for its turn.
    pub(crate) fn unknown_turn(field: &'static str) -> Self {
        let detail = "no turn with this id exists yet; the feedback is stored and joins the turn \
                      when it arrives";
        Self { code: WarningCode::UnknownTurn, field, detail: detail.to_owned() }
    }

    /// A report of abandonment without a turn, in the conversation that it names, if any.
    pub(crate) fn unknown_session(conversation: Option<&ConversationId>) -> Self {
        let detail = match conversation {
            Some(conversation) => format!(
                "session {conversation} has no turn yet, so the abandonment counts nowhere; send it \
                 after a turn of the session, or name the turn in message_id"
            ),
            None => {
                "the abandonment names neither session_id nor message_id, so it counts nowhere; \
                     send one of them"
                    .to_owned()
            }
        };
        Self { code: WarningCode::UnknownSession, field: "session_id", detail }
    }

    /// A key that was sent to a server without keys. `field` is the header.
    pub fn unknown_key(field: &'static str) -> Self {
        let detail = "the server has no API keys, so the key was not checked and gives no scope; \
                      create keys with uptake keys create, or remove it";
        Self { code: WarningCode::UnknownKey, field, detail: detail.to_owned() }
    }
}

/// Number of warnings by code.
#[derive(Debug)]
pub(crate) struct WarningCounts([AtomicU64; WarningCode::ALL_CODES.len()]);

impl Default for WarningCounts {
    fn default() -> Self {
        Self(std::array::from_fn(|_| AtomicU64::new(0)))
    }
}

impl WarningCounts {
    pub(crate) fn count(&self, code: WarningCode) {
        self.0[code as usize].fetch_add(1, Ordering::Relaxed);
    }

    pub(crate) fn list(&self) -> Vec<(WarningCode, u64)> {
        let count = |code: &WarningCode| (*code, self.0[*code as usize].load(Ordering::Relaxed));
        WarningCode::ALL_CODES.iter().map(count).collect()
    }
}
