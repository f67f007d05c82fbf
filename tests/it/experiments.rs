//! Experiments over HTTP: assignment, results and automatic actions.

pub(crate) mod experiment_calls;

mod unreadable;
mod lifecycle;
mod automatic_actions;
mod results;
mod assignment;
