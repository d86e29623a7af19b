//! Whether a package has the checksums that the lock file has for it.

use std::collections::{BTreeMap, BTreeSet};

use tofu_oci_types::{PackageHash, Platform, Scheme};

use crate::LockEntry;

/// The checksums of one package, as the caller computed them from its bytes.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct PackageHashes {
    /// Of the files; `None` before the package has been unpacked.
    pub h1: Option<PackageHash>,
    /// Of the zip archive; `None` if the package is not a zip.
    pub zh: Option<PackageHash>,
    /// Of the leaf manifest; `None` if the package does not come from an OCI repository.
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
/// These are claims. They decide only which lines of a lock file belong to another platform, never that a package is
/// right.
pub type ReleaseHashes = BTreeMap<Platform, BTreeSet<PackageHash>>;

/// What a lock entry says about a package.
#[derive(Clone, Debug, PartialEq, Eq)]
#[must_use]
pub enum LockVerdict {
    /// The entry has no checksum of a known scheme, so it locks no contents.
    Unlocked,
    /// The package is the one that was locked.
    Accepted(LineReport),
    /// The package is another one.
    Refused(LockRefusal),
}

/// Every line of an entry, with its origin.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct LineReport {
    /// The lines of known schemes, in the order of the file.
    pub lines: Vec<HashLine>,
}

/// One line of `hashes`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct HashLine {
    pub hash: PackageHash,
    pub origin: LineOrigin,
}

/// What a `ch:` line of another manifest means if the contents (`h1:`, `zh:`) match.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum ManifestLines {
    /// It does not refuse the package: one matching line of any scheme is enough.
    ///
    /// Spec: seed RFC, "Package checksums and signing": "match at least one of the recorded checksums".
    #[default]
    Optional,
    /// The package is refused: a rule of the trust policy demands the locked manifest itself.
    Required,
}

/// Whose checksum a line is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum LineOrigin {
    ThisPackage,
    /// The release names it for another platform.
    OtherPlatform(Platform),
    /// A leaf manifest (`ch:`) that this index lacks. The same packages have other manifests in another registry, so
    /// the line may be right there.
    OtherManifest,
    /// No package: the release names the checksums of this scheme for all its platforms, and this line is not among
    /// them.
    NoPackage,
    /// Unknown: the release does not name the checksums of all its platforms.
    Unknown,
}

impl LineReport {
    /// Lines that are wrong: no package of the release has them.
    pub fn wrong(&self) -> Vec<&PackageHash> {
        self.of(&LineOrigin::NoPackage)
    }

    /// Lines that may be wrong or belong to another platform.
    pub fn unexplained(&self) -> Vec<&PackageHash> {
        self.of(&LineOrigin::Unknown)
    }

    /// The `ch:` lines that may name this package in another index; empty if the package's own `ch:` is locked.
    pub fn other_manifests(&self) -> Vec<&PackageHash> {
        if self.has_own(Scheme::Ch) { Vec::new() } else { self.of(&LineOrigin::OtherManifest) }
    }

    /// Whether a line of this scheme is the package's own.
    pub fn has_own(&self, scheme: Scheme) -> bool {
        self.lines.iter().any(|line| line.origin == LineOrigin::ThisPackage && line.hash.scheme() == scheme)
    }

    fn of(&self, origin: &LineOrigin) -> Vec<&PackageHash> {
        self.lines.iter().filter(|line| line.origin == *origin).map(|line| &line.hash).collect()
    }
}

/// Why a package is not the one that was locked.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum LockRefusal {
    /// None of the entry's lines is a checksum of the package.
    #[error("{}", no_match(locked.len()))]
    NoMatch { locked: Vec<PackageHash>, found: PackageHashes },
    /// The entry names leaf manifests (`ch:`) and not this one, and they bind: it names no contents, or a rule requires
    /// them.
    #[error("the lock file names {}, but the release has {found}", manifests(locked))]
    OtherManifest {
        /// The `ch:` lines that could be this platform's.
        locked: Vec<PackageHash>,
        /// The `ch:` of the leaf that was found.
        found: PackageHash,
        /// Why the contents do not count: `Optional` if the entry names no contents.
        lines: ManifestLines,
    },
    /// None of the entry's lines is a checksum of any package of the release.
    #[error("{}", no_release(locked.len()))]
    OtherRelease { locked: Vec<PackageHash> },
}

fn no_match(locked: usize) -> String {
    match locked {
        1 => "the one checksum in the lock file is not this package's".to_owned(),
        _ => format!("none of the {locked} checksums in the lock file is this package's"),
    }
}

fn no_release(locked: usize) -> String {
    match locked {
        1 => "the one checksum in the lock file is not one of its packages'".to_owned(),
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
/// 1. An entry without `h1:`, `zh:` and `ch:` lines locks no contents.
/// 2. At least one known line must match, of any of the three schemes.
/// 3. `ch:` lines bind if the entry has no others, and if they are `Required`: one of them must be this leaf's, unless
///    the release's own index names each of them for *another* platform. Equal contents do not help then.
/// 4. Lines that do not match have another origin ([`LineOrigin`]); they stay and are reported. A line is wrong only if
///    the release names the checksums of that scheme for all its platforms.
///
/// Stricter than `OpenTofu` in 3 (it ignores `ch:`), more lenient in that `h1:` alone is enough.
///
/// Spec: `OpenTofu` 1.12, getproviders, `PackageMatchesAnyHash`; seed RFC, "Package checksums and signing".
pub fn check(entry: &LockEntry, package: &PackageHashes, release: &ReleaseHashes, lines: ManifestLines) -> LockVerdict {
    let locked = known(entry);
    if locked.is_empty() {
        return LockVerdict::Unlocked;
    }
    if let Some(refusal) = other_manifest(&locked, package, release, lines) {
        return LockVerdict::Refused(refusal);
    }
    let own: BTreeSet<&PackageHash> = package.iter().collect();
    if !locked.iter().any(|hash| own.contains(hash)) {
        return LockVerdict::Refused(LockRefusal::NoMatch { locked, found: package.clone() });
    }
    let line = |hash: PackageHash| HashLine { origin: origin(&hash, &own, release), hash };
    LockVerdict::Accepted(LineReport { lines: locked.into_iter().map(line).collect() })
}

/// The platforms that the lines of an entry belong to, sorted; empty unless the release explains every line.
pub fn locked_platforms(entry: &LockEntry, release: &ReleaseHashes) -> Vec<Platform> {
    if !unexplained(&known(entry), release).is_empty() {
        return Vec::new();
    }
    let locked = |hashes: &BTreeSet<PackageHash>| hashes.iter().any(|hash| entry.hashes.contains(hash));
    release.iter().filter(|(_, hashes)| locked(hashes)).map(|(platform, _)| platform.clone()).collect()
}

/// Judges a package before it is downloaded: a refusal if no `h1:` could change the verdict.
pub fn precheck(
    entry: &LockEntry,
    package: &PackageHashes,
    release: &ReleaseHashes,
    lines: ManifestLines,
) -> Option<LockRefusal> {
    let locked = known(entry);
    if let Some(refusal) = other_manifest(&locked, package, release, lines) {
        return Some(refusal);
    }
    let open = locked.is_empty() || locked.iter().any(|hash| hash.scheme() == Scheme::H1);
    let matched = locked.iter().any(|hash| package.iter().any(|own| own == hash));
    (!open && !matched).then(|| LockRefusal::NoMatch { locked, found: package.clone() })
}

fn known(entry: &LockEntry) -> Vec<PackageHash> {
    entry.hashes.iter().filter(|hash| hash.scheme() != Scheme::Other).cloned().collect()
}

fn other_manifest(
    locked: &[PackageHash],
    package: &PackageHashes,
    release: &ReleaseHashes,
    lines: ManifestLines,
) -> Option<LockRefusal> {
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
    (!binding.is_empty() && !binding.contains(found)).then(|| LockRefusal::OtherManifest {
        locked: binding,
        found: found.clone(),
        lines,
    })
}

fn origin(hash: &PackageHash, own: &BTreeSet<&PackageHash>, release: &ReleaseHashes) -> LineOrigin {
    if own.contains(hash) {
        return LineOrigin::ThisPackage;
    }
    if let Some((platform, _)) = release.iter().find(|(_, hashes)| hashes.contains(hash)) {
        return LineOrigin::OtherPlatform(platform.clone());
    }
    if hash.scheme() == Scheme::Ch {
        return LineOrigin::OtherManifest;
    }
    let names_scheme = |hashes: &BTreeSet<PackageHash>| {
        hashes.iter().any(|known| known.scheme() == hash.scheme())
            // The package's own checksums are known even if the release does not claim them.
            || hashes.iter().any(|known| known.scheme() == Scheme::Ch && own.contains(known))
    };
    if !release.is_empty() && release.values().all(names_scheme) { LineOrigin::NoPackage } else { LineOrigin::Unknown }
}

/// Judges the leaf manifest of a package alone: a refusal if the entry binds this platform to another one, whatever the
/// contents are.
pub fn check_manifest(
    entry: &LockEntry,
    found: &PackageHash,
    release: &ReleaseHashes,
    lines: ManifestLines,
) -> Option<LockRefusal> {
    let package = PackageHashes { ch: Some(found.clone()), ..PackageHashes::default() };
    other_manifest(&known(entry), &package, release, lines)
}

/// The platforms whose contents are locked with another leaf manifest than this release's: the same packages, published
/// anew. Empty if the release has every manifest that the entry names.
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

/// Judges a package that is to be recorded beside those of other platforms. `facts` are true checksums of the release's
/// packages.
///
/// A package without a line of its own may be new to the lock file. It is refused if a line matches no package although
/// all checksums of its scheme are known: the line may be for another package of this platform. Each platform that was
/// published anew explains one unclaimed `ch:` line; one line more may be this platform's.
pub fn check_addition(
    entry: &LockEntry,
    platform: &Platform,
    facts: &ReleaseHashes,
    lines: ManifestLines,
) -> Option<LockRefusal> {
    let locked = known(entry);
    let own = facts.get(platform)?;
    if locked.iter().any(|hash| own.contains(hash)) {
        return None;
    }
    let all_known = facts.values().all(|hashes| hashes.iter().any(|hash| hash.scheme() == Scheme::H1));
    // If every package is known, an unclaimed line of an archive cannot belong to another platform either.
    let mut orphans = if all_known { unexplained(&locked, facts) } else { orphans(&locked, facts) };
    let manifests = orphans.iter().filter(|hash| hash.scheme() == Scheme::Ch).count();
    if lines == ManifestLines::Optional && manifests <= published_anew(entry, facts).len() {
        orphans.retain(|hash| hash.scheme() != Scheme::Ch);
    }
    let of = |scheme| own.iter().find(|hash| hash.scheme() == scheme).cloned();
    let found = || PackageHashes { h1: of(Scheme::H1), zh: of(Scheme::Zh), ch: of(Scheme::Ch) };
    (!orphans.is_empty()).then(|| LockRefusal::NoMatch { locked: orphans, found: found() })
}

/// The lines for contents that no known package of the release has. `ch:` lines do not count: another index may have
/// them.
pub fn unclaimed(entry: &LockEntry, facts: &ReleaseHashes) -> Vec<PackageHash> {
    orphans(&known(entry), facts).into_iter().filter(|hash| hash.scheme() != Scheme::Ch).collect()
}

/// Whether the release's other packages must be known: the platform has no line of its own, and a line for contents is
/// unexplained. That line may be for another package of this platform.
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

/// Judges a release as a whole: at least one line of a known scheme must be `proven`, for any platform. So an entry for
/// one platform vouches for the release, and the others can be recorded from it.
///
/// `proven` are checksums that were computed here or that a trusted signature covers, and the digests of leaf manifests
/// and zips that the index leads to.
pub fn check_release(entry: &LockEntry, proven: &BTreeSet<PackageHash>) -> Option<LockRefusal> {
    let locked = known(entry);
    let matches = locked.is_empty() || locked.iter().any(|hash| proven.contains(hash));
    (!matches).then_some(LockRefusal::OtherRelease { locked })
}

#[cfg(test)]
mod tests;
