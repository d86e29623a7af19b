//! What the tests share: a client that never waits, and shorthands.

use std::ops::Range;
use std::sync::{Arc, LazyLock, Mutex};
use std::time::{Duration, SystemTime};

use async_trait::async_trait;
use bytes::Bytes;
use futures_util::TryStreamExt as _;
use tofu_oci_credentials::Credential;
use tofu_oci_http::Clock;
use tofu_oci_remote::{ClientOptions, CredentialFault, CredentialProvider, NoCredentials, RegistryClient, RemoteStore};
use tofu_oci_store::{ReadStore, StoreError};
use tofu_oci_types::{Descriptor, Digest, DigestHasher, Event, Reporter, RepositoryRef};

use crate::server::{Reply, Server, reply};

pub(crate) const INDEX: &str = "application/vnd.oci.image.index.v1+json";
pub(crate) const MANIFEST: &str = "application/vnd.oci.image.manifest.v1+json";
pub(crate) const ZIP: &str = "archive/zip";

/// Writes waits down instead of waiting.
#[derive(Default)]
pub(crate) struct NoWait(pub(crate) Mutex<Vec<Duration>>);

#[async_trait]
impl Clock for NoWait {
    fn now(&self) -> SystemTime {
        SystemTime::UNIX_EPOCH + Duration::from_hours(500_000)
    }

    async fn sleep(&self, time: Duration) {
        self.0.lock().unwrap().push(time);
    }
}

/// Writes events down.
#[derive(Default)]
pub(crate) struct Events(pub(crate) Mutex<Vec<Event>>);

impl Reporter for Events {
    fn event(&self, event: &Event) {
        self.0.lock().unwrap().push(event.clone());
    }
}

/// Always the same credential; counts how often it is asked for.
pub(crate) struct Fixed(pub(crate) Credential);

#[async_trait]
impl CredentialProvider for Fixed {
    async fn credential(&self, _repository: &RepositoryRef) -> Result<Option<Credential>, CredentialFault> {
        Ok(Some(self.0.clone()))
    }
}

/// A client and what it did besides asking.
pub(crate) struct Bench {
    pub(crate) client: Arc<RegistryClient>,
    pub(crate) events: Arc<Events>,
    pub(crate) clock: Arc<NoWait>,
}

pub(crate) fn bench() -> Bench {
    bench_with(ClientOptions::default(), Arc::new(NoCredentials))
}

pub(crate) fn bench_as(credential: Credential) -> Bench {
    bench_with(ClientOptions::default(), Arc::new(Fixed(credential)))
}

pub(crate) fn bench_with(options: impl Into<ClientOptions>, credentials: Arc<dyn CredentialProvider>) -> Bench {
    let mut options = options.into();
    let (events, clock) = (Arc::new(Events::default()), Arc::new(NoWait::default()));
    options.http.clock = clock.clone();
    let client = RegistryClient::new(options, credentials, events.clone()).unwrap();
    Bench { client, events, clock }
}

impl Bench {
    pub(crate) fn store(&self, server: &Server) -> RemoteStore {
        self.client.store(format!("{}/x", server.host()).parse().unwrap())
    }

    pub(crate) fn retries(&self) -> usize {
        self.events.0.lock().unwrap().iter().filter(|event| matches!(event, Event::Retrying { .. })).count()
    }
}

pub(crate) fn store(server: &Server) -> RemoteStore {
    bench().store(server)
}

/// An index with nothing in it.
pub(crate) fn index() -> Bytes {
    Bytes::from(format!(r#"{{"schemaVersion":2,"mediaType":"{INDEX}","manifests":[]}}"#))
}

pub(crate) fn manifest_reply(media_type: &str, bytes: &[u8]) -> Reply {
    reply(200)
        .header("content-type", media_type)
        .header("docker-content-digest", Digest::sha256(bytes).to_string())
        .body(bytes)
}

/// Bytes that do not repeat in a simple way.
pub(crate) fn noise(length: usize) -> Bytes {
    let mut state = 1_u32;
    let next = || {
        state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        state.to_be_bytes()[0]
    };
    std::iter::repeat_with(next).take(length).collect()
}

/// A part of something endless, in pieces, none of which stands where another one would do.
pub(crate) fn pieces(range: Range<u64>) -> impl Iterator<Item = &'static [u8]> {
    static NOISE: LazyLock<Bytes> = LazyLock::new(|| noise(1_000_003));
    let length = NOISE.len() as u64;
    let mut at = range.start;
    std::iter::from_fn(move || {
        let inside = usize::try_from(at % length).unwrap();
        let piece = &NOISE[inside..];
        let piece = &piece[..piece.len().min(usize::try_from(range.end - at).unwrap())];
        at += piece.len() as u64;
        (!piece.is_empty()).then_some(piece)
    })
}

/// What the first bytes of it are called.
pub(crate) fn generated(size: u64) -> Descriptor {
    let mut hasher = DigestHasher::sha256();
    pieces(0..size).for_each(|piece| hasher.update(piece));
    Descriptor::new(ZIP, hasher.finish(), size)
}

pub(crate) fn blob(bytes: &[u8]) -> Descriptor {
    Descriptor::of(ZIP, bytes)
}

/// Everything of a blob, verified.
pub(crate) async fn read(store: &dyn ReadStore, descriptor: &Descriptor) -> Result<Bytes, StoreError> {
    let pieces: Vec<Bytes> = store.fetch(descriptor).await?.try_collect().await?;
    assert!(pieces.iter().all(|piece| piece.len() <= 1024 * 1024), "pieces stay small");
    Ok(Bytes::from(pieces.concat()))
}

#[track_caller]
pub(crate) fn check_error<T: std::fmt::Debug>(result: Result<T, StoreError>, server: &Server, want: &str) {
    let error = result.expect_err("must fail").to_string().replace(&server.host(), "HOST");
    assert_eq!(error, want);
}
