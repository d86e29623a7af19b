//! How long a version must have been seen.

use std::fmt;
use std::str::FromStr;
use std::time::Duration;

/// How long a version must have been seen before it is mirrored: `7d`, `36h`, `1d12h`; `0` for no time.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct MinAge(pub Duration);

/// A text that is not a [`MinAge`].
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("`{0}` is not an age; write a number with d, h, m or s, such as 7d or 36h, or 0")]
pub struct InvalidMinAge(String);

impl InvalidMinAge {
    /// What to write instead of a number alone.
    pub fn instead(&self) -> Option<String> {
        self.0.parse::<u64>().ok().map(|days| format!("write \"{days}d\" for days"))
    }
}

/// The units, from the largest.
const UNITS: [(char, u64); 4] = [('d', 86_400), ('h', 3_600), ('m', 60), ('s', 1)];

impl FromStr for MinAge {
    type Err = InvalidMinAge;

    fn from_str(text: &str) -> Result<Self, InvalidMinAge> {
        let invalid = || InvalidMinAge(text.to_owned());
        let mut rest = text.trim();
        if rest == "0" {
            return Ok(Self::default());
        }
        let mut seconds = 0_u64;
        let mut units = UNITS.iter();
        while !rest.is_empty() {
            let end = rest.find(|one: char| !one.is_ascii_digit()).ok_or_else(invalid)?;
            let (number, after) = rest.split_at(end);
            let mut after = after.chars();
            let unit = after.next();
            let (_, each) = units.find(|(name, _)| Some(*name) == unit).ok_or_else(invalid)?;
            let number: u64 = number.parse().map_err(|_| invalid())?;
            seconds = number.checked_mul(*each).and_then(|more| seconds.checked_add(more)).ok_or_else(invalid)?;
            rest = after.as_str();
        }
        if text.trim().is_empty() { Err(invalid()) } else { Ok(Self(Duration::from_secs(seconds))) }
    }
}

impl fmt::Display for MinAge {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut left = self.0.as_secs();
        if left == 0 {
            return f.write_str("0");
        }
        for (name, each) in UNITS {
            if left >= each {
                write!(f, "{}{name}", left / each)?;
                left %= each;
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(text: &str, want: Option<(u64, &str)>) {
        let got = text.parse::<MinAge>().ok().map(|age| (age.0.as_secs(), age.to_string()));
        assert_eq!(got, want.map(|(seconds, text)| (seconds, text.to_owned())), "{text:?}");
    }

    #[test]
    fn an_age_is_a_number_of_days_hours_minutes_and_seconds() {
        check("7d", Some((604_800, "7d")));
        check("1d12h", Some((129_600, "1d12h")));
        check("36h", Some((129_600, "1d12h")));
        check("90m", Some((5_400, "1h30m")));
        check(" 0 ", Some((0, "0")));
        check("0d", Some((0, "0")));
        for wrong in
            ["", "7", "d", "7w", "-1d", "1.5d", "12h1d", "1d1d", "7 d", "99999999999999999999d", "999999999999999999d"]
        {
            check(wrong, None);
        }
    }
}
