//! Which of two runs wins that make one tag at the same time. A tag is a name for a manifest that is there.
//!
//! Two programs may make one tag at the same time: both see none, and the later `PUT` wins. Few registries honour
//! `If-None-Match`, and a claim beside the tag would stay wherever nothing can be deleted. So, with `W` for the time from the
//! look to the end of the `PUT`:
//!
//! ```text
//! look: no tag -> PUT with If-None-Match -> wait, longer than W of any other program -> look: whose manifest is it?
//! ```
//!
//! Whoever looks after the `PUT` sees a tag and writes none. Whoever looked before it has written before the wait ends. So
//! no program writes after the wait. All programs then read the last write, so only its writer reads its own. (Fischer's algorithm.)
//! `W` of another program is estimated by our own, so a program that is held up between look and `PUT`, or whose way to the
//! registry is many times as long, can still overwrite a tag unseen.

use bytes::Bytes;
use tofu_oci_store::StoreError;
use tofu_oci_types::{Descriptor, Digest, Reference, Tag};
use tokio::time::Instant;

use crate::manifest_writing::{PutOutcome, denied};
use crate::moment::Looks;
use crate::referrer_list::ListWrite;
use crate::referrers::is_referrers_tag;
use crate::repository::{OtherContent, RemoteStore};
use crate::tombstone::is_tombstone;

impl RemoteStore {
    pub(crate) async fn tag_manifest(&self, descriptor: &Descriptor, tag: &Tag) -> Result<(), StoreError> {
        let bytes = self.bytes_of(descriptor).await?;
        let began = Instant::now();
        match self.put_manifest(tag.as_str(), descriptor, &bytes).await {
            Ok(()) => {
                self.memory.state().tagged.insert(tag.clone(), (descriptor.digest.clone(), None));
                self.note_tagged(tag, began, false);
                Ok(())
            }
            Err(error) => match self.tag_after(&error, tag).await {
                Some(now) if now == descriptor.digest => Ok(()),
                _ => Err(error),
            },
        }
    }

    /// What the tag names after a refused write. `None` if it names nothing, if the registry does not say, or if the
    /// error is not a refusal.
    ///
    /// A registry whose tags cannot be written twice also refuses a write that changes nothing: one that follows a write
    /// whose answer was lost, or the write of another program that publishes the same.
    async fn tag_after(&self, error: &StoreError, tag: &Tag) -> Option<Digest> {
        if !matches!(error, StoreError::Rejected { status: 400..=499, .. } | StoreError::Disturbed { .. }) {
            return None;
        }
        let found = self.resolve_manifest(&Reference::Tag(tag.clone())).await;
        found.ok().map(|found| found.digest)
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
        let mut tried = false;
        // If there is no tag and the registry refuses all the same, it does not know the condition.
        let mut condition = before.is_none().then_some(("if-none-match", "*"));
        // Nothing but the write comes after the look.
        let bytes = self.bytes_of(descriptor).await?;
        loop {
            let looked = Instant::now();
            let now = match self.tagged(tag).await? {
                // For readers there is no such tag.
                Some(now) if before.is_none() && is_tombstone(tag, &now) => {
                    condition = None;
                    None
                }
                now => now,
            };
            if before.is_none() && now.as_ref() == Some(&descriptor.digest) {
                // Another program publishes the same. Somebody else may still overwrite it.
                self.note_tagged(tag, looked, true);
            }
            if now.as_ref() != before {
                // A write that was denied may have been made all the same.
                return Ok(tried && now.as_ref() == Some(&descriptor.digest));
            }
            tried = true;
            let began = Instant::now();
            match self.try_manifest(tag.as_str(), &descriptor.media_type, &bytes, condition).await {
                Ok(PutOutcome::Written(answer)) => {
                    self.written(*answer, descriptor, &bytes).await?;
                    let written = (descriptor.digest.clone(), before.cloned());
                    self.memory.state().tagged.insert(tag.clone(), written);
                    self.note_tagged(tag, if before.is_none() { looked } else { began }, before.is_none());
                    return Ok(true);
                }
                Ok(PutOutcome::Denied(error)) => {
                    if !self.look_again(&mut looks, &self.label(tag.as_str()), &denied(&error)).await {
                        return Err(error);
                    }
                }
                Err(error) => match self.tag_after(&error, tag).await {
                    Some(now) if now == descriptor.digest => return Ok(true),
                    // Another program was faster.
                    Some(now) if Some(&now) != before => return Ok(false),
                    _ if condition.is_some() && matches!(error, StoreError::Rejected { status: 412, .. }) => {
                        condition = None;
                    }
                    _ => return Err(error),
                },
            }
        }
    }

    /// What a reference names. A tag that this store has written is looked at again before it is believed to name nothing, or
    /// what it named before.
    pub(crate) async fn resolve_settled(&self, reference: &Reference) -> Result<Descriptor, StoreError> {
        let mut looks = Looks::default();
        loop {
            let found = self.resolve_manifest(reference).await;
            let Reference::Tag(tag) = reference else { return found };
            let Some((now, before)) = self.memory.state().tagged.get(tag).cloned() else { return found };
            let is_old = match &found {
                Ok(found) => found.digest != now && Some(&found.digest) == before.as_ref(),
                Err(error) => error.is_not_found(),
            };
            let reason = "it took this tag, and does not show it";
            if !is_old || !self.look_again(&mut looks, &self.label(tag.as_str()), reason).await {
                return found;
            }
        }
    }

    /// What the tag names; `None` if it names nothing. The answer to a `HEAD` says enough.
    async fn tagged(&self, tag: &Tag) -> Result<Option<Digest>, StoreError> {
        match self.head_manifest(&Reference::Tag(tag.clone())).await? {
            (Some(found), _) => return Ok(Some(found.digest)),
            (None, 404) => return Ok(None),
            (None, _) => {}
        }
        match self.get_manifest(&Reference::Tag(tag.clone()), None).await {
            Ok((found, _)) => Ok(Some(found.digest)),
            Err(error) if error.is_not_found() => Ok(None),
            Err(error) => Err(error),
        }
    }

    async fn bytes_of(&self, descriptor: &Descriptor) -> Result<Bytes, StoreError> {
        match self.memory.kept_manifest(&descriptor.digest) {
            Some(bytes) => Ok(bytes),
            None => self.fetch_manifest(descriptor).await,
        }
    }

    /// One tag holds the signatures of several people, or what several runs remember, and each of them replaces the whole. A new tag
    /// may be made by several.
    fn note_tagged(&self, tag: &Tag, began: Instant, is_new: bool) {
        let written = ListWrite { at: Instant::now(), took: began.elapsed() };
        let is_shared = is_referrers_tag(tag) || tag.as_str() == Tag::FIRST_SEEN;
        let mut state = self.memory.state();
        state.others = match state.others {
            OtherContent::Leftovers if tag.as_str() == Tag::FIRST_SEEN => OtherContent::Nothing,
            others if is_shared => others,
            _ => OtherContent::Unknown,
        };
        if is_shared {
            state.rewritten = Some(state.rewritten.map_or(written, |known| written.or_longer(known)));
        } else if is_new {
            state.new_tags.insert(tag.clone(), written);
        }
    }

    /// Waits until every other program that had seen no such tag must have written it.
    pub(crate) async fn settle_new_tag(&self, tag: &Tag) {
        let written = self.memory.state().new_tags.remove(tag);
        if let Some(written) = written {
            self.client.http().options().clock.sleep(written.rest_of_new_tag()).await;
        }
    }
}
