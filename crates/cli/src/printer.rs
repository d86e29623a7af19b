//! The two streams. Data goes to stdout, everything else to stderr.
//!
//! A job is never ended by what it prints: it would leave its temporary folders behind, and half of its work undone. A
//! reader that went away is no failure; an output that cannot be written is one, told by [`stdout_failed`] at the end.

use std::io::{ErrorKind, Write as _};
use std::sync::atomic::{AtomicBool, Ordering};

/// The width of a line of an explanation.
const WIDTH: usize = 100;

/// Whether something of stdout is lost that somebody may have wanted.
static STDOUT_FAILED: AtomicBool = AtomicBool::new(false);

/// Writes to stdout, with colours only where they are wanted.
pub(crate) fn stdout(text: &str) {
    let mut stream = anstream::stdout().lock();
    note(stream.write_all(text.as_bytes()).and_then(|()| stream.flush()));
}

fn note(written: std::io::Result<()>) {
    // `tofu-oci versions … | head -1`: nobody reads on, and that is no failure.
    if written.is_err_and(|error| error.kind() != ErrorKind::BrokenPipe) {
        STDOUT_FAILED.store(true, Ordering::Relaxed);
    }
}

/// Whether an output that was not closed by its reader could not be written.
pub(crate) fn stdout_failed() -> bool {
    STDOUT_FAILED.load(Ordering::Relaxed)
}

/// Writes to stderr, with colours only where they are wanted; nothing can be done if that fails.
pub(crate) fn stderr(text: &str) {
    let mut stream = anstream::stderr().lock();
    let _ = stream.write_all(text.as_bytes()).and_then(|()| stream.flush());
}

/// Foreign text that a terminal may show: control characters, with which a registry could move the cursor or change
/// what stands above, and marks that turn the direction of writing become visible. Line breaks stay.
pub(crate) fn visible(text: &str) -> std::borrow::Cow<'_, str> {
    let hostile = |character: char| {
        character.is_control() && character != '\n'
            || matches!(character, '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}')
    };
    if text.contains(hostile) { text.replace(hostile, "\u{fffd}").into() } else { text.into() }
}

/// A name and a text beside it, broken at words and continued below itself.
pub(crate) fn row(indent: &str, name: &str, text: &str) -> String {
    let lead = format!("{indent}{name:<8}  ");
    let room = WIDTH.saturating_sub(lead.chars().count());
    let text = visible(text).replace('\n', " ");
    let mut lines: Vec<String> = Vec::new();
    for word in text.split(' ') {
        match lines.last_mut() {
            Some(line) if line.chars().count() + 1 + word.chars().count() <= room => {
                line.push(' ');
                line.push_str(word);
            }
            _ => lines.push(word.to_owned()),
        }
    }
    let gap = " ".repeat(lead.chars().count());
    let lines: Vec<String> = lines
        .iter()
        .enumerate()
        .map(|(nth, line)| format!("{}{line}\n", if nth == 0 { &lead } else { &gap }))
        .collect();
    lines.concat()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn foreign_text_moves_no_cursor() {
        assert_eq!(visible("artifact type `a\x1b[2Jb`\r\nnext"), "artifact type `a\u{fffd}[2Jb`\u{fffd}\nnext");
        assert_eq!(visible("plain ü"), "plain ü");
    }

    #[test]
    fn a_closed_pipe_ends_no_job_halfway() {
        // Both come back: neither ends the process.
        note(Err(ErrorKind::BrokenPipe.into()));
        assert!(!stdout_failed(), "a reader that went away is no failure");
        note(Err(ErrorKind::StorageFull.into()));
        assert!(stdout_failed());
    }

    #[test]
    fn long_texts_are_continued_below_themselves() {
        let text = row("    ", "offers", &"1.10.0-beta.1, ".repeat(9));
        assert!(text.lines().all(|line| line.chars().count() <= WIDTH), "{text}");
        insta::assert_snapshot!(text, @"
            offers    1.10.0-beta.1, 1.10.0-beta.1, 1.10.0-beta.1, 1.10.0-beta.1, 1.10.0-beta.1,
                      1.10.0-beta.1, 1.10.0-beta.1, 1.10.0-beta.1, 1.10.0-beta.1,
        ");
    }
}
