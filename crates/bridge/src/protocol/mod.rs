//! What the documents hold: the network mirror protocol and the registry protocols of providers and modules.
//!
//! ```text
//! network_mirror   index.json, VERSION.json                       seed 001
//! registry         versions, download                             seed 000
//! module_registry  versions, download of modules                seed 004
//! discovery        .well-known/terraform.json of an own host      seeds 000 and 002
//! ```

pub(crate) mod discovery;
pub(crate) mod module_registry;
pub(crate) mod network_mirror;
pub(crate) mod registry;
