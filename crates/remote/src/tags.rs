//! The tags of a repository.

use std::collections::HashSet;

use bytes::Bytes;
use reqwest::Method;
use serde::Deserialize;
use tofu_oci_store::{ReadStore as _, StoreError, StoreItem};
use tofu_oci_types::Tag;

use crate::answer::RegistryAnswer;
use crate::call::{CallTarget, RegistryCall};
use crate::referrers::is_referrers_tag;
use crate::repository::{OtherContent, RemoteStore};

/// Most bytes of one page.
const PAGE_LIMIT: u64 = 8 * 1024 * 1024;
/// How many tags are asked for at once: a large registry refuses to give more.
const PAGE: u32 = 1000;
/// How many pages in a row may have no new tag. A registry that ignores where a page begins would send the same one for ever.
const PAGES_WITHOUT_NEW: u32 = 10;

/// Registries write `null` when all tags have been deleted. A document without the member lists nothing.
#[derive(Deserialize)]
struct TagPage {
    #[serde(deserialize_with = "Deserialize::deserialize")]
    tags: Option<Vec<String>>,
}

impl RemoteStore {
    /// Whether the registry answers at its root, as releases of `OpenTofu` up to 1.12 ask before they list tags.
    ///
    /// # Errors
    /// [`StoreError::UnknownRepository`] for a 404, and what any other status but 200 means.
    ///
    /// Spec: OCI distribution-spec 1.1.1, "Determining Support".
    pub async fn ping(&self) -> Result<(), StoreError> {
        let answer = self.client.send(&RegistryCall::new(Method::GET, "/v2/", &self.pull)).await?;
        match answer.status() {
            200 => Ok(()),
            404 => Err(StoreError::UnknownRepository { place: self.place() }),
            _ => Err(answer.into_error(StoreItem::Other("registry's root")).await),
        }
    }

    /// Every tag once, in the order in which the registry gives them, which may be none.
    ///
    /// Spec: OCI distribution-spec 1.1.1, "Listing Tags".
    pub(crate) async fn list_tags(&self) -> Result<Vec<Tag>, StoreError> {
        let path = self.path("tags", &format!("list?n={PAGE}"));
        let (mut answer, mut bytes) = self.page_of_tags(RegistryCall::new(Method::GET, path, &self.pull)).await?;
        let mut pages = self.pages(answer.url());
        let (mut tags, mut known, mut without_new) = (Vec::new(), HashSet::new(), 0);
        loop {
            if answer.status() != 200 {
                return Err(self.tags_error(answer).await);
            }
            let next =
                pages.next(&answer.held_url(), answer.headers("link")).map_err(|problem| self.forbidden(problem))?;
            if !pages.fits(&bytes) {
                return Err(self.list_too_large("the list of tags"));
            }
            let page: TagPage = serde_json::from_slice(&bytes)
                .map_err(|_| self.malformed("its list of tags is not a JSON object with the member `tags`"))?;
            let before = tags.len();
            let read = page.tags.unwrap_or_default().into_iter().filter_map(|tag| tag.parse::<Tag>().ok());
            tags.extend(read.filter(|tag| known.insert(tag.clone())));
            without_new = if tags.len() > before { 0 } else { without_new + 1 };
            let Some(next) = next else {
                let referrers_tags = tags.iter().filter(|tag| is_referrers_tag(tag)).cloned().collect();
                let mut state = self.memory.state();
                (state.referrers_tags, state.others) = (Some(referrers_tags), OtherContent::Unknown);
                return Ok(tags);
            };
            if without_new >= PAGES_WITHOUT_NEW {
                let problem = format!("its list of tags goes on although {without_new} pages in a row have no new tag");
                return Err(self.malformed(problem));
            }
            let call = RegistryCall::to(Method::GET, CallTarget::Address(next), &self.pull);
            (answer, bytes) = self.page_of_tags(call).await?;
        }
    }

    async fn page_of_tags(&self, call: RegistryCall<'_>) -> Result<(RegistryAnswer, Bytes), StoreError> {
        self.client.document(&call, "the list of tags", PAGE_LIMIT, |answer| answer.status() == 200).await
    }

    /// The repository does not exist if the registry says so, with whatever status, or answers 404 without words. A 401 says
    /// nothing about the repository.
    ///
    /// Spec: `OpenTofu` 1.12, getproviders, `errRepresentsOCIProviderNotFound`; measured for 401.
    async fn tags_error(&self, answer: RegistryAnswer) -> StoreError {
        let status = answer.status();
        if status == 401 {
            return answer.into_error(StoreItem::Other("list of tags")).await;
        }
        let (words, error) = answer.words_and_error().await;
        if words.repository_unknown() {
            let mut state = self.memory.state();
            if state.tagged.is_empty() {
                state.others = OtherContent::Leftovers;
            } else {
                // Someone has deleted it since, or the question was on its way when this store wrote a tag.
                state.forget_content();
            }
        }
        if words.repository_unknown() || (status == 404 && words.is_empty()) {
            return StoreError::UnknownRepository { place: self.place() };
        }
        error
    }
}
