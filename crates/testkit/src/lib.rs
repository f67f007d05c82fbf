//! For tests only: a settable clock, sample events, fuzzed rows, proxies and real servers.

mod clock;
mod fault_proxy;
mod fuzz;
mod proxy;
mod sample;
pub mod servers;

pub use clock::TestClock;
pub use fault_proxy::{CommitFate, FaultProxy};
pub use fuzz::{fuzz_rows, mangle_row};
pub use proxy::Proxy;
pub use sample::{
    claim, edit_event, event, opening_change, other_body, rating_body, redacted, write,
};
