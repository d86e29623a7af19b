//! Where packages are offered: OCI repositories as provider sources, and chains of several places.
//!
//! [`Source`] answers three questions: which versions there are, what one package consists of ([`Offer`], plain data),
//! and what its bytes are. "Not found" is a value of its own ([`SourceError::NotOffered`]): only that lets somebody try
//! the next place; a wrong password must not look like a missing provider.
//!
//! ```text
//! versions   tags                                          -> Listing
//! offer      tag -> index -> [nested index] -> leaf -> [config]   -> Offer      each verified by its digest
//! open       Offer, part                                   -> bytes, verified by size and digest
//!
//! OciSource      one repository
//! DirectSource   what the host of an address names: the repository of its `oci-providers.v1`, or of the magic suffix
//! NotRead        a place that is known and cannot be read
//! Chain          several of them in order
//! ```

mod chain;
mod direct;
mod discovery;
mod error;
mod evidence;
mod failure;
mod listing;
mod memory;
mod neighbours;
mod not_read;
mod oci;
mod offer;
mod release;
mod release_reader;
mod traits;

pub use chain::{Asked, Chain, Kind, Link};
pub use direct::{DirectSource, OpenRepository};
pub use discovery::{Discover, DiscoveryError, DiscoveryOptions, HttpDiscovery, Services, TokenOf};
pub use error::{Blame, NotOffered, SourceError};
pub use evidence::{LAYER_LIMIT, evidence};
pub use failure::Failure;
pub use listing::{Listing, StrayEffect, StrayTag};
pub use neighbours::{Neighbour, newest_neighbour, provider_of};
pub use not_read::NotRead;
pub use oci::OciSource;
pub use offer::{LeafKind, Offer};
pub use release::{Release, Search};
pub use release_reader::read_release;
pub use traits::Source;
