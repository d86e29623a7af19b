//! What the destination has of a module, and what is remembered of it there: when versions were first seen, and which of them
//! `mirror` has put there itself, so that it may take them away.

use std::collections::{BTreeMap, BTreeSet, HashSet};
use std::sync::Arc;

use tofu_oci_source::Listing;
use tofu_oci_types::{Digest, ModuleAddr, Moment, Place, Tag, Version};
use tokio::sync::OnceCell;

use super::error::ModuleMirrorError;
use super::job::{MirrorMode, ModuleMirrorJob};
use super::report::{ModuleAction, ModuleOutcome};
use crate::MirrorError;
use crate::destination::first_seen::{FirstSeen, RecordWrite, SeenNow};
use crate::destination::sightings::{Sightings, VersionMark};
use crate::plan::{MirrorAction, OtherVersions, Prune};
use crate::rules::{DelistedPolicy, MinAge};
use crate::select::{MirrorChoice, SelectedVersion};

/// A module at the destination.
pub(super) struct ModuleState {
    first_seen: Arc<FirstSeen<ModuleAddr>>,
    /// What earlier runs know; `None` in the first one.
    known: Option<Sightings>,
    /// The same with what is seen and done now.
    pub(super) sightings: Sightings,
    /// The versions that an interrupted run was moving; the sightings have their state.
    interrupted: BTreeSet<String>,
    /// What the destination lists, before the run.
    there: Listing,
    offered: Vec<Version>,
    /// The versions that the rules and calls have named.
    selected: Vec<SelectedVersion>,
    /// What this run brings and withdraws.
    moves: Vec<Arc<ModuleMoves>>,
    /// When the run began.
    since: Moment,
    /// Whether it is written that they were seen.
    is_written: bool,
    /// Whether what comes is marked, and may go: a bundle lists only what was put into it.
    is_marked: bool,
}

/// Who has withdrawn a version at the destination.
#[derive(Clone)]
pub(super) enum WithdrawnBy {
    People,
    /// An earlier run, whose version had this manifest.
    Mirror(Digest),
}

/// Versions that a run moves, which the record names from the first write on until it says what came of them.
pub(super) struct ModuleMoves {
    first_seen: Arc<FirstSeen<ModuleAddr>>,
    sightings: Sightings,
    versions: BTreeSet<String>,
    since: Moment,
    begun: OnceCell<()>,
}

impl ModuleState {
    /// `None` for a bundle, and for a registry that lists no tags if nothing depends on them.
    pub(super) async fn look(
        job: &ModuleMirrorJob<'_>,
        address: &ModuleAddr,
        offered: &[Version],
        now: Moment,
    ) -> Result<Option<Self>, ModuleMirrorError> {
        let is_of_bundle = job.upstream.is_closed() && !demands_age(job);
        if is_of_bundle || matches!(job.destination.place(address)?, Place::Bundle(_)) {
            return Ok(None);
        }
        let takes_away = job.prune == Prune::Withdraw || job.rules.gone != DelistedPolicy::Report;
        let store = job.destination.store(address)?;
        let tags = match store.tags().await {
            Ok(tags) => tags,
            Err(error) if error.is_not_found() => Vec::new(),
            // Some registries list no tags, and have them.
            Err(error) if !(error.is_transient() || demands_age(job) || takes_away) => return Ok(None),
            Err(error) => return Err(error.into()),
        };
        let there = Listing::in_store(&*store, &tags).await?;
        let first_seen = FirstSeen::in_store(store, address);
        let has_record = tags.iter().any(|tag| tag.as_str() == Tag::FIRST_SEEN);
        let record = if has_record { first_seen.record().await? } else { first_seen.record_of_new().await? };
        let record = record.unwrap_or_default();
        let SeenNow { known, sightings, interrupted } = first_seen.seen_now(&record, (&there, offered), now).await?;
        Ok(Some(Self {
            first_seen: Arc::new(first_seen),
            known,
            sightings,
            interrupted,
            there,
            offered: offered.to_vec(),
            selected: Vec::new(),
            moves: Vec::new(),
            since: now,
            is_written: false,
            is_marked: !job.upstream.is_closed(),
        }))
    }

    /// The versions that were there, and what was known of the module, before the run.
    pub(super) fn before(&self) -> (&[Version], Option<&Sightings>) {
        (&self.there.versions, self.known.as_ref())
    }

    /// Who has withdrawn the version there; `None` if it is not withdrawn.
    pub(super) fn withdrawn(&self, version: &Version) -> Option<WithdrawnBy> {
        self.there.withdrawn.contains(version).then(|| match self.sightings.mark(version) {
            Some(VersionMark::Withdrawn(manifest)) if self.is_marked => WithdrawnBy::Mirror(manifest.clone()),
            _ => WithdrawnBy::People,
        })
    }

    /// Which of these versions the run brings. What it has seen is written down at once if versions have to be of an age.
    pub(super) async fn begin(
        &mut self,
        job: &ModuleMirrorJob<'_>,
        selected: &[SelectedVersion],
    ) -> Result<(), ModuleMirrorError> {
        let there: HashSet<&Version> = self.there.versions.iter().collect();
        let wanted = selected.iter().filter(|selected| selected.choice == MirrorChoice::Wanted);
        let comes = wanted.map(|selected| &selected.version).filter(|version| {
            !there.contains(version) && !matches!(self.withdrawn(version), Some(WithdrawnBy::People))
        });
        let comes = comes.map(ToString::to_string).filter(|version| self.moves_of(version).is_none());
        let versions: BTreeSet<String> = comes.collect();
        // A first run that finds nothing to keep makes no repository either.
        let is_vain = self.known.is_none()
            && selected.iter().all(|selected| matches!(selected.choice, MirrorChoice::Denied { .. }));
        let is_news = self.known.as_ref() != Some(&self.sightings) && demands_age(job) && !self.is_written && !is_vain;
        self.selected.extend(selected.iter().cloned());
        if job.mode == MirrorMode::Run && (is_news || !self.interrupted.is_empty()) {
            let ended = std::mem::take(&mut self.interrupted);
            self.first_seen.change_moving(RecordWrite::Lasting, &self.sightings, (&ended, None), &|_| {}).await?;
            self.is_written = true;
        }
        if self.is_marked && !versions.is_empty() {
            self.add_moves(versions);
        }
        Ok(())
    }

    fn add_moves(&mut self, versions: BTreeSet<String>) -> Arc<ModuleMoves> {
        let (first_seen, sightings) = (Arc::clone(&self.first_seen), self.sightings.clone());
        let moves =
            Arc::new(ModuleMoves { first_seen, sightings, versions, since: self.since, begun: OnceCell::new() });
        self.moves.push(Arc::clone(&moves));
        moves
    }

    /// The moves to which the version belongs; `None` if the run does not move it.
    pub(super) fn moves_of(&self, version: &str) -> Option<Arc<ModuleMoves>> {
        self.moves.iter().find(|moves| moves.versions.contains(version)).cloned()
    }

    /// Remembers what came of a version, if this run moves it.
    pub(super) fn came(&mut self, version: &Version, outcome: &ModuleOutcome, now: Moment) {
        // What is there already came from someone else meanwhile.
        let is_own =
            matches!(outcome.action, ModuleAction::Copy { .. } | ModuleAction::Pack { .. } | ModuleAction::Reinstate);
        if let (Some(manifest), Some(_), true) = (&outcome.manifest, self.moves_of(&version.to_string()), is_own) {
            self.sightings.set_mark(version, VersionMark::Mirrored(manifest.clone()), now);
        }
    }

    /// The versions that `mirror` put there and the registry no longer lists.
    pub(super) fn gone(&self) -> Vec<Version> {
        let is_gone = |version: &&Version| {
            !self.offered.contains(version) && matches!(self.sightings.mark(version), Some(VersionMark::Mirrored(_)))
        };
        self.there.versions.iter().filter(is_gone).cloned().collect()
    }

    /// As [`OtherVersions::actions`].
    pub(super) fn others(
        &self,
        job: &ModuleMirrorJob<'_>,
        address: &ModuleAddr,
        prune: Prune,
    ) -> (Vec<(Version, MirrorAction)>, Option<MirrorError>) {
        let others = OtherVersions {
            address,
            selected: &self.selected,
            present: &self.there.versions,
            half_withdrawn: &self.there.half_withdrawn,
            offered: &self.offered,
            from: &job.upstream.place(address),
            sightings: &self.sightings,
            gone: job.rules.gone,
            prune,
            decided: &BTreeMap::new(),
        };
        others.actions()
    }

    /// Writes down which versions are about to be withdrawn.
    pub(super) async fn begin_withdrawing(&mut self, versions: BTreeSet<String>) -> Result<(), ModuleMirrorError> {
        if versions.is_empty() {
            return Ok(());
        }
        self.add_moves(versions).begin().await
    }

    /// Writes down what has come of everything that moved.
    pub(super) async fn end(self) -> Result<(), ModuleMirrorError> {
        let begun = self.moves.iter().filter(|moves| moves.begun.initialized());
        let versions: BTreeSet<String> = begun.flat_map(|moves| moves.versions.iter().cloned()).collect();
        if !versions.is_empty() {
            let ended = (&versions, None);
            self.first_seen.change_moving(RecordWrite::Marks, &self.sightings, ended, &|_| {}).await?;
        }
        Ok(())
    }
}

impl ModuleMoves {
    /// Writes them down, once, before the first of them begins: a package that is refused leaves nothing.
    pub(super) async fn begin(&self) -> Result<(), ModuleMirrorError> {
        let (seen, none, write) = (&self.first_seen, BTreeSet::new(), RecordWrite::Moves);
        let moves = (&none, Some((&self.versions, self.since)));
        let begin = async || seen.change_moving(write, &self.sightings, moves, &|_| {}).await.map(drop);
        Ok(self.begun.get_or_try_init(begin).await.copied()?)
    }
}

fn demands_age(job: &ModuleMirrorJob<'_>) -> bool {
    job.rules.min_age != MinAge::default()
}
