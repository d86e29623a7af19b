//! Where a request goes on.

use std::net::SocketAddr;

use url::{Host, Url};

use crate::address_scope::AddressScope;

/// An address, and how near its host may be when a connection to it is made.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct HeldUrl {
    pub url: Url,
    /// The nearest place where the host may be.
    pub nearest: AddressScope,
}

impl HeldUrl {
    /// An address that the user names: its host may be anywhere.
    pub fn anywhere(url: Url) -> Self {
        Self { url, nearest: AddressScope::Machine }
    }

    /// How near a host may be that is named by the host at this address, which was asked as one that is no nearer than
    /// `nearest`, and answered from `remote`.
    ///
    /// Over TLS a host proves that it is the same when its name leads elsewhere. Without TLS only the address says that.
    pub(crate) fn answered(url: &Url, nearest: AddressScope, remote: Option<SocketAddr>) -> AddressScope {
        let is_proved = url.scheme() == "https" || !matches!(url.host(), Some(Host::Domain(_)));
        remote.filter(|_| !is_proved).map_or(nearest, |remote| nearest.min(AddressScope::of(remote.ip())))
    }
}
