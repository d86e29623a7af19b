//! Tags: a name for a manifest that is there.

use tofu_oci_store::StoreError;
use tofu_oci_types::{Descriptor, Reference, Tag};
use tokio::time::Instant;

use crate::referrers::may_stand_in;
use crate::standing_in::Write;
use crate::store::RemoteStore;

impl RemoteStore {
    pub(crate) async fn tag_manifest(&self, descriptor: &Descriptor, tag: &Tag) -> Result<(), StoreError> {
        let bytes = match self.memory.kept_manifest(&descriptor.digest) {
            Some(bytes) => bytes,
            None => self.fetch_manifest(descriptor).await?,
        };
        let began = Instant::now();
        match self.put_manifest(tag.as_str(), descriptor, &bytes).await {
            Ok(()) => {
                // Signatures of several people lie under one tag, and each of them replaces the whole.
                if may_stand_in(tag) {
                    self.memory.state().rewritten = Some(Write { at: Instant::now(), took: began.elapsed() });
                }
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
}
