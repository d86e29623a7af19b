//! `withdraw`, `deprecate` and the way back against registry:2, with and without deletes: what real `tofu` and real
//! `terraform` choose before and afterwards.

use std::fs;
use std::path::{Path, PathBuf};

use super::lab::{Lab, seen, text};
use super::registries::ADDRESS;
use crate::failure::{ChoreFailure, ChoreResult};
use crate::paths;
use crate::process::{Printed, find};
use crate::registry::Guard;

/// The programs without which the sub-stage cannot run.
pub(super) const NEEDS: &[&str] = &["docker-registry", "terraform"];

const REASON: &str = "it deletes state";
const LOCK_FILE: &str = ".terraform.lock.hcl";

pub(super) fn run(lab: &Lab) -> ChoreResult {
    kept(lab)?;
    with_tokens(lab)?;
    let registry = Guard::deletable_over_tls()?;
    let published = PublishedVersions::new(lab, &registry)?;
    for client in ["terraform", "tofu"] {
        if find(client).is_none() {
            println!("   NOT RUN: `{client}` is not on the PATH");
            continue;
        }
        published.change(&["withdraw", "--undo"])?;
        published.must_choose(client, "1.1.0")?;
        let locked = published.project(client)?;
        published.install(client, &locked)?;
        published.change(&["withdraw", "--reason", REASON])?;
        published.must_choose(client, "1.0.0")?;
        published.must_say_why(&locked)?;
        published.change(&["withdraw", "--undo"])?;
        published.must_choose(client, "1.1.0")?;
        published.change(&["deprecate", "--message", "use 2.0.0"])?;
        published.must_choose(client, "1.1.0")?;
        published.change(&["deprecate", "--undo"])?;
        seen(&format!(
            "{client} chooses a withdrawn version no longer, and again when it is back; a deprecated one all along"
        ));
    }
    Ok(())
}

/// registry:2 as it is by default: nothing goes, and nothing is changed.
fn kept(lab: &Lab) -> ChoreResult {
    let registry = Guard::plain()?;
    let published = PublishedVersions::new(lab, &registry)?;
    let before = published.tags()?;
    let withdrawn = lab.tofu_oci(&registry, &["withdraw", &published.release, "--reason", REASON]);
    withdrawn.refused_with(1)?.must_show("does not let the tag 1.1.0 be deleted: it answered 405")?;
    let after = published.tags()?;
    if before != after {
        return Err(ChoreFailure::new(format!("a refused withdrawal changed the tags\n{before}\n{after}")));
    }
    seen("registry:2 without deletion: withdraw says so, and changes nothing");
    Ok(())
}

/// A token server that knows the right to delete.
fn with_tokens(lab: &Lab) -> ChoreResult {
    let registry = Guard::deletable_with_tokens()?;
    let published = PublishedVersions::new(lab, &registry)?;
    published.change(&["withdraw", "--reason", REASON])?;
    let tags = published.tags()?;
    if tags.contains("1.1.0") {
        return Err(ChoreFailure::new(format!("the version is there all the same\n{tags}")));
    }
    published.change(&["withdraw", "--undo"])?;
    seen("registry:2 with deletion and a token server: withdraw has the right that it needs");
    Ok(())
}

/// widget 1.0.0 and 1.1.0 in a registry.
struct PublishedVersions<'a> {
    lab: &'a Lab,
    registry: &'a Guard,
    repository: String,
    /// 1.1.0, as an argument.
    release: String,
}

impl<'a> PublishedVersions<'a> {
    fn new(lab: &'a Lab, registry: &'a Guard) -> ChoreResult<Self> {
        let repository = format!("{}/mirror/acme/widget", registry.address());
        for dist in ["dist", "dist-next"] {
            let dist = text(&paths::testdata().join(dist));
            lab.tofu_oci(registry, &["push", &dist, &repository, "--address", ADDRESS, "--sums", "skip"]).success()?;
        }
        let release = format!("{repository}:1.1.0");
        Ok(Self { lab, registry, repository, release })
    }

    /// Changes the state of 1.1.0. The verb comes first.
    fn change(&self, arguments: &[&str]) -> ChoreResult<Printed> {
        let (verb, options) = (arguments[0], &arguments[1..]);
        self.lab.tofu_oci(self.registry, &[&[verb, &self.release], options].concat()).success()
    }

    fn tags(&self) -> ChoreResult<String> {
        Ok(self.lab.tofu_oci(self.registry, &["versions", &self.repository, "--quiet"]).success()?.all())
    }

    /// A new project installs this version: terraform from the folder that `install --vendor` fills, tofu through an
    /// `oci_mirror` block.
    fn must_choose(&self, client: &'static str, version: &str) -> ChoreResult {
        let project = self.project(client)?;
        self.install(client, &project)?;
        let locked = fs::read_to_string(project.join(LOCK_FILE))?;
        if locked.contains(&format!("\"{version}\"")) {
            return Ok(());
        }
        Err(ChoreFailure::new(format!("{client} did not choose {version}\n{locked}")))
    }

    fn install(&self, client: &'static str, project: &Path) -> ChoreResult {
        if client == "terraform" {
            let directory = text(project);
            let install = ["install", ADDRESS, "--from", &self.repository, "--chdir", &directory, "--vendor"];
            self.lab.tofu_oci(self.registry, &install).success()?;
        }
        let authority = self.registry.ca_file().ok_or_else(|| ChoreFailure::new("the registry speaks no TLS"))?;
        let run = self.lab.tool(client)?.args(["init", "-input=false", "-no-color"]).directory(project);
        let run = run.variable("CHECKPOINT_DISABLE", "1").variable("TF_CLI_CONFIG_FILE", project.join("cli.tfrc"));
        run.variable("SSL_CERT_FILE", authority).variable("SSL_CERT_DIR", "/nonexistent").success()?;
        Ok(())
    }

    /// A directory whose configuration requires the provider.
    fn project(&self, client: &str) -> ChoreResult<PathBuf> {
        let directory = self.lab.new_folder("project")?;
        let configuration = format!(
            "terraform {{\n  required_providers {{\n    widget = {{\n      source  = \"{ADDRESS}\"\n      version = \"~> 1.0\"\n    }}\n  }}\n}}\n"
        );
        paths::write(&directory.join("main.tf"), configuration)?;
        let template = format!("{}/mirror/${{namespace}}/${{type}}", self.registry.address());
        let block = format!(
            "provider_installation {{\n  oci_mirror {{\n    repository_template = \"{template}\"\n    include = [\"registry.example.test/*/*\"]\n  }}\n}}\n"
        );
        paths::write(&directory.join("cli.tfrc"), if client == "tofu" { &block } else { "" })?;
        Ok(directory)
    }

    /// Somebody who has the version locked, and not on disk, reads why it is gone.
    fn must_say_why(&self, project: &Path) -> ChoreResult {
        for folder in [".terraform", "terraform.d"] {
            fs::remove_dir_all(project.join(folder)).ok();
        }
        let directory = text(project);
        let install = ["install", ADDRESS, "--from", &self.repository, "--chdir", &directory];
        self.lab.tofu_oci(self.registry, &install).refused_with(1)?.must_show(REASON)?;
        Ok(())
    }
}
