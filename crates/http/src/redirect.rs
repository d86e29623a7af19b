//! Redirects: which address a request may go to next, and how long an address in an answer may be. Pure.
//!
//! Which host sees credentials then is decided where requests are made: in `client.rs`, and in `remote/src/transport.rs`.

use tofu_oci_types::RegistryHost;
use url::Url;

use crate::clean::host_of;
use crate::named_hosts::{NamedHosts, same_host};

/// Most redirects that one request follows.
pub const MAX_REDIRECTS: usize = 10;

/// The longest address that an answer may name, in bytes: signed ones of object stores have 2 to 4 KiB. The time to read one
/// grows with the square of its length.
const LONGEST_LOCATION: usize = 16 << 10;

/// Whether the host is this machine by its name or address: `localhost`, `127.0.0.0/8`, `[::1]`.
pub fn is_loopback(url: &Url) -> bool {
    RegistryHost::of_url(url).is_some_and(|host| host.is_loopback())
}

/// Whether scheme, host and port are the same.
pub fn same_origin(one: &Url, other: &Url) -> bool {
    one.origin() == other.origin()
}

/// Why a redirect is not followed.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum RedirectFault {
    #[error("it names an invalid address")]
    InvalidAddress,
    #[error("it names an address of more than {} KiB", LONGEST_LOCATION >> 10)]
    TooLong,
    #[error("it names an address of the scheme {0}")]
    Scheme(String),
    #[error("it names an address on {0} with a user info")]
    UserInfo(String),
    /// It leads from HTTPS to plain HTTP on this host. Naming the host would not help, or would not be safe.
    #[error("it leads from HTTPS to plain HTTP on {0}")]
    Downgrade(String),
    #[error("it leads from HTTPS to plain HTTP on {0}")]
    UnnamedDowngrade(String),
    #[error("it leads to plain HTTP on {0}")]
    UnnamedHost(String),
    #[error("it leads to {0}, on this machine or in a private network, from a host elsewhere")]
    PrivateHost(String),
    #[error("it redirects more than {MAX_REDIRECTS} times")]
    TooMany,
}

/// What protects an answer from being changed on its way.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Protection {
    Tls,
    /// A digest that was known before: the answer is compared with it.
    Digest,
}

/// Where a request may be sent over plain HTTP.
#[derive(Clone, Copy)]
pub struct PlainRule<'a> {
    /// The address of the first request.
    pub began: &'a Url,
    /// Hosts that the user names for plain HTTP.
    pub named: &'a NamedHosts,
    /// What protects the answer. A request that began over HTTPS may continue over plain HTTP on a named host if a
    /// digest protects its answer.
    pub protection: Protection,
}

/// The address that a text of an answer names: relative to the address that answered, or a whole one if that is `None`. No
/// other rule of redirects is applied.
///
/// # Errors
/// If the text is not an address, or is too long.
pub fn named_address<'a>(from: impl Into<Option<&'a Url>>, text: &str) -> Result<Url, RedirectFault> {
    if text.len() > LONGEST_LOCATION {
        return Err(RedirectFault::TooLong);
    }
    Url::options().base_url(from.into()).parse(text).map_err(|_| RedirectFault::InvalidAddress)
}

/// The address that a redirect names. `from` is the request that was answered with it.
///
/// # Errors
/// The reason if a rule forbids the address: a scheme other than HTTP; a user info; plain HTTP after HTTPS, unless a
/// digest protects the answer and the user names the host; plain HTTP on another host, unless both hosts are on this
/// machine or the user names it.
pub fn next_hop(from: &Url, location: &str, rule: &PlainRule<'_>) -> Result<Url, RedirectFault> {
    let to = named_address(from, location)?;
    if !matches!(to.scheme(), "http" | "https") || to.host().is_none() {
        return Err(RedirectFault::Scheme(to.scheme().to_owned()));
    }
    if !to.username().is_empty() || to.password().is_some() {
        return Err(RedirectFault::UserInfo(host_of(&to)));
    }
    if to.scheme() == "https" {
        return Ok(to);
    }
    let is_named = rule.named.contain(&to);
    if from.scheme() == "https" || rule.began.scheme() == "https" {
        return match rule.protection {
            Protection::Digest if is_named => Ok(to),
            // A user who names the registry's own host speaks plain HTTP with the registry itself, login included.
            Protection::Digest if !same_host(&to, rule.began) => Err(RedirectFault::UnnamedDowngrade(host_of(&to))),
            Protection::Digest | Protection::Tls => Err(RedirectFault::Downgrade(host_of(&to))),
        };
    }
    if is_named || from.host() == to.host() || is_loopback(from) && is_loopback(&to) {
        return Ok(to);
    }
    Err(RedirectFault::UnnamedHost(host_of(&to)))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn url(text: &str) -> Url {
        Url::parse(text).expect("a test address")
    }

    #[track_caller]
    fn check_hop(from: &str, location: &str, want: Result<&str, &str>) {
        check_rule(from, Protection::Tls, location, want);
    }

    #[track_caller]
    fn check_content(from: &str, location: &str, want: Result<&str, &str>) {
        check_rule(from, Protection::Digest, location, want);
    }

    #[track_caller]
    fn check_rule(from: &str, protection: Protection, location: &str, want: Result<&str, &str>) {
        let named = NamedHosts::new(&["plain.test".to_owned(), "half.test:5000".to_owned(), "127.0.0.1".to_owned()]);
        let rule = PlainRule { began: &url(from), named: &named, protection };
        check_hop_by(from, location, &rule, want);
    }

    #[track_caller]
    fn check_hop_by(from: &str, location: &str, rule: &PlainRule<'_>, want: Result<&str, &str>) {
        match (next_hop(&url(from), location, rule), want) {
            (Ok(to), Ok(want)) => assert_eq!(to.as_str(), want),
            (Err(fault), Err(want)) => assert!(fault.to_string().contains(want), "{fault:?}"),
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

    /// Ten of 60 000 bytes took seconds.
    #[test]
    fn a_redirect_to_an_address_of_many_kilobytes_kept_a_run_busy() {
        let of = |bytes: usize| format!("/{}", "a".repeat(bytes - 1));
        let longest = format!("https://a.test{}", of(LONGEST_LOCATION));
        check_hop("https://a.test/v2/x", &of(LONGEST_LOCATION), Ok(&longest));
        check_hop("https://a.test/v2/x", &of(LONGEST_LOCATION + 1), Err("an address of more than 16 KiB"));
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
        let check = |began: &str, from: &str, location: &str, want: RedirectFault| {
            let rule = PlainRule { began: &url(began), named: &NamedHosts::new(&[]), protection: Protection::Digest };
            let fault = next_hop(&url(from), location, &rule).expect_err("no host is named");
            assert_eq!(fault, want, "{began}, {from} -> {location}");
        };
        let (registry, other) = ("https://a.test/v2/x", "https://b.test/y");
        check(registry, registry, "http://b.test/y", RedirectFault::UnnamedDowngrade("b.test".to_owned()));
        check(registry, registry, "http://a.test/y", RedirectFault::Downgrade("a.test".to_owned()));
        check(registry, registry, "http://A.TEST.:8080/y", RedirectFault::Downgrade("a.test.:8080".to_owned()));
        check(registry, other, "http://a.test/y", RedirectFault::Downgrade("a.test".to_owned()));
        check(registry, other, "http://b.test/z", RedirectFault::UnnamedDowngrade("b.test".to_owned()));
    }

    #[test]
    fn a_request_that_left_https_goes_on_to_named_hosts_alone() {
        let named = NamedHosts::new(&["half.test:5000".to_owned(), "127.0.0.1:9000".to_owned()]);
        let began = url("https://a.test/v2/x");
        let rule = PlainRule { began: &began, named: &named, protection: Protection::Digest };
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
}
