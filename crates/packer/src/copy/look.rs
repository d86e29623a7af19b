//! What a copy finds at both ends before it writes anything.

use tofu_oci_source::{is_withdrawn, notices, version_of, withdrawal};
use tofu_oci_store::{ReadStore, StoreError, StoreItem};
use tofu_oci_trust::{Notice, ReleaseState, StatedNotice, VersionOf, in_force};
use tofu_oci_types::{Descriptor, Event, Place, Reference, Reporter, Tag, Version};

use super::model::{CopyChoice, CopyRequest};
use crate::found::resolve;
use crate::kept_for::{demand_takes, or_note, tags_before};
use crate::other::because;
use crate::signing::at_destination;
use crate::tags::{for_version, tag_of};
use crate::{PackError, StateError};

/// A release to copy.
pub(super) struct FoundRelease {
    pub(super) tag: Tag,
    pub(super) root: Descriptor,
    /// What the tag names at the destination.
    pub(super) there: Option<Descriptor>,
}

impl FoundRelease {
    /// Whether the destination has this very release under the tag.
    pub(super) fn is_there(&self) -> bool {
        self.there.as_ref().is_some_and(|there| there.digest == self.root.digest)
    }

    /// What else the tag names at the destination.
    pub(super) fn taken(&self) -> Option<&Descriptor> {
        self.there.as_ref().filter(|_| !self.is_there())
    }
}

/// What is to be copied, and what there is at the destination.
pub(super) async fn look(
    from: &dyn ReadStore,
    to: &dyn ReadStore,
    request: &CopyRequest<'_>,
) -> Result<Vec<FoundRelease>, PackError> {
    let releases = find(from, request).await?;
    let mut found = Vec::with_capacity(releases.len());
    for (tag, root) in releases {
        let there = resolve(to, &Reference::Tag(tag.clone())).await?;
        found.push(FoundRelease { tag, root, there });
    }
    Ok(found)
}

/// The releases without those that the destination has withdrawn, if it takes the others. Warns if it still has a version that the
/// source has withdrawn.
pub(super) async fn admitted(
    from: &dyn ReadStore,
    to: &dyn ReadStore,
    releases: Vec<FoundRelease>,
    request: &CopyRequest<'_>,
    reporter: &dyn Reporter,
) -> Result<Vec<FoundRelease>, PackError> {
    let (mut tags, mut is_listed) = (Vec::new(), true);
    if releases.iter().any(|release| !release.is_there()) {
        let before = tags_before(to).await?;
        is_listed = before.is_ok();
        tags = or_note(before, reporter);
        let named = releases.iter().map(|release| (&release.tag, &release.root));
        demand_takes(from, (to, &tags), named, request.names()).await?;
    }
    let mut admitted = Vec::with_capacity(releases.len());
    for release in releases {
        if let Some(version) = release.tag.withdrawn_version() {
            warn_if_offered(to, from.place(), &version, reporter).await?;
        }
        let Some(notice) = withdrawn_there(from, to, &release, is_listed.then_some(&*tags)).await? else {
            admitted.push(release);
            continue;
        };
        let (place, tag, reason) = (to.place(), release.tag, notice.reason);
        if request.choice != CopyChoice::All {
            return Err(StateError::Withdrawn { place, tag, reason: Some(reason), offered: canonical(&tags) }.into());
        }
        let text = format!("{tag} is not copied, because it was withdrawn from {place}{}", because(Some(&reason)));
        let hint = format!(
            "`tofu-oci withdraw {place}:{tag} --undo` brings it back, with --sign-key KEY if its notice is signed"
        );
        reporter.event(&Event::warning("withdrawn-not-copied", text).with_hint(hint));
    }
    Ok(admitted)
}

/// The notice that withdraws at the destination what the source offers under a version's tag; `None` if the tag is there, if the
/// destination keeps other content as withdrawn, and if a notice at either end takes that back: a signed one, if the destination's is
/// signed.
async fn withdrawn_there(
    from: &dyn ReadStore,
    to: &dyn ReadStore,
    FoundRelease { tag, root, there }: &FoundRelease,
    listed: Option<&[Tag]>,
) -> Result<Option<Notice>, PackError> {
    let Some(version) = tag.version().filter(|_| there.is_none()) else { return Ok(None) };
    // A destination that lists no tags may have it.
    let may_have = |kept: &Tag| listed.is_none_or(|tags| tags.contains(kept));
    let Some(kept) = Tag::withdrawn(&version).ok().filter(may_have) else { return Ok(None) };
    if resolve(to, &Reference::Tag(kept)).await?.is_none_or(|kept| kept.digest != root.digest) {
        return Ok(None);
    }
    let Some(of) = version_of(from, root).await? else { return Ok(None) };
    let (mut found, here) = (notices(to, root).await.map_err(at_destination)?, notices(from, root).await?);
    found.retain(|one| one.is_about(of.content(&root.digest, &version)));
    let is_withdrawal = |one: &&StatedNotice| one.notice.state == ReleaseState::Withdrawn;
    let is_signed = in_force(found.iter().filter(|one| one.is_signed)).is_some_and(|one| is_withdrawal(&one));
    found.extend(here.into_iter().filter(|one| one.is_about(of.content(&root.digest, &version))));
    let now = in_force(found.iter().filter(|one| one.is_signed || !is_signed)).filter(is_withdrawal);
    Ok(now.map(|now| now.notice.clone()))
}

/// Warns if the destination still has a version that the source has withdrawn.
async fn warn_if_offered(
    to: &dyn ReadStore,
    from: Place,
    version: &Version,
    reporter: &dyn Reporter,
) -> Result<(), PackError> {
    let tag = for_version(version)?;
    if resolve(to, &Reference::Tag(tag)).await.map_err(of_destination)?.is_some() {
        let place = to.place();
        let text = format!("{place} still offers {version}, which {from} has withdrawn");
        let withdraw = format!("tofu-oci withdraw {place}:{version} --reason TEXT");
        let hint = format!("withdraw it there as well: {withdraw}, with --sign-key KEY if its notice is signed");
        reporter.event(&Event::warning("withdrawn-still-offered", text).with_hint(hint));
    }
    Ok(())
}

/// The tags to copy and what they point at, in the order of versions. One that is named, and not taken from a list, may be
/// withdrawn although its tag is there.
async fn find(from: &dyn ReadStore, request: &CopyRequest<'_>) -> Result<Vec<(Tag, Descriptor)>, PackError> {
    let named = |(version, manifest): &(_, _)| Ok((tag_of(version)?, *manifest));
    let mut tags = request.versions.iter().map(named).collect::<Result<Vec<_>, PackError>>()?;
    tags.extend(request.withdrawn.iter().filter_map(|version| Some((Tag::withdrawn(version).ok()?, None))));
    let mut found = Vec::with_capacity(tags.len());
    for (tag, manifest) in tags {
        let root = match manifest {
            Some(manifest) => Some(manifest.clone()),
            None => resolve(from, &Reference::Tag(tag.clone())).await?,
        };
        let Some(root) = root else { return Err(no_release(from, tag).await) };
        if let Some(version) = tag.version().filter(|_| request.choice == CopyChoice::Named)
            && is_withdrawn(from, &version, &root.digest).await?
        {
            return Err(withdrawn(from, tag, &version, canonical(&from.tags().await?)).await);
        }
        found.push((tag, root));
    }
    if found.is_empty() {
        return Err(PackError::NothingToCopy { place: from.place() });
    }
    Ok(found)
}

/// The tag does not exist: the error names what there is instead.
pub(crate) async fn no_release(store: &dyn ReadStore, tag: Tag) -> PackError {
    match store.tags().await {
        // A registry's garbage collection took the manifest, or a copy was not whole.
        Ok(tags) if tags.contains(&tag) => {
            StoreError::NotFound { place: store.place(), what: StoreItem::ManifestOfTag(tag) }.into()
        }
        Ok(tags) => {
            let (place, offered) = (store.place(), canonical(&tags));
            let is_kept = |version: &Version| Tag::withdrawn(version).is_ok_and(|kept| tags.contains(&kept));
            let Some(version) = tag.version().filter(is_kept) else {
                return PackError::NoRelease { place, tag, offered };
            };
            withdrawn(store, tag, &version, offered).await
        }
        Err(error) => error.into(),
    }
}

/// The version is withdrawn: the error names why, and what there is instead.
async fn withdrawn(store: &dyn ReadStore, tag: Tag, version: &Version, mut offered: Vec<Version>) -> PackError {
    offered.retain(|other| other != version);
    // The manifest says what it is a version of.
    let notice = withdrawal(store, &VersionOf::Module, version).await;
    let (place, reason) = (store.place(), notice.map(|notice| notice.reason));
    StateError::Withdrawn { place, tag, reason, offered }.into()
}

/// The versions that have their own tag, in their order.
fn canonical(tags: &[Tag]) -> Vec<Version> {
    let own = |tag: &Tag| tag.version().filter(|version| Tag::for_version(version).as_ref() == Ok(tag));
    let mut found: Vec<Version> = tags.iter().filter_map(own).collect();
    found.sort_by(Version::precedence);
    found
}

/// Marks an error as one of the destination.
pub(super) fn of_destination(error: PackError) -> PackError {
    match error {
        PackError::Store(error) => at_destination(error),
        other => other,
    }
}
