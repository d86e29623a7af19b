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
mod packages;
mod registry;
mod scripted;
mod verdict;
mod world;

use std::collections::BTreeMap;
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};

use case::Case;
use verdict::Run;

/// Runs all cases, some at once, in the order of the file.
fn run_all(cases: &[Case]) -> Vec<Run> {
    let (next, done) = (AtomicUsize::new(0), Mutex::new(BTreeMap::new()));
    std::thread::scope(|scope| {
        for _ in 0..4 {
            scope.spawn(|| {
                let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
                while let Some((nth, case)) = Some(next.fetch_add(1, Ordering::Relaxed))
                    .and_then(|nth| cases.get(nth).map(|case| (nth, case)))
                {
                    let run = runtime.block_on(verdict::run(case));
                    done.lock().unwrap().insert(nth, run);
                }
            });
        }
    });
    done.into_inner().unwrap().into_values().collect()
}

#[test]
fn every_measured_case_comes_out_as_measured_or_as_decided() {
    let cases = case::cases();
    let runs = run_all(&cases);
    let mut bad = Vec::new();
    for (case, run) in cases.iter().zip(&runs) {
        for what in &run.readings {
            bad.push(format!("{}: {what}", case.name));
        }
        if let Some(install) = &run.install {
            if !install.is_same(case) {
                bad.push(format!("{}: {:?} but {:?}", case.name, install.expected, install.came));
            } else if !install.locks_the_same() {
                bad.push(format!("{}: lock lacks {:?} has {:?}", case.name, install.lock_lacks, install.lock_has));
            }
        }
    }
    println!("{} cases", cases.len());
    assert!(bad.is_empty(), "{} differ\n{}", bad.len(), bad.join("\n"));
}
