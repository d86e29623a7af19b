//! Tags that go, while what they point at stays.
//!
//! ```text
//! DELETE the tag --taken--> the tag is gone, and what went with it is put back
//!                --refused--> tombstone pushed by its digest, DELETE by that digest --refused--> nothing has changed
//!                                                                                   --taken--> the registry deletes manifests:
//!                             tombstone over the tag, DELETE by its digest: its tags go with it
//! ```
//!
//! The manifest of a release itself is never deleted: a registry that deletes a manifest deletes all its tags.

use bytes::Bytes;
use reqwest::{Method, StatusCode};
use tofu_oci_store::{AccessFault, ReadStore as _, RejectionReason, StoreError};
use tofu_oci_types::{Descriptor, Digest, Reference, Tag};

use crate::call::RegistryCall;
use crate::moment::Looks;
use crate::repository::RemoteStore;
use crate::scope::RequestedAccess;
use crate::tombstone::Tombstone;

/// A tag that does not exist: how a registry answers to its deletion says whether it deletes tags.
const NO_TAG: &str = "tofu-oci-no-such-tag";

/// What a registry made of a `DELETE`.
enum DeleteAnswer {
    /// It is gone.
    Done,
    /// There was no such thing, in the words of a registry.
    NotThere,
    /// The registry does not delete this kind of thing: its status and words.
    Refused(String),
}

impl RemoteStore {
    pub(crate) async fn untag_manifest(&self, tag: &Tag, expected: &Digest) -> Result<bool, StoreError> {
        let tombstone = Tombstone::of(tag);
        let reference = Reference::Tag(tag.clone());
        let (release, bytes) = match self.get_manifest(&reference, None).await {
            Ok(found) => found,
            Err(error) if error.is_not_found() => return Ok(true),
            Err(error) => return Err(error),
        };
        // An earlier run was interrupted.
        let is_tombstone = release.digest == tombstone.manifest.0.digest;
        if release.digest != *expected && !is_tombstone {
            return Ok(false);
        }
        let by_tag = match self.delete(tag.as_str()).await? {
            DeleteAnswer::Refused(words) => words,
            DeleteAnswer::Done | DeleteAnswer::NotThere if self.is_gone(tag).await? => {
                if !is_tombstone {
                    self.keep(&release, &bytes).await?;
                }
                return Ok(true);
            }
            DeleteAnswer::Done => "that it had done so".to_owned(),
            DeleteAnswer::NotThere => "that there was no such tag".to_owned(),
        };
        if is_tombstone {
            return match self.bury(tag, &tombstone).await? {
                DeleteAnswer::Refused(by_digest) => Err(self.tag_stays(tag, by_tag, by_digest)),
                DeleteAnswer::Done | DeleteAnswer::NotThere => Ok(true),
            };
        }
        self.demand_deletions(tag, by_tag.clone(), &tombstone).await?;
        if !self.retag_manifest(&tombstone.manifest.0, tag, Some(expected)).await? {
            // Another program was faster, and may have done the same.
            return self.is_gone(tag).await;
        }
        if let DeleteAnswer::Refused(by_digest) = self.bury(tag, &tombstone).await? {
            self.retag_manifest(&release, tag, Some(&tombstone.manifest.0.digest)).await?;
            return Err(self.tag_stays(tag, by_tag, by_digest));
        }
        self.keep(&release, &bytes).await.map(|()| true)
    }

    /// Demands that the registry deletes tags or manifests. It is asked to delete a tag that does not exist, and if it refuses,
    /// a manifest that no tag names.
    pub(crate) async fn demand_deletions_of_tags(&self, tag: &Tag) -> Result<(), StoreError> {
        match self.delete(NO_TAG).await? {
            DeleteAnswer::Done | DeleteAnswer::NotThere => Ok(()),
            DeleteAnswer::Refused(by_tag) => self.demand_deletions(tag, by_tag, &Tombstone::of(tag)).await,
        }
    }

    /// Demands that the registry deletes manifests, by the tombstone under no tag. What was found out once is remembered.
    async fn demand_deletions(&self, tag: &Tag, by_tag: String, tombstone: &Tombstone) -> Result<(), StoreError> {
        let (config, (manifest, bytes)) = (&tombstone.config, &tombstone.manifest);
        if self.memory.state().deletes_manifests {
            return Ok(());
        }
        self.push_blob(&config.0, &config.1).await?;
        match self.put_manifest(manifest.digest.as_str(), manifest, bytes).await {
            Ok(()) => {}
            Err(StoreError::Rejected { status: status @ 400..=499, problem, .. }) => {
                return Err(self.tag_stays(tag, by_tag, format!("{status} to the push of one: {problem}")));
            }
            Err(error) => return Err(error),
        }
        self.memory.keep_manifest(&manifest.digest, bytes);
        match self.delete(manifest.digest.as_str()).await? {
            DeleteAnswer::Refused(by_digest) => Err(self.tag_stays(tag, by_tag, by_digest)),
            // Another program may have been faster.
            DeleteAnswer::Done | DeleteAnswer::NotThere => {
                self.memory.state().deletes_manifests = true;
                Ok(())
            }
        }
    }

    /// Deletes the tombstone, and with it the tag that points at it.
    async fn bury(&self, tag: &Tag, tombstone: &Tombstone) -> Result<DeleteAnswer, StoreError> {
        let deleted = self.delete(tombstone.manifest.0.digest.as_str()).await?;
        Ok(match deleted {
            DeleteAnswer::Done | DeleteAnswer::NotThere if !self.is_gone(tag).await? => {
                DeleteAnswer::Refused("that it had done so, and still has the tag,".to_owned())
            }
            other => other,
        })
    }

    /// Makes the `DELETE` of a manifest by tag or digest. One whose answer was lost is made again, and then finds nothing.
    async fn delete(&self, reference: &str) -> Result<DeleteAnswer, StoreError> {
        let path = self.path("manifests", reference);
        let access = RequestedAccess::delete(&self.repository);
        let answer = match self.client.send(&RegistryCall::new(Method::DELETE, &path, &access)).await {
            // A token server that knows no such right may refuse the whole request. The right to push may do.
            Err(
                StoreError::NoToken { fault: AccessFault::TokenServerStatus(400..=499), .. }
                | StoreError::Unauthorized { fault: AccessFault::TokenServerStatus(400..=499), .. },
            ) => self.client.send(&RegistryCall::new(Method::DELETE, &path, &self.push)).await?,
            other => other?,
        };
        let status = answer.status();
        if matches!(status, 200..=204) {
            return Ok(DeleteAnswer::Done);
        }
        let code = StatusCode::from_u16(status).unwrap_or_default();
        let (words, error) = answer.words_and_error().await;
        let is_immutable = matches!(error, StoreError::Rejected { reason: RejectionReason::ImmutableTag, .. });
        match status {
            404 if !words.is_empty() => Ok(DeleteAnswer::NotThere),
            400 | 404 | 405 | 501 if !is_immutable => {
                Ok(DeleteAnswer::Refused(format!("{status}: {}", words.text(code))))
            }
            _ => Err(error),
        }
    }

    /// Whether a reader finds the tag no longer, neither by its name nor in the list of tags. Some registries take a
    /// moment.
    async fn is_gone(&self, tag: &Tag) -> Result<bool, StoreError> {
        let mut looks = Looks::default();
        loop {
            let is_there = match self.resolve_manifest(&Reference::Tag(tag.clone())).await {
                Ok(_) => true,
                // A list that this login may not read says nothing.
                Err(error) if error.is_not_found() => self.list_tags().await.is_ok_and(|tags| tags.contains(tag)),
                Err(error) => return Err(error),
            };
            if !is_there {
                return Ok(true);
            }
            let request = format!("{}:{tag}", self.place());
            if !self.look_again(&mut looks, &request, "the tag was deleted, and is still there").await {
                return Ok(false);
            }
        }
    }

    /// Puts a manifest back if a deletion took it with its tag.
    async fn keep(&self, descriptor: &Descriptor, bytes: &Bytes) -> Result<(), StoreError> {
        if self.shows_manifest(&descriptor.digest, &self.push).await? {
            return Ok(());
        }
        self.put_manifest(descriptor.digest.as_str(), descriptor, bytes).await
    }

    fn tag_stays(&self, tag: &Tag, by_tag: String, by_digest: String) -> StoreError {
        StoreError::TagStays { place: self.place(), tag: tag.clone(), by_tag, by_digest }
    }
}
