//! Where events come from besides HTTP.

mod file;

pub use file::{Line, read_line};
