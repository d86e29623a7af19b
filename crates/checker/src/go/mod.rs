//! How `OpenTofu` reads: the leniencies of Go's `encoding/json` and `archive/zip`, and of `go-getter`.
//!
//! The facts and the model of `OpenTofu` read with these, not with this program's own readers of layouts and archives, which
//! are stricter on purpose: predictions from them would be wrong.

mod descriptor;
pub(crate) mod json;
mod module_folder;
mod unpack;
mod zip;

pub use descriptor::{GoDescriptor, GoPlatform};
pub(crate) use module_folder::module_folder;
pub use module_folder::{ModuleFolder, ModuleRefusal};
pub(crate) use unpack::unpack;
pub use zip::{ZipFault, ZipItem, ZipListing};
pub(crate) use zip::{list_names, list_zip};
