//! Whether the destination's package is what its source offers now, and whether its repository is kept for this module.

use tofu_oci_fetch::{RenamedReleases, Trust, current_commit};
use tofu_oci_layout::annotation;
use tofu_oci_source::ModulePackage;
use tofu_oci_types::{Event, GitReference, ModuleAddr, Place};

use super::error::ModuleMirrorError;
use super::job::ModuleMirrorJob;
use super::pick::ModuleOrigin;
use super::visit::ModuleVisit;

impl ModuleMirrorJob<'_> {
    /// Compares what is there with its source. A source that the user names is asked for its package or commit. A registry is
    /// asked again only if it named a git repository, whose tags and branches can move, or if the package there says that it is
    /// another module.
    pub(super) async fn demand_same(
        &self,
        visit: &ModuleVisit,
        there: &ModulePackage,
        to: &Place,
    ) -> Result<(), ModuleMirrorError> {
        let predecessors = self.how.trust.policy.predecessors();
        let kept = there.other_address(&visit.address, predecessors);
        let offered = match &visit.origin {
            ModuleOrigin::At { location, .. } => self.upstream.package_at(location).await,
            ModuleOrigin::Registry { .. } | ModuleOrigin::Listed if kept.is_some() || is_of_git(there) => {
                self.upstream.package(&visit.address, &visit.version).await
            }
            ModuleOrigin::Registry { .. } | ModuleOrigin::Listed => return Ok(()),
        };
        let offered = match (offered, &visit.origin) {
            (Ok(offered), _) => offered,
            (Err(error), ModuleOrigin::At { .. }) => return Err(error.into()),
            (Err(error), ModuleOrigin::Registry { .. } | ModuleOrigin::Listed) => {
                self.not_asked(visit, &error);
                return Ok(());
            }
        };
        // A publisher may offer a package that says it is another module.
        if let Some(kept) = kept
            && says_of_itself(visit, &offered).as_ref() != Some(&kept)
        {
            return Err(other_module(visit, kept, to));
        }
        if offered.manifest().is_some() {
            let is_same = !offered.subdir().is_root() || is_same_package(there, &offered);
            return if is_same { Ok(()) } else { Err(changed(visit, offered.place(), to)) };
        }
        let (Some(checkout), Some(recorded)) = (offered.git(), revision(there)) else { return Ok(()) };
        match current_commit(checkout, self.how.work_dir).await {
            Ok(now) if is_same_commit(recorded, &now) => Ok(()),
            Ok(now) => Err(ModuleMirrorError::RefMoved {
                address: visit.address.clone(),
                version: visit.version.clone(),
                repository: checkout.source().to_string(),
                now: now.to_string(),
                to: to.clone(),
                recorded: recorded.to_owned(),
                named_by: checkout.named_by(),
            }),
            Err(error) => {
                self.not_asked(visit, &error);
                Ok(())
            }
        }
    }

    /// Refuses a package that says it is another module than its registry calls it. Whoever names the package itself has chosen
    /// its address.
    pub(super) fn demand_address(&self, visit: &ModuleVisit, package: &ModulePackage) -> Result<(), ModuleMirrorError> {
        let Trust { policy, renamed, .. } = self.how.trust;
        let is_named = matches!(visit.origin, ModuleOrigin::At { .. }) || *renamed == RenamedReleases::Accept;
        match package.other_address(&visit.address, policy.predecessors()).filter(|_| !is_named) {
            Some(published_as) => Err(ModuleMirrorError::OtherAddress {
                address: visit.address.clone(),
                version: visit.version.clone(),
                published_as: Box::new(published_as),
                from: package.place().clone(),
            }),
            None => Ok(()),
        }
    }

    /// Refuses another module than the one that the repository is kept for, unless its package says that it is that one.
    pub(super) async fn demand_own_repository(
        &self,
        visit: &ModuleVisit,
        package: &ModulePackage,
    ) -> Result<(), ModuleMirrorError> {
        let kept = self.destination.kept_for(&visit.address).await?;
        self.demand_kept_for(visit, kept.filter(|kept| says_of_itself(visit, package).as_ref() != Some(kept)))
    }

    /// Writes down which module the repository is for, if a package that is copied into it does not say so. Of two runs at once
    /// with different modules one is refused here.
    pub(super) async fn keep_repository(
        &self,
        visit: &ModuleVisit,
        package: &ModulePackage,
    ) -> Result<(), ModuleMirrorError> {
        let is_own = |said: ModuleAddr| self.how.trust.policy.predecessors().same_module(&said, &visit.address);
        let is_others = self.destination.kept_for(&visit.address).await?.is_some_and(|kept| !is_own(kept));
        if is_others || package.published_as().is_some_and(is_own) {
            return Ok(());
        }
        let kept = self.destination.keep_for(&visit.address).await?;
        self.demand_kept_for(visit, kept)
    }

    fn demand_kept_for(&self, visit: &ModuleVisit, kept: Option<ModuleAddr>) -> Result<(), ModuleMirrorError> {
        let Trust { policy, renamed, .. } = self.how.trust;
        match kept.filter(|kept| !policy.predecessors().same_module(kept, &visit.address)) {
            Some(kept) if *renamed != RenamedReleases::Accept => {
                Err(other_module(visit, kept, &self.destination.place(&visit.address)?))
            }
            _ => Ok(()),
        }
    }

    fn not_asked(&self, visit: &ModuleVisit, error: &dyn std::error::Error) {
        let cause = error.source().map(|cause| format!(": {cause}")).unwrap_or_default();
        let text = format!(
            "{} {}: the destination has it, and it stays as it is: {error}{cause}",
            visit.address, visit.version
        );
        self.reporter.event(&Event::warning("module-source-unasked", text));
    }
}

/// The module that a package says it is at the destination: one that is copied says what its publisher wrote, and one that is
/// packed here what it is mirrored as.
fn says_of_itself(visit: &ModuleVisit, package: &ModulePackage) -> Option<ModuleAddr> {
    let is_copied = package.repository().is_some() && package.subdir().is_root();
    if is_copied { package.published_as() } else { Some(visit.address.clone()) }
}

/// Whether two packages of OCI repositories have the same bytes. Their manifests may have other annotations.
fn is_same_package(one: &ModulePackage, other: &ModulePackage) -> bool {
    let layer = |package: &ModulePackage| package.about().map(|about| about.package().digest.clone());
    one.manifest() == other.manifest() || layer(one) == layer(other)
}

fn other_module(visit: &ModuleVisit, kept: ModuleAddr, place: &Place) -> ModuleMirrorError {
    let (address, kept) = (Box::new(visit.address.clone()), Box::new(kept));
    ModuleMirrorError::OtherModule { address, kept, place: place.clone() }
}

/// The refusal of a version of which a place offers other bytes than the destination has.
pub(super) fn changed(visit: &ModuleVisit, from: &Place, to: &Place) -> ModuleMirrorError {
    let (address, version) = (visit.address.clone(), visit.version.clone());
    ModuleMirrorError::UpstreamChanged { address, version, from: from.clone(), to: to.clone() }
}

/// The commit that a package was packed from.
fn revision(package: &ModulePackage) -> Option<&str> {
    package.about()?.annotations().get(annotation::REVISION).map(String::as_str)
}

/// Whether a package was packed from a git repository.
fn is_of_git(package: &ModulePackage) -> bool {
    let source = package.about().and_then(|about| about.annotations().get(annotation::SOURCE));
    source.is_some_and(|source| source.starts_with("git::")) && revision(package).is_some()
}

/// Whether a commit is the recorded one; it may be shortened.
fn is_same_commit(recorded: &str, now: &GitReference) -> bool {
    recorded.get(..now.as_str().len()).is_some_and(|start| start.eq_ignore_ascii_case(now.as_str()))
}
