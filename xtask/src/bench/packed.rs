//! The large package in each form that archives have, installed over TLS, and the parts of that work.

use std::fs;
use std::path::PathBuf;
use std::process::Command;

use super::measure::output;
use super::package::sha256;
use super::parts::BenchPart;
use super::stage::BenchStage;
use crate::failure::{ChoreFailure, ChoreResult};

/// How the package is packed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Packing {
    /// The zip as it is released.
    Deflated,
    /// A zip whose entries are stored.
    Stored,
    /// The small layer: tar in Zstandard.
    Small,
}

impl Packing {
    pub(super) const ALL: [Self; 3] = [Self::Deflated, Self::Stored, Self::Small];

    /// Parts that all have.
    pub(super) const COMMON: [(BenchPart, &str); 2] =
        [(BenchPart::HashFiles, "part: SHA-256 of the files"), (BenchPart::Write, "part: write")];

    /// The CRC-32 of the files, which a tar archive does not have.
    pub(super) const CRC: (BenchPart, &str) = (BenchPart::Crc, "part: CRC-32");

    /// The case that installs it.
    pub(super) fn install(self) -> &'static str {
        match self {
            Self::Deflated => "install",
            Self::Stored => "install, stored zip",
            Self::Small => "install, small layer",
        }
    }

    /// The case that decompresses it.
    pub(super) fn decode(self) -> Option<(BenchPart, &'static str)> {
        match self {
            Self::Deflated => Some((BenchPart::Inflate, "inflate to nowhere")),
            Self::Stored => None,
            Self::Small => Some((BenchPart::Zstd, "part: zstd")),
        }
    }

    /// The case that hashes the archive.
    pub(super) fn hash(self) -> &'static str {
        match self {
            Self::Deflated => "part: SHA-256 of the zip",
            Self::Stored => "part: SHA-256, stored zip",
            Self::Small => "part: SHA-256, small layer",
        }
    }

    /// The case that fetches it over TLS to nowhere.
    pub(super) fn transport(self) -> &'static str {
        match self {
            Self::Deflated => "part: TLS",
            Self::Stored => "part: TLS, stored zip",
            Self::Small => "part: TLS, small layer",
        }
    }

    /// Every part of its installation.
    pub(super) fn parts(self) -> Vec<&'static str> {
        let crc = (self != Self::Small).then_some(Self::CRC);
        let worked = self.decode().into_iter().chain(crc).chain(Self::COMMON).map(|(_, name)| name);
        worked.chain([self.hash(), self.transport()]).collect()
    }
}

/// A package in the TLS registry.
pub(super) struct PackedBench {
    /// The archive itself.
    pub(super) archive: PathBuf,
    /// The repository below `bench/`.
    pub(super) repository: String,
    pub(super) blob: String,
    /// The project whose lock file proves the contents, if the package comes only with one.
    locked: Option<PathBuf>,
}

impl PackedBench {
    /// Publishes the package in this form.
    pub(super) fn make(stage: &BenchStage<'_>, packing: Packing) -> ChoreResult<Self> {
        let package = stage.package;
        match packing {
            Packing::Deflated => {
                let repository = package.provider_type.clone();
                Ok(Self { archive: package.zip(), repository, blob: stage.blob.clone(), locked: None })
            }
            Packing::Stored => {
                let dist = stage.fresh("dist-stored")?;
                let archive = dist.join(package.zip().file_name().unwrap_or_default());
                package.store(&archive)?;
                output(&mut stage.push(&dist, &stage.tls_repository("stored"), &[]))?;
                let blob = sha256(&archive)?;
                Ok(Self { archive, repository: "stored".to_owned(), blob, locked: None })
            }
            Packing::Small => {
                let repository = stage.tls_repository("small");
                let report = output(&mut stage.push(&package.one, &repository, &["--small", "--json"]))?;
                let digest = report.split_once("\"small\":{\"digest\":\"").and_then(|(_, rest)| rest.split('"').next());
                let blob = digest.ok_or_else(|| ChoreFailure::new(format!("push named no small layer: {report}")))?;
                let (archive, project) = (stage.work.join("small.tar.zst"), stage.fresh("small-lock")?);
                let mut fetch = stage.tls_curl("small", blob);
                output(fetch.arg("--output").arg(&archive))?;
                output(&mut stage.install_from(&repository, &project))?;
                Ok(Self { archive, repository: "small".to_owned(), blob: blob.to_owned(), locked: Some(project) })
            }
        }
    }

    /// Installs it into an empty project.
    pub(super) fn install(&self, stage: &BenchStage<'_>) -> ChoreResult<Command> {
        let folder = stage.fresh("packed-project")?;
        if let Some(locked) = &self.locked {
            let name = ".terraform.lock.hcl";
            fs::copy(locked.join(name), folder.join(name))?;
        }
        Ok(stage.install_from(&stage.tls_repository(&self.repository), &folder))
    }
}
