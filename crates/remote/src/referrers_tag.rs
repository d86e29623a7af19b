//! The tag that replaces the referrers API, as it is written.
//!
//! Each writer reads the list, adds to it and replaces the whole. Most registries ignore `If-Match`, so two writers who
//! read the same list lose the entry of the one who writes first. Against that:
//! - in this program one task at a time writes a list;
//! - [`RemoteStore::settle_lists`] reads it again when every program that had read the list before our write must have
//!   written, too, and writes again what is missing. What is in it then stays in it;
//! - where others write at the same time, a list is read after each write, and written again after a wait of random length.
//!
//! Spec: OCI distribution-spec 1.1.1, "Referrers Tag Schema", "Pushing Manifests with Subject".

use std::collections::HashMap;
use std::sync::{Arc, PoisonError};

use bytes::Bytes;
use futures_util::StreamExt as _;
use serde_json::{Value, json};
use tofu_oci_store::{ReadStore as _, StoreError};
use tofu_oci_types::{Descriptor, Digest, Reference, Tag};
use tokio::sync::{Mutex, MutexGuard};
use tokio::time::Instant;

use crate::manifest::OCI_INDEX;
use crate::manifest_writing::PutOutcome;
use crate::moment::Looks;
use crate::referrer_list::{ListWrite, ReferrerList};
use crate::referrers::listed_in;
use crate::repository::RemoteStore;

/// How often a list is written when others write it at the same time.
const WRITES: usize = 12;
/// How many lists are read at once.
const AT_ONCE: usize = 8;

impl RemoteStore {
    /// Adds a manifest to the list that replaces the API, unless the list has it.
    pub(crate) async fn list_as_referrer(
        &self,
        subject: &Digest,
        descriptor: &Descriptor,
        bytes: &Bytes,
    ) -> Result<(), StoreError> {
        let tag = self.referrers_tag(subject)?;
        let list = self.list(subject, &tag);
        let mut list = list.lock().await;
        let entry = referrer_entry(descriptor, bytes);
        if list.ours.iter().all(|known| known.get("digest") != entry.get("digest")) {
            list.ours.push(entry);
        }
        self.complete(&tag, &mut list, false).await.map(drop)
    }

    /// Waits until what was written to tags that several may write at once can no longer be overwritten by a program that
    /// had read them before, and writes again what is missing in lists of referrers. Gives the lists that were read.
    pub(crate) async fn settle_lists(&self) -> Result<HashMap<Tag, Vec<Descriptor>>, StoreError> {
        // Other tasks wait for it too.
        let tagged = self.memory.state().rewritten;
        let lists = self.unsettled().await;
        if let Some(written) = tagged {
            self.client.http().options().clock.sleep(written.rest()).await;
        }
        let settling: Vec<_> = lists.iter().map(|(tag, list)| self.settle_list(tag, list)).collect();
        // All of them, whatever becomes of one.
        let settled: Vec<_> = futures_util::stream::iter(settling).buffer_unordered(AT_ONCE).collect().await;
        settled.into_iter().filter_map(Result::transpose).collect()
    }

    /// The list of the subject as it is now, which is not waited for any more; `None` if this program has not written it.
    pub(crate) async fn read_back_list(&self, subject: &Digest) -> Result<Option<Vec<Descriptor>>, StoreError> {
        let tag = self.referrers_tag(subject)?;
        let list = self.list(subject, &tag);
        let mut list = list.lock().await;
        if list.written.is_none() {
            return Ok(None);
        }
        let found = self.complete(&tag, &mut list, true).await?;
        (list.written, list.before) = (None, Vec::new());
        Ok(Some(found))
    }

    /// The list as it was read last; `None` if another task has settled it meanwhile.
    async fn settle_list(
        &self,
        tag: &Tag,
        list: &Mutex<ReferrerList>,
    ) -> Result<Option<(Tag, Vec<Descriptor>)>, StoreError> {
        let mut list = list.lock().await;
        let mut found = None;
        for _ in 0..WRITES {
            let Some(written) = list.written else { break };
            self.client.http().options().clock.sleep(written.rest()).await;
            found = Some((tag.clone(), self.complete(tag, &mut list, true).await?));
            if list.written.is_some_and(|now| now.at == written.at) {
                (list.written, list.before) = (None, Vec::new());
            }
        }
        if list.written.is_none() { Ok(found) } else { Err(self.lost_entries(&list)) }
    }

    /// The lists of this repository that were written and not looked at since.
    async fn unsettled(&self) -> Vec<(Tag, Arc<Mutex<ReferrerList>>)> {
        let own = self.repository.to_string();
        let all: Vec<(Tag, Arc<Mutex<ReferrerList>>)> = {
            let lists = self.client.lists.lock().unwrap_or_else(PoisonError::into_inner);
            let mine = lists.iter().filter(|((repository, _), _)| *repository == own);
            mine.map(|((_, tag), list)| (tag.clone(), Arc::clone(list))).collect()
        };
        let mut unsettled = Vec::new();
        for (tag, list) in all {
            let is_unsettled = list.lock().await.written.is_some();
            if is_unsettled {
                unsettled.push((tag, list));
            }
        }
        unsettled
    }

    fn list(&self, subject: &Digest, tag: &Tag) -> Arc<Mutex<ReferrerList>> {
        let mut lists = self.client.lists.lock().unwrap_or_else(PoisonError::into_inner);
        let list = lists.entry((self.repository.to_string(), tag.clone()));
        let empty = || ReferrerList { subject: subject.clone(), ours: Vec::new(), before: Vec::new(), written: None };
        Arc::clone(list.or_insert_with(|| Arc::new(Mutex::new(empty()))))
    }

    /// Writes the list until everything of ours is in it, and what was seen in it before. Gives what it lists, if the write is read
    /// back or nothing was missing.
    async fn complete(
        &self,
        tag: &Tag,
        list: &mut MutexGuard<'_, ReferrerList>,
        is_read_back: bool,
    ) -> Result<Vec<Descriptor>, StoreError> {
        let mut seen = list.before.clone();
        merge(&mut seen, &mut list.ours.clone());
        let mut refused = None;
        let mut looks = Looks::default();
        let mut may_write = true;
        // Entries whose manifests were deleted: some registries go on to list them, and take no list that names them.
        let mut deleted: Option<Vec<Value>> = None;
        for _ in 0..2 * WRITES {
            let began = Instant::now();
            let found = self.referrers_tag_index(&list.subject).await?;
            if found.is_none() && list.written.is_some() {
                return Err(self.no_lists(list));
            }
            let (mut index, etag) = found.unwrap_or_default();
            index.entry("schemaVersion").or_insert(json!(2));
            index.entry("mediaType").or_insert(json!(OCI_INDEX));
            let entries = index.entry("manifests").or_insert_with(|| json!([]));
            let Some(entries) = entries.as_array_mut() else {
                return Err(self.malformed(format!("its tag {tag}, which lists referrers, is not an index")));
            };
            let gone = merge(entries, &mut seen);
            if let Some(deleted) = &deleted {
                entries.retain(|entry| !deleted.contains(entry));
                seen.retain(|entry| !deleted.contains(entry));
            }
            list.before.clone_from(&seen);
            if gone == 0 {
                return Ok(listed_in(&index));
            }
            if !may_write {
                // Another program has just overwritten ours: chance decides which one waits, and how long.
                if !self
                    .look_again(&mut looks, &self.label(tag.as_str()), "others write this list at the same time")
                    .await
                {
                    break;
                }
                may_write = true;
                continue;
            }
            let written = Bytes::from(Value::Object(index).to_string());
            // A list that did not change and was refused all the same has an `ETag` that means nothing.
            let in_place_of = etag.as_deref().filter(|etag| refused.as_deref() != Some(*etag));
            let condition = in_place_of.map(|etag| ("if-match", etag));
            match self.try_manifest(tag.as_str(), OCI_INDEX, &written, condition).await {
                Ok(PutOutcome::Written(_)) => {}
                // After the wait the list is read again: others may have written it.
                Ok(PutOutcome::Denied(_)) => {
                    may_write = false;
                    continue;
                }
                Err(StoreError::Rejected { status: 412, .. }) if in_place_of.is_some() => {
                    refused = etag;
                    continue;
                }
                Err(StoreError::Rejected { status: 400 | 404, .. }) if deleted.is_none() => {
                    deleted = Some(self.deleted_of(&seen).await?);
                    continue;
                }
                Err(error) => return Err(error),
            }
            may_write = false;
            list.written = Some(ListWrite { at: Instant::now(), took: began.elapsed() });
            if let Some(tags) = &mut self.memory.state().referrers_tags {
                tags.insert(tag.clone());
            }
            if !is_read_back {
                return Ok(Vec::new());
            }
        }
        Err(self.lost_entries(list))
    }

    /// Those of these entries whose manifests are not there.
    async fn deleted_of(&self, entries: &[Value]) -> Result<Vec<Value>, StoreError> {
        let mut deleted = Vec::new();
        for entry in entries {
            let Some(digest) = entry.get("digest").and_then(Value::as_str).and_then(|text| text.parse().ok()) else {
                continue;
            };
            match self.resolve(&Reference::Digest(digest)).await {
                Err(error) if error.is_not_found() => deleted.push(entry.clone()),
                Err(error) => return Err(error),
                Ok(_) => {}
            }
        }
        Ok(deleted)
    }

    /// The tag of the list is the subject itself, whatever was written under it.
    fn no_lists(&self, list: &ReferrerList) -> StoreError {
        let digest = |entry: &Value| entry.get("digest")?.as_str()?.parse().ok();
        let missing = list.ours.iter().filter_map(digest).collect();
        StoreError::NotListed { place: self.place(), subject: list.subject.clone(), missing }
    }

    fn lost_entries(&self, list: &ReferrerList) -> StoreError {
        let ours = list.ours.iter().filter_map(|entry| entry.get("digest")?.as_str()).collect::<Vec<_>>().join(", ");
        let subject = &list.subject;
        let problem = "other programs write that list at the same time, and entries of it are lost";
        self.malformed(format!("{ours} could not be listed as a referrer of {subject}: {problem}"))
    }
}

/// Adds to a list what was seen in it before and is gone, and sees what is new in it. How many were gone.
fn merge(listed: &mut Vec<Value>, seen: &mut Vec<Value>) -> usize {
    let digest = |entry: &Value| entry.get("digest").and_then(Value::as_str).map(str::to_owned);
    let lacks = |list: &[Value], digest: &str| {
        list.iter().all(|entry| entry.get("digest").and_then(Value::as_str) != Some(digest))
    };
    let gone: Vec<Value> =
        seen.iter().filter(|entry| digest(entry).is_some_and(|digest| lacks(listed, &digest))).cloned().collect();
    let new: Vec<Value> =
        listed.iter().filter(|entry| digest(entry).is_some_and(|digest| lacks(seen, &digest))).cloned().collect();
    let count = gone.len();
    listed.extend(gone);
    seen.extend(new);
    count
}

/// What is written into the list: the artifact type (that of the config, if the manifest has none of its own) and all
/// annotations come from the manifest.
fn referrer_entry(descriptor: &Descriptor, bytes: &[u8]) -> Value {
    let manifest: Value = serde_json::from_slice(bytes).unwrap_or_default();
    let text = |pointer: &str| manifest.pointer(pointer).and_then(Value::as_str).filter(|text| !text.is_empty());
    let mut entry = json!({
        "mediaType": descriptor.media_type,
        "digest": descriptor.digest.as_str(),
        "size": descriptor.size,
    });
    if let Some(artifact_type) = text("/artifactType").or_else(|| text("/config/mediaType")) {
        entry["artifactType"] = json!(artifact_type);
    }
    if let Some(annotations) = manifest.get("annotations").filter(|annotations| annotations.is_object()) {
        entry["annotations"] = annotations.clone();
    }
    entry
}
