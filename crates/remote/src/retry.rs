//! When a request is made again, and how long it waits. Pure but for the draw of the jitter.

use std::hash::{BuildHasher as _, RandomState};
use std::time::{Duration, SystemTime};

use crate::options::RetryPolicy;

/// What comes after an attempt that did not count.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Next {
    /// The next attempt, after this time.
    Wait(Duration),
    /// No more attempts.
    GiveUp,
    /// The registry asks for a longer wait than we are willing to make.
    TooLong(Duration),
}

/// The attempts of one request.
pub(crate) struct Attempts {
    policy: RetryPolicy,
    longest_asked: Duration,
    made: u32,
    waited: Duration,
}

impl Attempts {
    pub(crate) fn new(policy: RetryPolicy, longest_asked: Duration) -> Self {
        Self { policy, longest_asked, made: 1, waited: Duration::ZERO }
    }

    /// How many attempts have been made or announced, the first one counted.
    pub(crate) fn made(&self) -> u32 {
        self.made
    }

    /// Forgets the attempts that were made, because there has been progress since. The time that was waited counts on.
    pub(crate) fn reset(&mut self) {
        self.made = 1;
    }

    /// What comes next. `asked` is what the registry wants us to wait.
    pub(crate) fn next(&mut self, asked: Option<Duration>) -> Next {
        self.next_with(asked, RandomState::new().hash_one(self.made))
    }

    fn next_with(&mut self, asked: Option<Duration>, random: u64) -> Next {
        if let Some(asked) = asked
            && asked > self.longest_asked
        {
            return Next::TooLong(asked);
        }
        if self.made >= self.policy.attempts {
            return Next::GiveUp;
        }
        let wait = asked.unwrap_or_else(|| {
            let bound = self.policy.base.saturating_mul(1 << (self.made - 1).min(16)).min(self.policy.cap);
            let millis = u64::try_from(bound.as_millis()).unwrap_or(u64::MAX - 1);
            Duration::from_millis(random % (millis + 1))
        });
        if self.waited + wait > self.policy.budget {
            return asked.map_or(Next::GiveUp, Next::TooLong);
        }
        self.made += 1;
        self.waited += wait;
        Next::Wait(wait)
    }
}

/// The wait that a `Retry-After` asks for: seconds, or a date.
pub(crate) fn retry_after(value: &str, now: SystemTime) -> Option<Duration> {
    let value = value.trim();
    if !value.is_empty() && value.bytes().all(|byte| byte.is_ascii_digit()) {
        return Some(Duration::from_secs(value.parse().unwrap_or(u64::from(u32::MAX))));
    }
    let date = httpdate::parse_http_date(value).ok()?;
    Some(date.duration_since(now).unwrap_or_default())
}

/// Whether an answer of this status may be another one next time.
pub(crate) fn is_transient(status: u16) -> bool {
    matches!(status, 408 | 429) || (status >= 500 && !matches!(status, 501 | 505))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn attempts() -> Attempts {
        Attempts::new(RetryPolicy::default(), Duration::from_mins(2))
    }

    #[test]
    fn backoff_doubles_up_to_the_cap_with_full_jitter() {
        let mut five = attempts();
        let waits: Vec<Next> = [500, 1000, 2000, 4000, 0].map(|most| five.next_with(None, most)).into();
        let wait = |millis| Next::Wait(Duration::from_millis(millis));
        assert_eq!(waits, [wait(500), wait(1000), wait(2000), wait(4000), Next::GiveUp]);
        let mut none = attempts();
        assert_eq!(none.next_with(None, 501), wait(0), "drawn from zero to the bound");
        let mut many = Attempts::new(RetryPolicy { attempts: 100, ..RetryPolicy::default() }, Duration::ZERO);
        let longest = (0..20).map(|_| many.next_with(None, 30_000)).filter(|next| *next == wait(30_000)).count();
        assert!(longest > 1);
    }

    #[test]
    fn the_waits_of_one_request_stay_in_the_budget() {
        let mut attempts = attempts();
        for _ in 0..2 {
            assert_eq!(attempts.next(Some(Duration::from_mins(2))), Next::Wait(Duration::from_mins(2)));
        }
        assert_eq!(attempts.next(Some(Duration::from_mins(2))), Next::TooLong(Duration::from_mins(2)));
    }

    #[test]
    fn a_wait_that_is_asked_for_is_made_or_refused_but_never_shortened() {
        assert_eq!(attempts().next(Some(Duration::from_secs(7))), Next::Wait(Duration::from_secs(7)));
        assert_eq!(attempts().next(Some(Duration::from_hours(1))), Next::TooLong(Duration::from_hours(1)));
    }

    #[track_caller]
    fn check(value: &str, want: Option<u64>) {
        let now = httpdate::parse_http_date("Sat, 21 Nov 2026 09:00:00 GMT").unwrap();
        assert_eq!(retry_after(value, now), want.map(Duration::from_secs), "{value}");
    }

    #[test]
    fn retry_after_is_seconds_or_a_date() {
        check("0", Some(0));
        check(" 120 ", Some(120));
        check("99999999999999999999999", Some(u64::from(u32::MAX)));
        check("Sat, 21 Nov 2026 09:01:30 GMT", Some(90));
        check("Sat, 21 Nov 2026 08:00:00 GMT", Some(0));
        check("soon", None);
        check("-1", None);
        check("", None);
    }
}
