//! Manifests as they are written.
//!
//! Nothing is written that is there, except in a repository that did not exist (see the front page). A second look (`moment`)
//! distinguishes a refusal from what a registry says while another program writes.

use bytes::{Bytes, BytesMut};
use futures_util::TryStreamExt as _;
use reqwest::Method;
use serde::Deserialize;
use tofu_oci_store::{Pushed, ReadStore as _, StoreError, StoreItem};
use tofu_oci_types::{Descriptor, Digest};

use crate::answer::RegistryAnswer;
use crate::body::CallBody;
use crate::call::RegistryCall;
use crate::manifest::MANIFEST_LIMIT;
use crate::moment::Looks;
use crate::repository::RemoteStore;

/// What a manifest says about itself in a referrers list.
#[derive(Deserialize)]
struct SubjectField {
    #[serde(default)]
    subject: Option<Descriptor>,
}

/// What a repository has of a manifest.
enum WrittenState {
    /// Not the manifest, or not what a registry with the referrers API makes of it.
    Nothing,
    /// The manifest; the list of this subject's referrers lacks it.
    NotListed(Digest),
    /// The manifest, and it is listed.
    Everything,
}

/// What became of the `PUT` of a manifest.
pub(crate) enum PutOutcome {
    Written(Box<RegistryAnswer>),
    /// It was refused because something is missing, which is there.
    Denied(StoreError),
}

impl RemoteStore {
    pub(crate) async fn push_manifest(
        &self,
        descriptor: &Descriptor,
        content: &dyn tofu_oci_store::Body,
    ) -> Result<Pushed, StoreError> {
        let bytes = self.manifest_bytes(descriptor, content).await?;
        self.memory.state().subjects.extend(subject(&bytes));
        let outcome = match self.found(descriptor, &bytes).await? {
            WrittenState::Nothing => {
                self.put_manifest(descriptor.digest.as_str(), descriptor, &bytes).await?;
                Pushed::Uploaded
            }
            WrittenState::NotListed(subject) => {
                self.list_as_referrer(&subject, descriptor, &bytes).await?;
                Pushed::Uploaded
            }
            WrittenState::Everything => Pushed::Present,
        };
        self.memory.keep_manifest(&descriptor.digest, &bytes);
        Ok(outcome)
    }

    /// What is there of the manifest: an earlier push may have ended before it was listed among the referrers of its subject.
    async fn found(&self, descriptor: &Descriptor, bytes: &[u8]) -> Result<WrittenState, StoreError> {
        if self.memory.lacks_manifest(&descriptor.digest) || !self.has_manifest(&descriptor.digest, &self.push).await? {
            self.memory.state().new.insert(descriptor.digest.clone());
            return Ok(WrittenState::Nothing);
        }
        let Some(subject) = subject(bytes) else { return Ok(WrittenState::Everything) };
        if self.is_referrer(&subject, &descriptor.digest).await? {
            return Ok(WrittenState::Everything);
        }
        // A registry with the API lists what it is given, so it is given the manifest once more.
        Ok(if self.registry_may_have_api() { WrittenState::Nothing } else { WrittenState::NotListed(subject) })
    }

    /// Writes a manifest under a tag or its digest, and lists it among its subject's referrers if the registry
    /// does not do so itself.
    pub(crate) async fn put_manifest(
        &self,
        reference: &str,
        descriptor: &Descriptor,
        bytes: &Bytes,
    ) -> Result<(), StoreError> {
        let answer = self.write_manifest(reference, &descriptor.media_type, bytes).await?;
        self.written(answer, descriptor, bytes).await
    }

    /// What follows from the answer to a `PUT` that went well.
    pub(crate) async fn written(
        &self,
        answer: RegistryAnswer,
        descriptor: &Descriptor,
        bytes: &Bytes,
    ) -> Result<(), StoreError> {
        let named = answer.header("docker-content-digest").and_then(|text| text.parse::<Digest>().ok());
        let is_named = named.as_ref() == Some(&descriptor.digest);
        if let Some(named) = named.filter(|_| !is_named)
            && named.algorithm_name() == descriptor.digest.algorithm_name()
        {
            return Err(StoreError::DigestMismatch {
                place: self.place(),
                what: StoreItem::Other("the manifest that was stored"),
                expected: descriptor.digest.clone(),
                actual: Box::new(named),
            });
        }
        let maintained = answer.header("oci-subject").is_some();
        drop(answer);
        self.memory.note_written(&descriptor.digest, is_named);
        match subject(bytes) {
            Some(subject) if !maintained => self.list_as_referrer(&subject, descriptor, bytes).await,
            _ => Ok(()),
        }
    }

    /// Writes bytes as a manifest; what a registry says while other programs write is not final.
    async fn write_manifest(
        &self,
        reference: &str,
        media_type: &str,
        bytes: &Bytes,
    ) -> Result<RegistryAnswer, StoreError> {
        let mut looks = Looks::default();
        loop {
            match self.try_manifest(reference, media_type, bytes, None).await? {
                PutOutcome::Written(answer) => return Ok(*answer),
                PutOutcome::Denied(error) => {
                    if !self.look_again(&mut looks, &self.label(reference), &denied(&error)).await {
                        return Err(error);
                    }
                }
            }
        }
    }

    /// Writes bytes as a manifest, if a header with a condition is given only under this condition. The answer's `Location`
    /// is not needed and may be missing.
    pub(crate) async fn try_manifest(
        &self,
        reference: &str,
        media_type: &str,
        bytes: &Bytes,
        condition: Option<(&'static str, &str)>,
    ) -> Result<PutOutcome, StoreError> {
        let path = self.path("manifests", reference);
        let call = RegistryCall::new(Method::PUT, path, &self.push)
            .header("content-type", media_type)
            .body(CallBody::Bytes(bytes));
        let call = condition.into_iter().fold(call, |call, (name, value)| call.header(name, value));
        let mut answer = self.client.send(&call).await?;
        if matches!(answer.status(), 200..=204) {
            return Ok(PutOutcome::Written(Box::new(answer)));
        }
        let may_pass = self.may_pass(&mut answer).await;
        let error = self.write_error(answer).await;
        // A manifest whose parts are missing is refused with good reason.
        let is_denied = may_pass && self.has_all_parts(bytes).await.unwrap_or(false);
        Ok(PutOutcome::Denied(match error {
            StoreError::Rejected { place, status, request, problem, .. } if is_denied => {
                StoreError::Disturbed { place, status, request, problem }
            }
            error => return Err(error),
        }))
    }

    /// The `PUT` of a manifest, for people.
    pub(crate) fn label(&self, reference: &str) -> String {
        format!("PUT {}{}", self.repository.registry(), self.path("manifests", reference))
    }

    async fn manifest_bytes(
        &self,
        descriptor: &Descriptor,
        content: &dyn tofu_oci_store::Body,
    ) -> Result<Bytes, StoreError> {
        let mut stream = content.open().await?;
        let mut bytes = BytesMut::new();
        while let Some(piece) = stream.try_next().await? {
            bytes.extend_from_slice(&piece);
            if bytes.len() as u64 > MANIFEST_LIMIT {
                return Err(StoreError::TooLarge {
                    place: self.place(),
                    what: StoreItem::of(descriptor).to_string(),
                    limit: MANIFEST_LIMIT,
                });
            }
        }
        let bytes = bytes.freeze();
        self.check_content(descriptor, &bytes)?;
        Ok(bytes)
    }

    /// Whether the bytes are those of the descriptor.
    pub(crate) fn check_content(&self, descriptor: &Descriptor, bytes: &[u8]) -> Result<(), StoreError> {
        let (place, what) = (self.place(), StoreItem::of(descriptor));
        if bytes.len() as u64 != descriptor.size {
            let (expected, actual) = (descriptor.size, bytes.len() as u64);
            return Err(StoreError::SizeMismatch { place, what, expected, actual });
        }
        let expected = descriptor.digest.clone();
        let Some(mut hasher) = expected.hasher() else {
            return Err(StoreError::UnsupportedDigest { digest: expected });
        };
        hasher.update(bytes);
        let actual = hasher.finish();
        if actual == expected {
            Ok(())
        } else {
            Err(StoreError::DigestMismatch { place, what, expected, actual: Box::new(actual) })
        }
    }
}

/// What the manifest points at.
fn subject(bytes: &[u8]) -> Option<Digest> {
    Some(serde_json::from_slice::<SubjectField>(bytes).ok()?.subject?.digest)
}

pub(crate) fn denied(error: &StoreError) -> String {
    match error {
        StoreError::Disturbed { status, .. } => format!("status {status}, and everything that it asks for is there"),
        _ => "everything that it asks for is there".to_owned(),
    }
}
