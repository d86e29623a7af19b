//! What lists of archives say of each platform: an archive is right for the platform that it is listed for, and for no
//! other one.

use std::collections::BTreeSet;

use tofu_oci_types::{PackageHash, Platform};

use super::refusal::TrustRefusal;
use crate::evidence::{Archives, ReleaseFacts};

/// What is known of single archives.
#[derive(Clone, Debug, Default)]
pub(crate) struct Platforms {
    pub(crate) listed: Vec<ListedArchive>,
    pub(crate) signed: BTreeSet<(Platform, PackageHash)>,
    /// Archives that were signed when the index was pinned. Pins say nothing of platforms, so an archive that is offered
    /// for two of them does not count here.
    pub(crate) pinned: BTreeSet<PackageHash>,
}

/// An archive that a trusted list names.
#[derive(Clone, Debug)]
pub(crate) struct ListedArchive {
    pub(crate) platform: Platform,
    pub(crate) zip: PackageHash,
    /// Why another archive must not be used for this platform.
    pub(crate) otherwise: TrustRefusal,
}

/// What vouches for an archive.
#[derive(Clone, Copy, Debug)]
pub(crate) enum By {
    Signatures,
    /// Those that were there when the index was pinned.
    Pins,
}

impl Platforms {
    /// With what was signed before.
    pub(crate) fn pinned(mut self, facts: &ReleaseFacts<'_>, zips: &BTreeSet<PackageHash>) -> Self {
        let once = |zip: &&PackageHash| facts.archives.iter().filter(|(_, offered)| offered == zip).count() <= 1;
        self.pinned = zips.iter().filter(once).cloned().collect();
        self
    }

    /// Whether this archive is vouched for on this platform.
    pub(crate) fn covers(&self, platform: &Platform, zip: &PackageHash) -> bool {
        self.covers_by(By::Signatures, platform, zip) || self.covers_by(By::Pins, platform, zip)
    }

    fn covers_by(&self, by: By, platform: &Platform, zip: &PackageHash) -> bool {
        let signed = match by {
            By::Signatures => self.signed.contains(&(platform.clone(), zip.clone())),
            By::Pins => self.pinned.contains(zip),
        };
        signed && self.refusal(platform, zip).is_none()
    }

    /// Whether an archive that the release offers is vouched for; also if it is not known what it offers.
    pub(crate) fn covers_offered(&self, by: By, archives: &Archives) -> bool {
        match archives {
            Archives::Unknown | Archives::Annotated(_) => true,
            Archives::Read { zips, .. } => zips.iter().any(|(platform, zip)| self.covers_by(by, platform, zip)),
        }
    }

    /// What a trusted list says against this archive.
    pub(crate) fn refusal(&self, platform: &Platform, zip: &PackageHash) -> Option<&TrustRefusal> {
        let mut said = self.listed.iter().filter(|listed| listed.platform == *platform);
        said.find(|listed| listed.zip != *zip).map(|listed| &listed.otherwise)
    }
}
