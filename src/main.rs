//! The program: parses arguments, loads configuration, runs one command.

mod cli;
mod config;
mod wiring;

use std::process::ExitCode;

use clap::Parser;

/// With the system allocator a long-running server held half as much memory again as it used.
/// jemalloc reuses memory that one thread allocates and another frees.
#[cfg(target_env = "gnu")]
#[global_allocator]
static ALLOCATOR: tikv_jemallocator::Jemalloc = tikv_jemallocator::Jemalloc;

/// The command line or the configuration asks for a service this build does not support.
/// clap uses the same code for arguments it refuses.
const EXIT_UNSUPPORTED: u8 = 2;

fn main() -> ExitCode {
    let arguments = cli::Arguments::parse();
    match arguments.run() {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("uptake: {error:#}");
            match error.chain().any(|cause| cause.is::<wiring::MissingSupport>()) {
                true => ExitCode::from(EXIT_UNSUPPORTED),
                false => ExitCode::FAILURE,
            }
        }
    }
}
