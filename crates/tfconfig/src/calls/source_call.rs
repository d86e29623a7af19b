//! The sources of the `module` blocks of one file, with the bytes that they are.

use std::ops::Range;
use std::path::Path;

use tofu_oci_types::{
    InvalidConstraints, InvalidModuleSource, InvalidOciModuleSource, ModuleSource, OciModuleSource, TextPosition,
};

use super::json_note::{JsonNote, string_end};
use super::note::PinNote;
use super::tail::LineTail;
use crate::error::{ConfigProblem, TfConfigError};
use crate::facts::problem;
use crate::json;
use crate::model::Declared;
use crate::syntax::{Constant, TfBlock, TfBody, TfValue};
use tofu_oci_hcl::HclSyntax;

/// The source of one `module` block.
#[derive(Clone, Debug)]
pub struct SourceCall {
    /// The name of the call.
    pub module: String,
    /// Where the source is.
    pub at: Declared,
    pub source: CallSource,
    /// The bytes of the source in the text of the file.
    pub(super) span: Range<usize>,
    pub(super) text: String,
    pub(super) note: NotePlace,
}

/// What a source names.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum CallSource {
    /// A package in an OCI repository, and what the comment says of it.
    Oci(Box<OciModuleSource>, Option<PinNote>),
    /// Meant as such, and not valid.
    InvalidOci(InvalidOciModuleSource),
    /// A package in an OCI repository, with a constraint in the comment that cannot be read.
    InvalidNote(InvalidConstraints),
    /// An expression, which `OpenTofu` evaluates: its text.
    Computed(String),
    /// A folder, a registry, a git repository or whatever else.
    Other(String),
}

/// Where the comment of a source is, or could be.
#[derive(Clone, Debug)]
pub(super) enum NotePlace {
    Line(LineTail),
    Json(JsonNote),
    /// The source is not rewritten.
    Nowhere,
}

impl SourceCall {
    /// The bytes of the source in the text of the file.
    pub fn span(&self) -> Range<usize> {
        self.span.clone()
    }

    /// The source as written, decoded.
    pub fn source_text(&self) -> &str {
        &self.text
    }

    /// The text of its comment that looks like a version or a constraint, but is invalid: it stays the user's text.
    pub fn unread_note(&self) -> Option<String> {
        match &self.note {
            NotePlace::Line(tail) => tail.doubt().map(str::to_owned),
            NotePlace::Json(json) => json.doubt(),
            NotePlace::Nowhere => None,
        }
    }

    /// Whether its file has room for a comment: a member `//` that is not a string leaves none.
    pub fn has_room(&self) -> bool {
        !matches!(self.note, NotePlace::Json(JsonNote::Taken))
    }
}

/// The calls of a file in the order of its text, which may begin with a byte order mark.
///
/// # Errors
/// If it does not parse.
pub(super) fn find(path: &Path, text: &str, syntax: HclSyntax) -> Result<Vec<SourceCall>, TfConfigError> {
    let mark = text.len() - text.trim_start_matches('\u{feff}').len();
    let mark = mark.min('\u{feff}'.len_utf8());
    let finder = CallFinder { path, text, mark };
    let body = &text[mark..];
    let mut calls = match syntax {
        HclSyntax::Native => {
            let parsed = hcl_edit::parser::parse_body(body).map_err(|error| {
                let location = error.location();
                let at = TextPosition { line: location.line(), column: location.column() };
                let at = Declared { path: path.to_owned(), at };
                problem(at, ConfigProblem::Syntax { message: error.message().trim().to_owned() })
            })?;
            finder.calls(&TfBody::Native(&parsed))?
        }
        HclSyntax::Json => {
            let root = json::parse(path, body)?;
            finder.calls(&TfBody::Json(root.objects()))?
        }
    };
    calls.sort_by_key(|call| call.span.start);
    Ok(calls)
}

struct CallFinder<'a> {
    path: &'a Path,
    text: &'a str,
    /// The length of the byte order mark.
    mark: usize,
}

impl CallFinder<'_> {
    fn calls(&self, body: &TfBody<'_>) -> Result<Vec<SourceCall>, TfConfigError> {
        let blocks = body.blocks("module", 1);
        blocks.iter().try_for_each(|block| self.one_source(block))?;
        Ok(blocks.iter().filter_map(|block| self.call(block)).collect())
    }

    /// Refuses a block with two sources, as `OpenTofu` does: JSON may name a member twice.
    fn one_source(&self, block: &TfBlock<'_>) -> Result<(), TfConfigError> {
        let attributes = block.body.attributes();
        let Some(second) = attributes.iter().filter(|attribute| attribute.name == "source").nth(1) else {
            return Ok(());
        };
        let module = block.labels.first().copied().unwrap_or_default().to_owned();
        let at = TextPosition::of(&self.text[self.mark..], second.offset);
        Err(problem(Declared { path: self.path.to_owned(), at }, ConfigProblem::SourceTwice { module }))
    }

    /// `None` if the block has no source, as in an override file.
    fn call(&self, block: &TfBlock<'_>) -> Option<SourceCall> {
        let attribute = block.body.attribute("source")?;
        let module = block.labels.first().copied().unwrap_or_default().to_owned();
        let start = self.mark + attribute.value.offset();
        let at = TextPosition::of(&self.text[self.mark..], attribute.value.offset());
        let at = Declared { path: self.path.to_owned(), at };
        let literal = self.literal(attribute.value);
        let Some((span, text)) = literal else {
            let written = attribute.value.written(&self.text[self.mark..]).trim().to_owned();
            let span = start..start + written.len();
            let source = CallSource::Computed(written.clone());
            return Some(SourceCall { module, at, source, span, text: written, note: NotePlace::Nowhere });
        };
        let other = |source| SourceCall {
            module: module.clone(),
            at: at.clone(),
            source,
            span: span.clone(),
            text: text.clone(),
            note: NotePlace::Nowhere,
        };
        let oci = match text.parse() {
            Ok(ModuleSource::Oci(source)) => source,
            Err(InvalidModuleSource::Oci(error)) => return Some(other(CallSource::InvalidOci(error))),
            _ => return Some(other(CallSource::Other(text.clone()))),
        };
        let note = match &block.body {
            TfBody::Native(_) => LineTail::read(self.text, span.end).map(NotePlace::Line),
            TfBody::Json(objects) => {
                let key = self.mark + attribute.offset;
                // The members of an object that HCL merges with others are in one of them.
                let members = objects.iter().find(|members| members.iter().any(|one| one.offset + self.mark == key));
                JsonNote::read(self.text, self.mark, members.copied().unwrap_or_default(), key).map(NotePlace::Json)
            }
        };
        let note = match note {
            Ok(note) => note,
            Err(error) => return Some(other(CallSource::InvalidNote(error))),
        };
        let read = match &note {
            NotePlace::Line(tail) => tail.note(),
            NotePlace::Json(json) => json.note(),
            NotePlace::Nowhere => None,
        };
        let source = CallSource::Oci(Box::new(oci), read.cloned());
        Some(SourceCall { module, at, source, span, text, note })
    }

    /// A string in quotes: its bytes and what it says. Everything else is an expression.
    fn literal(&self, value: TfValue<'_>) -> Option<(Range<usize>, String)> {
        let Some(Constant::Text(text)) = value.constant() else { return None };
        let span = match value {
            TfValue::Native(expression) => native_string(expression)?,
            TfValue::Json(json) => {
                let body = &self.text[self.mark..];
                json.offset..string_end(body, json.offset)
            }
            TfValue::Name(..) => return None,
        };
        let span = span.start + self.mark..span.end + self.mark;
        let written = self.text.get(span.clone())?;
        (written.len() >= 2 && written.starts_with('"') && written.ends_with('"')).then_some((span, text))
    }
}

fn native_string(expression: &hcl_edit::expr::Expression) -> Option<Range<usize>> {
    use hcl_edit::Span as _;
    match expression {
        hcl_edit::expr::Expression::String(text) => text.span(),
        hcl_edit::expr::Expression::Parenthesis(inner) => native_string(inner.inner()),
        _ => None,
    }
}
