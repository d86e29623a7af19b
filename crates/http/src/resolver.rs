//! The name service, and the names that must not resolve to near addresses.
//!
//! [`Resolver::keep_away`] notes a name from a document or a redirect of another host. Whenever a
//! connection to it is made, only addresses that are as far away as the host that named it count. So a name
//! service gains nothing if it answers otherwise the second time. A proxy looks names up itself: nothing is known of them here.

use std::collections::HashMap;
use std::io;
use std::net::{IpAddr, SocketAddr};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use async_trait::async_trait;
use reqwest::dns::{Addrs, Name, Resolve, Resolving};
use url::Url;

use crate::named_hosts::NamedHosts;
use crate::reach::Reach;

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

/// Looks names up for connections.
#[derive(Clone)]
pub(crate) struct Resolver {
    names: Arc<dyn NameService>,
    known: Arc<Mutex<HashMap<String, KnownName>>>,
}

/// What is known of a name.
#[derive(Clone, Copy, Debug, Default)]
struct KnownName {
    /// Its farthest address, if it has been looked up.
    found: Option<Reach>,
    /// The nearest address that counts, if another host has named it.
    nearest: Option<Reach>,
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
        Self { names, known: Arc::default() }
    }

    /// Whether one host may name another. `allowed` are hosts that any host may name.
    ///
    /// A name that only the name service knows may be named; from then on it does not lead near.
    pub(crate) fn may_name(&self, from: &Url, to: &Url, allowed: &NamedHosts) -> bool {
        from.host() == to.host() || self.may_lead(self.reach(from), to, allowed)
    }

    /// Whether the text of an address may lead to a host: into private networks, since companies have their registries
    /// there, and not to this machine, since each reader of the text has another machine.
    pub(crate) fn may_be_written(&self, to: &Url, allowed: &NamedHosts) -> bool {
        self.may_lead(Reach::Network, to, allowed)
    }

    /// Whether a request may go to a host: to an address that is no nearer than this, or to a name, which is then held to it.
    fn may_lead(&self, nearest: Reach, to: &Url, allowed: &NamedHosts) -> bool {
        if allowed.contain(to) {
            return true;
        }
        if let Some(reach) = Reach::of_host(to) {
            return reach <= nearest;
        }
        self.keep_away(&key(to.host_str().unwrap_or_default()), nearest);
        true
    }

    /// Where a host is, as far as known: a name that was not looked up here counts as one of the internet.
    fn reach(&self, host: &Url) -> Reach {
        let found = || self.known().get(&key(host.host_str()?)).and_then(|known| known.found);
        Reach::of_host(host).or_else(found).unwrap_or(Reach::Internet)
    }

    fn keep_away(&self, name: &str, nearest: Reach) {
        let mut known = self.known();
        let known = known.entry(name.to_owned()).or_default();
        known.nearest = Some(known.nearest.map_or(nearest, |before| before.min(nearest)));
    }

    fn known(&self) -> MutexGuard<'_, HashMap<String, KnownName>> {
        self.known.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The addresses of a name that count.
    async fn look_up(&self, name: &str) -> Result<Vec<IpAddr>, Box<dyn std::error::Error + Send + Sync>> {
        let all = self.names.addresses(name).await.map_err(LookupError)?;
        let nearest = {
            let mut known = self.known();
            let known = known.entry(key(name)).or_default();
            known.found = all.iter().map(|address| Reach::of(*address)).min();
            known.nearest
        };
        let Some(nearest) = nearest else { return Ok(all) };
        let (far, near): (Vec<_>, Vec<_>) = all.into_iter().partition(|address| Reach::of(*address) <= nearest);
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
            let found = resolver.look_up(name.as_str()).await?;
            // The port is the URL's.
            Ok(Box::new(found.into_iter().map(|address| SocketAddr::new(address, 0))) as Addrs)
        })
    }
}

/// A name as it is compared: in lower case, without the dot at the end.
fn key(name: &str) -> String {
    name.strip_suffix('.').unwrap_or(name).to_ascii_lowercase()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A table with `near.test`, `lan.test` and so on.
    struct Table;

    #[async_trait]
    impl NameService for Table {
        async fn addresses(&self, name: &str) -> io::Result<Vec<IpAddr>> {
            let texts: &[&str] = match name.trim_end_matches('.').to_ascii_lowercase().as_str() {
                "near.test" => &["127.0.0.1"],
                "lan.test" => &["10.1.2.3", "fd00::1"],
                "far.test" => &["93.184.216.34"],
                "both.test" => &["192.168.0.1", "93.184.216.34"],
                _ => return Err(io::Error::other("no such name")),
            };
            Ok(texts.iter().map(|text| text.parse().expect("an address")).collect())
        }
    }

    fn url(host: &str) -> Url {
        Url::parse(&format!("https://{host}/")).expect("a test address")
    }

    /// Whether a name may be named, and if so what it leads to.
    async fn led(resolver: &Resolver, from: &str, to: &str, allowed: &[&str]) -> String {
        let allowed = NamedHosts::new(&allowed.iter().map(ToString::to_string).collect::<Vec<_>>());
        if !resolver.may_name(&url(from), &url(to), &allowed) {
            return "refused".to_owned();
        }
        match resolver.look_up(to.split(':').next().unwrap_or_default()).await {
            Ok(found) => found.iter().map(ToString::to_string).collect::<Vec<_>>().join(" "),
            Err(error) => error.to_string(),
        }
    }

    #[tokio::test]
    async fn a_name_that_a_far_host_names_does_not_lead_near() {
        let check = async |namer: &str, named: &str, want: &str| {
            let resolver = Resolver::new(Arc::new(Table));
            // A host that is asked for a document was looked up before.
            let _ = resolver.look_up(namer).await;
            let got = led(&resolver, namer, named, &[]).await;
            assert!(got.starts_with(want), "{namer} names {named}: {got}");
        };
        check("far.test", "near.test", "near.test is at 127.0.0.1, on this machine").await;
        check("far.test", "NEAR.test.:5000", "NEAR.test. is at 127.0.0.1").await;
        check("far.test", "lan.test", "lan.test is at 10.1.2.3").await;
        check("far.test", "both.test", "93.184.216.34").await;
        check("far.test", "far.test", "93.184.216.34").await;
        check("lan.test", "near.test", "near.test is at 127.0.0.1").await;
        check("lan.test", "lan.test", "10.1.2.3 fd00::1").await;
        check("10.0.0.1", "lan.test", "10.1.2.3 fd00::1").await;
        check("near.test", "lan.test", "10.1.2.3 fd00::1").await;
        check("localhost", "near.test", "127.0.0.1").await;
        check("unknown.test", "lan.test", "lan.test is at").await;
        check("both.test", "lan.test", "lan.test is at").await;
        check("lan.test", "127.0.0.1", "refused").await;
        check("lan.test", "169.254.169.254", "refused").await;
        check("far.test", "unknown.test", "no such name").await;
    }

    #[tokio::test]
    async fn what_an_address_is_written_with_leads_into_private_networks_and_not_to_this_machine() {
        let written = async |to: &str| {
            let resolver = Resolver::new(Arc::new(Table));
            if !resolver.may_be_written(&url(to), &NamedHosts::default()) {
                return "refused".to_owned();
            }
            resolver.look_up(to).await.map_or_else(|error| error.to_string(), |found| found[0].to_string())
        };
        assert_eq!(written("lan.test").await, "10.1.2.3");
        assert_eq!(written("far.test").await, "93.184.216.34");
        assert!(written("near.test").await.contains("127.0.0.1, on this machine"));
        for near in ["127.0.0.1", "localhost", "169.254.169.254", "[fe80::1]"] {
            assert_eq!(written(near).await, "refused", "{near}");
        }
    }

    #[tokio::test]
    async fn what_the_user_names_may_be_anywhere_and_what_no_host_named_too() {
        let resolver = Resolver::new(Arc::new(Table));
        assert_eq!(led(&resolver, "far.test", "near.test", &["near.test"]).await, "127.0.0.1");
        assert_eq!(led(&resolver, "far.test", "near.test:5000", &["near.test:5000"]).await, "127.0.0.1");
        assert!(led(&resolver, "far.test", "lan.test", &["near.test"]).await.contains("10.1.2.3, on this"));
        let resolver = Resolver::new(Arc::new(Table));
        assert_eq!(resolver.look_up("near.test").await.expect("it is known").len(), 1);
    }

    #[test]
    fn a_misspelt_host_is_not_asked_for_again() {
        let check = |words: &str, want: bool| {
            let error = io::Error::other(format!("failed to lookup address information: {words}"));
            assert_eq!(is_unknown(&error), want, "{words}");
        };
        check("Name or service not known", true);
        check("nodename nor servname provided, or not known", true);
        check("Temporary failure in name resolution", false);
    }
}
