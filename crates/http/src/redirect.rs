//! Which address a request may go to next. Pure.

use tofu_oci_store::AccessFault;
use url::{Host, Url};

use crate::named::{NamedHosts, same_host};

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

/// Whether a request that began over HTTPS may go on over plain HTTP.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum FromHttps {
    /// Never: nothing but TLS protects what is sent or answered.
    Refused,
    /// On hosts that the user names: the answer is compared with a digest that was known before.
    ToNamed,
}

/// What a request may be sent on to over plain HTTP.
#[derive(Clone, Copy)]
pub(crate) struct PlainRule<'a> {
    /// The address that was asked first.
    pub(crate) began: &'a Url,
    /// Hosts that the user names for plain HTTP.
    pub(crate) named: &'a NamedHosts,
    pub(crate) from_https: FromHttps,
}

/// The address that a redirect or an upload location names, seen from the request that was answered with it.
///
/// # Errors
/// The reason, when the rules forbid to go there: another scheme than HTTP, a user info, from HTTPS to HTTP unless the
/// rule allows it and the user names the host, or over plain HTTP to another host that is neither on this machine with
/// the first one nor named.
pub(crate) fn next_hop(from: &Url, location: &str, rule: &PlainRule<'_>) -> Result<Url, Detour> {
    let refused = |fault, problem: String| Err(Detour { fault, problem });
    let Ok(to) = from.join(location) else { return refused(None, "it names an invalid address".to_owned()) };
    if !matches!(to.scheme(), "http" | "https") || to.host().is_none() {
        return refused(None, format!("it names an address of the scheme {}", to.scheme()));
    }
    if !to.username().is_empty() || to.password().is_some() {
        return refused(None, format!("it names an address on {} with a user info", host_of(&to)));
    }
    if to.scheme() == "https" {
        return Ok(to);
    }
    let named = rule.named.contain(&to);
    if from.scheme() == "https" || rule.began.scheme() == "https" {
        let fault = match rule.from_https {
            FromHttps::ToNamed if named => return Ok(to),
            // Who names the registry's own host speaks plain HTTP with the registry itself, login included.
            FromHttps::ToNamed if !same_host(&to, rule.began) => AccessFault::RedirectUnnamed,
            _ => AccessFault::RedirectDowngrade,
        };
        return refused(Some(fault), format!("it leads from HTTPS to plain HTTP on {}", host_of(&to)));
    }
    let near = from.host() == to.host() || is_loopback(from) && is_loopback(&to);
    if near || named {
        return Ok(to);
    }
    refused(Some(AccessFault::RedirectUnnamed), format!("it leads to plain HTTP on {}", host_of(&to)))
}

/// The upload location, with the one repair that costs no safety: a registry behind a proxy that ends TLS often names
/// its own host with `http:`, and is then asked over HTTPS on its own origin.
pub(crate) fn upload_location(from: &Url, location: &str, named: &NamedHosts) -> Result<Url, Detour> {
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
    next_hop(from, location, &PlainRule { began: from, named, from_https: FromHttps::Refused })
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
        check_rule(from, FromHttps::Refused, location, want);
    }

    #[track_caller]
    fn check_content(from: &str, location: &str, want: Result<&str, &str>) {
        check_rule(from, FromHttps::ToNamed, location, want);
    }

    #[track_caller]
    fn check_rule(from: &str, from_https: FromHttps, location: &str, want: Result<&str, &str>) {
        let named = NamedHosts::new(&["plain.test".to_owned(), "half.test:5000".to_owned(), "127.0.0.1".to_owned()]);
        let rule = PlainRule { began: &url(from), named: &named, from_https };
        check_hop_by(from, location, &rule, want);
    }

    #[track_caller]
    fn check_hop_by(from: &str, location: &str, rule: &PlainRule<'_>, want: Result<&str, &str>) {
        match (next_hop(&url(from), location, rule), want) {
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
        check_hop("http://a.test/v2/x", "http://127.0.0.2/y", Err("plain HTTP"));
        check_hop("http://127.0.0.1:1/v2/x", "http://localhost:2/y", Ok("http://localhost:2/y"));
        check_hop("http://127.0.0.1:1/v2/x", "http://169.254.169.254/y", Err("plain HTTP"));
        check_hop("http://a.test/v2/x", "https://a.test/y", Ok("https://a.test/y"));
        check_hop("https://a.test/v2/x", "http://a.test/y", Err("plain HTTP"));
        check_hop("https://a.test/v2/x", "http://127.0.0.1/y", Err("plain HTTP"));
        check_hop("https://a.test/v2/x", "file:///etc/passwd", Err("scheme file"));
        check_hop("https://a.test/v2/x", "https://u:p@b.test/y", Err("user info"));
        check_hop("https://a.test/v2/x", "https://[", Err("invalid address"));
    }

    #[test]
    fn content_of_a_known_digest_may_leave_https_for_a_named_host() {
        check_content("https://a.test/v2/x", "http://plain.test/y", Ok("http://plain.test/y"));
        check_content("https://a.test/v2/x", "http://plain.test:81/y", Ok("http://plain.test:81/y"));
        check_content("https://a.test/v2/x", "http://half.test:5000/y", Ok("http://half.test:5000/y"));
        check_content("https://a.test/v2/x", "http://127.0.0.1:9000/y", Ok("http://127.0.0.1:9000/y"));
        check_content("https://a.test/v2/x", "http://half.test/y", Err("from HTTPS to plain HTTP on half.test"));
        check_content("https://a.test/v2/x", "http://half.test:5001/y", Err("from HTTPS to plain HTTP"));
        check_content("https://a.test/v2/x", "http://a.test/y", Err("from HTTPS to plain HTTP on a.test"));
        check_content("https://a.test/v2/x", "http://b.test/y", Err("from HTTPS to plain HTTP on b.test"));
        check_content("https://a.test/v2/x", "http://x.plain.test/y", Err("from HTTPS to plain HTTP"));
        check_content("https://a.test/v2/x", "http://u:p@plain.test/y", Err("user info"));
        check_hop("https://a.test/v2/x", "http://plain.test/y", Err("from HTTPS to plain HTTP on plain.test"));
    }

    #[test]
    fn no_redirect_makes_a_user_name_the_registrys_own_host_for_plain_http() {
        let check = |began: &str, from: &str, location: &str, want: AccessFault| {
            let rule = PlainRule { began: &url(began), named: &NamedHosts::new(&[]), from_https: FromHttps::ToNamed };
            let detour = next_hop(&url(from), location, &rule).expect_err("nothing is named");
            assert_eq!(detour.fault, Some(want), "{began}, {from} -> {location}");
        };
        let (registry, other) = ("https://a.test/v2/x", "https://b.test/y");
        check(registry, registry, "http://b.test/y", AccessFault::RedirectUnnamed);
        check(registry, registry, "http://a.test/y", AccessFault::RedirectDowngrade);
        check(registry, registry, "http://A.TEST.:8080/y", AccessFault::RedirectDowngrade);
        check(registry, other, "http://a.test/y", AccessFault::RedirectDowngrade);
        check(registry, other, "http://b.test/z", AccessFault::RedirectUnnamed);
    }

    #[test]
    fn a_request_that_left_https_goes_on_to_named_hosts_alone() {
        let named = NamedHosts::new(&["half.test:5000".to_owned(), "127.0.0.1:9000".to_owned()]);
        let began = url("https://a.test/v2/x");
        let rule = PlainRule { began: &began, named: &named, from_https: FromHttps::ToNamed };
        check_hop_by("http://half.test:5000/y", "/z", &rule, Ok("http://half.test:5000/z"));
        check_hop_by("http://half.test:5000/y", "http://half.test:5001/z", &rule, Err("from HTTPS"));
        check_hop_by("http://127.0.0.1:9000/y", "http://localhost:1/z", &rule, Err("from HTTPS"));
        check_hop_by("http://half.test:5000/y", "https://b.test/z", &rule, Ok("https://b.test/z"));
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
        assert_eq!(
            upload_location(&url(from), location, &NamedHosts::new(&["b.test".to_owned()]))
                .ok()
                .as_ref()
                .map(Url::as_str),
            want
        );
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
}
