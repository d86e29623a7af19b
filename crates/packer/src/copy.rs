//! A release or a module from one store to another, byte for byte.

mod look;
mod model;

use std::sync::Arc;

use serde::Serialize;
use tofu_oci_source::version_of;
use tofu_oci_store::{CopyBudget, CopyOptions, CopyReferrers, ReadStore, Store, demand_readable};
use tofu_oci_trust::SignedContent;
use tofu_oci_types::{Descriptor, Digest, Place, Reference, Reporter, Tag};

pub(crate) use self::look::no_release;
use self::look::{FoundRelease, admitted, look, of_destination};
pub use self::model::{CopyChoice, CopyRequest, CopySigning};
use crate::found::resolve;
use crate::module::{taken as module_taken, zip_of};
use crate::signing::{AttachPlan, AttachRequest, SignatureCopier, SourceTags, at_destination};
use crate::tags::{contents_of, leaves_of, point};
use crate::{PackError, ReleaseDifference, ReplaceTag, TagState, TagTaken, Transfers};

/// One release that was copied.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct CopiedRelease {
    /// The tag, the same at both ends.
    pub tag: Tag,
    /// The digest of the manifest that it points at.
    pub index: Digest,
    /// The media type of that manifest: an index, or the manifest of a module.
    pub media_type: String,
    /// The tags beside it, the same at both ends: those that cosign keeps signatures, attestations and bills of materials
    /// under, and `deprecated-VERSION`.
    pub tags: Vec<Tag>,
    /// What was sent and what was there.
    pub transfers: Transfers,
    /// Whether the destination had this very release under this tag, and everything that belongs to it, before.
    pub unchanged: bool,
}

/// What a copy of one release would do.
#[derive(Debug, Serialize)]
#[serde(tag = "event", rename = "copy-plan")]
pub struct CopyPlan {
    /// The tag, the same at both ends.
    pub tag: Tag,
    /// The digest of the manifest that it would point at.
    pub index: Digest,
    /// The media type of that manifest.
    #[serde(skip)]
    pub media_type: String,
    pub to: Place,
    /// Where the tag points now.
    pub tag_state: TagState,
}

/// What [`copy_release`] would write. The destination is only read.
///
/// # Errors
/// As [`copy_release`], except that a tag that points at something else is a state of the plan.
pub async fn plan_copy(
    from: &dyn ReadStore,
    to: &dyn ReadStore,
    request: &CopyRequest<'_>,
    reporter: &dyn Reporter,
) -> Result<Vec<CopyPlan>, PackError> {
    let releases = look(from, to, request).await?;
    let releases = admitted(from, to, releases, request, reporter).await?;
    let budget = CopyBudget::default();
    let mut plans = Vec::with_capacity(releases.len());
    for FoundRelease { tag, root, there: existing } in releases {
        demand_readable(from, &root, (&budget, request.jobs)).await?;
        let Descriptor { digest: index, media_type, .. } = root;
        let of = match existing.as_ref().filter(|there| there.digest != index) {
            Some(there) => version_of(to, there).await?.and_then(|of| of.address().cloned()),
            None => None,
        };
        let tag_state = TagState::of(existing.map(|there| there.digest), &index, of);
        plans.push(CopyPlan { tag, index, media_type, to: to.place(), tag_state });
    }
    Ok(plans)
}

/// Copies releases or modules with everything that refers to them (signatures, attestations), be it as a referrer or under a tag
/// of cosign's, each version's tag last of all.
///
/// Notices are referrers, so they go along; the tag of the notice of a deprecated version does, too. If the destination
/// still offers a version that the source has withdrawn, that is a warning.
///
/// A release that the destination has is compared as well, since it may have been signed since then.
///
/// # Errors
/// [`PackError::TagTaken`] before anything is sent if one of the tags points at something else there;
/// [`PackError::NoRelease`] if the source lacks a version; [`PackError::NothingToCopy`] if no version is asked for;
/// [`PackError::State`] if the destination has withdrawn a version that may not be omitted;
/// [`PackError::KeptForOther`], [`PackError::OtherAddress`] and [`PackError::Module`] if the destination does not take such versions;
/// [`PackError::Copy`] if all releases together lead to more manifests than a [`CopyBudget`] has.
pub async fn copy_release(
    from: &dyn ReadStore,
    to: &dyn Store,
    request: &CopyRequest<'_>,
    reporter: &dyn Reporter,
) -> Result<Vec<CopiedRelease>, PackError> {
    let releases = look(from, to, request).await?;
    if request.replace == ReplaceTag::Refuse
        && let Some((release, there)) = releases.iter().find_map(|release| Some((release, release.taken()?)))
    {
        return Err(taken(from, to, &release.tag, &release.root, there).await?);
    }
    let releases = admitted(from, to, releases, request, reporter).await?;
    let known = SourceTags::of(from).await?;
    let budget: Arc<CopyBudget> = Arc::default();
    let mut copied = Vec::with_capacity(releases.len());
    for release in releases {
        let is_there = release.is_there();
        let FoundRelease { tag, root, .. } = release;
        let jobs = request.jobs.max(1);
        let options =
            CopyOptions { jobs, reporter, tag: None, referrers: CopyReferrers::Copy, budget: Arc::clone(&budget) };
        let report = tofu_oci_store::copy(from, to, &root, options).await?;
        let mut signatures = SignatureCopier {
            from,
            to,
            budget: Arc::clone(&budget),
            jobs,
            reporter,
            transfers: Transfers::of_copy(&report),
        };
        let leaves = leaves_of(from, &root).await?.unwrap_or_default().digests;
        let mut tags = signatures.copy(&known, &root.digest, &leaves).await?;
        let mut transfers = signatures.transfers;
        if !request.files.is_empty() {
            // Files say themselves what they are about.
            let subject = SignedContent::Manifest(&root.digest);
            let attach =
                AttachRequest { index: &root, subject, sums: None, files: request.files, signing: None, note: None };
            transfers.add(AttachPlan::look(to, attach).await?.attach(to).await?.1);
        }
        if let (Some(CopySigning { of, signing }), Some(version)) = (request.signing, tag.version()) {
            let subject = of.content(&root.digest, &version);
            let attach =
                AttachRequest { index: &root, subject, sums: None, files: &[], signing: Some(signing), note: None };
            transfers.add(AttachPlan::look(to, attach).await?.attach(to).await?.1);
        }
        if let Some(notice) = known.deprecated(&tag) {
            // The notice itself is a referrer, so it is there already.
            if let Some(manifest) = resolve(from, &Reference::Tag(notice.clone())).await?
                && to.exists(&manifest).await.map_err(at_destination)?
            {
                point(to, &manifest, &notice, ReplaceTag::Replace).await.map_err(of_destination)?;
                tags.push(notice);
            }
        }
        if !is_there {
            let moved = point(to, &root, &tag, request.replace).await.map_err(of_destination)?;
            if let Some(there) = moved {
                return Err(taken(from, to, &tag, &root, &there).await?);
            }
        }
        let unchanged = is_there && transfers.uploaded + transfers.mounted == 0;
        copied.push(CopiedRelease { tag, index: root.digest, media_type: root.media_type, tags, transfers, unchanged });
    }
    Ok(copied)
}

/// The refusal of a tag that points at something else.
async fn taken(
    from: &dyn ReadStore,
    to: &dyn Store,
    tag: &Tag,
    root: &Descriptor,
    there: &Descriptor,
) -> Result<PackError, PackError> {
    if let Some(zip) = zip_of(from, root).await? {
        return Ok(module_taken(to, there, (&root.digest, &zip), tag).await);
    }
    let ((existing, of), new) = (contents_of(to, there).await?, leaves_of(from, root).await?);
    let difference = ReleaseDifference::between(existing.as_ref(), new.as_ref());
    Ok(PackError::TagTaken(Box::new(TagTaken {
        place: to.place(),
        tag: tag.clone(),
        existing: there.digest.clone(),
        new: root.digest.clone(),
        difference,
        of,
    })))
}

#[cfg(test)]
mod tests;
