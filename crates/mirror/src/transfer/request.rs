//! What is asked of a transfer, what it did, and when the destination's repository is another provider's.

use std::path::Path;

use serde::Serialize;
use tofu_oci_archive::Limits;
use tofu_oci_fetch::{RenamedReleases, Trust};
use tofu_oci_packer::{AttachedFile, OtherAddress, PackError, Rename, ReplaceTag, Signing, Transfers};
use tofu_oci_source::ReleaseId;
use tofu_oci_types::{Digest, Place, Platform, Predecessors, ProviderAddr, Tag};

/// How one release is carried. Its address and version are those of the release.
#[derive(Clone, Debug)]
pub struct TransferRequest<'a> {
    /// The platforms to carry; the release must have each of them. A release in a repository is copied whole: its signatures
    /// are about the whole.
    pub platforms: Vec<Platform>,
    /// Who signs the release at its destination; `None` to sign nothing.
    pub signing: Option<Signing<'a>>,
    /// Attestations that count, which go with it into a repository.
    pub files: &'a [AttachedFile],
    /// Whether the version's tag may move, if the destination has the release for fewer platforms.
    pub replace: ReplaceTag,
    /// What happens when the destination is kept for another provider.
    pub rename: Rename,
    /// Which addresses count as one.
    pub predecessors: &'a Predecessors,
    /// What a package may hold.
    pub limits: &'a Limits,
    /// How many packages move at a time, at least 1.
    pub jobs: usize,
    /// The tags of the destination's repository, if they were listed shortly before; `None` to list them.
    pub listed: Option<&'a [Tag]>,
    /// An existing folder, for packages that must lie on disk while they are verified.
    pub work_dir: &'a Path,
}

impl TransferRequest<'_> {
    /// As the function [`demand_own`].
    pub(super) fn demand_own(
        &self,
        id: &ReleaseId,
        kept: Option<&ProviderAddr>,
        place: Place,
    ) -> Result<(), PackError> {
        let there = ReleaseId { place, ..id.clone() };
        demand_own(&there, kept, (self.rename, self.predecessors))
    }
}

/// Demands that a release which the destination has, and which says that it is of `kept`, is of the provider.
///
/// # Errors
/// [`PackError::OtherAddress`].
pub(crate) fn demand_own(
    there: &ReleaseId,
    kept: Option<&ProviderAddr>,
    (rename, predecessors): (Rename, &Predecessors),
) -> Result<(), PackError> {
    match kept.filter(|kept| !predecessors.same_provider(kept, &there.address)) {
        Some(kept) if rename == Rename::Refuse => {
            let ReleaseId { address: given, version, place, .. } = there.clone();
            Err(PackError::OtherAddress(Box::new(OtherAddress { place, kept: kept.clone(), version, given })))
        }
        _ => Ok(()),
    }
}

/// Whether releases of one provider may go beside those of another, and which addresses count as one.
pub(crate) fn names(trust: &Trust) -> (Rename, &Predecessors) {
    let rename = match trust.renamed {
        RenamedReleases::Accept => Rename::Allow,
        RenamedReleases::Refuse | RenamedReleases::ByPolicy => Rename::Refuse,
    };
    (rename, trust.policy.predecessors())
}

/// What [`transfer()`](crate::transfer()) did.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Transferred {
    /// The digest of the index at the destination; `None` if the destination is not a repository.
    pub index: Option<Digest>,
    /// The platforms that the destination has now, sorted.
    pub platforms: Vec<Platform>,
    /// What was sent and what was there.
    pub transfers: Transfers,
    /// Whether the destination had all of it before.
    pub unchanged: bool,
}
