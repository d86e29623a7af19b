//! How a registry client is to behave.

use std::fmt;
use std::sync::Arc;

use tofu_oci_http::HttpOptions;

use crate::exchange::ExchangeObserver;

/// What a [`crate::RegistryClient`] is made from.
#[derive(Clone, Default)]
pub struct ClientOptions {
    /// How connections and requests behave.
    pub http: HttpOptions,
    /// Token servers that may be asked and given the registry's password, whatever their site or address: `HOST` (any
    /// port) or `HOST:PORT`. One that is asked over plain HTTP for a registry that speaks HTTPS must be in
    /// [`HttpOptions::plain_http`] too.
    pub token_hosts: Vec<String>,
    /// Whether blobs may be sent in chunks.
    pub chunk: ChunkMode,
    /// What sees how access came about.
    pub observer: Option<Arc<dyn ExchangeObserver>>,
}

impl From<HttpOptions> for ClientOptions {
    fn from(http: HttpOptions) -> Self {
        Self { http, ..Self::default() }
    }
}

impl fmt::Debug for ClientOptions {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ClientOptions")
            .field("http", &self.http)
            .field("token_hosts", &self.token_hosts)
            .field("chunk", &self.chunk)
            .finish_non_exhaustive()
    }
}

/// Whether a blob may be sent in chunks (`PATCH`). One `PUT` is what every registry takes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum ChunkMode {
    /// When the registry refuses the one `PUT` because of its length, or its connection has broken twice.
    #[default]
    Fallback,
    Never,
    /// Always: for registries behind a proxy that cuts long requests silently.
    Always,
}
