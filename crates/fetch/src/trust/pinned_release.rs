//! A release under the name that the pins use.

use tofu_oci_source::ReleaseId;
use tofu_oci_trust::{Archives, ReleaseFacts};
use tofu_oci_types::{Place, ProviderAddr};

use super::Trust;
use crate::pin_file;

/// A release to judge.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(super) struct PinnedRelease {
    pub(super) id: ReleaseId,
    /// What the pins call the place.
    pinned_as: Place,
}

impl PinnedRelease {
    pub(super) fn new(trust: &Trust, id: &ReleaseId) -> Self {
        Self { id: id.clone(), pinned_as: pin_file::place(&trust.pins_path, &id.place) }
    }

    /// The same release as one of another provider.
    pub(super) fn of(&self, address: &ProviderAddr) -> Self {
        Self { id: ReleaseId { address: address.clone(), ..self.id.clone() }, ..self.clone() }
    }

    pub(super) fn facts<'a>(&'a self, archives: &'a Archives) -> ReleaseFacts<'a> {
        ReleaseFacts { of: self.id.subject(), place: &self.pinned_as, identity: &self.id.identity, archives }
    }

    pub(super) fn order(&self) -> (String, String, String, Option<&str>) {
        let ReleaseId { address, version, place, identity } = &self.id;
        let digest = identity.digest().map(tofu_oci_types::Digest::as_str);
        (address.to_string(), version.to_string(), place.to_string(), digest)
    }
}
