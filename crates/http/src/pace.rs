//! Whether a body comes fast enough.

use std::time::Duration;

use crate::clean::NetworkProblem;
use crate::limits::Limits;

/// How a body comes. Two floors hold side by side: one finds a body that has stopped, the other one that drips.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Pace {
    /// How much longer nothing may move, of the time that all tries of the request have.
    left: Duration,
    stall: Gauge,
    drip: Gauge,
}

/// What was waited, and what came, since enough had come last.
#[derive(Clone, Copy, Debug, Default)]
struct Gauge {
    waited: Duration,
    bytes: u64,
}

/// So many bytes must come in this time.
#[derive(Clone, Copy)]
struct Floor {
    bytes: u64,
    within: Duration,
}

impl Pace {
    pub(crate) fn within(left: Duration) -> Self {
        Self { left, ..Self::default() }
    }

    /// The time that the request has spent without the progress that it should have made.
    pub(crate) fn still(&self) -> Duration {
        self.stall.waited.max(self.drip.waited)
    }

    /// The time since the last two KiB had come.
    pub(crate) fn stalled(&self) -> Duration {
        self.stall.waited
    }

    /// How long the next piece may take.
    pub(crate) fn patience(&self, limits: &Limits) -> Duration {
        let [stall, drip] = self.floors(limits);
        stall.within.saturating_sub(self.stall.waited).min(drip.within.saturating_sub(self.drip.waited))
    }

    /// Counts time that was waited.
    pub(crate) fn waited(&mut self, time: Duration) {
        self.stall.waited += time;
        self.drip.waited += time;
    }

    /// Counts bytes that came.
    pub(crate) fn moved(&mut self, bytes: u64, limits: &Limits) {
        let [stall, drip] = self.floors(limits);
        self.stall.moved(bytes, stall);
        self.drip.moved(bytes, drip);
    }

    /// What is wrong if the next piece has taken longer than [`Pace::patience`].
    pub(crate) fn too_slow(&self, limits: &Limits) -> NetworkProblem {
        let [stall, drip] = self.floors(limits);
        if self.stall.waited >= stall.within {
            let what = match self.stall.bytes {
                0 => "nothing came".to_owned(),
                bytes => format!("only {bytes} bytes came"),
            };
            return NetworkProblem::timed_out(&what, self.stall.waited);
        }
        let what = format!("only {} of at least {} bytes came", self.drip.bytes, drip.bytes);
        NetworkProblem::timed_out(&what, self.drip.waited)
    }

    /// Both floors; if less time is left than they have, in proportion.
    fn floors(&self, limits: &Limits) -> [Floor; 2] {
        [(limits.floor, limits.window), (limits.pace_floor, limits.pace_window)].map(|(bytes, within)| {
            if self.left >= within {
                return Floor { bytes, within };
            }
            let share = self.left.as_millis().saturating_mul(u128::from(bytes)) / within.as_millis().max(1);
            Floor { bytes: u64::try_from(share).unwrap_or(bytes).max(1), within: self.left }
        })
    }
}

impl Gauge {
    fn moved(&mut self, bytes: u64, floor: Floor) {
        self.bytes += bytes;
        if self.bytes >= floor.bytes {
            *self = Self::default();
        }
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use bytes::Bytes;
    use reqwest::Method;
    use tofu_oci_types::NoReporter;
    use tokio::time::Instant;
    use url::Url;

    use super::*;
    use crate::answer::{Answer, Unread};
    use crate::client::RegistryClient;
    use crate::options::{ClientOptions, NoCredentials};

    /// An answer whose body brings so many bytes each time that this time has passed, without an end.
    fn answer(bytes: usize, every: Duration, total: Duration) -> Answer {
        let options = ClientOptions { limits: Limits::within(total), ..ClientOptions::default() };
        let client = RegistryClient::new(options, Arc::new(NoCredentials), Arc::new(NoReporter)).expect("a client");
        let body = futures_util::stream::unfold(Bytes::from(vec![b'x'; bytes]), move |piece| async move {
            tokio::time::sleep(every).await;
            Some((Ok::<_, std::io::Error>(piece.clone()), piece))
        });
        let response = http::Response::new(reqwest::Body::wrap_stream(body)).into();
        let waiting = client.waiting(&Method::GET, &Url::parse("http://a.test/v2/x").expect("an address"));
        client.answer(response, "a.test/x".to_owned(), "GET /v2/x".to_owned(), waiting)
    }

    /// What becomes of a body of 4 MiB at most, and after how many seconds.
    async fn read(bytes: usize, every_ms: u64, total_s: u64) -> (String, u64) {
        let mut answer = answer(bytes, Duration::from_millis(every_ms), Duration::from_secs(total_s));
        let start = Instant::now();
        let told = match answer.read(4 << 20).await {
            Ok(bytes) => format!("{} bytes", bytes.len()),
            Err(Unread::TooLarge) => "all of it".to_owned(),
            Err(Unread::Broken(problem)) => problem.text,
        };
        (told, start.elapsed().as_secs())
    }

    #[tokio::test(start_paused = true)]
    async fn a_body_that_drips_ends() {
        let all = "all of it".to_owned();
        let slow = |text: &str, seconds| (format!("timed out: only {text} for {seconds} s"), seconds);
        assert_eq!(read(1, 1000, 120).await, slow("30 bytes came", 30));
        // 100 bytes a second: 4 MiB would take half a day.
        assert_eq!(read(100, 1000, 120).await, slow("6000 of at least 61440 bytes came", 60));
        assert_eq!(read(1023, 1000, 120).await, slow("61380 of at least 61440 bytes came", 60));
        assert_eq!(read(1042, 1000, 120).await, (all.clone(), 4026));
        // Bursts count as what they are together.
        assert_eq!(read(2048, 29_000, 120).await, slow("4096 of at least 61440 bytes came", 60));
        assert_eq!(read(32 << 10, 29_000, 120).await.0, all);
    }

    #[tokio::test(start_paused = true)]
    async fn the_timeout_scales_the_floor_and_never_asks_for_more() {
        let slow = |text: &str, seconds| (format!("timed out: only {text} for {seconds} s"), seconds);
        assert_eq!(read(600, 1000, 240).await.0, "all of it");
        assert_eq!(read(500, 1000, 240).await, slow("60000 of at least 61440 bytes came", 120));
        assert_eq!(read(1100, 1000, 12).await.0, "all of it");
        assert_eq!(read(1000, 1000, 12).await, slow("6000 of at least 6144 bytes came", 6));
    }
}
