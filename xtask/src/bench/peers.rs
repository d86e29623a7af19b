//! What people use today, on the same bytes and the same registries.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use super::measure::output;
use super::package::sha256;
use super::stage::BenchStage;
use crate::failure::{ChoreFailure, ChoreResult};

impl BenchStage<'_> {
    pub(super) fn curl_unzip(&self, _round: usize) -> ChoreResult<Vec<Command>> {
        let folder = self.fresh("curl")?;
        let url = format!("https://{}/v2/bench/{}/blobs/{}", self.tls.address(), self.package.provider_type, self.blob);
        let mut curl = Command::new("curl");
        curl.args(["--silent", "--fail", "--http1.1", "--cacert"])
            .arg(&self.ca)
            .arg("-o")
            .arg(folder.join("p.zip"))
            .arg(url);
        let mut unzip = Command::new("unzip");
        unzip.arg("-q").arg(folder.join("p.zip")).arg("-d").arg(folder.join("unpacked"));
        Ok(vec![curl, unzip])
    }

    /// `tofu init` with the lock file that it has written itself.
    pub(super) fn tofu_init_locked(&self, _round: usize) -> ChoreResult<Vec<Command>> {
        let (first, name) = (self.work.join("tofu-first"), ".terraform.lock.hcl");
        if !first.join(name).exists() {
            output(&mut self.tofu_init("tofu-first")?)?;
        }
        let command = self.tofu_init("tofu-locked")?;
        fs::copy(first.join(name), self.work.join("tofu-locked").join(name))?;
        Ok(vec![command])
    }

    /// `tofu init` in a fresh folder of this name.
    pub(super) fn tofu_init(&self, folder: &str) -> ChoreResult<Command> {
        let folder = self.fresh(folder)?;
        let (address, version) = (self.package.address(), &self.package.version);
        let required = format!("x = {{ source = \"{address}\", version = \"{version}\" }}");
        fs::write(
            folder.join("main.tf"),
            format!("terraform {{\n  required_providers {{\n    {required}\n  }}\n}}\n"),
        )?;
        let template = format!("{}/bench/${{type}}", self.tls.address());
        let include = "include = [\"registry.example.test/bench/*\"]";
        fs::write(
            folder.join("rc"),
            format!(
                "provider_installation {{\n  oci_mirror {{\n    repository_template = \"{template}\"\n    {include}\n  }}\n}}\n"
            ),
        )?;
        let mut command = Command::new(self.programs.tofu.as_ref().ok_or_else(|| ChoreFailure::new("no tofu"))?);
        command.arg("init").current_dir(&folder).env("SSL_CERT_FILE", &self.ca);
        command.env("TF_CLI_CONFIG_FILE", folder.join("rc")).env("CHECKPOINT_DISABLE", "1").env("HOME", &folder);
        Ok(command)
    }

    /// What the documentation of `OpenTofu` says: one command after the other, each for a platform, and one for the index.
    pub(super) fn oras(&self, oras: &Path, zips: &[PathBuf], repository: &str) -> Vec<Command> {
        let mut index = Command::new(oras);
        index.args(["manifest", "index", "create", "--plain-http"]);
        index.args(["--artifact-type", "application/vnd.opentofu.provider"]);
        index.arg(format!("{repository}:{}", self.package.version));
        let mut commands = Vec::new();
        for zip in zips {
            let name = zip.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
            let (before, arch) = name.trim_end_matches(".zip").rsplit_once('_').unwrap_or_default();
            let (_, os) = before.rsplit_once('_').unwrap_or_default();
            let platform = format!("{os}_{arch}");
            let mut push = Command::new(oras);
            push.args(["push", "--plain-http", "--artifact-type", "application/vnd.opentofu.provider-target"]);
            push.args(["--artifact-platform", &format!("{os}/{arch}")]);
            push.arg(format!("{repository}:{platform}")).arg(format!("{name}:archive/zip"));
            push.current_dir(zip.parent().unwrap_or(&self.package.all));
            commands.push(push);
            index.arg(platform);
        }
        commands.push(index);
        commands
    }

    /// The release from the registry with TLS to the plain one, with everything that refers to it if the program can.
    pub(super) fn copy_with(&self, copier: &str, program: &Path, repository: &str) -> ChoreResult<Command> {
        let version = &self.package.version;
        let (from, to) = (format!("{}:{version}", self.copied()?), format!("{repository}:{version}"));
        let mut command = Command::new(program);
        match copier {
            "oras" => command.args(["cp", "--recursive", "--to-plain-http"]),
            "regctl" => {
                let plain = format!("reg={},tls=disabled", self.plain.address());
                command.args(["--host", &plain, "image", "copy", "--referrers"])
            }
            _ => command.arg("copy"),
        };
        command.args([from, to]).env("SSL_CERT_FILE", &self.ca).env("HOME", self.work.join("home"));
        Ok(command)
    }

    /// One POST (not timed) and one PUT a file, one after the other: what a careful script does today.
    pub(super) fn curl_put(&self, zips: &[PathBuf], repository: &str) -> ChoreResult<Vec<Command>> {
        let mut commands = Vec::new();
        for zip in zips {
            let location = self.upload(repository)?;
            let digest = sha256(zip)?;
            let mut put = Command::new("curl");
            put.args(["--silent", "--fail", "-X", "PUT", "-H", "Content-Type: application/octet-stream", "-T"]);
            put.arg(zip).arg(format!("{location}&digest={digest}"));
            commands.push(put);
        }
        Ok(commands)
    }

    /// Where a new upload goes.
    pub(super) fn upload(&self, repository: &str) -> ChoreResult<String> {
        let url = format!("http://{}/v2/{repository}/blobs/uploads/", self.plain.address());
        let head = output(Command::new("curl").args(["--silent", "--fail", "-X", "POST", "-D", "-", &url]))?;
        head.lines()
            .find_map(|line| line.split_once(": ").filter(|(name, _)| name.eq_ignore_ascii_case("location")))
            .map(|(_, location)| location.trim().to_owned())
            .ok_or_else(|| ChoreFailure::new("the registry gave no Location"))
    }
}
