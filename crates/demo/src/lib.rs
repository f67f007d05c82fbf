//! A month of made-up conversations, so that a fresh store has something to show.
//!
//! ```text
//! people, moments --> talks: what is said, how it is answered, what happens then
//!                          --> through the engine's own doors, moment by moment
//! ```
//!
//! Everything but the time follows from one seed. What can be learnt from it is learnt by the engine: this
//! crate writes no finding, no figure and no pattern, and knows no store.

mod dice;
mod clock;
mod rhythm;
mod cast;
mod phrasing;
mod topics;
mod models;
mod doors;
mod trials;
mod story;
mod telling;
mod act;
mod load;

pub use clock::StoryClock;
pub use load::{CONVERSATIONS, Loaded, first_moment, load};
