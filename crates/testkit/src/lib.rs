//! For tests only: a settable clock and events to send.

mod clock;
mod sample;

pub use clock::TestClock;
pub use sample::{claim, event, rating_body, write};
