//! Why something could not be read: a fact like any other.

use tofu_oci_store::StoreError;

/// Why something could not be read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Fault {
    /// The kind.
    pub kind: FaultKind,
    /// The store's own words.
    pub text: String,
}

/// What kind of fault it was.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum FaultKind {
    /// It is not there.
    Missing,
    /// It cannot be asked for: its digest is none, or of an algorithm that nothing is stored under.
    Unaddressable,
    /// It is larger than what is read.
    TooLarge,
    /// It has another size than its descriptor says; it was not read further.
    WrongSize,
    /// Access was refused, or needs credentials.
    Denied,
    /// The store could not be reached, or said something else.
    Store,
    /// It was not looked at: a bound was reached.
    NotRead,
}

impl Fault {
    /// A fault with words of our own.
    pub fn new(kind: FaultKind, text: impl Into<String>) -> Self {
        Self { kind, text: text.into() }
    }
}

impl From<&StoreError> for Fault {
    fn from(error: &StoreError) -> Self {
        let kind = match error {
            StoreError::NotFound { .. } | StoreError::UnknownRepository { .. } => FaultKind::Missing,
            StoreError::SizeMismatch { .. } => FaultKind::WrongSize,
            StoreError::TooLarge { .. } => FaultKind::TooLarge,
            StoreError::UnsupportedDigest { .. } => FaultKind::Unaddressable,
            StoreError::Denied { .. }
            | StoreError::Unauthorized { .. }
            | StoreError::NoToken { .. }
            | StoreError::Credentials { .. } => FaultKind::Denied,
            _ => FaultKind::Store,
        };
        Self::new(kind, error.to_string())
    }
}
