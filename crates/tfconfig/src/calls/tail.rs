//! The line after a source in HCL: where its comment is, or could be.

use std::ops::Range;

use tofu_oci_types::InvalidConstraints;

use super::note::{self, FoundNote, PinNote};

/// What follows a source on its line.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct LineTail {
    /// The note that was found, with its place in the text.
    note: Option<FoundNote>,
    /// What looks as if it was meant for one, if none was found.
    doubt: Option<String>,
    /// Where a new note goes, and how it is written.
    room: NoteRoom,
}

/// Where a new note goes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum NoteRoom {
    /// To the end of the line, with a blank before it if it needs one.
    End { at: usize, blank: bool },
    /// In front of the user's comment.
    Before { at: usize },
    /// Within the line, because a comment of several lines begins on it.
    Within { at: usize },
}

impl LineTail {
    /// The rest of the line from the offset on, at which a source has ended.
    pub(super) fn read(text: &str, from: usize) -> Result<Self, InvalidConstraints> {
        let line = text[from..].find('\n').map_or(text.len(), |length| from + length);
        let end = if text[from..line].ends_with('\r') { line - 1 } else { line };
        let mut at = from;
        let mut note = None;
        while at < end {
            let rest = &text[at..end];
            if rest.starts_with('#') || rest.starts_with("//") {
                let content = at + if rest.starts_with('#') { 1 } else { 2 };
                let found = note::read(&text[content..end])?.map(|found| moved(found, content)).or(note);
                let doubt = if found.is_none() { note::meant_as_note(&text[content..end]) } else { None };
                return Ok(Self { note: found, doubt, room: NoteRoom::Before { at } });
            }
            if rest.starts_with("/*") {
                let Some(length) = rest.find("*/").filter(|length| *length >= 2) else {
                    return Ok(Self { note, doubt: None, room: NoteRoom::Within { at: from } });
                };
                if note.is_none() {
                    note = note::read(&text[at + 2..at + length])?.map(|found| moved(found, at + 2));
                }
                at += length + 2;
                continue;
            }
            at += rest.chars().next().map_or(1, char::len_utf8);
        }
        let blank = !text[from..end].ends_with([' ', '\t']);
        Ok(Self { note, doubt: None, room: NoteRoom::End { at: end, blank } })
    }

    pub(super) fn note(&self) -> Option<&PinNote> {
        self.note.as_ref().map(|(_, note)| note)
    }

    /// What looks as if it was meant for a note.
    pub(super) fn doubt(&self) -> Option<&str> {
        self.doubt.as_deref()
    }

    /// The bytes to replace so that the line has this note, and what replaces them.
    pub(super) fn edit(&self, note: &PinNote) -> (Range<usize>, String) {
        match (&self.note, self.room) {
            (Some((span, _)), _) => (span.clone(), note.to_string()),
            (None, NoteRoom::End { at, blank }) => (at..at, format!("{}# {note}", if blank { " " } else { "" })),
            (None, NoteRoom::Before { at }) => (at..at, format!("# {note} ")),
            (None, NoteRoom::Within { at }) => (at..at, format!(" /* {note} */")),
        }
    }
}

fn moved((span, note): FoundNote, by: usize) -> FoundNote {
    (span.start + by..span.end + by, note)
}
