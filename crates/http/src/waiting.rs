//! Waiting for a host, with an event that says so when it takes long.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use tofu_oci_types::{Event, Reporter};
use tokio::time::{Instant, timeout_at};

use crate::http::Http;
use crate::limits::shown;
use crate::pacing::Announced;

/// Who waits for whom.
#[derive(Clone)]
pub(crate) struct Waiting {
    pub(crate) http: Arc<Http>,
    pub(crate) reporter: Arc<dyn Reporter>,
    /// The host.
    pub(crate) host: String,
    /// Method and path of the request.
    pub(crate) request: String,
    /// Whether it has been said; once is enough for a request and its answer.
    pub(crate) said: Arc<AtomicBool>,
}

/// What was waited for has not come.
pub(crate) struct Elapsed;

impl Waiting {
    /// Waits as long as `since` says that the time counts from less than `limit` ago. `since` is asked again after each
    /// wait: what moves meanwhile makes it later.
    pub(crate) async fn until<T>(
        &self,
        limit: Duration,
        since: impl Fn() -> Instant,
        future: impl Future<Output = T>,
    ) -> Result<T, Elapsed> {
        let notice = self.http.limits().notice;
        let mut future = std::pin::pin!(future);
        let mut announced: Option<Announced<'_>> = None;
        loop {
            let said = self.said.load(Ordering::Relaxed);
            let patience = if said { limit } else { limit.min(notice) };
            if let Ok(output) = timeout_at(since() + patience, &mut future).await {
                return Ok(output);
            }
            let still = Instant::now().saturating_duration_since(since());
            if still >= limit {
                return Err(Elapsed);
            }
            if still >= notice && !said {
                self.said.store(true, Ordering::Relaxed);
                // Kept until the wait is over: nobody else says meanwhile that they wait for this host.
                announced = announced.or(self.announce(still));
            }
        }
    }

    fn announce(&self, still: Duration) -> Option<Announced<'_>> {
        let announced = self.http.pacing().announce(self.host.clone())?;
        let text = format!("waiting for {}: {} has got no further for {}", self.host, self.request, shown(still));
        self.reporter.event(&Event::note("waiting", text));
        Some(announced)
    }
}
