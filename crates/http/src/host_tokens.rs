//! The tokens of hosts: of registries of providers and network mirrors, not of OCI registries.

use std::collections::BTreeMap;

use async_trait::async_trait;
use tofu_oci_types::{Hostname, Secret};

/// The tokens that a run may show to hosts, as `Authorization: Bearer`.
#[async_trait]
pub trait HostTokens: Send + Sync {
    /// The token of a host; `None` if it has none. A port other than 443 makes another host. No program is asked twice
    /// about one host.
    ///
    /// # Errors
    /// If a program that should know the token fails.
    async fn token(&self, host: &Hostname) -> Result<Option<Secret>, HostTokenError>;
}

/// Why the token of a host is unknown. Never contains what a program wrote.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("the token of {} is unknown: {problem}", .host.display())]
pub struct HostTokenError {
    pub host: Hostname,
    pub code: &'static str,
    /// What happened: lower case, no full stop.
    pub problem: String,
    pub hint: String,
}

/// Tokens that are known already.
#[async_trait]
impl HostTokens for BTreeMap<Hostname, Secret> {
    async fn token(&self, host: &Hostname) -> Result<Option<Secret>, HostTokenError> {
        Ok(self.get(host).cloned())
    }
}
