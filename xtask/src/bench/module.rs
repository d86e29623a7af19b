//! A module of 50 MB, published and fetched by us, by `oras`, and by hand.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use super::measure::output;
use super::package::make;
use crate::failure::{ChoreFailure, ChoreResult};

/// The size of the module in MB.
const SIZE: u64 = 50;
/// Bytes of each of its files.
const EACH: usize = 250_000;

/// A module on disk and in a registry.
pub(super) struct ModuleBench {
    folder: PathBuf,
    registry: String,
    /// The digest of the zip in the registry.
    zip: String,
}

impl ModuleBench {
    /// Makes the module and publishes it with `push`.
    pub(super) fn make(work: &Path, registry: &str, tofu_oci: impl Fn() -> Command) -> ChoreResult<Self> {
        let folder = work.join("module");
        fs::create_dir_all(folder.join("files"))?;
        fs::write(folder.join("main.tf"), "output \"id\" {\n  value = 1\n}\n")?;
        let whole = make(SIZE, work)?;
        for (number, bytes) in fs::read(&whole)?.chunks(EACH).enumerate() {
            fs::write(folder.join(format!("files/{number}.bin")), bytes)?;
        }
        fs::remove_file(&whole)?;
        let bench = Self { folder, registry: registry.to_owned(), zip: String::new() };
        let report = output(&mut bench.push(tofu_oci(), "modules/pulled"))?;
        let zip = report.split("\"zip\":\"").nth(1).and_then(|rest| rest.split('"').next());
        let zip = zip.ok_or_else(|| ChoreFailure::new(format!("module push reported no zip: {report}")))?;
        Ok(Self { zip: zip.to_owned(), ..bench })
    }

    /// Publishes it.
    pub(super) fn push(&self, mut tofu_oci: Command, repository: &str) -> Command {
        tofu_oci.args(["module", "push"]).arg(&self.folder).arg(format!("{}/{repository}", self.registry));
        tofu_oci.args(["--version", "1.0.0", "--json"]);
        tofu_oci
    }

    /// Fetches it.
    pub(super) fn pull(&self, mut tofu_oci: Command, into: &Path) -> Command {
        tofu_oci.args(["module", "pull"]).arg(format!("oci://{}/modules/pulled?tag=1.0.0", self.registry)).arg(into);
        tofu_oci
    }

    /// What the documentation of `OpenTofu` says: a zip, and `oras`.
    pub(super) fn oras(&self, oras: &Path, folder: &Path, repository: &str) -> Vec<Command> {
        let (mut zip, mut push) = (Command::new("zip"), Command::new(oras));
        zip.args(["--quiet", "--recurse-paths"]).arg(folder.join("m.zip")).arg(".").current_dir(&self.folder);
        push.args(["push", "--plain-http", "--artifact-type=application/vnd.opentofu.modulepkg"]);
        push.arg(format!("{}/{repository}:1.0.0", self.registry)).arg("m.zip:archive/zip").current_dir(folder);
        vec![zip, push]
    }

    /// The blob, and nothing else.
    pub(super) fn curl_unzip(&self, folder: &Path) -> Vec<Command> {
        let (mut curl, mut unzip) = (Command::new("curl"), Command::new("unzip"));
        curl.args(["--silent", "--fail", "-o"]).arg(folder.join("m.zip"));
        curl.arg(format!("http://{}/v2/modules/pulled/blobs/{}", self.registry, self.zip));
        unzip.arg("-q").arg(folder.join("m.zip")).arg("-d").arg(folder.join("unpacked"));
        vec![curl, unzip]
    }
}
