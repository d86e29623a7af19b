//! What a job reports while it runs.

use std::sync::atomic::{AtomicU64, Ordering};

use serde::Serialize;

/// How much a message matters.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Level {
    /// Worth knowing.
    Note,
    /// Worth acting on; the job goes on.
    Warning,
}

/// What the numbers of a work count.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum WorkUnit {
    /// Bytes.
    Bytes,
    /// Packages, blobs, checksums.
    Items,
}

/// One thing that happened. The subject of a transfer is its key: equal subjects belong together.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(tag = "event", rename_all = "kebab-case")]
pub enum Event {
    /// Bytes begin to move.
    Started {
        /// What moves, such as `widget 1.0.0 linux_amd64`.
        subject: String,
        /// How many bytes it has, if known.
        bytes: Option<u64>,
    },
    /// How many bytes have moved since the start.
    Progress {
        /// What moves.
        subject: String,
        /// Bytes so far.
        done: u64,
    },
    /// How far a longer work is that moves nothing, or is made of many transfers. For the eyes of people: programs do not
    /// get it. The work is done when `done` reaches `of`.
    Working {
        /// What is done, such as `reading packages`; equal subjects belong together.
        subject: String,
        /// How much of it is done.
        done: u64,
        /// How much there is to do, as far as is known.
        of: u64,
        /// What both count.
        unit: WorkUnit,
    },
    /// The transfer has ended.
    Finished {
        /// What moved.
        subject: String,
        /// How it ended, a past participle in kebab-case: `pushed`, `packed`, `present`, `mounted`, `already-installed`.
        outcome: String,
    },
    /// A request will be repeated.
    Retrying {
        /// Method, host and path of the request; never its query.
        request: String,
        /// Which attempt comes next, from 2.
        attempt: u32,
        /// Milliseconds until that attempt.
        after_ms: u64,
        /// Why the last attempt failed.
        reason: String,
    },
    /// A message for people.
    Message {
        /// How much it matters.
        level: Level,
        /// A stable kebab-case name, such as `floating-tag`.
        code: &'static str,
        /// One sentence, lower case, no full stop.
        text: String,
        /// What to do about it, one piece of advice each. In JSON they are one text with a line each.
        #[serde(rename = "hint", serialize_with = "joined")]
        hints: Vec<String>,
    },
}

impl Event {
    /// A warning with a stable code.
    pub fn warning(code: &'static str, text: impl Into<String>) -> Self {
        Self::Message { level: Level::Warning, code, text: text.into(), hints: Vec::new() }
    }

    /// A note with a stable code.
    pub fn note(code: &'static str, text: impl Into<String>) -> Self {
        Self::Message { level: Level::Note, code, text: text.into(), hints: Vec::new() }
    }

    /// The same message with one more hint; other events are returned as they are.
    #[must_use]
    pub fn with_hint(mut self, text: impl Into<String>) -> Self {
        if let Self::Message { hints, .. } = &mut self {
            hints.push(text.into());
        }
        self
    }
}

fn joined<S: serde::Serializer>(hints: &[String], serializer: S) -> Result<S::Ok, S::Error> {
    match hints {
        [] => serializer.serialize_none(),
        hints => serializer.serialize_str(&hints.join("\n")),
    }
}

/// Receives events. The printers are in `cli`.
pub trait Reporter: Send + Sync {
    /// Called for each event, from any thread; returns quickly.
    fn event(&self, event: &Event);
}

/// Counts the things of a work that are done, and reports how many there are.
pub struct Counter<'a> {
    reporter: &'a dyn Reporter,
    subject: String,
    done: AtomicU64,
    of: u64,
}

impl<'a> Counter<'a> {
    /// None of them is done.
    pub fn new(reporter: &'a dyn Reporter, subject: impl Into<String>, of: usize) -> Self {
        let counter = Self { reporter, subject: subject.into(), done: AtomicU64::new(0), of: of as u64 };
        counter.report(0);
        counter
    }

    /// One more is done.
    pub fn done(&self) {
        self.report(self.done.fetch_add(1, Ordering::Relaxed) + 1);
    }

    fn report(&self, done: u64) {
        let (subject, of) = (self.subject.clone(), self.of);
        self.reporter.event(&Event::Working { subject, done, of, unit: WorkUnit::Items });
    }
}

/// Ignores all events.
#[derive(Clone, Copy, Debug, Default)]
pub struct NoReporter;

impl Reporter for NoReporter {
    fn event(&self, _event: &Event) {}
}
