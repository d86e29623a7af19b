//! A copy that failed, and at which end.

use std::fmt;

use crate::error::StoreError;

/// Which end of a copy.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Side {
    /// The end that is read.
    Source,
    /// The end that is written.
    Destination,
}

impl fmt::Display for Side {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Source => "source",
            Self::Destination => "destination",
        })
    }
}

/// A copy that stopped. What has arrived stays; the tag has not been written, so doing it again picks up there.
#[derive(Debug, Clone, thiserror::Error)]
#[error("the {side} of the copy failed")]
pub struct CopyError {
    pub side: Side,
    #[source]
    pub error: StoreError,
}

impl CopyError {
    pub(crate) fn source(error: StoreError) -> Self {
        Self { side: Side::Source, error }
    }

    pub(crate) fn destination(error: StoreError) -> Self {
        Self { side: Side::Destination, error }
    }
}
