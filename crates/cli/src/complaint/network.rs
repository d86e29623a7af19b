//! Connections that did not come about, or broke.

use std::time::{Duration, SystemTime};

use tofu_oci_store::NetworkFault;

use super::Complaint;
use crate::again;
use crate::exit::Exit;

impl Complaint {
    /// The same with the advice that fits what kept this machine and the place from talking.
    pub(crate) fn network(self, place: &str, fault: NetworkFault, problem: &str) -> Self {
        let host = registry(place);
        let name = host.rsplit_once(':').map_or(host, |(name, _)| name);
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
                let more = again::more_time().map(|option| format!(", or allow it more time with {option}"));
                let more = more.unwrap_or_default();
                self.hint(format!(
                    "the registry, or the way to it, is too slow just now: run the same command again{more}"
                ))
            }
            NetworkFault::Lost => {
                let text = format!("the connection to {place} broke: {problem}");
                let hint = "run the same command again: what has arrived is not sent again";
                Self { unasked: true, ..Self::new(Exit::Unexpected, text).hint(hint) }
            }
            NetworkFault::PrivateAddress => {
                self.hint(format!("if that is meant, allow it with --private-host {host}"))
            }
            _ if is_bare(host) => self.hint(format!(
                "`{host}` was taken for a host name; write HOST/NAME, such as ghcr.io/acme/opentofu-provider-widget"
            )),
            NetworkFault::Refused | NetworkFault::NoRoute | NetworkFault::Dns => self
                .hint("check the host name and the network; a registry that speaks plain HTTP needs --plain-http HOST"),
            _ => self.hint("check the host name and the network, and run the same command again"),
        }
    }
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

/// The host of a place such as `ghcr.io/acme/widget`.
fn registry(place: &str) -> &str {
    place.split('/').next().unwrap_or(place)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(fault: NetworkFault, problem: &str, want: &str) {
        let complaint =
            Complaint::new(Exit::Unexpected, "no connection").network("r.example/acme/widget", fault, problem);
        assert!(complaint.hints()[0].contains(want), "{:?}", complaint.hints());
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
}
