//! Through which proxy a request goes, by the variables of the environment. Pure.
//!
//! `HTTPS_PROXY`, `HTTP_PROXY` and `NO_PROXY` mean what they mean to programs in Go, so that OpenTofu goes the same way.
//! `ALL_PROXY` counts where the other two name none.

use std::net::IpAddr;

use ipnet::{IpNet, Ipv4Net};
use url::{Host, Url};

use crate::redirect::is_loopback;

/// What proxies can be. A SOCKS proxy looks up the names itself, whichever of its two spellings is used.
const SCHEMES: [(&str, &str); 4] =
    [("http", "http"), ("https", "https"), ("socks5", "socks5h"), ("socks5h", "socks5h")];

/// Where SOCKS proxies listen if nothing else is said.
const SOCKS_PORT: u16 = 1080;

/// A variable, and the address of its proxy or what is wrong with its value.
type NamedProxy = (&'static str, Result<Box<Url>, String>);

/// The proxies that the environment names.
#[derive(Clone, Default, PartialEq, Eq)]
pub struct EnvironmentProxies {
    https: Option<NamedProxy>,
    http: Option<NamedProxy>,
    /// Who is reached without them.
    direct: String,
}

impl EnvironmentProxies {
    /// Those of the variables that this gives.
    pub fn read(variable: impl Fn(&str) -> Option<String>) -> Self {
        let first = |names: &[&'static str]| {
            names.iter().find_map(|name| Some((*name, variable(name).filter(|value| !value.is_empty())?)))
        };
        let proxy = |names: &[&'static str]| first(names).map(|(name, value)| (name, address(&value)));
        let all = || proxy(&["ALL_PROXY", "all_proxy"]);
        // A program that a web server starts gets a header `Proxy` of a request as `HTTP_PROXY`.
        let is_cgi = variable("REQUEST_METHOD").is_some();
        let of_http: &[&str] = if is_cgi { &["http_proxy"] } else { &["HTTP_PROXY", "http_proxy"] };
        Self {
            https: proxy(&["HTTPS_PROXY", "https_proxy"]).or_else(all),
            http: proxy(of_http).or_else(all),
            direct: first(&["NO_PROXY", "no_proxy"]).map(|(_, list)| list).unwrap_or_default(),
        }
    }

    /// The variable that names the proxy for HTTPS requests to `HOST[:PORT]`; none if they go there directly, as those to
    /// this machine always do.
    pub fn variable_for(&self, host: &str) -> Option<&'static str> {
        let url = Url::parse(&format!("https://{host}/")).ok()?;
        self.named_for(&url).map(|(variable, _)| *variable)
    }

    /// The proxy for requests to an address.
    pub(crate) fn proxy_for(&self, url: &Url) -> Option<Url> {
        let mut proxy = Url::clone(self.named_for(url)?.1.as_ref().ok()?);
        let (_, scheme) = SCHEMES.iter().find(|(scheme, _)| *scheme == proxy.scheme())?;
        if scheme.starts_with("socks") && proxy.port().is_none() {
            proxy.set_port(Some(SOCKS_PORT)).ok()?;
        }
        proxy.set_scheme(scheme).ok()?;
        Some(proxy)
    }

    /// Why requests to an address cannot be sent: the proxy for them cannot be used. Then they do not go without it.
    pub(crate) fn unsupported_for(&self, url: &Url) -> Option<String> {
        let (variable, proxy) = self.named_for(url)?;
        proxy.as_ref().err().map(|problem| format!("{variable} names {problem}"))
    }

    fn named_for(&self, url: &Url) -> Option<&NamedProxy> {
        let named = if url.scheme() == "https" { &self.https } else { &self.http };
        named.as_ref().filter(|_| !is_loopback(url) && !self.is_direct(url))
    }

    fn is_direct(&self, url: &Url) -> bool {
        let Some(host) = url.host() else { return false };
        let port = url.port_or_known_default().unwrap_or_default().to_string();
        let mut entries = self.direct.split(',').map(|entry| entry.trim().to_lowercase());
        entries.any(|entry| entry == "*" || is_listed(&entry, &host, &port))
    }
}

/// The address of a proxy, or what its variable names in place of one; `http` is meant if it says no scheme. The value may hold
/// a password.
fn address(value: &str) -> Result<Box<Url>, String> {
    let is_whole = value.contains("://");
    let proxy = if is_whole { Url::parse(value) } else { Url::parse(&format!("http://{value}")) };
    let proxy = proxy.ok().filter(|proxy| proxy.has_host() && proxy.port() != Some(0));
    let proxy = proxy.ok_or("no usable proxy: write http://HOST:PORT or socks5://HOST:PORT")?;
    if SCHEMES.iter().any(|(scheme, _)| *scheme == proxy.scheme()) {
        return Ok(Box::new(proxy));
    }
    Err(format!("a proxy of the kind {}, which is not supported: http, https and socks5 are", proxy.scheme()))
}

/// Whether an entry of `NO_PROXY` means a host: `NAME` it and all names below it, `.NAME` and `*.NAME` those below it, an IP
/// address that one, `ADDRESS/BITS` a network. A port after a colon limits it to that port.
fn is_listed(entry: &str, host: &Host<&str>, port: &str) -> bool {
    let address = match host {
        Host::Ipv4(address) => Some(IpAddr::V4(*address)),
        Host::Ipv6(address) => Some(IpAddr::V6(*address).to_canonical()),
        Host::Domain(_) => None,
    };
    if let Ok(network) = entry.parse::<IpNet>() {
        let network = match network {
            IpNet::V6(mapped) if mapped.prefix_len() >= 96 => mapped
                .addr()
                .to_ipv4_mapped()
                .map_or(network, |address| Ipv4Net::new(address, mapped.prefix_len() - 96).map_or(network, IpNet::V4)),
            _ => network,
        };
        return address.is_some_and(|address| network.contains(&address));
    }
    let bracketed = entry.strip_prefix('[').and_then(|entry| entry.split_once("]:"));
    let (name, of_port) =
        bracketed.or_else(|| entry.split_once(':').filter(|(_, port)| !port.contains(':'))).unwrap_or((entry, ""));
    if name.is_empty() || !(of_port.is_empty() || of_port == port) {
        return false;
    }
    if let Ok(listed) = name.parse::<IpAddr>() {
        return address == Some(listed.to_canonical());
    }
    let name = if name.is_ascii() {
        name.to_owned()
    } else {
        Host::parse(name).map_or_else(|_| name.to_owned(), |host| host.to_string())
    };
    let (below, itself) = match name.strip_prefix('*').filter(|rest| rest.starts_with('.')).unwrap_or(&name) {
        below if below.starts_with('.') => (below.to_owned(), None),
        itself => (format!(".{itself}"), Some(itself)),
    };
    let host = host.to_string();
    address.is_none() && (host.ends_with(&below) || itself == Some(&host))
}

#[cfg(test)]
mod tests {
    use super::*;

    const PROXY: (&str, &str) = ("HTTPS_PROXY", "http://ada:secret@proxy.example:3128");

    fn proxies(set: &[(&str, &str)]) -> EnvironmentProxies {
        EnvironmentProxies::read(|wanted| {
            set.iter().find(|(name, _)| *name == wanted).map(|(_, value)| (*value).to_owned())
        })
    }

    fn url(text: &str) -> Url {
        Url::parse(text).unwrap()
    }

    #[track_caller]
    fn check(direct: &str, past: &[&str], through: &[&str]) {
        let proxies = proxies(&[PROXY, ("HTTP_PROXY", "proxy.example:80"), ("NO_PROXY", direct)]);
        for (hosts, want) in [(past, None), (through, Some("HTTPS_PROXY"))] {
            for host in hosts {
                assert_eq!(proxies.variable_for(host), want, "{direct}: {host}");
            }
        }
    }

    #[test]
    fn an_entry_of_no_proxy_with_a_star_or_a_port_had_no_effect() {
        check("*.corp.example", &["reg.corp.example", "a.b.corp.example"], &["corp.example", "xcorp.example"]);
        check("reg.corp.example:5000", &["reg.corp.example:5000", "x.reg.corp.example:5000"], &["reg.corp.example"]);
        check("*.corp.example:443", &["reg.corp.example"], &["reg.corp.example:5000", "corp.example"]);
        check("*", &["10.255.0.5", "ghcr.io", "[2001:db8::1]"], &[]);
        check("10.0.0.5:5000", &["10.0.0.5:5000"], &["10.0.0.5"]);
        check("[2001:db8::1]:5000, 2001:db8::2", &["[2001:db8::1]:5000", "[2001:db8::2]"], &["[2001:db8::1]"]);
    }

    #[test]
    fn the_other_entries_of_no_proxy_mean_what_they_mean_to_go() {
        check(
            "corp.example",
            &["corp.example", "reg.corp.example", "corp.example:5000"],
            &["xcorp.example", "example"],
        );
        check(".corp.example", &["reg.corp.example"], &["corp.example"]);
        check("10.0.0.0/8, fd00::/8", &["10.9.8.7:5000", "[fd12::1]"], &["11.0.0.1", "[fe12::1]", "10.example"]);
        check("10.0.0.5", &["10.0.0.5", "[::ffff:10.0.0.5]"], &["10.0.0.6"]);
        check(" Corp.Example ,, :443, *x", &["corp.example"], &["ghcr.io"]);
        check("münchen.example", &["reg.xn--mnchen-3ya.example"], &["muenchen.example"]);
        check(".2.3, [fd00::1], ::ffff:10.0.0.0/104", &["10.9.2.3"], &["11.1.2.3", "[fd00::1]"]);
        check("", &["localhost", "127.0.0.1", "[::1]:5000"], &["ghcr.io"]);
    }

    #[test]
    fn the_first_variable_that_is_not_empty_names_the_proxy() {
        let of = |set: &[(&str, &str)], to: &str| proxies(set).proxy_for(&url(to)).map(|proxy| proxy.to_string());
        let (https, http) = ("https://r.example/", "http://r.example/");
        assert_eq!(of(&[("HTTPS_PROXY", ""), ("https_proxy", "p:3128")], https).unwrap(), "http://p:3128/");
        assert_eq!(of(&[("HTTPS_PROXY", "p")], http), None);
        assert_eq!(of(&[("HTTPS_PROXY", "a"), ("all_proxy", "b")], http).unwrap(), "http://b/");
        assert_eq!(of(&[("HTTP_PROXY", "p"), ("REQUEST_METHOD", "GET")], http), None);
        assert_eq!(of(&[("HTTPS_PROXY", "a:b@p:1")], https).unwrap(), "http://a:b@p:1/");
    }

    #[test]
    fn a_socks_proxy_was_tried_five_times_and_never_used() {
        let of = |value| proxies(&[("ALL_PROXY", value)]);
        let to = url("https://r.example/");
        assert_eq!(of("socks5://ada:x@p").proxy_for(&to).unwrap().as_str(), "socks5h://ada:x@p:1080");
        assert_eq!(of("socks5h://p:9").proxy_for(&to).unwrap().as_str(), "socks5h://p:9");
        assert_eq!(of("socks5://p").unsupported_for(&to), None);
        assert_eq!(
            of("ftp://ada:secret@p").unsupported_for(&to).unwrap(),
            "ALL_PROXY names a proxy of the kind ftp, which is not supported: http, https and socks5 are"
        );
        assert_eq!(of("ftp://p").unsupported_for(&url("https://localhost/")), None);
    }

    #[test]
    fn requests_went_without_the_proxy_if_it_could_not_be_used() {
        let to = url("https://r.example/");
        for value in ["socks5:///x", "http://", "http://p:99999", ":0", "p:0", "ada:secret@", "no address", "p\u{fffd}"]
        {
            let proxies = proxies(&[("HTTPS_PROXY", value), ("ALL_PROXY", "other")]);
            assert_eq!(
                proxies.unsupported_for(&to).as_deref(),
                Some("HTTPS_PROXY names no usable proxy: write http://HOST:PORT or socks5://HOST:PORT"),
                "{value}"
            );
            assert_eq!((proxies.proxy_for(&to), proxies.variable_for("r.example")), (None, Some("HTTPS_PROXY")));
        }
        let past = proxies(&[("HTTPS_PROXY", ":0"), ("NO_PROXY", "r.example")]);
        assert_eq!((past.unsupported_for(&to), past.variable_for("r.example")), (None, None));
    }
}
