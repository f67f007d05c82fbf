//! Evidence out of sums is that out of units, days are told whole or not, and nobody's trouble is somebody else's.

mod agreeing;
mod broken;
mod by_unit;
mod days;
mod world;
