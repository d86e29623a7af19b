//! What `OpenTofu` would do with a module in an OCI repository.
//!
//! ```text
//! source        its folder, its arguments, its repository; nothing is asked before that is right
//! HEAD          there; the media type is that of an image manifest
//! GET manifest  size gate, length, digest, JSON; mediaType, artifactType
//! layers        exactly one archive/zip
//! GET blob      there, length, digest
//! unzip         entry by entry; then the folder after //, and its calls of other folders
//! ```
//!
//! Spec: `OpenTofu` 1.12, getmodules `oci_getter.go`, initwd; `go-getter` 1.7, `ZipDecompressor`; `real-tofu-http.md`
//! (measured), §3.

mod question;
mod source;
mod steps;

pub use question::ModulePrediction;
pub use source::{AskedModule, PackageQuestion};
pub(crate) use steps::install_module;
