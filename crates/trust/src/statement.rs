//! What a signature says: which digest, of which provider, in which version.

use tofu_oci_types::{Digest, ProviderAddr, Version};

/// The signed statement, whichever form it was written in.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Statement {
    /// What is said about the subjects; [`SIGN_PREDICATE`](crate::SIGN_PREDICATE) for cosign's `.sig` form, which has
    /// no such member.
    pub predicate_type: String,
    /// What it is said about; one at least, 1024 at most.
    pub subjects: Vec<Subject>,
}

/// One thing that a statement is about.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Subject {
    /// Its SHA-256; nothing when the statement names it by another hash only.
    pub digest: Option<Digest>,
    /// The provider that the signer named.
    pub address: Name<ProviderAddr>,
    /// The version that the signer named.
    pub version: Name<Version>,
}

/// A name within a signature.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Name<T> {
    /// The signer did not say.
    Absent,
    /// The signer said this.
    Is(T),
    /// The signer said something that is no such name.
    Invalid(String),
}

/// What we sign: this index is that provider in that version.
#[derive(Clone, Copy, Debug)]
pub struct SignedSubject<'a> {
    /// The digest of the index.
    pub index: &'a Digest,
    /// The provider.
    pub address: &'a ProviderAddr,
    /// Its version.
    pub version: &'a Version,
}
