//! Faults × verbs: the program runs through a proxy that injects one fault, and every ending is judged.
//!
//! A cell is one verb, one fault and one kind of request that the fault meets. Its ending is good if the exit code tells
//! the truth (0 with the right bytes at the right place; 3 for a fault of the network that lasts; 1 for an answer that
//! only a person can fix), nothing is half-done, no secret is printed, no bug is reported, and the program ends in time.
//!
//! ```text
//! tofu-oci <verb>  -->  faultproxy.py (one rule)  -->  registry:2 with a login
//!        \-- afterwards: what lies in the registry and on disk, read without the proxy
//! ```
//!
//! The proxy is `faultproxy.py`, which has no code of this project; it lies beside the checkout.

mod matrix;
mod proxy;
mod verb;

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use super::lab::{Lab, seen};
use crate::failure::{ChoreFailure, ChoreResult};
use crate::process::Printed;
use matrix::{Ending, MatrixCell};
use proxy::Proxy;
pub(super) use proxy::is_there as proxy_is_there;
use verb::FaultSite;

/// The programs without which the sub-stage cannot run.
pub(super) const NEEDS: &[&str] = &["docker-registry", "htpasswd", "python3", "timeout", PROXY];
/// The name of the proxy among them.
pub(super) const PROXY: &str = "faultproxy.py";

/// Cells that run at a time.
const AT_A_TIME: usize = 8;
/// What `--timeout` of each run is, in seconds.
const TIMEOUT: u32 = 12;
/// A run that takes longer than this has a bad ending: three requests in a row may each use up the whole timeout.
const LIMIT: Duration = Duration::from_secs(3 * TIMEOUT as u64 + 4);

/// How one cell ended.
struct FaultRun {
    cell: MatrixCell,
    /// Whether the fault met a request at all.
    met: bool,
    took: Duration,
    code: Option<i32>,
    /// What was wrong with the ending; empty if it was good.
    wrong: Vec<String>,
    /// The command and what it printed.
    shown: String,
}

/// Runs a sample of the cells, or all of them.
pub(super) fn run(lab: &Lab) -> ChoreResult {
    let site = FaultSite::new(lab)?;
    let cells: Vec<MatrixCell> = matrix::cells().into_iter().step_by(lab.every()).collect();
    let next = AtomicUsize::new(0);
    let runs = Mutex::new(Vec::new());
    let failure = Mutex::new(None);
    std::thread::scope(|scope| {
        for _ in 0..AT_A_TIME {
            scope.spawn(|| {
                while let Some(cell) = cells.get(next.fetch_add(1, Ordering::Relaxed)) {
                    match judge(lab, &site, cell) {
                        Ok(run) => keep(&runs, run, cells.len()),
                        Err(why) => *failure.lock().unwrap_or_else(std::sync::PoisonError::into_inner) = Some(why),
                    }
                }
            });
        }
    });
    if let Some(why) = failure.into_inner().unwrap_or_else(std::sync::PoisonError::into_inner) {
        return Err(why);
    }
    report(&runs.into_inner().unwrap_or_else(std::sync::PoisonError::into_inner), lab.every() == 1)
}

/// Keeps a run; a bad ending is shown at once, and every 200 runs a line says how far it is.
fn keep(runs: &Mutex<Vec<FaultRun>>, run: FaultRun, of: usize) {
    if !run.wrong.is_empty() {
        println!("   BAD {} ({:.1} s): {}", run.cell, run.took.as_secs_f64(), run.wrong.join("; "));
        println!("{}", run.shown);
    }
    let mut runs = runs.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
    runs.push(run);
    if runs.len().is_multiple_of(200) {
        println!("   {} of {of} cells", runs.len());
    }
}

/// Runs one cell and judges its ending.
fn judge(lab: &Lab, site: &FaultSite, cell: &MatrixCell) -> ChoreResult<FaultRun> {
    let folder = lab.new_folder("cell")?;
    let proxy = Proxy::start(site.upstream(), &cell.rule(), &folder)?;
    let scene = site.scene(lab, cell.verb, &proxy, &folder)?;
    let command = scene.command(LIMIT, TIMEOUT);
    let start = Instant::now();
    let printed = command.output()?;
    let took = start.elapsed();
    let mut wrong = said_badly(site, cell, &printed);
    if let Err(why) = scene.inspect(&printed) {
        wrong.push(why.to_string());
    }
    let met = proxy.injected()?;
    Ok(FaultRun { cell: *cell, met, took, code: printed.code, wrong, shown: printed.failure("ended").to_string() })
}

/// What is wrong with the exit code and the words.
fn said_badly(site: &FaultSite, cell: &MatrixCell, printed: &Printed) -> Vec<String> {
    let all = printed.all();
    let mut wrong = Vec::new();
    let checks = cell.verb.words()[0] == "check";
    let allowed: &[i32] = match cell.fault.ending {
        // OpenTofu does not install without the header, and `check` says so.
        Ending::Passes if checks && cell.fault.action.starts_with("drop-header=") => &[0, 1],
        // What was refused is not judged.
        Ending::Refused if checks && cell.fault.is_refusal() => &[0, 3],
        // A repository that is not there is a target that is not there.
        Ending::Refused if checks => &[0, 1, 2, 3],
        Ending::Passes => &[0],
        Ending::Network => &[0, 3],
        Ending::Refused => &[0, 1, 3],
    };
    match printed.code {
        Some(124) => wrong.push("it did not end in time".to_owned()),
        Some(code) if allowed.contains(&code) => {}
        code => wrong.push(format!("exit code {code:?} is not one of {allowed:?}")),
    }
    if all.contains("a bug in tofu-oci") || all.contains("panicked") {
        wrong.push("a bug is reported".to_owned());
    }
    if site.secrets().iter().any(|secret| all.contains(secret)) {
        wrong.push("a secret is printed".to_owned());
    }
    // A finding is a result of `check`, printed to stdout.
    let explains = ["check", "auth"].contains(&cell.verb.words()[0]);
    if printed.code.is_some_and(|code| code != 0) && !printed.stderr.contains("error: ") && !explains {
        wrong.push("it failed without an error message".to_owned());
    }
    wrong
}

/// Prints how the cells ended; a failure if there is one, or if a fault of all cells met nothing.
fn report(runs: &[FaultRun], whole: bool) -> ChoreResult {
    let mut codes: BTreeMap<String, usize> = BTreeMap::new();
    for run in runs {
        *codes.entry(run.code.map_or("a signal".to_owned(), |code| code.to_string())).or_default() += 1;
    }
    let met = runs.iter().filter(|run| run.met).count();
    let codes: Vec<String> = codes.iter().map(|(code, count)| format!("{count} with {code}")).collect();
    let (bad, good): (Vec<&FaultRun>, Vec<&FaultRun>) = runs.iter().partition(|run| !run.wrong.is_empty());
    if let Some(longest) = runs.iter().max_by_key(|run| run.took) {
        println!("   longest: {:.1} s, {}", longest.took.as_secs_f64(), longest.cell);
    }
    println!("   exit codes: {}", codes.join(", "));
    let met_actions: BTreeSet<&str> = runs.iter().filter(|run| run.met).map(|run| run.cell.fault.action).collect();
    let unmet: BTreeSet<&str> = runs.iter().map(|run| run.cell.fault.action).collect();
    let unmet: Vec<&str> = unmet.difference(&met_actions).copied().collect();
    if whole && !unmet.is_empty() || met_actions.is_empty() {
        return Err(ChoreFailure::new(format!("faults that met no request: {}", unmet.join("; "))));
    }
    if !bad.is_empty() {
        return Err(ChoreFailure::new(format!("{} of {} cells have a bad ending", bad.len(), runs.len())));
    }
    seen(&format!(
        "{} cells, in {met} of which the fault met a request: {} good endings, 0 bad",
        runs.len(),
        good.len()
    ));
    Ok(())
}
