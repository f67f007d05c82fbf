//! Experiments over HTTP: who gets what, what it says, and what it does by itself.

pub(crate) mod lab;

mod broken;
mod lifecycle;
mod moving;
mod observing;
mod serving;
