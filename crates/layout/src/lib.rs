//! OCI JSON from and to a provider release, and from a module package.
//!
//! Writing plans every byte before anything is sent; reading turns verified bytes into views and never back.
//! Nothing here fetches, stores or waits: a caller hands bytes in whose digest it has checked.
//!
//! ```text
//! write   PlatformPackage --plan_leaves--> [LeafPlan: config, manifest, blobs]
//!         [LeafPlan] + IndexFacts --plan_index--> Planned            push in this order, the tag last
//!
//! read    tag --> Descriptor --check_release--> (fetch) --> ReleaseIndex::parse
//!         ReleaseIndex --unread--> (fetch) --> absorb                nested indexes, image layout only
//!         ReleaseIndex + Platform --select--> Selected --> (fetch) --> Leaf::parse
//!         Leaf: artifact --> package_layer        image --> (fetch) ImageConfig::parse --> require_provider
//! module  tag or digest --> Descriptor --> (fetch) --> ModuleManifest::parse --> package
//! ```
//!
//! Three layouts exist ([`PackageLayout`]). Which one a release has is read from its bytes: the artifact type first,
//! then the label in the leaf's config.

mod config;
mod creation_time;
mod document;
mod error;
mod index;
mod kind;
mod leaf;
mod module;
mod package_layout;
mod plan;
mod select;
mod vocabulary;

pub use config::ImageConfig;
pub use creation_time::CreationTime;
pub use document::{MAX_DOCUMENT, MAX_ENTRIES, MAX_NESTING};
pub use error::LayoutError;
pub use index::{Claims, PlatformClaims, ReleaseIndex, check_release};
pub use kind::DocumentKind;
pub use leaf::Leaf;
pub use module::{InvalidModuleManifest, ModuleManifest};
pub use package_layout::{InvalidPackageLayout, LeafKind, PackageLayout};
pub use plan::{
    IndexFacts, LayerBlob, LeafPlan, ModulePlan, ModuleZip, Planned, PlatformHashes, PlatformPackage, plan_index,
    plan_leaves, plan_module,
};
pub use select::{Selected, select};
pub use vocabulary::{LABEL, LABEL_PROVIDER, LayerFormat, annotation, artifact_type, media_type};

#[cfg(test)]
mod tests;
