//! What `lock` writes is what real `terraform providers lock` (and `tofu`'s) writes for the same packages, and both
//! install by it.

use std::fs;
use std::path::{Path, PathBuf};

use super::lab::{LAYOUTS, Lab, seen, text};
use super::registries::ADDRESS;
use crate::failure::{ChoreFailure, ChoreResult};
use crate::paths;
use crate::process::{ProgramRun, find};
use crate::registry::Guard;

/// The programs without which the sub-stage cannot run.
pub(super) const NEEDS: &[&str] = &["docker-registry", "openssl", "terraform"];

/// The platforms of `testdata/dist`.
const PLATFORMS: [&str; 4] = ["darwin_arm64", "linux_amd64", "linux_arm64", "windows_amd64"];

const LOCK_FILE: &str = ".terraform.lock.hcl";

pub(super) fn run(lab: &Lab) -> ChoreResult {
    let registry = Guard::plain()?;
    let key = LockKey::new(lab)?;
    for layout in LAYOUTS {
        let repository = format!("{}/{layout}/lock", registry.address());
        let dist = text(&paths::testdata().join("dist"));
        let push = ["push", &dist, &repository, "--address", ADDRESS, "--layout", layout, "--sign-key"];
        lab.tofu_oci(&registry, &push).arg(&key.private).success()?;
        for client in ["terraform", "tofu"] {
            if find(client).is_none() {
                println!("   NOT RUN: `{client}` is not on the PATH");
                continue;
            }
            for signed in [Some(&key), None] {
                let case = LockCase { lab, registry: &registry, repository: &repository, client };
                case.agree(signed)?;
            }
            seen(&format!("{layout}: {client} providers lock changes nothing, and init -lockfile=readonly installs"));
        }
    }
    Ok(())
}

/// A key that the releases are signed by.
pub(super) struct LockKey {
    pub(super) private: PathBuf,
    pub(super) policy: String,
}

impl LockKey {
    pub(super) fn new(lab: &Lab) -> ChoreResult<Self> {
        let folder = lab.new_folder("keys")?;
        let (private, public) = (folder.join("key.pem"), folder.join("key.pub"));
        let make = ["genpkey", "-algorithm", "EC", "-pkeyopt", "ec_paramgen_curve:P-256", "-out"];
        lab.tool("openssl")?.args(make).arg(&private).success()?;
        lab.tool("openssl")?.args(["pkey", "-pubout", "-in"]).arg(&private).arg("-out").arg(&public).success()?;
        let policy = format!(
            "[[key]]\nname = \"release\"\nfile = \"{}\"\n\n[[rule]]\nproviders = [\"*/*/*\"]\nkeys = [\"release\"]\n",
            public.display()
        );
        Ok(Self { private, policy })
    }
}

/// One release, one program that installs it.
struct LockCase<'a> {
    lab: &'a Lab,
    registry: &'a Guard,
    repository: &'a str,
    client: &'static str,
}

impl LockCase<'_> {
    fn agree(&self, signed: Option<&LockKey>) -> ChoreResult {
        let (ours, theirs) = (self.project()?, self.project()?);
        if let Some(key) = signed {
            paths::write(&ours.join("trust.toml"), &key.policy)?;
        }
        let ours_dir = text(&ours);
        let lock = ["lock", "--from", self.repository, "--chdir", &ours_dir];
        let said = self.lab.tofu_oci(self.registry, &lock).success()?;
        said.must_show(if signed.is_some() { "signed by release" } else { "downloaded and verified" })?;
        self.lab.tofu_oci(self.registry, &[&lock[..], &["--check"]].concat()).success()?;

        // From a folder of the same packages the other program learns the h1 of each platform, and only that.
        let mirror = self.mirror()?;
        self.providers_lock(&theirs, &mirror)?;
        let written = read(&theirs)?;
        let same = without(&read(&ours)?, &["\"zh:", "\"ch:"]);
        if same != without(&written, &["\"zh:"]) {
            return Err(ChoreFailure::new(format!(
                "{} writes\n{written}\nand we write\n{}",
                self.client,
                read(&ours)?
            )));
        }

        // What we wrote is complete: there is nothing that the other program would add, order or write otherwise.
        let before = read(&ours)?;
        self.providers_lock(&ours, &mirror)?;
        let after = read(&ours)?;
        if before != after {
            return Err(ChoreFailure::new(format!("{} changes\n{before}\nto\n{after}", self.client)));
        }
        paths::copy_folder(&mirror, &ours.join("terraform.d/plugins"))?;
        self.run(&ours, &["init", "-input=false", "-no-color", "-lockfile=readonly"])?.success()?;
        Ok(())
    }

    /// A directory with a configuration, and a lock file that says which program maintains it.
    fn project(&self) -> ChoreResult<PathBuf> {
        let directory = self.lab.new_folder("lock")?;
        let configuration = format!(
            "terraform {{\n  required_providers {{\n    widget = {{\n      source  = \"{ADDRESS}\"\n      version = \"~> 1.0\"\n    }}\n  }}\n}}\n"
        );
        paths::write(&directory.join("main.tf"), configuration)?;
        let header = format!(
            "# This file is maintained automatically by \"{} init\".\n# Manual edits may be lost in future updates.\n",
            self.client
        );
        paths::write(&directory.join(LOCK_FILE), header)?;
        paths::write(&directory.join("cli.tfrc"), "")?;
        Ok(directory)
    }

    /// The packages of all platforms as folders.
    fn mirror(&self) -> ChoreResult<PathBuf> {
        let (mirror, elsewhere) = (self.lab.new_folder("mirror")?, self.lab.new_folder("elsewhere")?);
        let (into, dir) = (text(&mirror), text(&elsewhere));
        let mut arguments = vec!["install", ADDRESS, "--from", self.repository, "--into", &into, "--chdir", &dir];
        arguments.extend(PLATFORMS.iter().flat_map(|platform| ["--platform", platform]));
        self.lab.tofu_oci(self.registry, &arguments).success()?;
        Ok(mirror)
    }

    fn providers_lock(&self, directory: &Path, mirror: &Path) -> ChoreResult {
        let mirror = format!("-fs-mirror={}", mirror.display());
        let platforms = PLATFORMS.map(|platform| format!("-platform={platform}"));
        let mut arguments = vec!["providers", "lock", &mirror];
        arguments.extend(platforms.iter().map(String::as_str));
        self.run(directory, &arguments)?.success()?;
        Ok(())
    }

    fn run(&self, directory: &Path, arguments: &[&str]) -> ChoreResult<ProgramRun> {
        let run = self.lab.tool(self.client)?.args(arguments).directory(directory);
        let run = run.variable("CHECKPOINT_DISABLE", "1");
        Ok(run.variable("TF_CLI_CONFIG_FILE", directory.join("cli.tfrc")))
    }
}

fn read(directory: &Path) -> ChoreResult<String> {
    Ok(fs::read_to_string(directory.join(LOCK_FILE))?)
}

/// The text without the lines that hold one of these.
fn without(text: &str, parts: &[&str]) -> String {
    let kept = text.lines().filter(|line| !parts.iter().any(|part| line.contains(part)));
    kept.map(|line| format!("{line}\n")).collect()
}
