//! Stores of content: one store is one repository.
//!
//! [`ReadStore`] and [`Store`] are the only seams through which packages move. The ends are [`MemoryStore`] and
//! [`DirStore`] here, and a registry in `remote`. [`copy()`] moves a release between any two of them byte for byte;
//! [`verified`] checks the bytes of a stream while they pass.
//!
//! ```text
//!            ReadStore                       Store
//!   resolve  tag or digest -> descriptor     push   descriptor + body   
//!   tags     every tag, unsorted             tag    a pushed manifest gets a name (last of all)
//!   fetch    descriptor -> verified bytes
//!   referrers  the manifests that refer to this one     untag  the name goes, the manifest stays
//! ```
//!
//! Raw bytes are the truth: nothing in this crate re-serialises a manifest.

mod body;
mod bundle;
mod copy;
mod copy_error;
mod dir;
mod error;
#[cfg(any(test, feature = "fuzzing"))]
#[doc(hidden)]
pub mod fuzzing;
mod manifest;
mod manifest_cache;
mod memory;
mod observed;
mod range;
mod traits;
mod verify;
mod whole;

pub use body::{FileBody, StoredBody};
pub use bundle::{BundleArchive, BundleContents, BundleStore, WrittenBundle, check_bundle_name, is_bundle_there};
pub use copy::{CopyBudget, CopyOptions, CopyReferrers, CopyReport, copy, demand_readable, size_of_copy};
pub use copy_error::{CopyError, Side};
pub use dir::{DirStore, is_cut};
pub use error::{AccessFault, GiveUpReason, RejectionReason, StoreError, StoreItem};
pub use manifest::is_manifest_type;
pub use manifest_cache::{CachedStore, ManifestFiles};
pub use memory::MemoryStore;
pub use observed::push_observed;
pub use range::file_range;
pub use traits::{
    BlobAhead, BlobSender, Body, Lists, Pushed, ReadStore, Store, Transport, UnverifiedManifest, fetch_bytes,
};
pub use verify::{ByteStream, verified};
pub use whole::{ComparedBy, is_whole, remove_damaged};

#[cfg(test)]
mod tests;
