//! Deleting: what a registry can do, and what a probe owes it.

use tofu_oci_remote::{RawAnswer, RawMethod};
use tofu_oci_store::StoreError;

use super::report::{Capability, State};
use super::scratch::Scratch;

/// The rows about deleting, and what is left.
type Cleaned = (Vec<Capability>, Vec<String>);

/// Deletes tags, then manifests, then blobs.
pub(super) async fn clean(scratch: &mut Scratch<'_>) -> Result<Cleaned, StoreError> {
    let mut rows = Vec::new();
    let mut left = Vec::new();
    let tags: Vec<String> = std::mem::take(&mut scratch.tags);
    let paths = tags.iter().map(|tag| (tag.clone(), format!("manifests/{tag}"))).collect();
    let (row, refused) = delete(scratch, ("delete-tag", "a tag deleted"), paths).await?;
    rows.extend(row);
    let mut manifests = std::mem::take(&mut scratch.manifests);
    // What points at others goes first: some registries keep a manifest that something refers to.
    manifests.reverse();
    let paths = manifests.iter().map(|digest| (digest.to_string(), format!("manifests/{digest}"))).collect();
    let (row, kept) = delete(scratch, ("delete-manifest", "a manifest deleted"), paths).await?;
    let manifests_gone = kept.is_empty();
    rows.extend(row);
    left.extend(kept);
    let mut blobs = std::mem::take(&mut scratch.blobs);
    blobs.sort();
    blobs.dedup();
    let paths = blobs.iter().map(|digest| (digest.to_string(), format!("blobs/{digest}"))).collect();
    let (row, kept) = delete(scratch, ("delete-blob", "a blob deleted"), paths).await?;
    rows.extend(row);
    left.extend(kept);
    // A tag goes with its manifest, whatever was said to its own deletion.
    if !manifests_gone {
        left.splice(0..0, refused);
    }
    Ok((rows, left))
}

async fn delete(
    scratch: &mut Scratch<'_>,
    (name, what): (&'static str, &'static str),
    paths: Vec<(String, String)>,
) -> Result<(Option<Capability>, Vec<String>), StoreError> {
    let mut left = Vec::new();
    let mut first: Option<RawAnswer> = None;
    let mut worst: Option<RawAnswer> = None;
    for (subject, path) in paths {
        let answer = scratch.ask(RawMethod::Delete, &path).await?;
        // 404: it went with something else.
        if !answer.is_success() && answer.status != 404 {
            left.push(subject);
            worst.get_or_insert_with(|| answer.clone());
        }
        first.get_or_insert(answer);
    }
    let row = worst.or(first).map(|answer| {
        let state = if left.is_empty() && answer.is_success() { State::Works } else { State::Missing };
        Capability { name, what, state, detail: format!("DELETE {}", answer.said()) }
    });
    Ok((row, left))
}
