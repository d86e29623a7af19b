//! What `OpenTofu` would do with a repository: a model of its releases.
//!
//! The model has that program's steps in their order: which checks are first, what it never reads. Its leniencies, how Go
//! reads JSON and zips, are in `go`.
//!
//! Spec: `OpenTofu` 1.10 to 1.13, getproviders (OCI mirror source, OCI blob archive), providercache; every rule here was
//! measured on the programs.

mod module;
mod predict;
mod question;
mod steps;

pub(crate) use module::install_module;
pub use module::{AskedModule, ModulePrediction, PackageQuestion};
pub(crate) use predict::over_plain_http;
pub use predict::predict;
pub use question::{AskedProvider, PredictionRequest, RepositoryPrediction, Request};
