//! Waiting for a host, with an event if it takes long.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use tofu_oci_types::{Event, Reporter};
use tokio::time::{Instant, timeout_at};

use crate::limits::shown_time;
use crate::pacing::{Pacing, WaitNotice};

/// A request that waits for a host.
#[derive(Clone)]
pub(crate) struct Waiting {
    pub(crate) pacing: Arc<Pacing>,
    /// After this much waiting an event names the host.
    pub(crate) notice: Duration,
    pub(crate) reporter: Arc<dyn Reporter>,
    pub(crate) host: String,
    /// Method and path of the request.
    pub(crate) request: String,
    /// Whether an event has reported this wait.
    pub(crate) announced: Arc<AtomicBool>,
}

/// What was waited for has not come.
pub(crate) struct Elapsed;

impl Waiting {
    /// The same for the body of the answer: a wait for it is reported anew.
    pub(crate) fn renewed(&self) -> Self {
        Self { announced: Arc::default(), ..self.clone() }
    }

    /// Waits as long as `since` says that the time counts from less than `limit` ago. `since` is asked again after each
    /// wait: what moves meanwhile makes it later.
    pub(crate) async fn until<T>(
        &self,
        limit: Duration,
        since: impl Fn() -> Instant,
        future: impl Future<Output = T>,
    ) -> Result<T, Elapsed> {
        let notice = self.notice;
        let mut future = std::pin::pin!(future);
        let mut announced: Option<WaitNotice<'_>> = None;
        loop {
            let is_announced = self.announced.load(Ordering::Relaxed);
            let patience = if is_announced { limit } else { limit.min(notice) };
            if let Ok(output) = timeout_at(since() + patience, &mut future).await {
                return Ok(output);
            }
            let still = Instant::now().saturating_duration_since(since());
            if still >= limit {
                return Err(Elapsed);
            }
            if still >= notice && !is_announced {
                self.announced.store(true, Ordering::Relaxed);
                // Kept until the wait is over: meanwhile no other request reports a wait for this host.
                announced = announced.or(self.announce(still));
            }
        }
    }

    fn announce(&self, still: Duration) -> Option<WaitNotice<'_>> {
        let announced = self.pacing.announce(self.host.clone())?;
        let text = format!("waiting for {}: {} has got no further for {}", self.host, self.request, shown_time(still));
        self.reporter.event(&Event::note("waiting", text));
        Some(announced)
    }
}
