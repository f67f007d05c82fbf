//! For tests only: a settable clock, events to send and real servers to talk to.

mod clock;
mod cutter;
mod mangle;
mod proxy;
mod sample;
pub mod servers;

pub use clock::TestClock;
pub use cutter::{Cutter, Fate};
pub use mangle::{mangle, mangled};
pub use proxy::Proxy;
pub use sample::{claim, event, rating_body, write};
