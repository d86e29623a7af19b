//! Why something could not be read: a fact like any other.

use tofu_oci_store::StoreError;

/// Why something could not be read.
#[derive(Clone, Debug)]
pub struct ReadFault {
    pub kind: FaultKind,
    /// The message of the store.
    pub text: String,
    /// The error of the store, if there is one.
    pub error: Option<Box<StoreError>>,
}

/// The kinds of faults.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum FaultKind {
    /// It does not exist.
    Missing,
    /// It cannot be requested: its digest is invalid, or of an algorithm that stores do not use.
    Unaddressable,
    /// It is larger than the limit.
    TooLarge,
    /// Its size differs from its descriptor; it was not read further.
    WrongSize,
    /// Its digest differs from the one that names it.
    WrongDigest,
    /// It exists in an unusable form, such as a link out of an image layout.
    Unusable,
    /// The network, the machine or missing access rights kept the store from answering; the content is unknown.
    Unasked,
    /// It was not read, because a limit was reached.
    NotRead,
}

impl ReadFault {
    /// A fault with a message of this program.
    pub fn new(kind: FaultKind, text: impl Into<String>) -> Self {
        Self { kind, text: text.into(), error: None }
    }

    /// The error, if it leaves the content unknown: no rule may judge what could not be read.
    pub fn unasked(&self) -> Option<&StoreError> {
        self.error.as_deref().filter(|_| self.kind == FaultKind::Unasked)
    }
}

impl From<&StoreError> for ReadFault {
    fn from(error: &StoreError) -> Self {
        let kind = match error {
            StoreError::NotFound { .. } | StoreError::UnknownRepository { .. } => FaultKind::Missing,
            StoreError::SizeMismatch { .. } => FaultKind::WrongSize,
            StoreError::TooLarge { .. } => FaultKind::TooLarge,
            StoreError::UnsupportedDigest { .. } => FaultKind::Unaddressable,
            StoreError::DigestMismatch { .. } => FaultKind::WrongDigest,
            error if error.is_of_content() => FaultKind::Unusable,
            _ => FaultKind::Unasked,
        };
        Self { kind, text: error.to_string(), error: Some(Box::new(error.clone())) }
    }
}
