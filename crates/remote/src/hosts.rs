//! Where a registry is, and whether it is spoken to over TLS.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};

use tofu_oci_http::{NamedHosts, NetworkProblem, PlainRule, Protection, is_loopback, speaks_tls};
use tokio::sync::OnceCell;
use url::Url;

/// Hosts that the user names, by what for.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct UserHosts {
    /// Hosts that plain HTTP may be spoken with.
    pub(crate) plain: NamedHosts,
    /// Token servers that may be asked and given a password, wherever they are.
    pub(crate) token: NamedHosts,
}

impl UserHosts {
    pub(crate) fn new(plain: &[String], token: &[String]) -> Self {
        Self { plain: NamedHosts::new(plain), token: NamedHosts::new(token) }
    }
}

/// The registries' addresses, as far as they are known.
pub(crate) struct Hosts {
    pub(crate) named: UserHosts,
    /// Those of this machine, each asked once a run: a second request waits for the first one's answer.
    found: Mutex<HashMap<String, Arc<OnceCell<Url>>>>,
}

/// What is known of a registry's address before anything is asked.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum KnownRoot {
    Known(Url),
    /// One of these: it is a host of this machine that was not asked yet.
    Either {
        secure: Url,
        plain: Url,
    },
}

impl Hosts {
    pub(crate) fn new(plain: &[String], token: &[String]) -> Self {
        Self { named: UserHosts::new(plain, token), found: Mutex::default() }
    }

    /// The registry's root: `https://HOST[:PORT]/`, or with `http:` for hosts that were named so and for those of
    /// this machine that do not speak TLS.
    ///
    /// # Errors
    /// The fault of the network, if a host of this machine could not be asked.
    pub(crate) async fn root(&self, registry: &str) -> Result<Url, NetworkProblem> {
        let (secure, plain) = match self.known_root(registry)? {
            KnownRoot::Known(root) => return Ok(root),
            KnownRoot::Either { secure, plain } => (secure, plain),
        };
        let found = self.found(registry);
        let root = found.get_or_try_init(|| async {
            let name = secure.host_str().unwrap_or_default();
            match speaks_tls(name, secure.port_or_known_default().unwrap_or(443)).await {
                Ok(true) => Ok(secure.clone()),
                Ok(false) => Ok(plain),
                Err(_) if plain.port().is_none() && secure.port().is_none() => Ok(plain),
                Err(error) => Err(NetworkProblem::from(error)),
            }
        });
        root.await.cloned()
    }

    /// What is known of the root before anything is asked.
    ///
    /// # Errors
    /// If the name of the registry is no part of an address.
    pub(crate) fn known_root(&self, registry: &str) -> Result<KnownRoot, NetworkProblem> {
        let name = registry.to_ascii_lowercase();
        let host = if name == "docker.io" { "registry-1.docker.io" } else { &name };
        let address = |scheme: &str| Url::parse(&format!("{scheme}://{host}/")).map_err(NetworkProblem::no_address);
        let secure = address("https")?;
        let plain = address("http")?;
        if self.allows_plain(&plain) || self.names_as_plain(&name) {
            return Ok(KnownRoot::Known(plain));
        }
        if !is_loopback(&secure) {
            return Ok(KnownRoot::Known(secure));
        }
        Ok(match self.found(registry).get() {
            Some(root) => KnownRoot::Known(root.clone()),
            None => KnownRoot::Either { secure, plain },
        })
    }

    fn found(&self, registry: &str) -> Arc<OnceCell<Url>> {
        let mut found = self.found.lock().unwrap_or_else(PoisonError::into_inner);
        Arc::clone(found.entry(registry.to_ascii_lowercase()).or_default())
    }

    /// What a request that began at this address may be sent on to over plain HTTP.
    pub(crate) fn plain_rule<'a>(&'a self, began: &'a Url, protection: Protection) -> PlainRule<'a> {
        PlainRule { began, named: &self.named.plain, protection }
    }

    /// Whether a port of this machine took a call in this run. Without a port the name may be one that no program answers.
    pub(crate) fn took_a_call(&self, registry: &str) -> bool {
        self.found(registry).get().is_some_and(|root| root.port().is_some())
    }

    /// Whether the user names this host for plain HTTP.
    pub(crate) fn allows_plain(&self, url: &Url) -> bool {
        self.named.plain.contain(url)
    }

    /// Whether the user names a host for plain HTTP by the name in a repository's: `docker.io` is at another one.
    pub(crate) fn names_as_plain(&self, host: &str) -> bool {
        Url::parse(&format!("http://{host}/")).is_ok_and(|url| self.allows_plain(&url))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn addresses_of_registries() {
        let hosts = Hosts::new(&["Plain.test".to_owned(), "half.test:5000".to_owned()], &[]);
        let check = async |registry: &str, want: &str| {
            assert_eq!(hosts.root(registry).await.map(String::from).ok().as_deref(), Some(want), "{registry}");
        };
        check("ghcr.io", "https://ghcr.io/").await;
        check("docker.io", "https://registry-1.docker.io/").await;
        check("index.docker.io", "https://index.docker.io/").await;
        check("plain.test", "http://plain.test/").await;
        check("plain.test:5000", "http://plain.test:5000/").await;
        check("half.test:5000", "http://half.test:5000/").await;
        check("half.test", "https://half.test/").await;
        check("10.0.0.1:5000", "https://10.0.0.1:5000/").await;
    }

    #[tokio::test]
    async fn a_host_is_named_for_plain_http_however_it_is_written() {
        let check = async |named: &str, registry: &str, want: &str| {
            let hosts = Hosts::new(&[named.to_owned()], &[]);
            let root = hosts.root(registry).await.map(String::from).ok();
            assert_eq!(root.as_deref(), Some(want), "{named} and {registry}");
        };
        check("a.test.", "a.test", "http://a.test/").await;
        check("a.test", "a.test.:5000", "http://a.test.:5000/").await;
        check("a.test:80", "a.test", "http://a.test/").await;
        check("a.test", "a.test:80", "http://a.test/").await;
        check("a.test:443", "a.test", "https://a.test/").await;
        check("10.1", "10.0.0.1:5000", "http://10.0.0.1:5000/").await;
        check("docker.io", "docker.io", "http://registry-1.docker.io/").await;
        check("b.test", "a.test", "https://a.test/").await;
    }
}
