//! For tests only: a settable clock, events to send and real servers to talk to.

mod clock;
mod sample;
pub mod servers;

pub use clock::TestClock;
pub use sample::{claim, event, rating_body, write};
