//! What is released: version, date and commit, and where its sources lie.

use std::path::{Path, PathBuf};
use std::time::{Duration, UNIX_EPOCH};

use tofu_oci_types::Moment;

use crate::failure::ChoreResult;
use crate::process::ProgramRun;

pub(super) const SUMMARY: &str = "OpenTofu and Terraform providers and modules in any OCI registry";
/// `NAME <ADDRESS>`, as `authors` in Cargo.toml has it.
pub(super) const MAINTAINER: &str = env!("CARGO_PKG_AUTHORS");
pub(super) const REPOSITORY: &str = env!("CARGO_PKG_REPOSITORY");

/// Where a build reads and where it leaves its objects.
#[derive(Debug)]
pub(super) struct DistSource {
    pub(super) root: PathBuf,
    pub(super) target: PathBuf,
}

/// Which version this is.
#[derive(Debug)]
pub(super) struct Release {
    pub(super) version: String,
    /// Of the commit, in seconds since 1970.
    pub(super) date: u64,
    pub(super) commit: String,
}

impl Release {
    pub(super) fn created(&self) -> String {
        Moment::from(UNIX_EPOCH + Duration::from_secs(self.date)).to_string()
    }

    /// The version of the program and the commit that is checked out.
    pub(super) fn checked_out(root: &Path) -> ChoreResult<Self> {
        let git = |arguments: &[&str]| -> ChoreResult<String> {
            let run = ProgramRun::inheriting("git").arg("-C").arg(root).args(arguments);
            Ok(run.success()?.stdout.trim().to_owned())
        };
        if !git(&["status", "--porcelain", "--untracked-files=no"])?.is_empty() {
            println!("note: there are changes that are not committed; the files carry the date of the last commit");
        }
        if REPOSITORY.contains("/OWNER/") {
            println!("note: the files carry placeholders: set `authors` and `repository` in Cargo.toml");
        }
        let date = git(&["log", "-1", "--format=%ct"])?.parse::<u64>()?;
        Ok(Self { version: env!("CARGO_PKG_VERSION").to_owned(), date, commit: git(&["rev-parse", "HEAD"])? })
    }
}
