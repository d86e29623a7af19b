//! Where packages are offered: OCI repositories as provider sources.
//!
//! [`Source`] answers three questions: which versions there are, what one package consists of ([`Offer`], plain data),
//! and what its bytes are. "Not found" is a value of its own ([`SourceError::NotOffered`]): only that lets somebody try
//! the next place; a wrong password must not look like a missing provider.
//!
//! ```text
//! versions   tags                                          -> Listing
//! offer      tag -> index -> [nested index] -> leaf -> [config]   -> Offer      each verified by its digest
//! open       Offer, part                                   -> bytes, verified by size and digest
//! ```

mod error;
mod listing;
mod oci;
mod offer;
mod traits;

pub use error::{NotOffered, SourceError};
pub use listing::{Listing, StrayEffect, StrayTag};
pub use oci::OciSource;
pub use offer::{LeafKind, Offer};
pub use traits::Source;
