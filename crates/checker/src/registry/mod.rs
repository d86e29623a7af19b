//! Probes what a registry can do, in a scratch repository.
//!
//! ```text
//! Scratch      single requests (remote::RawStore), and a list of everything that they wrote
//!   ├ earlier     whether the repository is in use; deletes what earlier probes left
//!   ├ uploads     POST+PUT, one POST, chunks in and out of order, streamed, mounts, wrong and sha512 digests, ranges
//!   ├ manifests   types, configs, layers, indexes, HEAD, sizes
//!   ├ tags        lists and pages, moving a tag
//!   ├ referrers   the API, its header, the fallback tag
//!   └ cleanup     deletes tags, manifests, blobs; what is left is reported
//! Report       a row a capability, what that means for tofu-oci and OpenTofu, findings
//! ```

mod cleanup;
mod earlier;
mod error;
mod manifests;
mod meaning;
mod referrers;
mod report;
mod scratch;
mod tags;
#[cfg(test)]
mod tests;
mod uploads;

use std::pin::pin;
use std::time::Duration;

use futures_util::future::{Either, select};
use tofu_oci_remote::RawStore;

pub use error::ProbeError;
pub use report::{Capability, CapabilityState, ProbeReport};
use scratch::ScratchRepository;

/// The time limit of the clean-up.
const CLEAN_UP: Duration = Duration::from_mins(2);
/// The same after an interruption.
const CLEAN_UP_AT_ONCE: Duration = Duration::from_secs(20);

/// The repository that is probed, and how.
pub struct ProbeRequest<'a> {
    pub scratch: &'a RawStore,
    /// A second scratch repository of the same registry, to mount a blob from.
    pub mount_from: Option<&'a RawStore>,
    /// A text that no earlier probe of this repository had, so that its content is new.
    pub seed: &'a str,
}

/// Tries everything, cleans up, and reports. If `stop` ends first, it tries nothing more.
///
/// # Errors
/// [`ProbeError::InUse`] and whatever keeps the tags from being seen before anything is written. Later ones, and
/// [`ProbeError::Interrupted`], come after the clean-up: within [`ProbeError::Left`] where it could not delete all.
pub async fn probe(request: &ProbeRequest<'_>, stop: impl Future<Output = ()>) -> Result<ProbeReport, ProbeError> {
    let mut scratch = ScratchRepository::new(request.scratch, request.mount_from, request.seed);
    let outcome = match select(Box::pin(try_all(&mut scratch)), pin!(stop)).await {
        Either::Left((outcome, _)) => outcome,
        Either::Right(((), _)) => Err(ProbeError::Interrupted),
    };
    let bound = if matches!(outcome, Err(ProbeError::Interrupted)) { CLEAN_UP_AT_ONCE } else { CLEAN_UP };
    // The clean-up runs in any case.
    let (rows, left) = cleanup::clean(&mut scratch, bound).await;
    let repository = request.scratch.repository().to_string();
    if let Err(error) = outcome {
        return Err(if left.is_empty() {
            error
        } else {
            ProbeError::Left { error: Box::new(error), repository, left }
        });
    }
    scratch.rows.extend(rows);
    let requests = scratch.requests;
    let transport = request.scratch.transport().await;
    Ok(meaning::report(repository, transport, scratch.rows, left, requests, scratch.not_judged))
}

async fn try_all(scratch: &mut ScratchRepository<'_>) -> Result<(), ProbeError> {
    let leftovers = earlier::leftovers(scratch).await?;
    earlier::remove(scratch, &leftovers).await?;
    uploads::try_all(scratch).await?;
    manifests::try_all(scratch).await?;
    tags::try_all(scratch).await?;
    referrers::try_all(scratch).await?;
    Ok(())
}
