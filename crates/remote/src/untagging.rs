//! How a tag goes while its manifest stays.
//!
//! ```text
//! does the registry delete tags or manifests? asked about a tag and a manifest that nothing needs --no--> nothing has changed
//! tombstone over the tag --refused--> nothing has changed
//! DELETE the tombstone by its digest, or else the tag --both refused--> the release is put back over the tag
//! is the tag still listed?            without a manifest, or still with the tombstone: again
//! ```
//!
//! The manifest of a release is never deleted, and a tag is deleted only while it points at its tombstone: some registries
//! delete a manifest with its tag, and all tags with their manifest.

use bytes::Bytes;
use reqwest::{Method, StatusCode};
use tofu_oci_store::{AccessFault, ReadStore as _, RejectionReason, StoreError};
use tofu_oci_types::{Descriptor, Digest, Reference, Tag};

use crate::call::RegistryCall;
use crate::moment::Looks;
use crate::repository::RemoteStore;
use crate::scope::RequestedAccess;
use crate::tombstone::{Tombstone, is_tombstone};

/// A tag that does not exist: how a registry answers to its deletion says whether it deletes tags.
const NO_TAG: &str = "tofu-oci-no-such-tag";

/// What a registry made of a `DELETE`.
enum DeleteAnswer {
    Done,
    /// There was no such thing, in the words of a registry.
    NotThere,
    /// The registry does not delete this kind of thing: its status and words.
    Refused(String),
}

/// What a registry has of a tag.
#[derive(PartialEq, Eq)]
enum TagNow {
    /// Nothing: no reader finds it, neither by its name nor in the list of tags.
    Gone,
    /// It is listed, and has no manifest.
    Listed,
    /// It points at this manifest.
    At(Digest),
}

impl RemoteStore {
    pub(crate) async fn untag_manifest(&self, tag: &Tag, expected: &Digest) -> Result<bool, StoreError> {
        // Where deletions overlap, registry:2 leaves tags without a manifest.
        let _turn = self.memory.untagging.lock().await;
        self.memory.state().tagged.remove(tag);
        let tombstone = Tombstone::of(tag);
        let release = match self.get_manifest(&Reference::Tag(tag.clone()), None).await {
            Ok(found) if found.0.digest == *expected => Some(found),
            // An earlier run was interrupted.
            Ok((found, _)) if found.digest == tombstone.manifest.0.digest => None,
            Ok(_) => return Ok(false),
            Err(error) if error.is_not_found() && !self.lists(tag).await? => return Ok(true),
            Err(error) if error.is_not_found() => None,
            Err(error) => return Err(error),
        };
        self.demand_deletions_of_tags(tag).await?;
        let Some((release, bytes)) = release else { return self.bury(tag, &tombstone, None).await };
        self.memory.keep_manifest(&release.digest, &bytes);
        match self.bury(tag, &tombstone, Some(&release.digest)).await {
            Ok(true) => self.keep(&release, &bytes).await.map(|()| true),
            Err(error) if !error.is_transient() => {
                // If the release cannot be put back either, the next run finds the tombstone and goes on from there.
                let _ = self.put_back(&release, tag, &tombstone).await;
                Err(error)
            }
            other => other,
        }
    }

    /// Puts the tombstone over the tag and deletes both, until the tag is gone. False if another program has moved the tag,
    /// which pointed at `release`; at the tombstone or nothing if that is `None`.
    async fn bury(&self, tag: &Tag, tombstone: &Tombstone, release: Option<&Digest>) -> Result<bool, StoreError> {
        let ((config, document), (manifest, bytes)) = (&tombstone.config, &tombstone.manifest);
        let (mut looks, mut before, mut by_digest) = (Looks::default(), release, true);
        let mut state = match release {
            Some(release) => TagNow::At(release.clone()),
            None => self.tag_state(tag).await?,
        };
        loop {
            let is_over = match &state {
                TagNow::Gone => return Ok(true),
                TagNow::At(now) if *now == manifest.digest => true,
                // A registry in use may show for seconds what the tag named before.
                TagNow::At(now) if before.is_none() && release == Some(now) => false,
                TagNow::At(now) if before != Some(now) => return Ok(false),
                TagNow::At(_) | TagNow::Listed => {
                    self.push_blob(config, document).await?;
                    self.memory.keep_manifest(&manifest.digest, bytes);
                    self.retag_manifest(manifest, tag, before.take()).await?
                }
            };
            if is_over {
                self.delete_both(tag, &manifest.digest, by_digest).await?;
                // A registry that deletes the manifest and leaves the tag may delete that by its name.
                by_digest = !by_digest;
            }
            state = self.tag_state(tag).await?;
            if state == TagNow::Gone {
                return Ok(true);
            }
            let request = format!("{}:{tag}", self.place());
            if !self.look_again(&mut looks, &request, "the tag was deleted, and is still there").await {
                if matches!(&state, TagNow::At(now) if release == Some(now)) {
                    return Ok(false);
                }
                let done = || "that it had done so, and still has the tag,".to_owned();
                return Err(self.tag_stays(tag, done(), done()));
            }
            state = self.tag_state(tag).await?;
        }
    }

    /// Deletes the tombstone with the tag that points at it: by its digest or by the tag, and the other way if that is refused. The
    /// digest is the safer one, since the tag may have been moved meanwhile.
    async fn delete_both(&self, tag: &Tag, tombstone: &Digest, by_digest: bool) -> Result<(), StoreError> {
        let (digest, tag_name) = (tombstone.as_str(), tag.as_str());
        let (first, second) = if by_digest { (digest, tag_name) } else { (tag_name, digest) };
        let DeleteAnswer::Refused(first) = self.delete_tombstone(tag, tombstone, first).await? else { return Ok(()) };
        let DeleteAnswer::Refused(second) = self.delete_tombstone(tag, tombstone, second).await? else {
            return Ok(());
        };
        let (by_tag, by_digest) = if by_digest { (second, first) } else { (first, second) };
        Err(self.tag_stays(tag, by_tag, by_digest))
    }

    /// By the tag it is deleted only if that still points at the tombstone, or at nothing: another program may have published
    /// under it meanwhile.
    async fn delete_tombstone(
        &self,
        tag: &Tag,
        tombstone: &Digest,
        reference: &str,
    ) -> Result<DeleteAnswer, StoreError> {
        let is_moved =
            reference == tag.as_str() && matches!(self.tag_state(tag).await?, TagNow::At(now) if now != *tombstone);
        if is_moved { Ok(DeleteAnswer::NotThere) } else { self.delete(reference).await }
    }

    /// Puts the release back under its tag, from which the tombstone did not go.
    async fn put_back(&self, release: &Descriptor, tag: &Tag, tombstone: &Tombstone) -> Result<(), StoreError> {
        let before = match self.tag_state(tag).await? {
            TagNow::Listed => None,
            TagNow::At(now) if now == tombstone.manifest.0.digest => Some(now),
            TagNow::Gone | TagNow::At(_) => return Ok(()),
        };
        self.retag_manifest(release, tag, before.as_ref()).await.map(drop)
    }

    /// Demands that the registry deletes tags or manifests. It is asked to delete a tag that does not exist, and if it refuses,
    /// a manifest that no tag names. What was found out once is remembered.
    pub(crate) async fn demand_deletions_of_tags(&self, tag: &Tag) -> Result<(), StoreError> {
        if self.memory.state().deletes {
            return Ok(());
        }
        if let DeleteAnswer::Refused(by_tag) = self.delete(NO_TAG).await? {
            self.demand_deletions_of_manifests(tag, by_tag).await?;
        }
        self.memory.state().deletes = true;
        Ok(())
    }

    async fn demand_deletions_of_manifests(&self, tag: &Tag, by_tag: String) -> Result<(), StoreError> {
        // registry:2 answers 400 to a deletion while another program writes the same manifest.
        let nothing = format!("{NO_TAG}-{tag}").parse().or_else(|_| NO_TAG.parse()).expect("the text is a tag");
        let Tombstone { config, manifest: (manifest, bytes) } = Tombstone::of(&nothing);
        self.push_blob(&config.0, &config.1).await?;
        match self.put_manifest(manifest.digest.as_str(), &manifest, &bytes).await {
            Ok(()) => {}
            Err(StoreError::Rejected { status: status @ 400..=499, problem, .. }) => {
                return Err(self.tag_stays(tag, by_tag, format!("{status} to the push of one: {problem}")));
            }
            Err(error) => return Err(error),
        }
        match self.delete(manifest.digest.as_str()).await? {
            DeleteAnswer::Refused(by_digest) => Err(self.tag_stays(tag, by_tag, by_digest)),
            // Another program may have been faster.
            DeleteAnswer::Done | DeleteAnswer::NotThere => Ok(()),
        }
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
            // Registries may take more than was named.
            self.memory.state().forget_content();
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

    /// Refuses what a tag points at if that is its tombstone: for readers there is no such tag.
    pub(crate) fn unless_going(&self, reference: &Reference, found: &Descriptor) -> Result<(), StoreError> {
        match reference {
            Reference::Tag(tag) if is_tombstone(tag, &found.digest) => {
                Err(StoreError::NotFound { place: self.place(), what: reference.into() })
            }
            _ => Ok(()),
        }
    }

    async fn tag_state(&self, tag: &Tag) -> Result<TagNow, StoreError> {
        match self.resolve_manifest(&Reference::Tag(tag.clone())).await {
            Ok(found) => Ok(TagNow::At(found.digest)),
            Err(error) if error.is_not_found() && self.lists(tag).await? => Ok(TagNow::Listed),
            Err(error) if error.is_not_found() => Ok(TagNow::Gone),
            Err(error) => Err(error),
        }
    }

    /// Whether the tag is in the list of tags. A list that this login may not read says nothing.
    async fn lists(&self, tag: &Tag) -> Result<bool, StoreError> {
        match self.list_tags().await {
            Ok(tags) => Ok(tags.contains(tag)),
            Err(StoreError::Denied { .. } | StoreError::Unauthorized { .. } | StoreError::NoToken { .. }) => Ok(false),
            Err(error) if error.is_not_found() => Ok(false),
            Err(error) => Err(error),
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
