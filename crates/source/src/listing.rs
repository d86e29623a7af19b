//! The versions of a provider, and the tags that only look like one.

use serde::Serialize;
use tofu_oci_types::{Tag, Version};

/// What a repository's tags say.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Listing {
    /// Versions whose canonical tag exists, ascending; equal precedence keeps the order of the tags.
    pub versions: Vec<Version>,
    /// Tags that `OpenTofu` reads as a version, but that are not the canonical tag of that version.
    pub stray: Vec<StrayTag>,
}

/// A tag such as `2`, `1.4` or `01.4.0`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct StrayTag {
    /// The tag.
    pub tag: Tag,
    /// The version that `OpenTofu` reads it as.
    pub version: Version,
    /// What it does to users of `OpenTofu`.
    pub effect: StrayEffect,
}

/// What a stray tag does to users of `OpenTofu`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum StrayEffect {
    /// The version's canonical tag exists too, so that it is found.
    Harmless,
    /// The version has no tag: `tofu init` chooses it, asks for its tag, and fails.
    BreaksInit,
}

impl Listing {
    /// Sorts tags into versions and strays.
    ///
    /// Spec: `OpenTofu` 1.12, getproviders, `OCIRegistryMirrorSource.AvailableVersions`.
    pub fn of(tags: &[Tag]) -> Self {
        let read: Vec<(&Tag, Version)> = tags.iter().filter_map(|tag| Some((tag, tag.version()?))).collect();
        let canonical = |tag: &Tag, version: &Version| Tag::for_version(version).is_ok_and(|right| right == *tag);
        let mut listing = Self::default();
        for (tag, version) in &read {
            if canonical(tag, version) {
                listing.versions.push(version.clone());
            }
        }
        listing.versions.sort_by(Version::precedence);
        for (tag, version) in read {
            if !canonical(tag, &version) {
                let found = listing.versions.contains(&version);
                let effect = if found { StrayEffect::Harmless } else { StrayEffect::BreaksInit };
                listing.stray.push(StrayTag { tag: tag.clone(), version, effect });
            }
        }
        listing.stray.sort_by(|a, b| a.tag.cmp(&b.tag));
        listing
    }
}
