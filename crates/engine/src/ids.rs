//! Generates ids from the time and a seeded random number generator.

use parking_lot::Mutex;

use model::{ConversationId, DecisionId, EventId, ExperimentId, Timestamp, TurnId};
use rand::rngs::StdRng;
use rand::{Rng, SeedableRng};
use uuid::Builder;

/// The only source of generated ids and secrets.
#[derive(Debug)]
pub(crate) struct IdGenerator(Mutex<StdRng>);

impl IdGenerator {
    /// Generators with equal seeds produce equal ids.
    pub(crate) fn new(seed: [u8; 32]) -> Self {
        Self(Mutex::new(StdRng::from_seed(seed)))
    }

    /// An id that ends in 00, because an event may be the first of a write
    /// ([`EventId::nth_of_write`]).
    #[expect(clippy::expect_used, reason = "a UUID is visible ASCII and 36 bytes long")]
    pub(crate) fn event_id(&self, now: Timestamp) -> EventId {
        let mut id = self.generate_uuid(now);
        id.replace_range(id.len() - 2.., "00");
        EventId::new(id).expect("a UUID is a valid id")
    }

    #[expect(clippy::expect_used, reason = "a UUID is visible ASCII and 36 bytes long")]
    pub(crate) fn conversation_id(&self, now: Timestamp) -> ConversationId {
        ConversationId::new(self.generate_uuid(now)).expect("a UUID is a valid id")
    }

    #[expect(clippy::expect_used, reason = "a UUID is visible ASCII and 36 bytes long")]
    pub(crate) fn decision_id(&self, now: Timestamp) -> DecisionId {
        DecisionId::new(self.generate_uuid(now)).expect("a UUID is a valid id")
    }

    #[expect(clippy::expect_used, reason = "a UUID is visible ASCII and 36 bytes long")]
    pub(crate) fn experiment_id(&self, now: Timestamp) -> ExperimentId {
        ExperimentId::new(self.generate_uuid(now)).expect("a UUID is a valid id")
    }

    /// `N` random digits and lower-case letters.
    pub(crate) fn random_base36<const N: usize>(&self) -> String {
        const DIGITS: &[u8; 36] = b"0123456789abcdefghijklmnopqrstuvwxyz";
        // 36 does not divide 256, so a secret loses about 0.01 bit of entropy per character.
        let digit = |byte: u8| DIGITS[usize::from(byte) % 36] as char;
        self.random_bytes::<N>().map(digit).into_iter().collect()
    }

    /// A turn id: `turn_<unix_ms>_<6 base36>`.
    #[expect(clippy::expect_used, reason = "digits, letters and underscores are visible ASCII")]
    pub(crate) fn turn_id(&self, now: Timestamp) -> TurnId {
        let suffix = self.random_base36::<6>();
        TurnId::new(format!("turn_{}_{suffix}", now.as_unix_millis())).expect("a valid id")
    }

    pub(crate) fn random_u64(&self) -> u64 {
        u64::from_be_bytes(self.random_bytes::<8>())
    }

    /// A UUIDv7. Later ids sort later, which keeps the store's indexes compact.
    fn generate_uuid(&self, now: Timestamp) -> String {
        let random = self.random_bytes::<10>();
        let uuid = Builder::from_unix_timestamp_millis(now.as_unix_millis(), &random).into_uuid();
        uuid.hyphenated().to_string()
    }

    fn random_bytes<const N: usize>(&self) -> [u8; N] {
        let mut random = [0; N];
        self.0.lock().fill_bytes(&mut random);
        random
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn later_ids_sort_later_and_a_seed_repeats_them() {
        let (one, two) = (IdGenerator::new([1; 32]), IdGenerator::new([1; 32]));
        let early = Timestamp::from_micros(1_800_000_000_000_000);
        let first = one.event_id(early);
        assert_eq!(first, two.event_id(early));
        assert!(first < one.event_id(early.plus_secs(1)));
        assert_eq!(&first.as_str()[14..15], "7");
        assert!(first.nth_of_write(1).is_some(), "{first}");
        let turn = one.turn_id(early).to_string();
        assert!(turn.starts_with("turn_1800000000000_") && turn.len() == 25, "{turn}");
    }
}
