//! A working directory in which real `terraform` or `tofu` runs the provider.

use std::fs;
use std::path::{Path, PathBuf};

use super::lab::{Lab, text};
use crate::failure::{ChoreFailure, ChoreResult};
use crate::paths;
use crate::process::{Printed, ProgramRun};

/// The address of `testdata/provider`.
pub(super) const ADDRESS: &str = "registry.example.test/acme/demo";

const CONFIGURATION: &str = r#"terraform {
  required_providers {
    demo = {
      source  = "registry.example.test/acme/demo"
      version = ">= 1.0.0"
    }
  }
}

data "demo_version" "this" {}

output "says" {
  value = "provider ${data.demo_version.this.version} runs"
}
"#;

/// A directory with a configuration that requires the provider and shows what it says.
pub(super) struct TerraformProject<'lab> {
    lab: &'lab Lab,
    client: &'static str,
    directory: PathBuf,
    variables: Vec<(&'static str, String)>,
}

impl<'lab> TerraformProject<'lab> {
    /// A new project for `client` (`terraform` or `tofu`), without any CLI configuration.
    pub(super) fn new(lab: &'lab Lab, client: &'static str) -> ChoreResult<Self> {
        let directory = lab.new_folder(client)?;
        paths::write(&directory.join("main.tf"), CONFIGURATION)?;
        // An empty file, because an absent variable would let a file in a home folder speak.
        let project = Self { lab, client, directory, variables: Vec::new() };
        project.with_cli_configuration("")
    }

    /// The same for the provider of another address.
    pub(super) fn with_provider(self, address: &str) -> ChoreResult<Self> {
        paths::write(&self.directory.join("main.tf"), CONFIGURATION.replace(ADDRESS, address))?;
        Ok(self)
    }

    /// The same with this CLI configuration.
    pub(super) fn with_cli_configuration(mut self, content: &str) -> ChoreResult<Self> {
        let file = self.lab.new_folder("cli")?.join("cli.tfrc");
        paths::write(&file, content)?;
        self.variables.retain(|(name, _)| *name != "TF_CLI_CONFIG_FILE");
        self.variables.push(("TF_CLI_CONFIG_FILE", text(&file)));
        Ok(self)
    }

    /// The same with the certificates in `file` trusted, and no others.
    pub(super) fn with_certificates(mut self, file: &Path) -> Self {
        self.variables.push(("SSL_CERT_FILE", text(file)));
        self.variables.push(("SSL_CERT_DIR", "/nonexistent".to_owned()));
        self
    }

    /// The working directory.
    pub(super) fn directory(&self) -> &Path {
        &self.directory
    }

    /// `init`, and `apply` whose output must show the version.
    pub(super) fn must_run(&self, version: &str) -> ChoreResult {
        self.init()?.success()?;
        self.client(&["apply", "-auto-approve", "-input=false", "-no-color"])?
            .success()?
            .must_show(&format!("provider {version} runs"))?;
        Ok(())
    }

    /// `init`, ready to run.
    pub(super) fn init(&self) -> ChoreResult<ProgramRun> {
        self.client(&["init", "-input=false", "-no-color"])
    }

    /// The text of its lock file.
    pub(super) fn lock_file(&self) -> ChoreResult<String> {
        Ok(fs::read_to_string(self.directory.join(".terraform.lock.hcl"))?)
    }

    /// With one byte of the executable changed, neither `apply` nor a fresh `init` may go through.
    pub(super) fn must_refuse_changed(&self, executable: &Path) -> ChoreResult {
        flip_a_byte(executable)?;
        // `.terraform` links to the installed folder or holds a copy of it; a fresh copy must be refused too.
        let apply = self.client(&["apply", "-auto-approve", "-input=false", "-no-color"])?.output()?;
        let links = self.executable_below(".terraform/providers").is_ok_and(|linked| same_file(&linked, executable));
        if links && apply.code == Some(0) {
            return Err(apply.failure("a changed package was run"));
        }
        fs::remove_dir_all(self.directory.join(".terraform"))?;
        let init: Printed = self.init()?.refused()?;
        init.must_show("checksum")?;
        Ok(())
    }

    /// The executable of the provider below a folder of the project.
    pub(super) fn executable_below(&self, folder: &str) -> ChoreResult<PathBuf> {
        find_executable(&self.directory.join(folder))
    }

    /// The client with these arguments in the directory.
    pub(super) fn client(&self, arguments: &[&str]) -> ChoreResult<ProgramRun> {
        let mut run = self.lab.tool(self.client)?.args(arguments).directory(&self.directory);
        run = run.variable("CHECKPOINT_DISABLE", "1");
        for (name, value) in &self.variables {
            run = run.variable(name, value);
        }
        Ok(run)
    }
}

/// The newest executable of the provider anywhere below `folder` (links are followed).
pub(super) fn find_executable(folder: &Path) -> ChoreResult<PathBuf> {
    let mut found = Vec::new();
    let mut open = vec![folder.to_path_buf()];
    while let Some(here) = open.pop() {
        for entry in fs::read_dir(&here)? {
            let path = entry?.path();
            if path.is_dir() {
                open.push(path);
            } else if path.file_name().is_some_and(|name| name.to_string_lossy().starts_with("terraform-provider-demo"))
            {
                found.push(path);
            }
        }
    }
    found.sort();
    found.pop().ok_or_else(|| ChoreFailure::new(format!("no executable of the provider below {}", folder.display())))
}

fn same_file(one: &Path, other: &Path) -> bool {
    matches!((fs::canonicalize(one), fs::canonicalize(other)), (Ok(one), Ok(other)) if one == other)
}

fn flip_a_byte(file: &Path) -> ChoreResult {
    let mut bytes = fs::read(file)?;
    let middle = bytes.len() / 2;
    bytes[middle] ^= 1;
    Ok(fs::write(file, bytes)?)
}
