//! What `push` does beside the uploads, on idle cores: digests and packing first, then the checksums that only the
//! index waits for.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use futures_util::TryFutureExt as _;
use tofu_oci_archive::{Limits, read_zip_unless};
use tofu_oci_disk::{Purpose, Scratch};
use tofu_oci_types::{Counter, PackageHash, Reporter, zip_name};
use tokio::sync::{OwnedSemaphorePermit, Semaphore, oneshot};
use tokio::task::JoinHandle;

use super::memo::Memo;
use super::pack::{HashedFile, PackJob, PackageH1, Prepared, prepare};
use super::release::BuiltRelease;
use crate::{H1Mode, PackError, Publication, PushRequest, SmallLayers};

/// Runs blocking work on a thread for such work. It runs to its end even if the caller has stopped waiting.
pub(crate) async fn blocking<T: Send + 'static>(
    work: impl FnOnce() -> Result<T, PackError> + Send + 'static,
) -> Result<T, PackError> {
    match tokio::task::spawn_blocking(work).await {
        Ok(result) => result,
        Err(error) => match error.try_into_panic() {
            Ok(panic) => std::panic::resume_unwind(panic),
            Err(_) => Err(PackError::Stopped),
        },
    }
}

/// What is known of one platform so far.
pub(super) enum PlatformStage {
    Coming(oneshot::Receiver<Result<Arc<Prepared>, PackError>>),
    Here(Arc<Prepared>),
}

/// All platforms of a push on their way. Dropping it stops the work.
pub(super) struct Preparation {
    /// In the order of the platforms.
    pub(super) stages: Vec<PlatformStage>,
    pub(super) checksums: Checksums,
    shared: Arc<SharedWork>,
    cores: u32,
    /// Zips and layers in the making lie here.
    _scratch: Arc<Scratch>,
}

struct SharedWork {
    /// A permit is held until the thread has done its work, even if the caller has stopped waiting.
    cores: Arc<Semaphore>,
    cancelled: AtomicBool,
    /// Where computed checksums are written.
    memo: Option<Memo>,
    /// What is believed without computing it. `None` if the release is signed: the signature vouches for each checksum
    /// that the index carries, so none may come from a folder that another program can write to.
    known: Option<Memo>,
    h1: H1Mode,
}

impl SharedWork {
    /// A core, in the order of asking.
    async fn core(&self) -> Result<OwnedSemaphorePermit, PackError> {
        Arc::clone(&self.cores).acquire_owned().await.map_err(|_| PackError::Stopped)
    }
}

impl Preparation {
    /// Starts the work, as many packages at a time as there are cores: first what sending waits for.
    pub(super) fn start(request: &PushRequest<'_>) -> Result<Self, PackError> {
        let scratch = Scratch::temporary(&request.work_dir, Purpose::Push)
            .map_err(|error| PackError::io("create a folder in", &request.work_dir, error))?;
        let scratch = Arc::new(scratch);
        let cores = std::thread::available_parallelism().map_or(1, std::num::NonZero::get);
        let cores = u32::try_from(cores).unwrap_or(1);
        let memo = request.memo_dir.as_deref().map(Memo::new);
        let shared = Arc::new(SharedWork {
            cores: Arc::new(Semaphore::new(cores as usize)),
            cancelled: AtomicBool::new(false),
            known: memo.clone().filter(|_| request.publication.signer.is_none()),
            memo,
            h1: match request.small {
                SmallLayers::Omit => request.h1,
                SmallLayers::Make => H1Mode::Compute,
            },
        });
        let (mut stages, mut checksums) = (Vec::new(), Vec::new());
        for job in jobs(request, &scratch) {
            let (sender, receiver) = oneshot::channel();
            stages.push(PlatformStage::Coming(receiver));
            checksums.push(Task(tokio::spawn(run(job, Arc::clone(&shared), sender))));
        }
        Ok(Self { stages, checksums: Checksums(checksums), shared, cores, _scratch: scratch })
    }

    /// Waits until every platform can be sent.
    pub(super) async fn prepared(&mut self, reporter: &dyn Reporter) -> Result<Vec<Arc<Prepared>>, PackError> {
        let count = Counter::new(reporter, "packages read", self.stages.len());
        let mut all = Vec::with_capacity(self.stages.len());
        for stage in &mut self.stages {
            all.push(stage.wait().await?);
            count.done();
        }
        Ok(all)
    }

    /// Waits until everything is known, and plans the index.
    pub(super) async fn finish(
        &mut self,
        request: &PushRequest<'_>,
        reporter: &dyn Reporter,
    ) -> Result<BuiltRelease, PackError> {
        let prepared = self.prepared(reporter).await?;
        let checksums = self.checksums.wait(reporter).await?;
        Ok(BuiltRelease::new(&request.publication, &request.dist.protocols, prepared, checksums))
    }
}

#[cfg(test)]
impl Preparation {
    /// The permits of the cores.
    pub(super) fn cores(&self) -> Arc<Semaphore> {
        Arc::clone(&self.shared.cores)
    }
}

impl Preparation {
    /// Stops what still runs, waits for its threads, and removes scratch files.
    pub(super) async fn stop(mut self) {
        self.shared.cancelled.store(true, Ordering::Relaxed);
        for task in &mut self.checksums.0 {
            task.end().await;
        }
        // An error means that the semaphore was closed, which never happens.
        let _ = self.shared.cores.acquire_many(self.cores).await;
    }
}

impl Drop for Preparation {
    fn drop(&mut self) {
        self.shared.cancelled.store(true, Ordering::Relaxed);
    }
}

/// The `h1:` of every package, in the order of the stages.
pub(super) struct Checksums(Vec<Task<Option<PackageHash>>>);

impl Checksums {
    /// Waits for all of them; to be called once.
    pub(super) async fn wait(&mut self, reporter: &dyn Reporter) -> Result<Vec<Option<PackageHash>>, PackError> {
        let count = Counter::new(reporter, "checksums", self.0.len());
        let waits = self.0.iter_mut().map(|task| task.wait().inspect_ok(|_| count.done()));
        futures_util::future::try_join_all(waits).await
    }
}

impl PlatformStage {
    /// Waits until the platform can be sent. After an error it must not be asked again.
    pub(super) async fn wait(&mut self) -> Result<Arc<Prepared>, PackError> {
        if let Self::Coming(receiver) = self {
            let prepared = receiver.await.map_err(|_| PackError::Stopped)??;
            *self = Self::Here(prepared);
        }
        match self {
            Self::Here(prepared) => Ok(Arc::clone(prepared)),
            Self::Coming(_) => Err(PackError::Stopped),
        }
    }
}

/// A task that ends with its owner.
struct Task<T>(JoinHandle<Result<T, PackError>>);

impl<T> Task<T> {
    async fn wait(&mut self) -> Result<T, PackError> {
        match (&mut self.0).await {
            Ok(result) => result,
            Err(error) => match error.try_into_panic() {
                Ok(panic) => std::panic::resume_unwind(panic),
                Err(_) => Err(PackError::Stopped),
            },
        }
    }

    /// Ends it, and waits until it holds nothing any more.
    async fn end(&mut self) {
        if !self.0.is_finished() {
            self.0.abort();
            // The task reports that it was stopped.
            let _ = (&mut self.0).await;
        }
    }
}

impl<T> Drop for Task<T> {
    fn drop(&mut self) {
        self.0.abort();
    }
}

fn jobs(request: &PushRequest<'_>, scratch: &Arc<Scratch>) -> Vec<PackJob> {
    let Publication { address, version, layout, .. } = request.publication;
    request
        .dist
        .packages
        .iter()
        .map(|package| PackJob {
            package: package.clone(),
            provider_type: address.provider_type().to_owned(),
            filename: zip_name(address, version, &package.platform),
            layout,
            small: request.small,
            sums: request.dist.sums.iter().chain(&request.dist.further_sums).cloned().collect(),
            scratch: Arc::clone(scratch),
        })
        .collect()
}

/// One platform: prepares it, hands it over, and then finds its checksum. The queue for the cores is first come, first
/// served, so all platforms are prepared before the first zip is read through.
async fn run(
    job: PackJob,
    shared: Arc<SharedWork>,
    ready: oneshot::Sender<Result<Arc<Prepared>, PackError>>,
) -> Result<Option<PackageHash>, PackError> {
    let core = shared.core().await?;
    let prepared = blocking(move || {
        let _core = core;
        // It lets go of the scratch folder before the core is free.
        let job = job;
        prepare(&job)
    })
    .await;
    let h1 = prepared.as_ref().map(|(_, h1)| h1.clone()).map_err(Clone::clone);
    // The receiver is gone if the push has ended.
    drop(ready.send(prepared.map(|(prepared, _)| Arc::new(prepared))));
    match (shared.h1, h1?) {
        (H1Mode::Skip, _) => Ok(None),
        (H1Mode::Compute, PackageH1::Known(h1)) => Ok(Some(h1)),
        (H1Mode::Compute, PackageH1::Of(zip)) => checksum(zip, shared).await.map(Some),
    }
}

async fn checksum(zip: HashedFile, shared: Arc<SharedWork>) -> Result<PackageHash, PackError> {
    let known = shared.known.as_ref().and_then(|memo| memo.get(&zip.digest));
    if let Some(h1) = known {
        return Ok(h1);
    }
    let core = shared.core().await?;
    let work = Arc::clone(&shared);
    blocking(move || {
        let _core = core;
        let contents = read_zip_unless(&work.cancelled, &zip.path, &Limits::default())
            .map_err(|error| PackError::archive(&zip.path, error))?;
        let h1 = contents.h1();
        if let Some(memo) = &work.memo {
            memo.put(&zip.digest, &h1);
        }
        Ok(h1)
    })
    .await
}
