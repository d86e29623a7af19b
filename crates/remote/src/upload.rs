//! A blob on its way up. The crate's front page says how many requests it takes.

use std::sync::Arc;

use reqwest::Method;
use tofu_oci_store::{Pushed, ReadStore as _, StoreError, StoreItem};
use tofu_oci_types::{Descriptor, Digest, RepositoryRef};
use url::Url;

use crate::again::{Setback, Stop, too_long};
use crate::answer::Answer;
use crate::body::Body;
use crate::call::{Call, Target};
use crate::chunked::ChunkLength;
use crate::options::ChunkMode;
use crate::origin::{host_of, upload_location};
use crate::retry::{Asked, Attempts, is_transient};
use crate::scope::Access;
use crate::store::RemoteStore;

/// So many attempts in one piece may break before chunks are tried.
const BROKEN_BEFORE_CHUNKS: usize = 2;

/// How the sending of the bytes ended.
pub(crate) enum Sent {
    Done,
    /// The registry does not take so many bytes at once.
    TooLong(Box<Answer>),
    /// It broke; a fresh session may do better.
    Broken(Broken),
    /// The session is gone, and the wait that follows a break has been made.
    Lost,
}

/// A transfer that broke.
pub(crate) struct Broken {
    pub(crate) error: StoreError,
    pub(crate) asked: Asked,
    /// The host that broke it, as all requests name it: the registry may have named another one for the session.
    pub(crate) host: String,
}

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
        let access = Access::mount(&self.repository, from.name());
        let answer = match self.post(&mount_query(&descriptor.digest, from.name()), &access).await {
            // Who may push here need not be allowed to pull there: the blob is sent then.
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
        // A session stands for a mount that was refused, and before that the blob was asked for.
        if session.is_none() && self.has_blob(digest, &self.push).await? {
            return Ok(Pushed::Present);
        }
        let options = &self.client.options;
        let mut chunks = (options.chunk == ChunkMode::Always).then(ChunkLength::usual);
        let mut attempts = self.client.attempts();
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
                    // A registry that takes no chunk at all says nothing about why the whole blob breaks.
                    sent.map_err(|error| at_once.pop().filter(|_| length.furthest() == 0).unwrap_or(error))?
                }
                None => self.send_at_once(location, descriptor, content, &mut attempts).await?,
            };
            match sent {
                Sent::Done => return Ok(Pushed::Uploaded),
                Sent::TooLong(_) if chunks.is_none() && options.chunk == ChunkMode::Fallback => {
                    chunks = Some(ChunkLength::below(descriptor.size));
                    continue;
                }
                Sent::TooLong(answer) => return Err(self.write_error(*answer).await),
                Sent::Broken(broken) => {
                    self.after_break(&mut attempts, &broken).await?;
                    if chunks.is_none() && matches!(broken.error, StoreError::Unreachable { .. }) {
                        at_once.push(broken.error);
                    }
                }
                Sent::Lost => {}
            }
            // Something in between that refuses such a body and hangs up is often not heard: the connection just
            // breaks. Twice is reason enough to try the other way.
            if options.chunk == ChunkMode::Fallback && chunks.is_none() && at_once.len() >= BROKEN_BEFORE_CHUNKS {
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

    /// Waits after a break, or ends with its error.
    pub(crate) async fn after_break(&self, attempts: &mut Attempts, broken: &Broken) -> Result<(), StoreError> {
        let request = format!("PUT {}{}", self.repository.registry(), self.path("blobs", "uploads/"));
        let reason = broken.error.to_string();
        let setback = Setback { request, host: broken.host.clone(), asked: broken.asked, reason: &reason };
        self.client.again(attempts, setback).await.map_err(|stop| match stop {
            Stop::GiveUp => broken.error.clone(),
            Stop::TooLong(asked) => too_long(self.place(), asked),
        })
    }

    /// A fresh session, opened in the time that is left for the upload.
    async fn open(&self, attempts: &mut Attempts) -> Result<Url, StoreError> {
        let mut other = attempts.of_another_request();
        let call = Call::new(Method::POST, self.path("blobs", "uploads/"), &self.push);
        let answer = self.client.send_within(&call, &mut other).await;
        attempts.count(&other);
        let answer = answer?;
        match answer.status() {
            202 => self.location(&answer),
            _ => Err(self.write_error(answer).await),
        }
    }

    async fn post(&self, query: &str, access: &Access) -> Result<Answer, StoreError> {
        self.client.send(&Call::new(Method::POST, self.path("blobs", &format!("uploads/{query}")), access)).await
    }

    /// One `PUT` with the length known and no `Content-Range`: what every registry takes.
    async fn send_at_once(
        &self,
        location: Url,
        descriptor: &Descriptor,
        content: &dyn tofu_oci_store::Body,
        attempts: &mut Attempts,
    ) -> Result<Sent, StoreError> {
        let host = host_of(&location);
        let call = self.closing(location, &descriptor.digest).body(Body::Content(content, descriptor.size));
        let answer = match self.client.send_within(&call, attempts).await {
            Ok(answer) => answer,
            Err(error @ StoreError::Unreachable { .. }) => {
                return Ok(Sent::Broken(Broken { error, asked: Asked::Nothing, host }));
            }
            Err(error) => return Err(error),
        };
        self.closed(answer, &descriptor.digest).await
    }

    /// The request that ends a session with the digest of everything in it.
    pub(crate) fn closing(&self, mut location: Url, digest: &Digest) -> Call<'_> {
        location.query_pairs_mut().append_pair("digest", digest.as_str());
        Call::to(Method::PUT, Target::Address(location), &self.push)
            .header("content-type", "application/octet-stream")
            .step()
    }

    /// What the answer to the closing request means.
    pub(crate) async fn closed(&self, mut answer: Answer, digest: &Digest) -> Result<Sent, StoreError> {
        let (asked, host) = (answer.asked(), host_of(answer.url()));
        match answer.status() {
            200 | 201 | 202 | 204 => {}
            411 | 413 | 416 => return Ok(Sent::TooLong(Box::new(answer))),
            status => {
                let is_lost = status == 404 || answer.says(&["BLOB_UPLOAD_INVALID", "BLOB_UPLOAD_UNKNOWN"]).await;
                let may_pass = self.may_pass(&mut answer).await;
                let error = self.write_error(answer).await;
                if is_lost || is_transient(status) {
                    return Ok(Sent::Broken(Broken { error, asked, host }));
                }
                // The registry may have denied what it has just taken.
                return if may_pass && self.has_blob(digest, &self.push).await? { Ok(Sent::Done) } else { Err(error) };
            }
        }
        match answer.header("docker-content-digest").and_then(|text| text.parse::<Digest>().ok()) {
            Some(actual) if actual.algorithm_name() == digest.algorithm_name() && actual != *digest => {
                Err(StoreError::DigestMismatch {
                    place: self.place(),
                    what: StoreItem::Other("the blob that was stored"),
                    expected: digest.clone(),
                    actual: Box::new(actual),
                })
            }
            _ => Ok(Sent::Done),
        }
    }

    /// Where the session goes on.
    pub(crate) fn location(&self, answer: &Answer) -> Result<Url, StoreError> {
        let location = answer
            .header("location")
            .ok_or_else(|| self.malformed(format!("its answer to {} names no upload location", answer.request)))?;
        upload_location(answer.url(), location, &self.client.hosts.named.plain).map_err(|detour| {
            let problem = format!("the upload location: {}", detour.problem);
            StoreError::Forbidden { place: self.place(), fault: detour.fault, problem }
        })
    }

    /// Ends a session that is not needed; whether that works is of no matter, and no right to delete is asked for: a
    /// session dies by itself in the end.
    pub(crate) async fn cancel(&self, session: Url) {
        let call = Call::to(Method::DELETE, Target::Address(session), &self.push).once().at_hand();
        if let Err(error) = self.client.send(&call).await {
            tracing::debug!(%error, "an upload session stays open");
        }
    }
}

/// `?mount=DIGEST&from=NAME`: neither has a character that a query would read otherwise, but for the digest's `:`,
/// which a query may hold, and `+`, which it may not.
fn mount_query(digest: &Digest, from: &str) -> String {
    format!("?mount={}&from={from}", digest.as_str().replace('+', "%2B"))
}
