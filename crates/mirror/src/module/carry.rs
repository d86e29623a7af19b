//! How one version of a module is carried: copied, or packed anew.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::Arc;

use tofu_oci_disk::{FileError, Purpose, Scratch};
use tofu_oci_fetch::{FetchedModule, ModuleDir, ModuleFetchError, fetch_module, judge_module};
use tofu_oci_layout::annotation;
use tofu_oci_packer::{
    CopyChoice, CopyRequest, CopySigning, ModuleChecks, ModuleFault, ModulePushRequest, PackError, PackageDifference,
    PackedFiles, Rename, ReplaceTag, Signer, copy_release, plan_module_push, push_module,
};
use tofu_oci_source::{Locator, ModulePackage, PackageBytes, Part};
use tofu_oci_store::{ComparedBy, ReadStore, Store, StoreError, is_whole};
use tofu_oci_trust::VersionOf;
use tofu_oci_types::{Descriptor, Event, GitTransport, Place, Reference, Reporter, Subdir, Tag, Version, masked};

use super::calls::{LeavingCall, ReadCalls, leaves_folder, outer_calls_of};
use super::error::ModuleMirrorError;
use super::job::{MirrorMode, ModuleMirrorJob};
use super::pick::ModuleOrigin;
use super::report::{ModuleAction, ModuleOutcome};
use super::same::changed;
use super::state::WithdrawnBy;
use super::visit::{ModuleVisit, Visited};
use crate::blocking::blocking;
use crate::run::Carrying;

/// A package in a temporary folder, which goes when this does.
pub(super) struct UnpackedModule {
    fetched: FetchedModule,
    _scratch: Scratch,
}

impl UnpackedModule {
    /// The calls of these folders, seen from the folder that is the module.
    async fn calls(self, folders: Vec<Subdir>) -> Vec<(Subdir, ReadCalls)> {
        blocking(move || {
            let root = self.fetched.path();
            folders.into_iter().map(|folder| (folder.clone(), outer_calls_of(root, &folder))).collect()
        })
        .await
    }
}

/// Messages alone: the packer's progress does not say which module it is about.
struct MessagesOnly<'a>(&'a dyn Reporter);

impl Reporter for MessagesOnly<'_> {
    fn event(&self, event: &Event) {
        if matches!(event, Event::Message { .. }) {
            self.0.event(event);
        }
    }
}

/// The version at the destination.
enum ModuleThere {
    Absent,
    Withdrawn,
    Present(Box<Descriptor>),
}

pub(super) async fn resolved(store: &dyn ReadStore, tag: Tag) -> Result<Option<Descriptor>, StoreError> {
    match store.resolve(&Reference::Tag(tag)).await {
        Ok(found) => Ok(Some(found)),
        Err(error) if error.is_not_found() => Ok(None),
        Err(error) => Err(error),
    }
}

fn tag_of(version: &Version) -> Result<Tag, PackError> {
    Tag::for_version(version)
        .map_err(|error| PackError::NoTag { version: Box::new(version.clone()), reason: error.to_string() })
}

impl ModuleMirrorJob<'_> {
    /// Brings the version to the destination unless it is there, and reads its calls.
    pub(super) async fn visit(&self, visit: ModuleVisit) -> Visited {
        match self.bring(&visit).await {
            Ok((outcome, None)) => Visited { outcome: Ok(outcome), calls: Vec::new() },
            Ok((outcome, Some(unpacked))) => {
                Visited { outcome: Ok(outcome), calls: unpacked.calls(visit.folders).await }
            }
            Err(error) => Visited { outcome: Err(error), calls: Vec::new() },
        }
    }

    async fn bring(&self, visit: &ModuleVisit) -> Result<(ModuleOutcome, Option<UnpackedModule>), ModuleMirrorError> {
        let ModuleVisit { address, version, .. } = visit;
        let store = self.destination.store(address)?;
        let before = self.destination.before(address).await?;
        let to = self.destination.place(address)?;
        let there = match &visit.withdrawn {
            Some(WithdrawnBy::Mirror(manifest)) => return self.reinstate(visit, manifest).await,
            Some(WithdrawnBy::People) => ModuleThere::Withdrawn,
            None => there(&*before, version).await?,
        };
        match there {
            ModuleThere::Withdrawn => Ok((ModuleOutcome::still(ModuleAction::WithdrawnThere, to, None), None)),
            ModuleThere::Present(manifest) => {
                let reference = Reference::Digest(manifest.digest.clone());
                let package = ModulePackage::of_store(before, &reference, Subdir::root()).await?;
                self.demand_same(visit, &package, &to).await?;
                let unpacked = self.unpack(&package, visit).await?;
                Ok((ModuleOutcome::still(ModuleAction::Present, to, Some(manifest.digest)), Some(unpacked)))
            }
            ModuleThere::Absent => {
                let (outcome, unpacked) = self.add(visit, store).await?;
                Ok((outcome, Some(unpacked)))
            }
        }
    }

    async fn add(
        &self,
        visit: &ModuleVisit,
        store: Arc<dyn Store>,
    ) -> Result<(ModuleOutcome, UnpackedModule), ModuleMirrorError> {
        let package = match &visit.origin {
            ModuleOrigin::Registry { .. } | ModuleOrigin::Listed => {
                self.upstream.package(&visit.address, &visit.version).await?
            }
            ModuleOrigin::At { location, .. } => self.upstream.package_at(location).await?,
        };
        self.demand_address(visit, &package)?;
        self.destination.claim(&visit.address)?;
        let is_known = self.demand_own_repository(visit, &package).await?;
        judge_module(&package, Some(&visit.version), self.how.trust, self.reporter).await?;
        // Before anything is sent: the whole package has its digest, and every name in it is safe.
        let unpacked = self.unpack(&package, visit).await?;
        self.begin(visit).await?;
        let outcome = match package.repository() {
            Some((from, manifest)) if package.subdir().is_root() => {
                self.copy(visit, (&**from, manifest), &package, &*store).await?
            }
            _ => self.pack(visit, &unpacked.fetched, &package, &*store).await?,
        };
        // A package that says its module needs no record, unless it lies beside those of another one.
        let is_alone = is_known || self.destination.module_there(&visit.address).await?.is_none();
        if self.mode == MirrorMode::Run && !(is_alone && self.says_its_own(visit, &package)) {
            self.record_module(visit).await?;
        }
        Ok((outcome, unpacked))
    }

    pub(super) async fn unpack(
        &self,
        package: &ModulePackage,
        visit: &ModuleVisit,
    ) -> Result<UnpackedModule, ModuleMirrorError> {
        let Carrying { work_dir, limits, .. } = *self.how;
        let failed = |source| ModuleFetchError::from(FileError::new("create a folder in", work_dir, source));
        let scratch = Scratch::temporary(work_dir, Purpose::Push).map_err(failed)?;
        let target = ModuleDir::new(&PathBuf::from("module"), scratch.path())?;
        let subject = format!("{} {}", visit.address, visit.version);
        let fetched = fetch_module(package, &target, &subject, limits, self.reporter).await?;
        self.reporter.event(&Event::Finished { subject, outcome: "read".to_owned() });
        Ok(UnpackedModule { fetched, _scratch: scratch })
    }

    /// The package of a repository, byte for byte.
    async fn copy(
        &self,
        visit: &ModuleVisit,
        (from, manifest): (&dyn ReadStore, &Descriptor),
        package: &ModulePackage,
        to: &dyn Store,
    ) -> Result<ModuleOutcome, ModuleMirrorError> {
        let action = ModuleAction::Copy { from: from.place() };
        let digest = Some(manifest.digest.clone());
        if self.mode == MirrorMode::Plan {
            let bytes = manifest.size.saturating_add(package.about().map_or(0, |about| about.package().size));
            return Ok(ModuleOutcome { action, to: self.destination.place(&visit.address)?, manifest: digest, bytes });
        }
        let of = VersionOf::Module;
        let request = CopyRequest {
            // Its publisher may call the version otherwise.
            versions: vec![(visit.version.clone(), Some(manifest))],
            withdrawn: Vec::new(),
            choice: CopyChoice::Listed,
            replace: ReplaceTag::Refuse,
            // `demand_own_repository` has compared the addresses.
            rename: Rename::Allow,
            predecessors: self.how.trust.policy.predecessors(),
            asked_as: None,
            jobs: self.how.jobs.max(1),
            signing: self.how.signing.map(|signing| CopySigning { of: &of, signing }),

            files: &[],
        };
        match copy_release(from, to, &request, &MessagesOnly(self.reporter)).await {
            Ok(copied) => {
                let bytes = copied.iter().map(|one| one.transfers.bytes).sum();
                let unchanged = copied.iter().all(|one| one.unchanged);
                let action = if unchanged { ModuleAction::Present } else { action };
                Ok(ModuleOutcome { action, to: self.destination.place(&visit.address)?, manifest: digest, bytes })
            }
            Err(error) => taken(visit, error, package.place(), self.destination.place(&visit.address)?),
        }
    }

    /// The files of the module's folder, packed as `module push` packs them.
    async fn pack(
        &self,
        visit: &ModuleVisit,
        fetched: &FetchedModule,
        package: &ModulePackage,
        to: &dyn Store,
    ) -> Result<ModuleOutcome, ModuleMirrorError> {
        let (root, folder) = (fetched.package_path().to_owned(), fetched.subdir().to_owned());
        if !folder.is_empty() {
            let inside = folder.clone();
            if let Some(LeavingCall { at, source_text }) = blocking(move || leaves_folder(&root, &inside)).await {
                let (address, version) = (visit.address.clone(), visit.version.clone());
                return Err(ModuleMirrorError::LeavesFolder { address, version, folder, at, source_text });
            }
        }
        let from = shown_origin(package);
        let mut annotations = BTreeMap::from([(annotation::MODULE_ADDRESS.to_owned(), visit.address.to_string())]);
        // A path of this machine is of no use to others, and not theirs to know.
        if package.git().is_none_or(|git| git.source().transport() != GitTransport::File) {
            annotations.insert(annotation::SOURCE.to_owned(), from.clone());
        }
        if let Some(commit) = fetched.commit() {
            annotations.insert(annotation::REVISION.to_owned(), commit.to_string());
        }
        let request = ModulePushRequest {
            dir: fetched.path(),
            version: &visit.version,
            annotations,
            replace: ReplaceTag::Refuse,
            checks: ModuleChecks::Skip,
            files: PackedFiles::All,
            signer: self.how.signing.map(Signer::Key),
            work_dir: self.how.work_dir.to_owned(),
        };
        let action = ModuleAction::Pack { from, folder };
        let reporter = MessagesOnly(self.reporter);
        if self.mode == MirrorMode::Plan {
            let plan = plan_module_push(&request, to, &reporter).await?;
            let (manifest, bytes) = (Some(plan.what.manifest), plan.bytes_to_send);
            return Ok(ModuleOutcome { action, to: self.destination.place(&visit.address)?, manifest, bytes });
        }
        match push_module(&request, to, &reporter).await {
            Ok(report) => {
                let action = if report.unchanged { ModuleAction::Present } else { action };
                let (manifest, bytes) = (Some(report.what.manifest), report.transfers.bytes);
                Ok(ModuleOutcome { action, to: self.destination.place(&visit.address)?, manifest, bytes })
            }
            Err(error) => taken(visit, error, package.place(), self.destination.place(&visit.address)?),
        }
    }
}

async fn there(store: &dyn ReadStore, version: &Version) -> Result<ModuleThere, ModuleMirrorError> {
    if let Some(found) = resolved(store, tag_of(version)?).await? {
        // What a power cut has truncated is brought again.
        let is_whole = is_whole(store, &found, ComparedBy::Sizes).await?;
        return Ok(if is_whole { ModuleThere::Present(Box::new(found)) } else { ModuleThere::Absent });
    }
    if let Ok(tag) = Tag::withdrawn(version)
        && resolved(store, tag).await?.is_some()
    {
        return Ok(ModuleThere::Withdrawn);
    }
    Ok(ModuleThere::Absent)
}

/// Another run was faster: its bytes stay. As for [`demand_same`](ModuleMirrorJob::demand_same), the same files with other annotations are the same module.
fn taken(visit: &ModuleVisit, error: PackError, from: &Place, to: Place) -> Result<ModuleOutcome, ModuleMirrorError> {
    let PackError::Module(fault) = &error else { return Err(error.into()) };
    let ModuleFault::TagTaken(taken) = &**fault else { return Err(error.into()) };
    match taken.difference {
        PackageDifference::Annotations => {
            Ok(ModuleOutcome::still(ModuleAction::Present, to, Some(taken.existing.clone())))
        }
        PackageDifference::Files => Err(changed(visit, from, &to)),
        PackageDifference::NotAModule => Err(error.into()),
    }
}

/// Where a package comes from: no login, no arguments, which may hold a signature.
fn shown_origin(package: &ModulePackage) -> String {
    match package.bytes() {
        PackageBytes::Archive { part: Part { at: Locator::Url(url), .. }, .. } => {
            let mut url = url.clone();
            let _ = url.set_username("").and_then(|()| url.set_password(None));
            url.set_query(None);
            url.set_fragment(None);
            url.to_string()
        }
        _ => match package.git() {
            Some(git) => {
                let shown = masked(&git.source().to_string());
                shown.split('?').next().unwrap_or_default().to_owned()
            }
            None => format!("oci://{}", package.place()),
        },
    }
}
