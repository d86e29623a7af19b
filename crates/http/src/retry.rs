//! How often, and after how long, a request is made again. Pure, except for the random number in it.

use std::hash::{BuildHasher as _, RandomState};
use std::time::{Duration, SystemTime};

use tokio::time::Instant;

use crate::limits::HttpLimits;
use crate::options::{HttpOptions, RetryPolicy};

/// What comes after an attempt that did not count.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum NextAttempt {
    /// The next attempt, after this time.
    Wait(Duration),
    /// All attempts have been made.
    GiveUp,
    /// The server asks for a longer wait than this program is willing to make.
    TooLong(Duration),
}

/// What an attempt that did not count says about the next one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RetryAfter {
    Nothing,
    /// To come back after this time.
    Wait(Duration),
    /// That requests come too fast (429), perhaps with the time after which they are taken again.
    Slower(Option<Duration>),
}

impl RetryAfter {
    /// What an answer of this status says, with the wait that it names.
    pub fn of(status: u16, time: Option<Duration>) -> Self {
        match (status, time) {
            // A 429 without a time costs an attempt: otherwise it could be repeated for ever.
            (429, time) => Self::Slower(time.filter(|time| !time.is_zero())),
            (_, Some(time)) => Self::Wait(time),
            (_, None) => Self::Nothing,
        }
    }
}

/// The attempts of one request, and the time that they took without any progress.
#[derive(Clone, Debug)]
pub struct Attempts {
    policy: RetryPolicy,
    /// The longest time without progress.
    total: Duration,
    /// The longest time that the server may make us wait.
    longest_asked: Duration,
    /// So many bytes of progress make good this much time.
    worth: (u64, Duration),
    made: u32,
    /// How often the request went out, those attempts included that cost none.
    tries: u32,
    still: Duration,
    /// The longest time of one attempt, and how much of it the present one has taken.
    each: Duration,
    of_this: Duration,
    asked: Duration,
    /// The end of the last pause that was made for the server.
    sat_out: Option<Instant>,
}

impl Attempts {
    pub(crate) fn new(options: &HttpOptions) -> Self {
        let worth = (options.limits.pace_floor, options.limits.pace_window);
        Self { worth, ..Self::within(options.retry, options.limits.total, options.max_retry_after) }
    }

    pub(crate) fn within(policy: RetryPolicy, total: Duration, longest_asked: Duration) -> Self {
        Self {
            policy,
            total,
            longest_asked,
            worth: (HttpLimits::default().pace_floor, HttpLimits::default().pace_window),
            made: 1,
            tries: 1,
            still: Duration::ZERO,
            each: total,
            of_this: Duration::ZERO,
            asked: Duration::ZERO,
            sat_out: None,
        }
    }

    /// The same under another policy.
    pub(crate) fn by(self, policy: RetryPolicy) -> Self {
        Self { policy, ..self }
    }

    /// The same, and no single attempt takes longer than this.
    pub(crate) fn each_within(self, each: Duration) -> Self {
        Self { each, total: self.total.max(each), ..self }
    }

    /// How often the request has gone out, those attempts counted that cost none.
    pub(crate) fn tries(&self) -> u32 {
        self.tries
    }

    /// The end of the last pause that was made for the server.
    pub(crate) fn sat_out(&self) -> Option<Instant> {
        self.sat_out
    }

    pub(crate) fn sits_out(&mut self, until: Instant) {
        self.sat_out = Some(until);
    }

    /// How much longer nothing may move in this attempt.
    pub(crate) fn left(&self) -> Duration {
        self.total.saturating_sub(self.still).min(self.each.saturating_sub(self.of_this))
    }

    /// Counts time in which nothing moved.
    pub fn spend(&mut self, time: Duration) {
        self.still = self.still.saturating_add(time);
        self.of_this = self.of_this.saturating_add(time);
    }

    /// Counts the attempts anew, because so many bytes have moved since. Of the time only as much is forgotten as they may
    /// take: otherwise a transfer that breaks again and again could be as slow as it likes.
    pub fn progressed(&mut self, bytes: u64) {
        let (floor, window) = self.worth;
        let millis = window.as_millis().saturating_mul(u128::from(bytes)) / u128::from(floor.max(1));
        let time = Duration::from_millis(u64::try_from(millis).unwrap_or(u64::MAX));
        (self.made, self.tries) = (1, 1);
        self.of_this = Duration::ZERO;
        self.still = self.still.saturating_sub(time);
        self.asked = self.asked.saturating_sub(time);
    }

    /// The attempts of another request that serves the same purpose: counted anew, within the same time.
    #[must_use]
    pub fn of_another_request(&self) -> Self {
        Self { made: 1, tries: 1, of_this: Duration::ZERO, ..self.clone() }
    }

    /// Counts the time that another request took.
    pub fn count(&mut self, other: &Self) {
        (self.still, self.asked) = (other.still, other.asked);
    }

    /// Counts a pause that the server asks for; returns whether this program is willing to wait that long.
    pub(crate) fn held_up(&mut self, time: Duration) -> bool {
        self.asked = self.asked.saturating_add(time);
        self.asked <= self.longest_asked
    }

    /// What comes next.
    pub(crate) fn next(&mut self, asked: RetryAfter) -> NextAttempt {
        let next = self.next_with(asked, random());
        if matches!(next, NextAttempt::Wait(_)) {
            self.tries += 1;
            self.of_this = Duration::ZERO;
        }
        next
    }

    fn next_with(&mut self, asked: RetryAfter, random: u64) -> NextAttempt {
        if self.policy.attempts <= 1 {
            return self.longest(asked).map_or(NextAttempt::GiveUp, NextAttempt::TooLong);
        }
        let (time, cost) = match asked {
            // A server that wants fewer requests is not broken: this costs no attempt.
            RetryAfter::Slower(Some(time)) => (time, 0),
            RetryAfter::Wait(time) => (time, 1),
            RetryAfter::Nothing | RetryAfter::Slower(None) => return self.back_off(random),
        };
        if self.asked + time > self.longest_asked {
            return NextAttempt::TooLong(time);
        }
        if self.made + cost > self.policy.attempts {
            return NextAttempt::GiveUp;
        }
        self.asked += time;
        self.made += cost;
        NextAttempt::Wait(time + spread(time, random))
    }

    /// The wait that is asked for, if it is longer than we are willing to make.
    fn longest(&self, asked: RetryAfter) -> Option<Duration> {
        match asked {
            RetryAfter::Wait(time) | RetryAfter::Slower(Some(time)) => {
                Some(time).filter(|time| *time > self.longest_asked)
            }
            RetryAfter::Nothing | RetryAfter::Slower(None) => None,
        }
    }

    fn back_off(&mut self, random: u64) -> NextAttempt {
        if self.made >= self.policy.attempts {
            return NextAttempt::GiveUp;
        }
        // A short time in all gets short waits, so that it is not all spent on waiting.
        let policy = RetryPolicy { base: self.policy.base.min(self.total / 240), ..self.policy };
        let wait = jittered(policy.bound(self.made), random);
        // A last attempt with hardly any time would fail with a misleading reason.
        if self.still + wait + self.total / 24 > self.total {
            return NextAttempt::GiveUp;
        }
        self.made += 1;
        self.still += wait;
        NextAttempt::Wait(wait)
    }
}

impl RetryPolicy {
    /// The wait after so many attempts, or `None` if there is no further one.
    pub fn wait_after(&self, made: u32) -> Option<Duration> {
        (made < self.attempts).then(|| jittered(self.bound(made), random()))
    }

    /// The longest wait after so many attempts.
    fn bound(&self, made: u32) -> Duration {
        self.base.saturating_mul(1 << made.saturating_sub(1).min(16)).min(self.cap)
    }
}

/// Between half of a time and all of it, so that programs that disturb each other separate.
pub fn jittered(time: Duration, random: u64) -> Duration {
    time / 2 + part(time / 2, random)
}

/// A random number.
pub fn random() -> u64 {
    RandomState::new().hash_one(0)
}

/// How much later than asked a request is repeated, so that requests of one pause do not come at once.
pub(crate) fn spread(asked: Duration, random: u64) -> Duration {
    part((asked / 2).min(Duration::from_secs(1)), random)
}

/// A time from zero to this one.
fn part(whole: Duration, random: u64) -> Duration {
    let micros = u64::try_from(whole.as_micros()).unwrap_or(u64::MAX - 1);
    Duration::from_micros(random % (micros + 1))
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
pub fn is_transient(status: u16) -> bool {
    matches!(status, 408 | 429) || (status >= 500 && !matches!(status, 501 | 505))
}

#[cfg(test)]
mod tests {
    use super::*;

    const TOTAL: Duration = Duration::from_mins(2);

    fn seconds(seconds: u64) -> Duration {
        Duration::from_secs(seconds)
    }

    fn attempts() -> Attempts {
        Attempts::within(RetryPolicy::default(), TOTAL, seconds(120))
    }

    #[test]
    fn backoff_doubles_up_to_the_cap_and_is_never_less_than_half() {
        let wait = |millis| NextAttempt::Wait(Duration::from_millis(millis));
        let mut five = attempts();
        let waits: Vec<NextAttempt> =
            std::iter::repeat_with(|| five.next_with(RetryAfter::Nothing, 0)).take(5).collect();
        assert_eq!(waits, [wait(250), wait(500), wait(1000), wait(2000), NextAttempt::GiveUp]);
        let mut most = attempts();
        assert_eq!(most.next_with(RetryAfter::Nothing, 250_000), wait(500));
        let mut many = Attempts::within(RetryPolicy { attempts: 100, ..RetryPolicy::default() }, TOTAL, Duration::ZERO);
        let waits: Vec<NextAttempt> =
            std::iter::repeat_with(|| many.next_with(RetryAfter::Nothing, 0)).take(9).collect();
        assert_eq!(waits[6..], [wait(15_000), wait(15_000), wait(15_000)]);
    }

    #[test]
    fn all_tries_together_stay_within_the_total() {
        let mut attempts = attempts();
        attempts.spend(seconds(100));
        assert_eq!(attempts.left(), seconds(20));
        assert!(matches!(attempts.next(RetryAfter::Nothing), NextAttempt::Wait(_)));
        attempts.spend(seconds(15));
        assert_eq!(attempts.next(RetryAfter::Nothing), NextAttempt::GiveUp);
        attempts.progressed(120 << 10);
        assert!(matches!(attempts.next(RetryAfter::Nothing), NextAttempt::Wait(_)), "there was progress");
    }

    #[test]
    fn a_first_try_that_stalled_took_the_time_of_all_tries() {
        let mut attempts = attempts().each_within(seconds(10));
        for try_ in 0..5 {
            assert_eq!(attempts.left(), seconds(10), "{try_}");
            attempts.spend(seconds(4));
            assert_eq!(attempts.left(), seconds(6), "a redirect is of the same try");
            attempts.spend(seconds(6));
            assert_eq!(attempts.left(), Duration::ZERO);
            assert_eq!(matches!(attempts.next(RetryAfter::Nothing), NextAttempt::Wait(_)), try_ < 4);
        }
        // What one try may take, all of them may.
        assert_eq!(self::attempts().each_within(seconds(300)).left(), seconds(300));
    }

    #[test]
    fn progress_makes_good_only_the_time_that_it_may_take() {
        let mut attempts = attempts();
        attempts.spend(seconds(90));
        attempts.progressed(60 << 10);
        assert_eq!(attempts.left(), seconds(90));
        attempts.progressed(1 << 30);
        assert_eq!(attempts.left(), TOTAL);
        // 64 KiB, and then a wait of two minutes, over and over.
        assert_eq!(attempts.next_with(RetryAfter::Wait(seconds(120)), 0), NextAttempt::Wait(seconds(120)));
        attempts.progressed(64 << 10);
        assert_eq!(attempts.next_with(RetryAfter::Wait(seconds(120)), 0), NextAttempt::TooLong(seconds(120)));
    }

    #[test]
    fn a_429_that_names_no_time_at_all_costs_an_attempt() {
        let mut attempts = attempts();
        let asked = RetryAfter::of(429, Some(Duration::ZERO));
        let waits = std::iter::repeat_with(|| attempts.next(asked)).take(5).collect::<Vec<_>>();
        assert_eq!(waits[4], NextAttempt::GiveUp);
    }

    #[test]
    fn little_time_in_all_makes_short_waits() {
        let mut hasty = Attempts::within(RetryPolicy::default(), seconds(1), seconds(120));
        let NextAttempt::Wait(wait) = hasty.next(RetryAfter::Nothing) else {
            panic!("there is time for a second attempt")
        };
        assert!(wait < Duration::from_millis(5), "{wait:?}");
    }

    #[test]
    fn a_429_that_names_a_time_costs_no_attempt_until_all_waits_are_too_long() {
        let mut attempts = attempts();
        let slower = RetryAfter::Slower(Some(seconds(1)));
        for _ in 0..120 {
            assert_eq!(attempts.next_with(slower, 0), NextAttempt::Wait(seconds(1)));
        }
        assert_eq!((attempts.made, attempts.left()), (1, TOTAL));
        assert_eq!(attempts.next(slower), NextAttempt::TooLong(seconds(1)));
        let mut silent = self::attempts();
        let waits = std::iter::repeat_with(|| silent.next(RetryAfter::Slower(None))).take(5).collect::<Vec<_>>();
        assert_eq!(waits[4], NextAttempt::GiveUp, "one that names none costs an attempt");
    }

    #[test]
    fn a_wait_that_is_asked_for_is_made_or_refused_but_never_shortened() {
        for asked in [RetryAfter::Wait(seconds(7)), RetryAfter::Slower(Some(seconds(7)))] {
            assert_eq!(attempts().next_with(asked, 0), NextAttempt::Wait(seconds(7)));
            assert_eq!(
                attempts().next_with(asked, 1_000_000),
                NextAttempt::Wait(seconds(8)),
                "not all come back at once"
            );
        }
        let long = RetryAfter::Wait(Duration::from_hours(1));
        assert_eq!(attempts().next(long), NextAttempt::TooLong(Duration::from_hours(1)));
        let mut once = Attempts::within(RetryPolicy { attempts: 1, ..RetryPolicy::default() }, TOTAL, seconds(120));
        assert_eq!(once.next(long), NextAttempt::TooLong(Duration::from_hours(1)));
        assert_eq!(once.next(RetryAfter::Slower(Some(seconds(1)))), NextAttempt::GiveUp);
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
