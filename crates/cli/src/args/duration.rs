//! Lengths of time as options take them.

use std::fmt;
use std::str::FromStr;
use std::time::Duration;

use tofu_oci_http::HttpLimits;

/// The longest value; a longer one is a mistake.
const LONGEST: Duration = Duration::from_hours(24);

/// The value of `--max-wait`: how long a registry may make a request wait in all; zero never waits.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct MaxWait(pub(crate) Duration);

/// The value of `--timeout`: how long something may make no progress.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Timeout(pub(crate) Duration);

impl Default for Timeout {
    fn default() -> Self {
        Self(HttpLimits::DEFAULT_TOTAL)
    }
}

impl Timeout {
    /// Twice the time, at most the longest value; `None` if it is that already.
    pub(crate) fn doubled(self) -> Option<Self> {
        let twice = self.0.saturating_mul(2).min(LONGEST);
        (twice > self.0).then_some(Self(twice))
    }
}

impl fmt::Display for Timeout {
    /// As the option takes it, with the largest unit that needs no fraction.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.0.as_millis() {
            time if time == 0 || !time.is_multiple_of(1000) => write!(f, "{}ms", time.max(1)),
            time if !time.is_multiple_of(60_000) => write!(f, "{}s", time / 1000),
            time if !time.is_multiple_of(3_600_000) => write!(f, "{}m", time / 60_000),
            time => write!(f, "{}h", time / 3_600_000),
        }
    }
}

/// What is wrong with a length of time.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub(crate) enum TimeoutFault {
    /// It is not a number with a unit.
    #[error("it is not a length of time; write seconds, or a number with ms, s, m or h, such as 90s or 2m")]
    Unreadable,
    /// Nothing could be done in it.
    #[error("it must be longer than zero; write a length of time such as 90s or 2m")]
    Zero,
    /// It is longer than a day.
    #[error("it must be at most 24h; write a length of time such as 90s or 2m")]
    TooLong,
}

impl FromStr for Timeout {
    type Err = TimeoutFault;

    /// Reads `90`, `90s`, `1.5m`, `1m30s`; blanks around it do not count.
    fn from_str(text: &str) -> Result<Self, TimeoutFault> {
        match length(text)? {
            Duration::ZERO => Err(TimeoutFault::Zero),
            time if time <= LONGEST => Ok(Self(time)),
            _ => Err(TimeoutFault::TooLong),
        }
    }
}

impl FromStr for MaxWait {
    type Err = TimeoutFault;

    /// Reads what `--timeout` reads, also zero, and more than a day.
    fn from_str(text: &str) -> Result<Self, TimeoutFault> {
        length(text).map(Self)
    }
}

fn length(text: &str) -> Result<Duration, TimeoutFault> {
    let mut rest = text.trim();
    let mut seconds = 0.0;
    let mut parts = 0;
    while !rest.is_empty() {
        let end = rest.find(|character: char| !matches!(character, '0'..='9' | '.')).unwrap_or(rest.len());
        let (number, after) = rest.split_at(end);
        let number: f64 = number.parse().map_err(|_| TimeoutFault::Unreadable)?;
        let end = after.find(|character: char| !character.is_ascii_lowercase()).unwrap_or(after.len());
        let (unit, after) = after.split_at(end);
        seconds += number
            * match unit {
                "" if parts == 0 && after.is_empty() => 1.0,
                "ms" => 0.001,
                "s" => 1.0,
                "m" => 60.0,
                "h" => 3600.0,
                _ => return Err(TimeoutFault::Unreadable),
            };
        rest = after;
        parts += 1;
    }
    if parts == 0 {
        return Err(TimeoutFault::Unreadable);
    }
    Duration::try_from_secs_f64(seconds).map_err(|_| TimeoutFault::TooLong)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(text: &str, want: Result<u64, TimeoutFault>) {
        assert_eq!(text.parse(), want.map(|millis| Timeout(Duration::from_millis(millis))), "{text}");
    }

    #[test]
    fn a_timeout_is_seconds_or_a_number_with_a_unit() {
        check("90", Ok(90_000));
        check("90s", Ok(90_000));
        check("2m", Ok(120_000));
        check("1m30s", Ok(90_000));
        check("1.5m", Ok(90_000));
        check(" 1h ", Ok(3_600_000));
        check("250ms", Ok(250));
        check("24h", Ok(86_400_000));
    }

    /// The time that a hint advises after this one.
    #[track_caller]
    fn check_doubled(text: &str, want: Option<&str>) {
        let doubled = text.parse::<Timeout>().expect("it is well-formed").doubled();
        assert_eq!(doubled.map(|time| time.to_string()).as_deref(), want, "{text}");
        if let Some(doubled) = doubled {
            assert_eq!(doubled.to_string().parse(), Ok(doubled), "{text}");
        }
    }

    #[test]
    fn more_time_is_twice_the_time_that_was_given_and_at_most_a_day() {
        check_doubled("2m", Some("4m"));
        check_doubled("90", Some("3m"));
        check_doubled("5m", Some("10m"));
        check_doubled("800ms", Some("1600ms"));
        check_doubled("20s", Some("40s"));
        check_doubled("30m", Some("1h"));
        check_doubled("20h", Some("24h"));
        check_doubled("24h", None);
    }

    #[test]
    fn a_wait_may_be_zero_or_longer_than_a_day() {
        let wait = |text: &str| text.parse::<MaxWait>().map(|wait| wait.0.as_secs());
        assert_eq!([wait("0"), wait("90"), wait("2m"), wait("48h")], [Ok(0), Ok(90), Ok(120), Ok(172_800)]);
        assert_eq!(wait("-1"), Err(TimeoutFault::Unreadable));
    }

    #[test]
    fn a_timeout_that_is_none_is_refused() {
        use TimeoutFault::{TooLong, Unreadable, Zero};
        for text in ["", " ", "soon", "-1", "-1s", "+5", "2 m", "2min", "1m30", "30 s", "s", "1..5s", ".", "1e3", "∞"]
        {
            check(text, Err(Unreadable));
        }
        for text in ["0", "0s", "0m", "0.0", "0h0m"] {
            check(text, Err(Zero));
        }
        for text in ["25h", "86401", "24h1ms", "999999999999999999999999"] {
            check(text, Err(TooLong));
        }
    }
}
