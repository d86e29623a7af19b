//! What is mirrored: one large package, and a hundred versions of a small one, from a signed origin on nginx.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use tofu_oci_testkit::Certificates;

use super::package::{BenchPackage, PLATFORMS, sha256, write_zip};
use crate::failure::{ChoreFailure, ChoreResult};
use crate::nginx::Nginx;
use crate::paths;
use crate::process::find;
use crate::signed_origin::SignedOrigin;

/// How many versions the small provider has.
pub(super) const VERSIONS: usize = 100;
const MANY: &str = "registry.example.test/bench/many";

/// Which provider is mirrored.
#[derive(Clone, Copy)]
pub(super) enum Mirrored {
    /// The one with one large package.
    Large,
    /// The one with many versions.
    Many,
}

/// An origin registry, and a CLI configuration that leads to it.
pub(super) struct MirrorBench {
    server: Nginx,
    folder: PathBuf,
    ca: PathBuf,
    large: String,
    large_zip: PathBuf,
    large_digest: String,
}

impl MirrorBench {
    /// Makes both providers and publishes them.
    pub(super) fn make(
        work: &Path,
        package: &BenchPackage,
        certificates: &Certificates,
        ca: &Path,
    ) -> ChoreResult<Self> {
        let folder = work.join("mirror");
        let new_folder = |name: &str| {
            let path = folder.join(name);
            fs::create_dir_all(&path).map(|()| path)
        };
        let server = Nginx::start(&new_folder("nginx")?, &new_folder("served")?, certificates)?;
        let large = package.address();
        let mut origin = SignedOrigin::new(&server, &large, &new_folder("large-key")?)?;
        origin.publish(&package.version, &package.one)?;
        paths::write(&folder.join("cli.tfrc"), origin.host_block())?;
        drop(origin);
        let mut origin = SignedOrigin::new(&server, MANY, &new_folder("many-key")?)?;
        for number in 0..VERSIONS {
            let version = format!("1.{number}.0");
            let dist = new_folder(&format!("many/{version}"))?;
            let program = folder.join("terraform-provider-many");
            paths::write(&program, format!("#!/bin/sh\necho {version}\n"))?;
            write_zip(&[program], &dist.join(format!("terraform-provider-many_{version}_{}.zip", PLATFORMS[0])))?;
            origin.publish(&version, &dist)?;
        }
        drop(origin);
        let (large_zip, large_digest) = (package.zip(), sha256(&package.zip())?);
        Ok(Self { server, folder, ca: ca.to_owned(), large, large_zip, large_digest })
    }

    fn address(&self, mirrored: Mirrored) -> &str {
        match mirrored {
            Mirrored::Large => &self.large,
            Mirrored::Many => MANY,
        }
    }

    /// Makes `command` mirror a provider to repositories below `base`.
    pub(super) fn mirror(&self, mut command: Command, mirrored: Mirrored, base: &str) -> Command {
        command.arg("mirror").arg(self.address(mirrored)).args(["--to", &format!("{base}/${{namespace}}/${{type}}")]);
        command.env("TF_CLI_CONFIG_FILE", self.folder.join("cli.tfrc"));
        command
    }

    /// `terraform providers mirror` of the same provider, which takes its newest version.
    pub(super) fn terraform(&self, mirrored: Mirrored, to: &Path) -> ChoreResult<Command> {
        let project = to.join("project");
        let source = self.address(mirrored);
        let main = format!("terraform {{\n  required_providers {{\n    x = {{ source = \"{source}\" }}\n  }}\n}}\n");
        paths::write(&project.join("main.tf"), main)?;
        let program = find("terraform").ok_or_else(|| ChoreFailure::new("no terraform"))?;
        let mut command = Command::new(program);
        command.args(["providers", "mirror", &format!("-platform={}", PLATFORMS[0])]).arg(to).current_dir(&project);
        command.env("TF_CLI_CONFIG_FILE", self.folder.join("cli.tfrc")).env("SSL_CERT_FILE", &self.ca);
        command.env("CHECKPOINT_DISABLE", "1").env("HOME", &project);
        Ok(command)
    }

    /// The large zip from the origin to an upload of a registry, through a pipe. The digest was computed beforehand.
    pub(super) fn curl_to_curl(&self, upload: &str) -> Command {
        let name = self.large_zip.file_name().unwrap_or_default().to_string_lossy();
        let mut command = Command::new("sh");
        command.args([
            "-c",
            "curl -sSf --http1.1 --cacert \"$1\" \"$2\" | curl -sSf -X PUT -H \"$3\" -T - \"$4\"",
            "sh",
        ]);
        command.arg(&self.ca).arg(format!("{}files/{name}", self.server.url()));
        command.arg("Content-Type: application/octet-stream").arg(format!("{upload}&digest={}", self.large_digest));
        command
    }

    /// The requests to the origin since the last call.
    pub(super) fn take_log(&self) -> ChoreResult<Vec<String>> {
        self.server.take_log()
    }
}
