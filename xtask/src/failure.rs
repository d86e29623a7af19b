//! The one error of the chores: a text for the person who ran it.

use std::fmt;

/// What a chore returns.
pub(crate) type ChoreResult<T = ()> = Result<T, ChoreFailure>;

/// How a check ended.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum CheckEnd {
    /// It ran and found nothing.
    Passed,
    /// It could not run here, and why.
    Skipped(String),
}

/// Why a chore stopped, ready to be read.
#[derive(Debug)]
pub(crate) struct ChoreFailure(String);

impl ChoreFailure {
    /// A failure with this text.
    pub(crate) fn new(text: impl Into<String>) -> Self {
        Self(text.into())
    }
}

impl fmt::Display for ChoreFailure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl<E: std::error::Error> From<E> for ChoreFailure {
    fn from(error: E) -> Self {
        Self(error.to_string())
    }
}

/// Says what was being done when something failed.
pub(crate) trait Doing<T> {
    /// The same result; a failure reads `WHAT: CAUSE`.
    fn doing(self, what: impl FnOnce() -> String) -> ChoreResult<T>;
}

impl<T, E: fmt::Display> Doing<T> for Result<T, E> {
    fn doing(self, what: impl FnOnce() -> String) -> ChoreResult<T> {
        self.map_err(|cause| ChoreFailure(format!("{}: {cause}", what())))
    }
}
