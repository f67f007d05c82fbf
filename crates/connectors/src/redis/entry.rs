//! The binary form of a question, little-endian:
//!
//! ```text
//! version 1 | time i64, µs | turn: length u16, bytes | text: length u16, bytes | model: length u8, bytes
//!           | vector: packed by `vector_index::encode`, to the end; empty without a model
//! ```
//!
//! Equal questions have equal bytes, which `take_back` relies on. Entries of another version are
//! skipped, so nodes of different versions do not see each other's questions.

use model::{Timestamp, TurnId, Vector};

use crate::query_history::RecentQuestion;

const VERSION: u8 = 1;

/// Serializes a question. Text beyond 64 KiB is cut.
pub(super) fn write(asked: &RecentQuestion) -> Vec<u8> {
    let vector =
        asked.vector.as_ref().filter(|vector| vector.model().len() <= usize::from(u8::MAX));
    let packed = vector.map(|vector| vector_index::encode(vector.values())).unwrap_or_default();
    let mut bytes = Vec::with_capacity(64 + asked.text.len() + packed.len());
    bytes.push(VERSION);
    bytes.extend(asked.ts.as_micros().to_le_bytes());
    put_long(&mut bytes, asked.turn.as_str());
    put_long(&mut bytes, &asked.text);
    let model = vector.map_or("", |vector| vector.model());
    bytes.push(model.len() as u8);
    bytes.extend(model.as_bytes());
    bytes.extend(packed);
    bytes
}

/// Parses an entry; `None` for another format.
pub(super) fn read(bytes: &[u8]) -> Option<RecentQuestion> {
    let (&[VERSION], rest) = bytes.split_first_chunk()? else { return None };
    let (micros, rest) = rest.split_first_chunk()?;
    let ts = Timestamp::from_micros(i64::from_le_bytes(*micros));
    let (turn, rest) = take_long(rest)?;
    let (text, rest) = take_long(rest)?;
    let (&[length], rest) = rest.split_first_chunk()?;
    let (model, packed) = rest.split_at_checked(usize::from(length))?;
    let vector = match str::from_utf8(model).ok()? {
        "" => None,
        model => Some(Vector::new(model.into(), vector_index::unpack(packed)?)),
    };
    Some(RecentQuestion { turn: TurnId::new(turn).ok()?, text: text.into(), ts, vector })
}

fn put_long(bytes: &mut Vec<u8>, text: &str) {
    let text = &text[..text.floor_char_boundary(usize::from(u16::MAX))];
    bytes.extend((text.len() as u16).to_le_bytes());
    bytes.extend(text.as_bytes());
}

fn take_long(bytes: &[u8]) -> Option<(&str, &[u8])> {
    let (length, rest) = bytes.split_first_chunk()?;
    let (text, rest) = rest.split_at_checked(usize::from(u16::from_le_bytes(*length)))?;
    Some((str::from_utf8(text).ok()?, rest))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use crate::query_history::contract::asked;

    use super::*;

    #[test]
    fn question_round_trips_with_its_vector() {
        let question = asked("t1", -5);
        let bytes = write(&question);
        let back = read(&bytes).unwrap();
        assert_eq!(
            (&back.turn, &back.text, back.ts),
            (&question.turn, &question.text, question.ts)
        );
        let cosine = back.vector.as_ref().unwrap().cosine(question.vector.as_ref().unwrap());
        assert!(cosine.unwrap() > 0.999, "{cosine:?}");
        assert_eq!(write(&question), bytes, "the same question is the same bytes");
        let plain = RecentQuestion { vector: None, ..question };
        assert_eq!(read(&write(&plain)), Some(plain));
    }

    #[test]
    fn a_question_of_the_built_in_model_is_small() {
        let vector = Vector::new("built-in".into(), vec![0.5; 256]);
        let question = RecentQuestion { vector: Some(vector), ..asked("t1", 0) };
        assert!(write(&question).len() < 400, "{}", write(&question).len());
    }

    #[test]
    fn entry_of_another_version_is_skipped() {
        let mut bytes = write(&asked("t1", 0));
        bytes[0] = 2;
        assert_eq!(read(&bytes), None);
    }

    #[test]
    fn text_is_cut_between_characters() {
        let question = RecentQuestion { text: "ü".repeat(40_000).into(), ..asked("t1", 0) };
        assert_eq!(read(&write(&question)).unwrap().text.chars().count(), 32_767);
    }

    proptest! {
        #[test]
        fn any_bytes_are_read_or_refused(bytes in prop::collection::vec(any::<u8>(), 0..300)) {
            let _ = read(&bytes);
            let mut ours = write(&asked("t1", 0));
            ours.truncate(bytes.len());
            let _ = read(&ours);
        }
    }
}
