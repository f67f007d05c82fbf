//! Each server starts, answers, keeps its data over a crash, and leaves nothing behind.

mod given_servers;
mod faults;
mod kafka;
mod postgres;
mod process_end;
mod redis;
mod s3;

use std::path::Path;

use super::server_process::{Server, ServerProcess};

fn crash_and_restart<S: Server>(server: &ServerProcess<S>) {
    let before = server.pid();
    server.kill();
    assert!(!server.is_alive() && !exists(before));
    assert!(!server.answers(), "a killed server answered");
    server.restart();
    assert_ne!(server.pid(), before);
    server.wait_until_ready().unwrap();
}

/// A paused server keeps its port open and does not answer; after resuming it does.
fn pause_and_resume<S: Server>(server: &ServerProcess<S>) {
    server.pause();
    assert!(server.is_alive());
    assert!(!server.answers(), "a paused server answered");
    server.resume();
    server.wait_until_ready().unwrap();
}

/// Dropping the server must end the process and remove the folder.
fn drop_and_check<S: Server>(server: ServerProcess<S>) {
    let (pid, folder) = (server.pid(), server.folder().to_owned());
    assert!(exists(pid) && folder.exists());
    drop(server);
    assert!(!exists(pid), "the process outlived its owner");
    assert!(!folder.exists(), "the folder outlived its owner");
}

fn exists(pid: u32) -> bool {
    Path::new("/proc").join(pid.to_string()).exists()
}
