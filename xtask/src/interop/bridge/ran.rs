//! `run -- terraform init`: no bridge to operate.

use super::site::{BridgeSite, HOST, VERSIONS, clients};
use crate::failure::{ChoreFailure, ChoreResult};
use crate::interop::lab::seen;
use crate::interop::lock::LockKey;
use crate::interop::terraform::{ADDRESS, TerraformProject};
use crate::paths;
use crate::process::ProgramRun;

pub(super) fn run(site: &BridgeSite<'_>) -> ChoreResult {
    let block = format!(
        "provider_installation {{\n  oci_mirror {{\n    repository_template = \"{}\"\n    include = [\"{HOST}/*/*\"]\n  }}\n}}\n",
        site.template()
    );
    // What a signature covers is locked for every platform; unsigned, the lock file of another machine is refused.
    let key = LockKey::new(site.lab)?;
    let release = format!("{}:{}", site.repository("acme"), VERSIONS[1]);
    site.program().args(["sign", &release, "--key"]).arg(&key.private).success()?;
    for client in clients() {
        let project = site.project(client, ADDRESS, "")?;
        paths::write(&project.directory().join("trust.toml"), &key.policy)?;
        other_machine(site, &project)?;
        let configuration = site.lab.new_folder("cli")?.join("cli.tfrc");
        paths::write(&configuration, &block)?;
        let init = ran(site, &project, &["--", client, "init", "-input=false", "-no-color"]);
        init.variable("TF_CLI_CONFIG_FILE", &configuration).success()?.must_show("successfully initialized")?;
        let locked = project.lock_file()?;
        let of_darwin = locked.matches("\"zh:").count();
        if of_darwin < 2 {
            return Err(ChoreFailure::new(format!("run -- {client} init left too few checksums\n{locked}")));
        }
        let template = site.template();
        let include = format!("{HOST}/*/*");
        let of_client = ["--template", &template, "--include", &include, "--", client];
        let apply = [&of_client[..], &["apply", "-auto-approve", "-input=false", "-no-color"]].concat();
        ran(site, &project, &apply).success()?.must_show(&format!("provider {} runs", VERSIONS[1]))?;
        ran(site, &project, &[&of_client[..], &["no-such-command"]].concat()).refused_with(1)?;
        seen(&format!(
            "run -- {client} init, with the lock file of another machine; apply; the exit code is {client}'s"
        ));
    }
    Ok(())
}

/// A lock file as it is written on a machine of another platform.
fn other_machine(site: &BridgeSite<'_>, project: &TerraformProject<'_>) -> ChoreResult {
    let elsewhere = site.lab.new_folder("elsewhere")?;
    let install = site.program().args(["install", ADDRESS, "--platform", "darwin_arm64", "--from"]);
    install
        .arg(site.repository("acme"))
        .arg("--into")
        .arg(elsewhere)
        .arg("--chdir")
        .arg(project.directory())
        .success()?;
    Ok(())
}

fn ran(site: &BridgeSite<'_>, project: &TerraformProject<'_>, arguments: &[&str]) -> ProgramRun {
    let run = site.program().arg("run").args(arguments).directory(project.directory());
    run.variable("CHECKPOINT_DISABLE", "1")
}
