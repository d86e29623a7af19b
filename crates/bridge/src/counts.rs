//! What is counted below the server, for its metrics.

use prometheus_client::encoding::EncodeLabelSet;
use prometheus_client::metrics::counter::Counter;
use prometheus_client::metrics::family::Family;

/// How questions were answered, and which faults places had. Clones count together.
#[derive(Clone, Debug, Default)]
pub(crate) struct Counts {
    pub(crate) answers: Family<AnswerLabel, Counter>,
    pub(crate) faults: Family<FaultLabel, Counter>,
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

    /// A place did not answer a question.
    pub(crate) fn failed(&self, code: &'static str) {
        self.faults.get_or_create(&FaultLabel { code }).inc();
    }
}
