//! Whole-program behaviour, one file per journey.

mod server;
mod reports;

mod artifacts;
mod bad_input;
mod decisions;
mod durable;
mod events;
mod layers;
mod period;
mod reactions;
mod repeats;
mod start_and_stop;
mod turn_log;
mod turns;
