//! One repository.

use std::collections::{HashMap, HashSet};
use std::sync::atomic::AtomicBool;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use bytes::Bytes;
use reqwest::{Method, StatusCode};
use tofu_oci_http::{Attempts, HeldUrl};
use tofu_oci_store::{StoreError, StoreItem};
use tofu_oci_types::{Digest, RepositoryRef, Tag};
use url::Url;

use crate::answer::RegistryAnswer;
use crate::call::RegistryCall;
use crate::client::RegistryClient;
use crate::link::{LIST_LIMIT, Pages};
use crate::referrer_list::ListWrite;
use crate::scope::RequestedAccess;

/// Most bytes of pushed manifests that are kept for the tags that follow.
const KEPT_LIMIT: usize = 8 * 1024 * 1024;
/// To send a blob of so many bytes takes about as long as to ask for it.
const SMALL: u64 = 64 * 1024;

/// One repository of a registry. It is cheap to make, and forgets what it learned when it is dropped.
///
/// Limits: a manifest and an index 4 MiB, an index 1000 entries, a page of tags 8 MiB, a list 1000 pages and 32 MiB, a
/// token server's answer 1 MiB, an error's body 64 KiB. Blobs are streamed both ways and have no limit but their own size.
///
/// Spec: OCI distribution-spec 1.1.1.
pub struct RemoteStore {
    pub(crate) client: Arc<RegistryClient>,
    pub(crate) repository: RepositoryRef,
    pub(crate) pull: RequestedAccess,
    pub(crate) push: RequestedAccess,
    pub(crate) memory: RepositoryMemory,
}

/// What a store has learned.
#[derive(Default)]
pub(crate) struct RepositoryMemory {
    /// Whether this repository has shown that the registry has no referrers API.
    pub(crate) no_referrers: AtomicBool,
    /// The right to take a tag away.
    pub(crate) untagging: tokio::sync::Mutex<()>,
    state: Mutex<RepositoryState>,
}

/// What may be in a repository beside what this store has written.
#[derive(Clone, Copy, Default, PartialEq, Eq)]
pub(crate) enum OtherContent {
    #[default]
    Unknown,
    /// Nothing but what an interrupted push has left: the repository did not exist when its tags were listed.
    Leftovers,
    /// Nothing: the same, and this store has put the tag `first-seen` there, which any run like this one writes first.
    Nothing,
}

#[derive(Default)]
pub(crate) struct RepositoryState {
    /// Blobs that are on their way, or there.
    pub(crate) blobs: HashMap<Digest, Arc<tokio::sync::Mutex<bool>>>,
    /// Upload sessions that a registry opened instead of a mount.
    pub(crate) sessions: HashMap<Digest, HeldUrl>,
    manifests: HashMap<Digest, Bytes>,
    /// Manifests that this store has written, and whether the registry has named their digest.
    written: HashMap<Digest, bool>,
    /// Manifests that were not there before this store pushed them.
    pub(crate) new: HashSet<Digest>,
    /// What manifests that this store has pushed refer to.
    pub(crate) subjects: HashSet<Digest>,
    /// What may be there beside them.
    pub(crate) others: OtherContent,
    /// The last write of a tag that several programs may write at once, until it is known to last.
    pub(crate) rewritten: Option<ListWrite>,
    /// The writes of tags that did not exist before, until they are known to last.
    pub(crate) new_tags: HashMap<Tag, ListWrite>,
    /// The tags that this store has written: what they name now, and what they named before if that is known.
    pub(crate) tagged: HashMap<Tag, (Digest, Option<Digest>)>,
    /// Whether the registry deletes tags or manifests.
    pub(crate) deletes: bool,
    /// Of the tags that were listed last, those that may replace the referrers API.
    pub(crate) referrers_tags: Option<HashSet<Tag>>,
}

impl RepositoryState {
    /// Manifests and blobs that were there are asked for again.
    pub(crate) fn forget_content(&mut self) {
        self.blobs.clear();
        self.written.values_mut().for_each(|is_named| *is_named = false);
    }
}

impl RepositoryMemory {
    pub(crate) fn state(&self) -> MutexGuard<'_, RepositoryState> {
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

    pub(crate) fn note_written(&self, digest: &Digest, is_named: bool) {
        *self.state().written.entry(digest.clone()).or_default() |= is_named;
    }

    /// Whether this store has written the manifest itself.
    pub(crate) fn has_written(&self, digest: &Digest) -> bool {
        self.state().written.contains_key(digest)
    }

    /// The same, and the registry has named the digest of what it took.
    pub(crate) fn has_stored(&self, digest: &Digest) -> bool {
        self.state().written.get(digest).is_some_and(|is_named| *is_named)
    }

    /// Whether a blob of this size is sent without asking for it.
    pub(crate) fn lacks_blob(&self, size: u64) -> bool {
        match self.state().others {
            OtherContent::Unknown => false,
            OtherContent::Leftovers => size <= SMALL,
            OtherContent::Nothing => true,
        }
    }

    /// Whether the manifest is written without asking for it.
    pub(crate) fn lacks_manifest(&self, digest: &Digest) -> bool {
        let state = self.state();
        state.others != OtherContent::Unknown && !state.written.contains_key(digest)
    }

    /// Whether the manifest was not there before this store pushed it, and this store has pushed nothing that refers to it.
    pub(crate) fn lacks_referrers(&self, subject: &Digest) -> bool {
        let state = self.state();
        state.new.contains(subject) && !state.subjects.contains(subject)
    }

    pub(crate) fn kept_manifest(&self, digest: &Digest) -> Option<Bytes> {
        self.state().manifests.get(digest).cloned()
    }
}

impl RegistryClient {
    /// One repository as a store. Nothing is asked of the registry yet.
    pub fn store(self: &Arc<Self>, repository: RepositoryRef) -> RemoteStore {
        RemoteStore::new(Arc::clone(self), repository)
    }
}

impl RemoteStore {
    fn new(client: Arc<RegistryClient>, repository: RepositoryRef) -> Self {
        let (pull, push) = (RequestedAccess::pull(&repository), RequestedAccess::push(&repository));
        Self { client, repository, pull, push, memory: RepositoryMemory::default() }
    }

    /// The path of something in the repository. Names and digests follow grammars without any character that an
    /// address would read otherwise.
    pub(crate) fn path(&self, kind: &str, rest: &str) -> String {
        format!("/v2/{}/{kind}/{rest}", self.repository.name())
    }

    pub(crate) fn malformed(&self, problem: impl Into<String>) -> StoreError {
        StoreError::Malformed { place: self.pull.subject.place(), problem: problem.into() }
    }

    pub(crate) fn list_too_large(&self, what: &str) -> StoreError {
        StoreError::TooLarge { place: self.pull.subject.place(), what: what.to_owned(), limit: LIST_LIMIT }
    }

    /// A list that begins here, and may take five times as long as one request.
    pub(crate) fn pages(&self, first: &Url) -> Pages {
        Pages::new(first.clone(), self.client.http().limits().total.saturating_mul(5))
    }

    pub(crate) fn forbidden(&self, problem: impl Into<String>) -> StoreError {
        StoreError::Forbidden { place: self.pull.subject.place(), fault: None, host: None, problem: problem.into() }
    }

    /// The error without any secret that was sent, in case the registry has repeated one.
    pub(crate) fn scrub(&self, error: StoreError) -> StoreError {
        self.client.network.scrub(error)
    }

    /// Whether a blob is there.
    pub(crate) async fn has_blob(&self, digest: &Digest, access: &RequestedAccess) -> Result<bool, StoreError> {
        self.has_blob_within(digest, access, &mut self.client.http().attempts()).await
    }

    /// The same, within the attempts and the time that are left of these.
    pub(crate) async fn has_blob_within(
        &self,
        digest: &Digest,
        access: &RequestedAccess,
        attempts: &mut Attempts,
    ) -> Result<bool, StoreError> {
        let path = self.path("blobs", digest.as_str());
        let answer =
            self.client.send_within(&RegistryCall::new(Method::HEAD, &path, access).by_digest(), attempts).await?;
        match answer.status() {
            200..=299 => return Ok(true),
            404 if !answer.crossed => return Ok(false),
            // Signed addresses of object stores are often good for GET alone; some registries know no HEAD.
            400 | 403 | 404 | 405 | 501 if answer.crossed || answer.status() == 405 => {}
            _ => return Err(answer.into_error(StoreItem::Blob(digest.clone())).await),
        }
        let call = RegistryCall::new(Method::GET, &path, access).header("range", "bytes=0-0").by_digest();
        let answer = self.client.send_within(&call, attempts).await?;
        match answer.status() {
            // 416 is the answer for an empty blob.
            200..=299 | 416 => Ok(true),
            404 => Ok(false),
            _ => Err(answer.into_error(StoreItem::Blob(digest.clone())).await),
        }
    }

    /// The error of a write that the registry refused; a 404 says what may be missing.
    pub(crate) async fn write_error(&self, answer: RegistryAnswer) -> StoreError {
        if answer.status() != 404 || answer.crossed {
            return answer.words_and_error().await.1;
        }
        let (place, request) = (self.pull.subject.place(), answer.request.clone());
        let words = answer.words().await;
        let (text, reason) = (words.text(StatusCode::NOT_FOUND), words.reason(StatusCode::NOT_FOUND, &place));
        let problem = if words.is_empty() || words.repository_unknown() {
            format!("{text}; the repository does not exist and is not created by a push, or there is no right to push")
        } else {
            text
        };
        StoreError::Rejected { place, status: 404, request, problem, reason, crossed: false }
    }
}
