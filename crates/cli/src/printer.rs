//! The two streams. Data goes to stdout, everything else to stderr.
//!
//! What people read goes through [`page`](crate::page), what programs read through [`document`](crate::document): both
//! escape foreign text; passwords in addresses that were typed are hidden here. Nothing else writes to the streams, except the bars of a
//! terminal, which stand aside meanwhile, and the user's [`pager`].
//!
//! Printing never ends a job: that would leave its temporary folders, and half of its work undone. A reader that went
//! away is not a failure. An output that cannot be written is one, and [`stdout_failed`] reports it at the end.

use std::io::{ErrorKind, Write as _};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, PoisonError};

use indicatif::MultiProgress;

use crate::document::Document;
use crate::page::{Line, Page, disarmed};
use crate::pager;
use crate::typed_logins::hidden;

/// The bars on the terminal of stderr, from the first one until the verb ends.
static BARS: Mutex<Option<MultiProgress>> = Mutex::new(None);

/// Whether something of stdout is lost that somebody may have wanted.
static STDOUT_FAILED: AtomicBool = AtomicBool::new(false);

/// Writes to stdout for people, with colours only if they are wanted.
pub(crate) fn stdout(page: &Page) {
    write_out(&page.coloured());
}

/// As [`stdout`], through the user's pager if stdout is a terminal on which the page does not fit.
pub(crate) fn paged(page: &Page) {
    let text = page.coloured();
    let text = match anstream::AutoStream::choice(&std::io::stdout()) {
        anstream::ColorChoice::Never => anstream::adapter::strip_str(&text).to_string(),
        _ => text,
    };
    if !pager::show(&text) {
        write_out(&text);
    }
}

/// Writes to stdout what programs read.
pub(crate) fn document(document: &Document) {
    write_out(document.as_str());
}

/// Stdout for the lines of an access log: JSON, in which foreign text is escaped, written by a thread of their own.
pub(crate) fn log_lines() -> Box<dyn std::io::Write + Send> {
    Box::new(std::io::stdout())
}

/// Writes help or the version to stdout: this program's own words, and the values of variables. No line is a command of a
/// CI system.
pub(crate) fn help(text: &clap::builder::StyledStr) {
    let text = text.ansi().to_string();
    write_out(&text.split_inclusive('\n').map(disarmed).collect::<String>());
}

/// Begins to show bars, which this module keeps out of the way of what it writes.
pub(crate) fn begin_bars() {
    let mut bars = BARS.lock().unwrap_or_else(PoisonError::into_inner);
    bars.get_or_insert_default();
}

/// Draws on the bars, as long as they are shown.
pub(crate) fn draw(draw: impl FnOnce(&MultiProgress)) {
    if let Some(bars) = &*BARS.lock().unwrap_or_else(PoisonError::into_inner) {
        draw(bars);
    }
}

/// Leaves a clean line in place of the bars, which do not come back. After an error some may still be there.
pub(crate) fn end_bars() {
    if let Some(bars) = BARS.lock().unwrap_or_else(PoisonError::into_inner).take() {
        // A lost terminal needs no clean line.
        let _ = bars.clear();
        bars.set_draw_target(indicatif::ProgressDrawTarget::hidden());
    }
}

/// Writes while no bar is shown.
fn beside_bars<T>(write: impl FnOnce() -> T) -> T {
    match &*BARS.lock().unwrap_or_else(PoisonError::into_inner) {
        Some(bars) => bars.suspend(write),
        None => write(),
    }
}

fn write_out(text: &str) {
    beside_bars(|| {
        let mut stream = anstream::stdout().lock();
        note(stream.write_all(hidden(text).as_bytes()).and_then(|()| stream.flush()));
    });
}

fn note(written: std::io::Result<()>) {
    // `tofu-oci versions … | head -1`: the reader has closed the pipe, and that is not a failure.
    if written.is_err_and(|error| error.kind() != ErrorKind::BrokenPipe) {
        STDOUT_FAILED.store(true, Ordering::Relaxed);
    }
}

/// Whether an output could not be written although its reader did not close it.
pub(crate) fn stdout_failed() -> bool {
    STDOUT_FAILED.load(Ordering::Relaxed)
}

/// Writes to stderr, with colours only if they are wanted; nothing can be done if that fails.
pub(crate) fn stderr(page: &Page) {
    write_err(&page.coloured());
}

/// Writes a question to stderr: a line that the answer follows.
pub(crate) fn question(line: &Line) {
    let mut page = Page::default();
    page.push(line.clone());
    write_err(&format!("{} ", page.coloured().trim_end()));
}

fn write_err(text: &str) {
    beside_bars(|| {
        let mut stream = anstream::stderr().lock();
        let _ = stream.write_all(hidden(text).as_bytes()).and_then(|()| stream.flush());
    });
}

/// Takes the lines of `tracing`, one a call, and writes them to stderr. What they quote is escaped.
#[derive(Clone, Copy, Debug)]
pub(crate) struct TraceLines;

impl std::io::Write for TraceLines {
    fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
        stderr(&Page::of(String::from_utf8_lossy(bytes).trim_end_matches('\n')));
        Ok(bytes.len())
    }

    fn flush(&mut self) -> std::io::Result<()> {
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_closed_pipe_ends_no_job_halfway() {
        // Both come back: neither ends the process.
        note(Err(ErrorKind::BrokenPipe.into()));
        assert!(!stdout_failed(), "a reader that went away is no failure");
        note(Err(ErrorKind::StorageFull.into()));
        assert!(stdout_failed());
    }
}
