//! What released `OpenTofu` makes of a repository, written down on its own.
//!
//! This is a model of another program, step by step in that program's order, with its leniencies and its quirks: how
//! Go reads JSON and zips, which checks come first, what is never looked at. It takes nothing from this program's own
//! reading of layouts and archives, which is stricter on purpose; a prediction that leaned on it would be wrong exactly
//! where it matters.
//!
//! Spec: `OpenTofu` 1.10 to 1.13, getproviders (OCI mirror source, OCI blob archive), providercache; every rule here was
//! measured on the programs.

mod because;
mod descriptor;
pub(crate) mod json;
mod predict;
mod question;
mod steps;
mod unpack;
mod zip;

pub use because::Because;
pub use descriptor::{GoDescriptor, GoPlatform};
pub(crate) use predict::over_plain_http;
pub use predict::predict;
pub use question::{AskedProvider, PredictionRequest, RepositoryPrediction, Request};
pub(crate) use zip::list_zip;
pub use zip::{ZipFault, ZipItem, ZipListing};
