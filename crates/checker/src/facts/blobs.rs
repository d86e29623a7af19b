//! Blobs: whether they are there, and what they hold.

use serde_json::Value;

use super::{Fault, Package};

/// What lies at a digest.
#[derive(Clone, Debug)]
pub struct Blob {
    /// The digest as the descriptor writes it, well-formed or not.
    pub digest: String,
    /// What was found.
    pub content: Result<Content, Fault>,
}

/// As much of a blob as was looked at.
#[derive(Clone, Debug)]
pub enum Content {
    /// It is there; its bytes were not read.
    There,
    /// A small document (a config) and what it says, if it is JSON.
    Document {
        /// Bytes.
        size: u64,
        /// Whether they have the digest.
        intact: bool,
        /// The document.
        value: Option<Value>,
    },
    /// A layer that was read to its end.
    Package(Box<Package>),
}
