//! What is there before a release changes its state.

use std::collections::BTreeSet;

use bytes::Bytes;
use futures_util::StreamExt as _;
use tofu_oci_source::{Search, evidence, notices};
use tofu_oci_store::{ReadStore, StoreError};
use tofu_oci_trust::{Evidence, NoticeWriter, ReleaseState, StatedNotice, VersionOf, in_force};
use tofu_oci_types::{Descriptor, Digest, Event, Place, Reference, Reporter, Tag, printable};

use super::model::{StateChange, StateReport, StateRequest};
use crate::StateError;
use crate::copy::no_release;
use crate::found::{is_version, read_version};
use crate::kept_for::tags_unknown;
use crate::tags::tag_of;
use crate::{PackError, can_be_ended};

/// The most tags that are compared with the release.
const MOST_TAGS: usize = 200;
/// How many of them are asked for at a time.
const AT_ONCE: usize = 8;

/// What is there, and what is to be done.
#[derive(Clone, Debug)]
pub struct StatePlan<'a> {
    pub(super) request: StateRequest<'a>,
    /// What would be reported if everything went well.
    pub(super) report: StateReport,
    /// The index as the store names it.
    pub(super) at: Descriptor,
    /// The index by its SHA-256: what a notice is about.
    pub(super) index: Descriptor,
    /// What the version's own tag points at.
    pub(super) own: Option<Digest>,
    /// Whether that tag is there, if only in the list of tags.
    pub(super) has_own: bool,
    /// What the tag of the state points at.
    pub(super) marked: Option<Digest>,
    /// As `has_own`, for the tag of the state.
    pub(super) has_mark: bool,
    /// What the publisher said of the release before.
    pub(super) said: Option<StatedNotice>,
    /// Whether notices of the requested kind are still to be taken back.
    pub(super) can_be_ended: bool,
}

/// A manifest and its bytes.
type Manifest = (Descriptor, Bytes);

impl<'a> StatePlan<'a> {
    /// Finds the release, and what was said of it. Nothing is written.
    ///
    /// # Errors
    /// [`PackError::NoRelease`] if there is no such version; [`PackError::Sign`] if its tag does not point at a release or a module, or if
    /// nothing names the provider; [`PackError::State`] if the release cannot change its state in this way.
    pub async fn look(
        store: &dyn ReadStore,
        request: StateRequest<'a>,
        reporter: &dyn Reporter,
    ) -> Result<Self, PackError> {
        let tag = tag_of(request.version)?;
        let state_tag = request.change.state_tag(request.version)?;
        let kept_tag = StateChange::Withdraw.state_tag(request.version)?;
        let (own, kept) = (manifest(store, &tag).await?, manifest(store, &kept_tag).await?);
        let marked = match request.change {
            StateChange::Withdraw | StateChange::Reinstate => kept.as_ref().map(|(kept, _)| kept.digest.clone()),
            StateChange::Deprecate | StateChange::Undeprecate => {
                manifest(store, &state_tag).await?.map(|(marked, _)| marked.digest)
            }
        };
        let own_digest = own.as_ref().map(|(own, _)| own.digest.clone());
        let Some((at, bytes)) = release(request.change, own, kept, (&tag, &kept_tag), &store.place())? else {
            return Err(no_release(store, tag).await);
        };
        // The list alone names a tag that an interrupted change has left without a manifest.
        let tags = match request.change {
            StateChange::Withdraw | StateChange::Reinstate => store.tags().await,
            StateChange::Deprecate | StateChange::Undeprecate => Ok(Vec::new()),
        };
        let tags = match tags {
            Err(error) if error.is_transient() || error.is_of_content() => return Err(error.into()),
            tags => tags,
        };
        let is_listed = |tag| tags.as_ref().is_ok_and(|tags| tags.contains(tag));
        let (has_own, has_mark) = (own_digest.is_some() || is_listed(&tag), marked.is_some() || is_listed(&state_tag));
        let of = read_version(&at, &bytes, &tag, store)?.of(&request.address, store.place(), &tag)?;
        let index = Descriptor { digest: Digest::sha256(&bytes), ..at.clone() };
        let found = notices(store, &index).await?;
        let content = of.content(&index.digest, request.version);
        let about: Vec<_> = found.iter().filter(|found| found.is_about(content)).collect();
        let said = in_force(about.iter().copied()).cloned();
        let signed = in_force(about.iter().copied().filter(|one| one.is_signed));
        if request.key.is_none()
            && request.signed.is_none()
            && signed.is_some_and(|now| now.notice.state == request.change.kind() && !request.says(&now.notice))
        {
            let state = request.change.kind();
            return Err(StateError::SignedNotice { place: store.place(), tag, state }.into());
        }
        let can_be_ended = can_be_ended(request.change.kind(), &about, request.key);
        if let Some(event) = of_other_keys(&request, &about) {
            reporter.event(&event);
        }
        let mut plan = Self {
            report: StateReport {
                place: store.place(),
                of,
                version: request.version.clone(),
                state: request.change.state(),
                reason: request.reason.clone(),
                tag,
                state_tag,
                index: index.digest.clone(),
                notice: None,
                key: request.key.map(|key| key.public().id()),
                other_tags: Vec::new(),
                kept: match request.change {
                    StateChange::Withdraw | StateChange::Deprecate => true,
                    StateChange::Reinstate => false,
                    StateChange::Undeprecate => marked.is_some(),
                },
                unchanged: false,
            },
            request,
            at,
            index,
            own: own_digest,
            has_own,
            marked,
            has_mark,
            said,
            can_be_ended,
        };
        plan.report.unchanged = plan.is_done();
        if plan.request.change == StateChange::Withdraw {
            plan.look_at_tags(tags, store, reporter).await;
        }
        if plan.request.key.is_none() && plan.request.signed.is_none() && !plan.is_signed() && !plan.report.unchanged {
            plan.warn_of_signatures(store, reporter).await?;
        }
        Ok(plan)
    }

    /// What would be done.
    pub fn report(&self) -> &StateReport {
        &self.report
    }

    /// Who withdrew the release before the change; `None` if no notice says that it is withdrawn.
    pub fn withdrawn_by(&self) -> Option<NoticeWriter> {
        let said = self.said.as_ref().filter(|said| said.notice.state == ReleaseState::Withdrawn);
        said.map(|said| said.notice.writer)
    }

    /// Whether nothing is to be done, except perhaps to sign what is said already.
    fn is_done(&self) -> bool {
        let says_so = match self.report.state {
            ReleaseState::Available => !self.can_be_ended,
            ReleaseState::Deprecated | ReleaseState::Withdrawn => {
                self.said.as_ref().is_some_and(|said| self.request.says(&said.notice))
            }
        };
        let is_over = || self.said.as_ref().is_some_and(|said| said.notice.state == ReleaseState::Available);
        let (at, own, marked) = (Some(&self.at.digest), self.own.as_ref(), self.marked.as_ref());
        says_so
            && match self.request.change {
                StateChange::Withdraw => !self.has_own && marked == at,
                StateChange::Reinstate => own == at && (marked == at || !self.has_mark),
                StateChange::Deprecate => marked.is_some(),
                StateChange::Undeprecate => marked.is_none() || is_over(),
            }
    }

    /// Whether there is nothing to write: what a signed notice says already is not said again without a key.
    pub(super) fn is_said(&self) -> bool {
        let of_signed = self.said.as_ref().is_some_and(|said| said.is_signed) && self.request.key.is_none();
        self.report.unchanged && (of_signed || self.request.change == StateChange::Undeprecate)
    }

    /// Whether a signed notice says it, and no key is here to say it, too.
    pub(super) fn is_signed(&self) -> bool {
        let says = |said: &StatedNotice| said.is_signed && self.request.says(&said.notice);
        self.request.key.is_none() && self.said.as_ref().is_some_and(says)
    }

    /// Finds the other tags of the release, and reports those that lead a client to the version that goes.
    async fn look_at_tags(
        &mut self,
        tags: Result<Vec<Tag>, StoreError>,
        store: &dyn ReadStore,
        reporter: &dyn Reporter,
    ) {
        let tags = match tags {
            Ok(tags) => tags,
            Err(error) => return reporter.event(&tags_unknown(&error)),
        };
        let (tag, version) = (&self.report.tag, &self.report.version);
        let is_module = self.report.of == VersionOf::Module;
        // A module's tags are names: nothing reads a version out of them.
        let strays =
            tags.iter().filter(|stray| *stray != tag && stray.version().as_ref() == Some(version) && !is_module);
        for stray in strays {
            let text = format!(
                "the tag {stray} reads as version {version}, whose own tag {tag} goes: `tofu init` fails where it chooses this version"
            );
            reporter.event(&Event::warning("floating-tag", text).with_hint(format!("delete the tag {stray}")));
        }
        let is_ours = |other: &Tag| other == tag || *other == self.report.state_tag || other.lists_referrers();
        let others = tags.into_iter().filter(|other| !is_ours(other)).take(MOST_TAGS).map(|other| async {
            let found = store.resolve(&Reference::Tag(other.clone())).await;
            found.is_ok_and(|found| found.digest == self.at.digest).then_some(other)
        });
        let found: BTreeSet<Tag> =
            futures_util::stream::iter(others).buffer_unordered(AT_ONCE).filter_map(async |one| one).collect().await;
        if !found.is_empty() {
            let names = found.iter().map(Tag::as_str).collect::<Vec<_>>().join(", ");
            let kind = kind(&self.report.of);
            let text = format!("the {kind} keeps its other tags: {names}");
            let hint = if is_module {
                "a source can still name them; delete or move them"
            } else {
                "they do not make the version available; delete or move them if people pull by them"
            };
            reporter.event(&Event::note("other-tags", text).with_hint(hint));
        }
        self.report.other_tags = found.into_iter().collect();
    }

    /// Reports that the notice will have no signature although the release has one.
    async fn warn_of_signatures(&self, store: &dyn ReadStore, reporter: &dyn Reporter) -> Result<(), PackError> {
        let found = evidence(store, &self.index, Search::Likely).await?;
        if found.iter().any(|piece| matches!(piece, Evidence::Bundle { .. } | Evidence::CosignTag { .. })) {
            let kind = kind(&self.report.of);
            let text = format!(
                "the {kind} is signed, and this notice will not be: whoever demands signatures takes it for a warning only"
            );
            reporter.event(
                &Event::warning("unsigned-notice", text)
                    .with_hint(format!("sign it with the key of the {kind}: --sign-key KEY")),
            );
        }
        Ok(())
    }
}

/// The warning that notices by other keys than the one that takes them back go on counting for those who trust these keys.
fn of_other_keys(request: &StateRequest<'_>, about: &[&StatedNotice]) -> Option<Event> {
    let own = request.key.filter(|_| request.change.state() == ReleaseState::Available)?.public().id().to_string();
    let is_ended = |one: &StatedNotice| {
        let same = about.iter().filter(|other| other.is_signed && other.claimed_key == one.claimed_key);
        same.into_iter().any(|other| other.notice.supersedes.contains(&one.digest))
    };
    let counts = |one: &&&StatedNotice| one.notice.state == request.change.kind() && one.is_signed && !is_ended(one);
    let keys = about.iter().filter(counts).filter_map(|one| one.claimed_key.as_deref());
    let others: BTreeSet<&str> = keys.filter(|key| *key != own).collect();
    if others.is_empty() {
        return None;
    }
    let (kind, others) = (request.change.kind(), others.into_iter().collect::<Vec<_>>().join(", "));
    let text = format!(
        "its notice ({kind}) is signed by {}, and what takes it back by {own}: whoever trusts the first key alone goes on heeding it",
        printable(&others)
    );
    Some(Event::warning("other-notice-key", text).with_hint("sign with that key: --sign-key KEY"))
}

/// What a version is called in messages: the version of a provider is a release.
fn kind(of: &VersionOf) -> &'static str {
    match of {
        VersionOf::Provider { .. } => "release",
        VersionOf::Module => "module",
    }
}

/// The manifest of a tag; `None` if the tag does not exist.
async fn manifest(store: &dyn ReadStore, tag: &Tag) -> Result<Option<Manifest>, PackError> {
    match store.manifest(&Reference::Tag(tag.clone())).await {
        Ok(found) => Ok(Some(found)),
        Err(error) if error.is_not_found() => Ok(None),
        Err(error) => Err(error.into()),
    }
}

/// Which of the manifests is the release that changes its state; `None` if there is none.
fn release(
    change: StateChange,
    own: Option<Manifest>,
    kept: Option<Manifest>,
    (tag, kept_tag): (&Tag, &Tag),
    place: &Place,
) -> Result<Option<Manifest>, StateError> {
    let is_release = |(descriptor, bytes): &Manifest| is_version(descriptor, bytes);
    match (change, own, kept) {
        // What is under the version's tag may be what an interrupted withdrawal left there.
        (StateChange::Withdraw, Some(own), Some(kept)) => Ok(Some(if is_release(&own) { own } else { kept })),
        (StateChange::Reinstate, Some(own), Some(kept)) if is_release(&own) && own.0.digest != kept.0.digest => {
            Err(StateError::Replaced { place: place.clone(), tag: tag.clone(), kept: kept_tag.clone() })
        }
        (StateChange::Reinstate, _, Some(kept)) | (StateChange::Withdraw, None, Some(kept)) => Ok(Some(kept)),
        (_, own, _) => Ok(own),
    }
}
