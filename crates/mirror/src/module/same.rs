//! Whether the destination's package is what its source offers now, and whether its repository is kept for this module.

use tofu_oci_fetch::current_commit;
use tofu_oci_layout::annotation;
use tofu_oci_source::ModulePackage;
use tofu_oci_types::{Event, GitReference, ModuleAddr, Place};

use super::destination::recorded_address;
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
        let kept = recorded_address(there).filter(|kept| *kept != visit.address);
        let offered = match &visit.origin {
            ModuleOrigin::At { location, .. } => self.upstream.package_at(location).await,
            ModuleOrigin::Registry { .. } if kept.is_some() || is_of_git(there) => {
                self.upstream.package(&visit.address, &visit.version).await
            }
            ModuleOrigin::Registry { .. } => return Ok(()),
        };
        let offered = match (offered, kept) {
            (Ok(offered), None) => offered,
            // A publisher may offer a package that says it is another module.
            (Ok(offered), Some(_)) if offered.manifest().is_some_and(|own| there.manifest() == Some(own)) => {
                return Ok(());
            }
            (_, Some(kept)) => return Err(other_module(visit, kept, to)),
            (Err(error), None) => {
                return match &visit.origin {
                    ModuleOrigin::At { .. } => Err(error.into()),
                    ModuleOrigin::Registry { .. } => {
                        self.not_asked(visit, &error);
                        Ok(())
                    }
                };
            }
        };
        if let Some(manifest) = offered.manifest() {
            let is_same = !offered.subdir().is_root() || there.manifest() == Some(manifest);
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
            }),
            Err(error) => {
                self.not_asked(visit, &error);
                Ok(())
            }
        }
    }

    /// Refuses a package that is none of the module that the repository is kept for. A package that is copied is what it says
    /// itself; one that is packed here is what it is mirrored as.
    pub(super) async fn demand_own_repository(
        &self,
        visit: &ModuleVisit,
        package: &ModulePackage,
    ) -> Result<(), ModuleMirrorError> {
        let is_copied = package.repository().is_some() && package.subdir().is_root();
        let own = if is_copied { recorded_address(package) } else { Some(visit.address.clone()) };
        let Some(own) = own else { return Ok(()) };
        match self.destination.kept_for(&visit.address).await? {
            Some(kept) if kept != own => Err(other_module(visit, kept, &self.destination.place(&visit.address)?)),
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
