//! What is judged: what a release is, and what was found beside it.

use std::collections::BTreeMap;

use tofu_oci_types::{
    Digest, Identity, PackageHash, Place, Platform, ProviderAddr, Version, ZipName, platforms_of_build,
};

use crate::statement::{SignedContent, SignedSubject};

/// How many pieces of evidence are looked at; a repository can hold any number of them.
pub const EVIDENCE_LIMIT: usize = 100;

/// How many bundles with certificates of a release are looked at: each costs milliseconds, and whoever may write to the repository
/// puts them there.
pub const BUNDLES_LIMIT: usize = 32;

/// How many signature files, and how many key files, are looked at beside one `SHA256SUMS`.
pub const SUMS_FILES_LIMIT: usize = 16;

/// One item that was found beside an index and may vouch for it. It is not verified yet.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Evidence {
    Bundle {
        /// The manifest that it was found in.
        origin: Digest,
        bytes: Vec<u8>,
    },
    /// A signature below the tag `sha256-<hex>.sig`.
    CosignTag {
        /// The manifest that it was found in.
        origin: Digest,
        payload: Vec<u8>,
        /// The signature in base64.
        signature: String,
    },
    /// `SHA256SUMS` with what was found beside it.
    Sums {
        /// The manifest that it was found in.
        origin: Digest,
        sums: Vec<u8>,
        /// Its detached `OpenPGP` signatures.
        signatures: Vec<Vec<u8>>,
        /// `OpenPGP` keys that travel with it. They are shown and never trusted.
        keys: Vec<Vec<u8>>,
    },
    /// What the publisher says of the release later: a Sigstore bundle with such a statement, or the bare statement.
    Notice {
        /// The manifest that it was found in.
        origin: Digest,
        /// The bundle or the statement.
        bytes: Vec<u8>,
    },
    /// More notices than a search reads: one of the others may withdraw the release.
    UnreadNotices {
        /// The index that they are about.
        origin: Digest,
        /// How many were not read, or why.
        problem: String,
    },
    /// Something that could not be read.
    Unreadable {
        /// The manifest that it was to be found in.
        origin: Digest,
        problem: String,
    },
}

impl Evidence {
    /// The manifest that it was found in.
    pub fn origin(&self) -> &Digest {
        match self {
            Self::Bundle { origin, .. }
            | Self::CosignTag { origin, .. }
            | Self::Sums { origin, .. }
            | Self::Notice { origin, .. }
            | Self::UnreadNotices { origin, .. }
            | Self::Unreadable { origin, .. } => origin,
        }
    }
}

/// What is known of the archives of a release: `zh:` by platform.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Archives {
    /// Nothing is known.
    Unknown,
    /// What annotations name: they may be incomplete, and false.
    Annotated(BTreeMap<Platform, PackageHash>),
    /// What every leaf names. A platform that is not here has no archive.
    Read {
        zips: BTreeMap<Platform, PackageHash>,
        /// The manifest that names the archive of a platform, if it is the platform's only one.
        leaves: BTreeMap<Platform, ReadLeaf>,
    },
}

/// The manifest of a platform.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ReadLeaf {
    pub digest: Digest,
    /// What it calls the archive that it names.
    pub zip_name: Option<String>,
}

impl ReadLeaf {
    /// The name of the archive if that says another platform; `None` also if it says none.
    pub(crate) fn misplaced(&self, platform: &Platform) -> Option<&str> {
        let name = self.zip_name.as_deref()?;
        let (platforms, _) = platforms_of_build(ZipName::parse(name)?.platform)?;
        (!platforms.contains(platform)).then_some(name)
    }
}

impl Archives {
    /// Each platform with its archive, as far as known.
    pub fn iter(&self) -> impl Iterator<Item = (&Platform, &PackageHash)> {
        let known = match self {
            Self::Unknown => None,
            Self::Annotated(zips) | Self::Read { zips, .. } => Some(zips),
        };
        known.into_iter().flatten()
    }

    /// The archive of a platform, if it is known.
    pub fn get(&self, platform: &Platform) -> Option<&PackageHash> {
        match self {
            Self::Unknown => None,
            Self::Annotated(zips) | Self::Read { zips, .. } => zips.get(platform),
        }
    }
}

/// The version that is judged.
#[derive(Clone, Copy, Debug)]
pub struct ReleaseFacts<'a> {
    pub of: Subject<'a>,
    /// The repository, as people write it; the path of an `oci:` directory is absolute, or relative to the folder of the
    /// pins.
    pub place: &'a Place,
    /// What signatures and pins name: for a release with an index, the digest of the index, computed here.
    pub identity: &'a Identity,
    /// The archives that `SHA256SUMS` is compared with.
    pub archives: &'a Archives,
}

/// What is judged, and so what signatures and notices name beside the digest.
#[derive(Clone, Copy, Debug)]
pub enum Subject<'a> {
    /// The provider and the version that were asked for.
    Provider { address: &'a ProviderAddr, version: &'a Version },
    /// A module. Its manifest says itself what it is: what is signed names nothing.
    Module {
        /// The version that was asked for.
        wanted: Option<&'a Version>,
        /// The version that the manifest says it is.
        claimed: Option<&'a Version>,
    },
}

impl<'a> ReleaseFacts<'a> {
    /// What a signature or notice of ours would be about; `None` without an index.
    pub fn content(&self) -> Option<SignedContent<'a>> {
        let index = self.identity.index()?;
        Some(match self.of {
            Subject::Provider { address, version } => SignedContent::Release(SignedSubject { index, address, version }),
            Subject::Module { .. } => SignedContent::Manifest(index),
        })
    }

    /// The provider and its version: what pins are about. `None` for a module, which no pin remembers.
    pub fn provider(&self) -> Option<(&'a ProviderAddr, &'a Version)> {
        match self.of {
            Subject::Provider { address, version } => Some((address, version)),
            Subject::Module { .. } => None,
        }
    }

    /// Whether a digest, of whatever algorithm, is that of this index.
    pub fn is_index(&self, digest: &Digest) -> bool {
        self.identity.is(digest)
    }
}
