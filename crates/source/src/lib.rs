//! Where packages are offered: OCI repositories as provider sources, and chains of several places.
//!
//! A [`Source`] says where it is and which versions it has, and gives a [`Release`]. The release answers for itself:
//! how it describes itself, what one platform's package consists of ([`Offer`]), which evidence lies beside it, and
//! which bytes a part has. Only "not found" ([`SourceError::NotOffered`]) lets a chain try the next place, so a wrong
//! password never looks like a missing provider.
//!
//! ```text
//! versions   tags                                   -> Listing
//! release    tag -> index                           -> Release { ReleaseId, … }
//!   describe   [nested indexes]                     -> ReleaseDescription
//!   offer      [nested index] -> leaf -> [config]   -> Offer { Package }     each document verified by its digest
//!   docs       referrer -> zip                      -> ProviderDocs          its pages
//!   evidence   referrers, cosign's tag              -> [Evidence]            not verified
//!   open       Part                                 -> bytes                 Part::checked verifies size and digest
//!
//! OciSource            one repository
//! BundleSource         one file with repositories of several providers
//! FolderSource         a folder of packages, packed or unpacked
//! NetworkMirrorSource  a server of the network mirror protocol
//! RegistrySource       the registry that a host publishes as `providers.v1`
//! DirectSource         what the host of an address names: the repository of the magic suffix or of its `oci-providers.v1`,
//!                      or its registry
//! NotRead              a place that cannot be read
//! ModuleRegistry       the registry that a host publishes as `modules.v1`
//! ModulePackage        the package of a module, in a repository or on the web
//! Chain                several of them in order; an offer belongs to the release of the place that made it
//! ```

mod bundle;
mod chain;
mod configured;
mod direct;
mod discovery;
mod docs;
mod error;
mod evidence;
mod failure;
mod folder;
#[cfg(any(test, feature = "fuzzing"))]
#[doc(hidden)]
pub mod fuzzing;
mod install_method;
mod listing;
mod memory;
mod module;
mod neighbours;
mod network_mirror;
mod not_read;
mod oci;
mod opener;
mod package;
mod registry;
mod release;
mod release_reader;
mod rules;
mod traits;
mod web_part;

pub use bundle::BundleSource;
pub use chain::{Chain, Link, MethodAnswer};
pub use configured::{ConfiguredMethods, CredentialErrors};
pub use direct::{DirectSource, HostedPlace, OpenRepository};
pub use discovery::{Discover, DiscoveryError, DiscoveryOptions, HttpDiscovery, Services};
pub use docs::{DocsError, FoundDocs, docs_limits, find_docs, provider_docs, read_docs};
pub use error::{MethodError, NotOffered, SourceError};
pub(crate) use evidence::notice_evidence;
pub use evidence::{LAYER_LIMIT, evidence, is_withdrawn, leaf_evidence, module_notice, notices, withdrawal};
pub use failure::Failure;
pub use folder::FolderSource;
pub use install_method::InstallMethod;
pub use listing::{Listing, StrayEffect, StrayTag};
pub use module::{
    ArchiveForm, GitCheckout, GitCommand, GitFault, GitLimits, GitNamer, GitOutput, GitProgram, GitRunError,
    LocationAccess, LocationFault, ModuleArchive, ModuleError, ModuleLocation, ModulePackage, ModuleRegistry,
    PackageBytes, Withdrawal, wanted_text,
};
pub use neighbours::{Neighbour, newest_neighbour};
pub use network_mirror::{MirrorAccess, MirrorChecksums, NetworkMirrorSource};
pub use not_read::NotRead;
pub use oci::OciSource;
pub use opener::MethodOpener;
pub use package::{Layer, Locator, Package, Part, PartStream};
pub use registry::{Keyless, RegistryAccess, RegistrySource, SignatureDemands};
pub use release::{ClaimedHashes, CreatedBy, ReleaseDate, ReleaseDescription, ReleaseId, Search, ZipNames};
pub use release_reader::{read_release, version_of};
pub use rules::{Continuation, ListingAnswer, PackageAnswer};
pub use tofu_oci_layout::{CreationTime, LeafKind};
pub use traits::{AnyZip, ClaimedPackage, Offer, Release, Source, WantedAhead, WantedPackage};
