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
mod configured;
mod direct;
mod discovery;
mod error;
mod evidence;
mod failure;
mod kind;
mod listing;
mod memory;
mod neighbours;
mod not_read;
mod oci;
mod offer;
mod opener;
mod release;
mod rules;
mod traits;

pub use chain::{Asked, Chain, Link};
pub use configured::{ConfiguredMethods, CredentialErrors};
pub use direct::{DirectSource, OpenRepository};
pub use discovery::{Discover, DiscoveryError, DiscoveryOptions, HttpDiscovery, Services, TokenOf};
pub use error::{Blame, NotOffered, SourceError};
pub use evidence::{LAYER_LIMIT, evidence};
pub use failure::Failure;
pub use kind::Kind;
pub use listing::{Listing, StrayEffect, StrayTag};
pub use neighbours::{Neighbour, newest_neighbour, provider_of};
pub use not_read::NotRead;
pub use oci::OciSource;
pub use offer::{Layer, LeafKind, Locator, Offer, Package, Part};
pub use opener::MethodOpener;
pub use release::{ReleaseDescription, ReleaseId, Search};
pub use rules::{Continuation, ListingAnswer, PackageAnswer};
pub use traits::{Claims, Release, Source};
