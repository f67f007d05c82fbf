//! Makes ids out of the time and a seeded source of randomness.

use std::sync::{Mutex, PoisonError};

use event::{EventId, Timestamp};
use rand::rngs::StdRng;
use rand::{Rng, SeedableRng};
use uuid::Builder;

/// The one place where ids are made.
#[derive(Debug)]
pub(crate) struct Mint(Mutex<StdRng>);

impl Mint {
    /// Two mints with one seed make the same ids.
    pub(crate) fn new(seed: [u8; 32]) -> Self {
        Self(Mutex::new(StdRng::from_seed(seed)))
    }

    /// A UUIDv7: ids made later sort later, which keeps the store's indexes compact.
    #[expect(clippy::expect_used, reason = "a UUID is visible ASCII and 36 bytes long")]
    pub(crate) fn event_id(&self, now: Timestamp) -> EventId {
        let mut random = [0; 10];
        self.0.lock().unwrap_or_else(PoisonError::into_inner).fill_bytes(&mut random);
        let uuid = Builder::from_unix_timestamp_millis(now.as_unix_millis(), &random).into_uuid();
        EventId::new(uuid.hyphenated().to_string()).expect("a UUID is a valid id")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn later_ids_sort_later_and_a_seed_repeats_them() {
        let (one, two) = (Mint::new([1; 32]), Mint::new([1; 32]));
        let early = Timestamp::from_micros(1_800_000_000_000_000);
        let first = one.event_id(early);
        assert_eq!(first, two.event_id(early));
        assert!(first < one.event_id(early.plus_secs(1)));
        assert_eq!(&first.as_str()[14..15], "7");
    }
}
