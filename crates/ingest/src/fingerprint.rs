//! Recognises a repeated request body without storing it.
//!
//! The MAC covers the body as sent, before redaction and defaults. A new redaction rule or default
//! therefore does not turn a repeat into a conflict. The MAC is keyed, so that a reader of the
//! store cannot guess personal data by hashing candidates.

use model::Mac;
use serde_json::Value;

/// The store's random key. Its `Debug` output hides it.
#[derive(Clone)]
pub struct SealKey([u8; 32]);

impl SealKey {
    pub fn new(key: [u8; 32]) -> Self {
        Self(key)
    }
}

impl std::fmt::Debug for SealKey {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("SealKey(***)")
    }
}

#[derive(Clone, Debug)]
pub struct Fingerprint {
    key: SealKey,
}

impl Fingerprint {
    pub fn new(seal: &SealKey) -> Self {
        // Each use derives its own key from the store's random key.
        Self { key: SealKey(blake3::derive_key("uptake idempotency v1", &seal.0)) }
    }

    /// The MAC of a body sent to one endpoint. Key order and number spelling do not matter:
    /// `{"a":1,"b":2}` and `{"b":2.0,"a":1}` are equal.
    pub fn compute(&self, door: &str, body: &Value) -> Mac {
        let mut hasher = blake3::Hasher::new_keyed(&self.key.0);
        absorb_text(&mut hasher, door);
        absorb(&mut hasher, body);
        let mut mac = [0; 16];
        hasher.finalize_xof().fill(&mut mac);
        Mac(mac)
    }
}

/// Hashes a value unambiguously: a tag, then lengths before contents.
fn absorb(hasher: &mut blake3::Hasher, value: &Value) {
    match value {
        Value::Null => tag(hasher, 0),
        Value::Bool(flag) => {
            tag(hasher, 1);
            hasher.update(&[u8::from(*flag)]);
        }
        Value::Number(number) => absorb_number(hasher, number),
        Value::String(text) => {
            tag(hasher, 4);
            absorb_text(hasher, text);
        }
        Value::Array(items) => {
            tag(hasher, 5);
            hasher.update(&(items.len() as u64).to_le_bytes());
            items.iter().for_each(|item| absorb(hasher, item));
        }
        Value::Object(fields) => {
            tag(hasher, 6);
            hasher.update(&(fields.len() as u64).to_le_bytes());
            // serde_json sorts keys unless a crate in the build enables `preserve_order`. Sorting
            // here makes that irrelevant.
            let mut names: Vec<&String> = fields.keys().collect();
            names.sort_unstable();
            for name in names {
                absorb_text(hasher, name);
                absorb(hasher, &fields[name]);
            }
        }
    }
}

fn absorb_number(hasher: &mut blake3::Hasher, number: &serde_json::Number) {
    const EXACT: f64 = 9_007_199_254_740_992.0; // 2^53: below it, whole f64 are exact
    let float = number.as_f64().unwrap_or(f64::NAN);
    let whole = number
        .as_i128()
        .or_else(|| (float.fract() == 0.0 && float.abs() < EXACT).then_some(float as i128));
    match whole {
        Some(whole) => {
            tag(hasher, 2);
            hasher.update(&whole.to_le_bytes());
        }
        None => {
            tag(hasher, 3);
            hasher.update(&float.to_bits().to_le_bytes());
        }
    }
}

fn absorb_text(hasher: &mut blake3::Hasher, text: &str) {
    hasher.update(&(text.len() as u64).to_le_bytes());
    hasher.update(text.as_bytes());
}

fn tag(hasher: &mut blake3::Hasher, tag: u8) {
    hasher.update(&[tag]);
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn mac_of(body: &str) -> Mac {
        let body: Value = serde_json::from_str(body).unwrap();
        Fingerprint::new(&SealKey::new([7; 32])).compute("event", &body)
    }

    #[test]
    fn spelling_of_a_body_does_not_change_its_mac() {
        assert_eq!(
            mac_of(r#"{"a":1,"b":[true,null]}"#),
            mac_of(r#"{ "b": [true, null], "a": 1.0 }"#)
        );
        assert_eq!(mac_of(r#"{"a":"é"}"#), mac_of(r#"{"a":"\u00e9"}"#));
    }

    #[test]
    fn any_change_of_content_changes_the_mac() {
        let bodies = [
            r#"{"a":1}"#,
            r#"{"a":"1"}"#,
            r#"{"a":1.5}"#,
            r#"{"a":null}"#,
            r#"{"a":[1]}"#,
            r#"{"a":[1,2]}"#,
            r#"{"a":[[1],2]}"#,
            r#"{"a":{"b":1}}"#,
            r#"{}"#,
            r#"{"ab":"c"}"#,
            r#"{"a":"bc"}"#,
            r#"{"a":18446744073709551615}"#,
            r#"{"a":-1}"#,
        ];
        for (i, left) in bodies.iter().enumerate() {
            for right in &bodies[i + 1..] {
                assert_ne!(mac_of(left), mac_of(right), "{left} {right}");
            }
        }
    }

    #[test]
    fn key_and_endpoint_change_the_mac() {
        let body = json!({"a": 1});
        let one = Fingerprint::new(&SealKey::new([1; 32]));
        let two = Fingerprint::new(&SealKey::new([2; 32]));
        assert_ne!(one.compute("event", &body), two.compute("event", &body));
        assert_ne!(one.compute("event", &body), one.compute("turn", &body));
    }
}
