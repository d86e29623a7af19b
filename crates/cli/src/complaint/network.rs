//! Connections that did not come about, or broke.

use std::time::{Duration, SystemTime};

use tofu_oci_store::NetworkFault;

use super::Complaint;
use crate::exit::Exit;

impl Complaint {
    /// The same with the advice that fits what kept this machine and the place from talking.
    pub(crate) fn network(self, place: &str, fault: NetworkFault, problem: &str) -> Self {
        let host = registry(place);
        let name = host.rsplit_once(':').map_or(host, |(name, _)| name);
        match fault {
            NetworkFault::CertificateExpired { .. } | NetworkFault::CertificateNotYetValid { .. } => {
                self.hint(certificate_time(fault).unwrap_or_default())
            }
            _ if problem.contains("not valid for name") => self.hint(format!(
                "its certificate is for another host than {name}: name the registry as the certificate does, or ask its \
                 operator for a certificate that names {name}"
            )),
            _ if problem.contains("certificate") => self.hint("trust a private certificate authority with --ca-file FILE"),
            NetworkFault::NotHttp => self.hint("another service listens there; check the host name and the port"),
            NetworkFault::NotTls => self.hint(format!(
                "it does not speak TLS; if it is a registry that speaks plain HTTP, allow that with --plain-http {host}"
            )),
            NetworkFault::Tls => self.hint(
                "it answers and the two cannot agree on TLS; check the host name and the port, and whether a proxy stands \
                 between",
            ),
            NetworkFault::TimedOut => self.hint(
                "the registry, or the way to it, is too slow just now: run the same command again, or allow it more time \
                 with --timeout 5m",
            ),
            NetworkFault::Lost => {
                let text = format!("the connection to {place} broke: {problem}");
                let hint = "run the same command again: what has arrived is not sent again";
                Self { unasked: true, ..Self::new(Exit::Unexpected, text).hint(hint) }
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
    fn check(problem: &str, want: &str) {
        let complaint = Complaint::usage("x").network("127.0.0.1:5000/acme/widget", NetworkFault::Tls, problem);
        assert_eq!(complaint.hints(), [want], "{problem}");
    }

    #[test]
    fn another_authority_does_not_mend_a_certificate_for_another_host() {
        check(
            "invalid peer certificate: certificate not valid for name \"127.0.0.1\"; certificate is only valid for \
             DnsName(\"other.example\")",
            "its certificate is for another host than 127.0.0.1: name the registry as the certificate does, or ask \
             its operator for a certificate that names 127.0.0.1",
        );
        check("invalid peer certificate: UnknownIssuer", "trust a private certificate authority with --ca-file FILE");
    }
}
