//! Why something could not be read: a fact like any other.

use tofu_oci_store::StoreError;

/// Why something could not be read.
#[derive(Clone, Debug)]
pub struct ReadFault {
    /// The kind.
    pub kind: FaultKind,
    /// The store's own words.
    pub text: String,
    /// What the store said; None if it said nothing.
    pub error: Option<Box<StoreError>>,
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
    /// It has another digest than the one that names it.
    WrongDigest,
    /// It is there in an unusable form, such as a link out of an image layout.
    Unusable,
    /// The network, the machine or missing access rights kept the store from answering: nothing is known of the content.
    Unasked,
    /// It was not looked at: a bound was reached.
    NotRead,
}

impl ReadFault {
    /// A fault with words of our own.
    pub fn new(kind: FaultKind, text: impl Into<String>) -> Self {
        Self { kind, text: text.into(), error: None }
    }

    /// The error, if it says nothing about the content: no rule may judge what could not be read.
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
