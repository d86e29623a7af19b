//! One release on demand: what a destination lacks comes from its upstream when it is asked for.
//!
//! ```text
//! release    destination has it --yes--> its release
//!                               --no --> held back? upstream, trust, destination, and then its release
//! ```

use std::collections::HashMap;
use std::path::PathBuf;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use futures_util::FutureExt as _;
use futures_util::future::{BoxFuture, Shared, WeakShared};
use tofu_oci_archive::Limits;
use tofu_oci_fetch::{Trust, TrustChecker};
use tofu_oci_packer::ReplaceTag;
use tofu_oci_source::{Listing, NotOffered, Release, Source, SourceError};
use tofu_oci_types::{Event, Place, Platform, ProviderAddr, Reporter, Version};

use crate::destination::is_absent;
use crate::{Destination, MirrorError, TransferRequest};

/// Whether a version must not be offered yet.
pub type HeldBack = Arc<dyn Fn(&ProviderAddr, &Version) -> bool + Send + Sync>;

/// Opens the upstream for one question: what a source has read, it does not read again.
pub type OpenUpstream = Arc<dyn Fn() -> Arc<dyn Source> + Send + Sync>;

/// What a pull-through depends on.
#[derive(Clone)]
pub struct PullOptions {
    /// Whose signatures count.
    pub trust: Trust,
    /// Which versions must not be offered yet, unless the destination has them.
    pub held: HeldBack,
    /// What a package may hold.
    pub limits: Limits,
    /// How many packages of one release move at a time, at least 1.
    pub jobs: usize,
    /// An existing folder, for packages that must lie on disk while they are verified.
    pub work_dir: PathBuf,
}

/// A destination that fetches what it lacks from its upstream. Clones share their fetches.
#[derive(Clone)]
pub struct PullThrough {
    work: Arc<PullWork>,
    running: RunningPulls,
}

type RunningPulls = Arc<Mutex<HashMap<PullKey, WeakShared<Pull>>>>;

type Pull = BoxFuture<'static, Result<Arc<dyn Release>, Arc<MirrorError>>>;

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
}

impl PullThrough {
    /// A destination before its upstream.
    pub fn new(
        upstream: OpenUpstream,
        destination: Arc<dyn Destination>,
        options: PullOptions,
        reporter: Arc<dyn Reporter>,
    ) -> Self {
        let work = PullWork { upstream, destination, options, reporter };
        Self { work: Arc::new(work), running: Arc::default() }
    }

    /// The versions of both, without those that are held back or that the destination has withdrawn. If the upstream fails,
    /// what the destination has is listed with a warning.
    ///
    /// # Errors
    /// The upstream's, if the destination does not know the provider.
    pub async fn versions(&self, address: &ProviderAddr) -> Result<Listing, MirrorError> {
        self.work.versions(address).await
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
        let release = self.pull(address, version, PullExtent::Version).await?;
        let Some(platform) = platform else { return Ok(release) };
        let has = |platforms: Vec<Platform>| platforms.contains(platform);
        if has(release.platforms().await.map_err(shared)?) {
            return Ok(release);
        }
        self.pull(address, version, PullExtent::Platforms).await
    }

    /// Joins the fetch that is under way, or begins one.
    async fn pull(
        &self,
        address: &ProviderAddr,
        version: &Version,
        extent: PullExtent,
    ) -> Result<Arc<dyn Release>, Arc<MirrorError>> {
        let key = PullKey { address: address.clone(), version: version.clone(), extent };
        let pull: Shared<Pull> = {
            let mut running = lock(&self.running);
            if let Some(pull) = running.get(&key).and_then(WeakShared::upgrade) {
                pull
            } else {
                let (work, done, own) = (Arc::clone(&self.work), Arc::clone(&self.running), key.clone());
                let pull = async move {
                    let pulled = work.pull(&own.address, &own.version, own.extent).await;
                    // Whoever asks from here on gets an answer of their own.
                    lock(&done).remove(&own);
                    pulled.map_err(Arc::new)
                };
                let pull = pull.boxed().shared();
                running.extend(pull.downgrade().map(|pull| (key, pull)));
                pull
            }
        };
        pull.await
    }
}

impl PullWork {
    async fn versions(&self, address: &ProviderAddr) -> Result<Listing, MirrorError> {
        let there = match self.destination.source(address)?.versions(address).await {
            Ok(listing) => listing,
            Err(error) if is_absent(&error) => Listing::default(),
            Err(error) => return Err(error.into()),
        };
        let mut offered = match (self.upstream)().versions(address).await {
            Ok(listing) => listing,
            Err(error) if there.versions.is_empty() => return Err(error.into()),
            Err(error) => {
                if !is_not_offered(&error) {
                    let text = format!("{address} is listed without its upstream: {error}");
                    self.reporter.event(&Event::warning("upstream-failed", text));
                }
                return Ok(there);
            }
        };
        offered.versions.retain(|version| {
            let is_free = !there.withdrawn.contains(version) && !(self.options.held)(address, version);
            is_free && !there.versions.contains(version)
        });
        offered.versions.extend(there.versions);
        offered.versions.sort_by(Version::precedence);
        offered.withdrawn.retain(|version| !offered.versions.contains(version));
        Ok(offered)
    }

    async fn pull(
        &self,
        address: &ProviderAddr,
        version: &Version,
        extent: PullExtent,
    ) -> Result<Arc<dyn Release>, MirrorError> {
        let place = self.destination.place(address)?;
        let there = self.destination.source(address)?.release(address, version).await;
        let replace = match there {
            Ok(release) if extent == PullExtent::Version => return Ok(release),
            Ok(_) => ReplaceTag::Replace,
            Err(error @ SourceError::NotOffered { what: NotOffered::Withdrawn { .. }, .. }) => return Err(error.into()),
            Err(error) if is_absent(&error) => ReplaceTag::Refuse,
            Err(error) => return Err(error.into()),
        };
        if replace == ReplaceTag::Refuse && (self.options.held)(address, version) {
            return Err(self.held(address, version, place).await);
        }
        let release = (self.upstream)().release(address, version).await?;
        let platforms = release.platforms().await?;
        self.demand_trusted(&release, &platforms).await?;
        let PullOptions { limits, jobs, work_dir, .. } = &self.options;
        let request = TransferRequest { platforms, signing: None, replace, limits, jobs: *jobs, work_dir };
        self.destination.receive(&request, release, &*self.reporter).await?;
        Ok(self.destination.source(address)?.release(address, version).await?)
    }

    /// Demands that the trust policy admits the release and each of its packages.
    async fn demand_trusted(&self, release: &Arc<dyn Release>, platforms: &[Platform]) -> Result<(), MirrorError> {
        let checker = TrustChecker::new(&self.options.trust, &*self.reporter);
        checker.of_release(&**release).await?;
        for platform in platforms {
            checker.of_offer(&Arc::clone(release).offer(platform).await?).await?;
        }
        Ok(())
    }

    /// To whoever asks, a version that is held back does not exist yet.
    async fn held(&self, address: &ProviderAddr, version: &Version, place: Place) -> MirrorError {
        match self.versions(address).await {
            Ok(listing) => {
                let what = NotOffered::VersionMissing { version: version.clone(), offered: listing.versions };
                SourceError::NotOffered { address: address.clone(), place, what }.into()
            }
            Err(error) => error,
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

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    // No invariant spans two statements under this lock.
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

#[cfg(test)]
mod tests;
