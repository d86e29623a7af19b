//! Every check besides the tests, one after the other, with a table at the end.

use std::time::{Duration, Instant};

use crate::failure::{CheckEnd, ChoreFailure, ChoreResult};
use crate::process::{ProgramRun, find, in_ci};
use crate::{fixtures, floors, interop, paths};

/// Arguments of the chore.
#[derive(Debug, clap::Args)]
pub(crate) struct CiArgs {
    /// Leave out the stage with real registries and clients
    #[arg(long)]
    without_interop: bool,
}

/// A check by name.
type CiCheck = (&'static str, fn() -> ChoreResult<CheckEnd>);

const CHECKS: &[CiCheck] = &[
    ("format", || cargo(&["fmt", "--all", "--check"], &[])),
    ("format: fuzz", || cargo(&["fmt", "--manifest-path", "fuzz/Cargo.toml", "--check"], &[])),
    // Its lock file is of another workspace, which nothing above reads.
    ("lock: fuzz", || cargo(&["fetch", "--manifest-path", "fuzz/Cargo.toml", "--locked"], &[])),
    ("clippy", || cargo(&["clippy", "--workspace", "--all-targets", "--locked", "--", "-D", "warnings"], &[])),
    ("floors", || floors::run().map(|()| CheckEnd::Passed)),
    ("fixtures", || fixtures::check().map(|()| CheckEnd::Passed)),
    ("documentation", || {
        let arguments = ["doc", "--workspace", "--no-deps", "--document-private-items", "--locked"];
        cargo(&arguments, &[("RUSTDOCFLAGS", "-D warnings")])
    }),
    ("licences", licences),
    ("advisories", advisories),
];

/// Runs all checks, also after one has failed; a failure if one failed.
pub(crate) fn run(arguments: &CiArgs) -> ChoreResult {
    let mut checks = CHECKS.to_vec();
    if !arguments.without_interop {
        checks.push(("interop", || interop::run(&interop::InteropArgs::everything())));
    }
    let rows: Vec<CheckRow> = checks.into_iter().map(CheckRow::of).collect();
    println!("\n{:14} {:8} {:>7}", "check", "result", "time");
    for row in &rows {
        println!("{row}");
    }
    match rows.iter().filter(|row| row.end.is_err()).count() {
        0 => Ok(()),
        count => Err(ChoreFailure::new(format!("{count} of {} checks failed", rows.len()))),
    }
}

/// A line of the table.
struct CheckRow {
    name: &'static str,
    end: ChoreResult<CheckEnd>,
    time: Duration,
}

impl CheckRow {
    fn of((name, check): CiCheck) -> Self {
        println!("\n==== {name}");
        let start = Instant::now();
        let end = check();
        if let Err(failure) = &end {
            println!("{name}: {failure}");
        }
        Self { name, end, time: start.elapsed() }
    }
}

impl std::fmt::Display for CheckRow {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let (word, why) = match &self.end {
            Ok(CheckEnd::Passed) => ("ok", ""),
            Ok(CheckEnd::Skipped(why)) => ("SKIPPED", why.as_str()),
            Err(_) => ("FAILED", "see above"),
        };
        write!(f, "{:14} {word:8} {:6.1}s  {why}", self.name, self.time.as_secs_f64())
    }
}

fn cargo(arguments: &[&str], variables: &[(&str, &str)]) -> ChoreResult<CheckEnd> {
    let mut run = ProgramRun::inheriting(env!("CARGO")).args(arguments).directory(&paths::root());
    for (name, value) in variables {
        run = run.variable(name, value);
    }
    println!("$ {}", run.line());
    if run.shown()? { Ok(CheckEnd::Passed) } else { Err(ChoreFailure::new(format!("`{}` failed", run.line()))) }
}

fn licences() -> ChoreResult<CheckEnd> {
    match missing_deny()? {
        Some(skipped) => Ok(skipped),
        None => cargo(&["deny", "--offline", "--locked", "check", "licenses", "bans", "sources"], &[]),
    }
}

/// Known defects of dependencies. Their list lies on a host that not every machine reaches.
fn advisories() -> ChoreResult<CheckEnd> {
    if let Some(skipped) = missing_deny()? {
        return Ok(skipped);
    }
    let run = ProgramRun::inheriting(env!("CARGO"))
        .args(["deny", "--locked", "check", "advisories"])
        .directory(&paths::root());
    println!("$ {}", run.line());
    let printed = run.output()?;
    print!("{}", printed.all());
    if printed.code == Some(0) {
        return Ok(CheckEnd::Passed);
    }
    if printed.all().contains("failed to fetch advisory database") {
        println!("advisories: NOT CHECKED, the advisory database cannot be reached from here");
        return Ok(CheckEnd::Skipped("the advisory database cannot be reached from here".to_owned()));
    }
    Err(ChoreFailure::new("cargo deny found advisories"))
}

/// `Some` if cargo-deny is not installed; a failure in CI.
fn missing_deny() -> ChoreResult<Option<CheckEnd>> {
    let why = "cargo-deny is not installed: cargo install --locked --debug cargo-deny";
    match find("cargo-deny") {
        Some(_) => Ok(None),
        None if in_ci() => Err(ChoreFailure::new(why)),
        None => {
            println!("NOT CHECKED: {why}");
            Ok(Some(CheckEnd::Skipped(why.to_owned())))
        }
    }
}
