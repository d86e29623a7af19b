//! One release on demand: what a destination lacks comes from its upstream when it is asked for.
//!
//! ```text
//! release    destination has it --yes--> its release
//!                               --no --> held back or denied? upstream, trust, destination, and then its release
//! offered    destination has it --yes--> its release
//!                               --no --> held back or denied? that of the upstream, which is fetched when a package is used
//! ```

use std::collections::HashSet;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::SystemTime;

use futures_util::FutureExt as _;
use tofu_oci_archive::Limits;
use tofu_oci_fetch::{FetchError, Trust, TrustChecker};
use tofu_oci_packer::ReplaceTag;
use tofu_oci_source::{Listing, NotOffered, Release, Source, SourceError};
use tofu_oci_types::{Event, Place, Platform, ProviderAddr, Reporter, Version};

use self::failed_keeping::FailedKeeping;
use self::lists::PullLists;
use self::of_others::VersionsOfOthers;
use self::offered::{FetchRelease, UpstreamRelease};
use self::outcome::{OnPull, PullObserver, PullOutcome};
use crate::attestations::{AttestationFiles, Attestations};
use crate::destination::first_seen::FirstSeen;
use crate::destination::is_absent;
use crate::destination::sightings::SightingsRecord;
use crate::singleflight::Singleflight;
use crate::transfer::names;
use crate::{Destination, MirrorError, MirrorRules, MirroredAddress, TransferRequest};

mod failed_keeping;
pub(crate) mod lists;
mod of_others;
mod offered;
pub(crate) mod outcome;

/// Opens the upstream for one question: what a source has read, it does not read again.
pub type OpenUpstream = Arc<dyn Fn() -> Arc<dyn Source> + Send + Sync>;

/// What a pull-through depends on.
#[derive(Clone)]
pub struct PullOptions<A: MirroredAddress = ProviderAddr> {
    pub trust: Trust,
    /// Of these rules, `deny` and `allow` count for every version, and `min_age` for those that the destination lacks.
    pub rules: MirrorRules<A>,
    /// Where attestations of the upstream's releases are, if they are given as files. Modules have none.
    pub attestations: Option<Attestations>,
    /// Whether the upstream is asked at all.
    pub upstream_use: UpstreamUse,
    /// What a package may hold.
    pub limits: Limits,
    /// How many packages of one release move at a time, at least 1.
    pub jobs: usize,
    /// An existing folder, for packages that must lie on disk while they are verified.
    pub work_dir: PathBuf,
}

/// Whether an upstream is asked.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum UpstreamUse {
    /// For what the destination lacks.
    Asked,
    /// Never: only what the destination has is offered.
    Sealed,
}

/// A destination that fetches what it lacks from its upstream. Clones share their fetches.
#[derive(Clone)]
pub struct PullThrough {
    work: Arc<PullWork>,
    running: Singleflight<PullKey, Result<Arc<dyn Release>, Arc<MirrorError>>>,
    failed_keeping: Arc<FailedKeeping>,
}

#[derive(Clone, PartialEq, Eq, Hash)]
struct PullKey {
    address: ProviderAddr,
    version: Version,
    extent: PullExtent,
}

/// When the upstream is asked.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
enum PullExtent {
    /// If the destination lacks the version.
    Version,
    /// If it has the version: for more platforms.
    Platforms,
}

struct PullWork {
    upstream: OpenUpstream,
    destination: Arc<dyn Destination>,
    options: PullOptions,
    reporter: Arc<dyn Reporter>,
    of_others: VersionsOfOthers,
    observer: PullObserver,
}

impl PullThrough {
    /// A destination before its upstream.
    pub fn new(
        upstream: OpenUpstream,
        destination: Arc<dyn Destination>,
        options: PullOptions,
        reporter: Arc<dyn Reporter>,
    ) -> Self {
        let (of_others, observer) = (VersionsOfOthers::default(), PullObserver::default());
        let work = PullWork { upstream, destination, options, reporter, of_others, observer };
        Self { work: Arc::new(work), running: Singleflight::default(), failed_keeping: Arc::default() }
    }

    /// Has the first one who asks for it hear how each version is pulled.
    pub fn observe(&self, on_pull: OnPull) {
        self.work.observer.set(on_pull);
    }

    /// Notes that the caller does not use a release that was [offered](PullThrough::offered): one of the upstream that is not
    /// trusted is refused.
    pub fn note_refusal(&self, address: &ProviderAddr, error: &MirrorError) {
        if let MirrorError::Fetch(FetchError::Untrusted { place, .. } | FetchError::OtherAddress { place, .. }) = error
            && self.place(address).as_ref() != Some(place)
        {
            self.work.observer.hears(PullOutcome::Refused);
        }
    }

    /// The versions of both, without those that are denied, held back, or withdrawn by the destination. If the upstream
    /// fails, what the destination has is listed with a warning. With a `min_age`, the destination remembers what is seen.
    ///
    /// # Errors
    /// The upstream's, if the destination does not know the provider.
    pub async fn versions(&self, address: &ProviderAddr) -> Result<Listing, MirrorError> {
        self.work.versions(address).await
    }

    /// The same, and an upstream that fails is an error.
    ///
    /// # Errors
    /// As [`PullThrough::versions`], and the upstream's.
    pub async fn all_versions(&self, address: &ProviderAddr) -> Result<Listing, MirrorError> {
        match self.work.listed(address).await? {
            (_, Some(error)) => Err(error.into()),
            (listing, None) => Ok(listing),
        }
    }

    /// The release as the destination has it. If it lacks the version, or the platform, the whole release is fetched from
    /// the upstream first; whoever asks meanwhile shares that fetch. It ends when no caller waits for it any more.
    ///
    /// # Errors
    /// [`NotOffered`] only if the upstream has answered that it does not offer it. A failure is not remembered.
    pub async fn release(
        &self,
        address: &ProviderAddr,
        version: &Version,
        platform: Option<&Platform>,
    ) -> Result<Arc<dyn Release>, Arc<MirrorError>> {
        let release = self.pull(address, version, PullExtent::Version, None).await?;
        let Some(platform) = platform else { return Ok(release) };
        let has = |platforms: Vec<Platform>| platforms.contains(platform);
        if has(release.platforms().await.map_err(shared)?) {
            return Ok(release);
        }
        self.pull(address, version, PullExtent::Platforms, None).await
    }

    /// The release as the destination has it, else as the upstream offers it, unjudged. The first package of the latter that is
    /// opened, or [used](Release::note_use) out of a cache, has the whole release fetched, as [`PullThrough::release`] does, also
    /// if no caller waits for it.
    ///
    /// # Errors
    /// As [`PullThrough::release`].
    pub async fn offered(&self, address: &ProviderAddr, version: &Version) -> Result<Arc<dyn Release>, MirrorError> {
        if let Some(release) = self.work.there(address, version).await? {
            return Ok(release);
        }
        let attested = self.work.attested(address, version, None).await;
        let (upstream, files) = attested.inspect_err(|error| {
            if !matches!(error, MirrorError::Source(error) if is_not_offered(error)) {
                self.work.observer.hears(error.into());
            }
        })?;
        let (through, id) = (self.clone(), upstream.id().clone());
        let fetch: FetchRelease = Arc::new(move || {
            let (through, id, files) = (through.clone(), id.clone(), Arc::clone(&files));
            async move { through.pull(&id.address, &id.version, PullExtent::Version, Some(files)).await }.boxed()
        });
        let (reporter, failed_keeping) = (Arc::clone(&self.work.reporter), Arc::clone(&self.failed_keeping));
        Ok(Arc::new(UpstreamRelease { upstream, fetch, reporter, failed_keeping }))
    }

    /// Where the releases of a provider are kept; `None` if nothing is for it.
    pub fn place(&self, address: &ProviderAddr) -> Option<Place> {
        self.work.destination.place(address).ok()
    }

    /// Whether the upstream is asked.
    pub fn upstream_use(&self) -> UpstreamUse {
        self.work.options.upstream_use
    }

    /// Joins the fetch that is under way, or begins one. Attestations that were read before are not read again.
    async fn pull(
        &self,
        address: &ProviderAddr,
        version: &Version,
        extent: PullExtent,
        files: Option<Arc<AttestationFiles>>,
    ) -> Result<Arc<dyn Release>, Arc<MirrorError>> {
        let key = PullKey { address: address.clone(), version: version.clone(), extent };
        let pull = self.running.join(&key, || {
            let (work, own) = (Arc::clone(&self.work), key.clone());
            async move { work.pull(own, files).await.map_err(Arc::new) }.boxed()
        });
        pull.await
    }
}

impl PullWork {
    async fn versions(&self, address: &ProviderAddr) -> Result<Listing, MirrorError> {
        let (listing, failure) = self.listed(address).await?;
        if let Some(error) = failure {
            let text = format!("{address} is listed without its upstream: {error}");
            self.reporter.event(&Event::warning("upstream-failed", text));
        }
        Ok(listing)
    }

    /// What may be listed, and how the upstream failed if that is not all.
    async fn listed(&self, address: &ProviderAddr) -> Result<(Listing, Option<SourceError>), MirrorError> {
        let asks = self.options.upstream_use == UpstreamUse::Asked;
        let mut there = match self.destination.source(address)?.versions(address).await {
            Err(error) if asks && is_absent(&error) => Listing::default(),
            there => there?,
        };
        let (mut listing, mut failure) = (Listing::default(), None);
        if asks {
            match (self.upstream)().versions(address).await {
                Ok(offered) => listing = offered,
                Err(error) if there.versions.is_empty() => return Err(error.into()),
                Err(error) if is_not_offered(&error) => {}
                Err(error) => failure = Some(error),
            }
        }
        let record = self.sightings(address, &listing.versions).await?;
        let marked = record.as_ref().map(|record| record.of_others(address, self.options.trust.policy.predecessors()));
        let is_own = |version: &Version| {
            let is_marked = |marked: &HashSet<&str>| marked.contains(version.to_string().as_str());
            !marked.as_ref().is_some_and(is_marked) && !self.of_others.contains(address, version)
        };
        there.versions.retain(is_own);
        there.withdrawn.retain(is_own);
        let listing = self.lists(address).merged(there, listing, record.as_ref());
        Ok((listing, failure))
    }

    /// What was remembered of the place before this look.
    async fn sightings(
        &self,
        address: &ProviderAddr,
        offered: &[Version],
    ) -> Result<Option<SightingsRecord>, MirrorError> {
        self.lists(address).remembered(|| FirstSeen::of(&*self.destination, address), offered).await
    }

    fn lists<'a>(&'a self, address: &'a ProviderAddr) -> PullLists<'a, ProviderAddr> {
        PullLists::new(address, &self.options.rules, &*self.reporter)
    }

    /// The release of the destination; `None` if it must be fetched and may be.
    async fn there(&self, address: &ProviderAddr, version: &Version) -> Result<Option<Arc<dyn Release>>, MirrorError> {
        let is_sealed = self.options.upstream_use == UpstreamUse::Sealed;
        let there = self.destination.source(address)?.release(address, version).await;
        let mut record = None;
        let is_there = match &there {
            // A release of another provider counts as absent; if the upstream is sealed, its own check refuses it.
            Ok(release) => !self.of_others.note(&**release, &self.options.trust) || is_sealed,
            Err(SourceError::NotOffered { what: NotOffered::Withdrawn { .. }, .. }) => {
                record = self.sightings(address, &[]).await?;
                let (predecessors, text) = (self.options.trust.policy.predecessors(), version.to_string());
                let is_of_others =
                    |record: &SightingsRecord| record.of_others(address, predecessors).contains(text.as_str());
                if !record.as_ref().is_some_and(is_of_others) {
                    return Ok(Some(there?));
                }
                false
            }
            Err(error) if is_absent(error) => false,
            Err(_) => return Ok(Some(there?)),
        };
        if !is_there && record.is_none() {
            record = self.sightings(address, &[]).await?;
        }
        if let Some(outcome) = self.lists(address).keeps_out(version, is_there, record.as_ref()) {
            if !is_sealed {
                self.observer.hears(outcome);
            }
            return Err(self.kept_out(address, version).await);
        }
        if is_there || is_sealed { Ok(Some(there?)) } else { Ok(None) }
    }

    async fn pull(
        &self,
        PullKey { address, version, extent }: PullKey,
        files: Option<Arc<AttestationFiles>>,
    ) -> Result<Arc<dyn Release>, MirrorError> {
        let (address, version) = (&address, &version);
        let replace = match (self.there(address, version).await?, extent) {
            (Some(release), PullExtent::Version) => return Ok(release),
            (Some(release), PullExtent::Platforms) if self.options.upstream_use == UpstreamUse::Sealed => {
                return Ok(release);
            }
            (Some(_), PullExtent::Platforms) => ReplaceTag::Replace,
            (None, _) => ReplaceTag::Refuse,
        };
        self.observer.hears_of(self.fetch((address, version), replace, files).boxed()).await?;
        let pulled = self.destination.source(address)?.release(address, version).await?;
        self.finish(&pulled);
        Ok(pulled)
    }

    /// Carries the release from the upstream to the destination; the bytes that the destination got.
    async fn fetch(
        &self,
        (address, version): (&ProviderAddr, &Version),
        replace: ReplaceTag,
        files: Option<Arc<AttestationFiles>>,
    ) -> Result<u64, MirrorError> {
        let (release, files) = self.attested(address, version, files).await?;
        let platforms = release.platforms().await?;
        let PullOptions { trust, limits, jobs, work_dir, .. } = &self.options;
        let now = Trust { now: SystemTime::now(), ..trust.clone() };
        let checker = TrustChecker::new(&now, &*self.reporter);
        let files = files.demand_trusted(&release, &platforms, (&checker, &now), &*self.reporter).await?;
        let (rename, predecessors) = names(trust);
        let request = TransferRequest {
            platforms,
            signing: None,
            files: &files,
            replace,
            rename,
            predecessors,
            limits,
            jobs: *jobs,
            listed: None,
            work_dir,
        };
        Ok(self.destination.receive(&request, release, &*self.reporter).await?.transfers.bytes)
    }

    /// Makes a release outlast a power cut, for which no client waits.
    fn finish(&self, pulled: &Arc<dyn Release>) {
        let (destination, reporter) = (Arc::clone(&self.destination), Arc::clone(&self.reporter));
        let id = pulled.id().clone();
        drop(tokio::spawn(async move {
            if let Err(error) = destination.finish(&*reporter).await {
                let text = format!("{} {} may not outlast a power cut: {error}", id.address, id.version);
                reporter.event(&Event::warning(error.code(), text));
            }
        }));
    }

    /// The release of the upstream with its attestations beside it, which are read if they were not before.
    async fn attested(
        &self,
        address: &ProviderAddr,
        version: &Version,
        files: Option<Arc<AttestationFiles>>,
    ) -> Result<(Arc<dyn Release>, Arc<AttestationFiles>), MirrorError> {
        let release = (self.upstream)().release(address, version).await?;
        let PullOptions { trust, attestations, .. } = &self.options;
        let files = match files {
            Some(files) => files,
            None => match AttestationFiles::read(attestations.as_ref(), release.id(), &*self.reporter).await {
                Err(error) if !trust.policy.wants_evidence(&trust.pins, address) => {
                    let text = format!("{address} {version} is offered without its attestations: {error}");
                    self.reporter.event(&Event::warning(error.code(), text));
                    Arc::default()
                }
                files => Arc::new(files?),
            },
        };
        Ok((files.beside(release), files))
    }

    /// To whoever asks, a version that is held back or denied does not exist.
    async fn kept_out(&self, address: &ProviderAddr, version: &Version) -> MirrorError {
        let listing = self.versions(address).await;
        match (listing, self.destination.place(address)) {
            (Ok(listing), Ok(place)) => {
                let what = NotOffered::VersionMissing { version: version.clone(), offered: listing.versions };
                SourceError::NotOffered { address: address.clone(), place, what }.into()
            }
            (Err(error), _) | (_, Err(error)) => error,
        }
    }
}

/// Whether the place has answered that it does not have it.
fn is_not_offered(error: &SourceError) -> bool {
    matches!(error.innermost(), SourceError::NotOffered { .. })
}

fn shared(error: SourceError) -> Arc<MirrorError> {
    Arc::new(error.into())
}

#[cfg(test)]
mod tests;
