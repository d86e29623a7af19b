//! Every kind of event, error and output with hostile text in every field: nothing of it acts on what shows it.

use std::fmt;

use tofu_oci_types::{Event, Level, WorkUnit, is_unprintable};

use crate::diagnostic::Diagnostic;
use crate::document::Document;
use crate::exit::Exit;
use crate::page::{Line, Page};
use crate::report::message;

pub(crate) const HOSTILE: &str =
    "::error::h\x1b[2J\u{9b}31m\r\n::add-mask::m\nforged\u{202e}\u{2066}\u{200b}\u{2028}\u{feff}\u{e0041}\t##[error]";

#[track_caller]
pub(crate) fn harmless(text: &str) {
    assert!(!text.replace('\n', "").contains(is_unprintable), "{text:?}");
    for line in text.lines() {
        assert!(!line.trim_start().starts_with("::") && !line.starts_with("forged"), "{text}");
        assert!(!line.contains("##["), "{text}");
    }
}

/// An error with a hostile text and a hostile cause.
#[derive(Debug)]
struct Hostile(Option<Box<Hostile>>);

impl fmt::Display for Hostile {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(HOSTILE)?;
        f.write_str(if self.0.is_some() { "outer" } else { "inner" })
    }
}

impl std::error::Error for Hostile {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        self.0.as_deref().map(|cause| cause as _)
    }
}

/// One of each kind after this one. A new kind does not compile before it has a place here.
fn next(event: &Event) -> Option<Event> {
    let text = || HOSTILE.to_owned();
    Some(match event {
        Event::Started { .. } => Event::Progress { subject: text(), done: 1 },
        Event::Progress { .. } => Event::Working { subject: text(), done: 1, of: 2, unit: WorkUnit::Items },
        Event::Working { .. } => Event::Finished { subject: text(), outcome: text() },
        Event::Finished { .. } => Event::Retrying { request: text(), attempt: 2, after_ms: 1, reason: text() },
        Event::Retrying { .. } => {
            Event::Message { level: Level::Warning, code: "x", text: text(), hints: vec![text(), text()] }
        }
        Event::Message { .. } => return None,
    })
}

#[test]
fn no_event_acts_on_a_terminal() {
    let first = Event::Started { subject: HOSTILE.to_owned(), bytes: Some(1) };
    let events: Vec<Event> = std::iter::successors(Some(first), next).collect();
    assert_eq!(events.len(), 6);
    for event in events {
        let page = message(&event);
        harmless(&page.to_string());
        let lines = match event {
            Event::Message { .. } => 3,
            Event::Retrying { .. } => 1,
            Event::Started { .. } | Event::Progress { .. } | Event::Working { .. } | Event::Finished { .. } => 0,
        };
        assert_eq!(page.to_string().lines().count(), lines, "{event:?}");
        let json = Document::json_line(&event);
        harmless(json.as_str());
        assert_eq!(json.as_str().lines().count(), 1, "{event:?}");
        let value: serde_json::Value = serde_json::from_str(json.as_str()).expect("JSON");
        assert!(
            value
                .as_object()
                .expect("an object")
                .values()
                .any(|value| value.as_str().is_some_and(|text| text.contains(HOSTILE)))
        );
    }
}

#[test]
fn no_error_acts_on_a_terminal() {
    let error = Hostile(Some(Box::new(Hostile(None))));
    let diagnostic = Diagnostic::of(Exit::Fixable, &error).about(HOSTILE).cause(HOSTILE).hint(HOSTILE).hint(HOSTILE);
    let page = diagnostic.page();
    harmless(&page.to_string());
    // Text, two causes, an empty line, two hints.
    assert_eq!(page.to_string().lines().count(), 6, "{page}");
    let excerpt = Diagnostic::usage(HOSTILE).excerpt(crate::excerpt::excerpt(HOSTILE, HOSTILE, &(0..9)));
    harmless(&excerpt.page().to_string());
}

#[test]
fn no_form_of_a_page_acts_on_a_terminal() {
    let mut page = Page::of(HOSTILE);
    page.line(HOSTILE);
    page.row(" ", HOSTILE, HOSTILE);
    page.row_of(" ", HOSTILE, &Line::of(HOSTILE).plain(HOSTILE));
    page.block("", HOSTILE);
    page.append(Page::of(HOSTILE).in_style(anstyle::Style::new().bold()));
    let text = page.to_string().replace("\nforged", "\nblock");
    harmless(&text);
}

#[test]
fn nothing_else_writes_to_the_streams() {
    let mut seen = 0;
    let mut folders = vec![std::path::PathBuf::from(concat!(env!("CARGO_MANIFEST_DIR"), "/src"))];
    while let Some(folder) = folders.pop() {
        for entry in std::fs::read_dir(folder).expect("a folder of sources").flatten() {
            let path = entry.path();
            if path.is_dir() {
                folders.push(path);
                continue;
            }
            let text = std::fs::read_to_string(&path).expect("a source");
            let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
            seen += 1;
            if name == "printer.rs" || name == "hostile.rs" {
                continue;
            }
            for line in text.lines() {
                let writes = [
                    "io::stdout()",
                    "io::stderr()",
                    "anstream::stdout()",
                    "anstream::stderr()",
                    "print!(",
                    "println!(",
                ];
                let asks = ["is_terminal()", ".println(text", " size(std::io::"].iter().any(|one| line.contains(one));
                assert!(asks || !writes.iter().any(|one| line.contains(one)), "{}: {line}", path.display());
            }
        }
    }
    assert!(seen > 80, "only {seen} sources");
}
