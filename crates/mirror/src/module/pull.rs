//! One version of a module on demand: what a destination lacks comes from its upstream when it is asked for.

use std::sync::Arc;
use std::time::SystemTime;

use futures_util::FutureExt as _;
use tofu_oci_fetch::{ModuleFetchError, Trust};
use tofu_oci_source::{Listing, ModuleError};
use tofu_oci_store::Store;
use tofu_oci_types::{Constraints, Event, ModuleAddr, Reporter, Tag, Version};
use tokio::sync::Semaphore;

use super::carry::resolved;
use super::destination::ModuleDestination;
use super::error::ModuleMirrorError;
use super::job::{MirrorMode, ModuleMirrorJob, NestedModules};
use super::pick::ModuleOrigin;
use super::upstream::{ModuleChain, ModuleUpstream, is_unknown};
use super::visit::ModuleVisit;
use crate::destination::first_seen::FirstSeen;
use crate::plan::Prune;
use crate::pull::lists::PullLists;
use crate::pull::outcome::{OnPull, PullObserver, PullOutcome};
use crate::run::Carrying;
use crate::singleflight::Singleflight;
use crate::{PullOptions, UpstreamUse};

/// How many versions are fetched at a time.
const AT_ONCE: usize = 8;

/// Opens both ends for one question: what they have read, they do not read again.
pub type OpenModuleEnds = Arc<dyn Fn() -> ModuleEnds + Send + Sync>;

/// Where modules come from and go to.
pub struct ModuleEnds {
    pub upstream: ModuleChain,
    pub destination: Box<dyn ModuleDestination>,
}

/// Modules of a destination that fetches what it lacks from its upstream. Clones share their fetches.
#[derive(Clone)]
pub struct ModulePullThrough {
    work: Arc<ModulePullWork>,
    running: Singleflight<(ModuleAddr, Version), Result<(), Arc<ModuleMirrorError>>>,
}

struct ModulePullWork {
    open: OpenModuleEnds,
    options: PullOptions<ModuleAddr>,
    reporter: Arc<dyn Reporter>,
    /// A fetch outlives its callers, and unpacks to disk.
    turns: Semaphore,
    observer: PullObserver,
}

impl ModulePullThrough {
    /// A destination before its upstream.
    pub fn new(open: OpenModuleEnds, options: PullOptions<ModuleAddr>, reporter: Arc<dyn Reporter>) -> Self {
        let (turns, observer) = (Semaphore::new(AT_ONCE), PullObserver::default());
        let work = ModulePullWork { open, options, reporter, turns, observer };
        Self { work: Arc::new(work), running: Singleflight::default() }
    }

    /// As [`PullThrough::observe`](crate::PullThrough::observe).
    pub fn observe(&self, on_pull: OnPull) {
        self.work.observer.set(on_pull);
    }

    /// The versions of both, as [`PullThrough::versions`](crate::PullThrough::versions) lists those of a provider.
    ///
    /// # Errors
    /// The upstream's, if the destination does not know the module.
    pub async fn versions(&self, address: &ModuleAddr) -> Result<Listing, ModuleMirrorError> {
        self.work.versions(address).await
    }

    /// The same, and an upstream that fails is an error.
    ///
    /// # Errors
    /// As [`ModulePullThrough::versions`], and the upstream's.
    pub async fn all_versions(&self, address: &ModuleAddr) -> Result<Listing, ModuleMirrorError> {
        match self.work.listed(address).await? {
            (_, Some(error)) => Err(error),
            (listing, None) => Ok(listing),
        }
    }

    /// Fetches the version from the upstream unless the destination has it, has withdrawn it, or the upstream is sealed. Whoever
    /// asks meanwhile shares that fetch, and it goes on after its callers.
    ///
    /// # Errors
    /// [`ModuleMirrorError::Unmet`] if rules keep the version out. A failure is not remembered.
    pub async fn bring(&self, address: &ModuleAddr, version: &Version) -> Result<(), Arc<ModuleMirrorError>> {
        let key = (address.clone(), version.clone());
        let mut is_new = false;
        let bring = self.running.join(&key, || {
            is_new = true;
            let (work, (address, version)) = (Arc::clone(&self.work), key.clone());
            async move { work.bring(&address, &version).await.map_err(Arc::new) }.boxed()
        });
        if is_new {
            drop(tokio::spawn(bring.clone()));
        }
        bring.await
    }

    /// Whether the upstream is asked.
    pub fn upstream_use(&self) -> UpstreamUse {
        self.work.options.upstream_use
    }
}

impl ModulePullWork {
    async fn versions(&self, address: &ModuleAddr) -> Result<Listing, ModuleMirrorError> {
        let (listing, failure) = self.listed(address).await?;
        if let Some(error) = failure {
            let cause = std::error::Error::source(&error).map(|cause| format!(": {cause}")).unwrap_or_default();
            let text = format!("{address} is listed without its upstream: {error}{cause}");
            self.reporter.event(&Event::warning("upstream-failed", text));
        }
        Ok(listing)
    }

    /// What may be listed, and how the upstream failed if that is not all.
    async fn listed(&self, address: &ModuleAddr) -> Result<(Listing, Option<ModuleMirrorError>), ModuleMirrorError> {
        let asks = self.options.upstream_use == UpstreamUse::Asked;
        let ends = (self.open)();
        let store = ends.destination.store(address)?;
        let there = match store.tags().await {
            Ok(tags) => Listing::in_store(&*store, &tags).await?,
            Err(error) if asks && error.is_not_found() => Listing::default(),
            Err(error) => return Err(error.into()),
        };
        let (mut offered, mut failure) = (Listing::default(), None);
        if asks {
            match ends.upstream.versions(address).await {
                Ok(versions) => offered.versions = versions,
                Err(error) if there.versions.is_empty() => return Err(error.into()),
                Err(error) if is_unknown(&error) => {}
                Err(error) => failure = Some(error.into()),
            }
        }
        let lists = self.lists(address);
        let record = lists.remembered(|| Ok(FirstSeen::in_store(store, address)), &offered.versions).await?;
        Ok((lists.merged(there, offered, record.as_ref()), failure))
    }

    async fn bring(&self, address: &ModuleAddr, version: &Version) -> Result<(), ModuleMirrorError> {
        let ends = (self.open)();
        let store = ends.destination.store(address)?;
        let Ok(tag) = Tag::for_version(version) else { return Ok(()) };
        let is_there = resolved(&*store, tag).await?.is_some();
        let is_sealed = self.options.upstream_use == UpstreamUse::Sealed;
        if !is_there && !is_sealed && is_withdrawn_there(&*store, version).await? {
            return Ok(());
        }
        let lists = self.lists(address);
        let record =
            if is_there { None } else { lists.remembered(|| Ok(FirstSeen::in_store(store, address)), &[]).await? };
        if let Some(outcome) = lists.keeps_out(version, is_there, record.as_ref()) {
            if !is_sealed {
                self.observer.hears(outcome);
            }
            return Err(self.kept_out(address, version).await);
        }
        if is_there || is_sealed {
            return Ok(());
        }
        // A registry may answer for a version that it does not list.
        let listed = ends.upstream.versions(address).await.inspect_err(|error| {
            if !is_unknown(error) {
                self.observer.hears(PullOutcome::Failed);
            }
        })?;
        if !listed.contains(version) {
            return Err(self.kept_out(address, version).await);
        }
        let _turn = self.turns.acquire().await;
        self.observer.hears_of(self.fetch(&ends, address, version).boxed()).await
    }

    /// Carries the version to the destination from the first upstream that has it; the bytes that the destination got.
    async fn fetch(
        &self,
        ends: &ModuleEnds,
        address: &ModuleAddr,
        version: &Version,
    ) -> Result<u64, ModuleMirrorError> {
        let mut lacking = None;
        for upstream in &ends.upstream.0 {
            match upstream.versions(address).await {
                Ok(versions) if versions.contains(version) => {}
                Err(error) if !is_unknown(&error) => return Err(error.into()),
                _ => continue,
            }
            match self.fetch_from(&**upstream, ends, (address, version)).await {
                Err(ModuleMirrorError::Fetch(
                    ModuleFetchError::FolderMissing { place, .. } | ModuleFetchError::FolderIsFile { place, .. },
                )) if upstream.knows_by_folder() => lacking = Some(place),
                fetched => return fetched,
            }
        }
        let (address, version) = (address.clone(), version.clone());
        Err(match lacking {
            Some(place) => ModuleError::VersionMissing { address, version, place }.into(),
            None => self.kept_out(&address, &version).await,
        })
    }

    async fn fetch_from(
        &self,
        upstream: &dyn ModuleUpstream,
        ends: &ModuleEnds,
        (address, version): (&ModuleAddr, &Version),
    ) -> Result<u64, ModuleMirrorError> {
        let PullOptions { trust, limits, jobs, work_dir, .. } = &self.options;
        let trust = Trust { now: SystemTime::now(), ..trust.clone() };
        let job = ModuleMirrorJob {
            wanted: &[],
            configuration: None,
            upstream,
            destination: &*ends.destination,
            rules: &self.options.rules,
            prune: Prune::Keep,
            nested: NestedModules::Report,
            mode: MirrorMode::Run,
            how: &Carrying { trust: &trust, signing: None, limits, jobs: *jobs, work_dir },
            reporter: &*self.reporter,
        };
        let (address, version) = (address.clone(), version.clone());
        let visit = ModuleVisit {
            address,
            version,
            origin: ModuleOrigin::Listed,
            withdrawn: None,
            moves: None,
            folders: Vec::new(),
        };
        let bytes = job.visit(visit).await.outcome?.bytes;
        ends.destination.finish(&*self.reporter).await?;
        Ok(bytes)
    }

    fn lists<'a>(&'a self, address: &'a ModuleAddr) -> PullLists<'a, ModuleAddr> {
        PullLists::new(address, &self.options.rules, &*self.reporter)
    }

    /// To whoever asks, a version that is held back or denied does not exist.
    async fn kept_out(&self, address: &ModuleAddr, version: &Version) -> ModuleMirrorError {
        match self.versions(address).await {
            Ok(Listing { versions: offered, .. }) => {
                let (address, wanted) = (address.clone(), Constraints::exactly(version.clone()));
                ModuleMirrorError::Unmet { address, wanted, offered }
            }
            Err(error) => error,
        }
    }
}

impl From<&ModuleMirrorError> for PullOutcome {
    fn from(error: &ModuleMirrorError) -> Self {
        match error {
            ModuleMirrorError::Fetch(ModuleFetchError::Untrusted { .. }) | ModuleMirrorError::OtherAddress { .. } => {
                Self::Refused
            }
            _ => Self::Failed,
        }
    }
}

async fn is_withdrawn_there(store: &dyn Store, version: &Version) -> Result<bool, ModuleMirrorError> {
    match Tag::withdrawn(version) {
        Ok(tag) => Ok(resolved(store, tag).await?.is_some()),
        Err(_) => Ok(false),
    }
}
