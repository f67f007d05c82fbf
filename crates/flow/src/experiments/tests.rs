//! Evidence out of sums is that out of units, and nobody's trouble is somebody else's.

mod agreeing;
mod broken;
mod by_unit;
mod world;
