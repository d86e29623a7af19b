//! The native syntax of HCL 1.

use crate::{Document, SyntaxError};

/// What a repeated argument is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Duplicates {
    /// An error, as in the HCL 1 of `OpenTofu` 1.12 and 1.13.
    Refused,
    /// Fine, as in the HCL 1 of `OpenTofu` 1.10.
    Allowed,
}

/// Reads a text as HCL 1 does: as JSON where its first character is `{`, as the native syntax everywhere else.
pub fn parse(text: &str, duplicates: Duplicates) -> Result<Document, SyntaxError> {
    parse_bytes(text.as_bytes(), duplicates)
}

/// As [`parse`], for bytes that need not be UTF-8 (which is an error wherever HCL 1 gets to see it).
pub fn parse_bytes(text: &[u8], duplicates: Duplicates) -> Result<Document, SyntaxError> {
    unimplemented!("{} {duplicates:?}", text.len())
}
