//! What all requests of a client to one host know of each other: whether it was reached, until when it wants no requests,
//! and whether an event has reported that a request waits for it.

use std::collections::HashMap;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use tokio::time::Instant;
use url::Url;

use crate::clean::host_of;

/// The hosts of a client.
#[derive(Default)]
pub(crate) struct Pacing(Mutex<HashMap<String, HostPace>>);

#[derive(Default)]
struct HostPace {
    reached: bool,
    /// The end of the last pause that the host asked for.
    until: Option<Instant>,
    announced: bool,
}

/// While it lives, no other request reports that it waits for this host.
pub(crate) struct WaitNotice<'a>(&'a Pacing, String);

impl Pacing {
    fn hosts(&self) -> MutexGuard<'_, HashMap<String, HostPace>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Remembers that the host has answered in this run.
    pub(crate) fn answered(&self, url: &Url) {
        self.hosts().entry(host_of(url)).or_default().reached = true;
    }

    /// Whether the host has answered in this run.
    pub(crate) fn was_reached(&self, url: &Url) -> bool {
        self.hosts().get(&host_of(url)).is_some_and(|host| host.reached)
    }

    /// Starts a pause: no request goes to the host for this time. Returns the end of the pause.
    pub(crate) fn pause(&self, host: &str, time: Duration) -> Instant {
        let until = Instant::now() + time;
        let mut hosts = self.hosts();
        let host = hosts.entry(host.to_owned()).or_default();
        let until = host.until.map_or(until, |known| known.max(until));
        host.until = Some(until);
        until
    }

    /// How long the host wants no requests. A pause that was `sat_out` has passed, whatever the clock says.
    pub(crate) fn pause_of(&self, url: &Url, sat_out: Option<Instant>) -> Option<(Duration, Instant)> {
        let until = self.hosts().get(&host_of(url))?.until?;
        let left = until.saturating_duration_since(Instant::now());
        (!left.is_zero() && sat_out.is_none_or(|passed| passed < until)).then_some((left, until))
    }

    /// The right to report that a request waits for the host; `None` while another request has it.
    pub(crate) fn announce(&self, host: String) -> Option<WaitNotice<'_>> {
        let mut hosts = self.hosts();
        let known = hosts.entry(host.clone()).or_default();
        if std::mem::replace(&mut known.announced, true) {
            return None;
        }
        drop(hosts);
        Some(WaitNotice(self, host))
    }
}

impl Drop for WaitNotice<'_> {
    fn drop(&mut self) {
        self.0.hosts().entry(std::mem::take(&mut self.1)).or_default().announced = false;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn url() -> Url {
        Url::parse("http://a.test:5000/v2/").unwrap()
    }

    #[test]
    fn a_pause_holds_every_request_to_the_host_and_ends() {
        let pacing = Pacing::default();
        pacing.pause("a.test:5000", Duration::from_hours(2));
        pacing.pause("a.test:5000", Duration::from_hours(1));
        let (left, until) = pacing.pause_of(&url(), None).unwrap();
        assert!(left > Duration::from_hours(1), "the longest counts: {left:?}");
        assert_eq!(pacing.pause_of(&Url::parse("http://b.test:5000/").unwrap(), None), None);
        assert_eq!(pacing.pause_of(&url(), Some(until)), None);
        pacing.pause("b.test:5000", Duration::ZERO);
        assert_eq!(pacing.pause_of(&Url::parse("http://b.test:5000/").unwrap(), None), None, "it is over");
    }

    #[test]
    fn one_at_a_time_says_that_it_waits() {
        let pacing = Pacing::default();
        let first = pacing.announce("a.test".to_owned());
        assert!(first.is_some());
        assert!(pacing.announce("a.test".to_owned()).is_none());
        assert!(pacing.announce("b.test".to_owned()).is_some());
        drop(first);
        assert!(pacing.announce("a.test".to_owned()).is_some());
    }
}
