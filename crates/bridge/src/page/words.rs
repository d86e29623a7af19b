//! Ages, counts, platforms and foreign text as a page shows them.

use maud::{Markup, html};
use tofu_oci_layout::CreationTime;
use tofu_oci_source::ReleaseDate;
use tofu_oci_trust::TrustRemark;
use tofu_oci_types::{Hostname, Moment, Platform, Version, printable};

/// The most characters of foreign text that a page shows.
const SHOWN: usize = 200;

/// Foreign text in one short line: what would hide in it or turn its direction is shown as an escape. The template escapes
/// what HTML would obey.
pub(super) fn foreign(text: &str) -> String {
    let shown = printable(text);
    match shown.char_indices().nth(SHOWN) {
        Some((end, _)) => format!("{}…", &shown[..end]),
        None => shown.into_owned(),
    }
}

/// A foreign clause as a sentence of its own.
pub(super) fn sentence(clause: &str) -> String {
    let shown = foreign(clause);
    let mut rest = shown.chars();
    let first = rest.next().map(|first| first.to_uppercase().to_string()).unwrap_or_default();
    format!("{first}{}.", rest.as_str().trim_end_matches('.'))
}

/// When a release was made, by its own word, as an age if that can be told.
pub(super) fn age(created: &ReleaseDate, now: Moment) -> Markup {
    made(&created.at, now)
}

/// The same of a time.
pub(super) fn made(at: &CreationTime, now: Moment) -> Markup {
    let Some(moment) = at.moment() else { return html! { (at.day()) } };
    html! { time datetime=(moment) title=(moment) { (ago(moment, now)) } }
}

/// `2 days ago`; the day itself if it lies in the future.
fn ago(moment: Moment, now: Moment) -> String {
    const MINUTE: u64 = 60;
    const HOUR: u64 = 60 * MINUTE;
    const DAY: u64 = 24 * HOUR;
    const MONTH: u64 = 30 * DAY;
    const YEAR: u64 = 365 * DAY;
    if moment > now {
        return moment.day();
    }
    let seconds = now.since(moment).as_secs();
    let (count, unit) = match seconds {
        0..MINUTE => return "just now".to_owned(),
        MINUTE..HOUR => (seconds / MINUTE, "minute"),
        HOUR..DAY => (seconds / HOUR, "hour"),
        DAY..MONTH => (seconds / DAY, "day"),
        MONTH..YEAR => (seconds / MONTH, "month"),
        YEAR.. => (seconds / YEAR, "year"),
    };
    format!("{} ago", counted(count, unit))
}

/// `1 day`, `2 days`.
pub(super) fn counted(count: u64, unit: &str) -> String {
    let ending = if count == 1 { "" } else { "s" };
    format!("{count} {unit}{ending}")
}

/// Platforms by operating system: `linux` with `amd64, arm64`.
pub(super) fn platforms(platforms: &[Platform]) -> Markup {
    let systems = platforms.chunk_by(|one, other| one.os() == other.os());
    html! {
        @for (number, system) in systems.enumerate() {
            @if number > 0 { "; " }
            span.system {
                b { (foreign(system[0].os())) }
                @for (number, platform) in system.iter().enumerate() {
                    (if number == 0 { " " } else { ", " }) (foreign(platform.arch()))
                }
            }
        }
    }
}

/// The name of a host that DNS has, beside the one for people: letters of other scripts may look like those of another host.
pub(super) fn punycode(host: &Hostname) -> Markup {
    html! { @if host.display() != host.as_str() { " " span.punycode { "(" (host.as_str()) ")" } } }
}

/// A word beside a version that its publisher advises against.
pub(super) fn noticed(notice: Option<&TrustRemark>) -> Markup {
    html! { @if let Some(notice) = notice { " " span.mark.warn { (notice.code) } } }
}

/// A word beside a version that no client chooses by itself.
pub(super) fn prerelease(version: &Version) -> Markup {
    html! { @if version.is_prerelease() { " " span.mark { "prerelease" } } }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;

    #[track_caller]
    fn check(seconds: u64, want: &str) {
        let now: Moment = "2026-11-23T12:00:00Z".parse().unwrap();
        assert_eq!(ago(now.before(Duration::from_secs(seconds)), now), want);
    }

    #[test]
    fn an_age_is_in_its_largest_whole_unit() {
        check(0, "just now");
        check(59, "just now");
        check(60, "1 minute ago");
        check(3_599, "59 minutes ago");
        check(7_200, "2 hours ago");
        check(86_399, "23 hours ago");
        check(2 * 86_400, "2 days ago");
        check(59 * 86_400, "1 month ago");
        check(364 * 86_400, "12 months ago");
        check(800 * 86_400, "2 years ago");
    }

    #[test]
    fn a_release_of_tomorrow_has_a_day_and_no_age() {
        let now: Moment = "2026-11-23T12:00:00Z".parse().unwrap();
        assert_eq!(ago(now.after(Duration::from_hours(24)), now), "2026-11-24");
    }

    #[test]
    fn foreign_text_is_one_short_line_and_hides_nothing() {
        assert_eq!(foreign("a\u{202e}b\nc"), "a\\u{202e}b\\nc");
        assert_eq!(foreign(&"ü".repeat(10_000)).chars().count(), SHOWN + 1);
        assert_eq!(foreign("plain"), "plain");
    }
}
