//! A release into a store.
//!
//! ```text
//! inspect   names, executables, what was asked for against what is there
//! look      the tag and its neighbours in the repository
//! prepare   digests, layers and small layers, on idle cores   prepare.rs, pack.rs
//! checksum  h1 of each zip, on idle cores or the memo         prepare.rs, memo.rs
//! send      blobs, config, leaf manifest; then the index, a check
//! attach    the signed checksum file, signatures              attachments.rs
//! tag       last of all                                       publish.rs
//! ```

mod attachments;
mod inspect;
mod memo;
mod pack;
mod plan;
mod prepare;
mod publish;
mod release;
mod replaced;
mod send;
#[cfg(test)]
mod tests;

use tofu_oci_store::Store;
use tofu_oci_types::{Reporter, Tag};

use crate::tags::{RepositoryBefore, leaves_of};
pub use plan::plan;
use prepare::Preparation;
pub(crate) use prepare::blocking;
pub use publish::{ReleaseContents, ZipPackage, publish};
use publish::{complete, look, publish_built};
pub(crate) use replaced::{Replacement, withdrawn};
use send::Sender;
pub(crate) use send::outcome;

use crate::{PackError, PushReport, PushRequest, ReleaseDocs, ReplaceTag};

/// Writes the release, and its tag last of all.
///
/// A push that breaks off leaves no tag; running it again sends only what is missing. If there is a checksum file,
/// every zip is compared with it before anything is sent. What is to refer to the release (its signatures, the signed
/// checksum file) is there before the tag is; a release that is there already gets what it lacks.
///
/// # Errors
/// [`PackError::TagTaken`] before anything is sent if the tag points at another release.
pub async fn push(
    request: &PushRequest<'_>,
    store: &dyn Store,
    reporter: &dyn Reporter,
) -> Result<PushReport, PackError> {
    inspect::inspect(request).await?;
    let sums = attachments::read(request, reporter).await?;
    request.docs.and_then(ReleaseDocs::remark).iter().for_each(|event| reporter.event(event));
    let sender = Sender {
        store,
        reporter,
        publication: &request.publication,
        protocols: &request.dist.protocols,
        sums: sums.as_ref(),
        files: &[],
        docs: request.docs,
    };
    let (tag, found) = look(&sender, None).await?;
    let mut preparation = Preparation::start(request)?;
    let report = push_files(&sender, request, &mut preparation, tag, &found).await;
    preparation.stop().await;
    if let Ok(report) = &report {
        inspect::warn_of_equal_packages(request.dist, &report.what.platforms, reporter);
    }
    report
}

/// Sends each platform as soon as it is ready, if the index is a new one.
async fn push_files(
    sender: &Sender<'_>,
    request: &PushRequest<'_>,
    preparation: &mut Preparation,
    tag: Tag,
    found: &RepositoryBefore,
) -> Result<PushReport, PackError> {
    let Sender { store, publication, .. } = *sender;
    let is_new = match &found.existing {
        None => true,
        // Other packages make another index, whatever their checksums are.
        Some(existing) if publication.replace == ReplaceTag::Replace => {
            let prepared = preparation.prepared(sender.reporter).await?;
            let new = prepared.iter().flat_map(|one| &one.leaves).map(|leaf| &leaf.manifest.descriptor.digest);
            let new = new.cloned().collect();
            leaves_of(store, existing).await?.is_none_or(|leaves| leaves.digests != new)
        }
        Some(_) => false,
    };
    if !is_new {
        let release = preparation.finish(request, sender.reporter).await?;
        return publish_built(sender, release, tag, found).await;
    }
    if request.dist.sums.is_some() {
        preparation.prepared(sender.reporter).await?;
    }
    let (transfers, release) = sender.send_while_preparing(preparation).await?;
    let attached = complete(sender, &release, &tag, transfers, found.existing.as_ref()).await?;
    Ok(release.report(publication, store.place(), tag, attached, false))
}
