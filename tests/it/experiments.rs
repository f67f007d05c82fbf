//! Experiments over HTTP: who gets what, what it says, and what it does by itself.

mod lab;

mod broken;
mod lifecycle;
mod moving;
mod observing;
mod serving;
