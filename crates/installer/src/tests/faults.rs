//! Faults on the way leave disk and lock file as they were.

use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use bytes::Bytes;
use futures_util::StreamExt as _;
use tofu_oci_disk::FileError;
use tofu_oci_fetch::FetchError;
use tofu_oci_layout::PackageLayout;
use tofu_oci_store::{ByteStream, MemoryStore, ReadStore, Store, StoreError};
use tofu_oci_testkit::{HookedStore, StoreHook};
use tofu_oci_types::{Descriptor, Reference, Tag};

use super::fixture::{PLATFORM, Workspace, store, with_causes};
use crate::{InstallError, InstallOutcome, InstallTarget, PluginCache};

/// What happens to a package's bytes.
#[derive(Clone, Copy, Debug)]
enum Fault {
    /// The connection breaks in the middle.
    Breaks,
    /// The bytes end early, without an error.
    Truncated,
    /// More bytes come than were announced.
    TooLong,
    Flipped(usize),
    /// Half of the bytes come, and then nothing.
    Stalls,
    /// The registry is gone before the first request.
    Unreachable,
}

/// A store that damages packages, but not manifests, on the way.
struct Faulty {
    inner: Arc<MemoryStore>,
    fault: Fault,
}

impl Faulty {
    fn gone(&self) -> StoreError {
        StoreError::Unreachable {
            place: self.inner.place(),
            fault: tofu_oci_types::NetworkFault::Lost,
            problem: "connection reset".to_owned(),
        }
    }
}

#[async_trait]
impl StoreHook for Faulty {
    fn inner(&self) -> &dyn Store {
        &*self.inner
    }

    async fn resolve(&self, reference: &Reference) -> Result<Descriptor, StoreError> {
        if matches!(self.fault, Fault::Unreachable) {
            return Err(self.gone());
        }
        self.inner.resolve(reference).await
    }

    async fn tags(&self) -> Result<Vec<Tag>, StoreError> {
        if matches!(self.fault, Fault::Unreachable) {
            return Err(self.gone());
        }
        self.inner.tags().await
    }

    async fn fetch_unverified(&self, descriptor: &Descriptor) -> Result<ByteStream, StoreError> {
        let mut stream = self.inner.fetch_unverified(descriptor).await?;
        if descriptor.media_type.ends_with("json") {
            return Ok(stream);
        }
        let mut bytes = Vec::new();
        while let Some(chunk) = stream.next().await {
            bytes.extend_from_slice(&chunk?);
        }
        let half = bytes.len() / 2;
        let (bytes, end): (Vec<u8>, Option<ByteStream>) = match self.fault {
            Fault::Breaks => {
                let error = self.gone();
                (bytes[..half].to_vec(), Some(futures_util::stream::once(async { Err(error) }).boxed()))
            }
            Fault::Truncated => (bytes[..half].to_vec(), None),
            Fault::TooLong => ([&bytes[..], b"more"].concat(), None),
            Fault::Flipped(at) => {
                let at = at * (bytes.len() - 1) / 100;
                bytes[at] ^= 1;
                (bytes, None)
            }
            Fault::Stalls => (bytes[..half].to_vec(), Some(futures_util::stream::pending().boxed())),
            Fault::Unreachable => return Err(self.gone()),
        };
        let pieces: Vec<Result<Bytes, StoreError>> =
            bytes.chunks(64).map(|piece| Ok(Bytes::copy_from_slice(piece))).collect();
        let stream = futures_util::stream::iter(pieces);
        Ok(match end {
            Some(end) => stream.chain(end).boxed(),
            None => stream.boxed(),
        })
    }
}

async fn faulty(layout: PackageLayout, fault: Fault) -> Arc<dyn ReadStore> {
    Arc::new(HookedStore(Faulty { inner: store(layout).await.0, fault }))
}

#[tokio::test]
async fn spoilt_bytes_are_never_visible() {
    let mut faults = vec![Fault::Breaks, Fault::Truncated, Fault::TooLong, Fault::Unreachable];
    faults.extend((0..=100).step_by(10).map(Fault::Flipped));
    for layout in [PackageLayout::Artifact, PackageLayout::Image] {
        for fault in &faults {
            let store = faulty(layout, *fault).await;
            for packed in [false, true] {
                let workspace = Workspace::new();
                workspace.lock("1.0.0", &[]);
                let before = workspace.snapshot();
                let mut job = workspace.job(store.clone());
                if packed {
                    job.target = InstallTarget::MirrorPacked(workspace.path().join("mirror"));
                }
                let error = workspace.run(vec![job]).await.expect_err("the bytes are spoilt");
                assert!(
                    matches!(error, InstallError::Fetch(FetchError::Source(_))),
                    "{layout} {fault:?}: the download is the cause, not {}",
                    with_causes(&error)
                );
                assert_eq!(workspace.snapshot(), before, "{layout} {fault:?}");
            }
        }
    }
}

/// Dropping the future, as Ctrl-C does, leaves no files: the unpacking thread notices and cleans up.
#[test]
fn an_interrupted_installation_leaves_nothing_behind() {
    for (layout, cached) in
        [(PackageLayout::Artifact, false), (PackageLayout::Image, false), (PackageLayout::Image, true)]
    {
        let workspace = Workspace::new();
        let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(1).enable_all().build().unwrap();
        runtime.block_on(async {
            let store = faulty(layout, Fault::Stalls).await;
            let mut job = workspace.job(store);
            if let InstallTarget::WorkingDir { cache, .. } = &mut job.target {
                let dir = workspace.path().join("cache");
                *cache = cached.then_some(PluginCache { dir, may_break_lock: false });
            }
            let stopped = tokio::time::timeout(Duration::from_millis(200), workspace.run(vec![job])).await;
            assert!(stopped.is_err(), "it was still waiting");
        });
        // Waits for the unpacking thread, as the end of a program's main function does.
        drop(runtime);
        assert!(workspace.snapshot().is_empty(), "{:?}", workspace.snapshot());
    }
}

#[tokio::test]
async fn what_is_installed_and_locked_needs_no_registry() {
    let (inner, published) = store(PackageLayout::Artifact).await;
    let workspace = Workspace::new();
    workspace.install(inner.clone()).await.unwrap();
    let before = workspace.snapshot();
    let gone: Arc<dyn ReadStore> = Arc::new(HookedStore(Faulty { inner, fault: Fault::Unreachable }));
    assert_eq!(workspace.install(gone.clone()).await.unwrap().outcome, InstallOutcome::AlreadyInstalled);
    assert_eq!(workspace.snapshot(), before);
    assert_eq!(workspace.reporter.codes(), Vec::<&str>::new(), "the place was not asked");
    // What is served is not in the lock file: the place is asked, and may be away.
    workspace.lock("1.0.0", &[&published[PLATFORM].h1]);
    assert_eq!(workspace.install(gone).await.unwrap().outcome, InstallOutcome::AlreadyInstalled);
    assert_eq!(workspace.reporter.codes(), ["place-unreachable"]);
}

#[tokio::test]
async fn a_folder_that_cannot_be_written_is_named() {
    let (store, _) = store(PackageLayout::Artifact).await;
    let workspace = Workspace::new();
    // A file where a folder must be: an error for every user, the superuser too.
    std::fs::write(workspace.path().join(".terraform"), "").unwrap();
    let error = workspace.install(store).await.expect_err("there is a file in the way");
    assert!(
        matches!(error, InstallError::Fetch(FetchError::Io(FileError { action: "create", .. }))),
        "{}",
        with_causes(&error)
    );
    assert_eq!(workspace.snapshot().len(), 1);
}
