//! What a bundle is: several repositories in one file.
//!
//! ```text
//! FILE, or FILE.001, FILE.002, …   one tar archive, whole or in parts; in FILE.new parts on their way to these names
//!   oci-layout, index.json         an image layout; each tagged entry is called HOST/NAMESPACE/TYPE:TAG
//!   tofu-oci/…                     notes for people and for the receiver, who trusts none of them
//!   blobs/sha256/HEX               manifests, configs, layers, each once
//! ```

mod collect;
#[cfg(any(test, feature = "fuzzing"))]
pub(crate) mod fuzzing;
mod members;
mod parts;
mod read;
mod store;
mod write;

pub use parts::{check_bundle_name, is_bundle_there};
pub use read::BundleArchive;
pub use store::BundleStore;
pub use write::{BundleContents, WrittenBundle};

#[cfg(test)]
mod tests;
