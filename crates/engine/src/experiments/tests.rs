//! Sums match units, sequences respect the row limit, and unreadable experiments do not block others.

mod sums_match_units;
mod unreadable_experiments;
mod unit_evidence;
mod daily_sequence;
mod test_world;
