//! Each server starts, answers, keeps its data over a crash, and is gone afterwards.

mod elsewhere;
mod faults;
mod kafka;
mod postgres;
mod process_end;
mod redis;
mod s3;

use std::path::Path;

use super::running::{Running, Server};

/// Crashes the server, starts it again, and checks that address and log are the same.
fn crash_and_restart<S: Server>(server: &Running<S>) {
    let before = server.pid();
    server.kill();
    assert!(!server.is_alive() && !exists(before));
    assert!(!server.answers(), "a killed server answered");
    server.restart();
    assert_ne!(server.pid(), before);
    server.wait_until_it_answers().unwrap();
}

/// A paused server has its port open and says nothing; afterwards it goes on.
fn pause_and_resume<S: Server>(server: &Running<S>) {
    server.pause();
    assert!(server.is_alive());
    assert!(!server.answers(), "a paused server answered");
    server.resume();
    server.wait_until_it_answers().unwrap();
}

/// Drops the server; neither process nor folder may stay.
fn drop_and_check<S: Server>(server: Running<S>) {
    let (pid, folder) = (server.pid(), server.folder().to_owned());
    assert!(exists(pid) && folder.exists());
    drop(server);
    assert!(!exists(pid), "the process outlived its owner");
    assert!(!folder.exists(), "the folder outlived its owner");
}

/// Whether there is a process with this id.
fn exists(pid: u32) -> bool {
    Path::new("/proc").join(pid.to_string()).exists()
}
