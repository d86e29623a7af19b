//! What `mirror` says later of a release that it carried: withdrawn, available again, deprecated.

use bytes::Bytes;
use tofu_oci_packer::{PackError, SignAddress, StateChange, StatePlan, StateRequest};
use tofu_oci_store::{Store, StoreError, StoreItem};
use tofu_oci_trust::{NoticeReason, NoticeWriter, PrivateKey};
use tofu_oci_types::{Digest, Reference, Reporter, Tag, Version};

use crate::MirrorError;
use crate::destination::sightings::{Sighted, Sightings, VersionMark};
use crate::plan::MirrorAction;

/// What a release at the destination becomes.
pub(crate) enum Later<'a> {
    Withdraw(&'a NoticeReason),
    Reinstate,
    Deprecate(&'a NoticeReason),
}

/// Who says it.
pub(crate) enum NoticeBy<'a> {
    /// This program, with its key if it has one.
    Mirror(Option<&'a PrivateKey>),
    /// The publisher, in this bundle, or in one that the destination has.
    Publisher(Option<&'a Bytes>),
}

/// Leaves versions alone that would be withdrawn and whose tags people have moved to other releases.
pub(crate) async fn leave_replaced(
    store: &dyn Store,
    sightings: &Sightings,
    actions: &mut [(Version, MirrorAction)],
) -> Result<(), MirrorError> {
    for (version, action) in actions {
        let (MirrorAction::Withdraw { .. }, Some(mark)) = (&*action, sightings.mark(version)) else { continue };
        let Ok(tag) = Tag::for_version(version) else { continue };
        match store.manifest(&Reference::Tag(tag)).await {
            Ok((_, bytes)) if Digest::sha256(&bytes) != *mark.index() => *action = MirrorAction::ReplacedThere,
            Err(error) if !(error.is_not_found() || error.is_of_content()) => return Err(error.into()),
            // What is broken goes as well.
            _ => {}
        }
    }
    Ok(())
}

/// Changes the state of a release, and returns the mark that it has then; `None` if that stays, and if people have withdrawn what
/// would be reinstated.
///
/// # Errors
/// [`MirrorError::NotMirrored`] if the version's release is not the one that `mark` names.
pub(crate) async fn change<A: Sighted>(
    store: &dyn Store,
    (address, version): (&A, &Version),
    later: &Later<'_>,
    mark: Option<&VersionMark>,
    by: NoticeBy<'_>,
    reporter: &dyn Reporter,
) -> Result<Option<VersionMark>, MirrorError> {
    let (change, reason) = match later {
        Later::Withdraw(reason) => (StateChange::Withdraw, (*reason).clone()),
        Later::Deprecate(reason) => (StateChange::Deprecate, (*reason).clone()),
        Later::Reinstate => {
            let reason = "the rules of the mirror name this version again";
            (StateChange::Reinstate, reason.parse().expect("the text is one short line"))
        }
    };
    let (key, signed, writer) = match (by, later) {
        // A warning is what the place has about the release.
        (NoticeBy::Mirror(key), Later::Deprecate(_)) => (key, None, NoticeWriter::Publisher),
        (NoticeBy::Mirror(key), _) => (key, None, NoticeWriter::Mirror),
        (NoticeBy::Publisher(bundle), _) => (None, bundle, NoticeWriter::Publisher),
    };
    // A module's notices name nothing.
    let address = address.provider().cloned().map_or(SignAddress::Annotated { otherwise: None }, SignAddress::Given);
    let request = StateRequest { change, version, address, reason, writer, key, signed };
    let plan = match (StatePlan::look(store, request, reporter).await, later, mark) {
        // Nothing is left of the release: its tag goes.
        (
            Err(PackError::Store(StoreError::NotFound { what: StoreItem::ManifestOfTag(tag), .. })),
            Later::Withdraw(_),
            Some(mark),
        ) => {
            store.untag(&tag, mark.index()).await?;
            return Ok(Some(VersionMark::Withdrawn(mark.index().clone())));
        }
        (plan, ..) => plan?,
    };
    let index = plan.report().index.clone();
    if let (Later::Withdraw(_) | Later::Reinstate, Some(mark)) = (later, mark)
        && *mark.index() != index
    {
        return Err(MirrorError::NotMirrored { place: store.place(), version: version.clone() });
    }
    if matches!(later, Later::Reinstate) && plan.withdrawn_by() == Some(NoticeWriter::Publisher) {
        return Ok(None);
    }
    plan.carry_out(store).await?;
    Ok(match later {
        Later::Withdraw(_) => Some(VersionMark::Withdrawn(index)),
        Later::Reinstate => Some(VersionMark::Mirrored(index)),
        Later::Deprecate(_) => None,
    })
}
