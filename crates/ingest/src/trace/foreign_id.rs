//! Ids of other systems, which may have forms that our ids have not.

use std::fmt::Write as _;

use model::BadId;

const MAX_BYTES: usize = 200;
const KEPT_BYTES: usize = 120;

/// Makes an id of a foreign one. Keeps it as sent where it is valid; control characters are
/// percent-encoded, and the end of a long id is replaced by `hash` of the whole. `None` for an
/// empty one.
pub fn fit_foreign_id<T>(
    text: &str,
    new: impl Fn(String) -> Result<T, BadId>,
    hash: impl FnOnce(&str) -> String,
) -> Option<T> {
    if text.is_empty() {
        return None;
    }
    if let Ok(id) = new(text.to_owned()) {
        return Some(id);
    }
    let mut encoded = String::with_capacity(text.len());
    for character in text.chars() {
        // A percent sign begins the encoded spelling of a dot segment.
        if character.is_control() || character == '%' {
            for byte in character.encode_utf8(&mut [0; 4]).bytes() {
                // Writing to a string cannot fail.
                let _ = write!(encoded, "%{byte:02X}");
            }
        } else {
            encoded.push(character);
        }
    }
    if encoded.len() > MAX_BYTES {
        let mut end = KEPT_BYTES;
        while !encoded.is_char_boundary(end) {
            end -= 1;
        }
        encoded.truncate(end);
        encoded.push('~');
        encoded.push_str(&hash(text));
    }
    new(encoded).ok()
}

#[cfg(test)]
mod tests {
    use model::ConversationId;

    use super::*;

    #[track_caller]
    fn check(text: &str, expected: Option<&str>) {
        let id = fit_foreign_id(text, ConversationId::new, |_| "f".repeat(32));
        assert_eq!(id.as_ref().map(ConversationId::as_str), expected, "{text:?}");
    }

    #[test]
    fn valid_ids_are_kept_and_others_are_encoded() {
        check("chat/42", Some("chat/42"));
        check("Ann Ü", Some("Ann Ü"));
        check("50%", Some("50%"));
        check("", None);
        check("a\nb", Some("a%0Ab"));
        check("%2E", Some("%252E"));
        let long = format!("{}é{}", "x".repeat(119), "y".repeat(200));
        check(&long, Some(&format!("{}~{}", "x".repeat(119), "f".repeat(32))));
    }
}
