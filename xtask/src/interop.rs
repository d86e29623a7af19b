//! The stage with real parts: registry:2 in all its modes, terraform (and tofu if it is installed), buildah, skopeo,
//! crane and regctl, and a provider that really runs.
//!
//! ```text
//! testrepos   whole and broken repositories, served unchecked by ociserve.py, are decided as from a directory
//! registries  push, versions, install, push again, copy: against registry:2 plain, TLS, htpasswd, token; distribution 3, zot
//! provider    testdata/provider built, published in each layout, installed, run by terraform (and tofu)
//! lock        the lock file is the one that terraform (and tofu) writes for the same packages, and installs by
//! locked      install --locked ends as terraform (and tofu) init -lockfile=readonly, case by case
//! mappings    an oci_mirror block, the magic suffix and oci-providers.v1, with a real registry and a real HTTPS server
//! mirror      a signed origin into registry:2, a folder behind nginx and a bundle; killed at 20 moments; terraform (and tofu) run what comes out
//! bridge      terraform (and tofu) install from registry:2 through serve, by both protocols, and with run
//! modules-served  terraform (and tofu) install modules from registry:2 through serve, by version constraint, and with run
//! providers   testdata/configurations read as real terraform (and tofu) reads them
//! buildah     the RFC's Dockerfile built by buildah is installed; our image layout is pulled by buildah
//! clients     crane and regctl read and copy every layout, every digest unchanged
//! skopeo      an image-layout release goes through skopeo and back, every digest unchanged
//! credentials push and install with what docker, podman, blocks and helpers hold, over TLS; logins; tokens that expire
//! check       the probe of a registry, a good release and a poisoned one, against registry:2
//! withdraw    a withdrawn version is chosen by tofu and terraform no longer, and again when it is back; registry:2 with and without deletes
//! modules     cosign accepts a signed module, tofu installs it by tag, digest and folder, skopeo copies it; a withdrawn one is gone
//! parallel    several runs at once: copies, pushes, signatures, installs and locks lose nothing and do not fail
//! shells      bash, zsh and fish load the completions, and complete verbs, options, folders and versions at a TAB
//! faults      a proxy injects one fault into one run: every ending tells the truth, in time, and nothing is half-done
//! browser     the pages of serve in Chromium: two widths, light and dark, by keyboard, judged by axe
//! trust       cosign accepts what push and sign wrote, and verify what cosign signed: both forms, every kind of key
//! ```
//!
//! What a sub-stage needs and does not find is said loudly; in CI (`CI=true`) it fails the stage.

mod bridge;
mod browser;
mod buildah;
mod check;
mod clients;
mod content;
mod credentials;
mod faults;
mod https;
mod lab;
mod lock;
mod locked;
mod mappings;
mod mirror;
mod modules;
mod modules_served;
mod parallel;
mod provider;
mod provider_build;
mod providers;
mod registries;
mod shells;
mod skopeo;
mod terraform;
mod testrepos;
mod trust;
mod withdraw;

use std::num::NonZeroUsize;
use std::time::Instant;

use tofu_oci_testkit::RealRegistry;

use crate::failure::{CheckEnd, ChoreFailure, ChoreResult};
use crate::process::{find, in_ci};
use lab::Lab;

/// The rounds of `parallel` in CI.
const ROUNDS: u32 = 3;
/// Each how many of the cells of `faults` runs without the option: a sample of about 60.
const EVERY: NonZeroUsize = NonZeroUsize::new(61).expect("61 is not 0");

/// Arguments of the chore.
#[derive(Debug, clap::Args)]
pub(crate) struct InteropArgs {
    /// Run only the sub-stages with these names: testrepos, registries, provider, lock, locked, mappings, mirror,
    /// bridge, modules-served, providers, buildah, clients, skopeo, credentials, check, withdraw, modules, parallel, trust, browser,
    /// shells, faults
    #[arg(value_name = "SUB-STAGE")]
    only: Vec<String>,

    /// How many rounds `parallel` plays; for every three of them it makes 20 copies
    #[arg(long, value_name = "N", default_value_t = ROUNDS)]
    rounds: u32,

    /// Run each N-th cell of `faults`; 1 runs all of them, in about half an hour
    #[arg(long, value_name = "N", default_value_t = EVERY)]
    every: NonZeroUsize,
}

impl InteropArgs {
    /// All sub-stages.
    pub(crate) fn everything() -> Self {
        Self { only: Vec::new(), rounds: ROUNDS, every: EVERY }
    }
}

/// A sub-stage: its name, the programs without which it cannot run, and the work.
struct SubStage {
    name: &'static str,
    needs: &'static [&'static str],
    work: fn(&Lab) -> ChoreResult,
}

const SUB_STAGES: &[SubStage] = &[
    SubStage { name: "testrepos", needs: &["python3"], work: testrepos::run },
    SubStage { name: "registries", needs: &["docker-registry", "htpasswd"], work: registries::run },
    SubStage { name: "provider", needs: &["docker-registry", "go", "terraform"], work: provider::run },
    SubStage { name: "lock", needs: lock::NEEDS, work: lock::run },
    SubStage { name: "locked", needs: locked::NEEDS, work: locked::run },
    SubStage { name: "mappings", needs: &["docker-registry", "python3"], work: mappings::run },
    SubStage { name: "mirror", needs: mirror::NEEDS, work: mirror::run },
    SubStage { name: "bridge", needs: bridge::NEEDS, work: bridge::run },
    SubStage { name: "modules-served", needs: modules_served::NEEDS, work: modules_served::run },
    SubStage { name: "providers", needs: &["terraform"], work: providers::run },
    SubStage { name: "buildah", needs: &["docker-registry", "buildah"], work: buildah::run },
    SubStage { name: "clients", needs: &["docker-registry", "crane", "regctl"], work: clients::run },
    SubStage { name: "skopeo", needs: &["docker-registry", "skopeo"], work: skopeo::run },
    SubStage { name: "credentials", needs: credentials::NEEDS, work: credentials::run },
    SubStage { name: "check", needs: &["docker-registry"], work: check::run },
    SubStage { name: "withdraw", needs: withdraw::NEEDS, work: withdraw::run },
    SubStage { name: "modules", needs: modules::NEEDS, work: modules::run },
    SubStage { name: "parallel", needs: parallel::NEEDS, work: parallel::run },
    SubStage { name: "trust", needs: trust::NEEDS, work: trust::run },
    SubStage { name: "browser", needs: browser::NEEDS, work: browser::run },
    SubStage { name: "shells", needs: shells::NEEDS, work: shells::run },
    SubStage { name: "faults", needs: faults::NEEDS, work: faults::run },
];

/// Runs the sub-stages, also after one has failed; a failure when one did, skipped when one could not run.
pub(crate) fn run(arguments: &InteropArgs) -> ChoreResult<CheckEnd> {
    let known = |name: &String| SUB_STAGES.iter().any(|stage| stage.name == name);
    if let Some(unknown) = arguments.only.iter().find(|name| !known(name)) {
        return Err(ChoreFailure::new(format!("unknown sub-stage `{unknown}`")));
    }
    let lab = Lab::new(arguments.rounds, arguments.every.get())?;
    let mut failed = Vec::new();
    let mut skipped = Vec::new();
    for stage in SUB_STAGES {
        if !arguments.only.is_empty() && !arguments.only.iter().any(|name| name == stage.name) {
            continue;
        }
        println!("\n-- interop {}", stage.name);
        let start = Instant::now();
        match end_of(stage, &lab) {
            Ok(CheckEnd::Passed) => println!("-- interop {}: ok, {:.1} s", stage.name, start.elapsed().as_secs_f64()),
            Ok(CheckEnd::Skipped(why)) => {
                println!("-- interop {}: SKIPPED, {why}", stage.name);
                skipped.push(stage.name);
            }
            Err(failure) => {
                println!("-- interop {}: FAILED: {failure}", stage.name);
                failed.push(stage.name);
            }
        }
    }
    if !skipped.is_empty() {
        println!("\ninterop: NOT EVERYTHING RAN, left out: {}", skipped.join(", "));
    }
    end(&failed, &skipped)
}

/// How the stage ended, by the names of the sub-stages that failed and of those that could not run.
fn end(failed: &[&str], skipped: &[&str]) -> ChoreResult<CheckEnd> {
    match (failed, skipped) {
        ([], []) => Ok(CheckEnd::Passed),
        ([], skipped) => Ok(CheckEnd::Skipped(format!("left out: {}", skipped.join(", ")))),
        (failed, _) => Err(ChoreFailure::new(format!("interop failed: {}", failed.join(", ")))),
    }
}

fn end_of(stage: &SubStage, lab: &Lab) -> ChoreResult<CheckEnd> {
    let missing: Vec<_> = stage.needs.iter().copied().filter(|name| !is_there(name)).collect();
    if missing.is_empty() {
        return (stage.work)(lab).map(|()| CheckEnd::Passed);
    }
    let why = format!("not on the PATH: {} (CONTRIBUTING.md says where they come from)", missing.join(", "));
    if in_ci() { Err(ChoreFailure::new(why)) } else { Ok(CheckEnd::Skipped(why)) }
}

fn is_there(name: &str) -> bool {
    match name {
        // Debian's name for it; its own project calls it `registry`.
        "docker-registry" => RealRegistry::available(),
        faults::PROXY => faults::proxy_is_there(),
        _ => find(name).is_some(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_sub_stage_that_could_not_run_is_not_called_passed() {
        let shown = |failed: &[&str], skipped: &[&str]| end(failed, skipped).map_err(|failure| failure.to_string());
        assert_eq!(shown(&[], &[]), Ok(CheckEnd::Passed));
        assert_eq!(shown(&[], &["provider"]), Ok(CheckEnd::Skipped("left out: provider".to_owned())));
        assert_eq!(shown(&["clients"], &["provider"]), Err("interop failed: clients".to_owned()));
    }
}
