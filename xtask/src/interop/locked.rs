//! A lock file that must not change: `install --locked` beside real `init -lockfile=readonly`, in the same folders.
//!
//! The cases are those of `testdata/vectors/lockfile_readonly.json`. Each program must end as the table says of it: the
//! other programs as measured, ours as measured or as decided.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use serde_json::Value;
use tofu_oci_testkit::ReleaseFolder;
use tofu_oci_vectors::Vectors;

use super::lab::{Lab, seen, text};
use crate::failure::{ChoreFailure, ChoreResult};
use crate::paths;
use crate::process::{Printed, find};
use crate::registry::Guard;

/// The programs without which the sub-stage cannot run.
pub(super) const NEEDS: &[&str] = &["docker-registry", "terraform"];

const HOST: &str = "registry.example.test";
const LOCK_FILE: &str = ".terraform.lock.hcl";
const PLATFORMS: [&str; 2] = ["darwin_arm64", "linux_amd64"];
const RELEASES: [(&str, &str); 3] = [("widget", "1.0.0"), ("widget", "1.1.0"), ("gadget", "1.0.0")];

/// Another program, and where its packages come from: the beginning of a name in the table, and the CLI configuration.
struct InitClient {
    program: &'static str,
    source: &'static str,
    configuration: String,
}

pub(super) fn run(lab: &Lab) -> ChoreResult {
    let registry = Guard::tls()?;
    let published = Published::new(lab, &registry)?;
    let folder = format!("filesystem_mirror {{\n    path = \"{}\"\n  }}", published.mirror.display());
    let repository = format!(
        "oci_mirror {{\n    repository_template = \"{}/locked/${{type}}\"\n    include = [\"{HOST}/acme/*\"]\n  }}",
        registry.address()
    );
    let client = |program, source, method: &str| InitClient {
        program,
        source,
        configuration: format!("provider_installation {{\n  {method}\n}}\n"),
    };
    let clients = [
        client("terraform", "filesystem_mirror", &folder),
        client("tofu", "filesystem_mirror", &folder),
        client("tofu", "oci_mirror", &repository),
    ];
    let table = Vectors::own("lockfile_readonly.json");
    for client in clients {
        if find(client.program).is_none() {
            println!("   NOT RUN: `{}` is not on the PATH", client.program);
            continue;
        }
        for case in table.cases("cases") {
            published.theirs(&client, case)?;
        }
        let (cases, InitClient { program, source, .. }) = (table.cases("cases").len(), client);
        seen(&format!("{program} with a {source} ends as the table says in each of {cases} cases"));
    }
    for case in table.cases("cases") {
        published.ours(case)?;
    }
    seen(
        "install --lockfile=readonly and install --locked end as the table says, and leave nothing behind by a failure",
    );
    Ok(())
}

/// The releases of the table, in a registry and in a folder.
struct Published<'lab> {
    lab: &'lab Lab,
    registry: &'lab Guard,
    mirror: PathBuf,
    /// By provider, version, scheme and platform.
    checksums: BTreeMap<String, String>,
}

impl<'lab> Published<'lab> {
    fn new(lab: &'lab Lab, registry: &'lab Guard) -> ChoreResult<Self> {
        let (mirror, mut checksums) = (lab.new_folder("mirror")?, BTreeMap::new());
        for (name, version) in RELEASES {
            let (dist, elsewhere) = (lab.new_folder("dist")?, lab.new_folder("elsewhere")?);
            ReleaseFolder::new(name, version, &PLATFORMS).write_zips(&dist);
            let (address, repository) =
                (format!("{HOST}/acme/{name}"), format!("{}/locked/{name}", registry.address()));
            lab.tofu_oci(registry, &["push", &text(&dist), &repository, "--address", &address]).success()?;
            let (chosen, into, dir) = (format!("{address}@{version}"), text(&mirror), text(&elsewhere));
            let mut install = vec!["install", &chosen, "--from", &repository, "--into", &into, "--packed", "--json"];
            install.extend(["--chdir", &dir]);
            install.extend(PLATFORMS.iter().flat_map(|platform| ["--platform", platform]));
            for line in json(&lab.tofu_oci(registry, &install).success()?)? {
                let platform = line["platform"].as_str().unwrap_or_default();
                for hash in line["hashes"].as_array().into_iter().flatten().filter_map(Value::as_str) {
                    let scheme = hash.split(':').next().unwrap_or_default();
                    checksums.insert(format!("{name} {version} {scheme} {platform}"), hash.to_owned());
                }
            }
        }
        Ok(Self { lab, registry, mirror, checksums })
    }

    /// A folder with the configuration and the lock file of a case.
    fn project(&self, case: &Value) -> ChoreResult<PathBuf> {
        let directory = self.lab.new_folder("locked")?;
        let mut blocks = String::new();
        for (name, constraints) in case["required"].as_object().into_iter().flatten() {
            let version = constraints.as_str().map(|text| format!("      version = \"{text}\"\n")).unwrap_or_default();
            blocks += &format!("    {name} = {{\n      source = \"{HOST}/acme/{name}\"\n{version}    }}\n");
        }
        let configuration = format!("terraform {{\n  required_providers {{\n{blocks}  }}\n}}\n");
        paths::write(&directory.join("main.tf"), configuration)?;
        let Some(locked) = case["lock"].as_object() else { return Ok(directory) };
        let mut lock = case["header"].as_str().unwrap_or_default().to_owned();
        lock += "# This file is maintained automatically by \"tofu init\".\n";
        lock += "# Manual edits may be lost in future updates.\n";
        for (name, entry) in locked {
            lock += &self.block(name, entry)?;
        }
        paths::write(&directory.join(LOCK_FILE), lock)?;
        Ok(directory)
    }

    fn block(&self, name: &str, entry: &Value) -> ChoreResult<String> {
        let version = entry["version"].as_str().unwrap_or_default();
        let mut lines = Vec::new();
        for line in entry["lines"].as_array().into_iter().flatten().filter_map(Value::as_str) {
            let known = || self.checksums.get(&format!("{name} {version} {line}")).cloned();
            let hash = match line {
                "wrong-h1" => format!("h1:{}=", "A".repeat(43)),
                "wrong-zh" => format!("zh:{}", "0".repeat(64)),
                "ch" => format!("ch:sha256:{}", "0".repeat(64)),
                _ => known().ok_or_else(|| ChoreFailure::new(format!("no checksum is `{name} {version} {line}`")))?,
            };
            lines.push(format!("    \"{hash}\",\n"));
        }
        lines.sort();
        let hashes = if lines.is_empty() { String::new() } else { format!("  hashes = [\n{}  ]\n", lines.concat()) };
        let constraints = entry["constraints"].as_str().map(|text| format!("  constraints = \"{text}\"\n"));
        let constraints = constraints.unwrap_or_default();
        Ok(format!("\nprovider \"{HOST}/acme/{name}\" {{\n  version = \"{version}\"\n{constraints}{hashes}}}\n"))
    }

    fn theirs(&self, client: &InitClient, case: &Value) -> ChoreResult {
        let directory = self.project(case)?;
        let file = self.lab.new_folder("cli")?.join("cli.tfrc");
        paths::write(&file, &client.configuration)?;
        let init = ["init", "-input=false", "-no-color", "-lockfile=readonly"];
        let run = self.lab.tool(client.program)?.args(init).args(options(case)).directory(&directory);
        let run = run.variable("CHECKPOINT_DISABLE", "1").variable("TF_CLI_CONFIG_FILE", &file);
        let run = match self.registry.ca_file() {
            Some(authority) => run.variable("SSL_CERT_FILE", authority),
            None => run,
        };
        let before = lock_file(&directory);
        let printed = run.output()?;
        let family = if client.program == "tofu" { "OpenTofu" } else { "Terraform" };
        let differs = case["differs"].as_object().into_iter().flatten();
        let mut differs = differs.filter(|(name, _)| name.starts_with(family) && name.ends_with(client.source));
        let wanted = differs.next().map_or(&case["measured"], |(_, verdict)| verdict);
        expect(case, wanted, verdict_of_init(&printed), &printed)?;
        unchanged(before.as_deref(), &directory, &printed)
    }

    fn ours(&self, case: &Value) -> ChoreResult {
        for option in ["--lockfile=readonly", "--locked"] {
            let directory = self.project(case)?;
            let before = lock_file(&directory);
            let from = format!("{}/locked/${{type}}", self.registry.address());
            let dir = text(&directory);
            let install = ["install", option, "--json", "--platform", "linux_amd64", "--from", &from, "--chdir", &dir];
            let options: Vec<String> = options(case).iter().map(|option| format!("-{option}")).collect();
            let printed = self.lab.tofu_oci(self.registry, &install).args(&options).output()?;
            let wanted = case.get("ours").unwrap_or(&case["measured"]);
            expect(case, wanted, verdict_of_install(&printed)?, &printed)?;
            unchanged(before.as_deref(), &directory, &printed)?;
            if printed.code != Some(0) && directory.join(".terraform").exists() {
                return Err(printed.failure("it failed, and left something behind"));
            }
        }
        Ok(())
    }
}

fn options(case: &Value) -> Vec<&str> {
    case["options"].as_array().into_iter().flatten().filter_map(Value::as_str).collect()
}

fn lock_file(directory: &Path) -> Option<String> {
    fs::read_to_string(directory.join(LOCK_FILE)).ok()
}

fn unchanged(before: Option<&str>, directory: &Path, printed: &Printed) -> ChoreResult {
    if before == lock_file(directory).as_deref() { Ok(()) } else { Err(printed.failure("the lock file was changed")) }
}

fn expect(case: &Value, wanted: &Value, verdict: &str, printed: &Printed) -> ChoreResult {
    if wanted == verdict {
        return Ok(());
    }
    Err(printed.failure(&format!("{}: the table says {wanted}, and it came to {verdict}", case["name"])))
}

/// The word of the table for what `init -lockfile=readonly` did.
fn verdict_of_init(printed: &Printed) -> &'static str {
    let said = printed.all();
    let says = |text: &str| said.contains(text);
    match printed.code {
        Some(0) if says("Provider lock file not updated") => "warns",
        Some(0) => "installs",
        _ if says("-upgrade flag conflicts") => "upgrade",
        _ if says("Provider dependency changes detected") => "providers-differ",
        _ if says("Failed to install provider") => "not-the-package",
        _ if says("Failed to resolve provider packages") || says("Failed to query available provider packages") => {
            "version"
        }
        _ => "unknown",
    }
}

/// The word of the table for what `install --locked` did.
fn verdict_of_install(printed: &Printed) -> ChoreResult<&'static str> {
    let lines = json(printed)?;
    let has = |code: &str| lines.iter().any(|line| line["code"] == code);
    Ok(match printed.code {
        Some(0) if has("lock-not-updated") => "warns",
        Some(0) => "installs",
        Some(1) if has("lock-outdated") => "providers-differ",
        Some(1) if has("lock-mismatch") => "not-the-package",
        Some(1) if has("locked-version-conflict") || has("locked-version-gone") => "version",
        Some(2) if printed.stderr.contains("cannot be used with") => "upgrade",
        Some(2) if printed.stderr.contains("requires no providers") => "usage",
        _ => "unknown",
    })
}

fn json(printed: &Printed) -> ChoreResult<Vec<Value>> {
    printed
        .stdout
        .lines()
        .map(|line| serde_json::from_str(line).map_err(|error| printed.failure(&error.to_string())))
        .collect()
}
