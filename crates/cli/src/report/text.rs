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
