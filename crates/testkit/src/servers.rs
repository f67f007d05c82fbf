//! Real servers for tests: on loopback ports, with their data in a temporary folder.
//!
//! `shared()` gives the one that all tests of a binary use, each in a database, bucket or prefix of its
//! own; `start()` gives a test its own to stop, kill and pause. Both end with the test process, also when
//! that is killed. `scripts/servers install` gets the programs; a test that finds none is skipped by
//! [`or_skip`]. `UPTAKE_TEST_POSTGRES`, `_REDIS`, `_KAFKA` and `_S3` name servers that run already: then
//! none of that kind is started. Nothing here is a client: that is what the tests bring.

mod missing;
mod place;
mod installed;
mod keeper;
mod wire;
mod running;
mod postgres;
mod redis;
mod kafka;
mod s3;
#[cfg(test)]
mod tests;

pub use kafka::Kafka;
pub use missing::{NoServer, or_skip};
pub use postgres::{Database, Postgres};
pub use redis::Redis;
pub use running::Running;
pub use s3::S3;

/// What gives a program another clock when it is loaded with it (`LD_PRELOAD`).
pub fn faketime() -> Result<std::path::PathBuf, NoServer> {
    installed::path_of("faketime", "faketime_library")
}
