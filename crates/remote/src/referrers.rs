//! What refers to a manifest: by the referrers API, or by the tag that replaces it if a registry has no such API.
//!
//! Spec: OCI distribution-spec 1.1.1, "Listing Referrers", "Referrers Tag Schema", "Pushing Manifests with Subject".

use std::collections::HashSet;
use std::sync::atomic::Ordering;
use std::sync::{MutexGuard, PoisonError};

use reqwest::Method;
use serde_json::{Map, Value};
use tofu_oci_store::{StoreError, StoreItem};
use tofu_oci_types::{Descriptor, Digest, Reference, Tag};

use crate::answer::RegistryAnswer;
use crate::call::{CallTarget, RegistryCall};
use crate::manifest::{MANIFEST_LIMIT, OCI_INDEX};
use crate::repository::RemoteStore;

/// Most referrers that are read of one subject.
const REFERRERS_LIMIT: usize = 1000;

impl RemoteStore {
    /// What the API says and what the tag that replaces it says. An API may answer with a list that lacks what was
    /// listed under the tag: a registry that got its API later, or one that shows what it has learned itself and no more.
    /// The tag is not asked for if it is known not to exist.
    pub(crate) async fn list_referrers(&self, subject: &Digest) -> Result<Vec<Descriptor>, StoreError> {
        if self.memory.lacks_referrers(subject) {
            return Ok(Vec::new());
        }
        let by_api = if self.registry_may_have_api() { self.referrers_by_api(subject).await? } else { None };
        match by_api {
            Some(found) if self.is_without_tag(subject)? => Ok(found),
            by_api => self.with_tag_list(subject, by_api).await,
        }
    }

    /// Whether this manifest is among the referrers of the subject, in either list.
    pub(crate) async fn is_referrer(&self, subject: &Digest, digest: &Digest) -> Result<bool, StoreError> {
        let has = |found: &[Descriptor]| found.iter().any(|referrer| referrer.digest == *digest);
        let by_api = if self.registry_may_have_api() { self.referrers_by_api(subject).await? } else { None };
        match by_api {
            Some(found) if has(&found) => Ok(true),
            by_api => Ok(has(&self.with_tag_list(subject, by_api).await?)),
        }
    }

    /// As few requests as it takes: the tag that replaces the API if it is known to exist; the API alone if the tag is known
    /// not to exist.
    pub(crate) async fn nearest_referrers(&self, subject: &Digest) -> Result<Vec<Descriptor>, StoreError> {
        let tag = self.referrers_tag(subject)?;
        let is_listed = self.memory.state().referrers_tags.as_ref().map(|tags| tags.contains(&tag));
        match is_listed {
            None if self.registry_may_have_api() => match self.referrers_by_api(subject).await? {
                Some(found) if !found.is_empty() => Ok(found),
                by_api => self.with_tag_list(subject, by_api).await,
            },
            None => self.referrers_by_tag(subject).await,
            Some(true) => {
                let found = self.referrers_by_tag(subject).await?;
                // An empty list says nothing: registries keep it when the last referrer is deleted.
                if found.is_empty() && self.registry_may_have_api() {
                    return Ok(self.referrers_by_api(subject).await?.unwrap_or_default());
                }
                Ok(found)
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
        self.with_tag_list(subject, by_api).await
    }

    /// The list of the API, if it has one, and what the tag has beside it.
    async fn with_tag_list(
        &self,
        subject: &Digest,
        by_api: Option<Vec<Descriptor>>,
    ) -> Result<Vec<Descriptor>, StoreError> {
        let has_api = by_api.is_some();
        let mut found = by_api.unwrap_or_default();
        let more = match self.referrers_by_tag(subject).await {
            // A registry with the API has a tag of that name for other reasons, if at all.
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

    /// Whether the tags have been listed, and the one that replaces the API is not among them.
    fn is_without_tag(&self, subject: &Digest) -> Result<bool, StoreError> {
        let tag = self.referrers_tag(subject)?;
        Ok(self.memory.state().referrers_tags.as_ref().is_some_and(|tags| !tags.contains(&tag)))
    }

    async fn referrers_by_tag(&self, subject: &Digest) -> Result<Vec<Descriptor>, StoreError> {
        let (index, _) = self.referrers_tag_index(subject).await?.unwrap_or_default();
        Ok(listed_in(&index))
    }

    pub(crate) fn registry_may_have_api(&self) -> bool {
        !self.memory.no_referrers.load(Ordering::Relaxed) && !self.registries_without_api().contains(&self.registry())
    }

    fn registries_without_api(&self) -> MutexGuard<'_, HashSet<String>> {
        self.client.no_referrers.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn registry(&self) -> String {
        self.repository.registry().to_ascii_lowercase()
    }

    /// What the API says; `None` if the registry has no such API, which is remembered for the repository and the registry.
    async fn referrers_by_api(&self, subject: &Digest) -> Result<Option<Vec<Descriptor>>, StoreError> {
        let found = self.asked_api(subject).await?;
        if found.is_none() {
            self.memory.no_referrers.store(true, Ordering::Relaxed);
            self.registries_without_api().insert(self.registry());
        }
        Ok(found)
    }

    /// The list; `None` if the registry has no such API.
    async fn asked_api(&self, subject: &Digest) -> Result<Option<Vec<Descriptor>>, StoreError> {
        let call = RegistryCall::new(Method::GET, self.path("referrers", subject.as_str()), &self.pull);
        let what = "the list of referrers";
        let call = call.header("accept", OCI_INDEX);
        let (mut answer, mut bytes) = self.client.document(&call, what, MANIFEST_LIMIT, is_list).await?;
        if !is_list(&answer) {
            return match answer.status() {
                200 | 400 | 404 | 405 | 406 | 415 | 501 => Ok(None),
                _ => Err(answer.into_error(StoreItem::Other("list of referrers")).await),
            };
        }
        let mut pages = self.pages(answer.url());
        let mut found = Vec::new();
        loop {
            let next =
                pages.next(&answer.held_url(), answer.headers("link")).map_err(|problem| self.forbidden(problem))?;
            if !pages.fits(&bytes) {
                return Err(self.list_too_large(what));
            }
            found.extend(descriptors(
                &entries(&bytes).ok_or_else(|| self.malformed("its list of referrers is not an index"))?,
            ));
            if found.len() > REFERRERS_LIMIT {
                return Err(self.malformed(format!("{subject} has more than {REFERRERS_LIMIT} referrers")));
            }
            let Some(next) = next else { return Ok(Some(found)) };
            let call = RegistryCall::to(Method::GET, CallTarget::Address(next), &self.pull).header("accept", OCI_INDEX);
            let is_page = |answer: &RegistryAnswer| answer.status() == 200;
            (answer, bytes) = self.client.document(&call, what, MANIFEST_LIMIT, is_page).await?;
            if answer.status() != 200 {
                return Err(answer.into_error(StoreItem::Other("list of referrers")).await);
            }
        }
    }

    /// The index under the tag that replaces the API, with its `ETag`; an empty one if the tag does not exist. `None` if the
    /// registry reads such a tag as the digest itself, and answers with the subject.
    pub(crate) async fn referrers_tag_index(
        &self,
        subject: &Digest,
    ) -> Result<Option<(Map<String, Value>, Option<String>)>, StoreError> {
        let tag = self.referrers_tag(subject)?;
        let (found, bytes, etag) = match self.get_marked_manifest(&Reference::Tag(tag.clone()), None).await {
            Ok(found) => found,
            Err(error) if error.is_not_found() => return Ok(Some(Default::default())),
            Err(error) => return Err(error),
        };
        if found.digest == *subject || subject.matches(&bytes) {
            return Ok(None);
        }
        if found.media_type != OCI_INDEX {
            return Err(self.malformed(format!("its tag {tag}, which lists referrers, is not an index")));
        }
        let index =
            serde_json::from_slice(&bytes).map_err(|_| self.malformed(format!("its tag {tag} is not an index")))?;
        Ok(Some((index, etag)))
    }

    /// `ALGORITHM-ENCODED`, cut to what a tag may hold.
    pub(crate) fn referrers_tag(&self, subject: &Digest) -> Result<Tag, StoreError> {
        let part = |text: &str, length: usize| -> String {
            let fitting = |character: char| character.is_ascii_alphanumeric() || matches!(character, '.' | '_' | '-');
            text.chars().take(length).map(|character| if fitting(character) { character } else { '-' }).collect()
        };
        let tag = format!("{}-{}", part(subject.algorithm_name(), 32), part(subject.encoded(), 64));
        tag.parse().map_err(|_| self.malformed(format!("{subject} has no referrers tag")))
    }
}

/// Whether a tag may replace the referrers API, by its name: `ALGORITHM-ENCODED`.
pub(crate) fn is_referrers_tag(tag: &Tag) -> bool {
    tag.lists_referrers()
}

fn is_list(answer: &RegistryAnswer) -> bool {
    answer.status() == 200 && answer.media_type().is_some_and(|media_type| media_type == OCI_INDEX)
}

/// The entries of a page; `None` if it is not an index.
fn entries(page: &[u8]) -> Option<Vec<Value>> {
    let mut members: Map<String, Value> = serde_json::from_slice(page).ok()?;
    match members.remove("manifests")? {
        Value::Null => Some(Vec::new()),
        Value::Array(entries) => Some(entries),
        _ => None,
    }
}

/// What an index lists.
pub(crate) fn listed_in(index: &Map<String, Value>) -> Vec<Descriptor> {
    descriptors(index.get("manifests").and_then(Value::as_array).into_iter().flatten())
}

/// The entries that can be read as descriptors.
fn descriptors<'a>(entries: impl IntoIterator<Item = &'a Value>) -> Vec<Descriptor> {
    entries.into_iter().filter_map(|entry| serde_json::from_value(entry.clone()).ok()).collect()
}
