//! Percent-encoding of ids in URLs.

use std::fmt::Write;

/// Percent-encodes a query value or fragment.
pub fn encode_url(text: &str) -> String {
    let mut encoded = String::with_capacity(text.len());
    for byte in text.bytes() {
        if byte.is_ascii_alphanumeric() || b"-_.~@:".contains(&byte) {
            encoded.push(char::from(byte));
        } else {
            // Writing to a string cannot fail.
            let _ = write!(encoded, "%{byte:02X}");
        }
    }
    encoded
}

/// Percent-encodes an id as one segment of a path. Clients resolve the segments `.` and `..`, also
/// when they are percent-encoded, so these two are encoded twice.
pub fn encode_path_segment(id: &str) -> String {
    match id {
        "." => "%252E".to_owned(),
        ".." => "%252E%252E".to_owned(),
        other => encode_url(other),
    }
}

/// The id that a decoded path segment stands for.
pub fn decode_path_segment(segment: String) -> String {
    decode_dot_segment(&segment).map_or(segment, str::to_owned)
}

/// `.` or `..`, if the segment was one of them encoded twice.
pub(crate) fn decode_dot_segment(segment: &str) -> Option<&'static str> {
    match segment.to_ascii_uppercase().as_str() {
        "%2E" => Some("."),
        "%2E%2E" => Some(".."),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn path_segments_round_trip() {
        let rows = [
            ("t1", "t1"),
            ("a b/c?d#e%f", "a%20b%2Fc%3Fd%23e%25f"),
            ("日", "%E6%97%A5"),
            (".", "%252E"),
            ("..", "%252E%252E"),
            ("...", "..."),
        ];
        for (id, expected) in rows {
            assert_eq!(encode_path_segment(id), expected);
            // The server decodes a path once.
            let segment = if id.starts_with('.') && id.len() < 3 {
                expected.replace("%25", "%")
            } else {
                id.to_owned()
            };
            assert_eq!(decode_path_segment(segment), id);
        }
    }
}
