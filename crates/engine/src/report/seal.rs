//! Seals cursors and tokens, so that only values issued by this store, for the same purpose, are
//! accepted.

use std::fmt::Write;

const MAC_BYTES: usize = 16;

#[derive(Clone)]
pub struct Seal([u8; 32]);

impl std::fmt::Debug for Seal {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Seal(***)")
    }
}

impl Seal {
    pub fn new(store_key: &[u8; 32]) -> Self {
        // Each use derives its own key from the store's random key.
        Self(blake3::derive_key("uptake cursor v1", store_key))
    }

    /// Seals a payload. It opens only with the same purpose.
    pub fn close(&self, purpose: &str, payload: &[u8]) -> String {
        let mut text = String::with_capacity(2 * (payload.len() + MAC_BYTES));
        for byte in payload.iter().chain(&self.mac(purpose, payload)) {
            // Writing to a string cannot fail.
            let _ = write!(text, "{byte:02x}");
        }
        text
    }

    /// The payload, if the text was sealed with this purpose.
    pub fn open(&self, purpose: &str, text: &str) -> Option<Vec<u8>> {
        let bytes = from_hex(text)?;
        let (payload, mac) = bytes.split_at_checked(bytes.len().checked_sub(MAC_BYTES)?)?;
        // `blake3::Hash` compares in constant time.
        let hash = |mac: &[u8]| blake3::hash(mac);
        (hash(mac) == hash(&self.mac(purpose, payload))).then(|| payload.to_vec())
    }

    pub(crate) fn close_numbers(&self, purpose: &str, numbers: [i64; 4]) -> String {
        let payload: Vec<u8> = numbers.into_iter().flat_map(i64::to_be_bytes).collect();
        self.close(purpose, &payload)
    }

    pub(crate) fn open_numbers(&self, purpose: &str, text: &str) -> Option<[i64; 4]> {
        let payload: [u8; 32] = self.open(purpose, text)?.try_into().ok()?;
        let (numbers, _) = payload.as_chunks::<8>();
        <[[u8; 8]; 4]>::try_from(numbers).ok().map(|all| all.map(i64::from_be_bytes))
    }

    fn mac(&self, purpose: &str, payload: &[u8]) -> [u8; MAC_BYTES] {
        let mut hasher = blake3::Hasher::new_keyed(&self.0);
        hasher.update(&(purpose.len() as u64).to_le_bytes());
        hasher.update(purpose.as_bytes());
        hasher.update(payload);
        let mut mac = [0; MAC_BYTES];
        hasher.finalize_xof().fill(&mut mac);
        mac
    }
}

fn from_hex(text: &str) -> Option<Vec<u8>> {
    let digits = text.as_bytes();
    if !digits.len().is_multiple_of(2) || !digits.is_ascii() {
        return None;
    }
    let digit = |byte: u8| (byte as char).to_digit(16);
    digits.chunks(2).map(|pair| Some((digit(pair[0])? * 16 + digit(pair[1])?) as u8)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sealed_text_opens_only_for_its_purpose() {
        let seal = Seal::new(&[7; 32]);
        let text = seal.close("a", b"payload");
        assert_eq!(seal.open("a", &text).as_deref(), Some(&b"payload"[..]));
        assert_eq!(seal.open("b", &text), None);
        assert_eq!(Seal::new(&[8; 32]).open("a", &text), None);
    }

    #[test]
    fn altered_text_does_not_open() {
        let seal = Seal::new(&[7; 32]);
        let text = seal.close("a", b"payload");
        for at in 0..text.len() {
            let mut forged = text.clone().into_bytes();
            forged[at] = if forged[at] == b'0' { b'1' } else { b'0' };
            assert_eq!(seal.open("a", &String::from_utf8(forged).unwrap()), None);
        }
        for bad in ["", "0", "zz", "é", "00", &text[2..]] {
            assert_eq!(seal.open("a", bad), None, "{bad}");
        }
    }

    #[test]
    fn arbitrary_text_does_not_open() {
        let seal = Seal::new(&[7; 32]);
        let cursor = seal.close_numbers("a", [1, -2, i64::MAX, i64::MIN]);
        testkit::fuzz_rows(&[&cursor, "", "null", "00ff"], 5000, |bytes| {
            let text = String::from_utf8_lossy(bytes);
            let is_ours = text.eq_ignore_ascii_case(&cursor);
            assert_eq!(seal.open("a", &text).is_some(), is_ours, "{text}");
            assert_eq!(seal.open_numbers("a", &text).is_some(), is_ours);
            // A sealed text that is not a cursor.
            let payload = seal.close("a", bytes);
            assert_eq!(seal.open_numbers("a", &payload).is_some(), bytes.len() == 32);
        });
    }
}
