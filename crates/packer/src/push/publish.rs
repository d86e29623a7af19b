//! In which order a release is published, by `push` and by a mirror: everything it names first, the tag last; when a
//! taken tag may move.

use std::sync::Arc;

use tofu_oci_layout::{PlatformPackage, plan_leaves};
use tofu_oci_store::{Body, ComparedBy, Store, is_whole};
use tofu_oci_types::{Descriptor, Digest, PackageHash, Platform, Reporter, Tag};

use super::pack::{PackedBlob, Prepared};
use super::release::{Attached, BuiltRelease};
use super::replaced;
use super::send::Sender;
use crate::tags::{self, RepositoryBefore, contents_of, for_version, overwritten, point};
use crate::{
    AttachedFile, PackError, Publication, PushReport, ReleaseDifference, ReplaceTag, ReplacedRelease, SignedSums,
    TagTaken, Transfers,
};

/// A release that need not lie in a folder.
pub struct ReleaseContents<'a> {
    /// The plugin protocols, such as `6.0`.
    pub protocols: Vec<String>,
    /// One package a platform, sorted by platform.
    pub packages: Vec<ZipPackage>,
    /// The signed checksum file of its origin.
    pub sums: Option<SignedSums>,
    /// Files that go with it as referrers, such as attestations.
    pub files: &'a [AttachedFile],
    /// The tags of the repository, if they were listed shortly before; `None` to list them.
    pub listed: Option<&'a [Tag]>,
}

/// One platform's zip, whose bytes are read when they are sent.
pub struct ZipPackage {
    pub platform: Platform,
    /// The file name of the zip.
    pub filename: String,
    /// The digest of the zip.
    pub digest: Digest,
    /// The size of the zip in bytes.
    pub size: u64,
    /// The `h1:` checksum, if it is known.
    pub h1: Option<PackageHash>,
    /// The bytes. They are opened only if the store lacks them, and again if an upload begins anew.
    pub body: Arc<dyn Body>,
}

/// Writes a release of the artifact layout, and its tag last of all: what [`push()`](crate::push()) does with files.
///
/// A package is neither read through nor unpacked: whoever asks for this knows that it is the right one.
///
/// # Errors
/// As [`push()`](crate::push()).
pub async fn publish(
    publication: &Publication<'_>,
    contents: ReleaseContents<'_>,
    store: &dyn Store,
    reporter: &dyn Reporter,
) -> Result<PushReport, PackError> {
    let ReleaseContents { protocols, packages, sums, files, listed } = contents;
    let sender = Sender { store, reporter, publication, protocols: &protocols, sums: sums.as_ref(), files, docs: None };
    let (tag, found) = look(&sender, listed).await?;
    let (mut prepared, mut checksums) = (Vec::new(), Vec::new());
    for package in packages {
        let ZipPackage { platform, filename, digest, size, h1, body } = package;
        let zip = Some((digest.clone(), size));
        let package = PlatformPackage { platform, filename, zip, layer: None, small: None };
        let leaves = plan_leaves(&package, publication.layout)?;
        let PlatformPackage { platform, filename, .. } = package;
        let zip = Some(PackedBlob { digest, size, body });
        prepared.push(Arc::new(Prepared {
            platform,
            filename,
            zip,
            layer: None,
            small: None,
            small_omitted: None,
            leaves,
        }));
        checksums.push(h1);
    }
    let release = BuiltRelease::new(publication, &protocols, prepared, checksums);
    publish_built(&sender, release, tag, &found).await
}

/// The repository before, if it may take the release as far as that is known now.
pub(super) async fn look(sender: &Sender<'_>, listed: Option<&[Tag]>) -> Result<(Tag, RepositoryBefore), PackError> {
    let Sender { store, publication, reporter, .. } = *sender;
    let tag = for_version(publication.version)?;
    let found = tags::look(store, (&tag, publication.version, publication.replace), listed, reporter).await?;
    tracing::info!(%tag, taken = found.existing.is_some(), "the packages are in order");
    if let Some(withdrawn) = found.withdrawn(publication) {
        return Err(replaced::withdrawn(store, withdrawn, &publication.address.into(), publication.version).await);
    }
    if found.existing.is_none() || publication.replace == ReplaceTag::Replace {
        found.require_address(store, &tag, publication).await?;
    }
    Ok((tag, found))
}

/// If the tag exists, the new index decides whether it stays, moves or is an error.
pub(super) async fn publish_built(
    sender: &Sender<'_>,
    release: BuiltRelease,
    tag: Tag,
    found: &RepositoryBefore,
) -> Result<PushReport, PackError> {
    let Sender { store, publication, .. } = *sender;
    match &found.existing {
        Some(existing) if existing.digest == release.index.descriptor.digest => {
            let mut attached = Attached::default();
            // Files of a layout may be lost or cut off since a power cut.
            let is_whole = is_whole(store, existing, ComparedBy::Sizes).await?;
            if !is_whole {
                attached.transfers = sender.send_all(&release.prepared).await?;
                attached.transfers.count(sender.send_planned(&release.index).await?, release.index.descriptor.size);
            }
            sender.attach(&release, Some(existing), &mut attached).await?;
            if publication.replace == ReplaceTag::Replace {
                sender.replacement(&publication.address.into()).revive(&release.index.descriptor).await?;
            } else {
                let this = (publication.version, &existing.digest);
                found.warn_if_withdrawn(store, this, sender.reporter).await?;
            }
            return Ok(release.report(publication, store.place(), tag, attached, is_whole));
        }
        Some(existing) if publication.replace == ReplaceTag::Refuse => {
            found.require_address(store, &tag, publication).await?;
            return Err(taken(store, existing, &release, &tag).await);
        }
        _ => {}
    }
    let transfers = sender.send_all(&release.prepared).await?;
    let attached = complete(sender, &release, &tag, transfers, found.existing.as_ref()).await?;
    Ok(release.report(publication, store.place(), tag, attached, false))
}

/// The index, the check that everything is there, what refers to the release, what is said of the release that it
/// replaces, and the tag.
pub(super) async fn complete(
    sender: &Sender<'_>,
    release: &BuiltRelease,
    tag: &Tag,
    transfers: Transfers,
    existing: Option<&Descriptor>,
) -> Result<Attached, PackError> {
    let Sender { store, publication, .. } = sender;
    let index = &release.index;
    let mut attached = Attached { transfers, ..Attached::default() };
    attached.transfers.count(sender.send_planned(index).await?, index.descriptor.size);
    tracing::info!(index = %index.descriptor.digest, "everything is sent but the tag");
    sender.check(release).await?;
    sender.attach(release, existing, &mut attached).await?;
    let of = publication.address.into();
    let replacement = sender.replacement(&of);
    if publication.replace == ReplaceTag::Replace {
        replacement.revive(&index.descriptor).await?;
    }
    if let Some(existing) = existing {
        attached.replaced = Some(replacement.mark(existing, &index.descriptor).await?);
    }
    let is_contended = existing.is_none() && publication.replace == ReplaceTag::Refuse;
    match point(*store, &index.descriptor, tag, publication.replace).await {
        Ok(None) if is_contended => match overwritten(*store, &index.descriptor, tag).await? {
            None => Ok(attached),
            Some(now) => Err(taken(*store, &now, release, tag).await),
        },
        Ok(None) => Ok(attached),
        Ok(Some(now)) => Err(taken(*store, &now, release, tag).await),
        Err(error) => {
            if let (Some(existing), Some(ReplacedRelease { notice: Some(_), .. })) = (existing, &attached.replaced) {
                replacement.unmark(existing, tag).await;
            }
            Err(error)
        }
    }
}

/// The refusal of a tag that points at something else.
async fn taken(store: &dyn Store, existing: &Descriptor, release: &BuiltRelease, tag: &Tag) -> PackError {
    let new = release.known_leaves();
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
