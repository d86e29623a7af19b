//! Does a package have the checksums that the lock file has for it?

use std::collections::{BTreeMap, BTreeSet};

use tofu_oci_types::{PackageHash, Platform, Scheme};

use crate::LockEntry;

/// The checksums of one package, as somebody computed them from its bytes.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct PackageHashes {
    /// Of the files; unknown before the package has been unpacked.
    pub h1: Option<PackageHash>,
    /// Of the zip archive; nothing for a package that is no zip.
    pub zh: Option<PackageHash>,
    /// Of the leaf manifest in an OCI repository; nothing for a package from elsewhere.
    pub ch: Option<PackageHash>,
}

impl PackageHashes {
    /// Those that are known.
    pub fn iter(&self) -> impl Iterator<Item = &PackageHash> {
        [&self.ch, &self.h1, &self.zh].into_iter().flatten()
    }
}

/// What the release says about the checksums of its platforms: leaf digests of the index (`ch:`), annotations.
///
/// These are claims. They decide only which lines of a lock file are *somebody else's*; never that a package is right.
pub type ReleaseHashes = BTreeMap<Platform, BTreeSet<PackageHash>>;

/// What a lock entry says about a package.
#[derive(Clone, Debug, PartialEq, Eq)]
#[must_use]
pub enum Verdict {
    /// The entry has no checksum of a scheme that is known here, so it says nothing.
    Unlocked,
    /// The package is the one that was locked.
    Accepted(Report),
    /// It is another one.
    Refused(Refusal),
}

/// Every line of an entry and whose it is.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Report {
    /// The lines of known schemes, in the order of the file.
    pub lines: Vec<Line>,
}

/// One line of `hashes`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Line {
    /// The line.
    pub hash: PackageHash,
    /// Whose it is.
    pub origin: Origin,
}

/// What a `ch:` line of another manifest means where the contents (`h1:`, `zh:`) are the locked ones.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum ManifestLines {
    /// Nothing that refuses the package: one matching line of any scheme is enough.
    ///
    /// Spec: seed RFC, "Package checksums and signing": "match at least one of the recorded checksums".
    #[default]
    Optional,
    /// The package is refused: a rule of the trust policy demands the locked manifest itself.
    Required,
}

/// Whose checksum a line is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Origin {
    /// The package's own.
    ThisPackage,
    /// The release names it for another platform.
    OtherPlatform(Platform),
    /// A leaf manifest (`ch:`) that this index does not have. The same packages have other manifests in another registry, so
    /// that it may be right there.
    OtherManifest,
    /// Nobody's: the release names the checksums of this scheme for all its platforms, and this is none of them.
    NoPackage,
    /// It cannot be known: the release does not name the checksums of all its platforms.
    Unknown,
}

impl Report {
    /// Lines that are wrong: no package of the release has them.
    pub fn wrong(&self) -> Vec<&PackageHash> {
        self.of(&Origin::NoPackage)
    }

    /// Lines that may be another platform's or wrong.
    pub fn unexplained(&self) -> Vec<&PackageHash> {
        self.of(&Origin::Unknown)
    }

    /// The `ch:` lines that may be this package's in another index, where none of them is the one that was found.
    pub fn other_manifests(&self) -> Vec<&PackageHash> {
        if self.has_own(Scheme::Ch) { Vec::new() } else { self.of(&Origin::OtherManifest) }
    }

    /// Whether a line of this scheme is the package's own.
    pub fn has_own(&self, scheme: Scheme) -> bool {
        self.lines.iter().any(|line| line.origin == Origin::ThisPackage && line.hash.scheme() == scheme)
    }

    fn of(&self, origin: &Origin) -> Vec<&PackageHash> {
        self.lines.iter().filter(|line| line.origin == *origin).map(|line| &line.hash).collect()
    }
}

/// Why a package is not the one that was locked.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum Refusal {
    /// None of the entry's lines is a checksum of the package.
    #[error("{}", no_match(locked.len()))]
    NoMatch {
        /// The lines of known schemes.
        locked: Vec<PackageHash>,
        /// What the package has.
        found: PackageHashes,
    },
    /// The entry names leaf manifests (`ch:`), and not this one; either it names nothing else, or they are required.
    #[error("the lock file names {}, but the release has {found}", manifests(locked))]
    OtherManifest {
        /// The `ch:` lines that could be this platform's.
        locked: Vec<PackageHash>,
        /// The `ch:` of the leaf that was found.
        found: PackageHash,
        /// Why the contents were not asked: `Optional` where the entry names no contents.
        lines: ManifestLines,
    },
    /// None of the entry's lines is a checksum of any package of the release.
    #[error("{}", no_release(locked.len()))]
    OtherRelease {
        /// The lines of known schemes.
        locked: Vec<PackageHash>,
    },
}

fn no_match(locked: usize) -> String {
    match locked {
        1 => "the one checksum in the lock file is not this package's".to_owned(),
        _ => format!("none of the {locked} checksums in the lock file is this package's"),
    }
}

fn no_release(locked: usize) -> String {
    match locked {
        1 => "the one checksum in the lock file is none of its packages'".to_owned(),
        _ => format!("none of the {locked} checksums in the lock file is one of its packages'"),
    }
}

fn manifests(hashes: &[PackageHash]) -> String {
    match hashes {
        [] => "no manifest".to_owned(),
        [one] => format!("the manifest {one}"),
        [one, rest @ ..] => format!("the manifest {one} and {} more", rest.len()),
    }
}

/// Judges a package whose checksums are all known.
///
/// 1. An entry without `h1:`, `zh:` and `ch:` lines says nothing.
/// 2. Of all known lines, one must match; that can be any of the three schemes.
/// 3. `ch:` lines bind where the entry has no others, and where they are `Required`: unless each of them is, by the digests
///    in the release's own index, the leaf of *another* platform, one must be this leaf's. Then another manifest is refused
///    although the contents are equal.
/// 4. Lines that do not match are somebody else's ([`Origin`]); they are kept and reported. A line counts as wrong only
///    where the release names the checksums of that scheme for every platform that it has.
///
/// Stricter than `OpenTofu` in 3 (it ignores `ch:`), more lenient in that `h1:` alone is enough.
///
/// Spec: `OpenTofu` 1.12, getproviders, `PackageMatchesAnyHash`; seed RFC, "Package checksums and signing".
pub fn check(entry: &LockEntry, package: &PackageHashes, release: &ReleaseHashes, lines: ManifestLines) -> Verdict {
    let locked = known(entry);
    if locked.is_empty() {
        return Verdict::Unlocked;
    }
    if let Some(refusal) = other_manifest(&locked, package, release, lines) {
        return Verdict::Refused(refusal);
    }
    let own: BTreeSet<&PackageHash> = package.iter().collect();
    if !locked.iter().any(|hash| own.contains(hash)) {
        return Verdict::Refused(Refusal::NoMatch { locked, found: package.clone() });
    }
    let line = |hash: PackageHash| Line { origin: origin(&hash, &own, release), hash };
    Verdict::Accepted(Report { lines: locked.into_iter().map(line).collect() })
}

/// The platforms that the lines of an entry belong to, sorted; none unless the release names every line's.
pub fn locked_platforms(entry: &LockEntry, release: &ReleaseHashes) -> Vec<Platform> {
    if !unexplained(&known(entry), release).is_empty() {
        return Vec::new();
    }
    let locked = |hashes: &BTreeSet<PackageHash>| hashes.iter().any(|hash| entry.hashes.contains(hash));
    release.iter().filter(|(_, hashes)| locked(hashes)).map(|(platform, _)| platform.clone()).collect()
}

/// Judges a package of which `h1:` is not known yet: a refusal when no `h1:` could change the verdict.
///
/// Nothing needs to be downloaded then.
pub fn precheck(
    entry: &LockEntry,
    package: &PackageHashes,
    release: &ReleaseHashes,
    lines: ManifestLines,
) -> Option<Refusal> {
    let locked = known(entry);
    if let Some(refusal) = other_manifest(&locked, package, release, lines) {
        return Some(refusal);
    }
    let open = locked.is_empty() || locked.iter().any(|hash| hash.scheme() == Scheme::H1);
    let matched = locked.iter().any(|hash| package.iter().any(|own| own == hash));
    (!open && !matched).then(|| Refusal::NoMatch { locked, found: package.clone() })
}

fn known(entry: &LockEntry) -> Vec<PackageHash> {
    entry.hashes.iter().filter(|hash| hash.scheme() != Scheme::Other).cloned().collect()
}

fn other_manifest(
    locked: &[PackageHash],
    package: &PackageHashes,
    release: &ReleaseHashes,
    lines: ManifestLines,
) -> Option<Refusal> {
    let found = package.ch.as_ref()?;
    if lines == ManifestLines::Optional && locked.iter().any(|hash| hash.scheme() != Scheme::Ch) {
        return None;
    }
    let own_platform = release.values().filter(|hashes| hashes.contains(found));
    let elsewhere = |hash: &PackageHash| {
        release.values().any(|hashes| hashes.contains(hash))
            && !own_platform.clone().any(|hashes| hashes.contains(hash))
    };
    let binding: Vec<PackageHash> =
        locked.iter().filter(|hash| hash.scheme() == Scheme::Ch && !elsewhere(hash)).cloned().collect();
    (!binding.is_empty() && !binding.contains(found)).then(|| Refusal::OtherManifest {
        locked: binding,
        found: found.clone(),
        lines,
    })
}

fn origin(hash: &PackageHash, own: &BTreeSet<&PackageHash>, release: &ReleaseHashes) -> Origin {
    if own.contains(hash) {
        return Origin::ThisPackage;
    }
    if let Some((platform, _)) = release.iter().find(|(_, hashes)| hashes.contains(hash)) {
        return Origin::OtherPlatform(platform.clone());
    }
    if hash.scheme() == Scheme::Ch {
        return Origin::OtherManifest;
    }
    let names_scheme = |hashes: &BTreeSet<PackageHash>| {
        hashes.iter().any(|known| known.scheme() == hash.scheme())
            // The package's own checksums are known even where the release does not claim them.
            || hashes.iter().any(|known| known.scheme() == Scheme::Ch && own.contains(known))
    };
    if !release.is_empty() && release.values().all(names_scheme) { Origin::NoPackage } else { Origin::Unknown }
}

/// Judges the leaf manifest of a package alone: a refusal when the entry binds this platform to another one, whatever the
/// contents are.
pub fn check_manifest(
    entry: &LockEntry,
    found: &PackageHash,
    release: &ReleaseHashes,
    lines: ManifestLines,
) -> Option<Refusal> {
    let package = PackageHashes { ch: Some(found.clone()), ..PackageHashes::default() };
    other_manifest(&known(entry), &package, release, lines)
}

/// The platforms whose contents are locked under another leaf manifest than this release's: the same packages, published
/// anew. None where the entry names no manifest that the release does not have.
pub fn published_anew(entry: &LockEntry, facts: &ReleaseHashes) -> Vec<Platform> {
    if foreign_manifests(&known(entry), facts).is_empty() {
        return Vec::new();
    }
    let locked = |hashes: &BTreeSet<PackageHash>, manifest: bool| {
        hashes.iter().any(|hash| (hash.scheme() == Scheme::Ch) == manifest && entry.hashes.contains(hash))
    };
    let has_leaf = |hashes: &BTreeSet<PackageHash>| hashes.iter().any(|hash| hash.scheme() == Scheme::Ch);
    let anew = |hashes: &BTreeSet<PackageHash>| has_leaf(hashes) && locked(hashes, false) && !locked(hashes, true);
    facts.iter().filter(|(_, hashes)| anew(hashes)).map(|(platform, _)| platform.clone()).collect()
}

fn foreign_manifests(locked: &[PackageHash], release: &ReleaseHashes) -> Vec<PackageHash> {
    unexplained(locked, release).into_iter().filter(|hash| hash.scheme() == Scheme::Ch).collect()
}

/// Judges a package that is to be recorded beside those of other platforms: `facts` are true checksums of the release,
/// of the platform and of others.
///
/// A package without a line of its own may be new to the lock file. It is refused where a line is nobody's although all
/// checksums of its scheme are known: that may be the line of this platform, for another package. `ch:` lines that are
/// nobody's are explained by as many platforms that were published anew; one more may be the line of this platform.
pub fn check_addition(
    entry: &LockEntry,
    platform: &Platform,
    facts: &ReleaseHashes,
    lines: ManifestLines,
) -> Option<Refusal> {
    let locked = known(entry);
    let own = facts.get(platform)?;
    if locked.iter().any(|hash| own.contains(hash)) {
        return None;
    }
    let all_known = facts.values().all(|hashes| hashes.iter().any(|hash| hash.scheme() == Scheme::H1));
    // Where every package has been looked at, an archive's line that is nobody's cannot be another platform's either.
    let mut orphans = if all_known { unexplained(&locked, facts) } else { orphans(&locked, facts) };
    let manifests = orphans.iter().filter(|hash| hash.scheme() == Scheme::Ch).count();
    if lines == ManifestLines::Optional && manifests <= published_anew(entry, facts).len() {
        orphans.retain(|hash| hash.scheme() != Scheme::Ch);
    }
    let of = |scheme| own.iter().find(|hash| hash.scheme() == scheme).cloned();
    let found = || PackageHashes { h1: of(Scheme::H1), zh: of(Scheme::Zh), ch: of(Scheme::Ch) };
    (!orphans.is_empty()).then(|| Refusal::NoMatch { locked: orphans, found: found() })
}

/// The lines for contents that no package of the release has, as far as that can be known. `ch:` lines of another index are
/// none of them.
pub fn nobodys(entry: &LockEntry, facts: &ReleaseHashes) -> Vec<PackageHash> {
    orphans(&known(entry), facts).into_iter().filter(|hash| hash.scheme() != Scheme::Ch).collect()
}

/// Whether a platform may be new to the lock file, while lines for contents are not explained by what is known: they may
/// be its own, for another package. More must be known of the release then.
pub fn needs_more_facts(entry: &LockEntry, platform: &Platform, facts: &ReleaseHashes) -> bool {
    let locked = known(entry);
    let own = |hashes: &BTreeSet<PackageHash>| locked.iter().any(|hash| hashes.contains(hash));
    !facts.get(platform).is_some_and(own) && unexplained(&locked, facts).iter().any(|hash| hash.scheme() != Scheme::Ch)
}

fn unexplained(locked: &[PackageHash], release: &ReleaseHashes) -> Vec<PackageHash> {
    let named = |hash: &PackageHash| release.values().any(|hashes| hashes.contains(hash));
    locked.iter().filter(|hash| !named(hash)).cloned().collect()
}

fn orphans(locked: &[PackageHash], facts: &ReleaseHashes) -> Vec<PackageHash> {
    let complete = |scheme| facts.values().all(|hashes| hashes.iter().any(|hash| hash.scheme() == scheme));
    let has = |hash: &PackageHash| facts.values().any(|hashes| hashes.contains(hash));
    locked.iter().filter(|hash| complete(hash.scheme()) && !has(hash)).cloned().collect()
}

/// Judges a release as a whole: of the lines of known schemes at least one must be `proven`, whatever platform it is of.
/// So an entry for one platform vouches for the release that the others are recorded from.
///
/// `proven` are checksums that were computed here or that a trusted signature covers, and the digests of leaf manifests
/// and zips that the index leads to.
pub fn check_release(entry: &LockEntry, proven: &BTreeSet<PackageHash>) -> Option<Refusal> {
    let locked = known(entry);
    let matches = locked.is_empty() || locked.iter().any(|hash| proven.contains(hash));
    (!matches).then_some(Refusal::OtherRelease { locked })
}

#[cfg(test)]
mod tests;
