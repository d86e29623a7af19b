//! Waiting for a host, with an event that says so when it takes long.

use std::sync::Arc;
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
        let mut announced: Option<Option<Announced<'_>>> = None;
        loop {
            let patience = if announced.is_some() { limit } else { limit.min(notice) };
            if let Ok(output) = timeout_at(since() + patience, &mut future).await {
                return Ok(output);
            }
            let still = Instant::now().saturating_duration_since(since());
            if still >= limit {
                return Err(Elapsed);
            }
            if still >= notice && announced.is_none() {
                announced = Some(self.announce(still));
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
