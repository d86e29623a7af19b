//! JSON as Go's `encoding/json` reads it into the structs of the OCI image-spec.
//!
//! ```text
//! bytes ──scan──> tokens ──document──> Index, Manifest
//!         syntax           types: names in any case, the last one wins, null changes nothing, what is not asked for is skipped
//! ```
//!
//! Spec: Go 1.24 to 1.26, `encoding/json`, `Unmarshal`.

mod decode;
mod document;
mod scan;
#[cfg(test)]
mod tests;

#[cfg(test)]
pub(crate) use document::READS;
pub(crate) use document::{GoIndex, GoManifest};
