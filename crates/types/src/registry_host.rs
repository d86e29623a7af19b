//! When two spellings are one registry: all spellings of one host, and all hosts of one registry.

use std::fmt;
use std::str::FromStr;

use url::{Host, Url};

/// The names of the Docker Hub as repositories begin with them.
pub const DOCKER_HUB_NAMES: [&str; 3] = ["docker.io", "index.docker.io", "registry-1.docker.io"];

/// A host in its one spelling, with a port if one is named.
///
/// It is read like the host of a URL: capitals do not count, `127.1` is `127.0.0.1`, Unicode is punycode, and a dot at
/// the end of a name does not count.
///
/// Spec: WHATWG URL, "host parsing".
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RegistryHost {
    host: Host,
    port: Option<u16>,
}

/// A text that is not `HOST` or `HOST:PORT`.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("`{input}` is not HOST or HOST:PORT")]
pub struct InvalidRegistryHost {
    input: String,
}

impl RegistryHost {
    /// The host of an address, with the port that it is reached at; `None` if the address has no host.
    pub fn of_url(url: &Url) -> Option<Self> {
        Some(Self { host: host_of(url)?, port: url.port_or_known_default() })
    }

    /// The host in its one spelling.
    pub fn host(&self) -> &Host {
        &self.host
    }

    /// Whether both have the same host, whatever the ports.
    pub fn has_host_of(&self, other: &Self) -> bool {
        self.host == other.host
    }

    /// Whether this names the other one: the same host, and its port if this names one.
    pub fn names(&self, other: &Self) -> bool {
        self.has_host_of(other) && (self.port.is_none() || self.port == other.port)
    }

    /// Whether it is this machine by its name or address: `localhost`, `*.localhost`, `127.0.0.0/8`, `[::1]`.
    pub fn is_loopback(&self) -> bool {
        match &self.host {
            Host::Domain(name) => name == "localhost" || name.ends_with(".localhost"),
            Host::Ipv4(address) => address.is_loopback(),
            Host::Ipv6(address) => address.is_loopback(),
        }
    }

    /// The one text for all texts that lead to the same registry.
    ///
    /// `localhost`, `127.0.0.1` and `[::1]` become `localhost`, and the names of the Docker Hub `docker.io`. The ports
    /// 443 and 80, the defaults of HTTPS and plain HTTP, are omitted.
    pub fn place(&self) -> String {
        let port = self.port.filter(|port| !matches!(port, 80 | 443));
        let is_this_machine = match &self.host {
            Host::Domain(name) => name == "localhost",
            Host::Ipv4(address) => *address == std::net::Ipv4Addr::LOCALHOST,
            Host::Ipv6(address) => *address == std::net::Ipv6Addr::LOCALHOST,
        };
        let host = match &self.host {
            _ if is_this_machine => "localhost".to_owned(),
            Host::Domain(name) if port.is_none() && DOCKER_HUB_NAMES.contains(&name.as_str()) => "docker.io".to_owned(),
            host => host.to_string(),
        };
        Self::join(&host, port)
    }

    fn join(host: &str, port: Option<u16>) -> String {
        port.map_or_else(|| host.to_owned(), |port| format!("{host}:{port}"))
    }
}

impl FromStr for RegistryHost {
    type Err = InvalidRegistryHost;

    fn from_str(input: &str) -> Result<Self, InvalidRegistryHost> {
        let invalid = || InvalidRegistryHost { input: input.to_owned() };
        if input.contains(['/', '\\', '?', '#', '@']) || input.contains(char::is_whitespace) {
            return Err(invalid());
        }
        let url = Url::parse(&format!("https://{input}/")).map_err(|_| invalid())?;
        // `Url` drops a port that is the default of its scheme, so the port is read from the text.
        let port = input.rsplit_once(':').filter(|_| !input.ends_with(']'));
        let port = port.and_then(|(_, port)| port.parse::<u16>().ok());
        Ok(Self { host: host_of(&url).ok_or_else(invalid)?, port })
    }
}

/// The name of a registry's host that all names of the registry share, as far as the text is a host.
pub(crate) fn canonical(host: &str) -> String {
    host.parse().map_or_else(|_| host.to_ascii_lowercase(), |host: RegistryHost| host.place())
}

/// The host without the dot that ends a whole name, and an IPv4 address as one.
fn host_of(url: &Url) -> Option<Host> {
    Some(match url.host()? {
        Host::Domain(name) => Host::Domain(name.strip_suffix('.').unwrap_or(name).to_owned()),
        Host::Ipv4(address) => Host::Ipv4(address),
        Host::Ipv6(address) => address.to_ipv4_mapped().map_or(Host::Ipv6(address), Host::Ipv4),
    })
}

impl fmt::Display for RegistryHost {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&Self::join(&self.host.to_string(), self.port))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(texts: &[&str], spelling: &str, place: &str) {
        for text in texts {
            let host: RegistryHost = text.parse().unwrap_or_else(|error| panic!("{error}"));
            assert_eq!((host.to_string().as_str(), host.place().as_str()), (spelling, place), "{text}");
            assert_eq!(place.parse::<RegistryHost>().map(|host| host.place()), Ok(place.to_owned()), "{text}");
        }
    }

    #[test]
    fn a_host_has_one_spelling() {
        check(&["ghcr.io", "GHCR.io", "ghcr.io.", "\u{ff47}hcr.io", "ghcr\u{3002}io"], "ghcr.io", "ghcr.io");
        check(
            &["b\u{fc}cher.example", "B\u{dc}CHER.example", "xn--bcher-kva.example"],
            "xn--bcher-kva.example",
            "xn--bcher-kva.example",
        );
        check(
            &["10.0.0.1:5000", "10.1:5000", "0xa000001:5000", "10.0.0.1.:5000", "[::ffff:10.0.0.1]:5000"],
            "10.0.0.1:5000",
            "10.0.0.1:5000",
        );
        check(&["[fd00::1]:5000", "[FD00:0::1]:5000"], "[fd00::1]:5000", "[fd00::1]:5000");
    }

    #[test]
    fn the_ports_of_https_and_http_lead_to_the_place_without_a_port() {
        check(&["ghcr.io:443", "ghcr.io.:0443"], "ghcr.io:443", "ghcr.io");
        check(&["ghcr.io:80"], "ghcr.io:80", "ghcr.io");
        check(&["ghcr.io:8080"], "ghcr.io:8080", "ghcr.io:8080");
    }

    #[test]
    fn this_machine_and_the_docker_hub_are_one_place_each() {
        check(&["localhost:5000", "LOCALHOST.:5000"], "localhost:5000", "localhost:5000");
        check(&["127.0.0.1:5000", "127.1:5000", "2130706433:5000"], "127.0.0.1:5000", "localhost:5000");
        check(&["[::1]:5000", "[0:0::1]:5000"], "[::1]:5000", "localhost:5000");
        check(&["127.0.0.2:5000"], "127.0.0.2:5000", "127.0.0.2:5000");
        check(&["x.localhost"], "x.localhost", "x.localhost");
        check(&["docker.io"], "docker.io", "docker.io");
        check(&["index.docker.io."], "index.docker.io", "docker.io");
        check(&["Registry-1.Docker.io:443"], "registry-1.docker.io:443", "docker.io");
        check(&["docker.io:5000"], "docker.io:5000", "docker.io:5000");
        check(&["hub.docker.com"], "hub.docker.com", "hub.docker.com");
    }

    #[test]
    fn what_is_not_a_host_is_refused() {
        for text in
            ["", "a/b", "u@a.test", "a.test?x", "a.test#x", "a b", " a", "a.test:99999", "a.test:x", "::1", "1.2.3.4.5"]
        {
            assert!(text.parse::<RegistryHost>().is_err(), "{text:?}");
        }
    }
}
