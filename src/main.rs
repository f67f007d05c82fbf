//! The program: parses arguments, loads configuration, runs one command.

mod cli;
mod config;
mod wiring;

use std::process::ExitCode;

use clap::Parser;

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
