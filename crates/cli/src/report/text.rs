//! Events and sizes as text for people.

use anstyle::{AnsiColor, Style};
use tofu_oci_types::{Event, Level};

use crate::page::{Line, Page};

/// A message or a retry as lines for people; empty for other events.
pub(crate) fn message(event: &Event) -> Page {
    let yellow = Style::new().bold().fg_color(Some(AnsiColor::Yellow.into()));
    let cyan = Style::new().bold().fg_color(Some(AnsiColor::Cyan.into()));
    match event {
        Event::Message { level, text, hints, .. } => {
            let (style, word) = match level {
                Level::Warning => (yellow, "warning"),
                Level::Note => (cyan, "note"),
            };
            let mut page = Page::default();
            page.push(Line::default().styled(style, format_args!("{word}:")).plain(format_args!(" {text}")));
            for hint in hints {
                page.line(format_args!("  hint: {hint}"));
            }
            page
        }
        Event::Retrying { request, attempt, after_ms, reason } => {
            let seconds = *after_ms as f64 / 1000.0;
            let text = format!(" {request}: {reason}; attempt {attempt} in {seconds:.1} s");
            let mut page = Page::default();
            page.push(Line::default().styled(cyan, "note:").plain(text));
            page
        }
        _ => Page::default(),
    }
}

/// A number of bytes for people, in decimal units as registries bill them.
pub(crate) fn human_bytes(bytes: u64) -> String {
    const UNITS: [&str; 4] = ["kB", "MB", "GB", "TB"];
    if bytes < 1000 {
        return format!("{bytes} B");
    }
    let mut value = bytes as f64 / 1000.0;
    let mut unit = 0;
    while value >= 999.95 && unit + 1 < UNITS.len() {
        value /= 1000.0;
        unit += 1;
    }
    format!("{value:.1} {}", UNITS[unit])
}

/// A length of time for people: whole seconds, then minutes, then hours and minutes.
pub(super) fn human_time(millis: u128) -> String {
    match millis.div_ceil(1000) {
        seconds @ 0..120 => format!("{seconds} s"),
        seconds @ 120..7200 => format!("{} min", seconds.div_ceil(60)),
        seconds => format!("{} h {} min", seconds / 3600, seconds % 3600 / 60),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(bytes: u64, want: &str) {
        assert_eq!(human_bytes(bytes), want);
    }

    #[test]
    fn bytes_are_short_and_never_a_thousand_of_a_unit() {
        check(0, "0 B");
        check(999, "999 B");
        check(1000, "1.0 kB");
        check(999_949, "999.9 kB");
        check(999_950, "1.0 MB");
        check(148_046_444, "148.0 MB");
        check(2_147_483_648, "2.1 GB");
    }

    #[test]
    fn what_is_left_is_rounded_up() {
        let times = [0, 200, 119_000, 121_000, 7_199_000, 7_260_000].map(human_time);
        assert_eq!(times, ["0 s", "1 s", "119 s", "3 min", "120 min", "2 h 1 min"]);
    }

    #[test]
    fn a_warning_carries_its_hint() {
        let event = Event::warning("floating-tag", "tag 2 reads as 2.0.0").with_hint("delete it");
        assert_eq!(message(&event).to_string(), "warning: tag 2 reads as 2.0.0\n  hint: delete it\n");
    }
}
