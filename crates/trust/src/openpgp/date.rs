//! Days for people.

use std::fmt;
use std::time::{SystemTime, UNIX_EPOCH};

/// The day of a moment in UTC, as `2026-11-22`; a moment before 1970 is `1970-01-01`.
pub(super) struct Date(pub(super) SystemTime);

impl fmt::Display for Date {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let seconds = self.0.duration_since(UNIX_EPOCH).unwrap_or_default().as_secs();
        let (year, month, day) = civil(seconds / 86_400);
        write!(formatter, "{year:04}-{month:02}-{day:02}")
    }
}

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

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;

    #[track_caller]
    fn check(seconds: u64, want: &str) {
        assert_eq!(Date(UNIX_EPOCH + Duration::from_secs(seconds)).to_string(), want);
    }

    #[test]
    fn names_the_day() {
        check(0, "1970-01-01");
        check(951_782_399, "2000-02-28");
        check(951_782_400, "2000-02-29");
        check(1_709_164_800, "2024-02-29");
        check(1_709_251_200, "2024-03-01");
        check(1_798_761_599, "2026-12-31");
        check(1_798_761_600, "2027-01-01");
        check(4_294_967_295, "2106-02-07");
    }
}
