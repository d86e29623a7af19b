//! A release from one store to another, byte for byte.

use serde::Serialize;
use tofu_oci_store::{CopyOptions, ReadStore, Referrers, Store};
use tofu_oci_types::{Descriptor, Digest, Reference, Reporter, Tag, Version};

use crate::push::{for_version, leaves_of, resolve};
use crate::{Difference, PackError, ReplaceTag, TagTaken, Transfers};

/// Which releases to copy.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Versions {
    /// One version, under its canonical tag.
    One(Version),
    /// Every version that has its canonical tag. Other tags are left behind: they are read by nobody, or do harm.
    All,
}

/// What to copy and how.
#[derive(Clone, Debug)]
pub struct CopyRequest {
    /// Which releases.
    pub versions: Versions,
    /// What happens when a tag is taken at the destination.
    pub replace: ReplaceTag,
    /// How many things move at a time, at least 1.
    pub jobs: usize,
}

/// One release that was copied.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct CopiedRelease {
    /// The tag, the same at both ends.
    pub tag: Tag,
    /// The digest of the manifest that it points at.
    pub index: Digest,
    /// What was sent and what was there.
    pub transfers: Transfers,
    /// Whether the destination had this very release under this tag, and everything that belongs to it, before.
    pub unchanged: bool,
}

/// Copies releases with everything that refers to them (signatures, attestations), each tag last of all.
///
/// A release that the destination has is looked through all the same, since it may have been signed since then.
///
/// # Errors
/// [`PackError::TagTaken`] before anything is sent when one of the tags points at something else there;
/// [`PackError::NoRelease`] when the source has no such version, or none at all.
pub async fn copy_release(
    from: &dyn ReadStore,
    to: &dyn Store,
    request: &CopyRequest,
    reporter: &dyn Reporter,
) -> Result<Vec<CopiedRelease>, PackError> {
    let releases = find(from, &request.versions).await?;
    let mut existing = Vec::with_capacity(releases.len());
    for (tag, root) in &releases {
        existing.push(look(from, to, tag, root, request.replace).await?);
    }
    let mut copied = Vec::with_capacity(releases.len());
    for ((tag, root), existing) in releases.into_iter().zip(existing) {
        let options = CopyOptions {
            jobs: request.jobs.max(1),
            reporter,
            tag: (existing != Existing::Equal).then(|| tag.clone()),
            referrers: Referrers::Copy,
        };
        let report = tofu_oci_store::copy(from, to, &root, options).await?;
        let count = |number: usize| u64::try_from(number).unwrap_or(u64::MAX);
        let transfers = Transfers {
            uploaded: count(report.pushed),
            present: count(report.present),
            mounted: count(report.mounted),
            bytes: report.bytes,
        };
        let unchanged = existing == Existing::Equal && report.pushed + report.mounted == 0;
        copied.push(CopiedRelease { tag, index: root.digest, transfers, unchanged });
    }
    Ok(copied)
}

/// The tags to copy and what they point at, in the order of versions.
async fn find(from: &dyn ReadStore, versions: &Versions) -> Result<Vec<(Tag, Descriptor)>, PackError> {
    let tags = match versions {
        Versions::One(version) => vec![for_version(version)?],
        Versions::All => canonical(from.tags().await?).into_iter().map(|(_, tag)| tag).collect(),
    };
    let mut found = Vec::with_capacity(tags.len());
    for tag in tags {
        let Some(root) = resolve(from, &Reference::Tag(tag.clone())).await? else {
            let offered = match from.tags().await {
                Ok(tags) => canonical(tags).into_iter().map(|(version, _)| version).collect(),
                Err(error) if error.is_not_found() => Vec::new(),
                Err(error) => return Err(error.into()),
            };
            return Err(PackError::NoRelease { place: from.place(), tag, offered });
        };
        found.push((tag, root));
    }
    if found.is_empty() {
        return Err(PackError::NothingToCopy { place: from.place() });
    }
    Ok(found)
}

/// The tags that are some version's own, in the order of versions.
fn canonical(tags: Vec<Tag>) -> Vec<(Version, Tag)> {
    let own =
        |tag: Tag| tag.version().filter(|version| Tag::for_version(version).as_ref() == Ok(&tag)).map(|v| (v, tag));
    let mut found: Vec<(Version, Tag)> = tags.into_iter().filter_map(own).collect();
    found.sort_by(|(a, tag_a), (b, tag_b)| a.precedence(b).then_with(|| tag_a.cmp(tag_b)));
    found
}

/// What the destination has under a tag.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Existing {
    Nothing,
    Equal,
    Other,
}

async fn look(
    from: &dyn ReadStore,
    to: &dyn Store,
    tag: &Tag,
    root: &Descriptor,
    replace: ReplaceTag,
) -> Result<Existing, PackError> {
    let Some(there) = resolve(to, &Reference::Tag(tag.clone())).await? else { return Ok(Existing::Nothing) };
    if there.digest == root.digest {
        return Ok(Existing::Equal);
    }
    if replace == ReplaceTag::Replace {
        return Ok(Existing::Other);
    }
    let difference = match (leaves_of(to, &there).await, leaves_of(from, root).await) {
        (None, _) => Difference::NotARelease,
        (Some(there), Some(new)) if there == new => Difference::Annotations,
        _ => Difference::Packages,
    };
    Err(PackError::TagTaken(Box::new(TagTaken {
        place: to.place(),
        tag: tag.clone(),
        existing: there.digest,
        new: root.digest.clone(),
        difference,
    })))
}
