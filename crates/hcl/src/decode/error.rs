//! Why a value is not what a program wants.

use std::ops::Range;

/// A value that cannot be had.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{message}")]
#[non_exhaustive]
pub struct DecodeError {
    /// What is wrong; without a place.
    pub message: String,
    /// The argument, with the names and places around it: `host.example.com.services`, `include[0]`. Empty where it
    /// has none.
    pub name: String,
    /// What belongs there, such as `a list`; empty where HCL 1 crashes.
    pub wanted: &'static str,
    /// What stands there instead, such as `a text`; empty where HCL 1 crashes.
    pub found: &'static str,
    /// The bytes to underline.
    pub span: Range<usize>,
    /// The byte whose line and column HCL 1 names; `None` where it names none. In JSON it never names one, whatever
    /// stands here.
    pub reported: Option<usize>,
    /// What kind of mistake it is.
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
