//! The large package in each form that archives have, installed over TLS, and the parts of that work.

use std::path::PathBuf;

use super::measure::YARDSTICK;
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
    /// An image of one layer: tar in gzip.
    Image,
}

impl Packing {
    pub(super) const ALL: [Self; 4] = [Self::Deflated, Self::Stored, Self::Small, Self::Image];

    /// Parts that all have.
    pub(super) const COMMON: [(BenchPart, &str); 2] =
        [(BenchPart::HashFiles, "part: SHA-256 of the files"), (BenchPart::Write, "part: write")];

    /// The CRC-32 of the files, which no tar archive has; gzip has one, which its decompression checks.
    pub(super) const CRC: (BenchPart, &str) = (BenchPart::Crc, "part: CRC-32");

    /// The SHA-256 of the tar of an image, its `diff_id`: it is hardly longer than the files.
    pub(super) const TAR: (BenchPart, &str) = (BenchPart::HashFiles, "part: SHA-256 of the tar");

    /// The case that installs it.
    pub(super) fn install(self) -> &'static str {
        match self {
            Self::Deflated => "install",
            Self::Stored => "install, stored zip",
            Self::Small => "install, small layer",
            Self::Image => "install, image",
        }
    }

    /// The case that decompresses it.
    pub(super) fn decode(self) -> Option<(BenchPart, &'static str)> {
        match self {
            Self::Deflated => Some((BenchPart::Inflate, YARDSTICK)),
            Self::Stored => None,
            Self::Small => Some((BenchPart::Zstd, "part: zstd")),
            Self::Image => Some((BenchPart::Gunzip, "part: gzip")),
        }
    }

    /// The case that hashes the archive.
    pub(super) fn hash(self) -> &'static str {
        match self {
            Self::Deflated => "part: SHA-256 of the zip",
            Self::Stored => "part: SHA-256, stored zip",
            Self::Small => "part: SHA-256, small layer",
            Self::Image => "part: SHA-256, image",
        }
    }

    /// The case that fetches it over TLS to nowhere.
    pub(super) fn transport(self) -> &'static str {
        match self {
            Self::Deflated => "part: TLS",
            Self::Stored => "part: TLS, stored zip",
            Self::Small => "part: TLS, small layer",
            Self::Image => "part: TLS, image",
        }
    }

    /// Every part of its installation, by the thread that does it: the four work side by side.
    pub(super) fn threads(self) -> [Vec<&'static str>; 4] {
        let crc = matches!(self, Self::Deflated | Self::Stored).then_some(Self::CRC);
        let tar = (self == Self::Image).then_some(Self::TAR);
        let [files, write] = Self::COMMON;
        let names = |parts: Vec<(BenchPart, &'static str)>| parts.into_iter().map(|(_, name)| name).collect();
        [
            vec![self.transport(), self.hash()],
            names(self.decode().into_iter().chain(tar).collect()),
            names(crc.into_iter().chain([files]).collect()),
            names(vec![write]),
        ]
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

/// The digest that follows this text in the report of `push --json`.
pub(super) fn digest_after<'a>(before: &str, report: &'a str) -> ChoreResult<&'a str> {
    let digest = report.split_once(before).and_then(|(_, rest)| rest.split('"').next());
    digest.ok_or_else(|| ChoreFailure::new(format!("`{before}` is not in the report of push: {report}")))
}
