//! Events of a running job, for people and programs.

mod bars;
mod lines;
mod text;

use std::io::IsTerminal as _;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use serde::Serialize;
use tofu_oci_types::{Event, Level, NoReporter, Reporter};

use crate::args::Global;
use crate::document::Document;
use crate::printer;

pub(crate) use text::message;
pub(crate) use tofu_oci_types::human_bytes;

/// The watcher that fits: bars on a terminal, plain lines otherwise or with `--no-progress`, JSON lines with `--json`, warnings only with
/// `--quiet`.
pub(crate) fn reporter(json: bool, global: &Global) -> Arc<dyn Reporter> {
    match (json, global.quiet) {
        (true, true) => Arc::new(NoReporter),
        (true, false) => Arc::new(UntilTheEnd(JsonLines, &ENDED)),
        (false, true) => Arc::new(UntilTheEnd(WarningsOnly, &ENDED)),
        (false, false) if has_bars() && !global.no_progress => Arc::new(UntilTheEnd(bars::Bars::new(), &ENDED)),
        (false, false) => Arc::new(UntilTheEnd(lines::Lines::default(), &ENDED)),
    }
}

/// Whether the run has said its last word.
static ENDED: AtomicBool = AtomicBool::new(false);

/// Says that the result of the run, or its error, is printed. What is still under way breaks off and reports nothing.
pub(crate) fn end() {
    ENDED.store(true, Ordering::SeqCst);
}

/// A reporter that hears nothing after the end of the run.
struct UntilTheEnd<R>(R, &'static AtomicBool);

impl<R: Reporter> Reporter for UntilTheEnd<R> {
    fn event(&self, event: &Event) {
        if !self.1.load(Ordering::SeqCst) {
            self.0.event(event);
        }
    }
}

/// Whether a member that counts is left out.
#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde passes a reference")]
pub(crate) fn is_zero(count: &usize) -> bool {
    *count == 0
}

/// Whether lines of stderr can be drawn anew.
fn has_bars() -> bool {
    // As everywhere, a terminal without a name can do nothing; Windows names none.
    let terminal = std::env::var_os("TERM");
    let can_draw = terminal.map_or(cfg!(windows), |terminal| terminal != "dumb");
    std::io::stderr().is_terminal() && can_draw
}

/// Stdout as JSON lines: one object a line, with its event as the first member.
pub(crate) struct JsonLines;

impl JsonLines {
    #[expect(clippy::unused_self, reason = "whoever has none of these prints a report in no other form")]
    pub(crate) fn add(&self, line: &impl Serialize) {
        printer::document(&Document::json_line(line));
    }

    /// Prints lines of one kind.
    pub(crate) fn add_all<T: Serialize>(&self, lines: impl IntoIterator<Item = T>) {
        lines.into_iter().for_each(|line| self.add(&line));
    }
}

/// Every event, except progress, which has no use in a log.
impl Reporter for JsonLines {
    fn event(&self, event: &Event) {
        if !matches!(event, Event::Progress { .. } | Event::Working { .. }) {
            self.add(event);
        }
    }
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

#[cfg(test)]
mod tests {
    use std::sync::Mutex;

    use super::*;

    struct Heard(Mutex<Vec<String>>);

    impl Reporter for Heard {
        fn event(&self, event: &Event) {
            self.0.lock().unwrap().push(message(event).to_string());
        }
    }

    #[test]
    fn a_request_that_broke_off_with_the_run_was_reported_after_its_error() {
        static RUN: AtomicBool = AtomicBool::new(false);
        let reporter = UntilTheEnd(Heard(Mutex::default()), &RUN);
        reporter.event(&Event::note("a", "before"));
        RUN.store(true, Ordering::SeqCst);
        reporter.event(&Event::note("a", "after"));
        assert_eq!(*reporter.0.0.lock().unwrap(), ["note: before\n"]);
    }
}
