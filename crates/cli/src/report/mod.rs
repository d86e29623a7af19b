//! Events of a running job, for whoever watches.

mod bars;
mod lines;

use std::io::IsTerminal as _;
use std::sync::Arc;

use tofu_oci_types::{Event, Level, NoReporter, Reporter};

use crate::document::Document;
use crate::page::{Line, Page};
use crate::printer;

/// The watcher that fits: bars on a terminal, plain lines otherwise, JSON lines with `--json`, warnings only with
/// `--quiet`.
pub(crate) fn reporter(json: bool, quiet: bool) -> Arc<dyn Reporter> {
    match (json, quiet) {
        (true, true) => Arc::new(NoReporter),
        (true, false) => Arc::new(JsonLines),
        (false, true) => Arc::new(WarningsOnly),
        (false, false) if std::io::stderr().is_terminal() => Arc::new(bars::Bars::new()),
        (false, false) => Arc::new(lines::Lines::default()),
    }
}

/// Every event as one JSON object on a line of stdout. Progress is left out: it has no end and no use in a log.
struct JsonLines;

impl Reporter for JsonLines {
    fn event(&self, event: &Event) {
        if !matches!(event, Event::Progress { .. }) {
            json_line(event);
        }
    }
}

/// Prints one JSON object on a line of stdout.
pub(crate) fn json_line(value: &impl serde::Serialize) {
    printer::document(&Document::json_line(value));
}

/// Warnings, and nothing else.
struct WarningsOnly;

impl Reporter for WarningsOnly {
    fn event(&self, event: &Event) {
        if let Event::Message { level: Level::Warning, .. } = event {
            printer::stderr(&message(event));
        }
    }
}

/// A message or a retry as lines for people; empty for other events.
pub(crate) fn message(event: &Event) -> Page {
    use anstyle::{AnsiColor, Style};
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
    fn a_warning_carries_its_hint() {
        let event = Event::warning("floating-tag", "tag 2 reads as 2.0.0").with_hint("delete it");
        assert_eq!(message(&event).to_string(), "warning: tag 2 reads as 2.0.0\n  hint: delete it\n");
    }
}
