//! From "some package" to "the package": the step that nothing gets around.

use tofu_oci_lockfile::{LockEntry, PackageHashes, Report, Verdict, check, precheck};
use tofu_oci_source::Offer;
use tofu_oci_types::{Event, PackageHash, Reporter, Scheme};

use crate::stage::{Archive, Staged, package_error};
use crate::{InstallError, subject};

/// A package that may be made visible. Only [`verify`] makes one.
#[derive(Debug)]
pub(crate) struct Verified {
    pub(crate) staged: Staged,
    pub(crate) hashes: PackageHashes,
}

/// What is known of an offered package before it has been fetched.
pub(crate) fn known_before(offer: &Offer) -> PackageHashes {
    PackageHashes { h1: None, zh: offer.zh(), ch: Some(offer.ch()) }
}

/// Asks the lock file before anything is downloaded: a package that no `h1:` can save is refused here.
pub(crate) fn check_before(offer: &Offer, entry: Option<&LockEntry>) -> Result<(), InstallError> {
    let refusal = entry.and_then(|entry| precheck(entry, &known_before(offer), &offer.claims));
    refusal.map_or(Ok(()), |refusal| Err(not_the_locked(offer, refusal)))
}

/// Demands the executable and the lock file's consent.
pub(crate) fn verify(
    staged: Staged,
    offer: &Offer,
    entry: Option<&LockEntry>,
    reporter: &dyn Reporter,
) -> Result<Verified, InstallError> {
    staged.contents.require_executable(offer.address.provider_type()).map_err(|error| package_error(offer, error))?;
    let hashes = PackageHashes { h1: Some(staged.contents.h1()), ..known_before(offer) };
    check_lines(offer, entry, &hashes, reporter)?;
    warn_of_false_claims(offer, &hashes, reporter);
    if staged.archive == Archive::MadeHere {
        let text = format!(
            "{} is published as an image: its zip was made here, so it is not the release's own",
            subject(&offer.address, &offer.version, &offer.platform)
        );
        reporter.event(&Event::note("zip-made-here", text));
    }
    Ok(Verified { staged, hashes })
}

/// Demands the lock file's consent to a package whose checksums are known, and reports lines that are not its own.
pub(crate) fn check_lines(
    offer: &Offer,
    entry: Option<&LockEntry>,
    hashes: &PackageHashes,
    reporter: &dyn Reporter,
) -> Result<(), InstallError> {
    let Some(entry) = entry else { return Ok(()) };
    match check(entry, hashes, &offer.claims) {
        Verdict::Unlocked => Ok(()),
        Verdict::Refused(refusal) => Err(not_the_locked(offer, refusal)),
        Verdict::Accepted(report) => {
            report_lines(offer, &report, reporter);
            Ok(())
        }
    }
}

fn not_the_locked(offer: &Offer, refusal: tofu_oci_lockfile::Refusal) -> InstallError {
    InstallError::NotTheLockedPackage {
        address: offer.address.clone(),
        version: offer.version.clone(),
        platform: offer.platform.clone(),
        place: offer.place.clone(),
        refusal,
    }
}

fn report_lines(offer: &Offer, report: &Report, reporter: &dyn Reporter) {
    let (address, version) = (&offer.address, &offer.version);
    let wrong = report.wrong();
    if !wrong.is_empty() {
        let text = format!("the lock file has checksums of {address} {version} that no package has: {}", list(&wrong));
        let event = Event::warning("lock-lines-wrong", text);
        reporter.event(&event.with_hint("remove these lines: nothing was refused because of them, nor protected"));
    }
    let unexplained = report.unexplained();
    if !unexplained.is_empty() {
        let text = format!(
            "the lock file has checksums of {address} {version} that are not this package's: {}",
            list(&unexplained)
        );
        let event = Event::note("lock-lines-unexplained", text);
        reporter.event(&event.with_hint("they may belong to other platforms, or be wrong"));
    }
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
            offer.place,
            subject(&offer.address, &offer.version, &offer.platform)
        );
        reporter.event(&Event::warning("false-claim", text).with_hint("tell the publisher: push the release again"));
    }
}
