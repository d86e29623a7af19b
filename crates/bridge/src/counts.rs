//! What is counted below the server, for its metrics.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use prometheus_client::encoding::EncodeLabelSet;
use prometheus_client::metrics::counter::Counter;
use prometheus_client::metrics::family::Family;
use prometheus_client::metrics::histogram::Histogram;
use tofu_oci_mirror::{OnPull, PullOutcome};

/// The upper bounds of the times, in seconds: from a warm cache to an archive on a slow line.
pub(crate) const TIMES: [f64; 13] = [0.001, 0.002, 0.005, 0.01, 0.025, 0.1, 0.25, 1.0, 2.5, 5.0, 10.0, 60.0, 600.0];

/// How questions were answered, which faults places had, and what was pulled through. Clones count together.
#[derive(Clone, Debug)]
pub(crate) struct Counts {
    pub(crate) answers: Family<AnswerLabel, Counter>,
    pub(crate) faults: Family<FaultLabel, Counter>,
    pub(crate) pulls: Family<PullLabels, Counter>,
    pub(crate) pull_times: Family<KindLabel, Histogram>,
    pub(crate) pulled_bytes: Family<KindLabel, Counter>,
    /// How many answers and refusals the catalog has kept. No metric shows it.
    changes: Arc<AtomicU64>,
}

impl Default for Counts {
    fn default() -> Self {
        Self {
            answers: Family::default(),
            faults: Family::default(),
            pulls: Family::default(),
            pull_times: Family::new_with_constructor(|| Histogram::new(TIMES)),
            pulled_bytes: Family::default(),
            changes: Arc::default(),
        }
    }
}

/// How a question was answered.
#[derive(Clone, Copy, Debug)]
pub(crate) enum CacheAnswer {
    /// By a kept answer or refusal.
    Hit,
    Miss,
    /// By the place, which was already being asked the same.
    Joined,
    /// By an old answer, because the place failed.
    Stale,
}

#[derive(Clone, Debug, PartialEq, Eq, Hash, EncodeLabelSet)]
pub(crate) struct AnswerLabel {
    cache: &'static str,
}

#[derive(Clone, Debug, PartialEq, Eq, Hash, EncodeLabelSet)]
pub(crate) struct FaultLabel {
    code: &'static str,
}

#[derive(Clone, Debug, PartialEq, Eq, Hash, EncodeLabelSet)]
pub(crate) struct PullLabels {
    pub(crate) kind: &'static str,
    pub(crate) outcome: &'static str,
}

#[derive(Clone, Debug, PartialEq, Eq, Hash, EncodeLabelSet)]
pub(crate) struct KindLabel {
    kind: &'static str,
}

impl Counts {
    pub(crate) fn answered(&self, cache: CacheAnswer) {
        let cache = match cache {
            CacheAnswer::Hit => "hit",
            CacheAnswer::Miss => "miss",
            CacheAnswer::Joined => "joined",
            CacheAnswer::Stale => "stale",
        };
        self.answers.get_or_create(&AnswerLabel { cache }).inc();
    }

    /// Questions that a kept answer answered.
    #[cfg(test)]
    pub(crate) fn hits(&self) -> u64 {
        self.answers.get_or_create(&AnswerLabel { cache: "hit" }).get()
    }

    /// The catalog has kept an answer or a refusal.
    pub(crate) fn changed(&self) {
        self.changes.fetch_add(1, Ordering::SeqCst);
    }

    /// Grows with each answer that the catalog keeps.
    pub(crate) fn changes(&self) -> u64 {
        self.changes.load(Ordering::SeqCst)
    }

    /// A place did not answer a question.
    pub(crate) fn failed(&self, code: &'static str) {
        self.faults.get_or_create(&FaultLabel { code }).inc();
    }

    /// Counts the pulls of one kind of address.
    pub(crate) fn pulls_of(&self, kind: &'static str) -> OnPull {
        let counts = self.clone();
        Box::new(move |outcome| {
            let label = match outcome {
                PullOutcome::Fetched { bytes, time } => {
                    counts.pull_times.get_or_create(&KindLabel { kind }).observe(time.as_secs_f64());
                    counts.pulled_bytes.get_or_create(&KindLabel { kind }).inc_by(bytes);
                    "fetched"
                }
                PullOutcome::Failed => "failed",
                PullOutcome::Refused => "refused",
                PullOutcome::Held => "held",
                PullOutcome::Denied => "denied",
            };
            counts.pulls.get_or_create(&PullLabels { kind, outcome: label }).inc();
        })
    }
}
