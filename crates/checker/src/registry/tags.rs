//! Tags: lists, pages, and whether one can be moved.

use serde_json::Value;
use tofu_oci_remote::{RawAnswer, RawMethod};
use tofu_oci_store::StoreError;

use super::manifests;
use super::report::CapabilityState;
use super::scratch::{EMPTY_TYPE, OCI_INDEX, OCI_MANIFEST, ScratchRepository, tag_name};

/// The tags of an answer; empty if it is not a list.
pub(super) fn names(answer: &RawAnswer) -> Vec<String> {
    let document: Value = serde_json::from_slice(&answer.body).unwrap_or_default();
    let tags = document["tags"].as_array();
    tags.into_iter().flatten().filter_map(|tag| tag.as_str().map(str::to_owned)).collect()
}

pub(super) async fn try_all(scratch: &mut ScratchRepository<'_>) -> Result<(), StoreError> {
    let Some(index) = scratch.index.clone() else {
        scratch.row("tags", "every tag is listed", CapabilityState::NotTried, "no index could be pushed");
        return Ok(());
    };
    let wanted = ["a", "b", "c"].map(tag_name);
    for tag in &wanted {
        scratch.put_manifest(Some(tag), OCI_INDEX, &index).await?;
    }
    list(scratch, &wanted).await?;
    pages(scratch).await?;
    last(scratch, &wanted).await?;
    moved(scratch, &wanted[0]).await
}

async fn list(scratch: &mut ScratchRepository<'_>, wanted: &[String]) -> Result<(), StoreError> {
    let answer = scratch.ask(RawMethod::Get, "tags/list").await?;
    let found = names(&answer);
    let gone: Vec<&str> = wanted.iter().filter(|tag| !found.contains(tag)).map(String::as_str).collect();
    let (state, said) = match (answer.is_success(), gone.is_empty()) {
        (false, _) => (CapabilityState::Missing, format!("GET {}", answer.summary())),
        (true, false) => (CapabilityState::Differs, format!("it leaves out {}", gone.join(", "))),
        (true, true) if found.is_sorted() => (CapabilityState::Works, format!("GET {}, sorted", answer.summary())),
        (true, true) => (CapabilityState::Works, format!("GET {}, in no order", answer.summary())),
    };
    scratch.row("tags", "every tag is listed", state, said);
    Ok(())
}

/// A page of two tags, and the link to the next page.
async fn pages(scratch: &mut ScratchRepository<'_>) -> Result<(), StoreError> {
    let answer = scratch.ask(RawMethod::Get, "tags/list?n=2").await?;
    let count = names(&answer).len();
    let link = answer.header("link").is_some_and(|link| link.contains("next"));
    let (state, said) = match (answer.is_success(), count, link) {
        (false, ..) => (CapabilityState::Missing, format!("GET {}", answer.summary())),
        (true, 2, true) => (CapabilityState::Works, "two tags and a Link to the next page".to_owned()),
        (true, 2, false) => {
            (CapabilityState::Differs, "two tags and no Link: nothing says that there are more".to_owned())
        }
        (true, count, _) => (CapabilityState::Missing, format!("`n` is ignored: {count} tags at once")),
    };
    scratch.row("tags-n", "tags in pages (`n`, Link)", state, said);
    Ok(())
}

async fn last(scratch: &mut ScratchRepository<'_>, wanted: &[String]) -> Result<(), StoreError> {
    let answer = scratch.ask(RawMethod::Get, &format!("tags/list?n=100&last={}", wanted[0])).await?;
    let found = names(&answer);
    let (state, said) = if !answer.is_success() {
        (CapabilityState::Missing, format!("GET {}", answer.summary()))
    } else if found.contains(&wanted[0]) {
        (CapabilityState::Missing, "`last` is ignored".to_owned())
    } else if wanted[1..].iter().all(|tag| found.contains(tag)) {
        (CapabilityState::Works, format!("GET {}", answer.summary()))
    } else {
        (CapabilityState::Differs, "tags after `last` are left out".to_owned())
    };
    scratch.row("tags-last", "tags after another one (`last`)", state, said);
    Ok(())
}

async fn moved(scratch: &mut ScratchRepository<'_>, tag: &str) -> Result<(), StoreError> {
    const AGAIN: &str = "a tag pushed again unchanged";
    let (Some(index), Some(layer), Some(empty)) = (scratch.index.clone(), scratch.layer.clone(), scratch.empty.clone())
    else {
        return Ok(());
    };
    let answer = scratch.put_manifest(Some(tag), OCI_INDEX, &index).await?;
    let state = if answer.is_success() { CapabilityState::Works } else { CapabilityState::Missing };
    scratch.row("tag-again", AGAIN, state, format!("PUT {}", answer.summary()));
    let other = manifests::leaf(&layer, (EMPTY_TYPE, &empty), Some("application/vnd.tofu-oci.probe.v1"), "text/plain");
    let answer = scratch.put_manifest(Some(tag), OCI_MANIFEST, &other).await?;
    let (state, said) = if answer.is_success() {
        let head = scratch.ask(RawMethod::Head, &format!("manifests/{tag}")).await?;
        if head.header("docker-content-digest").is_none_or(|digest| digest == other.digest.as_str()) {
            (CapabilityState::Works, format!("PUT {}", answer.summary()))
        } else {
            (CapabilityState::Differs, format!("PUT {}, and the tag stays where it was", answer.summary()))
        }
    } else {
        (CapabilityState::Missing, format!("PUT {}: tags are immutable", answer.summary()))
    };
    scratch.row("tag-moved", "a tag moved to another manifest", state, said);
    Ok(())
}
