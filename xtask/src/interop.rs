//! The stage with real parts: registry:2 in all its modes, terraform (and tofu if it is installed), buildah, skopeo,
//! crane and regctl, and a provider that really runs.
//!
//! `cargo xtask interop --list` prints each sub-stage with the first sentence of its file, which says what it proves.
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
mod integrations;
mod keyless;
mod lab;
mod lock;
mod locked;
mod mappings;
mod mirror;
mod modules;
mod modules_served;
mod offline;
mod parallel;
mod provider;
mod provider_build;
mod providers;
mod registries;
mod shells;
mod sigstore;
mod skopeo;
mod terraform;
mod testrepos;
mod trust;
mod tutorial;
mod withdraw;

use std::num::NonZeroUsize;
use std::path::Path;
use std::time::Instant;

use tofu_oci_testkit::RealRegistry;

use crate::failure::{CheckEnd, ChoreFailure, ChoreResult};
use crate::paths;
use crate::process::{find, in_ci};
use crate::where_is::{doc_of, first_sentence, print};
use lab::Lab;

/// The rounds of `parallel` in CI.
const ROUNDS: u32 = 3;
/// Each how many of the cells of `faults` runs without the option: a sample of about 60.
const EVERY: NonZeroUsize = NonZeroUsize::new(61).expect("61 is not 0");

/// Arguments of the chore.
#[derive(Debug, clap::Args)]
pub(crate) struct InteropArgs {
    /// Run only the sub-stages with these names
    #[arg(value_name = "SUB-STAGE")]
    only: Vec<String>,

    /// Print the sub-stages, what each proves and which programs it needs, and run none
    #[arg(long)]
    list: bool,

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
        Self { only: Vec::new(), list: false, rounds: ROUNDS, every: EVERY }
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
    SubStage { name: "keyless", needs: keyless::NEEDS, work: keyless::run },
    SubStage { name: "offline", needs: offline::NEEDS, work: offline::run },
    SubStage { name: "sigstore", needs: &[], work: sigstore::run },
    SubStage { name: "tutorial", needs: tutorial::NEEDS, work: tutorial::run },
    SubStage { name: "integrations", needs: integrations::NEEDS, work: integrations::run },
    SubStage { name: "browser", needs: browser::NEEDS, work: browser::run },
    SubStage { name: "shells", needs: shells::NEEDS, work: shells::run },
    SubStage { name: "faults", needs: faults::NEEDS, work: faults::run },
];

/// Runs the sub-stages, also after one has failed; a failure when one did, skipped when one could not run.
pub(crate) fn run(arguments: &InteropArgs) -> ChoreResult<CheckEnd> {
    if arguments.list {
        return list();
    }
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

fn list() -> ChoreResult<CheckEnd> {
    let mut text = String::new();
    for stage in SUB_STAGES {
        let (name, proves, needs) = (stage.name, what_it_proves(stage)?, stage.needs.join(", "));
        text.push_str(&format!("{name:14} {proves}\n{:14}   needs {needs}\n", ""));
    }
    print(&text);
    Ok(CheckEnd::Passed)
}

fn what_it_proves(stage: &SubStage) -> ChoreResult<String> {
    let module = Path::new("xtask/src/interop").join(stage.name.replace('-', "_"));
    let file = module.with_extension("rs");
    let file = if paths::root().join(&file).exists() { file } else { module.join("mod.rs") };
    Ok(first_sentence(&doc_of(&file)?))
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
    fn each_sub_stage_says_what_it_proves() {
        let silent = |stage: &&SubStage| what_it_proves(stage).map_or(true, |sentence| sentence.is_empty());
        assert_eq!(SUB_STAGES.iter().filter(silent).map(|stage| stage.name).collect::<Vec<_>>(), [""; 0]);
    }

    #[test]
    fn a_sub_stage_that_could_not_run_is_not_called_passed() {
        let shown = |failed: &[&str], skipped: &[&str]| end(failed, skipped).map_err(|failure| failure.to_string());
        assert_eq!(shown(&[], &[]), Ok(CheckEnd::Passed));
        assert_eq!(shown(&[], &["provider"]), Ok(CheckEnd::Skipped("left out: provider".to_owned())));
        assert_eq!(shown(&["clients"], &["provider"]), Err("interop failed: clients".to_owned()));
    }
}
