//! Events through a real Kafka: published from the log, consumed by `uptake consume`.

mod broker;
mod consume;
mod erasure;
mod faults;
mod topics;
