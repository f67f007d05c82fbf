//! The examples of the source documents, in their own spelling and times, against a fresh server.

use std::process::Command;

use crate::server::Server;

#[test]
fn examples_of_the_source_documents_give_the_documented_figures() {
    let server = Server::start();
    let output =
        Command::new("python3").args(["tests/seeds/run.py", &server.url]).output().unwrap();
    let printed = String::from_utf8_lossy(&output.stdout).into_owned();
    let errors = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(output.status.success(), "{printed}{errors}");
    // Guards against a script that finds no steps and therefore passes.
    let passed: u32 = printed.lines().last().unwrap().split(' ').next().unwrap().parse().unwrap();
    assert!(passed >= 79, "{printed}");
    assert!(printed.matches("differs: ").count() >= 20, "{printed}");
}
