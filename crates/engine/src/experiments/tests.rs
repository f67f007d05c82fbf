//! Evidence out of sums is that out of units, days are told whole or not, and nobody's trouble is somebody else's.

mod sums_match_units;
mod unreadable_experiments;
mod unit_evidence;
mod daily_sequence;
mod test_world;
