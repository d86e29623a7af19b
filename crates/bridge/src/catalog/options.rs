//! How a catalog asks, and for how long it keeps answers.

use std::sync::Arc;
use std::time::Duration;

use tofu_oci_fetch::Trust;
use tofu_oci_types::Reporter;

/// What a [`Catalog`](super::Catalog) depends on.
#[derive(Clone)]
pub struct CatalogOptions {
    /// Whose signatures count. Its time is not used: the catalog judges by the clock.
    pub trust: Trust,
    /// Hears of faults of places and releases.
    pub reporter: Arc<dyn Reporter>,
    /// How long an answer is used without asking again.
    pub fresh: Duration,
    /// How long a refusal is used without asking again.
    pub negative: Duration,
    /// How long a client waits for an answer. Clients give up after 10 seconds.
    pub patience: Duration,
    /// For how much of that time a failing place is asked again.
    pub hold: Duration,
    /// How old an answer may be that stands in for a failing place.
    pub stale: Duration,
    /// How many questions are put to all places at a time; the others wait.
    pub at_once: usize,
    /// How many of them to one host.
    pub at_one_host: usize,
    /// How many answers about providers are kept, and how many about releases.
    pub most: usize,
}

impl CatalogOptions {
    /// The usual times and bounds: 60 s fresh, refusals 10 s, 9 s of patience, stale answers of any age, 64 questions at a
    /// time and 16 to one host, 2000 answers.
    pub fn new(trust: Trust, reporter: Arc<dyn Reporter>) -> Self {
        Self {
            trust,
            reporter,
            fresh: Duration::from_mins(1),
            negative: Duration::from_secs(10),
            patience: Duration::from_secs(9),
            hold: Duration::from_secs(9),
            stale: Duration::MAX,
            at_once: 64,
            at_one_host: 16,
            most: 2000,
        }
    }
}
