//! What the access log and the metrics hold of a request, known when it is over.

use std::net::IpAddr;
use std::sync::Arc;
use std::time::SystemTime;

use http::{Method, StatusCode};
use tofu_oci_types::{Event, Moment, Reporter};
use tokio::time::Instant;

use super::access_log::{AccessLogger, LogLine, shortened};
use super::metrics::{CountedNow, Metrics};
use super::own_route::counted_as;
use crate::BaseUrl;

/// Where the records of all requests go.
pub(super) struct RequestLedger {
    pub(super) metrics: Arc<Metrics>,
    pub(super) log: AccessLogger,
    pub(super) reporter: Arc<dyn Reporter>,
    /// What the paths of requests begin with.
    pub(super) base: BaseUrl,
}

/// What is known of a request when it is over.
pub(super) struct RequestRecord {
    pub(super) ledger: Arc<RequestLedger>,
    pub(super) id: String,
    pub(super) client: Option<String>,
    pub(super) address: IpAddr,
    pub(super) method: Method,
    pub(super) path: String,
    pub(super) agent: Option<String>,
    pub(super) begun: Instant,
    pub(super) status: Option<StatusCode>,
    pub(super) code: Option<&'static str>,
    /// Why the status is 5xx.
    pub(super) reason: Option<String>,
    /// What it is counted as, if its answer says that.
    pub(super) route: Option<&'static str>,
    pub(super) bytes: u64,
    pub(super) is_whole: bool,
    pub(super) _open: CountedNow,
}

impl RequestRecord {
    /// The answer ends here, and the client sees that.
    pub(super) fn broke(&mut self, error: &axum::Error) {
        let text = format!("the answer to {} broke off: {error}", shortened(&self.path));
        self.ledger.reporter.event(&Event::warning("answer-broken", text));
    }
}

impl Drop for RequestRecord {
    fn drop(&mut self) {
        // A request that its client does not wait for has the status that nginx gives it.
        let status = self.status.map_or(499, |status| status.as_u16());
        let (ledger, time) = (&self.ledger, self.begun.elapsed());
        let route = self.route.unwrap_or_else(|| counted_as(ledger.base.strip(&self.path)));
        ledger.metrics.answered(route, status, self.bytes, time);
        if let Some(code) = self.code {
            ledger.metrics.failed(code);
        }
        if !self.is_whole {
            ledger.metrics.broke();
        }
        ledger.log.line(LogLine {
            time: Moment::from(SystemTime::now()).to_string(),
            id: &self.id,
            client: self.client.as_deref(),
            address: self.address.to_string(),
            method: self.method.as_str(),
            path: shortened(&self.path),
            status,
            bytes: self.bytes,
            ms: u64::try_from(time.as_millis()).unwrap_or(u64::MAX),
            agent: self.agent.take(),
            code: self.code,
            reason: self.reason.as_deref(),
            broken: !self.is_whole,
            lines_dropped: 0,
        });
    }
}
