//! Somebody with a home folder, a CLI configuration and projects of their own.

use std::path::PathBuf;

use crate::failure::{ChoreFailure, ChoreResult};
use crate::interop::lab::{Lab, text};
use crate::paths;
use crate::process::ProgramRun;
use crate::registry::Guard;

/// Who runs the programs. No file and no variable of anybody else plays a part.
pub(super) struct MappingUser<'lab> {
    lab: &'lab Lab,
    registry: &'lab Guard,
    home: PathBuf,
    variables: Vec<(&'static str, String)>,
    arguments: Vec<&'static str>,
}

impl<'lab> MappingUser<'lab> {
    /// Somebody with an empty home folder.
    pub(super) fn new(lab: &'lab Lab, registry: &'lab Guard) -> ChoreResult<Self> {
        let home = lab.new_folder("user")?;
        Ok(Self { lab, registry, home, variables: Vec::new(), arguments: Vec::new() })
    }

    /// The same with this CLI configuration, named by `TF_CLI_CONFIG_FILE`.
    pub(super) fn with_cli_configuration(self, content: &str) -> ChoreResult<Self> {
        let file = self.lab.new_folder("cli")?.join("cli.tfrc");
        paths::write(&file, content)?;
        Ok(self.with_variable("TF_CLI_CONFIG_FILE", &text(&file)))
    }

    /// The same with this file in the home folder.
    pub(super) fn with_home_file(self, name: &str, content: &str) -> ChoreResult<Self> {
        paths::write(&self.home.join(name), content)?;
        Ok(self)
    }

    /// The same with this variable.
    pub(super) fn with_variable(mut self, name: &'static str, value: &str) -> Self {
        self.variables.push((name, value.to_owned()));
        self
    }

    /// The same with this argument for every run of `tofu-oci`.
    pub(super) fn with_argument(mut self, argument: &'static str) -> Self {
        self.arguments.push(argument);
        self
    }

    /// The lab it all happens in.
    pub(super) fn lab(&self) -> &'lab Lab {
        self.lab
    }

    /// A new directory whose configuration requires the provider.
    pub(super) fn project(&self, address: &str) -> ChoreResult<PathBuf> {
        let folder = self.lab.new_folder("project")?;
        let configuration = format!(
            "terraform {{\n  required_providers {{\n    widget = {{\n      source  = \"{address}\"\n      \
             version = \"~> 1.0\"\n    }}\n  }}\n}}\n"
        );
        paths::write(&folder.join("main.tf"), configuration)?;
        Ok(folder)
    }

    /// `tofu-oci` with the settings to reach the registry.
    pub(super) fn run(&self, arguments: &[&str]) -> ProgramRun {
        self.own(self.lab.tofu_oci(self.registry, arguments).args(&self.arguments))
    }

    /// `tofu-oci config check --json`, which reaches nothing.
    pub(super) fn check(&self) -> ProgramRun {
        self.own(self.lab.stranger(&["config", "check", "--json"]))
    }

    /// `tofu`, trusting the same authority.
    pub(super) fn tofu(&self, arguments: &[&str]) -> ChoreResult<ProgramRun> {
        let authority = self.registry.ca_file().ok_or_else(|| ChoreFailure::new("the registry speaks no TLS"))?;
        let run = self.lab.tool("tofu")?.args(arguments).variable("CHECKPOINT_DISABLE", "1");
        let run = run.variable("SSL_CERT_FILE", authority).variable("SSL_CERT_DIR", "/nonexistent");
        Ok(self.own(run))
    }

    fn own(&self, run: ProgramRun) -> ProgramRun {
        let run = run.variable("HOME", &self.home);
        self.variables.iter().fold(run, |run, (name, value)| run.variable(name, value))
    }
}
