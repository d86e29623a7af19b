//! What several links say, as one answer.

use std::collections::{BTreeSet, HashSet};

use tofu_oci_trust::{NoticeReason, NoticeWriter};
use tofu_oci_types::{Digest, Platform, Version};

use crate::{Listing, NotOffered, StrayTag};

/// What the links that gave way have instead.
#[derive(Clone, Default)]
pub(super) struct GaveWay {
    /// Platforms that the version has somewhere.
    platforms: Option<BTreeSet<Platform>>,
    /// The first platform that a link lacks.
    missing: Option<Platform>,
    /// Versions that they have.
    versions: Option<Vec<Version>>,
    /// The first answer that the version was withdrawn; its versions are those above.
    withdrawn: Option<(Option<NoticeReason>, Option<NoticeWriter>, Option<Digest>)>,
    /// Whether the registry of the address does not know it.
    pub(super) unknown_to_registry: bool,
}

impl GaveWay {
    pub(super) fn note(&mut self, what: NotOffered) {
        match what {
            NotOffered::PlatformMissing { platform, offered, .. } => {
                self.missing.get_or_insert(platform);
                self.platforms.get_or_insert_default().extend(offered);
            }
            NotOffered::VersionMissing { offered, .. } => self.versions.get_or_insert_default().extend(offered),
            NotOffered::Withdrawn { reason, writer, replaced_by, offered, .. } => {
                self.versions.get_or_insert_default().extend(offered);
                self.withdrawn.get_or_insert((reason, writer, replaced_by));
            }
            NotOffered::UnknownToRegistry => self.unknown_to_registry = true,
            _ => {}
        }
    }

    /// Why no link has it, by the link that came closest.
    pub(super) fn verdict(self, version: &Version, platform: Option<&Platform>) -> NotOffered {
        if let (Some(offered), Some(platform)) = (self.platforms, platform.cloned().or(self.missing)) {
            let version = version.clone();
            return NotOffered::PlatformMissing { version, platform, offered: offered.into_iter().collect() };
        }
        if let Some(mut offered) = self.versions {
            offered.sort_by(Version::precedence);
            offered.dedup();
            if let Some((reason, writer, replaced_by)) = self.withdrawn {
                return NotOffered::Withdrawn { version: version.clone(), reason, writer, replaced_by, offered };
            }
            return NotOffered::VersionMissing { version: version.clone(), offered };
        }
        if self.unknown_to_registry { NotOffered::UnknownToRegistry } else { NotOffered::UnknownProvider }
    }
}

/// All versions, each once, ascending. Of versions that differ only in their metadata, that of the earliest link comes
/// last and is therefore chosen: its link is asked first.
pub(super) fn join(found: Vec<Listing>) -> Listing {
    let mut joined = Listing::default();
    let (mut seen, mut strays): (HashSet<Version>, HashSet<StrayTag>) = Default::default();
    let mut kept: Vec<Vec<Version>> = Vec::new();
    for listing in found {
        let fresh: Vec<Version> = listing.versions.into_iter().filter(|version| !seen.contains(version)).collect();
        seen.extend(fresh.iter().cloned());
        kept.push(fresh);
        joined.withdrawn.extend(listing.withdrawn);
        joined.deprecated.extend(listing.deprecated);
        joined.warnings.extend(listing.warnings);
        for stray in listing.stray {
            if strays.insert(stray.clone()) {
                joined.stray.push(stray);
            }
        }
    }
    joined.versions = kept.into_iter().rev().flatten().collect();
    joined.versions.sort_by(Version::precedence);
    joined.stray.sort_by(|a, b| a.tag.cmp(&b.tag));
    joined.withdrawn.retain(|version| !seen.contains(version));
    for noticed in [&mut joined.withdrawn, &mut joined.deprecated] {
        noticed.sort_by(Version::precedence);
        noticed.dedup();
    }
    joined
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_version_without_a_package_is_not_an_unknown_provider() {
        let (version, platform): (Version, Platform) = ("1.0.0".parse().unwrap(), "linux_amd64".parse().unwrap());
        let mut gave_way = GaveWay::default();
        gave_way.note(NotOffered::PlatformMissing { version: version.clone(), platform, offered: Vec::new() });
        let NotOffered::PlatformMissing { platform, .. } = gave_way.clone().verdict(&version, None) else { panic!() };
        assert_eq!(platform.to_string(), "linux_amd64");
        let asked = "darwin_arm64".parse().unwrap();
        let NotOffered::PlatformMissing { platform, .. } = gave_way.verdict(&version, Some(&asked)) else { panic!() };
        assert_eq!(platform, asked);
    }
}
