//! The content of a repository before a probe: nothing, leftovers of earlier probes, or content of others.

use serde_json::Value;
use tofu_oci_remote::RawMethod;
use tofu_oci_store::StoreError;
use tofu_oci_types::Digest;

use super::ProbeError;
use super::referrers::KIND;
use super::scratch::{ScratchRepository, TAGS, tag_name};

/// Most tags `sha256-HEX` that are read; a probe leaves one.
const MOST: usize = 20;

/// The tags that earlier probes left. A repository with other tags is not a scratch repository, whatever its name.
///
/// # Errors
/// Also if the tags cannot be read: only a whole list shows that the repository is unused, and only a 404 that it has
/// no tags.
pub(super) async fn leftovers(scratch: &ScratchRepository<'_>) -> Result<Vec<String>, ProbeError> {
    let tags = match scratch.raw().tags().await {
        Ok(tags) => tags,
        Err(error @ (StoreError::UnknownRepository { .. } | StoreError::NotFound { .. })) => {
            // Some registries say the same with a status that also means missing rights.
            let answer = scratch.peek(RawMethod::Get, "tags/list").await?;
            return if answer.status == 404 { Ok(Vec::new()) } else { Err(ProbeError::Store(error)) };
        }
        Err(error) => return Err(ProbeError::Store(error)),
    };
    let (mut own, mut foreign, mut looked_at) = (Vec::new(), Vec::new(), 0);
    for tag in tags.iter().map(ToString::to_string) {
        let ours = if TAGS.iter().any(|name| tag_name(name) == tag) {
            true
        } else if tag.starts_with("sha256-") && looked_at < MOST {
            looked_at += 1;
            lists_probes_alone(scratch, &tag).await?
        } else {
            false
        };
        if ours { own.push(tag) } else { foreign.push(tag) }
    }
    if foreign.is_empty() {
        return Ok(own);
    }
    foreign.truncate(5);
    Err(ProbeError::InUse { repository: scratch.repository(), tags: foreign })
}

/// Whether a probe wrote a tag of the referrers fallback: the tag then lists referrers of probes alone.
async fn lists_probes_alone(scratch: &ScratchRepository<'_>, tag: &str) -> Result<bool, StoreError> {
    let answer = scratch.peek(RawMethod::Get, &format!("manifests/{tag}")).await?;
    let document: Value = serde_json::from_slice(&answer.body).unwrap_or_default();
    let entries = document["manifests"].as_array().filter(|entries| !entries.is_empty());
    Ok(answer.is_success()
        && entries.is_some_and(|entries| entries.iter().all(|entry| entry["artifactType"].as_str() == Some(KIND))))
}

/// Deletes these tags and the manifests that they name, as far as the registry lets us; a refusal is not an error.
pub(super) async fn remove(scratch: &mut ScratchRepository<'_>, tags: &[String]) -> Result<(), StoreError> {
    for tag in tags {
        let path = format!("manifests/{tag}");
        let head = scratch.ask(RawMethod::Head, &path).await?;
        let by_tag = scratch.ask(RawMethod::Delete, &path).await?;
        let mut deletes = by_tag.is_success() || by_tag.status == 404;
        if let Some(Ok(digest)) = head.header("docker-content-digest").map(str::parse::<Digest>) {
            let by_digest = scratch.ask(RawMethod::Delete, &format!("manifests/{digest}")).await?;
            deletes |= by_digest.is_success() || by_digest.status == 404;
        }
        if !deletes {
            break;
        }
    }
    Ok(())
}
