//! A file with other sources: everything else in it stays as it is, byte by byte.

use std::ops::Range;

use tofu_oci_hcl::{hcl2_string, hcl2_template};
use tofu_oci_types::{Digest, OciModuleSource, Reference};

use super::json_note;
use super::note::PinNote;
use super::source_call::{CallSource, NotePlace, SourceCall};

/// What a call becomes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PinnedSource {
    /// The digest that its source names.
    pub digest: Digest,
    /// What its comment says; `None` leaves the comment as it is.
    pub note: Option<PinNote>,
}

impl SourceCall {
    /// The source with this digest in the place of its tag, as its user wrote the rest; `None` if it is not in a repository.
    pub fn pinned_text(&self, digest: &Digest) -> Option<String> {
        let CallSource::Oci(source, _) = &self.source else { return None };
        Some(pinned(&self.text, source, digest))
    }

    /// What to replace in the text of the file.
    pub(super) fn edits(&self, pin: &PinnedSource) -> Vec<(Range<usize>, String)> {
        let CallSource::Oci(source, before) = &self.source else { return Vec::new() };
        let mut edits = Vec::new();
        if *source.reference() != Reference::Digest(pin.digest.clone()) {
            let text = pinned(&self.text, source, &pin.digest);
            let literal = match &self.note {
                NotePlace::Json(_) => json_note::literal(&hcl2_template(&text)),
                NotePlace::Line(_) | NotePlace::Nowhere => hcl2_string(&text),
            };
            edits.push((self.span.clone(), literal));
        }
        if let Some(note) = pin.note.as_ref().filter(|note| before.as_ref() != Some(note)) {
            edits.extend(match &self.note {
                NotePlace::Line(tail) => Some(tail.edit(note)),
                NotePlace::Json(json) => json.edit(note),
                NotePlace::Nowhere => None,
            });
        }
        edits
    }
}

/// The text with these bytes replaced; they do not overlap.
pub(super) fn replaced(text: &str, mut edits: Vec<(Range<usize>, String)>) -> String {
    edits.sort_by_key(|(span, _)| span.start);
    let (mut out, mut at) = (String::with_capacity(text.len() + edits.len() * 80), 0);
    for (span, new) in edits {
        out.push_str(&text[at..span.start]);
        out.push_str(&new);
        at = span.end;
    }
    out.push_str(&text[at..]);
    out
}

fn pinned(text: &str, source: &OciModuleSource, digest: &Digest) -> String {
    let wanted = source.clone().with_digest(digest.clone());
    let (place, arguments) = text.split_once('?').unwrap_or((text, ""));
    let is_version = |argument: &&str| matches!(argument.split('=').next(), Some("tag" | "digest"));
    let kept = arguments.split('&').filter(|argument| !argument.is_empty() && !is_version(argument));
    let own = format!("digest={digest}");
    let arguments: Vec<&str> = kept.chain([own.as_str()]).collect();
    let edited = format!("{place}?{}", arguments.join("&"));
    // A fragment, or an argument whose name is encoded, is more than that: the canonical form says the same.
    if edited.parse().is_ok_and(|read: OciModuleSource| read == wanted) { edited } else { wanted.to_string() }
}
