//! What an installation would do. It asks the places, and fetches no package and writes nothing.

use serde::Serialize;
use tofu_oci_fetch::{FetchError, PathContents, ProvedContents, check_lines, known_before};
use tofu_oci_lockfile::{LockFile, PackageHashes};
use tofu_oci_types::{PackageHash, Reporter, Scheme};

use crate::package::{InstallContext, JudgedOffer, LocalState, PackageInstall, hashes, package};
use crate::plan::{InstallStep, plan};
use crate::record::{InstallRecord, Merged, merged};
use crate::{InstallError, InstallOutcome, InstallRequest, Installed, LockWrite, NarrowEntry, Options};

/// What an installation would do.
#[derive(Debug)]
pub struct InstallPreview {
    /// One for each request, in their order.
    pub packages: Vec<PlannedPackage>,
    /// What the lock file would lock, if the releases are what they say.
    pub lock: LockFile,
    /// New entries of the lock file that would lack platforms, by address.
    pub narrow: Vec<NarrowEntry>,
}

/// What would be done about one package.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct PlannedPackage {
    /// The package, as if it were in its place.
    #[serde(flatten)]
    pub installed: Installed,
    /// Bytes to fetch.
    pub download: u64,
    /// Those of its checksums that the release claims and no signature covers.
    pub claimed: Vec<PackageHash>,
}

/// What [`install`](fn@crate::install) would do now, or [`install_locked`](crate::install_locked) with
/// [`LockWrite::Compare`].
///
/// # Errors
/// That of the first request that would fail, as far as that is known without the packages.
pub async fn preview(
    requests: &[InstallRequest],
    options: &Options,
    write: LockWrite,
    reporter: &dyn Reporter,
) -> Result<InstallPreview, InstallError> {
    let context = InstallContext::new(options, write, reporter);
    let file = options.lock.file();
    let planned = context.each(&context.guided(requests.iter(), file), PackageInstall::preview).await?;
    // Without any checksum that binds, what would be recorded is not known.
    let binds = |(_, completed): &(_, &InstallRecord)| completed.hashes.h1.is_some() || completed.hashes.zh.is_some();
    let pairs = requests.iter().zip(planned.iter().map(|planned| &planned.completed)).filter(binds);
    let Merged { file: lock, narrow } = merged(file, pairs, &options.forget, &options.trust.policy)?;
    let package = |PlannedInstall { completed, download, claimed }: PlannedInstall| PlannedPackage {
        installed: completed.installed,
        download,
        claimed: claimed.into_iter().collect(),
    };
    Ok(InstallPreview { packages: planned.into_iter().map(package).collect(), lock, narrow })
}

/// What would come of one request.
struct PlannedInstall {
    completed: InstallRecord,
    download: u64,
    claimed: Option<PackageHash>,
}

impl PackageInstall<'_> {
    async fn preview(self) -> Result<PlannedInstall, InstallError> {
        let found = self.look().await?;
        match plan(&found.seen(self.not_asked(&found), None)) {
            InstallStep::Keep(_) => return Ok(self.kept(&found, None)),
            InstallStep::Link(_) => return Ok(self.linked(&found, None)),
            InstallStep::Fetch => {}
        }
        let offered = self.ask(&found).await?;
        match found.step(&offered)? {
            InstallStep::Keep(by) => Ok(self.kept(&found, by.offer(&offered))),
            InstallStep::Link(by) => Ok(self.linked(&found, by.offer(&offered))),
            InstallStep::Fetch => self.fetched(&found, &offered).await,
        }
    }

    fn kept(&self, found: &LocalState<'_>, offered: Option<&JudgedOffer>) -> PlannedInstall {
        self.present(found, InstallOutcome::AlreadyInstalled, &found.installed, offered)
    }

    fn linked(&self, found: &LocalState<'_>, offered: Option<&JudgedOffer>) -> PlannedInstall {
        let (_, contents) = found.cached.as_ref().expect("`plan` links only what is cached");
        self.present(found, InstallOutcome::Linked, contents, offered)
    }

    fn present(
        &self,
        found: &LocalState<'_>,
        outcome: InstallOutcome,
        contents: &PathContents,
        offered: Option<&JudgedOffer>,
    ) -> PlannedInstall {
        let package = package(contents);
        let completed = self.completed(found, outcome, package.bytes(), hashes(package, offered), offered);
        PlannedInstall { completed, download: 0, claimed: None }
    }

    /// A package that would be fetched, with the `h1:` that the release claims for it.
    async fn fetched(&self, found: &LocalState<'_>, offered: &JudgedOffer) -> Result<PlannedInstall, InstallError> {
        let JudgedOffer { offer, judgement } = offered;
        self.context.trust_checker.report_notice(&*offer.release).await;
        let of = |claims: &std::collections::BTreeSet<PackageHash>| {
            claims.iter().find(|hash| hash.scheme() == Scheme::H1).cloned()
        };
        let covered = judgement.as_ref().and_then(|judgement| judgement.covered().get(&offer.platform)).and_then(of);
        let claimed =
            offer.claims.get(&offer.platform).and_then(of).filter(|claimed| Some(claimed) != covered.as_ref());
        let hashes = PackageHashes { h1: covered.or_else(|| claimed.clone()), ..known_before(offer) };
        if hashes.h1.is_some() {
            check_lines(offer, found.locked, &hashes)?;
        }
        let target = found.cached.as_ref().map_or(&found.place, |(path, _)| path);
        let outcome = match target.look(&self.context.options.limits, &self.context.options.package_cache).await? {
            PathContents::Nothing | PathContents::DanglingLink => InstallOutcome::Installed,
            PathContents::Package(there)
                if hashes.h1.as_ref().is_none_or(|h1| *h1 == there.h1()) && there.is_archive(hashes.zh.as_ref()) =>
            {
                InstallOutcome::AlreadyInstalled
            }
            PathContents::Package(_) | PathContents::Other => {
                let (address, version) = (offer.address().clone(), offer.version().clone());
                return Err(FetchError::LocallyModified { address, version, path: target.path().to_owned() }.into());
            }
        };
        let mut completed = self.completed(found, outcome, 0, hashes, Some(offered));
        let proved = ProvedContents::of(offer, found.locked, judgement.as_deref());
        let is_cached = self.context.options.package_cache.holds(offer, target, &proved).await;
        completed.installed.from_cache = is_cached && outcome == InstallOutcome::Installed;
        let size = proved.small_layer(offer, target).map_or_else(|| offer.bytes(), |layer| layer.size);
        let download = if is_cached { 0 } else { size.unwrap_or(0) };
        Ok(PlannedInstall { completed, download, claimed })
    }
}
