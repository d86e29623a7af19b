//! The folders of the package caches of a run: which they are, what lies in them, and how files get out of them.

pub(crate) mod clone;
pub(crate) mod folder;
pub(crate) mod memo;
pub(crate) mod open;
pub(crate) mod record;

pub use open::{CacheDirOrigin, PackageCache, PackageCacheSettings};
