//! Tags: a name for a manifest that is there.

use bytes::Bytes;
use tofu_oci_store::StoreError;
use tofu_oci_types::{Descriptor, Digest, Reference, Tag};
use tokio::time::Instant;

use crate::manifest_writing::{Tried, denied};
use crate::moment::Looks;
use crate::referrers::may_stand_in;
use crate::standing_in::Write;
use crate::store::RemoteStore;

impl RemoteStore {
    pub(crate) async fn tag_manifest(&self, descriptor: &Descriptor, tag: &Tag) -> Result<(), StoreError> {
        let bytes = self.bytes_of(descriptor).await?;
        let began = Instant::now();
        match self.put_manifest(tag.as_str(), descriptor, &bytes).await {
            Ok(()) => {
                self.note_tagged(tag, began);
                Ok(())
            }
            Err(error @ StoreError::Rejected { status: 400..=499, .. }) => {
                // A registry whose tags cannot be written twice refuses also what changes nothing.
                if self.is_tagged(descriptor, tag).await { Ok(()) } else { Err(error) }
            }
            Err(error) => Err(error),
        }
    }

    /// Whether the tag names this manifest already. A registry that cannot be asked does not say so.
    async fn is_tagged(&self, descriptor: &Descriptor, tag: &Tag) -> bool {
        let found = self.resolve_manifest(&Reference::Tag(tag.clone())).await;
        found.is_ok_and(|found| found.digest == descriptor.digest)
    }

    /// Makes the tag point at the manifest if it still points at `before`. A tag that several programs write is looked at
    /// before each attempt: what was read before a wait may be out of date.
    pub(crate) async fn retag_manifest(
        &self,
        descriptor: &Descriptor,
        tag: &Tag,
        before: Option<&Digest>,
    ) -> Result<bool, StoreError> {
        let mut looks = Looks::default();
        loop {
            let now = match self.resolve_manifest(&Reference::Tag(tag.clone())).await {
                Ok(now) => Some(now.digest),
                Err(error) if error.is_not_found() => None,
                Err(error) => return Err(error),
            };
            if now.as_ref() != before {
                return Ok(false);
            }
            let bytes = self.bytes_of(descriptor).await?;
            let began = Instant::now();
            match self.try_manifest(tag.as_str(), &descriptor.media_type, &bytes, None).await? {
                Tried::Written(answer) => {
                    self.written(*answer, tag.as_str(), descriptor, &bytes).await?;
                    self.note_tagged(tag, began);
                    return Ok(true);
                }
                Tried::Denied(error) => {
                    if !self.look_again(&mut looks, &self.label(tag.as_str()), &denied(&error)).await {
                        return Err(error);
                    }
                }
            }
        }
    }

    async fn bytes_of(&self, descriptor: &Descriptor) -> Result<Bytes, StoreError> {
        match self.memory.kept_manifest(&descriptor.digest) {
            Some(bytes) => Ok(bytes),
            None => self.fetch_manifest(descriptor).await,
        }
    }

    /// Signatures of several people lie under one tag, and each of them replaces the whole.
    fn note_tagged(&self, tag: &Tag, began: Instant) {
        if may_stand_in(tag) {
            self.memory.state().rewritten = Some(Write { at: Instant::now(), took: began.elapsed() });
        }
    }
}
