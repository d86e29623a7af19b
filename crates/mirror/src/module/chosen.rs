//! Which versions of a module a run takes, by the rules.

use std::collections::{BTreeSet, HashSet};

use tofu_oci_source::{Listing, ModuleError};
use tofu_oci_types::{ModuleAddr, Version};

use super::error::ModuleMirrorError;
use super::pick::ModuleOrigin;
use super::report::{ModuleAction, ModuleMirrorLine, ModuleOutcome};
use super::run::{ModuleCaller, ModuleRun, add_callers};
use super::state::ModuleState;
use super::upstream::is_unknown;
use crate::MirrorRules;
use crate::plan::listed_by_stranger;
use crate::rules::ProviderRule;
use crate::select::{Candidates, MirrorChoice, SelectedVersion, VersionSelection, select};

impl ModuleRun<'_> {
    /// The versions of a list that are wanted, and those that the rules keep out, ascending. What was seen is written down at the
    /// destination if versions must have an age, or a run was interrupted.
    pub(super) async fn chosen(
        &mut self,
        address: &ModuleAddr,
        origin: &ModuleOrigin,
        offered: &[Version],
    ) -> Result<Vec<SelectedVersion>, ModuleMirrorError> {
        let job = self.job;
        let unmet = || {
            let (address, wanted, offered) = (address.clone(), origin.wanted(), offered.to_vec());
            Err(ModuleMirrorError::Unmet { address, wanted, offered })
        };
        let ModuleOrigin::Registry { constraints, latest } = origin else {
            let wanted =
                |version| SelectedVersion { version, platforms: BTreeSet::new(), choice: MirrorChoice::Wanted };
            let wanted: Vec<_> = origin.choose(offered).into_iter().rev().map(wanted).collect();
            return if wanted.is_empty() { unmet() } else { Ok(wanted) };
        };
        if !self.states.contains_key(address) {
            let state = ModuleState::look(job, address, offered, self.now).await?;
            self.states.insert(address.clone(), state);
        }
        let state = self.states.get_mut(address).and_then(Option::as_mut);
        let (present, sightings) = state.as_ref().map_or((&[][..], None), |state| state.before());
        let rule =
            ProviderRule { versions: constraints.clone(), latest: *latest, ..ProviderRule::all_of(address.clone()) };
        let rules = MirrorRules { providers: vec![rule], ..job.rules.clone() };
        let present: HashSet<&Version> = present.iter().collect();
        let candidates = Candidates { address, offered, present: &present, sightings, now: self.now };
        let VersionSelection { versions, unmet: without } = select(&rules, &candidates);
        if !without.is_empty() {
            return unmet();
        }
        if versions.iter().any(|selected| selected.choice == MirrorChoice::Wanted) {
            job.destination.claim(address)?;
        }
        if let Some(state) = state {
            state.begin(job, &versions).await?;
        }
        Ok(versions)
    }

    /// The versions that the rules admit; the others get their lines.
    pub(super) fn admitted(
        &mut self,
        address: &ModuleAddr,
        picked: Vec<SelectedVersion>,
        caller: &ModuleCaller,
    ) -> Vec<Version> {
        let mut admitted = Vec::new();
        for SelectedVersion { version, choice, .. } in picked {
            let action = match choice {
                MirrorChoice::Wanted => {
                    admitted.push(version);
                    continue;
                }
                MirrorChoice::Held { until } => ModuleAction::Held { until },
                MirrorChoice::Denied { by } => ModuleAction::Denied { by },
            };
            let key = (address.clone(), Some(version.to_string()));
            let to = self.job.destination.place(address);
            let line = self.lines.entry(key).or_insert_with(|| ModuleMirrorLine {
                address: address.clone(),
                version: Some(version),
                called_by: Vec::new(),
                outcome: to.map(|to| ModuleOutcome::still(action, to, None)),
            });
            add_callers(line, std::slice::from_ref(caller));
        }
        admitted
    }

    /// The versions at the destination that are wanted; `None` if it has none of them.
    pub(super) async fn kept(&self, address: &ModuleAddr, origin: &ModuleOrigin) -> Option<Vec<Version>> {
        Some(origin.choose(&self.there(address).await?)).filter(|kept| !kept.is_empty())
    }

    async fn there(&self, address: &ModuleAddr) -> Option<Vec<Version>> {
        let store = self.job.destination.before(address).await.ok()?;
        let tags = store.tags().await.ok()?;
        Some(Listing::in_store(&*store, &tags).await.ok()?.versions)
    }

    /// What the place of the module lists for this origin.
    pub(super) async fn offered(
        &mut self,
        address: &ModuleAddr,
        origin: &ModuleOrigin,
    ) -> Result<Vec<Version>, ModuleError> {
        let job = self.job;
        match (self.versions(address).await, origin) {
            (Err(error), ModuleOrigin::Registry { latest, .. }) if is_unknown(&error) => {
                let there = self.there(address).await.unwrap_or_default();
                listed_by_stranger(job.rules.gone, (job.prune, *latest == Some(0)), &there).ok_or(error)
            }
            (listed, _) => listed,
        }
    }

    pub(super) async fn versions(&mut self, address: &ModuleAddr) -> Result<Vec<Version>, ModuleError> {
        if let Some(known) = self.lists.get(address) {
            return known.clone();
        }
        let listed = self.job.upstream.versions(address).await;
        self.lists.insert(address.clone(), listed.clone());
        listed
    }
}
