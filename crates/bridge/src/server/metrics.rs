//! The metrics, as Prometheus reads them. No label comes from a client.

use std::sync::Arc;
use std::sync::atomic::AtomicU64;
use std::time::Duration;

use prometheus_client::encoding::EncodeLabelSet;
use prometheus_client::encoding::text::encode;
use prometheus_client::metrics::counter::Counter;
use prometheus_client::metrics::family::Family;
use prometheus_client::metrics::gauge::Gauge;
use prometheus_client::metrics::histogram::Histogram;
use prometheus_client::registry::{Registry, Unit};

use crate::counts::{Counts, TIMES};

#[derive(Clone, Debug, PartialEq, Eq, Hash, EncodeLabelSet)]
struct RequestLabels {
    route: &'static str,
    status: u16,
}

#[derive(Clone, Debug, PartialEq, Eq, Hash, EncodeLabelSet)]
struct RouteLabel {
    route: &'static str,
}

#[derive(Clone, Debug, PartialEq, Eq, Hash, EncodeLabelSet)]
struct CodeLabel {
    code: &'static str,
}

/// What a server has done so far.
pub(super) struct Metrics {
    registry: Registry,
    requests: Family<RequestLabels, Counter>,
    seconds: Family<RouteLabel, Histogram>,
    bytes: Family<RouteLabel, Counter>,
    refusals: Family<CodeLabel, Counter>,
    broken: Counter,
    connections: Gauge,
    in_flight: Gauge,
    zip_cache: Gauge,
}

/// Something that is open, for as long as it lives.
pub(super) struct CountedNow(Gauge);

impl Drop for CountedNow {
    fn drop(&mut self) {
        self.0.dec();
    }
}

impl Metrics {
    pub(super) fn new(counts: &Counts) -> Self {
        let mut registry = Registry::with_prefix("tofu_oci");
        registry.register(
            "catalog_answers",
            "Questions about providers, by how they were answered",
            counts.answers.clone(),
        );
        registry.register("upstream_faults", "Faults of places, by the code of the error", counts.faults.clone());
        registry.register("pulls", "Versions that a place lacked, by how the question ended", counts.pulls.clone());
        let help = "Time that the fetch of a version from an upstream took";
        registry.register_with_unit("pull_duration", help, Unit::Seconds, counts.pull_times.clone());
        let help = "Bytes that places got from their upstreams";
        registry.register_with_unit("pulled", help, Unit::Bytes, counts.pulled_bytes.clone());
        let requests = Family::default();
        registry.register("requests", "Requests that were answered", requests.clone());
        let seconds: Family<RouteLabel, Histogram> = Family::new_with_constructor(|| Histogram::new(TIMES));
        let help = "Time from a request to the last byte of its answer";
        registry.register_with_unit("request_duration", help, Unit::Seconds, seconds.clone());
        let bytes = Family::default();
        registry.register_with_unit("sent", "Bytes of bodies that clients got", Unit::Bytes, bytes.clone());
        let refusals = Family::default();
        registry.register("failures", "Requests that failed, by the code of the error", refusals.clone());
        let broken = Counter::<u64, AtomicU64>::default();
        registry.register("broken_answers", "Answers that ended before their last byte", broken.clone());
        let connections = Gauge::default();
        registry.register("connections", "Open connections", connections.clone());
        let in_flight = Gauge::default();
        registry.register("requests_in_flight", "Requests that are being answered", in_flight.clone());
        let zip_cache = Gauge::default();
        let help = "Size of the zips in the cache folder";
        registry.register_with_unit("zip_cache", help, Unit::Bytes, zip_cache.clone());
        Self { registry, requests, seconds, bytes, refusals, broken, connections, in_flight, zip_cache }
    }

    pub(super) fn connection(self: &Arc<Self>) -> CountedNow {
        self.connections.inc();
        CountedNow(self.connections.clone())
    }

    pub(super) fn request(&self) -> CountedNow {
        self.in_flight.inc();
        CountedNow(self.in_flight.clone())
    }

    /// So many bytes of zips are on disk.
    pub(super) fn kept(&self, bytes: u64) {
        self.zip_cache.set(i64::try_from(bytes).unwrap_or(i64::MAX));
    }

    pub(super) fn in_flight(&self) -> i64 {
        self.in_flight.get()
    }

    pub(super) fn answered(&self, route: &'static str, status: u16, bytes: u64, time: Duration) {
        self.requests.get_or_create(&RequestLabels { route, status }).inc();
        self.seconds.get_or_create(&RouteLabel { route }).observe(time.as_secs_f64());
        self.bytes.get_or_create(&RouteLabel { route }).inc_by(bytes);
    }

    pub(super) fn failed(&self, code: &'static str) {
        self.refusals.get_or_create(&CodeLabel { code }).inc();
    }

    pub(super) fn broke(&self) {
        self.broken.inc();
    }

    /// The text that Prometheus reads, in the form of `OpenMetrics`.
    pub(super) fn text(&self) -> String {
        let mut text = String::new();
        // A `String` takes every byte.
        let _ = encode(&mut text, &self.registry);
        text
    }
}
