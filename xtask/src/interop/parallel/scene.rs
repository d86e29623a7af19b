//! What the jobs share: the registry, the program, and the count of what was lost.

use std::path::PathBuf;

use tofu_oci_testkit::ReleaseFolder;

use crate::failure::{ChoreFailure, ChoreResult};
use crate::interop::lab::{Lab, text};
use crate::process::{Printed, ProgramRun};
use crate::registry::Guard;

/// So many programs run at once.
pub(super) const AT_ONCE: usize = 10;
pub(super) const ADDRESS: &str = "registry.example.test/acme/widget";
pub(super) const PLATFORM: &str = "linux_amd64";

/// Where the rounds are played.
pub(super) struct ParallelScene<'a> {
    pub(super) lab: &'a Lab,
    pub(super) registry: &'a Guard,
    pub(super) keys: Vec<PathBuf>,
}

/// How runs ended.
#[derive(Default)]
pub(super) struct Tally {
    pub(super) runs: usize,
    pub(super) failed: usize,
    /// What runs that ended with 0 should have left, and is not there.
    pub(super) lost: usize,
    /// What the first bad one printed.
    pub(super) example: Option<String>,
}

impl Tally {
    /// What these runs printed, and how much of `wanted` is there after them.
    pub(super) fn of(runs: &[Printed], wanted: usize, there: usize) -> Self {
        let bad: Vec<&Printed> = runs.iter().filter(|run| run.code != Some(0)).collect();
        let lost = wanted.saturating_sub(bad.len()).saturating_sub(there);
        let failure = bad.first().map(|run| run.failure("a command failed").to_string());
        let missing = || format!("{there} of {wanted} are there");
        let example = failure.or_else(|| (lost > 0).then(missing));
        Self { runs: runs.len(), failed: bad.len(), lost, example }
    }

    pub(super) fn add(&mut self, more: Self) {
        self.runs += more.runs;
        self.failed += more.failed;
        self.lost += more.lost;
        self.example = self.example.take().or(more.example);
    }
}

impl ParallelScene<'_> {
    pub(super) fn repository(&self, name: &str) -> String {
        format!("{}/{name}", self.registry.address())
    }

    pub(super) fn run(&self, arguments: &[&str]) -> ProgramRun {
        self.lab.tofu_oci(self.registry, arguments)
    }

    pub(super) fn push(&self, provider: &str, version: &str, repository: &str) -> ChoreResult<ProgramRun> {
        let folder = self.lab.new_folder("dist")?;
        ReleaseFolder::new(provider, version, &[PLATFORM, "darwin_arm64"]).write_zips(&folder);
        let address = ADDRESS.replace("widget", provider);
        Ok(self.run(&["push", &text(&folder), repository, "--address", &address]))
    }
}

/// Starts all of them, and waits for all of them.
pub(super) fn at_once(runs: &[ProgramRun]) -> ChoreResult<Vec<Printed>> {
    std::thread::scope(|scope| {
        let started: Vec<_> = runs.iter().map(|run| scope.spawn(|| run.output())).collect();
        let ended = started.into_iter().map(std::thread::ScopedJoinHandle::join);
        ended.map(|run| run.unwrap_or_else(|_| Err(ChoreFailure::new("a thread of ours broke down")))).collect()
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn printed(code: i32) -> Printed {
        Printed { command: "run".to_owned(), stdout: String::new(), stderr: String::new(), code: Some(code) }
    }

    #[test]
    fn what_a_failed_run_did_not_leave_is_not_lost() {
        let tally = |codes: &[i32], wanted, there| {
            let runs: Vec<Printed> = codes.iter().map(|code| printed(*code)).collect();
            let Tally { runs, failed, lost, example } = Tally::of(&runs, wanted, there);
            (runs, failed, lost, example.is_some())
        };
        assert_eq!(tally(&[0, 0, 0], 3, 3), (3, 0, 0, false));
        assert_eq!(tally(&[0, 0, 1], 3, 2), (3, 1, 0, true));
        assert_eq!(tally(&[0, 0, 0], 3, 2), (3, 0, 1, true));
        assert_eq!(tally(&[0, 1, 0], 3, 1), (3, 1, 1, true));
    }
}
