//! Real `tofu` installs what `module push` wrote, as its sources say.

use std::fs;
use std::path::PathBuf;

use super::super::lab::{Lab, seen};
use super::fixture::PublishedModule;
use crate::failure::{ChoreFailure, ChoreResult};
use crate::paths;
use crate::process::ProgramRun;
use crate::registry::Guard;

const INIT: [&str; 3] = ["init", "-input=false", "-no-color"];

pub(super) fn run(lab: &Lab) -> ChoreResult {
    let registry = Guard::deletable_over_tls()?;
    let module = PublishedModule::new(lab, &registry, "network");
    let old = module.push("1.4.0", &[])?;
    module.push("1.5.0", &[])?;
    let source = |rest: &str| format!("oci://{}{rest}", module.repository);
    installs(&module, &source("?tag=1.4.0"), "1.4.0")?;
    installs(&module, &source(&format!("?digest={old}")), "1.4.0")?;
    installs(&module, &source("//modules/vpc?tag=1.5.0"), "1.5.0")?;
    seen("tofu installs a module by its tag, by its digest, and a folder of it");
    init(&module, &source(""))?.refused()?;
    seen("without a tag tofu asks for `latest`, which module push does not write");
    module.ours(&["withdraw", &module.release("1.4.0"), "--reason", "it deletes state"]).success()?;
    init(&module, &source("?tag=1.4.0"))?.refused()?;
    installs(&module, &source(&format!("?digest={old}")), "1.4.0")?;
    let pull = ["module", "pull", &source(&format!("?digest={old}")), "out"];
    let folder = lab.new_folder("refused")?;
    module.ours(&pull).directory(&folder).refused_with(1)?.must_show("it deletes state")?;
    module.ours(&["withdraw", &module.release("1.4.0"), "--undo"]).success()?;
    installs(&module, &source("?tag=1.4.0"), "1.4.0")?;
    seen(
        "the tag of a withdrawn version is gone for tofu, and back with --undo; module pull refuses its digest as well",
    );
    Ok(())
}

/// `tofu init` and `tofu apply` of a configuration that calls the module, which says its version.
fn installs(module: &PublishedModule<'_>, source: &str, version: &str) -> ChoreResult {
    let project = project(module, source)?;
    tofu(module)?.directory(&project).args(INIT).success()?;
    let apply = ["apply", "-auto-approve", "-input=false", "-no-color"];
    tofu(module)?.directory(&project).args(apply).success()?.must_show(&format!("\"{version}\""))?;
    Ok(())
}

fn init(module: &PublishedModule<'_>, source: &str) -> ChoreResult<ProgramRun> {
    Ok(tofu(module)?.directory(&project(module, source)?).args(INIT))
}

/// A folder with a configuration that calls the module.
fn project(module: &PublishedModule<'_>, source: &str) -> ChoreResult<PathBuf> {
    let project = module.lab.new_folder("project")?;
    let configuration = format!(
        "module \"network\" {{\n  source = \"{source}\"\n}}\n\noutput \"version\" {{\n  value = module.network.version\n}}\n"
    );
    paths::write(&project.join("main.tf"), configuration)?;
    Ok(project)
}

fn tofu(module: &PublishedModule<'_>) -> ChoreResult<ProgramRun> {
    let settings = module.lab.home().join("empty.tfrc");
    if !settings.exists() {
        fs::write(&settings, "").map_err(|error| ChoreFailure::new(format!("{}: {error}", settings.display())))?;
    }
    let run = module.trusting("tofu")?;
    Ok(run.variable("CHECKPOINT_DISABLE", "1").variable("TF_CLI_CONFIG_FILE", settings))
}
