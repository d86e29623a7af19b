//! A release into a store.
//!
//! ```text
//! inspect   names, executables, what was asked for against what is there
//! look      the tag and its neighbours in the repository
//! prepare   digests and layers, on idle cores          prepare.rs, pack.rs
//! checksum  h1 of each zip, on idle cores or the memo  prepare.rs, memo.rs
//! send      blobs, config, leaf manifest; then the index, a check
//! attach    the signed checksum file, signatures       attachments.rs
//! tag       last of all
//! ```

mod attachments;
mod inspect;
mod memo;
mod pack;
mod plan;
mod prepare;
mod release;
mod replaced;
mod send;
mod tags;
#[cfg(test)]
mod tests;

use tofu_oci_store::Store;
use tofu_oci_types::{Descriptor, Reporter, Tag};

use attachments::Attachments;
pub use plan::plan;
use prepare::Preparation;
use release::{Attached, BuiltRelease};
use send::Sender;
pub(crate) use tags::{contents_of, for_version, leaves_of, point, resolve, tags_unknown};

use crate::{PackError, PushReport, PushRequest, ReleaseDifference, ReplaceTag, ReplacedRelease, TagTaken, Transfers};

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
    let attachments = Attachments::read(request, reporter).await?;
    let tag = for_version(request.version)?;
    let found = tags::look(store, &tag, request.version, reporter).await?;
    tracing::info!(%tag, taken = found.existing.is_some(), "the files are in order");
    if let Some(withdrawn) = found.withdrawn(request) {
        return Err(replaced::withdrawn(store, withdrawn, request).await);
    }
    if found.existing.is_none() || request.replace == ReplaceTag::Replace {
        found.require_address(store, &tag, request).await?;
    }
    let mut preparation = Preparation::start(request)?;
    let sender = Sender { store, reporter, request, attachments: &attachments };
    let report = match &found.existing {
        None => push_new(&sender, &mut preparation, tag, None).await,
        Some(existing) => push_beside(&sender, &mut preparation, tag, existing, &found).await,
    };
    preparation.stop().await;
    if let Ok(report) = &report {
        inspect::warn_of_equal_packages(&report.platforms, reporter);
    }
    report
}

/// The index is a new one: each platform is sent as soon as it is ready.
async fn push_new(
    sender: &Sender<'_>,
    preparation: &mut Preparation,
    tag: Tag,
    existing: Option<&Descriptor>,
) -> Result<PushReport, PackError> {
    if sender.request.dist.sums.is_some() {
        preparation.prepared(sender.reporter).await?;
    }
    let (transfers, release) = sender.send_while_preparing(preparation).await?;
    let attached = publish(sender, &release, &tag, transfers, existing).await?;
    Ok(release.report(sender.request, sender.store.place(), tag, attached, false))
}

/// The tag exists: only the new index decides whether it stays, moves or is an error.
async fn push_beside(
    sender: &Sender<'_>,
    preparation: &mut Preparation,
    tag: Tag,
    existing: &Descriptor,
    found: &tags::RepositoryBefore,
) -> Result<PushReport, PackError> {
    let Sender { store, request, .. } = *sender;
    if request.replace == ReplaceTag::Replace {
        // Other packages make another index, whatever their checksums are.
        let new = release::leaf_digests(&preparation.prepared(sender.reporter).await?);
        if leaves_of(store, existing).await?.is_none_or(|leaves| leaves != new) {
            return push_new(sender, preparation, tag, Some(existing)).await;
        }
    }
    let release = preparation.finish(request, sender.reporter).await?;
    if existing.digest == release.index.descriptor.digest {
        let mut attached = Attached::default();
        sender.attach(&release, &mut attached).await?;
        if request.replace == ReplaceTag::Replace {
            sender.revive(&release.index.descriptor).await?;
        }
        return Ok(release.report(request, store.place(), tag, attached, true));
    }
    if request.replace == ReplaceTag::Refuse {
        found.require_address(store, &tag, request).await?;
        return Err(taken(store, existing, &release, &tag).await);
    }
    let transfers = sender.send_all(&release.prepared).await?;
    let attached = publish(sender, &release, &tag, transfers, Some(existing)).await?;
    Ok(release.report(request, store.place(), tag, attached, false))
}

/// The index, the check that everything is there, what refers to the release, what is said of the release that it
/// replaces, and the tag.
async fn publish(
    sender: &Sender<'_>,
    release: &BuiltRelease,
    tag: &Tag,
    transfers: Transfers,
    existing: Option<&Descriptor>,
) -> Result<Attached, PackError> {
    let Sender { store, request, .. } = sender;
    let index = &release.index;
    let mut attached = Attached { transfers, ..Attached::default() };
    attached.transfers.count(sender.send_planned(index).await?, index.descriptor.size);
    tracing::info!(index = %index.descriptor.digest, "everything is sent but the tag");
    sender.check(release).await?;
    sender.attach(release, &mut attached).await?;
    if request.replace == ReplaceTag::Replace {
        sender.revive(&index.descriptor).await?;
    }
    if let Some(existing) = existing {
        attached.replaced = Some(sender.mark(existing, &index.descriptor).await?);
    }
    match point(*store, &index.descriptor, tag, request.replace).await {
        Ok(None) => Ok(attached),
        Ok(Some(now)) => Err(taken(*store, &now, release, tag).await),
        Err(error) => {
            if let (Some(existing), Some(ReplacedRelease { notice: Some(_), .. })) = (existing, &attached.replaced) {
                sender.unmark(existing, tag).await;
            }
            Err(error)
        }
    }
}

/// The refusal of a tag that points at something else.
async fn taken(store: &dyn Store, existing: &Descriptor, release: &BuiltRelease, tag: &Tag) -> PackError {
    let new = release::leaf_digests(&release.prepared);
    let (there, of) = match contents_of(store, existing).await {
        Ok(contents) => contents,
        Err(error) => return error.into(),
    };
    let difference = ReleaseDifference::between(there.as_ref(), Some(&new));
    PackError::TagTaken(Box::new(TagTaken {
        place: store.place(),
        tag: tag.clone(),
        existing: existing.digest.clone(),
        new: release.index.descriptor.digest.clone(),
        difference,
        of,
    }))
}
