//! A text as a tree, each part with its bytes.

use std::ops::Range;

/// A text as a tree.
#[derive(Clone, Debug, PartialEq)]
pub struct HclDocument {
    /// The items at the top level.
    pub body: HclBody,
    /// The syntax that it was written in.
    pub syntax: HclSyntax,
    /// What HCL 1 ignores silently although the user surely meant it, in the order of reading.
    pub overlooked: Vec<Overlooked>,
}

/// Something that HCL 1 ignores silently: `a =` at the end of the file, text after the outermost JSON object, `true`
/// in a JSON list.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Overlooked {
    /// What HCL 1 ignores, or what is missing; without a place.
    pub message: String,
    /// The bytes to underline.
    pub span: Range<usize>,
}

/// The two syntaxes of HCL.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, serde::Serialize)]
#[serde(rename_all = "lowercase")]
pub enum HclSyntax {
    /// Blocks and arguments.
    Native,
    /// JSON. In HCL 1, objects that look like blocks have become blocks.
    Json,
}

/// The items of a file, of a block or of an object, in their order.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct HclBody {
    pub items: Vec<HclItem>,
}

/// A block or an argument: `kind "label" { … }`, `name = value`.
#[derive(Clone, Debug, PartialEq)]
pub struct HclItem {
    /// The name, then the labels. Never empty; exactly one where `assigned` in the native syntax.
    pub keys: Vec<HclKey>,
    /// Whether it was written with `=`. Always so in JSON.
    pub assigned: bool,
    pub value: HclValue,
    /// From the first key to the end of the value. In JSON, several items may share a part of their spans.
    pub span: Range<usize>,
    /// The offset of a block's brace; `None` for an object after `=`, and in JSON.
    pub brace: Option<usize>,
}

/// A name or a label.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct HclKey {
    /// Without its quotes, escapes resolved.
    pub text: String,
    /// Whether it is in quotes.
    pub quoted: bool,
    /// Whether it comes from a JSON text.
    pub json: bool,
    pub span: Range<usize>,
    /// Why it has no text, if HCL 1 reads it and crashes on first use; `text` is then as written.
    pub fault: Option<TextFault>,
}

/// The value of an item, or an element of a list.
#[derive(Clone, Debug, PartialEq)]
pub enum HclValue {
    /// `{ … }`, with its braces.
    Object(HclBody, Range<usize>),
    /// `[ … ]`, with its brackets.
    List(Vec<HclValue>, Range<usize>),
    /// `"…"` or a heredoc.
    String(Text),
    /// A whole number: decimal, octal (leading `0`) or hexadecimal (`0x`), perhaps with `-`.
    Number { text: String, span: Range<usize> },
    /// A number with a fraction or an exponent. The text may be invalid: HCL 1 reads `1e` together with the character
    /// after it.
    Float { text: String, span: Range<usize> },
    /// `true` or `false`.
    Bool { value: bool, span: Range<usize> },
    /// JSON's `null`, which is an empty text to HCL 1.
    Null { span: Range<usize> },
}

impl HclValue {
    /// Its bytes, with brackets and quotes.
    pub fn span(&self) -> Range<usize> {
        match self {
            Self::String(text) => text.span.clone(),
            Self::Object(_, span)
            | Self::List(_, span)
            | Self::Number { span, .. }
            | Self::Float { span, .. }
            | Self::Bool { span, .. }
            | Self::Null { span } => span.clone(),
        }
    }
}

/// A text in quotes or a heredoc.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Text {
    /// Escapes resolved, except inside `${…}`, which is kept as written. Bytes that are not UTF-8 (`\xff`) are
    /// replaced, each by U+FFFD. Empty if there is a fault.
    pub value: String,
    /// With the quotes; a heredoc from `<<` to the end of its closing line.
    pub span: Range<usize>,
    /// The place in the file of each byte of the value.
    pub map: OffsetMap,
    /// Whether it is a heredoc.
    pub heredoc: bool,
    /// Why it has no value, if HCL 1 reads the text and crashes on first use.
    pub fault: Option<TextFault>,
}

/// A text that HCL 1 reads without an error, and on whose value it crashes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TextFault {
    /// The piece that has no value.
    pub span: Range<usize>,
}

/// From places in a text's value to places in the file.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct OffsetMap {
    runs: Vec<OffsetRun>,
    end: usize,
}

/// A piece of a value: its start in the value and in the file, and whether the bytes are equal.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct OffsetRun {
    value: usize,
    source: usize,
    verbatim: bool,
}

impl OffsetMap {
    /// The place in the file of the byte `offset` of the value. Inside an escape: where the escape starts. After the
    /// value's end: the place after it, such as that of the closing quote.
    pub fn source(&self, offset: usize) -> usize {
        let behind = self.runs.partition_point(|run| run.value <= offset);
        let Some(run) = behind.checked_sub(1).and_then(|index| self.runs.get(index)) else {
            return self.end;
        };
        let place = if run.verbatim { run.source + (offset - run.value) } else { run.source };
        place.min(self.end)
    }

    /// The bytes in the file of the bytes `range` of the value.
    pub fn span(&self, range: Range<usize>) -> Range<usize> {
        let start = self.source(range.start);
        start..self.source(range.end).max(start)
    }

    pub(crate) fn push(&mut self, value: usize, source: usize, verbatim: bool) {
        if let Some(last) = self.runs.last()
            && last.verbatim
            && verbatim
            && source.checked_sub(last.source) == value.checked_sub(last.value)
        {
            return;
        }
        self.runs.push(OffsetRun { value, source, verbatim });
    }

    /// Ends the map: the value has `value` bytes, and `source` is the place after them.
    pub(crate) fn finish(&mut self, value: usize, source: usize) {
        self.push(value, source, false);
        self.end = source;
    }
}

/// How HCL 1 treats a repeated argument.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Duplicates {
    /// An error, as in the HCL 1 of `OpenTofu` 1.12 and 1.13 (v1.0.1-vault-7). Only `name = …` in the native syntax
    /// counts, each block and object by itself, and names as they are written: `a`, `A` and `"a"` are three.
    Refused,
    /// Accepted, as in the HCL 1 of `OpenTofu` 1.10 (v1.0.1-vault-5). That one also overlooks a mistake right before a
    /// closing brace when another closing brace follows, and what stands there: `a { b = } }`.
    Allowed,
}
