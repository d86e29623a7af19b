//! Moving a release between two stores, byte for byte.

mod budget;
mod graph;
mod names;
mod proof;

use std::collections::HashSet;
use std::sync::Arc;

use bytes::Bytes;
use futures_util::{FutureExt as _, StreamExt as _, TryFutureExt as _, TryStreamExt as _, future::BoxFuture};
use tofu_oci_types::{Counter, Descriptor, Digest, Event, NoReporter, Place, Reporter, Tag};

pub use self::budget::CopyBudget;
use self::graph::Graph;
use self::proof::ReferrerProof;
use crate::body::StoredBody;
use crate::copy_error::CopyError;
use crate::error::StoreError;
use crate::observed::push_observed;
use crate::traits::{Pushed, ReadStore, Store};

/// How deep referrers of referrers are followed.
const MAX_REFERRER_DEPTH: usize = 4;

/// How many referrers of one manifest are copied.
const MAX_REFERRERS: usize = 100;

/// What a copy does besides copying.
#[derive(Clone)]
pub struct CopyOptions<'a> {
    /// How many blobs or manifests move at the same time; at least one.
    pub jobs: usize,
    /// Receives the progress of each blob.
    pub reporter: &'a dyn Reporter,
    /// The tag that the root gets once everything has arrived.
    pub tag: Option<Tag>,
    /// What happens to signatures and other manifests that refer to what is copied.
    pub referrers: CopyReferrers,
    /// The bound on what it follows, together with all copies that share it.
    pub budget: Arc<CopyBudget>,
}

/// What a copy does with manifests that refer to the copied ones.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum CopyReferrers {
    /// They stay where they are.
    #[default]
    Leave,
    /// They are copied with what they consist of, and those that refer to them in turn. The destination lists them its
    /// own way: by the referrers API, under the fallback tag, or in `index.json`.
    Copy,
}

/// What a copy did.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct CopyReport {
    /// Blobs and manifests that were sent.
    pub pushed: usize,
    /// Blobs and manifests that were there.
    pub present: usize,
    /// Blobs that the registry linked from the source.
    pub mounted: usize,
    /// The size of what was sent, in bytes.
    pub bytes: u64,
}

/// Copies everything that can be reached from `root`: nested indexes, manifests, configs and layers.
///
/// Blobs first, several at a time, then manifests from the leaves up, then referrers, and the tag last: whoever sees
/// the tag sees everything. Before the tag, the destination must list every referrer that was copied. Content that the
/// destination has is not sent again, and between two repositories of one registry blobs are mounted. Content is verified
/// while it moves; manifests keep their bytes. A layer that names `urls` is read from the source like any other, never
/// from its `urls`.
///
/// # Errors
/// [`CopyError`] names the end that failed; [`StoreError::TooManyManifests`], [`StoreError::TooDeep`] and, for a blob
/// of more than 10 GiB, [`StoreError::TooLarge`] before anything of that part is sent; [`StoreError::NotListed`] if the
/// destination does not list a referrer.
pub async fn copy(
    from: &dyn ReadStore,
    to: &dyn Store,
    root: &Descriptor,
    options: CopyOptions<'_>,
) -> Result<CopyReport, CopyError> {
    let mut run = CopyRun {
        from,
        to,
        options,
        report: CopyReport::default(),
        seen: HashSet::new(),
        proof: ReferrerProof::default(),
    };
    let mut subjects = run.copy_graph(vec![root.clone()], None).await?;
    if run.options.referrers == CopyReferrers::Copy {
        for _ in 0..MAX_REFERRER_DEPTH {
            subjects = run.copy_referrers(&subjects).await?;
        }
        run.demand_no_more(&subjects).await?;
        run.proof.demand(from, to, &run.seen, run.jobs()).await?;
    }
    if let Some(tag) = &run.options.tag {
        to.tag(root, tag).await.map_err(CopyError::destination)?;
    }
    Ok(run.report)
}

/// Demands that [`copy()`] could read every manifest below `root`, and reads them for that, `jobs` at a time.
///
/// # Errors
/// As [`copy()`], of the source.
pub async fn demand_readable(
    from: &dyn ReadStore,
    root: &Descriptor,
    (budget, jobs): (&CopyBudget, usize),
) -> Result<(), CopyError> {
    let read = Graph::read(from, vec![root.clone()], None, &HashSet::new(), (budget, jobs.max(1))).await;
    read.map(drop).map_err(CopyError::source)
}

/// How many bytes [`copy()`] moves with [`CopyReferrers::Copy`] into a store that has nothing of it. It reads every manifest
/// for that, `jobs` at a time.
///
/// # Errors
/// As [`copy()`], of the source.
pub async fn size_of_copy(
    from: &dyn ReadStore,
    root: &Descriptor,
    bounds: (&CopyBudget, usize),
) -> Result<u64, CopyError> {
    let (mut seen, mut bytes) = (HashSet::new(), 0_u64);
    let mut level = vec![(vec![root.clone()], None)];
    for _ in 0..=MAX_REFERRER_DEPTH {
        let mut subjects = Vec::new();
        for (roots, subject) in level {
            let read = Graph::read(from, roots, subject.as_ref(), &seen, bounds).await;
            let graph = read.map_err(CopyError::source)?;
            let manifests = graph.levels().into_iter().flatten().map(|(manifest, _)| manifest);
            bytes = manifests.chain(graph.blobs()).fold(bytes, |sum, one| sum.saturating_add(one.size));
            seen.extend(graph.digests());
            subjects.extend(graph.manifests());
        }
        level = Vec::new();
        for subject in subjects {
            let mut referrers = from.referrers(&subject).await.map_err(CopyError::source)?;
            referrers.retain(|referrer| !seen.contains(&referrer.digest));
            if !referrers.is_empty() {
                level.push((referrers, Some(subject)));
            }
        }
    }
    Ok(bytes)
}

struct CopyRun<'a> {
    from: &'a dyn ReadStore,
    to: &'a dyn Store,
    options: CopyOptions<'a>,
    report: CopyReport,
    seen: HashSet<Digest>,
    proof: ReferrerProof,
}

impl CopyRun<'_> {
    /// Copies what these roots lead to, and returns the manifests. With `subject`, a root that does not
    /// refer to it is skipped: a listing of referrers is only a claim.
    async fn copy_graph(&mut self, roots: Vec<Descriptor>, subject: Option<&Digest>) -> Result<Vec<Digest>, CopyError> {
        let graph =
            Graph::read(self.from, roots, subject, &self.seen, self.bounds()).await.map_err(CopyError::source)?;
        self.seen.extend(graph.digests());
        self.proof.extend(&graph);
        let blobs = graph.blobs();
        let count = Counter::new(self.options.reporter, "copying", blobs.len());
        let copy = |blob| self.copy_blob(blob, self.moved(blob, &graph)).inspect_ok(|_| count.done()).boxed();
        let blobs = blobs.into_iter().map(copy).collect();
        let done = self.all(blobs).await?;
        self.count(done);
        for level in graph.levels() {
            let manifests = level.into_iter().map(|node| self.copy_manifest(node).boxed()).collect();
            let done = self.all(manifests).await?;
            self.count(done);
        }
        Ok(graph.manifests())
    }

    async fn copy_referrers(&mut self, subjects: &[Digest]) -> Result<Vec<Digest>, CopyError> {
        let mut copied = Vec::new();
        for subject in subjects {
            let mut referrers = self.from.referrers(subject).await.map_err(CopyError::source)?;
            referrers.retain(|referrer| !self.seen.contains(&referrer.digest));
            if referrers.len() > MAX_REFERRERS {
                let problem =
                    format!("{subject} has {} referrers: at most {MAX_REFERRERS} are copied", referrers.len());
                return Err(CopyError::source(StoreError::Malformed { place: self.from.place(), problem }));
            }
            if !referrers.is_empty() {
                copied.extend(self.copy_graph(referrers, Some(subject)).await?);
            }
        }
        Ok(copied)
    }

    /// Demands that nothing refers to the last level of referrers: it would not be copied.
    async fn demand_no_more(&self, subjects: &[Digest]) -> Result<(), CopyError> {
        for subject in subjects {
            let mut referrers = self.from.referrers(subject).await.map_err(CopyError::source)?;
            referrers.retain(|referrer| !self.seen.contains(&referrer.digest));
            let graph = Graph::read(self.from, referrers, Some(subject), &self.seen, self.bounds()).await;
            if !graph.map_err(CopyError::source)?.manifests().is_empty() {
                let problem = format!(
                    "{subject} has referrers of its own: at most {MAX_REFERRER_DEPTH} levels of them are copied"
                );
                return Err(CopyError::source(StoreError::Malformed { place: self.from.place(), problem }));
            }
        }
        Ok(())
    }

    async fn all(
        &self,
        work: Vec<BoxFuture<'_, Result<(Pushed, u64), CopyError>>>,
    ) -> Result<Vec<(Pushed, u64)>, CopyError> {
        futures_util::stream::iter(work).buffer_unordered(self.jobs()).try_collect().await
    }

    /// How much of a graph is read, and how much of it at once.
    fn bounds(&self) -> (&CopyBudget, usize) {
        (&self.options.budget, self.jobs())
    }

    fn jobs(&self) -> usize {
        self.options.jobs.max(1)
    }

    fn count(&mut self, done: Vec<(Pushed, u64)>) {
        for (pushed, size) in done {
            match pushed {
                Pushed::Uploaded => {
                    self.report.pushed += 1;
                    self.report.bytes += size;
                }
                Pushed::Present => self.report.present += 1,
                Pushed::Mounted => self.report.mounted += 1,
            }
        }
    }

    async fn copy_manifest(&self, (descriptor, bytes): (&Descriptor, &Bytes)) -> Result<(Pushed, u64), CopyError> {
        let pushed = self.to.push(descriptor, bytes).await.map_err(CopyError::destination)?;
        Ok((pushed, descriptor.size))
    }

    /// How the copy of the blob is reported.
    fn moved(&self, blob: &Descriptor, graph: &Graph) -> Moved<'_> {
        let reporter: &dyn Reporter = if graph.is_config(blob) { &NoReporter } else { self.options.reporter };
        Moved { subject: names::subject(blob, graph.manifest_of(blob)), bytes: blob.size, reporter, started: false }
    }

    async fn copy_blob(&self, blob: &Descriptor, mut moved: Moved<'_>) -> Result<(Pushed, u64), CopyError> {
        let pushed = match self.mount(blob).await.map_err(CopyError::destination)? {
            Some(pushed) => pushed,
            None => self.send(blob, &mut moved).await?,
        };
        match pushed {
            // Nothing is pushed into a directory.
            Pushed::Uploaded if matches!(self.to.place(), Place::Layout(_)) => moved.finish("copied"),
            Pushed::Uploaded => moved.finish("pushed"),
            Pushed::Mounted => moved.finish("mounted"),
            Pushed::Present => {}
        }
        Ok((pushed, blob.size))
    }

    /// Links the blob if both ends lie in one registry; `None` if it has to be sent.
    async fn mount(&self, blob: &Descriptor) -> Result<Option<Pushed>, StoreError> {
        let (Some(from), Some(to)) = (self.from.repository(), self.to.repository()) else { return Ok(None) };
        if from.registry() != to.registry() {
            return Ok(None);
        }
        if self.to.exists(blob).await? {
            return Ok(Some(Pushed::Present));
        }
        Ok(self.to.mount(blob, from).await?.then_some(Pushed::Mounted))
    }

    async fn send(&self, blob: &Descriptor, moved: &mut Moved<'_>) -> Result<Pushed, CopyError> {
        push_observed(self.to, blob, &StoredBody(self.from, blob), &mut |done| moved.progress(done)).await
    }
}

/// A blob as reporters see it: a blob that turns out to be there already is not reported.
struct Moved<'a> {
    subject: String,
    bytes: u64,
    reporter: &'a dyn Reporter,
    started: bool,
}

impl Moved<'_> {
    fn start(&mut self) {
        if !self.started {
            self.started = true;
            self.reporter.event(&Event::Started { subject: self.subject.clone(), bytes: Some(self.bytes) });
        }
    }

    fn progress(&mut self, done: u64) {
        self.start();
        self.reporter.event(&Event::Progress { subject: self.subject.clone(), done });
    }

    fn finish(mut self, outcome: &str) {
        self.start();
        self.reporter.event(&Event::Finished { subject: self.subject, outcome: outcome.to_owned() });
    }
}
