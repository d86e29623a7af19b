//! When a mirrored module is no longer what its source offers, and whether the destination's repository is kept for
//! another module.

use tofu_oci_fetch::{RenamedReleases, Trust, current_commit};
use tofu_oci_layout::annotation;
use tofu_oci_source::ModulePackage;
use tofu_oci_types::{Event, GitReference, ModuleAddr, Place};

use super::error::ModuleMirrorError;
use super::job::{MirrorMode, ModuleMirrorJob};
use super::pick::ModuleOrigin;
use super::visit::ModuleVisit;

impl ModuleMirrorJob<'_> {
    /// Compares what is there with its source. A source that the user names is asked for its package or commit. A registry is
    /// asked again only if it named a git repository, whose tags and branches can move, or if the package there says that it is
    /// another module, or nothing says that it is this one. Then that is recorded.
    pub(super) async fn demand_same(
        &self,
        visit: &ModuleVisit,
        there: &ModulePackage,
        to: &Place,
    ) -> Result<(), ModuleMirrorError> {
        let is_unclear = there.published_as().is_none() && !self.demand_own_repository(visit, there).await?;
        if self.compare(visit, there, is_unclear, to).await? && is_unclear && self.mode == MirrorMode::Run {
            self.record_module(visit).await?;
        }
        Ok(())
    }

    /// Tells whether the source was asked, and could be compared.
    async fn compare(
        &self,
        visit: &ModuleVisit,
        there: &ModulePackage,
        is_unclear: bool,
        to: &Place,
    ) -> Result<bool, ModuleMirrorError> {
        let predecessors = self.how.trust.policy.predecessors();
        let kept = there.other_address(&visit.address, predecessors);
        let offered = match &visit.origin {
            ModuleOrigin::At { location, .. } => self.upstream.package_at(location).await,
            ModuleOrigin::Registry { .. } | ModuleOrigin::Listed
                if kept.is_some() || is_unclear || is_of_git(there) =>
            {
                self.upstream.package(&visit.address, &visit.version).await
            }
            ModuleOrigin::Registry { .. } | ModuleOrigin::Listed => return Ok(false),
        };
        let offered = match (offered, &visit.origin) {
            (Ok(offered), _) => offered,
            (Err(error), ModuleOrigin::At { .. }) => return Err(error.into()),
            (Err(error), ModuleOrigin::Registry { .. } | ModuleOrigin::Listed) => {
                self.not_asked(visit, &error);
                return Ok(false);
            }
        };
        // A publisher may offer a package that says it is another module.
        if let Some(kept) = kept
            && says_of_itself(visit, &offered).as_ref() != Some(&kept)
        {
            return Err(ModuleMirrorError::OtherVersion {
                address: Box::new(visit.address.clone()),
                version: visit.version.clone(),
                kept: Box::new(kept),
                place: to.clone(),
            });
        }
        if offered.manifest().is_some() {
            if !offered.subdir().is_root() {
                return Ok(false);
            }
            let is_same = is_same_package(there, &offered);
            return if is_same { Ok(true) } else { Err(changed(visit, offered.place(), to)) };
        }
        let (Some(checkout), Some(recorded)) = (offered.git(), revision(there)) else { return Ok(false) };
        match current_commit(checkout, self.how.work_dir).await {
            Ok(now) if is_same_commit(recorded, &now) => Ok(true),
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
                Ok(false)
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

    /// Refuses a module whose repository has packages of another one, unless its own package says that it is that one. Tells
    /// whether the repository is known to have this one.
    pub(super) async fn demand_own_repository(
        &self,
        visit: &ModuleVisit,
        package: &ModulePackage,
    ) -> Result<bool, ModuleMirrorError> {
        let there = self.destination.module_there(&visit.address).await?;
        let is_known = there.as_ref().is_some_and(|there| self.is_own(visit, there));
        let other = there.filter(|there| !is_known && says_of_itself(visit, package).as_ref() != Some(there));
        self.demand_no_other(visit, other)?;
        Ok(is_known)
    }

    /// Records whose package was brought.
    pub(super) async fn record_module(&self, visit: &ModuleVisit) -> Result<(), ModuleMirrorError> {
        let other = self.destination.record_module(&visit.address).await?;
        self.demand_no_other(visit, other)
    }

    fn demand_no_other(&self, visit: &ModuleVisit, other: Option<ModuleAddr>) -> Result<(), ModuleMirrorError> {
        match other {
            Some(other) if self.how.trust.renamed != RenamedReleases::Accept => {
                let (address, place) = (Box::new(visit.address.clone()), self.destination.place(&visit.address)?);
                Err(ModuleMirrorError::OtherModule { address, kept: Box::new(other), place })
            }
            _ => Ok(()),
        }
    }

    /// Whether a package says at the destination that it is the module.
    pub(super) fn says_its_own(&self, visit: &ModuleVisit, package: &ModulePackage) -> bool {
        says_of_itself(visit, package).is_some_and(|said| self.is_own(visit, &said))
    }

    fn is_own(&self, visit: &ModuleVisit, module: &ModuleAddr) -> bool {
        self.how.trust.policy.predecessors().same_module(module, &visit.address)
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
