//! Who points at a manifest: the API where there is one, the tag that stands in for it where there is none.
//!
//! Spec: OCI distribution-spec 1.1.1, "Listing Referrers", "Referrers Tag Schema", "Pushing Manifests with Subject".

use std::collections::HashSet;
use std::sync::atomic::Ordering;
use std::sync::{MutexGuard, PoisonError};

use bytes::Bytes;
use reqwest::Method;
use serde_json::{Map, Value, json};
use tofu_oci_store::StoreError;
use tofu_oci_types::{Descriptor, Digest, Reference, Tag};

use crate::answer::Answer;
use crate::call::{Call, Target};
use crate::link::Pages;
use crate::manifest::{MANIFEST_LIMIT, OCI_INDEX};
use crate::store::RemoteStore;

/// Most referrers that are read of one subject.
const REFERRERS_LIMIT: usize = 1000;
/// How often the standing-in tag is written when somebody else writes it at the same time.
const WRITES: usize = 3;

impl RemoteStore {
    /// What the API says, or the tag that stands in for it.
    pub(crate) async fn list_referrers(&self, subject: &Digest) -> Result<Vec<Descriptor>, StoreError> {
        if self.registry_may_have_api()
            && let Some(found) = self.referrers_by_api(subject).await?
        {
            return Ok(found);
        }
        self.standing_in(subject).await
    }

    /// As few requests as it takes: where the tag that stands in is known to be there, that one; where it is known not
    /// to be there, the API alone.
    pub(crate) async fn nearest_referrers(&self, subject: &Digest) -> Result<Vec<Descriptor>, StoreError> {
        let tag = self.standing_in_tag(subject)?;
        let is_listed = self.memory.state().standing_in.as_ref().map(|tags| tags.contains(&tag));
        match is_listed {
            None => self.list_referrers(subject).await,
            Some(true) => {
                let found = self.standing_in(subject).await?;
                // A list that names nobody says nothing: registries keep it when the last referrer is deleted.
                if found.is_empty() { self.list_referrers(subject).await } else { Ok(found) }
            }
            Some(false) if self.registry_may_have_api() => {
                Ok(self.referrers_by_api(subject).await?.unwrap_or_default())
            }
            Some(false) => Ok(Vec::new()),
        }
    }

    /// What the API says and what the tag says. A registry that has no API for one repository may have it for another:
    /// only this repository's own answer counts here.
    pub(crate) async fn all_referrers(&self, subject: &Digest) -> Result<Vec<Descriptor>, StoreError> {
        let asked = !self.memory.no_referrers.load(Ordering::Relaxed);
        let by_api = if asked { self.referrers_by_api(subject).await? } else { None };
        let has_api = by_api.is_some();
        let mut found = by_api.unwrap_or_default();
        let more = match self.standing_in(subject).await {
            // What has an API has a tag of that name for other reasons, if any.
            Err(StoreError::Malformed { .. }) if has_api => Vec::new(),
            other => other?,
        };
        for referrer in more {
            if !found.iter().any(|known| known.digest == referrer.digest) {
                found.push(referrer);
            }
        }
        Ok(found)
    }

    async fn standing_in(&self, subject: &Digest) -> Result<Vec<Descriptor>, StoreError> {
        let (index, _) = self.standing_in_index(subject).await?;
        Ok(descriptors(index.get("manifests").and_then(Value::as_array).into_iter().flatten()))
    }

    fn registry_may_have_api(&self) -> bool {
        !self.memory.no_referrers.load(Ordering::Relaxed) && !self.registries_without_api().contains(&self.registry())
    }

    fn registries_without_api(&self) -> MutexGuard<'_, HashSet<String>> {
        self.client.no_referrers.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn registry(&self) -> String {
        self.repository.registry().to_ascii_lowercase()
    }

    /// What the API says; nothing when there is none, which is remembered for the repository and for the registry.
    async fn referrers_by_api(&self, subject: &Digest) -> Result<Option<Vec<Descriptor>>, StoreError> {
        let found = self.asked_api(subject).await?;
        if found.is_none() {
            self.memory.no_referrers.store(true, Ordering::Relaxed);
            self.registries_without_api().insert(self.registry());
        }
        Ok(found)
    }

    /// The list, or nothing when the registry has no such API.
    async fn asked_api(&self, subject: &Digest) -> Result<Option<Vec<Descriptor>>, StoreError> {
        let call = Call::new(Method::GET, self.path("referrers", subject.as_str()), &self.pull);
        let what = "the list of referrers";
        let call = call.header("accept", OCI_INDEX);
        let (mut answer, mut bytes) = self.client.document(&call, what, MANIFEST_LIMIT, is_list).await?;
        let mut pages = Pages::new(answer.url().clone());
        let mut found = Vec::new();
        let mut first = true;
        loop {
            if first && !is_list(&answer) {
                return match answer.status() {
                    200 | 400 | 404 | 405 | 406 | 415 | 501 => Ok(None),
                    _ => Err(answer.into_error("list of referrers").await),
                };
            }
            first = false;
            if answer.status() != 200 {
                return Err(answer.into_error("list of referrers").await);
            }
            let next = pages.next(answer.url(), answer.headers("link")).map_err(|problem| self.forbidden(problem))?;
            if !pages.fits(&bytes) {
                return Err(self.list_too_large(what));
            }
            found.extend(descriptors(
                &entries(&bytes).ok_or_else(|| self.malformed("its list of referrers is no index"))?,
            ));
            if found.len() > REFERRERS_LIMIT {
                return Err(self.malformed(format!("{subject} has more than {REFERRERS_LIMIT} referrers")));
            }
            let Some(next) = next else { return Ok(Some(found)) };
            let call = Call::to(Method::GET, Target::Address(next), &self.pull).header("accept", OCI_INDEX);
            let is_page = |answer: &Answer| answer.status() == 200;
            (answer, bytes) = self.client.document(&call, what, MANIFEST_LIMIT, is_page).await?;
        }
    }

    /// The index under the tag that stands in for the API, with its `ETag`; an empty one when there is none.
    ///
    /// A registry may read such a tag as the digest itself and answer with the subject: that is no list.
    async fn standing_in_index(&self, subject: &Digest) -> Result<(Map<String, Value>, Option<String>), StoreError> {
        let empty = || (Map::from_iter([("manifests".to_owned(), json!([]))]), None);
        let tag = self.standing_in_tag(subject)?;
        let (found, bytes, etag) = match self.get_marked_manifest(&Reference::Tag(tag.clone()), None).await {
            Ok(found) => found,
            Err(error) if error.is_not_found() => return Ok(empty()),
            Err(error) => return Err(error),
        };
        if found.digest == *subject || subject.matches(&bytes) {
            return Ok(empty());
        }
        if found.media_type != OCI_INDEX {
            return Err(self.malformed(format!("its tag {tag} should list referrers and is no index")));
        }
        let index = serde_json::from_slice(&bytes).map_err(|_| self.malformed(format!("its tag {tag} is no index")))?;
        Ok((index, etag))
    }

    /// Adds a manifest to the list that stands in for the API, unless it is in it.
    ///
    /// Others may write the list between our reading and our writing, and we between theirs: it is read again after each
    /// write, and what was in it before and is gone is written again. Most registries ignore `If-Match`; with the others
    /// nothing is lost in the first place.
    pub(crate) async fn list_as_referrer(
        &self,
        subject: &Digest,
        descriptor: &Descriptor,
        bytes: &Bytes,
    ) -> Result<(), StoreError> {
        let tag = self.standing_in_tag(subject)?;
        let mut seen = vec![referrer_entry(descriptor, bytes)];
        let mut refused = None;
        for _ in 0..WRITES {
            let (mut index, etag) = self.standing_in_index(subject).await?;
            index.entry("schemaVersion").or_insert(json!(2));
            index.entry("mediaType").or_insert(json!(OCI_INDEX));
            let entries = index.entry("manifests").or_insert_with(|| json!([]));
            let Some(entries) = entries.as_array_mut() else {
                return Err(self.malformed(format!("its tag {tag} should list referrers and is no index")));
            };
            if merge(entries, &mut seen) == 0 {
                return Ok(());
            }
            let written = Bytes::from(Value::Object(index).to_string());
            // A list that did not change and was refused all the same has an `ETag` that means nothing.
            let in_place_of = etag.as_deref().filter(|etag| refused.as_deref() != Some(*etag));
            match self.write_manifest(tag.as_str(), OCI_INDEX, &written, in_place_of).await {
                Ok(_) => {}
                Err(StoreError::Rejected { status: 412, .. }) if in_place_of.is_some() => {
                    refused = etag;
                    continue;
                }
                Err(error) => return Err(error),
            }
            if let Some(tags) = &mut self.memory.state().standing_in {
                tags.insert(tag.clone());
            }
        }
        let (mut index, _) = self.standing_in_index(subject).await?;
        let listed = index.get_mut("manifests").and_then(Value::as_array_mut);
        if listed.is_some_and(|listed| merge(listed, &mut seen) == 0) {
            return Ok(());
        }
        let problem = "others write that list at the same time, and entries of it are lost";
        Err(self.malformed(format!("{} could not be listed as a referrer of {subject}: {problem}", descriptor.digest)))
    }

    /// `ALGORITHM-ENCODED`, cut to what a tag may hold.
    fn standing_in_tag(&self, subject: &Digest) -> Result<Tag, StoreError> {
        let part = |text: &str, length: usize| -> String {
            let fitting = |character: char| character.is_ascii_alphanumeric() || matches!(character, '.' | '_' | '-');
            text.chars().take(length).map(|character| if fitting(character) { character } else { '-' }).collect()
        };
        let tag = format!("{}-{}", part(subject.algorithm_name(), 32), part(subject.encoded(), 64));
        tag.parse().map_err(|_| self.malformed(format!("{subject} has no referrers tag")))
    }
}

/// Whether a tag may stand in for the referrers API, by its name: `ALGORITHM-ENCODED`.
pub(crate) fn may_stand_in(tag: &Tag) -> bool {
    tag.as_str().starts_with("sha256-") || tag.as_str().starts_with("sha512-")
}

fn is_list(answer: &Answer) -> bool {
    answer.status() == 200 && answer.media_type().is_some_and(|media_type| media_type == OCI_INDEX)
}

/// The entries of a page; nothing when it is no index.
fn entries(page: &[u8]) -> Option<Vec<Value>> {
    let mut members: Map<String, Value> = serde_json::from_slice(page).ok()?;
    match members.remove("manifests") {
        None | Some(Value::Null) => Some(Vec::new()),
        Some(Value::Array(entries)) => Some(entries),
        Some(_) => None,
    }
}

/// The entries that can be read as descriptors.
fn descriptors<'a>(entries: impl IntoIterator<Item = &'a Value>) -> Vec<Descriptor> {
    entries.into_iter().filter_map(|entry| serde_json::from_value(entry.clone()).ok()).collect()
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

/// What is written into the list: the artifact type (of the config, where the manifest has none of its own) and all
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
