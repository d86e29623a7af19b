//! Several runs of the program at once, against a real registry:2: every run ends with 0, and nothing is lost.
//!
//! What the registry holds in the end is read without the program.

mod directory;
mod witness;

use std::path::PathBuf;

use tofu_oci_testkit::Dist;

use super::lab::{Lab, seen, text};
use crate::failure::{Failure, Outcome};
use crate::process::{Printed, Run};
use crate::registry::Guard;

/// The programs without which the sub-stage cannot run.
pub(super) const NEEDS: &[&str] = &["docker-registry", "openssl"];

/// So many programs run at once.
const AT_ONCE: usize = 10;
/// So many copies are made for every three rounds.
const COPIES: u32 = 20;
const ADDRESS: &str = "registry.example.test/acme/widget";
const PLATFORM: &str = "linux_amd64";

pub(super) fn run(lab: &Lab) -> Outcome {
    let registry = Guard::plain()?;
    let scene = Scene { lab, registry: &registry, keys: keys(lab)? };
    let rounds = lab.rounds();
    let jobs: [(&str, u32, Job); 9] = [
        ("copy with two referrers, --jobs 8", (rounds * COPIES).div_ceil(3), |scene, nth| scene.copy(nth)),
        ("ten pushes of one release", rounds, |scene, nth| scene.pushes(nth)),
        ("ten versions into one repository", rounds, |scene, nth| scene.versions(nth)),
        ("ten signers of one release, as referrers", rounds, |scene, nth| scene.referrers(nth)),
        ("ten signers of one release, under cosign's tag", rounds, |scene, nth| scene.signatures(nth)),
        ("ten signers of one release in a directory, under cosign's tag", rounds, |scene, _| scene.in_layout()),
        ("ten installs of ten providers in one directory", rounds, directory::installs),
        ("ten locks of ten providers in one directory", rounds, directory::locks),
        ("ten installs and locks of one provider in one directory", rounds, directory::of_one),
    ];
    let mut bad = Vec::new();
    for (what, rounds, job) in jobs {
        let mut tally = Tally::default();
        for nth in 0..rounds {
            tally.add(job(&scene, nth)?);
        }
        let line =
            format!("{what}: {} runs in {rounds} rounds, {} failed, {} lost", tally.runs, tally.failed, tally.lost);
        match tally.example {
            None => seen(&line),
            Some(example) => {
                println!("   BAD {line}\n{example}");
                bad.push(what);
            }
        }
    }
    if bad.is_empty() { Ok(()) } else { Err(Failure::new(format!("in parallel, these fail: {}", bad.join("; ")))) }
}

/// One round of a job.
type Job = fn(&Scene<'_>, u32) -> Outcome<Tally>;

/// Where the rounds are played.
struct Scene<'a> {
    lab: &'a Lab,
    registry: &'a Guard,
    keys: Vec<PathBuf>,
}

/// How runs ended.
#[derive(Default)]
struct Tally {
    runs: usize,
    failed: usize,
    /// What runs that ended with 0 should have left, and is not there.
    lost: usize,
    /// What the first bad one printed.
    example: Option<String>,
}

impl Tally {
    /// What these runs printed, and how much of `wanted` is there after them.
    fn of(runs: &[Printed], wanted: usize, there: usize) -> Self {
        let bad: Vec<&Printed> = runs.iter().filter(|run| run.code != Some(0)).collect();
        let lost = wanted.saturating_sub(bad.len()).saturating_sub(there);
        let failure = bad.first().map(|run| run.failure("a command failed").to_string());
        let missing = || format!("{there} of {wanted} are there");
        let example = failure.or_else(|| (lost > 0).then(missing));
        Self { runs: runs.len(), failed: bad.len(), lost, example }
    }

    fn add(&mut self, more: Self) {
        self.runs += more.runs;
        self.failed += more.failed;
        self.lost += more.lost;
        self.example = self.example.take().or(more.example);
    }
}

impl Scene<'_> {
    fn repository(&self, name: &str) -> String {
        format!("{}/{name}", self.registry.address())
    }

    fn run(&self, arguments: &[&str]) -> Run {
        self.lab.tofu_oci(self.registry, arguments)
    }

    fn push(&self, provider: &str, version: &str, repository: &str) -> Outcome<Run> {
        let folder = self.lab.new_folder("dist")?;
        Dist::new(provider, version, &[PLATFORM, "darwin_arm64"]).write_zips(&folder);
        let address = ADDRESS.replace("widget", provider);
        Ok(self.run(&["push", &text(&folder), repository, "--address", &address]))
    }

    fn sign(&self, repository: &str, key: &PathBuf, format: &str) -> Run {
        self.run(&["sign", repository, "--version", "1.0.0", "--format", format, "--key"]).arg(key)
    }

    fn copy(&self, nth: u32) -> Outcome<Tally> {
        let (from, to) = (self.repository("copy/from"), format!("copy/to-{nth}"));
        if nth == 0 {
            self.push("widget", "1.0.0", &from)?.success()?;
            for key in &self.keys[..2] {
                self.sign(&from, key, "bundle").success()?;
            }
        }
        let copied = self.run(&["copy", &from, &self.repository(&to), "--all", "--jobs", "8"]).output()?;
        let there = witness::referrers(self.registry, &to, "1.0.0")?;
        // One run, two referrers: the whole of it is lost when the run failed.
        let mut tally = Tally::of(&[copied], 1, usize::from(there == 2));
        tally.lost *= 2_usize.saturating_sub(there);
        Ok(tally)
    }

    fn pushes(&self, nth: u32) -> Outcome<Tally> {
        let name = format!("pushes/{nth}");
        let push = self.push("widget", "1.0.0", &self.repository(&name))?;
        let runs = at_once(&vec![push; AT_ONCE])?;
        Ok(Tally::of(&runs, 1, witness::tags(self.registry, &name)?))
    }

    fn versions(&self, nth: u32) -> Outcome<Tally> {
        let name = format!("versions/{nth}");
        let repository = self.repository(&name);
        let versions = (0..AT_ONCE).map(|minor| self.push("widget", &format!("1.{minor}.0"), &repository));
        let runs = at_once(&versions.collect::<Outcome<Vec<_>>>()?)?;
        Ok(Tally::of(&runs, AT_ONCE, witness::tags(self.registry, &name)?))
    }

    fn referrers(&self, nth: u32) -> Outcome<Tally> {
        let name = format!("signers/{nth}");
        let runs = self.signers(&name, "bundle")?;
        Ok(Tally::of(&runs, AT_ONCE, witness::referrers(self.registry, &name, "1.0.0")?))
    }

    fn signatures(&self, nth: u32) -> Outcome<Tally> {
        let name = format!("cosign/{nth}");
        let runs = self.signers(&name, "cosign-tag")?;
        Ok(Tally::of(&runs, AT_ONCE, witness::signatures(self.registry, &name, "1.0.0")?))
    }

    fn in_layout(&self) -> Outcome<Tally> {
        let layout = self.lab.new_folder("layout")?.join("packages");
        let place = format!("oci:{}", text(&layout));
        self.push("widget", "1.0.0", &place)?.success()?;
        let runs: Vec<Run> = self.keys.iter().map(|key| self.sign(&place, key, "cosign-tag")).collect();
        Ok(Tally::of(&at_once(&runs)?, AT_ONCE, witness::signatures_in(&layout)?))
    }

    fn signers(&self, name: &str, format: &str) -> Outcome<Vec<Printed>> {
        let repository = self.repository(name);
        self.push("widget", "1.0.0", &repository)?.success()?;
        let runs: Vec<Run> = self.keys.iter().map(|key| self.sign(&repository, key, format)).collect();
        at_once(&runs)
    }
}

/// Starts all of them, and waits for all of them.
fn at_once(runs: &[Run]) -> Outcome<Vec<Printed>> {
    std::thread::scope(|scope| {
        let started: Vec<_> = runs.iter().map(|run| scope.spawn(|| run.output())).collect();
        let ended = started.into_iter().map(std::thread::ScopedJoinHandle::join);
        ended.map(|run| run.unwrap_or_else(|_| Err(Failure::new("a thread of ours broke down")))).collect()
    })
}

/// New keys, one for each signer.
fn keys(lab: &Lab) -> Outcome<Vec<PathBuf>> {
    let folder = lab.new_folder("keys")?;
    let key = |nth| {
        let key = folder.join(format!("{nth}.pem"));
        let make = ["genpkey", "-algorithm", "EC", "-pkeyopt", "ec_paramgen_curve:P-256", "-out"];
        lab.tool("openssl")?.args(make).arg(&key).success()?;
        Ok(key)
    };
    (0..AT_ONCE).map(key).collect()
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
