//! Why a text is no configuration.

use std::ops::Range;

use crate::Position;

/// A text that HCL 1 refuses.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{message}")]
#[non_exhaustive]
pub struct SyntaxError {
    /// What is wrong, without its place. What to write instead follows from `kind`.
    pub message: String,
    /// The bytes to underline: the real culprit, such as the quote that nobody closed. Never behind the text's end;
    /// empty where something is missing.
    pub span: Range<usize>,
    /// The place that HCL 1 itself names first, which may lie lines behind the culprit; `None` where it names none,
    /// as for most errors of the JSON form.
    pub reported: Option<Position>,
    /// What kind of mistake it is.
    pub kind: SyntaxErrorKind,
}

/// The kinds of mistakes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum SyntaxErrorKind {
    /// A byte order mark at the start.
    ByteOrderMark,
    /// Bytes that are no UTF-8.
    NotUtf8,
    /// A character that has no meaning where it stands; also a null byte.
    IllegalCharacter,
    /// A backslash with something behind it that is no escape.
    IllegalEscape,
    /// A number that starts like one and goes on as none.
    IllegalNumber,
    /// A quote without its closing quote on the same line.
    UnclosedString,
    /// A `${` inside quotes without its `}`.
    UnclosedInterpolation,
    /// A `<<` text without its closing word on a line of its own.
    UnclosedHeredoc,
    /// A `<<` without a proper word behind it.
    HeredocAnchor,
    /// A `/*` without its `*/`.
    UnclosedComment,
    /// A block, an object or a list without its closing bracket.
    UnclosedBracket,
    /// A closing bracket that closes nothing.
    StrayBracket,
    /// A word without quotes where a value belongs.
    BareWord,
    /// A name without `=` or `{` behind it.
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
    /// Blocks, objects or lists inside each other, deeper than anybody writes them.
    TooDeep,
    /// A text on which HCL 1 itself crashes.
    Crash,
}
