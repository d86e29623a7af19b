//! A release from one repository to another.

use std::collections::BTreeSet;

use tofu_oci_layout::ReleaseIndex;
use tofu_oci_packer::{CopyChoice, CopyRequest, CopySigning, PackError, ReplaceTag, WithdrawnVersion, copy_release};
use tofu_oci_source::{Release, ReleaseId, read_release, withdrawal};
use tofu_oci_store::{ComparedBy, CopyBudget, ReadStore, Store, is_whole, size_of_copy};
use tofu_oci_trust::VersionOf;
use tofu_oci_types::{Descriptor, Digest, Event, PackageHash, Platform, Reporter, Tag};

use super::request::{TransferRequest, Transferred};
use super::tag::{resolve, tag_of, unchanged};
use crate::MirrorError;

/// How many manifests are read at a time to count their bytes.
const JOBS: usize = 4;

/// Copies the release with everything that refers to it, byte for byte.
pub(super) async fn copied(
    request: &TransferRequest<'_>,
    release: &dyn Release,
    from: &dyn ReadStore,
    to: &dyn Store,
    reporter: &dyn Reporter,
) -> Result<Transferred, MirrorError> {
    let id = release.id();
    let tag = tag_of(id)?;
    match resolve(to, &tag).await? {
        Some(there) if id.identity.is(&there.digest) && is_whole(to, &there, ComparedBy::Sizes).await? => {
            return unchanged(request, id, there.digest, release.platforms().await?, to, reporter).await;
        }
        Some(there) if id.identity.is(&there.digest) => {}
        Some(there) => demand_same(request, id, &tag, from, (to, &there)).await?,
        None => demand_not_withdrawn(id, to).await?,
    }
    let platforms = release.platforms().await?;
    note_whole(id, &platforms, &request.platforms, reporter);
    let of = VersionOf::from(&id.address);
    let copy = CopyRequest {
        versions: vec![(id.version.clone(), None)],
        withdrawn: Vec::new(),
        choice: CopyChoice::Listed,
        replace: request.replace,
        rename: request.rename,
        predecessors: request.predecessors,
        asked_as: Some(&id.address),
        jobs: request.jobs,
        files: request.files,
        signing: request.signing.map(|signing| CopySigning { of: &of, signing }),
    };
    let copied = copy_release(from, to, &copy, reporter).await?;
    let copied = copied.into_iter().next().expect("one version was asked for");
    let (index, transfers, unchanged) = (Some(copied.index), copied.transfers, copied.unchanged);
    Ok(Transferred { index, platforms, transfers, unchanged })
}

/// Says that a release is copied with platforms that are not wanted.
fn note_whole(id: &ReleaseId, platforms: &[Platform], wanted: &[Platform], reporter: &dyn Reporter) {
    let more: Vec<String> = platforms.iter().filter(|found| !wanted.contains(found)).map(Platform::to_string).collect();
    if !more.is_empty() {
        let (address, version) = (&id.address, &id.version);
        let text =
            format!("{address} {version} is copied whole, with {}, which the rules do not name", more.join(", "));
        reporter.event(&Event::note("copied-whole", text).with_hint("its signatures are about the whole release"));
    }
}

/// How many bytes a copy of the release moves, with the note that the copy prints. What the destination has of it is not
/// looked at.
pub(crate) async fn size(
    release: &dyn Release,
    from: &dyn ReadStore,
    wanted: &[Platform],
    reporter: &dyn Reporter,
) -> Result<Option<u64>, MirrorError> {
    let id = release.id();
    let Some(root) = resolve(from, &tag_of(id)?).await? else { return Ok(None) };
    note_whole(id, &release.platforms().await?, wanted, reporter);
    let bytes = size_of_copy(from, &root, (&CopyBudget::default(), JOBS)).await;
    Ok(Some(bytes.map_err(PackError::from)?))
}

/// Refuses a version that the destination has withdrawn.
async fn demand_not_withdrawn(id: &ReleaseId, to: &dyn Store) -> Result<(), MirrorError> {
    let Ok(tag) = Tag::withdrawn(&id.version) else { return Ok(()) };
    if resolve(to, &tag).await?.is_none() {
        return Ok(());
    }
    let reason = withdrawal(to, &(&id.address).into(), &id.version).await.map(|notice| notice.reason);
    let (place, version) = (to.place(), id.version.clone());
    Err(PackError::Withdrawn(Box::new(WithdrawnVersion { place, version, tag, reason })).into())
}

/// Refuses a release that has another package for a platform than the destination, and one that has more platforms unless
/// the tag may move. The copy itself refuses whatever else is under the tag.
async fn demand_same(
    request: &TransferRequest<'_>,
    id: &ReleaseId,
    tag: &Tag,
    from: &dyn ReadStore,
    (to, there): (&dyn Store, &Descriptor),
) -> Result<(), MirrorError> {
    let Some(root) = resolve(from, tag).await? else { return Ok(()) };
    let (Some(there), Some(offered)) = (read_release(to, there).await?, read_release(from, &root).await?) else {
        return Ok(());
    };
    request.demand_own(id, there.claims().address.as_ref(), to.place())?;
    let had = there.platforms();
    for platform in &had {
        let (there, offered) = (leaves(&there, platform), leaves(&offered, platform));
        if there.is_subset(&offered) || offered.is_subset(&there) {
            continue;
        }
        if let (Some(there), Some(offered)) = (there.first(), offered.first()) {
            return Err(MirrorError::UpstreamChanged {
                address: id.address.clone(),
                version: id.version.clone(),
                platform: platform.clone(),
                from: from.place(),
                to: to.place(),
                offered: PackageHash::ch(offered),
                there: PackageHash::ch(there),
            });
        }
    }
    let mut missing = offered.platforms();
    missing.retain(|platform| !had.contains(platform));
    if missing.is_empty() || request.replace == ReplaceTag::Replace {
        return Ok(());
    }
    let (address, version) = (id.address.clone(), id.version.clone());
    Err(MirrorError::FewerPlatforms { address, version, to: to.place(), missing })
}

fn leaves(index: &ReleaseIndex, platform: &Platform) -> BTreeSet<Digest> {
    index.candidates(platform).into_iter().map(|leaf| leaf.digest).collect()
}
