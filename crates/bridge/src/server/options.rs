//! What a server depends on.

use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use tofu_oci_types::Reporter;

use super::access_log::AccessLogger;
use super::certificates::ServerCertificates;
use crate::{AddressRange, ServerLimits};

/// What a server depends on.
#[derive(Clone)]
pub struct ServerOptions {
    /// Where connections are accepted.
    pub listen: Vec<SocketAddr>,
    /// Where `/metrics` is answered to everyone, in clear text; without it, nowhere.
    pub listen_metrics: Option<SocketAddr>,
    /// What TLS shows; `None` for clear text.
    pub certificates: Option<Arc<ServerCertificates>>,
    /// What clients may take.
    pub limits: ServerLimits,
    /// The proxies in front.
    pub proxies: Vec<AddressRange>,
    /// How long requests may take to finish after a stop.
    pub grace: Duration,
    /// Gets a line for each request.
    pub log: AccessLogger,
    /// Hears what happens to the server itself.
    pub reporter: Arc<dyn Reporter>,
}

/// Which socket a connection came to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum ListenerKind {
    Site,
    Metrics,
}
