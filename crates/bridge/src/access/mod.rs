//! Which client of `serve` may see what: by its token, or by a signed link.
//!
//! ```text
//! Authorization: Bearer TOKEN, Basic USER:TOKEN --SHA-256--> the client whose token it is
//! …/~EXPIRES~CLIENT~SIGNATURE/FILE              --HMAC-----> the client that got this link, for this path alone
//! client, address --its patterns--> Admitted, or Denied
//! ```
//!
//! Clients send no token when they fetch archives and checksums; therefore the documents name these by links that
//! expire. Without any client in the configuration everyone is admitted, and links carry no signature.

mod access_error;
mod authorization;
mod client;
#[cfg(any(test, feature = "fuzzing"))]
pub(crate) mod fuzzing;
mod links;

use std::sync::Arc;
use std::time::SystemTime;

use crate::ServedAddress;
use http::request::Parts;
use tofu_oci_types::{Hostname, Predecessors};

pub use self::access_error::AccessError;
pub use self::client::{ClientName, ClientRule, InvalidClientName, InvalidTokenDigest, NewToken, TokenDigest};
pub use self::links::LinkOptions;
use self::links::{LinkKey, SignedLink};
pub(crate) use self::links::{with_path, with_query};

/// Who may see what.
#[derive(Debug)]
pub struct ClientAccess {
    clients: Vec<Arc<KnownClient>>,
    links: LinkOptions,
}

/// A client, and the key of its links.
#[derive(Debug)]
pub struct KnownClient {
    rule: ClientRule,
    link_key: LinkKey,
    /// Addresses that count as one. The client needs the right to each of them.
    predecessors: Arc<Predecessors>,
}

/// Who asks.
#[derive(Clone, Debug)]
pub enum Admitted {
    /// Anyone: access is not restricted.
    Anyone,
    /// A client of the configuration.
    Client(Arc<KnownClient>),
}

impl Admitted {
    /// Whether this client may see a provider or a module: under its own host, and under those that count as one with it.
    pub fn may_see(&self, address: &ServedAddress) -> bool {
        match self {
            Self::Anyone => true,
            Self::Client(client) => client.hidden(address).is_none(),
        }
    }

    /// Whether this client may see any provider of a host.
    pub fn may_see_providers_of(&self, host: &Hostname) -> bool {
        let Self::Client(client) = self else { return true };
        client.rule.providers.iter().any(|pattern| pattern.hostname().is_none_or(|named| named == host))
    }

    /// The name of the client, for the log; `None` if access is not restricted.
    pub fn name(&self) -> Option<&ClientName> {
        match self {
            Self::Anyone => None,
            Self::Client(client) => Some(&client.rule.name),
        }
    }
}

impl KnownClient {
    /// The first name of an address that no pattern of the client matches.
    fn hidden(&self, address: &ServedAddress) -> Option<ServedAddress> {
        let is_hidden = |name: &ServedAddress| match name {
            ServedAddress::Provider(address) => !self.rule.providers.iter().any(|pattern| pattern.matches(address)),
            ServedAddress::Module(address) => !self.rule.modules.iter().any(|pattern| pattern.matches(address)),
        };
        address.names(&self.predecessors).into_iter().find(is_hidden)
    }
}

impl ClientAccess {
    /// Access for these clients; for everyone if the list is empty. Several clients may share a name, as a client does while
    /// its token is replaced.
    pub fn new(clients: Vec<ClientRule>, links: LinkOptions, predecessors: Predecessors) -> Self {
        let predecessors = Arc::new(predecessors);
        let known = |rule: ClientRule| {
            let link_key = LinkKey::derived(&links.secret, &rule.token);
            Arc::new(KnownClient { rule, link_key, predecessors: Arc::clone(&predecessors) })
        };
        Self { clients: clients.into_iter().map(known).collect(), links }
    }

    /// Whether the configuration names any client.
    pub fn is_restricted(&self) -> bool {
        !self.clients.is_empty()
    }

    /// Who sends a request, by its token, else by the signed link that it is. `address` is what the request is
    /// about; `None` if it is about no provider in particular, such as the page.
    ///
    /// # Errors
    /// If the client is unknown or may not see the provider. It is the same whether the provider exists or not.
    pub fn admit(&self, request: &Parts, address: Option<&ServedAddress>) -> Result<Admitted, AccessError> {
        self.admit_at(request, address, SystemTime::now())
    }

    /// The path of a link to `path` that the client may pass on, with one segment more before the last one; `path` itself if
    /// access is not restricted. `path` is what [`ClientAccess::admit`] will find in the address of the request.
    ///
    /// Links that are made within one minute expire together, so equal documents stay equal for that long.
    pub fn link(&self, client: &Admitted, path: &str) -> String {
        self.link_at(client, path, SystemTime::now())
    }

    fn admit_at(
        &self,
        request: &Parts,
        address: Option<&ServedAddress>,
        now: SystemTime,
    ) -> Result<Admitted, AccessError> {
        if !self.is_restricted() {
            return Ok(Admitted::Anyone);
        }
        let client = match self.by_token(request) {
            Ok(client) => client,
            Err(denied) => match SignedLink::of(&request.uri) {
                Some(link) => self.by_link(&link?, now)?,
                None => return Err(denied),
            },
        };
        match address.and_then(|address| client.hidden(address)) {
            Some(address) => Err(AccessError::NotAllowed { client: client.rule.name.clone(), address }),
            None => Ok(Admitted::Client(client)),
        }
    }

    fn link_at(&self, client: &Admitted, path: &str, now: SystemTime) -> String {
        match client {
            Admitted::Anyone => path.to_owned(),
            Admitted::Client(client) => {
                client.link_key.link(&client.rule.name, path, links::expiry(now, self.links.lifetime))
            }
        }
    }

    /// It looks at every client, so that the time reveals nothing.
    fn by_token(&self, request: &Parts) -> Result<Arc<KnownClient>, AccessError> {
        let sent = TokenDigest::of(&authorization::token(&request.headers)?);
        let found = self.clients.iter().fold(None, |found, client| {
            let is_this = client.rule.token == sent;
            if is_this && found.is_none() { Some(client) } else { found }
        });
        found.cloned().ok_or(AccessError::UnknownToken)
    }

    fn by_link(&self, link: &SignedLink, now: SystemTime) -> Result<Arc<KnownClient>, AccessError> {
        let named = self.clients.iter().filter(|client| client.rule.name == link.client);
        let client = named.into_iter().find(|client| client.link_key.made(link)).ok_or(AccessError::BadLink)?;
        if link.outlives(self.links.lifetime, now) {
            return Err(AccessError::BadLink);
        }
        if link.has_expired(now) {
            return Err(AccessError::ExpiredLink { client: client.rule.name.clone() });
        }
        Ok(Arc::clone(client))
    }
}

#[cfg(test)]
mod tests;
