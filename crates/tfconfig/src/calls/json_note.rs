//! The note of a call in JSON: the member `//` of the module's object, which HCL ignores.

use std::ops::Range;

use tofu_oci_types::InvalidConstraints;

use super::note::{self, FoundNote, PinNote};
use crate::json::{TfJsonKind, TfJsonMember};

/// The member that HCL takes for a comment.
///
/// Spec: HCL, `json/spec.md`, "Bodies".
const COMMENT: &str = "//";

/// Where the note of a call is, or could be.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum JsonNote {
    /// The string of a comment, decoded, with its place in the text and the note in it.
    Comment { span: Range<usize>, text: String, note: Option<FoundNote> },
    /// A comment of another kind: it stays, and there is no room for a note.
    Taken,
    /// In front of the source's name; `space` stands before the name, and `gap` after its colon.
    Missing { at: usize, space: String, gap: &'static str },
}

impl JsonNote {
    /// The note of the object with these members, whose offsets count from the byte `from` of the text; `source` is where the
    /// name of the source begins.
    pub(super) fn read(
        text: &str,
        from: usize,
        members: &[TfJsonMember],
        source: usize,
    ) -> Result<Self, InvalidConstraints> {
        let Some(member) = members.iter().find(|member| member.name == COMMENT) else {
            let before = &text[..source];
            let space = before[before.trim_end_matches([' ', '\t', '\r', '\n']).len()..].to_owned();
            let colon = text[string_end(text, source)..].trim_start_matches([' ', '\t', '\r', '\n']);
            let gap = if colon.starts_with(":\"") { "" } else { " " };
            return Ok(Self::Missing { at: source, space: if space.is_empty() { gap.to_owned() } else { space }, gap });
        };
        let TfJsonKind::String(comment) = &member.value.kind else { return Ok(Self::Taken) };
        let start = from + member.value.offset;
        let span = start..string_end(text, start);
        Ok(Self::Comment { span, note: note::read(comment)?, text: comment.clone() })
    }

    pub(super) fn note(&self) -> Option<&PinNote> {
        match self {
            Self::Comment { note, .. } => note.as_ref().map(|(_, note)| note),
            Self::Taken | Self::Missing { .. } => None,
        }
    }

    /// What looks as if it was meant for a note.
    pub(super) fn doubt(&self) -> Option<String> {
        match self {
            Self::Comment { text, note: None, .. } => note::meant_as_note(text),
            _ => None,
        }
    }

    /// The bytes to replace so that the object has this note; `None` if it has no room for one.
    pub(super) fn edit(&self, note: &PinNote) -> Option<(Range<usize>, String)> {
        match self {
            Self::Comment { span, text, note: Some((of, _)) } => {
                Some((span.clone(), literal(&format!("{}{note}{}", &text[..of.start], &text[of.end..]))))
            }
            Self::Comment { span, text, note: None } if text.trim().is_empty() => {
                Some((span.clone(), literal(&note.to_string())))
            }
            Self::Comment { span, text, note: None } => Some((span.clone(), literal(&format!("{note} # {text}")))),
            Self::Taken => None,
            Self::Missing { at, space, gap } => {
                Some((*at..*at, format!("\"{COMMENT}\":{gap}{},{space}", literal(&note.to_string()))))
            }
        }
    }
}

/// A string as JSON writes it.
pub(super) fn literal(text: &str) -> String {
    serde_json::Value::from(text).to_string()
}

/// Where the string ends that begins at the offset.
pub(super) fn string_end(text: &str, start: usize) -> usize {
    let mut escaped = false;
    let end = text[start..].char_indices().skip(1).find_map(|(index, character)| {
        let ends = character == '"' && !escaped;
        escaped = character == '\\' && !escaped;
        ends.then_some(start + index + 1)
    });
    end.unwrap_or(text.len())
}
