//! Plans are carried out: several releases at a time, and one that fails stops no other.

use std::collections::HashMap;
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, PoisonError};

use futures_util::StreamExt as _;
use futures_util::future::{OptionFuture, join_all};
use tofu_oci_archive::Limits;
use tofu_oci_fetch::{FetchError, Trust, TrustChecker};
use tofu_oci_packer::{ReplaceTag, Signing};
use tofu_oci_source::{Release, Source};
use tofu_oci_trust::TrustRefusal;
use tofu_oci_types::{Counter, Moment, Place, ProviderAddr, Reporter, Version};
use tokio::sync::{Mutex, Semaphore};

use crate::attestations::{AttestationFiles, Attestations, JudgedFiles, attach};
use crate::destination::first_seen::Moves;
use crate::destination::sightings::{Sightings, VersionMark};
use crate::plan::{MirrorAction, MirrorOutcome, Prune, Withdrawer};
use crate::provider_state::{ProviderState, Question};
use crate::rules::MirrorRules;
use crate::state::{Later, NoticeBy, change};
use crate::transfer::names;
use crate::{Destination, LateAttestation, MirrorError, TransferRequest};

mod planned;

/// How many providers are asked for at a time.
const PROVIDERS: usize = 8;

/// What is mirrored, from where, and where to.
pub struct MirrorJob<'a> {
    pub rules: &'a MirrorRules,
    /// Each provider once, with the place that it comes from.
    pub providers: &'a [(ProviderAddr, Arc<dyn Source>)],
    pub destination: &'a dyn Destination,
    /// Whether what the rules no longer name is taken away.
    pub prune: Prune,
    /// Whom to trust, and which addresses count as one.
    pub trust: &'a Trust,
    /// Where attestations of upstream releases are, if they are given as files.
    pub attestations: Option<&'a Attestations>,
    /// The time of this run.
    pub now: Moment,
}

/// How providers or modules are carried.
#[derive(Clone, Debug)]
pub struct Carrying<'a> {
    /// Whom to trust, as in the job. The pins are not written.
    pub trust: &'a Trust,
    /// Who signs what is mirrored, and notices; `None` to sign nothing.
    pub signing: Option<Signing<'a>>,
    /// What a package may hold.
    pub limits: &'a Limits,
    /// How many releases move at a time, and how many packages of each; at least 1.
    pub jobs: usize,
    /// An existing folder for temporary files.
    pub work_dir: &'a Path,
}

/// One version, or a provider whose versions are not known.
#[derive(Debug)]
pub struct MirrorLine {
    pub address: ProviderAddr,
    /// The version; `None` if the line is about the provider.
    pub version: Option<Version>,
    /// What became of it, or would become of it.
    pub outcome: Result<MirrorOutcome, MirrorError>,
}

impl MirrorLine {
    /// Whether the user has to do something about it.
    pub fn is_problem(&self) -> bool {
        match &self.outcome {
            Ok(outcome) => matches!(outcome.action, MirrorAction::Unmet { .. } | MirrorAction::NotOurs),
            Err(_) => true,
        }
    }
}

impl MirrorJob<'_> {
    /// Does it. The lines are in the order of the providers and their versions; what fails of a release is in its line.
    /// [`Destination::finish`] completes the destination.
    pub async fn run(&self, how: &Carrying<'_>, reporter: &dyn Reporter) -> Vec<MirrorLine> {
        let providers = self.providers.iter().map(|(of, _)| of);
        let running = MirrorRun {
            job: self,
            how,
            checker: TrustChecker::new(how.trust, reporter),
            turns: Semaphore::new(how.jobs.max(1)),
            places: providers.filter_map(|of| Some((self.repository(of)?, Mutex::default()))).collect(),
            reporter,
        };
        let count = Counter::new(reporter, "providers", self.providers.len());
        let done = self.providers.iter().map(async |(address, from)| {
            let lines = running.provider(address, &**from).await;
            count.done();
            lines
        });
        let done: Vec<_> = done.collect();
        let lines: Vec<Vec<MirrorLine>> = futures_util::stream::iter(done).buffered(PROVIDERS).collect().await;
        lines.into_iter().flatten().collect()
    }

    /// The repository that a provider goes to; `None` if the destination keeps providers apart itself.
    fn repository(&self, address: &ProviderAddr) -> Option<Place> {
        let place = self.destination.place(address).ok()?;
        matches!(place, Place::Registry(_) | Place::Layout(_)).then_some(place)
    }

    fn question<'q>(
        &'q self,
        address: &'q ProviderAddr,
        from: &'q dyn Source,
        reporter: &'q dyn Reporter,
    ) -> Question<'q> {
        let Self { rules, destination, prune, now, trust, attestations, .. } = *self;
        Question { rules, prune, now, destination, trust, attestations, reporter, address, from }
    }
}

/// The outcome of a release that is not carried because it is withdrawn, else the error.
fn withdrawn_or(error: MirrorError) -> Result<MirrorOutcome, MirrorError> {
    if let MirrorError::Fetch(FetchError::Untrusted { refusal, .. }) = &error
        && let TrustRefusal::Withdrawn { reason, by, .. } = &**refusal
    {
        let (reason, signer) = (reason.clone(), by.clone());
        return Ok(MirrorOutcome::still(MirrorAction::Withdrawn { reason, signer }));
    }
    Err(error)
}

fn failed(address: &ProviderAddr, error: MirrorError) -> MirrorLine {
    MirrorLine { address: address.clone(), version: None, outcome: Err(error) }
}

/// A run.
struct MirrorRun<'a> {
    job: &'a MirrorJob<'a>,
    how: &'a Carrying<'a>,
    checker: TrustChecker<'a>,
    /// How many releases may move.
    turns: Semaphore,
    /// The right to a repository. A provider and its predecessor may share one: the later finds there what the earlier has brought.
    places: HashMap<Place, Mutex<()>>,
    reporter: &'a dyn Reporter,
}

/// One provider of a run.
struct ProviderRun<'a> {
    run: &'a MirrorRun<'a>,
    address: &'a ProviderAddr,
    from: &'a dyn Source,
    look: &'a ProviderState,
    /// What the record of first sightings will say.
    known: std::sync::Mutex<Sightings>,
    /// Whether a release has come.
    brought: AtomicBool,
}

impl MirrorRun<'_> {
    async fn provider(&self, address: &ProviderAddr, from: &dyn Source) -> Vec<MirrorLine> {
        let place = self.job.repository(address).and_then(|place| self.places.get(&place));
        let _turn = OptionFuture::from(place.map(Mutex::lock)).await;
        let (destination, names) = (self.job.destination, names(self.how.trust));
        let looked = async {
            let mut look = self.job.question(address, from, self.reporter).look().await?;
            let moves = moves(&look, self.job.now);
            // Before anything moves: what this run has seen, and whose the place is, is remembered, whatever comes of it.
            let is_news = look.known.as_ref() != Some(&look.sightings) || look.first_seen.is_unnamed();
            let mut is_new = false;
            if !moves.versions.is_empty() || !moves.interrupted.is_empty() || (is_news && !is_vain(&look)) {
                is_new = look.first_seen.begin(&look.sightings, &moves, destination, names).await?;
            }
            let outcomes = std::mem::take(&mut look.outcomes);
            Ok::<_, MirrorError>((look, moves, outcomes, is_new))
        };
        let (look, moves, outcomes, is_new) = match looked.await {
            Ok(looked) => looked,
            Err(error) => return vec![failed(address, error)],
        };
        let known = std::sync::Mutex::new(look.sightings.clone());
        let provider = ProviderRun { run: self, address, from, look: &look, known, brought: AtomicBool::new(false) };
        // A notice comes after the release that it is about, and one tag goes at a time: where deletions overlap, registry:2 leaves
        // tags without a manifest.
        let (later, now): (Vec<_>, Vec<_>) = outcomes
            .into_iter()
            .enumerate()
            .partition(|(_, (_, outcome))| outcome.as_ref().is_ok_and(MirrorOutcome::is_notice));
        let mut lines = join_all(now.into_iter().map(|outcome| provider.line(outcome))).await;
        for outcome in later {
            lines.push(provider.line(outcome).await);
        }
        lines.sort_by_key(|(nth, _)| *nth);
        let mut lines: Vec<MirrorLine> = lines.into_iter().map(|(_, line)| line).collect();
        if !moves.versions.is_empty() {
            let claim = provider.brought.into_inner() || !is_new;
            let known = provider.known.into_inner().unwrap_or_else(PoisonError::into_inner);
            let ended = look.first_seen.end(&known, (&moves, claim), destination, names).await;
            lines.extend(ended.err().map(|error| failed(address, error)));
        }
        lines
    }
}

/// What a run will do with versions.
fn moves(look: &ProviderState, now: Moment) -> Moves {
    let mut moves = Moves { interrupted: look.interrupted.clone(), since: Some(now), ..Moves::default() };
    for (version, outcome) in &look.outcomes {
        let (Some(version), Ok(outcome)) = (version, outcome) else { continue };
        let brings = matches!(outcome.action, MirrorAction::Add | MirrorAction::Widen { .. });
        moves.brings |= brings;
        let withdraws = matches!(outcome.action, MirrorAction::Withdraw { .. }) && !is_by_publisher(&outcome.action);
        if brings || withdraws || outcome.action == MirrorAction::Reinstate {
            moves.versions.insert(version.to_string());
        }
    }
    moves
}

/// Whether a notice withdraws a version: it does not come back because the rules name it, so it gets no mark of this program.
fn is_by_publisher(action: &MirrorAction) -> bool {
    matches!(action, MirrorAction::Withdraw { decided: Withdrawer::Publisher { .. }, .. })
}

/// Whether the first run for a provider finds nothing to keep: then it makes no repository either.
fn is_vain(look: &ProviderState) -> bool {
    let is_nothing = |outcome: &MirrorOutcome| {
        matches!(outcome.action, MirrorAction::Unmet { .. } | MirrorAction::Denied { .. } | MirrorAction::NoPlatform)
    };
    look.known.is_none() && look.outcomes.iter().all(|(_, outcome)| outcome.as_ref().map_or(true, is_nothing))
}

type NumberedOutcome = (usize, (Option<Version>, Result<MirrorOutcome, MirrorError>));

impl ProviderRun<'_> {
    async fn line(&self, (nth, (version, outcome)): NumberedOutcome) -> (usize, MirrorLine) {
        let outcome = match (outcome, &version) {
            (Ok(outcome), Some(version)) => self.carry_out(version, outcome).await,
            (outcome, _) => outcome,
        };
        (nth, MirrorLine { address: self.address.clone(), version, outcome })
    }

    async fn carry_out(&self, version: &Version, outcome: MirrorOutcome) -> Result<MirrorOutcome, MirrorError> {
        let later = match &outcome.action {
            MirrorAction::Add | MirrorAction::Widen { .. } => {
                let _turn = self.run.turns.acquire().await;
                return self.carry(version, outcome).await.or_else(withdrawn_or);
            }
            MirrorAction::Withdraw { reason, .. } => Later::Withdraw(reason),
            MirrorAction::Deprecate { reason } => Later::Deprecate(reason),
            MirrorAction::Reinstate => Later::Reinstate,
            MirrorAction::Present | MirrorAction::Gone { .. } => {
                let _turn = self.run.turns.acquire().await;
                let outcome = self.attest_present(version, outcome).await?;
                if outcome.action == MirrorAction::Present {
                    self.run.job.destination.complete(self.address, version, self.from).await?;
                }
                return Ok(outcome);
            }
            _ => return Ok(outcome),
        };
        let _turn = self.run.turns.acquire().await;
        let Some(store) = self.run.job.destination.store(self.address)? else {
            return Err(MirrorError::NoNotices { place: self.run.job.destination.place(self.address)? });
        };
        let is_by_publisher = is_by_publisher(&outcome.action);
        let notice = self.look.attestations.get(version).and_then(|judged| judged.withdrawal.as_ref());
        let by = match &self.run.how.signing {
            _ if is_by_publisher => NoticeBy::Publisher(notice.map(|notice| &notice.notice)),
            signing => NoticeBy::Mirror(signing.map(|signing| signing.key)),
        };
        let mark = self.look.sightings.mark(version);
        // Before the version's tag goes.
        let outcome =
            if is_by_publisher { self.attest_present(version, outcome.clone()).await? } else { outcome.clone() };
        let new = change(&*store, (self.address, version), &later, mark, by, self.run.reporter).await?;
        if new.is_none() && outcome.action == MirrorAction::Reinstate {
            return Ok(MirrorOutcome::still(MirrorAction::WithdrawnThere));
        }
        if let Some(mark) = new.filter(|_| !is_by_publisher) {
            self.mark(version, mark);
        }
        Ok(outcome)
    }

    /// Carries a release, if it is trusted.
    async fn carry(&self, version: &Version, outcome: MirrorOutcome) -> Result<MirrorOutcome, MirrorError> {
        let MirrorRun { how, job, checker, reporter, .. } = self.run;
        let (release, platforms) = (self.release(version).await?, &outcome.platforms);
        let none = AttestationFiles::default();
        let files = self.look.files.get(version).unwrap_or(&none);
        let release = files.beside(release);
        let files = files.demand_trusted(&release, platforms, (checker, how.trust), *reporter).await?;
        let replace = if outcome.action == MirrorAction::Add { ReplaceTag::Refuse } else { ReplaceTag::Replace };
        let (rename, predecessors) = names(how.trust);
        let request = TransferRequest {
            platforms: outcome.platforms.clone(),
            signing: how.signing,
            files: &files,
            replace,
            rename,
            predecessors,
            limits: how.limits,
            jobs: how.jobs.max(1),
            listed: self.look.listed.as_deref(),
            work_dir: how.work_dir,
        };
        let is_whole = release.platforms().await? == outcome.platforms;
        let carried = job.destination.receive(&request, release, *reporter).await?;
        self.brought.store(true, Ordering::Relaxed);
        if let Some(index) = carried.index {
            let mark = if is_whole { VersionMark::Whole(index) } else { VersionMark::Mirrored(index) };
            self.mark(version, mark);
        }
        Ok(MirrorOutcome { bytes: Some(carried.transfers.bytes), ..outcome })
    }

    async fn release(&self, version: &Version) -> Result<Arc<dyn Release>, MirrorError> {
        match self.look.releases.get(version) {
            Some(release) => Ok(Arc::clone(release)),
            None => Ok(self.from.release(self.address, version).await?),
        }
    }

    /// Puts attestations beside a release that the destination has.
    async fn attest_present(&self, version: &Version, outcome: MirrorOutcome) -> Result<MirrorOutcome, MirrorError> {
        let MirrorRun { job, reporter, .. } = self.run;
        let Some(JudgedFiles { counting: files, .. }) = self.look.attestations.get(version) else { return Ok(outcome) };
        let Some(store) = job.destination.store(self.address)? else { return Ok(outcome) };
        let id = job.destination.source(self.address)?.release(self.address, version).await?.id().clone();
        let report = attach(&*store, &id, files, *reporter).await?;
        let (bytes, attestations) = (Some(report.transfers.bytes), LateAttestation::of(&report, files));
        Ok(MirrorOutcome { bytes, attestations, ..outcome })
    }

    fn mark(&self, version: &Version, mark: VersionMark) {
        let mut known = self.known.lock().unwrap_or_else(PoisonError::into_inner);
        known.set_mark(version, mark, self.run.job.now);
    }
}
