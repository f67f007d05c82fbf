//! The program: parses arguments, loads configuration, runs one command.

mod cli;
mod config;
mod wiring;

use std::process::ExitCode;

use clap::Parser;

/// What one thread asks for and another gives back is kept in few places: in the system's own allocator a server that ran for
/// long held half as much again as it used.
#[cfg(target_env = "gnu")]
#[global_allocator]
static MEMORY: tikv_jemallocator::Jemalloc = tikv_jemallocator::Jemalloc;

fn main() -> ExitCode {
    let arguments = cli::Arguments::parse();
    match arguments.run() {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("uptake: {error:#}");
            ExitCode::FAILURE
        }
    }
}
