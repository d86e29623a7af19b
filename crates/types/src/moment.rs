//! Moments as people and documents write them. Nothing here asks a clock.

use std::fmt;
use std::str::FromStr;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use crate::text_value::text_value;

/// A moment in UTC, in whole seconds from 1970 to 9999. `Display` and `FromStr`: `2026-11-22T08:00:00Z`.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Moment(u64);

/// A text that is not a [`Moment`].
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("`{0}` is not a moment such as 2026-11-22T08:00:00Z")]
pub struct InvalidMoment(String);

/// 9999-12-31T23:59:59Z.
const LAST: u64 = 253_402_300_799;
const DAY: u64 = 86_400;

impl Moment {
    /// The moment that is so much later; the last one that can be written if it is out of range.
    #[must_use]
    pub fn after(self, time: Duration) -> Self {
        Self(self.0.saturating_add(time.as_secs()).min(LAST))
    }

    /// The moment that is so much earlier; 1970 if it is out of range.
    #[must_use]
    pub fn before(self, time: Duration) -> Self {
        Self(self.0.saturating_sub(time.as_secs()))
    }

    /// How much later this is than `earlier`; zero if it is not later.
    pub fn since(self, earlier: Self) -> Duration {
        Duration::from_secs(self.0.saturating_sub(earlier.0))
    }

    /// The day alone: `2026-11-22`.
    pub fn day(self) -> String {
        let (year, month, day) = civil(self.0 / DAY);
        format!("{year:04}-{month:02}-{day:02}")
    }
}

/// A time before 1970 becomes the first moment, one after 9999 the last.
impl From<SystemTime> for Moment {
    fn from(time: SystemTime) -> Self {
        Self(time.duration_since(UNIX_EPOCH).unwrap_or_default().as_secs().min(LAST))
    }
}

impl fmt::Display for Moment {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let second = self.0 % DAY;
        write!(f, "{}T{:02}:{:02}:{:02}Z", self.day(), second / 3600, second / 60 % 60, second % 60)
    }
}

impl FromStr for Moment {
    type Err = InvalidMoment;

    fn from_str(text: &str) -> Result<Self, InvalidMoment> {
        let number = |from: usize, to: usize| text.get(from..to).and_then(|digits| digits.parse::<u64>().ok());
        let read = || {
            let (year, month, day) = (number(0, 4)?, number(5, 7)?, number(8, 10)?);
            let (hour, minute, second) = (number(11, 13)?, number(14, 16)?, number(17, 19)?);
            let days = days(year, month, day)?;
            Some(Self(days * DAY + hour * 3600 + minute * 60 + second))
        };
        // What is written again is what was read: no other form, and no 31st of June.
        read().filter(|moment| moment.to_string() == text).ok_or_else(|| InvalidMoment(text.to_owned()))
    }
}

text_value!(Moment);

/// The year, month and day that many days after 1970-01-01, in the Gregorian calendar.
fn civil(days: u64) -> (u64, u64, u64) {
    // Years are counted from March, so that the leap day is the last of its year; an era is 400 years.
    let shifted = days + 719_468;
    let (era, day_of_era) = (shifted / 146_097, shifted % 146_097);
    let year_of_era = (day_of_era - day_of_era / 1_460 + day_of_era / 36_524 - day_of_era / 146_096) / 365;
    let day_of_year = day_of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
    let march_month = (5 * day_of_year + 2) / 153;
    let day = day_of_year - (153 * march_month + 2) / 5 + 1;
    let month = if march_month < 10 { march_month + 3 } else { march_month - 9 };
    (year_of_era + era * 400 + u64::from(month <= 2), month, day)
}

/// The reverse of [`civil`]; `None` before 1970 and for a month that does not exist.
fn days(year: u64, month: u64, day: u64) -> Option<u64> {
    if year < 1970 || !(1..=12).contains(&month) || day == 0 {
        return None;
    }
    let (year, month) = if month > 2 { (year, month - 3) } else { (year - 1, month + 9) };
    let (era, year_of_era) = (year / 400, year % 400);
    let day_of_era = year_of_era * 365 + year_of_era / 4 - year_of_era / 100 + (153 * month + 2) / 5 + day - 1;
    (era * 146_097 + day_of_era).checked_sub(719_468)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(seconds: u64, want: &str) {
        let moment = Moment::from(UNIX_EPOCH + Duration::from_secs(seconds));
        assert_eq!((moment.to_string().as_str(), want.parse()), (want, Ok(moment)));
    }

    #[test]
    fn a_moment_is_read_as_it_is_written() {
        check(0, "1970-01-01T00:00:00Z");
        check(951_782_399, "2000-02-28T23:59:59Z");
        check(951_782_400, "2000-02-29T00:00:00Z");
        check(1_709_164_800, "2024-02-29T00:00:00Z");
        check(1_709_251_261, "2024-03-01T00:01:01Z");
        check(1_798_761_599, "2026-12-31T23:59:59Z");
        check(1_798_761_600, "2027-01-01T00:00:00Z");
        check(4_294_967_295, "2106-02-07T06:28:15Z");
        check(LAST, "9999-12-31T23:59:59Z");
    }

    #[test]
    fn what_is_not_a_moment_is_refused() {
        for text in [
            "",
            "2026-11-22",
            "2026-02-30T00:00:00Z",
            "2026-11-22T24:00:00Z",
            "2026-11-22T08:00:00+01:00",
            "1969-12-31T00:00:00Z",
            "2026-00-01T00:00:00Z",
            "2026-11-22t08:00:00Z",
            "+026-11-22T08:00:00Z",
            "é026-11-22T08:00:0",
        ] {
            assert!(text.parse::<Moment>().is_err(), "{text}");
        }
    }

    #[test]
    fn a_time_out_of_range_becomes_the_last_moment() {
        assert_eq!(Moment(LAST).after(Duration::from_secs(1)), Moment(LAST));
        assert_eq!(Moment(5).after(Duration::MAX), Moment(LAST));
        assert_eq!(Moment(5).after(Duration::from_secs(2)), Moment(7));
        assert_eq!(Moment(5).before(Duration::from_secs(2)), Moment(3));
        assert_eq!(Moment(5).before(Duration::MAX), Moment(0));
        assert_eq!(Moment(5).since(Moment(3)), Duration::from_secs(2));
        assert_eq!(Moment(3).since(Moment(5)), Duration::ZERO);
    }
}
