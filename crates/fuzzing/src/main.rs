//! Writes the seeds of the targets named, or of all, into `FOLDER/TARGET`, and prints their names: `FOLDER [TARGET…]`.
#![expect(clippy::print_stdout, clippy::print_stderr, reason = "a chore that talks to another one")]

use std::path::Path;
use std::process::ExitCode;
use std::{env, fs, io};

use tofu_oci_fuzzing::{FuzzTarget, TARGETS};

fn main() -> ExitCode {
    let mut arguments = env::args().skip(1);
    let Some(folder) = arguments.next() else {
        eprintln!("FOLDER [TARGET…]");
        return ExitCode::FAILURE;
    };
    let wanted: Vec<String> = arguments.collect();
    if let Some(unknown) = wanted.iter().find(|name| !TARGETS.iter().any(|target| target.name == *name)) {
        let names: Vec<&str> = TARGETS.iter().map(|target| target.name).collect();
        eprintln!("{unknown} is not a target; the targets are {}", names.join(", "));
        return ExitCode::FAILURE;
    }
    for target in TARGETS.iter().filter(|target| wanted.is_empty() || wanted.iter().any(|name| name == target.name)) {
        if let Err(error) = write(target, &Path::new(&folder).join(target.name)) {
            eprintln!("writing the seeds of {}: {error}", target.name);
            return ExitCode::FAILURE;
        }
        println!("{}", target.name);
    }
    ExitCode::SUCCESS
}

fn write(target: &FuzzTarget, folder: &Path) -> io::Result<()> {
    fs::create_dir_all(folder)?;
    for (number, seed) in (target.seeds)().iter().enumerate() {
        fs::write(folder.join(format!("seed-{number:04}")), seed)?;
    }
    Ok(())
}
