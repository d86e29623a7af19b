//! Hosts that the user names for one purpose, such as `--plain-http` and `--token-host`. Pure.

use tofu_oci_types::RegistryHost;
use url::Url;

/// A list of `HOST`, which counts for every port, and `HOST:PORT`, which counts for that port alone.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct NamedHosts(Vec<RegistryHost>);

impl NamedHosts {
    /// Reads each text. A text that is not a host names nothing.
    pub fn new(texts: &[String]) -> Self {
        Self(texts.iter().filter_map(|text| text.parse().ok()).collect())
    }

    /// Whether the list names the host of this address, with its port or without one.
    pub fn contain(&self, url: &Url) -> bool {
        RegistryHost::of_url(url).is_some_and(|host| self.0.iter().any(|named| named.names(&host)))
    }
}

/// Whether two addresses have the same host, whatever their ports.
pub fn same_host(one: &Url, other: &Url) -> bool {
    let (one, other) = (RegistryHost::of_url(one), RegistryHost::of_url(other));
    one.zip(other).is_some_and(|(one, other)| one.has_host_of(&other))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(named: &str, url: &str, want: bool) {
        let named_hosts = NamedHosts::new(&[named.to_owned()]);
        let url = Url::parse(url).expect("a test address");
        assert_eq!(named_hosts.contain(&url), want, "{named} and {url}");
    }

    #[test]
    fn a_host_counts_for_every_port_and_one_with_a_port_for_that_port_alone() {
        check("auth.test", "https://auth.test/token", true);
        check("auth.test", "https://auth.test:8443/token", true);
        check("auth.test:8443", "https://auth.test:8443/token", true);
        check("auth.test:8443", "https://auth.test/token", false);
        check("auth.test:443", "https://auth.test/token", true);
        check("auth.test:443", "http://auth.test/token", false);
        check("auth.test:80", "http://auth.test/token", true);
        check("auth.test", "https://x.auth.test/token", false);
        check("auth.test", "https://auth.test.evil.test/token", false);
    }

    #[test]
    fn addresses_are_compared_as_addresses() {
        check("127.0.0.1", "https://127.0.0.1:5001/token", true);
        check("127.1", "https://127.0.0.1/token", true);
        check("127.0.0.1", "https://localhost/token", false);
        check("127.0.0.1", "https://127.0.0.2/token", false);
        check("10.1.2.3:5001", "https://10.1.2.3:5001/token", true);
        check("10.1.2.3:5001", "https://10.1.2.3:5002/token", false);
        check("[::1]", "https://[0:0::1]:5001/token", true);
        check("[::1]:5001", "https://[::1]:5001/token", true);
        check("[::1]:5001", "https://[::1]:5002/token", false);
        check("[fd00::1]", "https://[fd00::2]/token", false);
    }

    #[test]
    fn however_a_name_is_written_it_is_the_same() {
        check("Auth.Test", "https://auth.TEST./token", true);
        check("auth.test.", "https://auth.test/token", true);
        check("localhost", "https://LOCALHOST:5001/token", true);
        check("", "https://auth.test/token", false);
        check("a.test/x", "https://a.test/x", false);
        check("u@a.test", "https://a.test/", false);
    }
}
