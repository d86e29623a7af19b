//! What an operator writes in a `serve.toml`.
//!
//! Text becomes values here, each fault with its place. Nothing is opened: the places of providers stay as written.

mod address_range;
mod document;
mod error;
mod file;
mod model;
#[cfg(test)]
mod tests;

pub use address_range::AddressRange;
pub use error::{BridgeConfigError, BridgeConfigProblem, listen_instead};
pub use model::{
    AccessLog, BridgeConfig, CacheSettings, LinkSettings, PullRules, ServedModules, ServedProviders, ServerLimits,
    TlsFiles, WrittenPlace,
};
