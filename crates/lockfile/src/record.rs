//! How checksums are merged: which hashes may be recorded in an entry of the lock file, and which of the old ones stay.

use std::collections::BTreeSet;

use tofu_oci_types::{Constraints, PackageHash, Scheme, Version};

use crate::{LockEntry, ReleaseHashes};

/// Checksums that may be recorded: at least one of them is `h1:` or `zh:`.
///
/// Released `OpenTofu` reads a block with only `ch:` lines as one without checksums, and accepts any package. So no
/// such block can be written.
///
/// Spec: `oci-reality.md` §4.7.6; `OpenTofu` 1.12, getproviders `PreferredHashes`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Recordable(BTreeSet<PackageHash>);

/// Checksums that `OpenTofu` would not check.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("none of the checksums is `h1:` or `zh:`, so that OpenTofu would accept any package")]
pub struct ManifestsAlone;

impl Recordable {
    /// These checksums.
    ///
    /// # Errors
    /// [`ManifestsAlone`] if none of them is `h1:` or `zh:`.
    pub fn new(hashes: impl IntoIterator<Item = PackageHash>) -> Result<Self, ManifestsAlone> {
        let hashes: BTreeSet<PackageHash> = hashes.into_iter().collect();
        if hashes.iter().any(binds_opentofu) { Ok(Self(hashes)) } else { Err(ManifestsAlone) }
    }
}

fn binds_opentofu(hash: &PackageHash) -> bool {
    matches!(hash.scheme(), Scheme::H1 | Scheme::Zh)
}

/// The entry to write for checksums that were verified or that a trusted signature covers.
///
/// Checksums of the same version stay, even of unknown schemes; those of another version go. Constraints stay if there
/// are no new ones, as for a provider that is installed by name alone.
///
/// Spec: `OpenTofu` 1.12, providercache installer, "newHashes"; it drops unknown schemes here, and tofu-oci keeps them.
/// `oci-reality.md` §4.7.
pub fn merge(before: Option<&LockEntry>, version: Version, constraints: Constraints, hashes: &Recordable) -> LockEntry {
    let mut entry = LockEntry { version, constraints, hashes: hashes.0.clone() };
    if let Some(before) = before.filter(|before| before.version == entry.version) {
        entry.hashes.extend(before.hashes.iter().cloned());
        if entry.constraints.is_any() {
            entry.constraints = before.constraints.clone();
        }
    }
    entry
}

/// The `ch:` lines of `after` that another program has removed from `before`. Another line of the same package and
/// version has stayed there.
///
/// Spec: `real-tofu.md` §3 (measured): `init` drops the `ch:` lines whenever it installs.
pub fn restored(before: Option<&LockEntry>, after: &LockEntry, release: &ReleaseHashes) -> BTreeSet<PackageHash> {
    let Some(before) = before.filter(|before| before.version == after.version) else { return BTreeSet::new() };
    let known = release.values().filter(|hashes| hashes.iter().any(|hash| before.hashes.contains(hash)));
    let added = |hash: &&PackageHash| after.hashes.contains(*hash) && !before.hashes.contains(*hash);
    known.flatten().filter(|hash| hash.scheme() == Scheme::Ch).filter(added).cloned().collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn hash(text: &str) -> PackageHash {
        text.parse().unwrap()
    }

    fn entry(version: &str, lines: &str) -> LockEntry {
        let mut entry = LockEntry::new(version.parse().unwrap(), ">= 1.0.0".parse().unwrap());
        entry.hashes = lines.split_whitespace().map(hash).collect();
        entry
    }

    /// Merges `h1:own` and `ch:own`, verified, into what was there.
    #[track_caller]
    fn check(before: &LockEntry, version: &str, constraints: &str, want: &str) {
        let hashes = Recordable::new([hash("h1:own"), hash("ch:own")]).unwrap();
        let after = merge(Some(before), version.parse().unwrap(), constraints.parse().unwrap(), &hashes);
        let lines: Vec<&str> = after.hashes.iter().map(PackageHash::as_str).collect();
        assert_eq!(format!("{} | {}", after.constraints, lines.join(" ")), want);
    }

    #[test]
    fn merging_keeps_the_same_versions_lines_and_drops_anothers() {
        let before = entry("1.0.0", "h1:mac x:y zh:x");
        check(&before, "1.0.0", "", ">= 1.0.0 | ch:own h1:mac h1:own x:y zh:x");
        check(&before, "1.0.0", "~> 1.0", "~> 1.0 | ch:own h1:mac h1:own x:y zh:x");
        check(&before, "1.0.1", "", " | ch:own h1:own");
    }

    #[test]
    fn manifests_alone_are_never_recorded() {
        assert_eq!(Recordable::new([hash("ch:own"), hash("ch:mac"), hash("x:y")]), Err(ManifestsAlone));
        assert_eq!(Recordable::new([]), Err(ManifestsAlone));
        assert!(Recordable::new([hash("ch:own"), hash("zh:own")]).is_ok());
        // Another program may have written the block of manifests alone.
        check(&entry("1.0.0", "ch:own ch:mac"), "1.0.0", "", ">= 1.0.0 | ch:mac ch:own h1:own");
    }

    #[test]
    fn a_line_is_restored_where_another_of_its_package_stayed() {
        let release: ReleaseHashes =
            [("linux_amd64", "ch:own h1:own zh:own"), ("darwin_arm64", "ch:mac h1:mac zh:mac")]
                .map(|(platform, lines)| (platform.parse().unwrap(), lines.split_whitespace().map(hash).collect()))
                .into();
        let after = entry("1.0.0", "ch:own ch:mac h1:own h1:mac zh:own zh:mac");
        let restored = |before: Option<&LockEntry>| {
            restored(before, &after, &release).iter().map(ToString::to_string).collect::<Vec<_>>().join(" ")
        };
        assert_eq!(restored(Some(&entry("1.0.0", "h1:own zh:own zh:mac"))), "ch:mac ch:own");
        assert_eq!(restored(Some(&entry("1.0.0", "h1:own"))), "ch:own");
        assert_eq!(restored(Some(&entry("1.0.0", "ch:own h1:own zh:mac"))), "ch:mac");
        assert_eq!(restored(Some(&entry("0.9.0", "h1:own"))), "");
        assert_eq!(restored(None), "");
    }
}
