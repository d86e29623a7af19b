//! Which manifests come from the user's cache: those that the registry has named in this run. What a digest names never
//! changes, so it is kept on disk, and a registry is asked for it once.
//!
//! ```text
//! a tag    -> the registry, always; what its answer names may be read from the cache then
//! a digest -> the cache, if the registry has named it in this run; else the registry
//! ```
//!
//! The cache holds bytes and no permission: whoever may not read a repository any more gets no answer for its tags, and so
//! nothing out of the cache.

mod files;
mod store;

pub use files::ManifestFiles;
pub use store::CachedStore;
