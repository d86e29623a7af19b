//! A module in a registry with a private CA.

use std::path::{Path, PathBuf};

use serde_json::Value;

use super::super::lab::{Lab, text};
use crate::failure::{ChoreFailure, ChoreResult};
use crate::paths;
use crate::process::{Printed, ProgramRun};
use crate::registry::Guard;

/// What its versions print.
const OUTPUT: &str = "output \"version\" {\n  value = \"VERSION\"\n}\n";

/// A repository for versions of a module.
pub(super) struct PublishedModule<'a> {
    pub(super) lab: &'a Lab,
    pub(super) registry: &'a Guard,
    /// `HOST:PORT/acme/NAME`.
    pub(super) repository: String,
}

impl<'a> PublishedModule<'a> {
    pub(super) fn new(lab: &'a Lab, registry: &'a Guard, name: &str) -> Self {
        Self { lab, registry, repository: format!("{}/acme/{name}", registry.address()) }
    }

    /// Publishes a version whose root calls a folder of the package; the digest of its manifest.
    pub(super) fn push(&self, version: &str, options: &[&str]) -> ChoreResult<String> {
        let folder = self.lab.new_folder("module")?;
        let output = OUTPUT.replace("VERSION", version);
        paths::write(
            &folder.join("main.tf"),
            format!("module \"vpc\" {{\n  source = \"./modules/vpc\"\n}}\n\n{output}"),
        )?;
        paths::write(&folder.join("modules/vpc/main.tf"), &output)?;
        let push = ["module", "push", &text(&folder), &self.repository, "--version", version, "--json"];
        let pushed = self.ours(&[&push, options].concat()).success()?;
        let lines = pushed.stdout.lines().filter_map(|line| serde_json::from_str::<Value>(line).ok());
        let manifest = lines.filter_map(|line| line["manifest"].as_str().map(str::to_owned)).next_back();
        manifest.ok_or_else(|| pushed.failure("no line names the manifest"))
    }

    /// The release, as an argument.
    pub(super) fn release(&self, version: &str) -> String {
        format!("{}:{version}", self.repository)
    }

    /// Our program.
    pub(super) fn ours(&self, arguments: &[&str]) -> ProgramRun {
        self.lab.tofu_oci(self.registry, arguments)
    }

    /// `module pull` of a source into a new folder.
    pub(super) fn pull(&self, source: &str) -> ChoreResult<(PathBuf, Printed)> {
        let folder = self.lab.new_folder("pulled")?.join("module");
        let printed = self.ours(&["module", "pull", source, &text(&folder)]).success()?;
        Ok((folder, printed))
    }

    /// Another program, which trusts the registry's CA by the variables of Go.
    pub(super) fn trusting(&self, program: &str) -> ChoreResult<ProgramRun> {
        let authority = self.authority()?;
        let run = self.lab.tool(program)?;
        Ok(run.variable("SSL_CERT_FILE", authority).variable("SSL_CERT_DIR", "/nonexistent"))
    }

    pub(super) fn authority(&self) -> ChoreResult<&Path> {
        self.registry.ca_file().ok_or_else(|| ChoreFailure::new("the registry speaks no TLS"))
    }
}

/// A file of the pair of keys `p256`.
pub(super) fn key(ending: &str) -> String {
    text(&paths::testdata().join("trust/cosign/test-keys").join(format!("p256.{ending}")))
}
