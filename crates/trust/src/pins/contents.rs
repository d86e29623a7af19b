//! The known contents of a release's packages.

use std::collections::{BTreeMap, BTreeSet};

use tofu_oci_types::{PackageHash, Platform};

/// `h1:` checksums by platform.
pub type Contents = BTreeMap<Platform, BTreeSet<PackageHash>>;

/// Adds more known contents.
pub(super) fn add(contents: &mut Contents, more: &Contents) {
    for (platform, hashes) in more.iter().filter(|(_, hashes)| !hashes.is_empty()) {
        contents.entry(platform.clone()).or_default().extend(hashes.iter().cloned());
    }
}
