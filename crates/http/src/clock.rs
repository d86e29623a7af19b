//! Time: what the clock says, and waiting.

use std::time::{Duration, SystemTime};

use async_trait::async_trait;

/// A clock. Tests hand in one that does not wait.
#[async_trait]
pub trait Clock: Send + Sync {
    /// The time now, for dates in `Retry-After` and in certificates.
    fn now(&self) -> SystemTime;

    /// Returns after this time.
    async fn sleep(&self, time: Duration);
}

/// The machine's clock.
#[derive(Clone, Copy, Debug, Default)]
pub struct SystemClock;

#[async_trait]
impl Clock for SystemClock {
    fn now(&self) -> SystemTime {
        SystemTime::now()
    }

    async fn sleep(&self, time: Duration) {
        tokio::time::sleep(time).await;
    }
}
