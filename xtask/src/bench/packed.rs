//! The large package in each form that archives have, installed over TLS, and the parts of that work.

use std::path::PathBuf;

use super::parts::BenchPart;
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
    pub(super) locked: Option<PathBuf>,
}

/// The digest of the small layer that `push --json` has reported.
pub(super) fn small_layer_of(report: &str) -> ChoreResult<&str> {
    let digest = report.split_once("\"small\":{\"digest\":\"").and_then(|(_, rest)| rest.split('"').next());
    digest.ok_or_else(|| ChoreFailure::new(format!("push named no small layer: {report}")))
}
