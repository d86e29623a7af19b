//! What a registry can do, found out by trying it in a scratch repository.
//!
//! ```text
//! Scratch      single requests (remote::RawStore), and a list of everything that was put there
//!   ├ uploads     POST+PUT, one POST, chunks in and out of order, streamed, mounts, wrong and sha512 digests, ranges
//!   ├ manifests   types, configs, layers, indexes, HEAD, sizes
//!   ├ tags        lists and pages, moving a tag
//!   ├ referrers   the API, its header, the tag that stands in for it
//!   └ cleanup     deletes tags, manifests, blobs; what is left is told
//! Report       a row a capability, what that means for tofu-oci and OpenTofu, findings
//! ```

mod cleanup;
mod manifests;
mod meaning;
mod referrers;
mod report;
mod scratch;
mod tags;
#[cfg(test)]
mod tests;
mod uploads;

use tofu_oci_remote::{RawMethod, RawStore};
use tofu_oci_store::StoreError;

pub use report::{Capability, ProbeReport, State};
use scratch::Scratch;

/// Why a registry was not probed.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ProbeError {
    /// The repository is in use.
    #[error("{repository} is no scratch repository: it has the tags {}", tags.join(", "))]
    InUse {
        /// The repository.
        repository: String,
        /// Tags that no probe has written, the first five.
        tags: Vec<String>,
    },
    /// Nothing can be written there.
    #[error("{repository} takes no upload: {said}")]
    NoUpload {
        /// The repository.
        repository: String,
        /// Status and code of the answer.
        said: String,
    },
    /// No answer came.
    #[error(transparent)]
    Store(#[from] StoreError),
}

/// The repository that is probed, and how.
pub struct ProbeRequest<'a> {
    /// The scratch repository.
    pub scratch: &'a RawStore,
    /// A second scratch repository of the same registry, to mount a blob from.
    pub mount_from: Option<&'a RawStore>,
    /// A text that no earlier probe of this repository was given, so that nothing is there already.
    pub seed: &'a str,
}

/// Tries everything, cleans up, and reports.
///
/// # Errors
/// [`ProbeError::InUse`] before anything is written. When the registry goes away in between, what was written so far
/// stays there; its tags begin with `tofu-oci-probe`.
pub async fn probe(request: &ProbeRequest<'_>) -> Result<ProbeReport, ProbeError> {
    let mut scratch = Scratch::new(request.scratch, request.seed);
    require_unused(&scratch).await?;
    let outcome = try_all(&mut scratch, request).await;
    // Whatever happened, what was written goes.
    let cleaned = cleanup::clean(&mut scratch).await;
    outcome?;
    let (rows, left) = cleaned?;
    scratch.rows.extend(rows);
    let repository = request.scratch.repository().to_string();
    let requests = scratch.requests;
    Ok(meaning::report(repository, scratch.rows, left, requests))
}

async fn try_all(scratch: &mut Scratch<'_>, request: &ProbeRequest<'_>) -> Result<(), ProbeError> {
    uploads::try_all(scratch, request.mount_from).await?;
    manifests::try_all(scratch).await?;
    tags::try_all(scratch).await?;
    referrers::try_all(scratch).await?;
    Ok(())
}

/// A repository with tags of somebody else's is no scratch repository, whatever its name says.
async fn require_unused(scratch: &Scratch<'_>) -> Result<(), ProbeError> {
    let answer = scratch.peek(RawMethod::Get, "tags/list").await?;
    let foreign = |tag: &String| !tag.starts_with(scratch::TAG) && !tag.starts_with("sha256-");
    let mut tags: Vec<String> = tags::names(&answer).into_iter().filter(foreign).collect();
    if tags.is_empty() {
        return Ok(());
    }
    tags.truncate(5);
    Err(ProbeError::InUse { repository: scratch.repository(), tags })
}
