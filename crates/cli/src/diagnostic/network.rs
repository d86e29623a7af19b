//! Connections that did not come about, or broke.

use std::ffi::OsStr;
use std::path::Path;
use std::time::{Duration, SystemTime};

use tofu_oci_types::{NetworkFault, Place, ProviderAddr};

use super::Diagnostic;
use crate::exit::Exit;
use crate::invocation;
use crate::proxies;

impl Diagnostic {
    /// The same with the advice that fits what kept this machine and the place from talking.
    pub(crate) fn network(self, place: &Place, fault: NetworkFault, problem: &str) -> Self {
        let host = &registry(place);
        let name = host.rsplit_once(':').map_or(host.as_str(), |(name, _)| name);
        if let Some(hint) = hint_of(fault) {
            return self.hint(hint);
        }
        match fault {
            NetworkFault::CertificateOfAnother => self.hint(format!(
                "its certificate is for another host than {name}: name the registry as the certificate does, or ask its \
                 operator for a certificate that names {name}"
            )),
            NetworkFault::Certificate => match missing_certificates() {
                Some(hint) => self.hint(hint),
                None if invocation::says("ca-file") => self.hint(
                    "neither --ca-file nor the system has the authority that signed it, nor the certificate itself; its \
                     operator says which authority that is",
                ),
                None => self.hint("trust a private certificate authority with --ca-file FILE"),
            },
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
        .proxy_hint(host, name, fault)
    }

    /// The same, and what to type if the place was meant as the address of a provider: the two look alike.
    pub(crate) fn if_address(self, place: &Place, fault: NetworkFault) -> Self {
        let name = place.to_string();
        let (Some(word), NetworkFault::Dns) = (invocation::word_where(|word| word.starts_with(&name)), fault) else {
            return self;
        };
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
    fn proxy_hint(self, host: &str, name: &str, fault: NetworkFault) -> Self {
        use NetworkFault::{Dns, NoRoute, Refused, TimedOut};
        if !matches!(fault, Refused | NoRoute | Dns | TimedOut) {
            return self;
        }
        self.more_hints(proxies::by_environment().variable_for(host).map(|variable| {
            format!(
                "{variable} names a proxy, and requests to {name} go through it: check the proxy; NO_PROXY={name} goes \
                 around it"
            )
        }))
    }
}

/// Most bytes of a file of certificates.
const CERTIFICATES_LIMIT: u64 = 16 << 20;

/// Whether a host without its port is this machine.
fn is_loopback(name: &str) -> bool {
    let address = name.trim_start_matches('[').trim_end_matches(']');
    name == "localhost" || address.parse::<std::net::IpAddr>().is_ok_and(|address| address.is_loopback())
}

/// The variable of the system's certificates that leads to none, so that no certificate of the system is trusted.
fn missing_certificates() -> Option<String> {
    let problem_of = |variable: &str, value: &OsStr| {
        let problem = if !std::env::split_paths(value).any(|path| path.exists()) {
            "is not there"
        } else if variable == "SSL_CERT_FILE" && !holds_pem(Path::new(value)) {
            "is not a file with PEM certificates"
        } else {
            return None;
        };
        Some(format!("{variable} names {}, which {problem}: correct it, or unset it", value.to_string_lossy()))
    };
    let set = ["SSL_CERT_FILE", "SSL_CERT_DIR"].into_iter().filter_map(|name| Some((name, std::env::var_os(name)?)));
    let problems: Option<Vec<String>> = set.map(|(variable, value)| problem_of(variable, &value)).collect();
    problems?.into_iter().next()
}

fn holds_pem(file: &Path) -> bool {
    let bytes = tofu_oci_disk::read_file(file, CERTIFICATES_LIMIT).unwrap_or_default();
    bytes.windows(11).any(|word| word == b"-----BEGIN ")
}

/// What to do about a fault that is the same for every place.
pub(super) fn hint_of(fault: NetworkFault) -> Option<String> {
    match fault {
        NetworkFault::ClientCertificate if shows_certificate() => Some(
            "it does not accept the certificate of --client-cert: its operator says which authority must issue it"
                .to_owned(),
        ),
        NetworkFault::ClientCertificate => Some(
            "it wants a client certificate: name it with --client-cert FILE, and its key with --client-key FILE"
                .to_owned(),
        ),
        NetworkFault::Proxy => Some(
            "write the proxy with its login, as http://USER:PASSWORD@HOST:PORT or socks5://USER:PASSWORD@HOST:PORT"
                .to_owned(),
        ),
        fault => certificate_time(fault),
    }
}

fn shows_certificate() -> bool {
    invocation::says("client-cert") || std::env::var_os("TOFU_OCI_CLIENT_CERT").is_some()
}

/// When a certificate is valid and what the clock says, if that is what is wrong.
fn certificate_time(fault: NetworkFault) -> Option<String> {
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
        check(NetworkFault::ClientCertificate, "received fatal alert: CertificateRequired", "--client-cert FILE");
        check(NetworkFault::CertificateOfAnother, "", "its certificate is for another host than r.example: name");
    }
}
