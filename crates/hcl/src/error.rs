//! Why a text is not a configuration.

use std::ops::Range;

use tofu_oci_types::TextPosition;

/// A text that HCL 1 refuses.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{message}")]
#[non_exhaustive]
pub struct SyntaxError {
    /// What is wrong, without its place. What to write instead follows from `kind`.
    pub message: String,
    /// The bytes to underline: the real cause, such as the quote that is not closed. Never after the text's end;
    /// empty where something is missing.
    pub span: Range<usize>,
    /// The place that HCL 1 itself names first, which may lie lines after the cause; `None` where it names none,
    /// as for most errors of the JSON form.
    pub reported: Option<TextPosition>,
    /// What kind of mistake it is.
    pub kind: SyntaxErrorKind,
}

/// The kinds of mistakes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum SyntaxErrorKind {
    /// A byte order mark at the start.
    ByteOrderMark,
    /// Bytes that are not UTF-8.
    NotUtf8,
    /// A character that has no meaning where it stands; also a null byte.
    IllegalCharacter,
    /// A backslash with something after it that is not an escape.
    IllegalEscape,
    /// A number that starts like one and goes on as none.
    IllegalNumber,
    /// A quote without its closing quote on the same line.
    UnclosedString,
    /// A `${` inside quotes without its `}`.
    UnclosedInterpolation,
    /// A `<<` text without its closing word on a line of its own.
    UnclosedHeredoc,
    /// A `<<` without a proper word after it.
    HeredocAnchor,
    /// A `/*` without its `*/`.
    UnclosedComment,
    /// A block, an object or a list without its closing bracket.
    UnclosedBracket,
    /// A closing bracket that closes nothing.
    StrayBracket,
    /// A word without quotes where a value belongs.
    BareWord,
    /// A name without `=` or `{` after it.
    MissingValue,
    /// A character that looks like a double quote and is another one.
    OtherQuote,
    /// A bare quote inside `%{ … }`, which ends the text.
    QuoteInDirective,
    /// `null` as the value of an argument.
    Null,
    /// An item of a list without a comma before it.
    MissingComma,
    /// Something that no file can have at this place.
    Misplaced,
    /// Something other than the name or value that belongs there.
    Unexpected,
    /// An argument given a second time.
    Duplicate,
    /// Blocks, objects or lists inside each other, deeper than any real file.
    TooDeep,
    /// A text on which HCL 1 itself crashes.
    Crash,
}
