//! `verify` and `install` by a rule with an identity connect to nothing, out of a bundle and out of a layout.

use std::fs;
use std::path::Path;
use std::time::SystemTime;

use serde_json::{Value, json};
use tofu_oci_testkit::{BuiltBy, LocalSigstore, Witness};

use super::lab::{Lab, seen, text};
use super::registries::ADDRESS;
use crate::failure::{ChoreFailure, ChoreResult, Doing};
use crate::paths;
use crate::process::Printed;

/// The programs without which nothing of this can be shown.
pub(super) const NEEDS: &[&str] = &["strace"];

const POLICY: &str = r#"[[identity]]
name = "acme"
repository = "github.com/acme/widget"
workflow = ".github/workflows/release.yml"
ref = "refs/tags/v{version}"
root = "root.json"

[[rule]]
providers = ["ADDRESS"]
keys = ["acme"]
"#;

pub(super) fn run(lab: &Lab) -> ChoreResult {
    let folder = lab.new_folder("offline")?;
    published(lab, &folder)?;
    let wanted = format!("{ADDRESS}@1.0.0");
    for place in ["oci:layout", "bundle:release.tar"] {
        for arguments in [&["verify"][..], &["install", "--platform", "linux_amd64"]] {
            let arguments = [arguments, &[&wanted, "--from", place, "--json"]].concat();
            let project = lab.new_folder("project")?;
            for name in ["root.json", "trust.toml", "release.tar"] {
                fs::copy(folder.join(name), project.join(name))?;
            }
            std::os::unix::fs::symlink(folder.join("layout"), project.join("layout"))?;
            let (printed, said) = traced(lab, &project, &arguments)?;
            if printed.code != Some(0) {
                return Err(printed.failure("a command failed"));
            }
            let printed = printed.must_show("\"name\":\"acme\"")?;
            if !said.is_empty() {
                return Err(printed.failure(&format!("it connects\n{said}")));
            }
        }
        seen(&format!("verify and install from {place} make no connection"));
    }
    // What looks for connections finds them.
    let elsewhere = ["versions", "127.0.0.1:9/acme/widget", "--attempts", "1"];
    if traced(lab, &lab.new_folder("project")?, &elsewhere)?.1.is_empty() {
        return Err(ChoreFailure::new("strace shows no connection of a verb that makes one"));
    }
    Ok(())
}

/// A release in `layout` and in `release.tar`, with provenance by a workflow, and the policy that demands it.
fn published(lab: &Lab, folder: &Path) -> ChoreResult {
    let dist = text(&paths::testdata().join("dist"));
    let run = |arguments: &[&str]| lab.stranger(arguments).directory(folder).success();
    let packed = run(&["pack", &dist, "oci:layout", "--address", ADDRESS, "--sums", "skip", "--json"])?;
    let lines = packed.stdout.lines().filter_map(|line| serde_json::from_str::<Value>(line).ok());
    let index = lines.filter_map(|line| line["index"].as_str().map(str::to_owned)).next_back();
    let index = index.ok_or_else(|| packed.failure("no line names the index"))?;
    let sigstore = LocalSigstore::witnessed(Witness::LogAndClock, SystemTime::now());
    let subject = json!({ "name": "widget", "digest": { "sha256": index.trim_start_matches("sha256:") } });
    let by = BuiltBy { reference: "refs/tags/v1.0.0", ..BuiltBy::RELEASE };
    paths::write(&folder.join("bundle.json"), sigstore.attest(&by, "https://slsa.dev/provenance/v1", &[subject]))?;
    paths::write(&folder.join("root.json"), sigstore.root())?;
    paths::write(&folder.join("trust.toml"), POLICY.replace("ADDRESS", ADDRESS))?;
    run(&["attach", "bundle.json", "oci:layout:1.0.0"])?;
    run(&["bundle", "create", "release.tar", ADDRESS, "--from", "oci:layout"])?;
    Ok(())
}

/// How a command ended, and the lines of strace about addresses of the internet.
fn traced(lab: &Lab, project: &Path, arguments: &[&str]) -> ChoreResult<(Printed, String)> {
    let log = project.join("strace");
    let calls = "trace=connect,sendto,sendmsg,sendmmsg";
    let run = lab.tool("strace")?.args(["-f", "-qq", "-e", calls, "-o"]).arg(&log).arg(lab.program());
    let printed = run.args(arguments).directory(project).output()?;
    let said = fs::read_to_string(&log).doing(|| format!("reading {}", log.display()))?;
    let inet: Vec<&str> = said.lines().filter(|line| line.contains("sa_family=AF_INET")).collect();
    Ok((printed, inet.join("\n")))
}
