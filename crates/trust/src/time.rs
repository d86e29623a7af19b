//! Times as documents write them.

use std::time::{Duration, SystemTime};

/// A time as `2026-08-28T19:25:56Z`; `None` for another form, and for one before 1970.
///
/// Spec: The Update Framework 1.0, section 4.2.1.
pub(crate) fn time(text: &str) -> Option<SystemTime> {
    let (date, clock) = text.strip_suffix('Z')?.split_once('T')?;
    let numbers = |text: &str, between: char| -> Option<[u64; 3]> {
        let numbers: Vec<u64> = text.split(between).map(|part| part.parse().ok()).collect::<Option<_>>()?;
        numbers.try_into().ok()
    };
    let ([year, month, day], [hour, minute, second]) = (numbers(date, '-')?, numbers(clock, ':')?);
    if !(1970..10_000).contains(&year) || !(1..=12).contains(&month) || !(1..=31).contains(&day) {
        return None;
    }
    if hour > 23 || minute > 59 || second > 60 {
        return None;
    }
    // Days by the Gregorian calendar, in a year that begins in March.
    let (year, month) = if month > 2 { (year, month - 3) } else { (year - 1, month + 9) };
    let days = 365 * year + year / 4 - year / 100 + year / 400 + (153 * month + 2) / 5 + day - 1;
    let since = (days.checked_sub(719_468)? * 24 + hour) * 3600 + minute * 60 + second;
    SystemTime::UNIX_EPOCH.checked_add(Duration::from_secs(since))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times() {
        let seconds = |text: &str| {
            time(text).map(|time| time.duration_since(SystemTime::UNIX_EPOCH).expect("after 1970").as_secs())
        };
        assert_eq!(seconds("1970-01-01T00:00:00Z"), Some(0));
        assert_eq!(seconds("2000-02-29T12:00:01Z"), Some(951_825_601));
        assert_eq!(seconds("2026-08-28T19:25:56Z"), Some(1_787_945_156));
        for wrong in ["", "2026-08-28", "2026-13-01T00:00:00Z", "2026-08-28T19:25:56+01:00", "1960-01-01T00:00:00Z"] {
            assert_eq!(seconds(wrong), None, "{wrong}");
        }
    }
}
