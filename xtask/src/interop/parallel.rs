//! Several runs of the program at once, against a real registry:2: every run ends with 0, and nothing is lost.
//!
//! What the registry holds in the end is read without the program.

mod directory;
mod scene;
mod witness;

use std::path::PathBuf;

use super::lab::{Lab, seen, text};
use crate::failure::{ChoreFailure, ChoreResult};
use crate::process::{Printed, ProgramRun};
use crate::registry::Guard;
use scene::{AT_ONCE, ParallelScene, Tally, at_once};

/// The programs without which the sub-stage cannot run.
pub(super) const NEEDS: &[&str] = &["docker-registry", "openssl"];

/// So many copies are made for every three rounds.
const COPIES: u32 = 20;
pub(super) fn run(lab: &Lab) -> ChoreResult {
    let registry = Guard::plain()?;
    let scene = ParallelScene { lab, registry: &registry, keys: keys(lab)? };
    let rounds = lab.rounds();
    let jobs: [(&str, u32, ParallelJob); 9] = [
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
    if bad.is_empty() { Ok(()) } else { Err(ChoreFailure::new(format!("in parallel, these fail: {}", bad.join("; ")))) }
}

/// One round of a job.
type ParallelJob = fn(&ParallelScene<'_>, u32) -> ChoreResult<Tally>;

impl ParallelScene<'_> {
    fn sign(&self, repository: &str, key: &PathBuf, format: &str) -> ProgramRun {
        self.run(&["sign", repository, "--version", "1.0.0", "--format", format, "--key"]).arg(key)
    }

    fn copy(&self, nth: u32) -> ChoreResult<Tally> {
        let (from, to) = (self.repository("copy/from"), format!("copy/to-{nth}"));
        if nth == 0 {
            self.push("widget", "1.0.0", &from)?.success()?;
            for key in &self.keys[..2] {
                self.sign(&from, key, "bundle").success()?;
            }
        }
        let copied = self.run(&["copy", &from, &self.repository(&to), "--all", "--jobs", "8"]).output()?;
        let there = witness::referrers(self.registry, &to, "1.0.0")?;
        // One run copies two referrers: if it failed, both are lost.
        let mut tally = Tally::of(&[copied], 1, usize::from(there == 2));
        tally.lost *= 2_usize.saturating_sub(there);
        Ok(tally)
    }

    fn pushes(&self, nth: u32) -> ChoreResult<Tally> {
        let name = format!("pushes/{nth}");
        let push = self.push("widget", "1.0.0", &self.repository(&name))?;
        let runs = at_once(&vec![push; AT_ONCE])?;
        Ok(Tally::of(&runs, 1, witness::tags(self.registry, &name)?))
    }

    fn versions(&self, nth: u32) -> ChoreResult<Tally> {
        let name = format!("versions/{nth}");
        let repository = self.repository(&name);
        let versions = (0..AT_ONCE).map(|minor| self.push("widget", &format!("1.{minor}.0"), &repository));
        let runs = at_once(&versions.collect::<ChoreResult<Vec<_>>>()?)?;
        Ok(Tally::of(&runs, AT_ONCE, witness::tags(self.registry, &name)?))
    }

    fn referrers(&self, nth: u32) -> ChoreResult<Tally> {
        let name = format!("signers/{nth}");
        let runs = self.signers(&name, "bundle")?;
        Ok(Tally::of(&runs, AT_ONCE, witness::referrers(self.registry, &name, "1.0.0")?))
    }

    fn signatures(&self, nth: u32) -> ChoreResult<Tally> {
        let name = format!("cosign/{nth}");
        let runs = self.signers(&name, "cosign-tag")?;
        Ok(Tally::of(&runs, AT_ONCE, witness::signatures(self.registry, &name, "1.0.0")?))
    }

    fn in_layout(&self) -> ChoreResult<Tally> {
        let layout = self.lab.new_folder("layout")?.join("packages");
        let place = format!("oci:{}", text(&layout));
        self.push("widget", "1.0.0", &place)?.success()?;
        let runs: Vec<ProgramRun> = self.keys.iter().map(|key| self.sign(&place, key, "cosign-tag")).collect();
        Ok(Tally::of(&at_once(&runs)?, AT_ONCE, witness::signatures_in(&layout)?))
    }

    fn signers(&self, name: &str, format: &str) -> ChoreResult<Vec<Printed>> {
        let repository = self.repository(name);
        self.push("widget", "1.0.0", &repository)?.success()?;
        let runs: Vec<ProgramRun> = self.keys.iter().map(|key| self.sign(&repository, key, format)).collect();
        at_once(&runs)
    }
}

/// New keys, one for each signer.
fn keys(lab: &Lab) -> ChoreResult<Vec<PathBuf>> {
    let folder = lab.new_folder("keys")?;
    let key = |nth| {
        let key = folder.join(format!("{nth}.pem"));
        let make = ["genpkey", "-algorithm", "EC", "-pkeyopt", "ec_paramgen_curve:P-256", "-out"];
        lab.tool("openssl")?.args(make).arg(&key).success()?;
        Ok(key)
    };
    (0..AT_ONCE).map(key).collect()
}
