//! What `OpenTofu` would do with a repository: a model of its releases.
//!
//! The model has that program's steps in their order, with its leniencies: how Go reads JSON and zips, which checks are
//! first, what it never reads. It does not use this program's own readers of layouts and archives, which are stricter
//! on purpose: predictions from them would be wrong.
//!
//! Spec: `OpenTofu` 1.10 to 1.13, getproviders (OCI mirror source, OCI blob archive), providercache; every rule here was
//! measured on the programs.

mod because;
mod descriptor;
pub(crate) mod json;
mod module;
mod predict;
mod question;
mod steps;
mod unpack;
mod zip;

pub use because::Because;
pub use descriptor::{GoDescriptor, GoPlatform};
pub use module::{AskedModule, ModuleFolder, ModulePrediction, ModuleRefusal, PackageQuestion};
pub(crate) use module::{install_module, module_folder};
pub(crate) use predict::over_plain_http;
pub use predict::predict;
pub use question::{AskedProvider, PredictionRequest, RepositoryPrediction, Request};
pub use zip::{ZipFault, ZipItem, ZipListing};
pub(crate) use zip::{list_names, list_zip};
