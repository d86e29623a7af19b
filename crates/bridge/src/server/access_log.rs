//! The access log: a line of JSON for each request.

use std::borrow::Cow;
use std::io::Write;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};
use std::time::Duration;

use serde::Serialize;

/// How many lines may wait for a slow disk or terminal. More of them are dropped, and counted.
const WAITING: usize = 10_000;

/// The longest piece of foreign text in a line, in characters.
const LONGEST: usize = 200;

/// The longest reason of a failure, in characters.
const LONGEST_REASON: usize = 500;

/// Gets a line for each request. Clones write to one target.
#[derive(Clone)]
pub struct AccessLogger {
    lines: Option<SyncSender<LogMessage>>,
    dropped: Arc<AtomicU64>,
}

enum LogMessage {
    Line(String),
    Flush(SyncSender<()>),
    Target(Box<dyn Write + Send>),
}

/// What is said of one request.
#[derive(Serialize)]
#[serde(tag = "event", rename = "request")]
pub(super) struct LogLine<'a> {
    pub(super) time: String,
    pub(super) id: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) client: Option<&'a str>,
    pub(super) address: String,
    pub(super) method: &'a str,
    pub(super) path: String,
    pub(super) status: u16,
    pub(super) bytes: u64,
    pub(super) ms: u64,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) agent: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) code: Option<&'a str>,
    /// Only of an answer with status 5xx.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) reason: Option<&'a str>,
    /// Only of an answer that the client did not get whole.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub(super) broken: bool,
    #[serde(skip_serializing_if = "is_zero")]
    pub(super) lines_dropped: u64,
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde calls it so")]
fn is_zero(number: &u64) -> bool {
    *number == 0
}

impl AccessLogger {
    /// Writes to the end of this, in a thread of its own.
    pub fn to(target: Box<dyn Write + Send>) -> Self {
        let (lines, waiting) = sync_channel(WAITING);
        std::thread::spawn(move || write(target, &waiting));
        Self { lines: Some(lines), dropped: Arc::default() }
    }

    /// Writes nothing.
    pub fn off() -> Self {
        Self { lines: None, dropped: Arc::default() }
    }

    /// Lines from now on go to the end of this file: a program that rotates logs has moved the old one. Earlier lines
    /// go to the last target. It waits for room if many lines are waiting, so call it on a thread that may block.
    pub fn turn_to(&self, target: Box<dyn Write + Send>) {
        if let Some(lines) = &self.lines {
            // The thread that writes lives as long as a sender does.
            let _ = lines.send(LogMessage::Target(target));
        }
    }

    pub(super) fn line(&self, mut line: LogLine<'_>) {
        let Some(lines) = &self.lines else { return };
        line.lines_dropped = self.dropped.swap(0, Ordering::Relaxed);
        let Ok(mut text) = serde_json::to_string(&line) else { return };
        text.push('\n');
        if lines.try_send(LogMessage::Line(text)).is_err() {
            self.dropped.fetch_add(line.lines_dropped + 1, Ordering::Relaxed);
        }
    }

    /// Waits a moment for the lines so far.
    pub(super) fn flush(&self) {
        let Some(lines) = &self.lines else { return };
        let (done, written) = sync_channel(1);
        if lines.try_send(LogMessage::Flush(done)).is_ok() {
            let _ = written.recv_timeout(Duration::from_secs(1));
        }
    }
}

/// How long lines may wait for the next ones, so that a busy server does not wake the thread for each.
const TOGETHER: Duration = Duration::from_millis(2);

/// The lines of two milliseconds are written together. A target that fails still gets the next lines: a disk may have room again.
fn write(mut target: Box<dyn Write + Send>, waiting: &Receiver<LogMessage>) {
    let mut buffer = Vec::new();
    while let Ok(first) = waiting.recv() {
        let mut flushes = Vec::new();
        for message in std::iter::once(first).chain(waiting.try_iter()) {
            match message {
                LogMessage::Line(line) => buffer.extend_from_slice(line.as_bytes()),
                LogMessage::Flush(done) => flushes.push(done),
                LogMessage::Target(next) => {
                    empty(&mut buffer, &mut *target);
                    target = next;
                }
            }
        }
        empty(&mut buffer, &mut *target);
        for done in flushes {
            let _ = done.send(());
        }
        std::thread::sleep(TOGETHER);
    }
}

fn empty(buffer: &mut Vec<u8>, target: &mut dyn Write) {
    let _ = target.write_all(buffer).and_then(|()| target.flush());
    buffer.clear();
}

/// Foreign text, as it is safe in a log: escaped, and not longer than it should be.
pub(super) fn shortened(text: &str) -> String {
    shortened_to(LONGEST, text)
}

/// Why an answer has status 5xx, in one line: escaped, shortened, and every address without user info and query.
pub(super) fn reason_line(text: &str) -> String {
    let words: Vec<Cow<'_, str>> = text.split_whitespace().map(without_secrets).collect();
    shortened_to(LONGEST_REASON, &words.join(" "))
}

/// A word; without its user info and query if it is an address.
fn without_secrets(word: &str) -> Cow<'_, str> {
    let Some((scheme, rest)) = word.split_once("://") else { return Cow::Borrowed(word) };
    let (host, path) = rest.split_at(rest.find(['/', '?', '#']).unwrap_or(rest.len()));
    let host = host.rsplit_once('@').map_or(host, |(_, host)| host);
    match path.split_once('?') {
        Some((path, _)) => Cow::Owned(format!("{scheme}://{host}{path}?…")),
        None => Cow::Owned(format!("{scheme}://{host}{path}")),
    }
}

fn shortened_to(most: usize, text: &str) -> String {
    if text.len() <= most && text.bytes().all(|byte| matches!(byte, b' '..=b'~')) {
        return text.to_owned();
    }
    let mut shown: String = text.chars().take(most).collect();
    if shown.len() < text.len() {
        shown.push('…');
    }
    tofu_oci_types::printable(&shown).into_owned()
}

#[cfg(test)]
mod tests {
    use std::sync::Mutex;

    use super::*;

    #[derive(Clone, Default)]
    struct LogTarget(Arc<Mutex<Vec<u8>>>);

    impl Write for LogTarget {
        fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
            self.0.lock().unwrap().extend_from_slice(bytes);
            Ok(bytes.len())
        }

        fn flush(&mut self) -> std::io::Result<()> {
            Ok(())
        }
    }

    impl LogTarget {
        /// The paths of its lines.
        fn paths(&self) -> Vec<String> {
            let text = String::from_utf8(self.0.lock().unwrap().clone()).unwrap();
            let path =
                |line: &str| serde_json::from_str::<serde_json::Value>(line).unwrap()["path"].as_str().unwrap().into();
            text.lines().map(path).collect()
        }
    }

    fn line(path: &str) -> LogLine<'_> {
        LogLine {
            time: String::new(),
            id: "1",
            client: None,
            address: String::new(),
            method: "GET",
            path: path.to_owned(),
            status: 200,
            bytes: 0,
            ms: 0,
            agent: None,
            code: None,
            reason: None,
            broken: false,
            lines_dropped: 0,
        }
    }

    #[test]
    fn lines_went_to_the_file_that_was_moved_away() {
        let (first, second) = (LogTarget::default(), LogTarget::default());
        let log = AccessLogger::to(Box::new(first.clone()));
        log.line(line("/before"));
        log.turn_to(Box::new(second.clone()));
        log.clone().line(line("/after"));
        log.flush();
        assert_eq!((first.paths(), second.paths()), (vec!["/before".to_owned()], vec!["/after".to_owned()]));
    }

    #[track_caller]
    fn check(text: &str, want: &str) {
        assert_eq!(reason_line(text), want);
    }

    #[test]
    fn a_reason_is_one_safe_line_without_secrets() {
        check("it cannot be read:\n  two lines", "it cannot be read: two lines");
        check("at https://ci:s3cret@h.example/x?token=t (no)", "at https://h.example/x?… (no)");
        check("`https://s3cret@h.example`", "`https://h.example`");
        check("https://h.example?token=t", "https://h.example?…");
        check("oci://h.example/a@b", "oci://h.example/a@b");
        assert!(!reason_line("a\u{202e}b\u{1b}[1m").contains(['\u{202e}', '\u{1b}']));
        let long = reason_line(&"é".repeat(2000));
        assert_eq!((long.chars().count(), long.ends_with('…')), (LONGEST_REASON + 1, true));
    }
}
