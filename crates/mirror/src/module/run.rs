//! Which calls of modules are followed: the run, from the modules that are wanted to those that they call, wave by
//! wave.

use std::collections::btree_map::Entry;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;
use std::time::SystemTime;

use futures_util::{FutureExt as _, StreamExt as _};
use tofu_oci_source::ModuleError;
use tofu_oci_tfconfig::OuterCall;
use tofu_oci_types::{Constraints, Event, Hostname, ModuleAddr, ModuleSource, Moment, ProviderAddr, Subdir, Version};

use super::calls::ReadCalls;
use super::error::ModuleMirrorError;
use super::job::{ModuleMirrorJob, NestedModules};
use super::pick::{ModuleOrigin, WantedModule, pick};
use super::report::{CallOutcome, ModuleMirrorLine, ModuleMirrorReport, NeededProvider, UnfollowedCall};
use super::state::{ModuleState, WithdrawnBy};
use super::visit::{ModuleVisit, Visited};
use crate::plan::Prune;

/// Folders of versions that a run visits at most.
const MOST: usize = 2000;

/// Who makes a call.
#[derive(Clone, Default)]
pub(super) struct ModuleCaller {
    /// `None` for what was asked for by name.
    name: Option<String>,
    /// The folders of versions on the way, the caller last.
    chain: Arc<Vec<(ModuleAddr, Version, Subdir)>>,
}

/// A version by its text, since versions have no order of their own.
type VersionKey = (ModuleAddr, String);

/// A visit, and whom it is for.
struct WaveVisit {
    visit: ModuleVisit,
    callers: Vec<ModuleCaller>,
}

/// The state of a run.
pub(super) struct ModuleRun<'a> {
    pub(super) job: &'a ModuleMirrorJob<'a>,
    pub(super) now: Moment,
    pub(super) lists: BTreeMap<ModuleAddr, Result<Vec<Version>, ModuleError>>,
    /// What the destination has of each module, and what is remembered there; `None` if nothing is remembered.
    pub(super) states: BTreeMap<ModuleAddr, Option<ModuleState>>,
    pub(super) lines: BTreeMap<(ModuleAddr, Option<String>), ModuleMirrorLine>,
    /// Whether calls of a module are not known.
    pub(super) has_unread: bool,
    /// The modules of which a call says no version that can be read.
    pub(super) unclear: BTreeSet<ModuleAddr>,
    looked: BTreeSet<(VersionKey, String)>,
    calls: BTreeSet<UnfollowedCall>,
    providers: BTreeMap<ProviderAddr, (Constraints, BTreeSet<Hostname>)>,
    /// What the last wave has led to.
    next: BTreeMap<VersionKey, WaveVisit>,
}

impl ModuleMirrorJob<'_> {
    /// Does it. What fails of a single module is in its line. [`ModuleDestination::finish`](super::ModuleDestination::finish)
    /// completes the destination.
    ///
    /// # Errors
    /// If the modules lead to too many versions.
    pub async fn run(&self) -> Result<ModuleMirrorReport, ModuleMirrorError> {
        let mut run = ModuleRun {
            job: self,
            now: SystemTime::now().into(),
            lists: BTreeMap::new(),
            states: BTreeMap::new(),
            lines: BTreeMap::new(),
            has_unread: false,
            unclear: BTreeSet::new(),
            looked: BTreeSet::new(),
            calls: BTreeSet::new(),
            providers: BTreeMap::new(),
            next: BTreeMap::new(),
        };
        for wanted in self.wanted {
            run.want(wanted.clone(), &ModuleCaller::default()).await?;
        }
        if let Some((name, calls)) = &self.configuration {
            let caller = ModuleCaller { name: Some(name.clone()), chain: Arc::default() };
            run.follow(&caller, calls, NestedModules::Follow).await?;
        }
        while !run.next.is_empty() {
            run.wave().await?;
        }
        run.leave_others().await;
        let mut lines: Vec<ModuleMirrorLine> = run.lines.into_values().collect();
        lines.sort_by(|one, other| {
            one.address.cmp(&other.address).then_with(|| match (&one.version, &other.version) {
                (Some(one), Some(other)) => one.precedence(other),
                (one, other) => one.is_some().cmp(&other.is_some()),
            })
        });
        let calls = run.calls.into_iter().collect();
        let needed = |(address, (constraints, required_by))| NeededProvider { address, constraints, required_by };
        let providers = run.providers.into_iter().map(needed).collect();
        Ok(ModuleMirrorReport { lines, calls, providers })
    }
}

impl ModuleRun<'_> {
    /// Adds the versions of a module to the next wave, or the line that says why no version is wanted.
    async fn want(&mut self, wanted: WantedModule, caller: &ModuleCaller) -> Result<(), ModuleMirrorError> {
        let WantedModule { address, folder, origin } = wanted;
        if let Err(error) = self.job.destination.place(&address) {
            self.fail(address, caller, error);
            return Ok(());
        }
        let mut is_known = true;
        let versions = match &origin {
            ModuleOrigin::At { version, .. } => vec![version.clone()],
            ModuleOrigin::Registry { .. } | ModuleOrigin::Listed => match self.offered(&address, &origin).await {
                Ok(offered) => match self.chosen(&address, &origin, &offered).await {
                    Ok(picked) => self.admitted(&address, picked, caller),
                    Err(error) => {
                        self.fail(address, caller, error);
                        return Ok(());
                    }
                },
                Err(error) => {
                    let Some(kept) = self.kept(&address, &origin).await else {
                        self.fail(address, caller, error.into());
                        return Ok(());
                    };
                    let text = format!("{address}: the destination has it, and it stays as it is: {error}");
                    self.job.reporter.event(&Event::warning("module-source-unasked", text));
                    is_known = false;
                    kept
                }
            },
        };
        if is_known
            && !versions.is_empty()
            && let Err(error) = self.job.destination.claim(&address)
        {
            self.fail(address, caller, error);
            return Ok(());
        }
        // What stays although it is gone keeps what it calls.
        let is_pruned = self.job.prune == Prune::Withdraw && matches!(origin, ModuleOrigin::Registry { .. });
        let state = self.states.get(&address).and_then(Option::as_ref).filter(|_| is_pruned);
        let gone = state.map(ModuleState::gone).unwrap_or_default();
        for version in versions.into_iter().chain(gone) {
            let key = (address.clone(), version.to_string());
            let state = self.states.get(&address).and_then(Option::as_ref);
            let wave = self.next.entry(key).or_insert_with(|| {
                let withdrawn = state.and_then(|state| state.withdrawn(&version));
                let moves = state.and_then(|state| state.moves_of(&version.to_string()));
                let (address, origin) = (address.clone(), origin.clone());
                let visit = ModuleVisit { address, version, origin, withdrawn, moves, folders: Vec::new() };
                WaveVisit { visit, callers: Vec::new() }
            });
            wave.callers.push(caller.clone());
            if !wave.visit.folders.contains(&folder) {
                wave.visit.folders.push(folder.clone());
            }
        }
        if self.next.len() + self.looked.len() > MOST {
            return Err(ModuleMirrorError::TooMany { limit: MOST });
        }
        Ok(())
    }

    pub(super) fn fail(&mut self, address: ModuleAddr, caller: &ModuleCaller, error: ModuleMirrorError) {
        let line = self.lines.entry((address.clone(), None)).or_insert_with(|| ModuleMirrorLine {
            address,
            version: None,
            called_by: Vec::new(),
            outcome: Err(error),
        });
        add_callers(line, std::slice::from_ref(caller));
    }

    /// Visits what the last wave has led to.
    async fn wave(&mut self) -> Result<(), ModuleMirrorError> {
        let visits = std::mem::take(&mut self.next);
        let mut visiting = Vec::new();
        for (key, WaveVisit { mut visit, callers }) in visits {
            if let Some(line) = self.lines.get_mut(&(key.0.clone(), Some(key.1.clone()))) {
                add_callers(line, &callers);
            }
            visit.folders.retain(|folder| self.looked.insert((key.clone(), folder.as_str().to_owned())));
            if !visit.folders.is_empty() {
                visiting.push((callers, visit));
            }
        }
        let job = self.job;
        // What comes back deletes a tag, and one tag goes at a time: where deletions overlap, registry:2 leaves tags without a manifest.
        let (back, others): (Vec<_>, Vec<_>) =
            visiting.into_iter().partition(|(_, visit)| matches!(visit.withdrawn, Some(WithdrawnBy::Mirror(_))));
        let mut done = Vec::new();
        for (visiting, at_once) in [(others, job.how.jobs.max(1)), (back, 1)] {
            let work = visiting.into_iter().map(|(callers, visit)| {
                async move { (visit.address.clone(), visit.version.clone(), callers, job.visit(visit).await) }.boxed()
            });
            let work: Vec<_> = work.collect();
            done.append(&mut futures_util::stream::iter(work).buffered(at_once).collect().await);
        }
        for (address, version, callers, Visited { outcome, calls }) in done {
            if let (Some(Some(state)), Ok(outcome)) = (self.states.get_mut(&address), &outcome) {
                state.came(&version, outcome, self.now);
            }
            // The same for all callers but for the way, and the shortest way was found first.
            let chain = callers.first().map(|caller| caller.chain.as_ref().clone()).unwrap_or_default();
            let key = (address.clone(), Some(version.to_string()));
            let line = match self.lines.entry(key) {
                Entry::Vacant(vacant) => vacant.insert(ModuleMirrorLine {
                    address: address.clone(),
                    version: Some(version.clone()),
                    called_by: Vec::new(),
                    outcome,
                }),
                Entry::Occupied(occupied) => {
                    let line = occupied.into_mut();
                    // An earlier visit was for another folder of the same version.
                    if line.outcome.is_ok() && outcome.is_err() {
                        line.outcome = outcome;
                    }
                    line
                }
            };
            add_callers(line, &callers);
            for (folder, read) in calls {
                let here = (address.clone(), version.clone(), folder.clone());
                let chain = Arc::new(chain.iter().cloned().chain([here]).collect());
                let inside = if folder.is_root() { String::new() } else { format!("//{folder}") };
                let name = format!("{address}{inside} {version}");
                match read {
                    ReadCalls::Known(calls, providers) => {
                        for (provider, constraints) in providers {
                            let (known, by) =
                                self.providers.entry(provider).or_insert_with(|| (Constraints::any(), BTreeSet::new()));
                            *known = known.and(&constraints);
                            by.insert(address.hostname().clone());
                        }
                        let caller = ModuleCaller { name: Some(name), chain };
                        self.follow(&caller, &calls, job.nested).await?;
                    }
                    ReadCalls::Unread(why) => {
                        self.has_unread = true;
                        let text = format!("which modules {name} calls is not known: {why}");
                        self.job.reporter.event(&Event::warning("module-calls-unread", text));
                    }
                }
            }
        }
        Ok(())
    }

    /// What becomes of these calls.
    async fn follow(
        &mut self,
        caller: &ModuleCaller,
        calls: &[OuterCall],
        nested: NestedModules,
    ) -> Result<(), ModuleMirrorError> {
        for call in calls {
            let fate = match (&call.source, &call.constraints) {
                (Some(ModuleSource::Registry(address, folder)), Some(constraints)) => {
                    let Some(fate) = self.fate_in_registry(caller, (address, folder), constraints, nested).await else {
                        if let Err(error) = self.admit(caller, address).await {
                            self.fail(address.clone(), caller, error.into());
                            continue;
                        }
                        let (address, folder) = (address.clone(), folder.clone());
                        let origin = ModuleOrigin::Registry { constraints: constraints.clone(), latest: Some(1) };
                        self.want(WantedModule { address, folder, origin }, caller).await?;
                        continue;
                    };
                    fate
                }
                (Some(ModuleSource::Oci(source)), _) if self.job.destination.holds(source.repository()) => {
                    CallOutcome::Stays
                }
                (Some(ModuleSource::Oci(_) | ModuleSource::Other(_)), _) => CallOutcome::Leaves,
                (Some(ModuleSource::Registry(address, _)), None) => {
                    self.unclear.insert(address.clone());
                    CallOutcome::Unknown
                }
                _ => CallOutcome::Unknown,
            };
            let written = call.constraints.as_ref().filter(|constraints| !constraints.is_any());
            self.calls.insert(UnfollowedCall {
                caller: caller.name.clone().unwrap_or_default(),
                at: call.at.to_string(),
                source: call.text.clone(),
                constraints: written.map(ToString::to_string),
                fate,
            });
        }
        Ok(())
    }

    /// Whether a call may be followed: what the user calls is, and a module leads to no host that is nearer than its own.
    async fn admit(&self, caller: &ModuleCaller, target: &ModuleAddr) -> Result<(), ModuleError> {
        match caller.chain.last() {
            Some((by, ..)) if !self.job.names(target) => self.job.upstream.admit(by.hostname(), target).await,
            _ => Ok(()),
        }
    }

    /// Why a call of a module of a registry is not followed; `None` if it is.
    async fn fate_in_registry(
        &mut self,
        caller: &ModuleCaller,
        (address, folder): (&ModuleAddr, &Subdir),
        constraints: &Constraints,
        nested: NestedModules,
    ) -> Option<CallOutcome> {
        if nested == NestedModules::Report {
            return Some(CallOutcome::NotFollowed);
        }
        if let Err(ModuleMirrorError::NoMirror { .. }) = self.job.destination.place(address) {
            return Some(CallOutcome::NoMirror);
        }
        if self.job.upstream.is_closed() {
            let lacks = match self.versions(address).await {
                Ok(offered) => !offered.iter().any(|one| constraints.admits(one)),
                Err(error) => matches!(error, ModuleError::UnknownModule { .. }),
            };
            if lacks {
                return Some(CallOutcome::NotInBundle);
            }
        }
        if caller.chain.iter().any(|(above, ..)| above == address)
            && let Ok(offered) = self.versions(address).await
            && let [version] = pick(&offered, constraints, Some(1)).as_slice()
            && caller.chain.contains(&(address.clone(), version.clone(), folder.clone()))
        {
            return Some(CallOutcome::Loop);
        }
        None
    }
}

pub(super) fn add_callers(line: &mut ModuleMirrorLine, callers: &[ModuleCaller]) {
    for name in callers.iter().filter_map(|caller| caller.name.as_ref()) {
        if let Err(at) = line.called_by.binary_search(name) {
            line.called_by.insert(at, name.clone());
        }
    }
}
