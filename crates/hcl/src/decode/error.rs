//! Why a value does not have the shape that a program wants.

use std::ops::Range;

/// A value without the wanted shape.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{message}")]
#[non_exhaustive]
pub struct DecodeError {
    /// What is wrong; without a place.
    pub message: String,
    /// The argument, with the names and places around it: `host.example.com.services`, `include[0]`. Empty if it
    /// has none.
    pub name: String,
    /// What belongs there, such as `a list`; empty if HCL 1 crashes.
    pub wanted: &'static str,
    /// What is there instead, such as `a text`; empty if HCL 1 crashes.
    pub found: &'static str,
    /// The bytes to underline.
    pub span: Range<usize>,
    /// The byte whose line and column HCL 1 names; `None` if it names none. For JSON, ignore it: HCL 1 names none.
    pub reported: Option<usize>,
    pub kind: DecodeErrorKind,
}

/// The kinds of mistakes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum DecodeErrorKind {
    /// A value of another type.
    WrongType,
    /// A text or a number that is not a number of 64 bits.
    NotANumber,
    /// A text on whose value HCL 1 crashes.
    Crash,
}
