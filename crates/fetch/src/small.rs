//! Whether the small layer of a package is taken instead of the zip, and what it must hold.
//!
//! Its digest says nothing of the zip beside it. It may be taken only if it is known from elsewhere what the files must be,
//! and if nothing is recorded of the zip that its bytes would have to prove: the rule by which a package of a plugin cache
//! is used instead of the offered one.
//!
//! ```text
//! the lock file names the zip (zh:) and the h1: that the index claims for this platform;
//!   if the package is signed, this h1: is known to be the signed one's        -> that h1:
//! a signature that counts covers the index, and the index names an h1:        -> that h1:
//! anything else                                                               -> the zip
//! ```

use std::collections::BTreeSet;
use std::error::Error;

use tofu_oci_archive::PackageContents;
use tofu_oci_lockfile::LockEntry;
use tofu_oci_source::{ClaimedHashes, Offer, Part};
use tofu_oci_types::{Event, PackageHash, Platform, Reporter, Scheme};

use crate::place::{PackageForm, PackagePath};
use crate::verify::ExpectedHashes;
use crate::{FetchError, Judgement, subject};

/// How many bytes larger than the zip a small layer may be: files that cannot be compressed still have the headers of
/// tar.
const MOST_LARGER: u64 = 1 << 20;

/// What the files of a package must be, known without its zip: one of some `h1:`.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ProvedContents {
    h1: BTreeSet<PackageHash>,
    modes: ProvedModes,
}

/// Whether the modes of the files are known, too. An `h1:` says nothing of them.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum ProvedModes {
    #[default]
    Unknown,
    /// A signature covers the digest of the archive that they are in.
    Signed,
}

impl ProvedContents {
    /// What is known of an offered package by the lock file's entry of its version, and by the judgement on its release.
    pub fn of(offer: &Offer, locked: Option<ExpectedHashes<'_>>, judgement: Option<&Judgement>) -> Self {
        let Some(zip) = offer.zh() else { return Self::default() };
        let Self { mut h1, .. } = locked
            .map(|ExpectedHashes { entry, .. }| Self::by_lock(entry, &zip, &offer.platform, &offer.claims))
            .unwrap_or_default();
        h1.retain(|h1| judgement.is_none_or(|judgement| judgement.admits_unfetched(offer, h1)));
        let covered = judgement.and_then(|judgement| judgement.covered().get(&offer.platform));
        let modes = if covered.is_some() { ProvedModes::Signed } else { ProvedModes::Unknown };
        h1.extend(covered.into_iter().flatten().filter(|hash| hash.scheme() == Scheme::H1).cloned());
        Self { h1, modes }
    }

    /// What an entry of the lock file says of the package with this zip, if no signature matters: the `h1:` that the release
    /// claims for this platform, if the entry has it. Nothing else says which of an entry's `h1:` is this package's.
    pub fn by_lock(entry: &LockEntry, zip: &PackageHash, platform: &Platform, claims: &ClaimedHashes) -> Self {
        if !entry.hashes.contains(zip) {
            return Self::default();
        }
        let own = claims.get(platform).into_iter().flatten().filter(|hash| hash.scheme() == Scheme::H1);
        Self { h1: own.filter(|h1| entry.hashes.contains(h1)).cloned().collect(), modes: ProvedModes::Unknown }
    }

    /// Whether this is one of the `h1:`.
    pub(crate) fn contain(&self, h1: &PackageHash) -> bool {
        self.h1.contains(h1)
    }

    /// The `h1:` that suffice, whatever the modes of the files.
    pub(crate) fn with_any_modes(&self) -> impl Iterator<Item = &PackageHash> {
        self.h1.iter().filter(|_| self.modes == ProvedModes::Unknown)
    }

    /// Whether a small layer would be taken for this place: its form must be that of a folder.
    pub fn suffice_for(&self, place: &PackagePath) -> bool {
        !self.h1.is_empty() && place.form == PackageForm::Folder
    }

    /// Checks that a small layer holds the package, and that the provider's program can be started: an `h1:` says nothing of
    /// modes.
    pub(crate) fn check(&self, found: &PackageContents, offer: &Offer) -> Result<(), SmallLayerFault> {
        let h1 = found.h1();
        if !self.contain(&h1) {
            return Err(SmallLayerFault::OtherContents { found: h1, expected: self.clone() });
        }
        match found.executable(offer.address().provider_type()) {
            Some(program) if program.mode & 0o111 == 0 => {
                Err(SmallLayerFault::NotExecutable { name: program.name.clone() })
            }
            _ => Ok(()),
        }
    }

    /// The small layer of an offer, if it is taken: it must not be much larger than the zip.
    pub fn small_layer<'a>(&self, offer: &'a Offer, place: &PackagePath) -> Option<&'a Part> {
        let most = offer.bytes().map(|zip| zip.saturating_add(MOST_LARGER));
        offer.small.as_ref().filter(|layer| self.suffice_for(place) && layer.size <= most)
    }
}

/// Why a small layer is not the package.
#[derive(Debug, thiserror::Error)]
#[expect(clippy::large_enum_variant, reason = "there is one at a time")]
pub(crate) enum SmallLayerFault {
    /// It could not be fetched or unpacked, or the lock file refuses it.
    #[error(transparent)]
    Fetch(#[from] FetchError),
    #[error("it holds {found}, and the package is {}", list(expected))]
    OtherContents { found: PackageHash, expected: ProvedContents },
    #[error("the program `{name}` in it is not executable")]
    NotExecutable { name: String },
}

fn list(expected: &ProvedContents) -> String {
    expected.h1.iter().map(ToString::to_string).collect::<Vec<_>>().join(" or ")
}

impl SmallLayerFault {
    /// The error of this machine that the zip would meet, too. A full disk is not one: the zip may need less room.
    pub(crate) fn of_this_machine(self) -> Result<FetchError, Self> {
        match self {
            Self::Fetch(error @ (FetchError::Io(_) | FetchError::Lock(_) | FetchError::LinkOutOfTree { .. })) => {
                Ok(error)
            }
            fault => Err(fault),
        }
    }

    /// Reports that the zip is fetched instead.
    pub(crate) fn report(&self, offer: &Offer, layer: &Part, reporter: &dyn Reporter) {
        let (mut reason, mut cause) = (self.to_string(), self.source());
        while let Some(error) = cause {
            reason = format!("{reason}: {error}");
            cause = error.source();
        }
        let subject = subject(offer.address(), offer.version(), &offer.platform);
        let place = offer.place();
        let text = format!("{subject}: the small layer {layer} in {place} is not used: {reason}");
        let hint = "the zip is fetched instead; `tofu-oci check --deep` examines the layer";
        reporter.event(&Event::warning("small-layer-unused", text).with_hint(hint));
    }
}

#[cfg(test)]
mod tests;
