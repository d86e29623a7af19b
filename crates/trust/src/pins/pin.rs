//! What a pin remembers of a version at a place: its digest, who had signed it, its contents.

use tofu_oci_types::{Digest, Place, ProviderAddr, Version};

use super::contents::Contents;
use super::signers::PinnedSigner;

/// One version at one place, as it was seen last.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Pin {
    pub address: ProviderAddr,
    pub version: Version,
    /// The repository: a registry's host is in lower case, and a path has no detours.
    pub place: Place,
    /// The place as it is compared with others.
    pub(super) same: Place,
    /// The index that the version was.
    pub index: Digest,
    /// Who had signed it, sorted by key.
    pub signers: Vec<PinnedSigner>,
    /// How it came here.
    pub admission: Admission,
    /// The provider that its index says it is of, if that is another one: it was taken under this address all the same.
    pub published_as: Option<ProviderAddr>,
    /// The `h1:` of its packages that a signature covered or that were computed here.
    pub contents: Contents,
}

/// How a pin came to be.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Admission {
    /// The policy accepted the release.
    ByPolicy,
    /// A person accepted it by hand, unsigned.
    ByHand,
}

/// What the program changed, so that two programs at once undo nothing of each other's.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct PinChange {
    pub(super) pin: Pin,
    pub(super) before: Vec<Digest>,
    pub(super) force: Force,
}

/// Whether a change wins over what another program wrote meanwhile.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Force {
    No,
    /// A person asked for exactly this.
    ByHand,
}
