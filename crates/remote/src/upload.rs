//! How a blob is uploaded, and goes on after a break. The crate's front page says how many requests it takes.

use std::sync::Arc;

use reqwest::Method;
use tofu_oci_http::{Attempts, HeldUrl, RetryAfter, host_of, is_transient};
use tofu_oci_store::{Pushed, StoreError};
use tofu_oci_types::{Descriptor, Digest, RepositoryRef};

use crate::answer::RegistryAnswer;
use crate::body::CallBody;
use crate::call::RegistryCall;
use crate::chunked::ChunkLength;
use crate::options::ChunkMode;
use crate::repository::RemoteStore;
use crate::scope::RequestedAccess;
use crate::session::{BrokenTransfer, Sent};

/// So many attempts in one piece may break before chunks are tried.
const BROKEN_BEFORE_CHUNKS: usize = 2;

impl RemoteStore {
    pub(crate) async fn push_blob(
        &self,
        descriptor: &Descriptor,
        content: &dyn tofu_oci_store::Body,
    ) -> Result<Pushed, StoreError> {
        if let Some(bytes) = content.in_memory() {
            self.check_content(descriptor, bytes)?;
        }
        let gate = Arc::clone(self.memory.state().blobs.entry(descriptor.digest.clone()).or_default());
        let mut there = gate.lock().await;
        if *there {
            return Ok(Pushed::Present);
        }
        let outcome = self.upload(descriptor, content).await?;
        *there = true;
        Ok(outcome)
    }

    /// Links a blob from another repository. A session that the registry opens instead is kept for the upload.
    pub(crate) async fn mount_blob(&self, descriptor: &Descriptor, from: &RepositoryRef) -> Result<bool, StoreError> {
        if from.registry() != self.repository.registry() {
            return Ok(false);
        }
        let gate = Arc::clone(self.memory.state().blobs.entry(descriptor.digest.clone()).or_default());
        let mut there = gate.lock().await;
        if *there {
            return Ok(true);
        }
        let access = RequestedAccess::mount(&self.repository, from.name());
        let answer = match self.post(&mount_query(&descriptor.digest, from.name()), &access).await {
            // The right to push here does not include the right to pull there: then the blob is sent.
            Err(StoreError::Unauthorized { .. } | StoreError::Denied { .. }) => return Ok(false),
            other => other?,
        };
        match answer.status() {
            201 => {
                *there = true;
                Ok(true)
            }
            202 => {
                if let Ok(session) = self.location(&answer) {
                    self.memory.state().sessions.insert(descriptor.digest.clone(), session);
                }
                Ok(false)
            }
            400..=499 if !is_transient(answer.status()) => Ok(false),
            _ => Err(self.write_error(answer).await),
        }
    }

    async fn upload(&self, descriptor: &Descriptor, content: &dyn tofu_oci_store::Body) -> Result<Pushed, StoreError> {
        let digest = &descriptor.digest;
        let mut session = self.memory.state().sessions.remove(digest);
        // A session comes from a refused mount, and the blob was asked for before that mount.
        let is_asked_for = session.is_none() && !self.memory.lacks_blob(descriptor.size);
        if is_asked_for && self.has_blob(digest, &self.push).await? {
            return Ok(Pushed::Present);
        }
        let mode = self.client.chunk;
        let mut chunks = (mode == ChunkMode::Always).then(ChunkLength::usual);
        let mut attempts = self.client.http().attempts();
        // What became of the bytes when they were sent in one piece.
        let mut at_once = Vec::new();
        loop {
            let location = match session.take() {
                Some(location) => location,
                None => self.open(&mut attempts).await?,
            };
            let sent = match &mut chunks {
                Some(length) => {
                    let sent = self.send_chunks(location, descriptor, content, length, &mut attempts).await;
                    // If a registry takes no chunk at all, the error of the whole blob says more.
                    sent.map_err(|error| at_once.pop().filter(|_| length.furthest() == 0).unwrap_or(error))?
                }
                None => self.send_at_once(location, descriptor, content, &mut attempts).await?,
            };
            match sent {
                Sent::Done => return Ok(Pushed::Uploaded),
                Sent::TooLong(_) if chunks.is_none() && mode == ChunkMode::Fallback => {
                    chunks = Some(ChunkLength::below(descriptor.size));
                    continue;
                }
                Sent::TooLong(answer) if chunks.is_some() => return Err(self.chunk_error(*answer).await),
                Sent::TooLong(answer) => return Err(self.write_error(*answer).await),
                Sent::Broken(broken) => {
                    self.after_break(&mut attempts, &broken).await?;
                    if chunks.is_none() && matches!(broken.error, StoreError::Unreachable { .. }) {
                        at_once.push(broken.error);
                    }
                }
                Sent::Lost => {}
            }
            // A proxy that refuses such a body often hangs up before its answer is read: the connection just breaks. After
            // two breaks chunks are tried.
            if mode == ChunkMode::Fallback && chunks.is_none() && at_once.len() >= BROKEN_BEFORE_CHUNKS {
                chunks = Some(ChunkLength::below(descriptor.size));
            }
            // The bytes may have arrived although the answer did not.
            if self.is_there(digest, &mut attempts).await? {
                return Ok(Pushed::Uploaded);
            }
        }
    }

    /// Whether the blob is there, asked in the time that is left for its upload.
    async fn is_there(&self, digest: &Digest, attempts: &mut Attempts) -> Result<bool, StoreError> {
        let mut other = attempts.of_another_request();
        let found = self.has_blob_within(digest, &self.push, &mut other).await;
        attempts.count(&other);
        found
    }

    /// A fresh session, opened in the time that is left for the upload.
    async fn open(&self, attempts: &mut Attempts) -> Result<HeldUrl, StoreError> {
        let mut other = attempts.of_another_request();
        let call = RegistryCall::new(Method::POST, self.path("blobs", "uploads/"), &self.push);
        let answer = self.client.send_within(&call, &mut other).await;
        attempts.count(&other);
        let answer = answer?;
        match answer.status() {
            202 => self.location(&answer),
            _ => Err(self.write_error(answer).await),
        }
    }

    async fn post(&self, query: &str, access: &RequestedAccess) -> Result<RegistryAnswer, StoreError> {
        self.client
            .send(&RegistryCall::new(Method::POST, self.path("blobs", &format!("uploads/{query}")), access))
            .await
    }

    /// One `PUT` with the length known and no `Content-Range`: what every registry takes.
    async fn send_at_once(
        &self,
        location: HeldUrl,
        descriptor: &Descriptor,
        content: &dyn tofu_oci_store::Body,
        attempts: &mut Attempts,
    ) -> Result<Sent, StoreError> {
        let host = host_of(&location.url);
        let call = self.closing(location, &descriptor.digest).body(CallBody::Content(content, descriptor.size));
        let answer = match self.client.send_within(&call, attempts).await {
            Ok(answer) => answer,
            Err(error @ StoreError::Unreachable { .. }) => {
                return Ok(Sent::Broken(BrokenTransfer { error, after: RetryAfter::Nothing, host }));
            }
            Err(error) => return Err(error),
        };
        self.closed(answer, &descriptor.digest).await
    }
}

/// `?mount=DIGEST&from=NAME`: neither has a character with a meaning in a query, except the digest's `:`,
/// which a query may hold, and `+`, which it may not.
fn mount_query(digest: &Digest, from: &str) -> String {
    format!("?mount={}&from={from}", digest.as_str().replace('+', "%2B"))
}
