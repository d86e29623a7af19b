//! The measured cases of how `OpenTofu` reads its CLI configuration, combines methods and uses the lock file, replayed.
//!
//! ```text
//! case --world--> files, environment, registries --mapper::read--> Reading --methods--> Chain --install--> Came
//!   \--expected------------------------------------------------------------------------------- verdict ---/
//! ```
//!
//! Registries are real ones on this machine; other places are scripted, until this program has clients for them.

mod case;
mod differences;
mod failures;
mod folder;
mod methods;
mod packages;
mod registry;
mod scripted;
mod verdict;
mod watched;
mod world;

use std::any::Any;
use std::collections::{BTreeMap, BTreeSet};
use std::fmt;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};

use case::Case;
use differences::{DIFFERENCES, LOCK_DIFFERENCES, Ours};
use registry::Clients;
use verdict::{Install, Run};
use world::Came;

/// So many cases run at once; most of the time they wait.
const AT_ONCE: usize = 8;

/// Commands that this program does not have, and why.
const OUT_OF_SCOPE: &[(&str, &str)] = &[
    ("providers", "`tofu providers lock` and `mirror` ask the origin whatever is configured; their like comes later"),
    ("version", "it installs nothing: only the reading is compared"),
    ("validate", "it installs nothing: only the reading is compared"),
    ("fmt", "it installs nothing: only the reading is compared"),
];

/// The verb of a command line of `tofu`, behind options such as `-chdir=DIR`.
fn verb(command: &[String]) -> Option<&String> {
    let (program, arguments) = command.split_first()?;
    arguments.iter().find(|argument| program == "tofu" && !argument.starts_with('-'))
}

/// Runs all cases, some at once, in the order of the file.
fn run_all(cases: &[Case]) -> Vec<Run> {
    let (next, done) = (AtomicUsize::new(0), Mutex::new(BTreeMap::new()));
    std::thread::scope(|scope| {
        for _ in 0..AT_ONCE {
            scope.spawn(|| {
                let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
                let clients = Clients::default();
                loop {
                    let nth = next.fetch_add(1, Ordering::Relaxed);
                    let Some(case) = cases.get(nth) else { break };
                    let run = catch_unwind(AssertUnwindSafe(|| runtime.block_on(verdict::run(case, &clients))));
                    let run = run.unwrap_or_else(|panic| Run::impossible(&said(panic.as_ref())));
                    done.lock().unwrap().insert(nth, run);
                }
            });
        }
    });
    done.into_inner().unwrap().into_values().collect()
}

/// What a panic says: an unknown word of one case must not hide the others.
fn said(panic: &(dyn Any + Send)) -> String {
    let text = panic.downcast_ref::<String>().map(String::as_str);
    text.or_else(|| panic.downcast_ref::<&str>().copied()).unwrap_or("a panic").to_owned()
}

/// What the comparison of all cases gives.
#[derive(Default)]
struct Tally {
    groups: BTreeMap<String, Count>,
    /// The cases of each decision.
    decided: BTreeMap<&'static str, BTreeSet<String>>,
    /// The cases whose command is not this program's, by command.
    out_of_scope: BTreeMap<&'static str, BTreeSet<String>>,
    bad: Vec<String>,
}

#[derive(Default)]
struct Count {
    all: usize,
    same: usize,
    decided: usize,
    only_read: usize,
    /// Cases with an error in the configuration, for which this program stops and `OpenTofu` does not.
    stopped: usize,
}

impl Tally {
    fn add(&mut self, case: &Case, run: &Run) {
        let name = &case.name;
        self.bad.extend(run.readings.iter().map(|what| format!("{name}: {what}")));
        let outcome = run.install.as_ref().map(|install| self.judge(case, install));
        let count = self.groups.entry(case.group.clone()).or_default();
        count.all += 1;
        count.stopped += usize::from(run.stops);
        match outcome {
            None => {
                count.only_read += 1;
                let command = case.commands.iter().flatten().filter_map(|command| verb(command)).next_back();
                let known = OUT_OF_SCOPE.iter().find(|(known, _)| command.is_some_and(|command| command == known));
                match known {
                    Some((known, _)) => drop(self.out_of_scope.entry(known).or_default().insert(name.clone())),
                    // Told already.
                    None if run.is_impossible => {}
                    None => self.bad.push(format!("{name}: a command that nobody knows: {command:?}")),
                }
            }
            Some(Ok(true)) => count.same += 1,
            Some(Ok(false)) => count.decided += 1,
            Some(Err(what)) => self.bad.push(format!("{name}: {what}")),
        }
    }

    /// Whether all is as measured (true) or as decided (false).
    fn judge(&mut self, case: &Case, install: &Install) -> Result<bool, String> {
        let told = || format!("measured {}, came {:?}", install.expected, install.came);
        if let Some(difference) = DIFFERENCES.iter().find(|difference| (difference.about)(case, &install.expected)) {
            let as_decided = match (&difference.ours, &install.came) {
                (Ours::Always, _) => install.is_same(),
                (Ours::Installs(ours), Came::Installed { method, .. }) => {
                    !install.is_same() && ours.contains(&method.as_str())
                }
                (Ours::Refuses(ours), Came::Refused { class, .. }) => !install.is_same() && ours == class,
                _ => false,
            };
            if !as_decided {
                return Err(format!("not as decided by {}: {}", difference.name, told()));
            }
            self.decided.entry(difference.name).or_default().insert(case.name.clone());
            return Ok(false);
        }
        if !install.is_same() {
            return Err(told());
        }
        for (ours, lines) in [(true, &install.lock_has), (false, &install.lock_lacks)] {
            for line in lines {
                let explains = |difference: &&differences::LockDifference| {
                    difference.ours == ours && (difference.about)(&install.expected, line)
                };
                let Some(difference) = LOCK_DIFFERENCES.iter().find(explains) else {
                    return Err(format!("the lock file {} {line}", if ours { "has also" } else { "lacks" }));
                };
                self.decided.entry(difference.name).or_default().insert(case.name.clone());
            }
        }
        Ok(install.lock_has.is_empty() && install.lock_lacks.is_empty())
    }

    fn unused(&self) -> Vec<&'static str> {
        let outcomes = DIFFERENCES.iter().map(|difference| difference.name);
        let locks = LOCK_DIFFERENCES.iter().map(|difference| difference.name);
        outcomes.chain(locks).filter(|name| !self.decided.contains_key(name)).collect()
    }
}

impl fmt::Display for Tally {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let sum = |of: fn(&Count) -> usize| self.groups.values().map(of).sum::<usize>();
        for (group, count) in &self.groups {
            let Count { all, same, decided, only_read, .. } = count;
            writeln!(f, "{group}: {all} cases: {same} same, {decided} intended differences, {only_read} only read")?;
        }
        for (name, cases) in &self.decided {
            writeln!(f, "decided by {name}: {}", cases.iter().cloned().collect::<Vec<_>>().join(", "))?;
        }
        for (command, cases) in &self.out_of_scope {
            let why = OUT_OF_SCOPE.iter().find(|(known, _)| known == command).map_or("", |(_, why)| why);
            writeln!(f, "tofu {command} ({why}): {}", cases.iter().cloned().collect::<Vec<_>>().join(", "))?;
        }
        let (same, decided, only_read) = (sum(|c| c.same), sum(|c| c.decided), sum(|c| c.only_read));
        let (all, stopped) = (sum(|c| c.all), sum(|c| c.stopped));
        writeln!(f, "{stopped} have an error in the configuration: this program stops there, OpenTofu goes on")?;
        write!(f, "{all} cases: {same} same, {decided} intended differences, {only_read} of other commands")
    }
}

#[test]
fn every_measured_case_comes_out_as_measured_or_as_decided() {
    let cases = case::cases();
    let runs = run_all(&cases);
    let mut tally = Tally::default();
    for (case, run) in cases.iter().zip(&runs) {
        tally.add(case, run);
    }
    println!("{tally}");
    assert!(tally.bad.is_empty(), "{} are other than measured\n{}", tally.bad.len(), tally.bad.join("\n"));
    // Other cases of the same kind need not be about all of them.
    let names: BTreeSet<&str> = cases.iter().map(|case| case.name.as_str()).collect();
    if case::copied_cases().iter().all(|case| names.contains(case.name.as_str())) {
        assert_eq!(tally.unused(), Vec::<&str>::new(), "decisions that no case is about");
    }
    assert_eq!(runs.len(), cases.len());
}
