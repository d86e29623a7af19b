//! Which address a request may go to next, and who may be told a secret. Pure.

use std::net::{Ipv4Addr, Ipv6Addr};

use tofu_oci_store::AccessFault;
use url::{Host, Url};

/// Most redirects that one request follows.
pub(crate) const MAX_REDIRECTS: usize = 10;

/// Whether the host is this machine by its name or address: `localhost`, `127.0.0.0/8`, `[::1]`.
pub(crate) fn is_loopback(url: &Url) -> bool {
    match url.host() {
        Some(Host::Domain(name)) => {
            let name = name.strip_suffix('.').unwrap_or(name);
            name == "localhost" || name.ends_with(".localhost")
        }
        Some(Host::Ipv4(address)) => address.is_loopback(),
        Some(Host::Ipv6(address)) => address.is_loopback(),
        None => false,
    }
}

/// Whether scheme, host and port are the same.
pub(crate) fn same_origin(one: &Url, other: &Url) -> bool {
    one.origin() == other.origin()
}

/// Why an address is not gone to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Detour {
    /// The rule's stable name, where it is one that keeps transfers safe.
    pub(crate) fault: Option<AccessFault>,
    /// For people.
    pub(crate) problem: String,
}

/// The address that a redirect or an upload location names, seen from the request that was answered with it.
///
/// # Errors
/// The reason, when the rules forbid to go there: another scheme than HTTP, a user info, from HTTPS to HTTP, or over
/// plain HTTP to another host that is neither on this machine with the first one nor one of those that `plain` allows.
pub(crate) fn next_hop(from: &Url, location: &str, plain: &dyn Fn(&Url) -> bool) -> Result<Url, Detour> {
    let refused = |fault, problem: String| Err(Detour { fault, problem });
    let Ok(to) = from.join(location) else { return refused(None, "it names an address that is none".to_owned()) };
    if !matches!(to.scheme(), "http" | "https") || to.host().is_none() {
        return refused(None, format!("it names an address of the scheme {}", to.scheme()));
    }
    if !to.username().is_empty() || to.password().is_some() {
        return refused(None, format!("it names an address on {} with a user info", host_of(&to)));
    }
    let downgrade = Some(AccessFault::RedirectDowngrade);
    if from.scheme() == "https" && to.scheme() == "http" {
        return refused(downgrade, format!("it leads from HTTPS to plain HTTP on {}", host_of(&to)));
    }
    let near = from.host() == to.host() || is_loopback(from) && is_loopback(&to);
    if to.scheme() == "http" && !near && !plain(&to) {
        return refused(downgrade, format!("it leads to plain HTTP on {}", host_of(&to)));
    }
    Ok(to)
}

/// The upload location, with the one repair that costs no safety: a registry behind a proxy that ends TLS often names
/// its own host with `http:`, and is then asked over HTTPS on its own origin.
pub(crate) fn upload_location(from: &Url, location: &str, plain: &dyn Fn(&Url) -> bool) -> Result<Url, Detour> {
    if let Ok(to) = from.join(location)
        && from.scheme() == "https"
        && to.scheme() == "http"
        && to.host() == from.host()
        && to.username().is_empty()
        && to.port().is_none_or(|port| from.port() == Some(port))
    {
        let mut repaired = from.clone();
        repaired.set_path(to.path());
        repaired.set_query(to.query());
        return Ok(repaired);
    }
    next_hop(from, location, plain)
}

/// Why a token server is not asked.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Refusal {
    pub(crate) fault: AccessFault,
    /// For people.
    pub(crate) problem: String,
}

impl Refusal {
    pub(crate) fn new(fault: AccessFault, problem: impl Into<String>) -> Self {
        Self { fault, problem: problem.into() }
    }
}

/// Whether a token server may be asked, and given the registry's credential.
///
/// # Errors
/// The reason, when it may not: plain HTTP for a registry that speaks HTTPS, a user info, an IP address that is
/// neither the registry's own nor, for a registry on this machine, on this machine.
pub(crate) fn check_realm(realm: &Url, registry: &Url) -> Result<(), Refusal> {
    let host = host_of(realm);
    let refused = |fault, problem| Err(Refusal::new(fault, problem));
    if !matches!(realm.scheme(), "http" | "https") || realm.host().is_none() {
        // Where the scheme was forgotten, what stands in its place is the host.
        let problem = "the token server's address does not begin with https://".to_owned();
        return refused(AccessFault::RealmScheme, problem);
    }
    if !realm.username().is_empty() || realm.password().is_some() {
        let problem = format!("the token server's address on {host} carries a user info");
        return refused(AccessFault::RealmUserInfo, problem);
    }
    if realm.scheme() == "http" && registry.scheme() != "http" {
        let problem = format!("the token server {host} would be asked over plain HTTP");
        return refused(AccessFault::RealmDowngrade, problem);
    }
    let own = realm.host() == registry.host();
    if own || is_loopback(realm) && is_loopback(registry) {
        return Ok(());
    }
    let problem = format!("the token server is named by the IP address {host}, which is not the registry's");
    match realm.host() {
        Some(Host::Ipv4(address)) if is_public_v4(address) => refused(AccessFault::RealmOtherSite, problem),
        Some(Host::Ipv6(address)) if is_public_v6(address) => refused(AccessFault::RealmOtherSite, problem),
        Some(Host::Ipv4(_) | Host::Ipv6(_)) => refused(AccessFault::RealmPrivateAddress, problem),
        _ if is_loopback(realm) => {
            let problem = format!("the token server {host} is on this machine, and the registry is not");
            refused(AccessFault::RealmPrivateAddress, problem)
        }
        _ => Ok(()),
    }
}

/// Whether an address is one of the open internet: not of this machine, a private network, a link, a carrier, nor of
/// several machines at once.
fn is_public_v4(address: Ipv4Addr) -> bool {
    let carrier = address.octets()[0] == 100 && address.octets()[1] & 0xc0 == 64;
    !(address.is_loopback()
        || address.is_private()
        || address.is_link_local()
        || address.is_unspecified()
        || address.is_broadcast()
        || address.is_multicast()
        || carrier)
}

fn is_public_v6(address: Ipv6Addr) -> bool {
    if let Some(inner) = address.to_ipv4_mapped() {
        return is_public_v4(inner);
    }
    let local = address.is_loopback() || address.is_unspecified();
    !(local || address.is_unique_local() || address.is_unicast_link_local() || address.is_multicast())
}

/// Whether a token server may be told a secret for the registry: it is the registry's own host, one of the same site,
/// the known token server of the registry, or one that the user trusts by name.
///
/// An anonymous token may be asked for anywhere: nothing is given away. `trusted` holds hosts without ports.
///
/// Spec: the security checklist of this project, "Bearer realm" (GHSA-xf85-363p-868w).
pub(crate) fn check_confidant(realm: &Url, registry: &Url, trusted: &[String]) -> Result<(), Refusal> {
    let refused = |problem: String| Err(Refusal::new(AccessFault::RealmOtherSite, problem));
    let (Some(host), Some(own)) = (realm.host_str(), registry.host_str()) else {
        return refused("the token server has no host".to_owned());
    };
    let both_local = is_loopback(realm) && is_loopback(registry);
    let known = KNOWN_TOKEN_SERVERS.iter().any(|(site, server)| own.ends_with(site) && host == *server);
    let by_name = trusted.iter().any(|trusted| trusted.eq_ignore_ascii_case(host));
    if host == own || both_local || known || by_name || same_site(host, own) {
        return Ok(());
    }
    refused(format!("the token server {host} is of another site than the registry, and would be told the password"))
}

/// Token servers that are known to belong to registries of another site.
const KNOWN_TOKEN_SERVERS: &[(&str, &str)] = &[(".scw.cloud", "api.scaleway.com")];

/// Whether two names end in the same domain that somebody can register.
fn same_site(one: &str, other: &str) -> bool {
    let literal = |host: &str| host.starts_with('[') || host.bytes().all(|byte| byte.is_ascii_digit() || byte == b'.');
    !literal(one) && !literal(other) && site(one).is_some() && site(one) == site(other)
}

/// The domain that a name belongs to, told by its shape: the last two labels, or the last three where those two look
/// like `co.uk`. A dot at the end, which says that the name is whole, is no label.
fn site(host: &str) -> Option<&str> {
    let host = host.strip_suffix('.').unwrap_or(host);
    let mut labels = host.rsplit('.').take_while(|label| !label.is_empty());
    let (top, second) = (labels.next()?, labels.next()?);
    let mut length = second.len() + 1 + top.len();
    if top.len() == 2 && second.len() <= 3 {
        length += labels.next()?.len() + 1;
    }
    host.get(host.len() - length..)
}

/// Host and port of an address, for people.
pub(crate) fn host_of(url: &Url) -> String {
    match (url.host_str(), url.port()) {
        (Some(host), Some(port)) => format!("{host}:{port}"),
        (Some(host), None) => host.to_owned(),
        (None, _) => "no host".to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn url(text: &str) -> Url {
        Url::parse(text).expect("a test address")
    }

    #[track_caller]
    fn check_hop(from: &str, location: &str, want: Result<&str, &str>) {
        let plain = |to: &Url| to.host_str() == Some("plain.test");
        match (next_hop(&url(from), location, &plain), want) {
            (Ok(to), Ok(want)) => assert_eq!(to.as_str(), want),
            (Err(detour), Err(want)) => assert!(detour.problem.contains(want), "{detour:?}"),
            (got, want) => panic!("{from} -> {location}: got {got:?}, want {want:?}"),
        }
    }

    #[test]
    fn redirects_never_leave_https() {
        check_hop("https://a.test/v2/x", "/y?z=1", Ok("https://a.test/y?z=1"));
        check_hop("https://a.test/v2/x", "https://b.test/y", Ok("https://b.test/y"));
        check_hop("http://a.test/v2/x", "http://a.test:81/y", Ok("http://a.test:81/y"));
        check_hop("http://a.test/v2/x", "http://plain.test/y", Ok("http://plain.test/y"));
        check_hop("http://a.test/v2/x", "http://b.test/y", Err("plain HTTP on b.test"));
        check_hop("http://a.test/v2/x", "http://127.0.0.1/y", Err("plain HTTP"));
        check_hop("http://127.0.0.1:1/v2/x", "http://localhost:2/y", Ok("http://localhost:2/y"));
        check_hop("http://127.0.0.1:1/v2/x", "http://169.254.169.254/y", Err("plain HTTP"));
        check_hop("http://a.test/v2/x", "https://a.test/y", Ok("https://a.test/y"));
        check_hop("https://a.test/v2/x", "http://a.test/y", Err("plain HTTP"));
        check_hop("https://a.test/v2/x", "http://127.0.0.1/y", Err("plain HTTP"));
        check_hop("https://a.test/v2/x", "file:///etc/passwd", Err("scheme file"));
        check_hop("https://a.test/v2/x", "https://u:p@b.test/y", Err("user info"));
        check_hop("https://a.test/v2/x", "https://[", Err("none"));
    }

    #[test]
    fn an_origin_is_scheme_host_and_port() {
        let same = |one: &str, other: &str| same_origin(&url(one), &url(other));
        assert!(same("https://a.test/x", "https://A.test:443/y"));
        assert!(same("https://[::1]:5000/", "https://[0:0::1]:5000/"));
        for other in
            ["http://a.test/", "http://a.test:443/", "https://a.test:444/", "https://b.test/", "https://a.test./"]
        {
            assert!(!same("https://a.test/", other), "{other}");
        }
    }

    #[track_caller]
    fn check_location(from: &str, location: &str, want: Option<&str>) {
        assert_eq!(upload_location(&url(from), location, &|_| false).ok().as_ref().map(Url::as_str), want);
    }

    #[test]
    fn upload_locations_are_taken_as_they_are_or_on_the_safe_scheme() {
        check_location("https://a.test/v2/x/blobs/uploads/", "/u/1?s=a%2Fb", Some("https://a.test/u/1?s=a%2Fb"));
        check_location("https://a.test/v2/", "http://a.test/u?s=1", Some("https://a.test/u?s=1"));
        check_location("https://a.test:8443/v2/", "http://a.test/u", Some("https://a.test:8443/u"));
        check_location("https://a.test/v2/", "http://a.test:5000/u", None);
        check_location("https://a.test/v2/", "http://b.test/u", None);
        check_location("https://a.test/v2/", "https://b.test/u", Some("https://b.test/u"));
    }

    #[track_caller]
    fn check_told(registry: &str, realm: &str, want: bool) {
        let trusted = ["login.partner.test".to_owned()];
        let registry = url(&format!("https://{registry}/"));
        assert_eq!(
            check_confidant(&url(&format!("https://{realm}/token")), &registry, &trusted).is_ok(),
            want,
            "{realm}"
        );
    }

    #[test]
    fn a_password_goes_to_token_servers_of_the_registrys_own_site_or_to_trusted_ones() {
        check_told("ghcr.io", "ghcr.io", true);
        check_told("registry-1.docker.io", "auth.docker.io", true);
        check_told("registry.gitlab.com", "gitlab.com", true);
        check_told("registry.digitalocean.com:443", "api.digitalocean.com", true);
        check_told("rg.fr-par.scw.cloud", "api.scaleway.com", true);
        check_told("harbor.example.co.uk", "auth.example.co.uk", true);
        check_told("harbor.example.co.uk", "evil.co.uk", false);
        check_told("harbor.example.co.uk", "co.uk", false);
        check_told("registry.example.com", "evil.test", false);
        check_told("registry.example.com", "example.com.evil.test", false);
        check_told("registry.example.com", "notexample.com", false);
        check_told("registry.example.com", "login.partner.test", true);
        check_told("registry", "auth", false);
        check_told("10.0.0.1:5000", "10.0.0.1", true);
        check_told("10.0.0.1", "10.1.0.1", false);
        check_told("[fd00::1]", "[fd00::1]", true);
        check_told("[fd00::1]", "[fd00::2]", false);
    }

    #[test]
    fn however_a_host_is_written_its_site_is_the_same() {
        check_told("registry.example.com.", "auth.example.com", true);
        check_told("registry.example.com.", "auth.example.com.", true);
        check_told("registry.example.com.", "evil.com.", false);
        check_told("registry.example.com..", "evil.com..", false);
        check_told("registry.example.com", "AUTH.Example.COM:8443", true);
        check_told("registry.example.com", "auth%2eexample.com", true);
        check_told("registry.example.com", "example.com%2eevil.test", false);
        check_told("registry.b\u{fc}cher.test", "auth.xn--bcher-kva.test", true);
        check_told("registry.example.com", "registry.ex\u{e4}mple.com", false);
        check_told("registry.example.com", "registry.example\u{3002}com", true);
    }

    #[track_caller]
    fn check_realm_of(registry: &str, realm: &str, want: Option<&str>) {
        let got = check_realm(&url(realm), &url(registry)).err().map(|refusal| refusal.fault.code());
        assert_eq!(got.as_deref(), want, "{registry} with {realm}");
    }

    #[test]
    fn realm_rules() {
        let (downgrade, private) = (Some("realm-downgrade"), Some("realm-private-address"));
        check_realm_of("https://a.test/", "https://a.test/token", None);
        check_realm_of("https://a.test/", "https://auth.a.test/token", None);
        check_realm_of("https://a.test/", "http://a.test/token", downgrade);
        check_realm_of("http://a.test/", "http://b.test/token", None);
        check_realm_of("http://a.test/", "https://b.test/token", None);
        check_realm_of("https://a.test/", "https://u@a.test/token", Some("realm-user-info"));
        check_realm_of("https://a.test/", "https://:p@a.test/token", Some("realm-user-info"));
        check_realm_of("https://a.test/", "ftp://a.test/", Some("realm-scheme"));
        check_realm_of("https://a.test/", "a.test:5001/token", Some("realm-scheme"));
        check_realm_of("https://a.test/", "data:text/plain,x", Some("realm-scheme"));
        for address in
            ["10.0.0.1", "192.168.1.1", "172.16.0.1", "169.254.169.254", "100.64.0.1", "0.0.0.0", "127.1", "224.0.0.1"]
        {
            check_realm_of("https://a.test/", &format!("https://{address}/token"), private);
        }
        for address in ["fd00::1", "fe80::1", "::1", "::", "::ffff:10.0.0.1", "fd00:ec2::254", "ff02::1"] {
            check_realm_of("https://a.test/", &format!("https://[{address}]/token"), private);
        }
        check_realm_of("https://a.test/", "https://2130706433/token", private);
        check_realm_of("https://a.test/", "https://0x7f.1/token", private);
        check_realm_of("https://a.test/", "https://localhost/token", private);
        check_realm_of("https://a.test/", "https://LOCALHOST:5001/token", private);
        check_realm_of("https://a.test/", "https://x.localhost./token", private);
        for odd in [
            "%6c%6fcalhost",
            "\u{24db}ocalhost",
            "localhost.",
            "127\u{3002}0\u{3002}0\u{3002}1",
            "127.0.0.1.",
            "1%32%37.1",
        ] {
            check_realm_of("https://a.test/", &format!("https://{odd}/token"), private);
        }
        check_realm_of("https://a.test/", "https:\\\\127.0.0.1\\token", private);
        check_realm_of("https://a.test/", "https://u%40b@a.test/token", Some("realm-user-info"));
        check_realm_of("https://a.test/", "https://93.184.216.34/token", Some("realm-other-site"));
        check_realm_of("https://a.test/", "https://[2606:4700::1111]/token", Some("realm-other-site"));
        check_realm_of("https://10.0.0.1/", "https://10.0.0.1:8080/token", None);
        check_realm_of("https://10.0.0.1/", "https://10.0.0.2/token", private);
        check_realm_of("https://127.0.0.1:5000/", "https://127.0.0.1:5000/token", None);
        check_realm_of("https://127.0.0.1:5000/", "https://127.0.0.1:5001/token", None);
        check_realm_of("http://127.0.0.1:5000/", "http://localhost:5001/token", None);
        check_realm_of("https://localhost:5000/", "http://localhost:5001/token", downgrade);
        check_realm_of("https://localhost:5000/", "https://10.0.0.1/token", private);
    }
}
