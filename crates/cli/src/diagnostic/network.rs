//! Connections that did not come about, or broke.

use std::net::IpAddr;
use std::time::{Duration, SystemTime};

use tofu_oci_types::{NetworkFault, Place, ProviderAddr};

use super::Diagnostic;
use crate::exit::Exit;
use crate::invocation;

impl Diagnostic {
    /// The same with the advice that fits what kept this machine and the place from talking.
    pub(crate) fn network(self, place: &Place, fault: NetworkFault, problem: &str) -> Self {
        let host = &registry(place);
        let name = host.rsplit_once(':').map_or(host.as_str(), |(name, _)| name);
        if let Some(hint) = certificate_time(fault) {
            return self.hint(hint);
        }
        match fault {
            NetworkFault::CertificateOfAnother => self.hint(format!(
                "its certificate is for another host than {name}: name the registry as the certificate does, or ask its \
                 operator for a certificate that names {name}"
            )),
            NetworkFault::Certificate => self.hint("trust a private certificate authority with --ca-file FILE"),
            NetworkFault::NotHttp => self.hint("another service listens there; check the host name and the port"),
            NetworkFault::NotTls => self.hint(format!(
                "it does not speak TLS; if it is a registry that speaks plain HTTP, allow that with --plain-http {host}"
            )),
            NetworkFault::Tls => self.hint(
                "it answers and the two cannot agree on TLS; check the host name and the port, and whether a proxy stands \
                 between",
            ),
            NetworkFault::TimedOut => {
                let more = invocation::more_time().map(|option| format!(", or allow it more time with {option}"));
                let more = more.unwrap_or_default();
                self.hint(format!(
                    "the registry, or the way to it, is too slow just now: run the same command again{more}"
                ))
            }
            NetworkFault::Lost => {
                let text = format!("the connection to {place} broke: {problem}");
                let hint = match invocation::verb() {
                    "push" | "copy" | "mirror" | "bundle load" | "module push" | "module mirror" => {
                        "run the same command again: what has arrived whole is not sent again"
                    }
                    _ => "run the same command again, or have it tried more often with --attempts N",
                };
                Self { unasked: true, ..Self::new(Exit::Unexpected, text).code(fault.code()).hint(hint) }
            }
            NetworkFault::PrivateAddress => {
                self.hint(format!("if that is meant, allow it with --private-host {host}"))
            }
            _ if is_bare(host) => self.hint(format!(
                "`{host}` was taken for a host name; write HOST/NAME, such as ghcr.io/acme/{}",
                if invocation::is_about_modules() { "network" } else { "opentofu-provider-widget" }
            )),
            NetworkFault::Refused if is_loopback(name) => {
                self.hint("check the port, and that a registry listens there on this machine")
            }
            NetworkFault::Refused | NetworkFault::NoRoute => self.hint(format!(
                "check the host name and the network; a registry that speaks plain HTTP needs --plain-http {host}"
            )),
            NetworkFault::Dns => self.hint("check the host name and the network"),
            _ => self.hint("check the host name and the network, and run the same command again"),
        }
        .proxy_hint(name, fault)
    }

    /// The same, and what to type if the place was meant as the address of a provider: the two look alike.
    pub(crate) fn if_address(self, place: &Place, fault: NetworkFault) -> Self {
        let name = place.to_string();
        let (Some(word), NetworkFault::Dns) = (invocation::word_with(&name), fault) else { return self };
        if name.parse::<ProviderAddr>().is_err() {
            return self;
        }
        match word.strip_prefix(&format!("{name}:")) {
            Some(version) if invocation::verb() == "verify" => {
                self.hint(format!("write a provider's version after an @: {name}@{version}"))
            }
            _ if invocation::verb() == "versions" => self,
            _ => {
                let resolve = invocation::command(&format!("resolve {name}"));
                self.hint(format!("if {name} is a provider's address, `{resolve}` says which repository has it"))
            }
        }
    }

    /// The same, and that a proxy may be what did not answer, if the environment has one for the host. The variable
    /// alone is named: its value may hold a password.
    fn proxy_hint(self, name: &str, fault: NetworkFault) -> Self {
        use NetworkFault::{Dns, NoRoute, Refused, TimedOut};
        if !matches!(fault, Refused | NoRoute | Dns | TimedOut) {
            return self;
        }
        match proxy_variable(name, |variable| std::env::var(variable).ok()) {
            Some(variable) => self.hint(format!(
                "{variable} names a proxy, and requests to {name} go through it: check the proxy; NO_PROXY={name} goes \
                 around it"
            )),
            None => self,
        }
    }
}

/// The variable that names the proxy for HTTPS requests to a host; none if there is no such proxy or `NO_PROXY` lists
/// the host. Hosts of this machine are always reached directly.
fn proxy_variable(name: &str, variable: impl Fn(&str) -> Option<String>) -> Option<&'static str> {
    let value = |name: &str| variable(name).filter(|value| !value.is_empty());
    let direct = ["NO_PROXY", "no_proxy"].iter().find_map(|variable| value(variable)).unwrap_or_default();
    let listed = |entry: &str| {
        let domain = entry.trim().trim_start_matches('.');
        domain == "*" || domain == name || (!domain.is_empty() && name.ends_with(&format!(".{domain}")))
    };
    if is_loopback(name) || direct.split(',').any(listed) {
        return None;
    }
    ["HTTPS_PROXY", "https_proxy", "ALL_PROXY", "all_proxy"].into_iter().find(|variable| value(variable).is_some())
}

/// Whether a host without its port is this machine.
fn is_loopback(name: &str) -> bool {
    let address = name.trim_start_matches('[').trim_end_matches(']');
    name == "localhost" || address.parse::<IpAddr>().is_ok_and(|address| address.is_loopback())
}

/// When a certificate is valid and what the clock says, if that is what is wrong.
pub(super) fn certificate_time(fault: NetworkFault) -> Option<String> {
    let date = |seconds: u64| {
        let time = SystemTime::UNIX_EPOCH + Duration::from_secs(seconds);
        httpdate::fmt_http_date(time)
    };
    let (valid, now) = match fault {
        NetworkFault::CertificateExpired { not_after, now } => {
            (not_after.map_or("has expired".to_owned(), |end| format!("was valid until {}", date(end))), now)
        }
        NetworkFault::CertificateNotYetValid { not_before, now } => {
            (not_before.map_or("is not valid yet".to_owned(), |start| format!("is valid from {} on", date(start))), now)
        }
        _ => return None,
    };
    let now = date(now);
    Some(format!(
        "its certificate {valid}, and this machine's clock says {now}: set the clock if it is wrong, else ask the \
         operator for a new certificate"
    ))
}

/// Whether a host is a single word, as the first part of `acme/widget` is.
fn is_bare(host: &str) -> bool {
    host != "localhost" && !host.contains(['.', ':'])
}

/// The host of a place.
fn registry(place: &Place) -> String {
    place.repository().map_or_else(|| place.to_string(), |repository| repository.registry().to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(fault: NetworkFault, problem: &str, want: &str) {
        let diagnostic = Diagnostic::new(Exit::Unexpected, "no connection").network(
            &"r.example/acme/widget".parse().unwrap(),
            fault,
            problem,
        );
        assert!(diagnostic.hints()[0].contains(want), "{:?}", diagnostic.hints());
    }

    #[test]
    fn the_kind_of_fault_decides_the_hint_and_no_word_of_the_text() {
        check(NetworkFault::Certificate, "it is not trusted", "--ca-file FILE");
        check(NetworkFault::Tls, "received fatal alert: bad certificate", "cannot agree on TLS");
        check(NetworkFault::Dns, "certificate.example is not known", "check the host name");
        let expired = NetworkFault::CertificateExpired { not_after: Some(0), now: 86400 };
        check(expired, "", "was valid until Thu, 01 Jan 1970 00:00:00 GMT");
        check(NetworkFault::CertificateNotYetValid { not_before: None, now: 0 }, "", "is not valid yet");
        check(NetworkFault::CertificateOfAnother, "", "its certificate is for another host than r.example: name");
    }

    #[test]
    fn a_proxy_that_does_not_answer_is_named() {
        let variable = |name: &str, set: &[(&str, &str)]| {
            proxy_variable(name, |wanted| {
                set.iter().find(|(name, _)| *name == wanted).map(|(_, value)| (*value).to_owned())
            })
        };
        let proxy = ("HTTPS_PROXY", "http://ada:secret@proxy.example:3128");
        assert_eq!(variable("ghcr.io", &[proxy]), Some("HTTPS_PROXY"));
        assert_eq!(variable("ghcr.io", &[("all_proxy", "socks5://p")]), Some("all_proxy"));
        assert_eq!(variable("ghcr.io", &[("HTTPS_PROXY", "")]), None);
        assert_eq!(variable("ghcr.io", &[]), None);
        for direct in ["ghcr.io", ".ghcr.io", "a.example, *", "io"] {
            assert_eq!(variable("ghcr.io", &[proxy, ("NO_PROXY", direct)]), None, "{direct}");
        }
        assert_eq!(variable("ghcr.io", &[proxy, ("NO_PROXY", "cr.io")]), Some("HTTPS_PROXY"));
        assert_eq!(variable("127.0.0.1", &[proxy]), None, "this machine is reached directly");
        assert_eq!(variable("[::1]", &[proxy]), None);
    }
}
