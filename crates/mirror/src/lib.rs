//! Releases from any place into the user's own.
//!
//! ```text
//! rules, sources --select--> wanted releases --plan--> what is missing --transfer--> Store, a tree of files, a bundle
//! ```
//!
//! [`transfer`] carries one release into a store.

#![expect(clippy::result_large_err, reason = "errors are rare, and carry values for explanations")]

mod destination;
mod error;
mod transfer;

pub use destination::{Destination, DestinationName, InvalidDestination, OpenStore, Repositories};
pub use error::MirrorError;
pub use transfer::{TransferRequest, Transferred, transfer};
