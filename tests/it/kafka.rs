//! Events on their way through a real Kafka: published from the log, taken in by `uptake consume`.

mod broker;
mod consume;
mod erasure;
mod faults;
mod topics;
