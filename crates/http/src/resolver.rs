//! The name service, and the names that must not resolve to near addresses.
//!
//! ```text
//! keep_away   a name from a document of another host      for the whole run, since later requests go there; of the 4096 names used last
//! within      the host that a redirect names              for that request alone: the user may ask that host himself
//! ```
//!
//! Whenever a connection to such a name is made, only addresses that are as far away as the host that named it count. So a
//! name service gains nothing if it answers otherwise the second time. A proxy looks names up itself: nothing is known of
//! them here.

use std::io;
use std::net::{IpAddr, SocketAddr};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use async_trait::async_trait;
use reqwest::dns::{Addrs, Name, Resolve, Resolving};
use url::Url;

use crate::address_scope::AddressScope;
use crate::held_url::HeldUrl;
use crate::named_hosts::NamedHosts;
use crate::recent::RecentMap;

/// The name service. Proxies look names up themselves.
#[async_trait]
pub trait NameService: Send + Sync {
    /// The addresses of a name.
    ///
    /// # Errors
    /// [`io::ErrorKind::NotFound`] if the name does not exist, and any other kind if no name service answers.
    async fn addresses(&self, name: &str) -> io::Result<Vec<IpAddr>>;
}

/// The name service of the system.
#[derive(Clone, Copy, Debug, Default)]
pub struct SystemNames;

#[async_trait]
impl NameService for SystemNames {
    async fn addresses(&self, name: &str) -> io::Result<Vec<IpAddr>> {
        let found = tokio::net::lookup_host((name, 0)).await.map_err(|error| {
            if is_unknown(&error) { io::Error::new(io::ErrorKind::NotFound, error.to_string()) } else { error }
        })?;
        Ok(found.map(|address| address.ip()).collect())
    }
}

/// Whether the name service says that the name does not exist, as opposed to not answering now. The standard library hides
/// the code of `getaddrinfo` and hands on its words: those of glibc, musl, macOS and Windows.
fn is_unknown(error: &io::Error) -> bool {
    const WORDS: &[&str] = &[
        "Name or service not known",
        "No address associated with hostname",
        "Name does not resolve",
        "nodename nor servname provided",
        "No such host is known",
    ];
    let text = error.to_string();
    WORDS.iter().any(|words| text.contains(words))
}

/// How many names are remembered: documents of others make them up. What was asked for longest ago is forgotten first.
const MOST_NAMES: usize = 4096;

/// Bytes of the longest name that a name service knows.
const LONGEST_NAME: usize = 253;

tokio::task_local! {
    /// The host of the request that this task makes, as names are compared. Other names that are looked up are of proxies.
    pub(crate) static ASKED_HOST: String;
}

/// Looks names up for connections.
#[derive(Clone)]
pub(crate) struct Resolver {
    names: Arc<dyn NameService>,
    known: Arc<Mutex<RecentMap<String, KnownName>>>,
    /// The nearest address of a host that counts. A proxy may be anywhere.
    nearest: AddressScope,
}

/// What is known of a name.
#[derive(Clone, Copy, Debug, Default)]
struct KnownName {
    /// The farthest address that it ever had, if it has been looked up.
    found: Option<AddressScope>,
    /// The nearest address that counts, if another host has named it.
    nearest: Option<AddressScope>,
}

/// Where a host is that an answer names, for a program that connects to it by itself.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum NamedHost {
    /// It is nearer than the host that names it.
    TooNear,
    /// It is an IP address that is far enough, or one that the user allows.
    Anywhere,
    /// It is far enough, at these addresses now; at none if the name service does not know it.
    At(Vec<IpAddr>),
}

/// A name has no address that counts.
#[derive(Debug, thiserror::Error)]
#[error("{name} is at {address}, on this machine or in a private network, and a host outside named it")]
pub(crate) struct NearName {
    name: String,
    address: IpAddr,
}

/// The name service gave no address.
#[derive(Debug, thiserror::Error)]
#[error(transparent)]
pub(crate) struct LookupError(#[from] pub(crate) io::Error);

impl Resolver {
    pub(crate) fn new(names: Arc<dyn NameService>) -> Self {
        Self { names, known: Arc::new(Mutex::new(RecentMap::new(MOST_NAMES))), nearest: AddressScope::Machine }
    }

    /// The same for connections to hosts that are no nearer than this.
    pub(crate) fn within(&self, nearest: AddressScope) -> Self {
        Self { nearest, ..self.clone() }
    }

    /// How near the host may be that an answer of `from` names: as near as that host, and anywhere if the user allows it.
    /// `None` if it is known to be nearer.
    pub(crate) fn led(&self, from: &HeldUrl, to: &Url, allowed: &NamedHosts) -> Option<AddressScope> {
        if from.url.host() == to.host() {
            return Some(from.nearest);
        }
        if allowed.contain(to) {
            return Some(AddressScope::Machine);
        }
        let nearest = self.scope(&from.url).min(from.nearest);
        self.known_scope(to).is_none_or(|scope| scope <= nearest).then_some(nearest)
    }

    /// Whether one host may name another that another program will connect to: all addresses that the name has now count.
    pub(crate) async fn named_host(&self, from: &Url, to: &Url, allowed: &NamedHosts) -> NamedHost {
        if allowed.contain(to) {
            return NamedHost::Anywhere;
        }
        let known = AddressScope::of_host(to);
        let found = if known.is_some() { Vec::new() } else { self.all_addresses(to).await };
        if from.host() != to.host() {
            let farthest = match AddressScope::of_host(from) {
                Some(scope) => Some(scope),
                None => self.all_addresses(from).await.into_iter().map(AddressScope::of).min(),
            };
            let nearest = known.or_else(|| found.iter().map(|address| AddressScope::of(*address)).max());
            if nearest > Some(farthest.unwrap_or(AddressScope::Internet)) {
                return NamedHost::TooNear;
            }
        }
        if known.is_some() { NamedHost::Anywhere } else { NamedHost::At(found) }
    }

    /// The addresses of a name; none if it is unknown here.
    async fn all_addresses(&self, host: &Url) -> Vec<IpAddr> {
        self.addresses(host.host_str().unwrap_or_default()).await.unwrap_or_default()
    }

    /// All addresses of a name. Where they are is remembered.
    async fn addresses(&self, name: &str) -> io::Result<Vec<IpAddr>> {
        let all = self.names.addresses(name).await?;
        let mut known = self.known();
        let known = known.get_or_insert(&key(name), KnownName::default);
        // A name that was far once gains nothing by a nearer address.
        known.found = all.iter().map(|address| AddressScope::of(*address)).chain(known.found).min();
        Ok(all)
    }

    /// Whether one host may name another. `allowed` are hosts that any host may name.
    ///
    /// A name that only the name service knows may be named; from then on it does not lead near.
    pub(crate) fn may_name(&self, from: &Url, to: &Url, allowed: &NamedHosts) -> bool {
        from.host() == to.host() || self.may_lead(self.scope(from), to, allowed)
    }

    /// Whether the text of an address may lead to a host: into private networks, since companies have their registries
    /// there, and not to this machine, since each reader of the text has another machine.
    pub(crate) fn may_be_written(&self, to: &Url, allowed: &NamedHosts) -> bool {
        self.may_lead(AddressScope::Network, to, allowed)
    }

    /// Whether a request may go to a host: to an address that is no nearer than this, or to a name, which is then held to it.
    fn may_lead(&self, nearest: AddressScope, to: &Url, allowed: &NamedHosts) -> bool {
        if allowed.contain(to) {
            return true;
        }
        // A connection to a name that is known to be near may be open already.
        let known = self.known_scope(to);
        if known.is_some_and(|scope| scope > nearest) || AddressScope::of_host(to).is_some() {
            return known <= Some(nearest);
        }
        self.keep_away(&key(to.host_str().unwrap_or_default()), nearest);
        true
    }

    /// Where a host is, as far as known: a name that was not looked up here counts as one of the internet.
    fn scope(&self, host: &Url) -> AddressScope {
        self.known_scope(host).unwrap_or(AddressScope::Internet)
    }

    fn known_scope(&self, host: &Url) -> Option<AddressScope> {
        AddressScope::of_host(host).or_else(|| self.known().get(&key(host.host_str()?)).and_then(|known| known.found))
    }

    fn keep_away(&self, name: &str, nearest: AddressScope) {
        if name.len() > LONGEST_NAME {
            return;
        }
        let mut known = self.known();
        let known = known.get_or_insert(&name.to_owned(), KnownName::default);
        known.nearest = Some(known.nearest.map_or(nearest, |before| before.min(nearest)));
    }

    fn known(&self) -> MutexGuard<'_, RecentMap<String, KnownName>> {
        self.known.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The addresses of a name that count: those that are no nearer than this, nor than any host that has named it.
    async fn look_up(
        &self,
        name: &str,
        nearest: AddressScope,
    ) -> Result<Vec<IpAddr>, Box<dyn std::error::Error + Send + Sync>> {
        let all = self.addresses(name).await.map_err(LookupError)?;
        let held = self.known().get(&key(name)).and_then(|known| known.nearest);
        let nearest = held.map_or(nearest, |held| held.min(nearest));
        let (far, near): (Vec<_>, Vec<_>) = all.into_iter().partition(|address| AddressScope::of(*address) <= nearest);
        match near.first() {
            Some(address) if far.is_empty() => Err(NearName { name: name.to_owned(), address: *address }.into()),
            _ => Ok(far),
        }
    }
}

impl Resolve for Resolver {
    fn resolve(&self, name: Name) -> Resolving {
        let resolver = self.clone();
        Box::pin(async move {
            let is_proxy = ASKED_HOST.try_with(|asked| *asked != key(name.as_str())).unwrap_or(false);
            let nearest = if is_proxy { AddressScope::Machine } else { resolver.nearest };
            let found = resolver.look_up(name.as_str(), nearest).await?;
            // The port is the URL's.
            Ok(Box::new(found.into_iter().map(|address| SocketAddr::new(address, 0))) as Addrs)
        })
    }
}

/// A name as it is compared: in lower case, without the dot at the end.
pub(crate) fn key(name: &str) -> String {
    name.strip_suffix('.').unwrap_or(name).to_ascii_lowercase()
}

#[cfg(test)]
mod tests;
