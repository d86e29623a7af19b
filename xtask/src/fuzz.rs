//! `cargo xtask fuzz`: every reader of foreign text under libFuzzer, with `AddressSanitizer`.
//!
//! ```text
//! crates/fuzzing   names, seeds -> fuzz/corpus/NAME
//! cargo fuzz build                 once
//! cargo fuzz run NAME              fuzz/corpus/NAME, testdata/fuzz/NAME; what it printed -> fuzz/artifacts/NAME.log
//! ```

use std::num::NonZero;
use std::sync::Mutex;
use std::thread;

use crate::failure::{ChoreFailure, ChoreResult, Doing};
use crate::paths;
use crate::process::{Printed, ProgramRun, find};

/// Arguments of the chore.
#[derive(Debug, clap::Args)]
pub(crate) struct FuzzArgs {
    /// How long each target runs
    #[arg(long, default_value_t = 60, value_parser = clap::value_parser!(u64).range(1..))]
    seconds: u64,
    /// How many targets run at once; without this one for each core
    #[arg(long)]
    jobs: Option<NonZero<usize>>,
    /// The targets; all of them if none is named
    targets: Vec<String>,
}

/// What an input may take before it counts as a failure.
const LIMITS: [&str; 2] = ["-rss_limit_mb=2048", "-timeout=30"];

/// Runs them; a failure if one failed.
pub(crate) fn run(arguments: &FuzzArgs) -> ChoreResult {
    demand_tools()?;
    let names = seeded(&arguments.targets)?;
    println!("$ cargo +nightly fuzz build");
    if !cargo_fuzz("build").shown()? {
        return Err(ChoreFailure::new("the targets cannot be built"));
    }
    let cores = thread::available_parallelism().map_or(1, NonZero::get);
    let jobs = arguments.jobs.map_or(cores, NonZero::get);
    println!("\n{:24} {:>12} {:>7} {:>7} {:>7}  result", "target", "executions", "cov", "ft", "corpus");
    let waiting = Mutex::new(names.iter());
    let next = || waiting.lock().ok().and_then(|mut waiting| waiting.next());
    let failed = thread::scope(|scope| -> ChoreResult<Vec<String>> {
        let worker = || -> ChoreResult<Vec<String>> {
            let mut failed = Vec::new();
            while let Some(name) = next() {
                failed.extend(one(name, arguments.seconds)?);
            }
            Ok(failed)
        };
        let workers: Vec<_> = (0..jobs.min(names.len())).map(|_| scope.spawn(worker)).collect();
        let mut all = Vec::new();
        for worker in workers {
            all.extend(worker.join().map_err(|_| ChoreFailure::new("a worker panicked"))??);
        }
        Ok(all)
    })?;
    if failed.is_empty() { Ok(()) } else { Err(ChoreFailure::new(failed.join("\n\n"))) }
}

fn demand_tools() -> ChoreResult {
    if find("cargo-fuzz").is_none() {
        return Err(ChoreFailure::new("cargo-fuzz is not installed\n\nhint: cargo install --locked cargo-fuzz"));
    }
    let nightly = ProgramRun::inheriting("rustup").args(["run", "nightly", "cargo", "--version"]).output();
    match nightly {
        Ok(Printed { code: Some(0), .. }) => Ok(()),
        _ => Err(ChoreFailure::new(
            "there is no nightly compiler, which libFuzzer needs\n\nhint: rustup toolchain install nightly",
        )),
    }
}

/// Writes the seeds, and returns the names of the targets.
fn seeded(targets: &[String]) -> ChoreResult<Vec<String>> {
    let corpus = paths::root().join("fuzz/corpus");
    let printed = ProgramRun::inheriting(env!("CARGO"))
        .args(["run", "--quiet", "--package", "tofu-oci-fuzzing", "--"])
        .arg(&corpus)
        .args(targets)
        .directory(&paths::root())
        .output()?;
    match printed.code {
        Some(0) => Ok(printed.stdout.lines().map(str::to_owned).collect()),
        _ => Err(ChoreFailure::new(printed.stderr.trim_end())),
    }
}

fn cargo_fuzz(verb: &str) -> ProgramRun {
    ProgramRun::inheriting("rustup").args(["run", "nightly", "cargo", "fuzz", verb]).directory(&paths::root())
}

/// Runs one target, and prints its line. What failed, and what to do about it, if it failed.
fn one(name: &str, seconds: u64) -> ChoreResult<Option<String>> {
    // libFuzzer ends if a folder is not there.
    let kept = ["fuzz/corpus", "testdata/fuzz"].map(|folder| format!("{folder}/{name}"));
    let kept = kept.into_iter().filter(|folder| paths::root().join(folder).is_dir());
    let time = format!("-max_total_time={seconds}");
    let run = cargo_fuzz("run").arg(name).args(kept).args(["--", &time, "-print_final_stats=1"]).args(LIMITS);
    let printed = run.output()?;
    let log = paths::root().join(format!("fuzz/artifacts/{name}.log"));
    paths::write(&log, printed.all()).doing(|| format!("keeping what {name} printed"))?;
    let counts = FuzzCounts::of(&printed.stderr);
    let word = if printed.code == Some(0) { "ok" } else { "FAILED" };
    println!("{name:24} {counts}  {word}");
    if printed.code == Some(0) {
        return Ok(None);
    }
    let input = printed.stderr.lines().find_map(|line| line.split_once("Test unit written to ")).map(|(_, path)| path);
    let hint = input.map_or_else(String::new, |input| format!("\nhint: cargo +nightly fuzz tmin {name} {input}"));
    Ok(Some(format!("{name} failed; {} has what it printed{hint}", log.display())))
}

/// What libFuzzer counted.
#[derive(Debug, Default, PartialEq, Eq)]
struct FuzzCounts {
    executions: String,
    coverage: String,
    features: String,
    corpus: String,
}

impl FuzzCounts {
    /// The last numbers in what it printed.
    fn of(log: &str) -> Self {
        let pulse = log.lines().rev().find(|line| line.starts_with('#') && line.contains(" cov: ")).unwrap_or_default();
        let after = |text: &str, name: &str| {
            let (_, rest) = text.split_once(name)?;
            rest.split(|one: char| one.is_whitespace() || one == '/').find(|word| !word.is_empty()).map(str::to_owned)
        };
        let number = |name| after(pulse, name).unwrap_or_else(|| "-".to_owned());
        let executions = log.lines().find_map(|line| after(line, "stat::number_of_executed_units:"));
        Self {
            executions: executions.unwrap_or_else(|| "-".to_owned()),
            coverage: number(" cov: "),
            features: number(" ft: "),
            corpus: number(" corp: "),
        }
    }
}

impl std::fmt::Display for FuzzCounts {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{:>12} {:>7} {:>7} {:>7}", self.executions, self.coverage, self.features, self.corpus)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_last_numbers_count() {
        let log = "INFO: seed corpus: files: 3\n#2\tINITED cov: 5 ft: 6 corp: 1/1b exec/s: 0 rss: 30Mb\n\
                   #900\tDONE   cov: 310 ft: 1204 corp: 88/2Kb lim: 98 exec/s: 450 rss: 60Mb\nDone 900 runs in 2 second(s)\n\
                   stat::number_of_executed_units: 900\nstat::peak_rss_mb:             60\n";
        assert_eq!(FuzzCounts::of(log).to_string(), "         900     310    1204      88");
        assert_eq!(FuzzCounts::of("==1==ERROR").to_string(), "           -       -       -       -");
    }
}
