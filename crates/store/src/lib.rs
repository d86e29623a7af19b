//! Where bytes live: one store is one repository.
//!
//! [`ReadStore`] and [`Store`] are the only seams through which packages move. The ends are [`MemoryStore`] and
//! [`DirStore`] here, and a registry in `remote`. [`copy()`] moves a release between any two of them byte for byte;
//! [`verified`] is what stands between a stream and anybody who believes it.
//!
//! ```text
//!            ReadStore                       Store
//!   resolve  tag or digest -> descriptor     push   descriptor + content
//!   tags     every tag, unsorted             tag    a pushed manifest gets a name (last of all)
//!   fetch    descriptor -> verified bytes
//!   referrers  who points at this manifest
//! ```
//!
//! Raw bytes are the truth: nothing in this crate re-serialises a manifest.

mod content;
mod copy;
mod dir;
mod error;
mod manifest;
mod memory;
mod traits;
mod verify;

pub use content::Content;
pub use copy::{CopyBudget, CopyError, CopyOptions, CopyReport, Referrers, Side, copy};
pub use dir::DirStore;
pub use error::{AccessFault, GiveUpReason, StoreError};
pub use manifest::is_manifest_type;
pub use memory::MemoryStore;
pub use traits::{ByteStream, Lists, Pushed, ReadStore, Store, Transport, UnverifiedManifest};
pub use verify::{fetch_bytes, verified};

#[cfg(test)]
mod tests;
