//! Which platforms the lines of a provider cover.

use std::collections::BTreeSet;

use tofu_oci_lockfile::{LockEntry, ReleaseHashes};
use tofu_oci_trust::NoticeReason;
use tofu_oci_types::{PackageHash, Place, Platform, ProviderAddr, Scheme};

use crate::model::Finding;
use crate::rules::catalogue::lock_file::{
    LOCK_H1_ONLY, LOCK_LINE_UNKNOWN, LOCK_NOT_ASKED, LOCK_PLATFORM, LOCK_PLATFORM_NOT_OFFERED, LOCK_VERSION_DEPRECATED,
    LOCK_VERSION_GONE,
};

/// A locked provider to compare with its release.
#[derive(Clone, Copy, Debug)]
pub struct Coverage<'a> {
    /// The lock file as the user named it.
    pub path: &'a str,
    pub address: &'a ProviderAddr,
    pub entry: &'a LockEntry,
    /// The platforms that must be covered.
    pub platforms: &'a [Platform],
    /// The place of the release.
    pub place: &'a Place,
    /// The checksums of its platforms: leaf digests, annotations, and the `zh:` of every zip.
    pub release: &'a ReleaseHashes,
}

/// The platforms that no line covers, and lines that belong to no package.
pub fn coverage(asked: &Coverage<'_>) -> Vec<Finding> {
    let mut found = Vec::new();
    for platform in asked.platforms {
        found.extend(of_platform(asked, platform).map(|finding| finding.of_platform(Some(platform))));
    }
    found.extend(unknown_lines(asked));
    found.into_iter().map(|finding| finding.of_version(&asked.entry.version)).collect()
}

/// A provider whose release could not be read.
pub fn not_asked(path: &str, address: &ProviderAddr, entry: &LockEntry, problem: &str) -> Finding {
    LOCK_NOT_ASKED.at(path, format!("{address} {}: {problem}", entry.version)).of_version(&entry.version)
}

/// A locked version that its place does not have.
pub fn version_gone(path: &str, address: &ProviderAddr, entry: &LockEntry, problem: &str) -> Finding {
    LOCK_VERSION_GONE.at(path, format!("{address} {}: {problem}", entry.version)).of_version(&entry.version)
}

/// A locked version that its publisher has deprecated.
pub fn version_deprecated(path: &str, address: &ProviderAddr, entry: &LockEntry, reason: &NoticeReason) -> Finding {
    let said = format!("{address} {}: its publisher has deprecated it: {reason}", entry.version);
    LOCK_VERSION_DEPRECATED.at(path, said).of_version(&entry.version)
}

fn of_platform(asked: &Coverage<'_>, platform: &Platform) -> Option<Finding> {
    let Coverage { path, address, entry, place, .. } = *asked;
    let version = &entry.version;
    let Some(hashes) = asked.release.get(platform) else {
        let said = format!("{address} {version}: {place} has no package for {platform}");
        return Some(LOCK_PLATFORM_NOT_OFFERED.at(path, said));
    };
    let has = |scheme: Scheme| hashes.iter().any(|hash| hash.scheme() == scheme && entry.hashes.contains(hash));
    if has(Scheme::Zh) {
        return None;
    }
    if has(Scheme::H1) {
        // An entry with h1: lines alone has a finding of its own already.
        let zh_elsewhere = entry.hashes.iter().any(|hash| hash.scheme() == Scheme::Zh);
        let said = format!("{address} {version}: {platform} is covered by h1: alone");
        return zh_elsewhere.then(|| LOCK_H1_ONLY.at(path, said));
    }
    let known: BTreeSet<Scheme> = hashes.iter().map(PackageHash::scheme).collect();
    let open = entry.hashes.iter().any(|hash| hash.scheme() == Scheme::H1 && !of_release(asked, hash));
    let said = match (has(Scheme::Ch), open && !known.contains(&Scheme::H1)) {
        (true, _) => "only a ch: line covers it, which OpenTofu ignores",
        (false, true) => "no zh: line covers it, and whose package its h1: lines are the release does not say",
        (false, false) => "no line covers it",
    };
    Some(LOCK_PLATFORM.at(path, format!("{address} {version}: {platform}: {said}")))
}

/// Lines of a scheme for which the release has all checksums, and this one is not among them.
fn unknown_lines(asked: &Coverage<'_>) -> Vec<Finding> {
    let Coverage { path, address, entry, place, release, .. } = *asked;
    let names_all = |scheme: Scheme| {
        !release.is_empty() && release.values().all(|hashes| hashes.iter().any(|known| known.scheme() == scheme))
    };
    let strange =
        |hash: &&PackageHash| hash.scheme() != Scheme::Other && names_all(hash.scheme()) && !of_release(asked, hash);
    let said = |hash: &PackageHash| format!("{address} {}: `{hash}` is not a package of {place}", entry.version);
    entry.hashes.iter().filter(strange).map(|hash| LOCK_LINE_UNKNOWN.at(path, said(hash))).collect()
}

fn of_release(asked: &Coverage<'_>, hash: &PackageHash) -> bool {
    asked.release.values().any(|hashes| hashes.contains(hash))
}
