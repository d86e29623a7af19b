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
    /// The bytes to underline: the real cause, such as an unclosed quote. Never after the text's end; empty if
    /// something is missing.
    pub span: Range<usize>,
    /// The position that HCL 1 itself names first, which may be lines after the cause; `None` if it names none, as for
    /// most errors of the JSON form.
    pub reported: Option<TextPosition>,
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
    /// A character without a meaning at its place; also a null byte.
    IllegalCharacter,
    /// A backslash with something after it that is not an escape.
    IllegalEscape,
    /// An invalid number that starts like a valid one.
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
    /// A word without quotes in place of a value.
    BareWord,
    /// A name without `=` or `{` after it.
    MissingValue,
    /// Another character that looks like a double quote.
    OtherQuote,
    /// A bare quote inside `%{ … }`, which ends the text.
    QuoteInDirective,
    /// `null` as the value of an argument.
    Null,
    /// An item of a list without a comma before it.
    MissingComma,
    /// Something that cannot stand at this place in any file.
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
