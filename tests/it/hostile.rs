//! Whoever means harm, or is just broken, harms nobody else.

mod connections;
mod framing;
mod logs;
mod mangled;
mod origins;
