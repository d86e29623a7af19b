//! Which contents the packages of a release have, as far as that is known for certain.

use std::collections::{BTreeMap, BTreeSet};

use tofu_oci_types::{PackageHash, Platform};

use super::{Force, Pin, Pins};
use crate::{ReleaseFacts, Verdict};

/// `h1:` checksums by platform.
pub type Contents = BTreeMap<Platform, BTreeSet<PackageHash>>;

impl Pins {
    /// Remembers contents of a release that is pinned as this very index: a signature covered them, or the package was
    /// fetched and its checksum computed. Another release's are not remembered.
    pub fn remember_contents(&mut self, facts: &ReleaseFacts<'_>, contents: &Contents) {
        let Some(mut pin) = self.agreed(facts).cloned() else { return };
        add(&mut pin.contents, contents);
        let force = self.changed.iter().find(|change| change.pin.is_of(&pin)).map_or(Force::No, |change| change.force);
        self.change(pin, force);
    }

    /// The contents that are known of this very index, as far as the verdict on it covers them.
    pub fn contents(&self, facts: &ReleaseFacts<'_>, verdict: &Verdict) -> Contents {
        // An `h1:` that the index names counts only if the index is covered. If archives alone are, the pin does not say
        // which of its contents were computed from them.
        let counts =
            |pin: &&Pin| verdict.covered.index || !pin.signers.iter().any(super::PinnedSigner::signed_the_index);
        let mut contents = Contents::new();
        for pin in self.same_index(facts).filter(counts) {
            add(&mut contents, &pin.contents);
        }
        contents
    }
}

/// Adds what else is known.
pub(super) fn add(contents: &mut Contents, more: &Contents) {
    for (platform, hashes) in more.iter().filter(|(_, hashes)| !hashes.is_empty()) {
        contents.entry(platform.clone()).or_default().extend(hashes.iter().cloned());
    }
}
