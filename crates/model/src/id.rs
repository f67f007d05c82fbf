//! Ids and names, one type each, validated on construction.

use std::fmt;

use serde::{Deserialize, Serialize};

#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum BadId {
    #[error("expected 1 to 200 bytes of UTF-8 without control characters, and not %2E or %2E%2E")]
    Opaque,
    #[error("expected 1 to 200 bytes of visible ASCII without '/' or spaces")]
    Token,
    /// An invalid external id.
    #[error("expected 1 to 500 bytes without control characters, not only spaces")]
    Outside,
    /// An invalid tenant or project name.
    #[error("expected 1 to 100 characters of A-Z a-z 0-9 . _ -")]
    Name,
}

/// Any text without control characters. The spellings that stand for `.` and `..` in a path
/// (`model::encode_path_segment`) are no ids of their own.
fn check_opaque(text: &str) -> Result<(), BadId> {
    let fits = (1..=200).contains(&text.len())
        && !text.chars().any(char::is_control)
        && crate::url::decode_dot_segment(text).is_none();
    if fits { Ok(()) } else { Err(BadId::Opaque) }
}

/// Ids from which others are derived with a separator.
fn check_token(text: &str) -> Result<(), BadId> {
    let visible = text.bytes().all(|byte| byte.is_ascii_graphic() && byte != b'/');
    if visible && (1..=200).contains(&text.len()) { Ok(()) } else { Err(BadId::Token) }
}

/// External names: paths, URLs, titles.
fn check_outside(text: &str) -> Result<(), BadId> {
    let fits = (1..=500).contains(&text.len())
        && !text.chars().any(char::is_control)
        && !text.trim().is_empty();
    if fits { Ok(()) } else { Err(BadId::Outside) }
}

fn check_name(text: &str) -> Result<(), BadId> {
    let plain =
        text.bytes().all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'.' | b'_' | b'-'));
    if plain && (1..=100).contains(&text.len()) { Ok(()) } else { Err(BadId::Name) }
}

// One macro for all id types keeps their rules equal.
macro_rules! text_id {
    ($(#[$doc:meta])* $name:ident, $check:ident) => {
        $(#[$doc])*
        #[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
        #[serde(into = "String", try_from = "String")]
        pub struct $name(String);

        impl $name {
            pub fn new(text: impl Into<String>) -> Result<Self, BadId> {
                let text = text.into();
                $check(&text)?;
                Ok(Self(text))
            }

            pub fn as_str(&self) -> &str {
                &self.0
            }
        }

        impl From<$name> for String {
            fn from(id: $name) -> Self {
                id.0
            }
        }

        impl TryFrom<String> for $name {
            type Error = BadId;

            fn try_from(text: String) -> Result<Self, BadId> {
                Self::new(text)
            }
        }

        impl fmt::Display for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str(&self.0)
            }
        }
    };
}

text_id!(
    /// The owner of data.
    Tenant, check_name
);
text_id!(
    /// A part of a tenant's data with its own ids.
    Project, check_name
);
text_id!(EventId, check_opaque);

/// The last digits of the id of a write's first event.
const FIRST_OF_WRITE: &str = "00";

/// The events of one write have ids that differ in the last two digits, when the server made the
/// id of the first. Only that one is claimed; the others are found by it.
impl EventId {
    /// The id of the `number`-th further event of the write that begins with this event. `None`
    /// when a client made this id, or the number is 0.
    pub fn nth_of_write(&self, number: usize) -> Option<Self> {
        let number = u8::try_from(number).ok().filter(|number| *number > 0)?;
        let stem = self.0.strip_suffix(FIRST_OF_WRITE).filter(|_| self.is_server_made())?;
        Some(Self(format!("{stem}{number:02x}")))
    }

    /// The first event of the write that this event may be a further one of, and its number.
    pub fn first_of_write(&self) -> Option<(Self, u8)> {
        let (stem, digits) = self.0.split_at_checked(self.0.len().checked_sub(2)?)?;
        let number = u8::from_str_radix(digits, 16).ok().filter(|number| *number > 0)?;
        let first = Self(format!("{stem}{FIRST_OF_WRITE}"));
        (first.nth_of_write(number.into()).as_ref() == Some(self)).then_some((first, number))
    }

    /// True for the form of ids that the server makes: a UUIDv7.
    fn is_server_made(&self) -> bool {
        let form = "00000000-0000-7000-0000-000000000000".bytes();
        self.0.len() == 36
            && self.0.bytes().zip(form).all(|(byte, form)| match form {
                b'0' => matches!(byte, b'0'..=b'9' | b'a'..=b'f'),
                fixed => byte == fixed,
            })
    }
}
text_id!(
    /// One question and its answer.
    TurnId, check_opaque
);
text_id!(ConversationId, check_opaque);
text_id!(
    /// A choice of an agent or router.
    DecisionId, check_opaque
);
text_id!(
    /// A retrievable item.
    EntityId, check_outside
);
text_id!(
    /// A search, or the turn that it was made for.
    QueryId, check_outside
);
text_id!(ExperimentId, check_token);
text_id!(
    /// The `Idempotency-Key` of a request.
    IdempotencyKey, check_token
);
text_id!(
    /// An end user of the application.
    UserId, check_opaque
);

/// Ids of turns and conversations that feedback quotes begin with this word and a dot.
pub const QUOTED: &str = "quoted";

impl ConversationId {
    /// True for the conversation of a derived turn whose feedback named none.
    pub fn is_derived(&self) -> bool {
        self.0.strip_prefix(QUOTED).is_some_and(|rest| rest.starts_with('.'))
    }
}

/// Tenant and project: every record belongs to exactly one scope.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Scope {
    pub tenant: Tenant,
    pub project: Project,
}

impl Default for Scope {
    /// The scope of local mode: `default`/`default`.
    fn default() -> Self {
        let name = || "default".to_owned();
        Self { tenant: Tenant(name()), project: Project(name()) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn opaque_id_is_any_text_without_control_characters() {
        let longest = "é".repeat(100);
        for good in ["a", "turn_1762441078644_qp8d27", "a b", "a/b", "é", "日本 語", "..", &longest]
        {
            assert_eq!(EventId::new(good).unwrap().as_str(), good);
        }
        let long = "x".repeat(201);
        for bad in ["", "a\nb", "a\0", "a\u{85}", "%2E", "%2e%2E", &long] {
            assert_eq!(EventId::new(bad), Err(BadId::Opaque), "{bad:?}");
        }
    }

    #[test]
    fn token_is_visible_ascii_without_slash_or_space() {
        assert!(IdempotencyKey::new("!\"#$%&'()*+,-.:;<=>?@[]^_`{|}~").is_ok());
        for bad in ["", "a b", "a/b", "é"] {
            assert_eq!(IdempotencyKey::new(bad), Err(BadId::Token), "{bad:?}");
            assert_eq!(ExperimentId::new(bad), Err(BadId::Token), "{bad:?}");
        }
    }

    #[test]
    fn name_rejects_separators() {
        assert!(Tenant::new("ACME.eu_1-b").is_ok());
        for bad in ["", "a:b", "a/b", "a b", "ä"] {
            assert_eq!(Tenant::new(bad), Err(BadId::Name), "{bad:?}");
        }
    }
}
