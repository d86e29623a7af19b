//! One repository.

use std::collections::{HashMap, HashSet};
use std::sync::atomic::AtomicBool;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use async_trait::async_trait;
use bytes::Bytes;
use futures_util::{StreamExt as _, TryStreamExt as _};
use reqwest::{Method, StatusCode};
use tofu_oci_store::{
    ByteStream, Lists, Pushed, ReadStore, Store, StoreError, StoreItem, Transport, UnverifiedManifest, is_manifest_type,
};
use tofu_oci_types::{Descriptor, Digest, Reference, RepositoryRef, Tag};
use url::Url;

use crate::call::Call;
use crate::client::RegistryClient;
use crate::download::Download;
use crate::link::LIST_LIMIT;
use crate::retry::Attempts;
use crate::scope::Access;
use crate::standing_in::Write;

/// Most bytes of pushed manifests that are kept for the tags that follow.
const KEPT_LIMIT: usize = 8 * 1024 * 1024;

/// One repository of a registry. Cheap to make; what it learns lives as long as it does.
///
/// Limits: a manifest and an index 4 MiB, an index 1000 entries, a page of tags 8 MiB, a list 1000 pages and 32 MiB, a
/// token server's answer 1 MiB, an error's body 64 KiB. Blobs are streamed both ways and have no limit but their own size.
///
/// Spec: OCI distribution-spec 1.1.1.
pub struct RemoteStore {
    pub(crate) client: Arc<RegistryClient>,
    pub(crate) repository: RepositoryRef,
    pub(crate) pull: Access,
    pub(crate) push: Access,
    pub(crate) memory: Memory,
}

/// What a store has learned.
#[derive(Default)]
pub(crate) struct Memory {
    /// Whether this repository has shown that the registry has no referrers API.
    pub(crate) no_referrers: AtomicBool,
    state: Mutex<State>,
}

#[derive(Default)]
pub(crate) struct State {
    /// Blobs that are on their way, or there.
    pub(crate) blobs: HashMap<Digest, Arc<tokio::sync::Mutex<bool>>>,
    /// Upload sessions that a refused mount left behind.
    pub(crate) sessions: HashMap<Digest, Url>,
    manifests: HashMap<Digest, Bytes>,
    /// Manifests that this store has written.
    written: HashSet<Digest>,
    /// The last write of a tag that several programs may write at once, until it is known to last.
    pub(crate) rewritten: Option<Write>,
    /// Of the tags that were listed last, those that may stand in for the referrers API.
    pub(crate) standing_in: Option<HashSet<Tag>>,
}

impl Memory {
    pub(crate) fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Keeps a manifest's bytes, so that tagging it does not fetch them again.
    pub(crate) fn keep_manifest(&self, digest: &Digest, bytes: &Bytes) {
        let mut state = self.state();
        let kept: usize = state.manifests.values().map(Bytes::len).sum();
        if kept + bytes.len() > KEPT_LIMIT {
            state.manifests.clear();
        }
        state.manifests.insert(digest.clone(), bytes.clone());
    }

    pub(crate) fn note_written(&self, digest: &Digest) {
        self.state().written.insert(digest.clone());
    }

    /// Whether this store has written the manifest itself.
    pub(crate) fn has_written(&self, digest: &Digest) -> bool {
        self.state().written.contains(digest)
    }

    pub(crate) fn kept_manifest(&self, digest: &Digest) -> Option<Bytes> {
        self.state().manifests.get(digest).cloned()
    }
}

impl RemoteStore {
    pub(crate) fn new(client: Arc<RegistryClient>, repository: RepositoryRef) -> Self {
        let (pull, push) = (Access::pull(&repository), Access::push(&repository));
        Self { client, repository, pull, push, memory: Memory::default() }
    }

    /// The path of something in the repository. Names and digests follow grammars without any character that an
    /// address would read otherwise.
    pub(crate) fn path(&self, kind: &str, rest: &str) -> String {
        format!("/v2/{}/{kind}/{rest}", self.repository.name())
    }

    pub(crate) fn malformed(&self, problem: impl Into<String>) -> StoreError {
        StoreError::Malformed { place: self.place(), problem: problem.into() }
    }

    pub(crate) fn list_too_large(&self, what: &str) -> StoreError {
        StoreError::TooLarge { place: self.place(), what: what.to_owned(), limit: LIST_LIMIT }
    }

    pub(crate) fn forbidden(&self, problem: impl Into<String>) -> StoreError {
        StoreError::Forbidden { place: self.place(), fault: None, problem: problem.into() }
    }

    /// The error without any secret that was sent, in case the registry has repeated one.
    pub(crate) fn told(&self, error: StoreError) -> StoreError {
        self.client.told.hide_in(error)
    }

    /// Whether a blob is there.
    pub(crate) async fn has_blob(&self, digest: &Digest, access: &Access) -> Result<bool, StoreError> {
        self.has_blob_within(digest, access, &mut self.client.attempts()).await
    }

    /// The same, within the attempts and the time that are left of these.
    pub(crate) async fn has_blob_within(
        &self,
        digest: &Digest,
        access: &Access,
        attempts: &mut Attempts,
    ) -> Result<bool, StoreError> {
        let path = self.path("blobs", digest.as_str());
        let answer = self.client.send_within(&Call::new(Method::HEAD, &path, access).by_digest(), attempts).await?;
        match answer.status() {
            200..=299 => return Ok(true),
            404 if !answer.crossed => return Ok(false),
            // Signed addresses of object stores are often good for GET alone; some registries know no HEAD.
            400 | 403 | 404 | 405 | 501 if answer.crossed || answer.status() == 405 => {}
            _ => return Err(answer.into_error(StoreItem::Blob(digest.clone())).await),
        }
        let call = Call::new(Method::GET, &path, access).header("range", "bytes=0-0").by_digest();
        let answer = self.client.send_within(&call, attempts).await?;
        match answer.status() {
            // 416 is the answer for an empty blob.
            200..=299 | 416 => Ok(true),
            404 => Ok(false),
            _ => Err(answer.into_error(StoreItem::Blob(digest.clone())).await),
        }
    }

    /// The error of a write that the registry refused; a 404 is said in the words that help.
    pub(crate) async fn write_error(&self, answer: crate::answer::Answer) -> StoreError {
        if !answer.is(StatusCode::NOT_FOUND) || answer.crossed {
            return answer.words_and_error().await.1;
        }
        let (place, request) = (self.place(), answer.request.clone());
        let words = answer.words().await;
        let said = words.text(StatusCode::NOT_FOUND);
        let problem = if words.is_empty() || words.repository_unknown() {
            format!("{said}; the repository does not exist and is not created by a push, or there is no right to push")
        } else {
            said
        };
        StoreError::Rejected { place, status: 404, request, problem }
    }
}

#[async_trait]
impl ReadStore for RemoteStore {
    fn place(&self) -> String {
        self.repository.to_string()
    }

    fn repository(&self) -> Option<&RepositoryRef> {
        Some(&self.repository)
    }

    async fn resolve(&self, reference: &Reference) -> Result<Descriptor, StoreError> {
        self.resolve_manifest(reference).await.map_err(|error| self.told(error))
    }

    async fn transport(&self) -> Transport {
        match self.client.hosts.root(self.repository.registry()).await {
            Ok(root) if root.scheme() == "http" => Transport::PlainHttp,
            _ => Transport::Tls,
        }
    }

    async fn manifest(&self, reference: &Reference) -> Result<(Descriptor, Bytes), StoreError> {
        self.get_manifest(reference, None).await.map_err(|error| self.told(error))
    }

    async fn tags(&self) -> Result<Vec<Tag>, StoreError> {
        self.list_tags().await.map_err(|error| self.told(error))
    }

    async fn manifest_unverified(&self, reference: &Reference, limit: u64) -> Result<UnverifiedManifest, StoreError> {
        self.get_manifest_unverified(reference, limit).await.map_err(|error| self.told(error))
    }

    async fn exists(&self, descriptor: &Descriptor) -> Result<bool, StoreError> {
        let found = if is_manifest_type(&descriptor.media_type) {
            self.has_manifest(&descriptor.digest, &self.pull).await
        } else {
            self.has_blob(&descriptor.digest, &self.pull).await
        };
        found.map_err(|error| self.told(error))
    }

    async fn fetch_unverified(&self, descriptor: &Descriptor) -> Result<ByteStream, StoreError> {
        if is_manifest_type(&descriptor.media_type) {
            let bytes = self.fetch_manifest(descriptor).await.map_err(|error| self.told(error))?;
            return Ok(futures_util::stream::once(async move { Ok(bytes) }).boxed());
        }
        let stream = Download::new(self, descriptor).start().await.map_err(|error| self.told(error))?;
        let told = Arc::clone(&self.client.told);
        Ok(stream.map_err(move |error| told.hide_in(error)).boxed())
    }

    async fn referrers(&self, subject: &Digest) -> Result<Vec<Descriptor>, StoreError> {
        self.list_referrers(subject).await.map_err(|error| self.told(error))
    }

    async fn referrers_in(&self, subject: &Digest, lists: Lists) -> Result<Vec<Descriptor>, StoreError> {
        let found = match lists {
            Lists::Nearest => self.nearest_referrers(subject).await,
            Lists::All => self.all_referrers(subject).await,
        };
        found.map_err(|error| self.told(error))
    }
}

#[async_trait]
impl Store for RemoteStore {
    async fn push(&self, descriptor: &Descriptor, content: &dyn tofu_oci_store::Body) -> Result<Pushed, StoreError> {
        let pushed = if is_manifest_type(&descriptor.media_type) {
            self.push_manifest(descriptor, content).await
        } else {
            self.push_blob(descriptor, content).await
        };
        pushed.map_err(|error| self.told(error))
    }

    async fn tag(&self, descriptor: &Descriptor, tag: &Tag) -> Result<(), StoreError> {
        self.tag_manifest(descriptor, tag).await.map_err(|error| self.told(error))
    }

    async fn retag(&self, descriptor: &Descriptor, tag: &Tag, before: Option<&Digest>) -> Result<bool, StoreError> {
        self.retag_manifest(descriptor, tag, before).await.map_err(|error| self.told(error))
    }

    async fn settle(&self) -> Result<(), StoreError> {
        self.settle_lists().await.map_err(|error| self.told(error))
    }

    async fn mount(&self, descriptor: &Descriptor, from: &RepositoryRef) -> Result<bool, StoreError> {
        self.mount_blob(descriptor, from).await.map_err(|error| self.told(error))
    }
}
