//! Real servers for tests, on loopback ports with their data in a temporary folder.
//!
//! `shared()` returns the server that all tests of a binary share; each test uses its own database,
//! bucket or prefix. `start()` gives a test its own server to stop, kill and pause. Both end with the
//! test process, also when that is killed. `scripts/servers install` installs the programs; [`or_skip`]
//! skips a test whose server is missing_server. `UPTAKE_TEST_POSTGRES`, `_REDIS`, `_KAFKA` and `_S3` name
//! servers that already run; none of that kind is started then. Tests bring their own clients.

mod missing_server;
mod unique_names;
mod inventory;
mod supervisor;
mod raw_request;
mod server_process;
mod postgres;
mod redis;
mod kafka;
mod s3;
#[cfg(test)]
mod tests;

pub use kafka::Kafka;
pub use missing_server::{NoServer, or_skip};
pub use postgres::{Database, Postgres};
pub use redis::Redis;
pub use s3::S3;
pub use server_process::ServerProcess;

/// The libfaketime library, to be preloaded with `LD_PRELOAD`.
pub fn faketime() -> Result<std::path::PathBuf, NoServer> {
    inventory::find_path("faketime", "faketime_library")
}
