//! The versions that `module mirror` put at the destination and that are no longer wanted, or no longer listed; and those that
//! come back.

use tofu_oci_source::ModulePackage;
use tofu_oci_types::{Digest, Event, ModuleAddr, Moment, Reference, Subdir, Version};

use super::carry::UnpackedModule;
use super::error::ModuleMirrorError;
use super::job::{MirrorMode, ModuleMirrorJob, NestedModules};
use super::report::{ModuleAction, ModuleMirrorLine, ModuleOutcome};
use super::run::{ModuleCaller, ModuleRun};
use super::state::ModuleState;
use super::visit::ModuleVisit;
use crate::destination::sightings::VersionMark;
use crate::plan::{MirrorAction, Prune, Withdrawer};
use crate::state::{Later, NoticeBy, change, leave_replaced};

impl ModuleRun<'_> {
    /// Takes away, or reports, what the destination has and the run has not named. It deletes one tag at a time. Then what the run
    /// has done is written down.
    pub(super) async fn leave_others(&mut self) {
        let job = self.job;
        let is_unread = self.has_unread || self.lines.values().any(|line| line.outcome.is_err());
        let is_unknown = is_unread && job.nested == NestedModules::Follow;
        if is_unknown && job.prune == Prune::Withdraw {
            let text = "nothing is pruned: a module failed, or its calls cannot be read";
            job.reporter.event(&Event::warning("not-pruned", text));
        }
        for (address, state) in std::mem::take(&mut self.states) {
            let Some(mut state) = state else { continue };
            // A module that failed was not asked which versions are wanted.
            let is_kept = self.unclear.contains(&address) || self.lines.contains_key(&(address.clone(), None));
            let prune = if is_unknown || is_kept || !job.names(&address) { Prune::Keep } else { job.prune };
            if !job.upstream.is_closed()
                && let Err(error) = self.leave(&address, &mut state, prune).await
            {
                self.fail(address.clone(), &ModuleCaller::default(), error);
            }
            if let Err(error) = state.end().await {
                let text = format!("{address}: what this run has done is not remembered: {error}");
                job.reporter.event(&Event::warning(error.code(), text));
                self.fail(address, &ModuleCaller::default(), error);
            }
        }
    }

    async fn leave(
        &mut self,
        address: &ModuleAddr,
        state: &mut ModuleState,
        prune: Prune,
    ) -> Result<(), ModuleMirrorError> {
        let job = self.job;
        let (mut others, too_many) = state.others(job, address, prune);
        leave_replaced(&*job.destination.store(address)?, &state.sightings, &mut others).await?;
        if job.mode == MirrorMode::Run {
            let goes = others.iter().filter(|(_, action)| matches!(action, MirrorAction::Withdraw { .. }));
            state.begin_withdrawing(goes.map(|(version, _)| version.to_string()).collect()).await?;
        }
        for (version, action) in others {
            let outcome = job.leave(address, &version, action, state, self.now).await;
            let key = (address.clone(), Some(version.to_string()));
            let called_by = self.lines.remove(&key).map(|line| line.called_by).unwrap_or_default();
            let line = ModuleMirrorLine { address: address.clone(), version: Some(version), called_by, outcome };
            self.lines.insert(key, line);
        }
        too_many.map_or(Ok(()), |error| Err(error.into()))
    }
}

impl ModuleMirrorJob<'_> {
    /// Withdraws a version, if that is what becomes of it.
    async fn leave(
        &self,
        address: &ModuleAddr,
        version: &Version,
        action: MirrorAction,
        state: &mut ModuleState,
        now: Moment,
    ) -> Result<ModuleOutcome, ModuleMirrorError> {
        let (to, mark) = (self.destination.place(address)?, state.sightings.mark(version).cloned());
        let there = || mark.as_ref().map(|mark| mark.index().clone());
        let (reason, decided) = match action {
            MirrorAction::Withdraw { reason, decided } => (reason, decided),
            MirrorAction::ReplacedThere => return Ok(ModuleOutcome::still(ModuleAction::ReplacedThere, to, None)),
            _ => return Ok(ModuleOutcome::still(ModuleAction::Gone { decided: Withdrawer::Place }, to, there())),
        };
        if self.mode == MirrorMode::Run {
            let later = Later::Withdraw(&reason);
            if let Some(mark) = self.change((address, version), &later, mark.as_ref()).await? {
                state.sightings.set_mark(version, mark, now);
            }
        }
        Ok(ModuleOutcome::still(ModuleAction::Withdraw { reason, decided }, to, None))
    }

    /// Brings a version back that an earlier run has withdrawn.
    pub(super) async fn reinstate(
        &self,
        visit: &ModuleVisit,
        manifest: &Digest,
    ) -> Result<(ModuleOutcome, Option<UnpackedModule>), ModuleMirrorError> {
        let ModuleVisit { address, version, .. } = visit;
        let store = self.destination.before(address).await?;
        let package = ModulePackage::of_store(store, &Reference::Digest(manifest.clone()), Subdir::root()).await?;
        let to = self.destination.place(address)?;
        self.demand_same(visit, &package, &to).await?;
        let unpacked = self.unpack(&package, visit).await?;
        self.begin(visit).await?;
        if self.mode == MirrorMode::Run {
            let mark = VersionMark::Withdrawn(manifest.clone());
            if self.change((address, version), &Later::Reinstate, Some(&mark)).await?.is_none() {
                return Ok((ModuleOutcome::still(ModuleAction::WithdrawnThere, to, None), None));
            }
        }
        Ok((ModuleOutcome::still(ModuleAction::Reinstate, to, Some(manifest.clone())), Some(unpacked)))
    }

    /// Before the version is written.
    pub(super) async fn begin(&self, visit: &ModuleVisit) -> Result<(), ModuleMirrorError> {
        match &visit.moves {
            Some(moves) if self.mode == MirrorMode::Run => moves.begin().await,
            _ => Ok(()),
        }
    }

    async fn change(
        &self,
        of: (&ModuleAddr, &Version),
        later: &Later<'_>,
        mark: Option<&VersionMark>,
    ) -> Result<Option<VersionMark>, ModuleMirrorError> {
        let store = self.destination.store(of.0)?;
        let by = NoticeBy::Mirror(self.how.signing.map(|signing| signing.key));
        Ok(change(&*store, of, later, mark, by, self.reporter).await?)
    }
}
