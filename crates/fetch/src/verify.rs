//! Whether a package is one that its place admits, and which of its checksums are recorded: the checks that make it
//! verified.

use std::path::Path;

use tofu_oci_archive::{Limits, PackageContents};
use tofu_oci_disk::Waiter;
use tofu_oci_lockfile::{
    LineReport, LockEntry, LockVerdict, ManifestLines, PackageHashes, check, locked_platforms, precheck,
};
use tofu_oci_source::{Offer, Package, Part, ReleaseId};
use tofu_oci_types::{Event, PackageHash, ProviderAddr, Reporter, Scheme, Version};

use crate::blocking::blocking;
use crate::error::package_error;
use crate::guard::package_lock;
use crate::place::{PackageForm, PackagePath, PathContents, Writers};
use crate::stage::{ArchiveOrigin, PackageOrigin, Staged};
use crate::{FetchError, PackageCache, subject};

/// A package that may be made visible. Only `verify` makes one.
#[derive(Debug)]
pub struct Verified {
    staged: Staged,
    place: PackagePath,
    hashes: PackageHashes,
    report: LineReport,
    /// Bytes that came from the place.
    received: u64,
    /// What is known of files that lie in the place already.
    known: PackageCache,
}

/// The result of putting a package in its place.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Placement {
    Now,
    /// The same package was there before.
    Before,
}

impl Verified {
    /// The package's checksums, all computed or verified here.
    pub fn hashes(&self) -> &PackageHashes {
        &self.hashes
    }

    /// The folder or archive, before it is put in its place.
    pub fn path(&self) -> &Path {
        &self.staged.package
    }

    /// Where it was taken from.
    pub fn origin(&self) -> PackageOrigin {
        self.staged.origin
    }

    /// Its folder of files, and what they hold; `None` for an archive, and for a link to a folder of the user.
    pub(crate) fn folder(&self) -> Option<(&Path, &PackageContents)> {
        let is_folder = self.place.form == PackageForm::Folder && !self.staged.package.is_symlink();
        is_folder.then_some((&self.staged.package, &self.staged.contents))
    }

    /// How many bytes came from its place, also those of a small layer that was not used.
    pub fn bytes_received(&self) -> u64 {
        self.received
    }

    /// The same after so many bytes.
    pub(crate) fn received(self, received: u64) -> Self {
        Self { received, ..self }
    }

    /// The same package in files that the cache has, too. What it was fetched from stays.
    pub(crate) async fn sharing(self, mut cached: Staged) -> Self {
        let Staged { mut staging, archive, origin, zh, .. } = self.staged;
        cached.staging.take_parents(&mut staging);
        // It removes the files.
        blocking(move || drop(staging)).await;
        Self { staged: Staged { archive, origin, zh, ..cached }, ..self }
    }

    /// The same, with what is known of files that lie in the place already.
    pub(crate) fn knowing(self, known: PackageCache) -> Self {
        Self { known, ..self }
    }

    /// Which packages the lock file's lines belong to.
    pub fn report(&self) -> &LineReport {
        &self.report
    }

    /// Bytes of the package's files.
    pub fn bytes(&self) -> u64 {
        self.staged.contents.bytes()
    }

    /// Makes the package visible in its place, unless the same one is there already.
    ///
    /// # Errors
    /// [`FetchError::LocallyModified`] if something else lies there.
    pub async fn place(
        self,
        offer: &Offer,
        limits: &Limits,
        waiter: &Waiter,
        reporter: &dyn Reporter,
    ) -> Result<Placement, FetchError> {
        let _lock = match self.place.writers {
            Writers::OpenTofu => Some(package_lock(&self.place.path, waiter, reporter).await?),
            Writers::Ourselves => None,
        };
        let (address, version, limits) = (offer.address().clone(), offer.version().clone(), limits.clone());
        blocking(move || self.put(&limits, address, version)).await
    }

    /// Renames the package into its place.
    fn put(mut self, limits: &Limits, address: ProviderAddr, version: Version) -> Result<Placement, FetchError> {
        let Self { staged, place, hashes, known, .. } = &mut self;
        let vacant = |contents: &PathContents| matches!(contents, PathContents::Nothing | PathContents::DanglingLink);
        let mut existing = place.inspect(limits, known)?;
        if vacant(&existing) {
            match place.put(&staged.package, &existing) {
                Ok(()) => {
                    staged.staging.keep_parents();
                    return Ok(Placement::Now);
                }
                // Another task or program was faster; its package decides.
                Err(error) => {
                    existing = place.inspect(limits, known)?;
                    if vacant(&existing) {
                        return Err(error);
                    }
                }
            }
        }
        match existing {
            PathContents::Package(package)
                if Some(&package.h1()) == hashes.h1.as_ref() && package.is_archive(hashes.zh.as_ref()) =>
            {
                Ok(Placement::Before)
            }
            // A link to another folder: nothing is lost with it.
            contents if place.path.is_symlink() && staged.package.is_symlink() => {
                place.put(&staged.package, &contents)?;
                staged.staging.keep_parents();
                Ok(Placement::Now)
            }
            _ => Err(FetchError::LocallyModified { address, version, path: place.path.clone() }),
        }
    }
}

/// What a package is compared with: its entry in the lock file, and how `ch:` lines count.
#[derive(Clone, Copy, Debug)]
pub struct ExpectedHashes<'a> {
    /// The entry of the package's version.
    pub entry: &'a LockEntry,
    /// How `ch:` lines count.
    pub manifests: ManifestLines,
}

/// What is known of an offered package before it has been fetched.
pub fn known_before(offer: &Offer) -> PackageHashes {
    PackageHashes { h1: None, zh: offer.zh(), ch: offer.ch() }
}

/// Compares the offer with the lock file before the download: refuses a package if no `h1:` could change that.
pub fn check_before(offer: &Offer, locked: Option<ExpectedHashes<'_>>) -> Result<(), FetchError> {
    let Some(ExpectedHashes { entry, manifests }) = locked else { return Ok(()) };
    if matches!(offer.package, Package::Zip(Part { digest: None, .. })) {
        // Only its bytes say which zip it is.
        return Ok(());
    }
    match precheck(entry, &known_before(offer), &offer.claims, manifests) {
        Some(refusal) => Err(not_the_locked(offer, entry, refusal)),
        None => Ok(()),
    }
}

/// Checks that the package has the executable and agrees with the lock file.
pub(crate) fn verify(
    staged: Staged,
    place: &PackagePath,
    offer: &Offer,
    locked: Option<ExpectedHashes<'_>>,
    reporter: &dyn Reporter,
) -> Result<Verified, FetchError> {
    staged.contents.require_executable(offer.address().provider_type()).map_err(|error| package_error(offer, error))?;
    let known = known_before(offer);
    let zh = known.zh.or_else(|| staged.zh.clone());
    let hashes = PackageHashes { h1: Some(staged.contents.h1()), zh, ..known };
    check_allowed(offer, &hashes)?;
    let report = check_lines(offer, locked, &hashes)?;
    warn_of_false_claims(offer, &hashes, reporter);
    if staged.archive == ArchiveOrigin::MadeHere {
        let published = if offer.kind().is_some() { "an image" } else { "a folder" };
        let text = format!(
            "{} is published as {published}: its zip was made here, so it is not the release's own",
            subject(offer.address(), offer.version(), &offer.platform)
        );
        reporter.event(&Event::note("zip-made-here", text));
    }
    Ok(Verified { staged, place: place.clone(), hashes, report, received: 0, known: PackageCache::off() })
}

/// Checks that the package is one that its place admits.
///
/// Spec: `OpenTofu` 1.12, `PackageMatchesAnyHash`; measured: one match suffices, in whatever order.
fn check_allowed(offer: &Offer, hashes: &PackageHashes) -> Result<(), FetchError> {
    if offer.allowed.is_empty() || hashes.iter().any(|hash| offer.allowed.contains(hash)) {
        return Ok(());
    }
    Err(FetchError::not_the_offered(offer, hashes.clone()))
}

/// The checksums that are recorded of a package: its `zh:` only if the place names it. A lock file that a folder has
/// filled is then the same as that of `OpenTofu`.
///
/// Spec: `OpenTofu` 1.12, `lock_hash_recording.json` (measured).
pub fn recorded(offer: &Offer, hashes: &PackageHashes) -> PackageHashes {
    let named = |zh: &PackageHash| offer.zh().as_ref() == Some(zh) || offer.allowed.contains(zh);
    PackageHashes { zh: hashes.zh.clone().filter(named), ..hashes.clone() }
}

/// Checks that a package with these checksums agrees with the lock file. The report says which packages the lines
/// belong to.
pub fn check_lines(
    offer: &Offer,
    locked: Option<ExpectedHashes<'_>>,
    hashes: &PackageHashes,
) -> Result<LineReport, FetchError> {
    let Some(ExpectedHashes { entry, manifests }) = locked else { return Ok(LineReport::default()) };
    match check(entry, hashes, &offer.claims, manifests) {
        LockVerdict::Unlocked => Ok(LineReport::default()),
        LockVerdict::Refused(refusal) => Err(not_the_locked(offer, entry, refusal)),
        LockVerdict::Accepted(report) => Ok(report),
    }
}

fn not_the_locked(offer: &Offer, entry: &LockEntry, refusal: tofu_oci_lockfile::LockRefusal) -> FetchError {
    FetchError::NotTheLockedPackage {
        address: offer.address().clone(),
        version: offer.version().clone(),
        platform: offer.platform.clone(),
        place: offer.place().clone(),
        refusal,
        locked_for: locked_platforms(entry, &offer.claims),
    }
}

/// Warns of an accepted package with another manifest than the locked one.
fn report_manifest(offer: &Offer, report: &LineReport, reporter: &dyn Reporter) {
    let (locked, Some(found)) = (report.other_manifests(), offer.ch()) else { return };
    if locked.is_empty() {
        return;
    }
    let subject = subject(offer.address(), offer.version(), &offer.platform);
    let text = format!("{} has {subject} under {found}, and the lock file names {}", offer.place(), list(&locked));
    reporter.event(&Event::warning(OTHER_MANIFEST, text).with_hint(PUBLISHED_ANEW));
}

/// The warning that a package has another manifest than the locked one.
pub const OTHER_MANIFEST: &str = "other-manifest";

/// What the warning means.
pub const PUBLISHED_ANEW: &str = "the contents are the locked ones, so the new line is added; \
     manifest_checksums = \"required\" in a rule of trust.toml refuses other manifests";

/// Warns of another manifest, and of lines that match no package if no line of their scheme is this package's.
pub fn report_wrong(offer: &Offer, report: &LineReport, reporter: &dyn Reporter) {
    report_manifest(offer, report, reporter);
    let mut wrong = report.wrong();
    wrong.retain(|hash| !report.has_own(hash.scheme()) && may_be_own(offer, hash));
    if wrong.is_empty() {
        return;
    }
    let ReleaseId { address, version, place, .. } = offer.release.id();
    let text = format!("the lock file has checksums of {address} {version} that no package has: {}", list(&wrong));
    let hint = format!("unless they are of platforms that {place} does not have, remove these lines: they are wrong");
    reporter.event(&Event::warning("lock-lines-wrong", text).with_hint(hint));
}

/// Reports lines that may be wrong or belong to another platform.
pub fn report_unexplained(offer: &Offer, report: &LineReport, reporter: &dyn Reporter) {
    let ReleaseId { address, version, .. } = offer.release.id();
    let mut lines = report.unexplained();
    lines.extend(report.wrong().into_iter().filter(|hash| report.has_own(hash.scheme())));
    lines.retain(|hash| may_be_own(offer, hash));
    if lines.is_empty() {
        return;
    }
    let text =
        format!("the lock file has checksums of {address} {version} that are not this package's: {}", list(&lines));
    let code = "lock-lines-unexplained";
    let event = if zh_is_suspicious(report) { Event::warning(code, text) } else { Event::note(code, text) };
    reporter.event(&event.with_hint("they may belong to other platforms, or be wrong"));
}

/// Whether a line of this scheme could be the package's, and is not known to be of something else. Only a zip has a `zh:`:
/// beside another package, `zh:` lines belong to the same contents elsewhere.
fn may_be_own(offer: &Offer, hash: &PackageHash) -> bool {
    if offer.signed.contains(hash) {
        return false;
    }
    hash.scheme() != Scheme::Zh || matches!(offer.package, Package::Zip(_))
}

/// Whether there are unexplained `zh:` lines and none of this package. `zh:` lines are written for all platforms at
/// once, so they are more likely wrong than incomplete.
pub fn zh_is_suspicious(report: &LineReport) -> bool {
    report.unexplained().iter().any(|hash| hash.scheme() == Scheme::Zh) && !report.has_own(Scheme::Zh)
}

/// At most three of them by name.
fn list(hashes: &[&PackageHash]) -> String {
    let mut named: Vec<String> = hashes.iter().take(3).map(ToString::to_string).collect();
    if hashes.len() > named.len() {
        named.push(format!("and {} more", hashes.len() - named.len()));
    }
    named.join(", ")
}

fn warn_of_false_claims(offer: &Offer, hashes: &PackageHashes, reporter: &dyn Reporter) {
    let claimed_h1 = offer.claims.get(&offer.platform).into_iter().flatten().find(|hash| hash.scheme() == Scheme::H1);
    if let (Some(claimed), Some(found)) = (claimed_h1, &hashes.h1)
        && claimed != found
    {
        let text = format!(
            "{} says that {} has {claimed}, but it has {found}",
            offer.place(),
            subject(offer.address(), offer.version(), &offer.platform)
        );
        reporter.event(&Event::warning("false-claim", text).with_hint("tell the publisher: push the release again"));
    }
}
