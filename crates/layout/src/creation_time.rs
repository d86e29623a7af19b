//! When a release was made, by its manifest's own word.

use std::fmt;
use std::time::Duration;

use serde::Serialize;
use tofu_oci_types::Moment;

/// A moment as RFC 3339 writes it, such as `2026-03-01T12:00:00Z`. A claim: whoever built the release wrote it.
///
/// Spec: OCI image-spec 1.1.1, annotations.md and config.md, "created"; RFC 3339, section 5.6.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize)]
pub struct CreationTime(String);

/// What builders write if they keep the time out of what they build: Go's zero time, and `SOURCE_DATE_EPOCH=0`.
const NO_TIME: [&str; 2] = ["0001-01-01T00:00:00", "1970-01-01T00:00:00"];

impl CreationTime {
    /// The text; `None` if it is not a moment, or one of those that reproducible builds write.
    pub(crate) fn read(text: &str) -> Option<Self> {
        let is_moment = is_moment(text) && !NO_TIME.iter().any(|zero| text.starts_with(zero));
        is_moment.then(|| Self(text.to_owned()))
    }

    /// The moment in UTC, without its fraction; `None` for a day that does not exist, a leap second, and a year before 1970.
    pub fn moment(&self) -> Option<Moment> {
        let local: Moment = format!("{}Z", &self.0[..19]).parse().ok()?;
        let Some(zone) = self.0[19..].rfind(['+', '-']).map(|sign| &self.0[19 + sign..]) else { return Some(local) };
        let number = |digits: &str| digits.parse::<u64>().ok();
        let offset = Duration::from_secs(number(&zone[1..3])? * 3600 + number(&zone[4..6])? * 60);
        Some(if zone.starts_with('-') { local.after(offset) } else { local.before(offset) })
    }

    /// The day alone, as it is written: `2026-03-01`.
    pub fn day(&self) -> &str {
        &self.0[..10]
    }
}

impl fmt::Display for CreationTime {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// Whether a text has the form `YYYY-MM-DDTHH:MM:SS`, perhaps a fraction, and a zone.
fn is_moment(text: &str) -> bool {
    let (Some(start), Some(rest)) = (text.get(..19), text.get(19..)) else { return false };
    let has_form = has_form(start, "dddd-dd-ddTdd:dd:dd");
    let number = |from: usize| start.get(from..from + 2).and_then(|digits| digits.parse::<u8>().ok());
    let within = |from, low, high| number(from).is_some_and(|number| (low..=high).contains(&number));
    let in_range = within(5, 1, 12) && within(8, 1, 31) && within(11, 0, 23) && within(14, 0, 59) && within(17, 0, 60);
    let zone = match rest.strip_prefix('.') {
        Some(fraction) if fraction.starts_with(|first: char| first.is_ascii_digit()) => {
            fraction.trim_start_matches(|one: char| one.is_ascii_digit())
        }
        Some(_) => return false,
        None => rest,
    };
    has_form && in_range && (zone == "Z" || has_form_of_zone(zone))
}

fn has_form_of_zone(zone: &str) -> bool {
    zone.strip_prefix(['+', '-']).is_some_and(|zone| has_form(zone, "dd:dd"))
}

/// Whether each character is the one of the form, `d` being any digit.
fn has_form(text: &str, form: &str) -> bool {
    let fits = |(one, wanted): (u8, u8)| if wanted == b'd' { one.is_ascii_digit() } else { one == wanted };
    text.len() == form.len() && text.bytes().zip(form.bytes()).all(fits)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(text: &str, want: Option<&str>) {
        assert_eq!(CreationTime::read(text).as_ref().map(CreationTime::day), want, "{text:?}");
    }

    #[test]
    fn a_moment_is_read_in_each_form_that_builders_write() {
        check("2026-03-01T12:00:00Z", Some("2026-03-01"));
        check("2026-03-01T12:00:00.123456789Z", Some("2026-03-01"));
        check("2026-03-01T12:00:00+02:00", Some("2026-03-01"));
        check("2026-03-01T12:00:00.5-11:30", Some("2026-03-01"));
    }

    #[test]
    fn a_moment_is_that_of_its_zone() {
        for (text, want) in [
            ("2026-03-01T12:00:00Z", Some("2026-03-01T12:00:00Z")),
            ("2026-03-01T12:00:00.9Z", Some("2026-03-01T12:00:00Z")),
            ("2026-03-01T01:00:00+02:00", Some("2026-02-28T23:00:00Z")),
            ("2026-12-31T23:00:00.5-11:30", Some("2027-01-01T10:30:00Z")),
            ("2026-02-30T12:00:00Z", None),
            ("2026-12-31T23:59:60Z", None),
            ("1969-12-31T12:00:00Z", None),
        ] {
            let moment = CreationTime::read(text).and_then(|time| time.moment());
            assert_eq!(moment.map(|moment| moment.to_string()).as_deref(), want, "{text}");
        }
    }

    #[test]
    fn what_reproducible_builds_write_is_no_time() {
        check("0001-01-01T00:00:00Z", None);
        check("1970-01-01T00:00:00Z", None);
        check("1970-01-01T00:00:00+00:00", None);
    }

    #[test]
    fn what_is_not_a_moment_is_not_shown_as_one() {
        for text in [
            "",
            "2026-03-01",
            "yesterday",
            "2026-13-01T12:00:00Z",
            "2026-03-00T12:00:00Z",
            "2026-03-01T24:00:00Z",
            "2026-03-01T12:00:00",
            "2026-03-01T12:00:00.Z",
            "2026-03-01T12:00:00Z\n",
            "2026-03-01 12:00:00Z",
            "2026-03-01T12:00:00\u{1b}[2J",
            "\u{e9}026-03-01T12:00:0Z",
            "2026-03-01T12:00:00+2:00",
        ] {
            check(text, None);
        }
    }
}
