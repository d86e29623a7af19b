//! Faults of the network as values: the types of the libraries' errors distinguish them.

use std::error::Error;
use std::fmt;
use std::io;
use std::time::{Duration, SystemTime};

use rustls::{AlertDescription, CertificateError, InvalidMessage};
use tofu_oci_types::NetworkFault;

use crate::clean::clean;
use crate::limits::shown_time;
use crate::resolver::{LookupError, NearName};

/// A fault of the network, and a text that says what happened.
#[derive(Clone, Debug)]
pub struct NetworkProblem {
    /// What happened: one line, without the address.
    pub text: String,
    /// The kind of fault.
    pub fault: NetworkFault,
}

impl fmt::Display for NetworkProblem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text)
    }
}

impl NetworkProblem {
    /// A limit was reached, and only `what` happened until then.
    pub fn timed_out(what: &str, limit: Duration) -> Self {
        Self { text: format!("timed out: {what} for {}", shown_time(limit)), fault: NetworkFault::TimedOut }
    }

    /// The connection ended before the end of the answer.
    pub fn cut_off() -> Self {
        Self { text: "connection closed before the end of the answer".to_owned(), fault: NetworkFault::Lost }
    }

    /// The proxy answers 407.
    pub(crate) fn proxy_login() -> Self {
        let text = "the proxy wants a name and a password (status 407)";
        Self { text: text.to_owned(), fault: NetworkFault::Proxy }
    }

    /// A host that cannot be in an address.
    pub fn no_address(error: url::ParseError) -> Self {
        Self { text: error.to_string(), fault: NetworkFault::Dns }
    }

    /// What a library's error says. The operating system and the name service are quoted; a library is not, since its words
    /// are for programmers.
    pub(crate) fn of(error: reqwest::Error, now: SystemTime) -> Self {
        let error = error.without_url();
        if error.is_timeout() {
            let text = if error.is_connect() { "timed out: no connection came about" } else { "timed out" };
            return Self { text: text.to_owned(), fault: NetworkFault::TimedOut };
        }
        if let Some(tls) = find_cause::<rustls::Error>(&error) {
            return Self { text: tls_text(tls), fault: tls_fault(tls, now) };
        }
        if let Some(problem) = proxy_problem(&innermost(&error).to_string()) {
            return problem;
        }
        let fault = network_fault(&error);
        let text = match fault {
            NetworkFault::Lost => lost(&error).to_owned(),
            _ => clean(&innermost(&error).to_string()),
        };
        Self { text, fault }
    }
}

impl From<io::Error> for NetworkProblem {
    fn from(error: io::Error) -> Self {
        let fault = match error.kind() {
            io::ErrorKind::ConnectionRefused => NetworkFault::Refused,
            io::ErrorKind::TimedOut => NetworkFault::TimedOut,
            _ => NetworkFault::NoRoute,
        };
        Self { text: error.to_string(), fault }
    }
}

fn innermost<'a>(error: &'a (dyn Error + 'static)) -> &'a (dyn Error + 'static) {
    error.source().map_or(error, innermost)
}

/// What a proxy says to a connection. The library hides the types of these errors, so that their words must do.
fn proxy_problem(words: &str) -> Option<NetworkProblem> {
    if let Some(words) = words.strip_prefix("tunnel error: ") {
        return match words {
            "proxy authorization required" => Some(NetworkProblem::proxy_login()),
            "unsuccessful" => {
                let text = "the proxy makes no connection to it".to_owned();
                Some(NetworkProblem { text, fault: NetworkFault::NoRoute })
            }
            _ => None,
        };
    }
    let words = words.strip_prefix("SOCKS error: ")?;
    let (text, fault) = match words {
        "failed to create underlying connection" => {
            ("the SOCKS proxy is not reached".to_owned(), NetworkFault::NoRoute)
        }
        "credentials not accepted" | "server does not support user/pass authentication" => {
            ("the SOCKS proxy refuses this name and password, or demands some".to_owned(), NetworkFault::Proxy)
        }
        _ => (format!("the SOCKS proxy makes no connection to it: {}", clean(words)), NetworkFault::NoRoute),
    };
    Some(NetworkProblem { text, fault })
}

fn network_fault(error: &reqwest::Error) -> NetworkFault {
    if find_cause::<NearName>(error).is_some() {
        NetworkFault::PrivateAddress
    } else if is_refused(error) {
        NetworkFault::Refused
    } else if find_cause::<LookupError>(error).is_some() {
        NetworkFault::Dns
    } else if find_cause::<hyper::Error>(error).is_some_and(hyper::Error::is_parse) {
        NetworkFault::NotHttp
    } else if is_lost(error) || !error.is_connect() {
        NetworkFault::Lost
    } else {
        NetworkFault::NoRoute
    }
}

/// How a connection ended too early.
fn lost(error: &reqwest::Error) -> &'static str {
    use io::ErrorKind::{BrokenPipe, ConnectionAborted, ConnectionReset};
    if has_kind(error, &[ConnectionReset]) {
        "connection reset"
    } else if has_kind(error, &[BrokenPipe, ConnectionAborted]) {
        "connection closed while something was sent"
    } else if has_kind(error, &[io::ErrorKind::InvalidInput, io::ErrorKind::InvalidData]) {
        "the answer is not HTTP"
    } else if error.is_body() || error.is_decode() {
        "connection closed before the end of the answer"
    } else {
        "connection closed before the answer came"
    }
}

fn is_lost(error: &reqwest::Error) -> bool {
    use io::ErrorKind::{BrokenPipe, ConnectionAborted, ConnectionReset, UnexpectedEof};
    has_kind(error, &[BrokenPipe, ConnectionAborted, ConnectionReset, UnexpectedEof])
}

/// Whether no program listens there.
pub(crate) fn is_refused(error: &reqwest::Error) -> bool {
    has_kind(error, &[io::ErrorKind::ConnectionRefused])
}

/// Whether the next attempt would fail alike: the certificate is not trusted, the other side speaks no TLS, the name does not exist, or
/// its address is nearer than allowed.
pub(crate) fn is_lasting(error: &reqwest::Error) -> bool {
    let is_tls_lasting = |tls: &rustls::Error| match tls {
        rustls::Error::InvalidCertificate(_) | rustls::Error::InvalidMessage(InvalidMessage::InvalidContentType) => {
            true
        }
        other => is_about_client(other),
    };
    find_cause(error).is_some_and(is_tls_lasting)
        || proxy_problem(&innermost(error).to_string()).is_some_and(|problem| problem.fault == NetworkFault::Proxy)
        || find_cause::<LookupError>(error).is_some_and(|lookup| lookup.0.kind() == io::ErrorKind::NotFound)
        || find_cause::<NearName>(error).is_some()
}

/// Whether the server does not accept the client's certificate, or misses one.
fn is_about_client(error: &rustls::Error) -> bool {
    use AlertDescription::{
        BadCertificate, CertificateExpired, CertificateRequired, CertificateRevoked, CertificateUnknown, NoCertificate,
        UnknownCA, UnsupportedCertificate,
    };
    let unaccepted = [BadCertificate, CertificateExpired, CertificateRevoked, CertificateUnknown, UnknownCA];
    let missing_or_other = [CertificateRequired, NoCertificate, UnsupportedCertificate];
    let rustls::Error::AlertReceived(alert) = error else { return false };
    unaccepted.contains(alert) || missing_or_other.contains(alert)
}

/// What went wrong with TLS.
pub(crate) fn tls_text(error: &rustls::Error) -> String {
    use rustls::Error::{InappropriateHandshakeMessage, InappropriateMessage, InvalidCertificate, InvalidMessage};
    match error {
        InappropriateMessage { .. } | InappropriateHandshakeMessage { .. } | InvalidMessage(_) => {
            "the answer is not TLS".to_owned()
        }
        InvalidCertificate(fault) => certificate_text(fault)
            .map_or_else(|| error.to_string(), |text| format!("invalid peer certificate: {text}")),
        other => clean(&other.to_string()),
    }
}

/// What is wrong with a certificate; `None` if the library's own words say it.
fn certificate_text(fault: &CertificateError) -> Option<&'static str> {
    #[expect(deprecated, reason = "rustls still gives the variants without details")]
    Some(match fault {
        CertificateError::UnsupportedSignatureAlgorithm
        | CertificateError::UnsupportedSignatureAlgorithmContext { .. }
        | CertificateError::UnsupportedSignatureAlgorithmForPublicKeyContext { .. } => {
            "it is signed with a kind of key or signature that is not supported here"
        }
        CertificateError::Expired | CertificateError::ExpiredContext { .. } => "it has expired",
        CertificateError::NotValidYet | CertificateError::NotValidYetContext { .. } => "it is not valid yet",
        CertificateError::BadSignature => "its signature is wrong",
        CertificateError::BadEncoding => "it is not encoded as certificates are",
        CertificateError::Revoked => "it is revoked",
        CertificateError::UnhandledCriticalExtension => "it has a critical extension that is not known here",
        CertificateError::InvalidPurpose | CertificateError::InvalidPurposeContext { .. } => {
            "it is not meant for servers"
        }
        CertificateError::Other(other) => match other.0.downcast_ref() {
            Some(webpki::Error::CaUsedAsEndEntity) => "it is that of a certificate authority, not of a server",
            _ => "it is not accepted",
        },
        _ => return None,
    })
}

fn tls_fault(error: &rustls::Error, now: SystemTime) -> NetworkFault {
    let now = now.duration_since(SystemTime::UNIX_EPOCH).unwrap_or_default().as_secs();
    match error {
        rustls::Error::InvalidCertificate(CertificateError::ExpiredContext { time, not_after }) => {
            NetworkFault::CertificateExpired { not_after: Some(not_after.as_secs()), now: time.as_secs() }
        }
        rustls::Error::InvalidCertificate(CertificateError::Expired) => {
            NetworkFault::CertificateExpired { not_after: None, now }
        }
        rustls::Error::InvalidCertificate(CertificateError::NotValidYetContext { time, not_before }) => {
            NetworkFault::CertificateNotYetValid { not_before: Some(not_before.as_secs()), now: time.as_secs() }
        }
        rustls::Error::InvalidCertificate(CertificateError::NotValidYet) => {
            NetworkFault::CertificateNotYetValid { not_before: None, now }
        }
        rustls::Error::InvalidMessage(_) => NetworkFault::NotTls,
        rustls::Error::InvalidCertificate(
            CertificateError::NotValidForName | CertificateError::NotValidForNameContext { .. },
        ) => NetworkFault::CertificateOfAnother,
        rustls::Error::InvalidCertificate(_) => NetworkFault::Certificate,
        error if is_about_client(error) => NetworkFault::ClientCertificate,
        _ => NetworkFault::Tls,
    }
}

/// Whether the error or a cause of it is an IO error of one of these kinds.
fn has_kind(error: &(dyn Error + 'static), kinds: &[io::ErrorKind]) -> bool {
    let mut next = Some(error);
    while let Some(error) = next {
        let io_error = error.downcast_ref::<io::Error>();
        if io_error.is_some_and(|error| kinds.contains(&error.kind())) {
            return true;
        }
        if io_error.and_then(io::Error::get_ref).is_some_and(|carried| has_kind(carried, kinds)) {
            return true;
        }
        next = error.source();
    }
    false
}

/// The error, or the first cause of it, that is of this type. What an IO error carries is not its source, so that is
/// looked into as well.
fn find_cause<'a, E: Error + 'static>(error: &'a (dyn Error + 'static)) -> Option<&'a E> {
    let carried = error.downcast_ref::<io::Error>().and_then(io::Error::get_ref);
    error
        .downcast_ref()
        .or_else(|| carried.and_then(|carried| find_cause(carried)))
        .or_else(|| error.source().and_then(find_cause))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_certificate_error_is_a_sentence() {
        let check = |fault: CertificateError, want: &str| {
            let text = tls_text(&rustls::Error::InvalidCertificate(fault));
            assert_eq!(text, format!("invalid peer certificate: {want}"));
        };
        let other = |error| CertificateError::Other(rustls::OtherError(std::sync::Arc::new(error)));
        let unsupported = CertificateError::UnsupportedSignatureAlgorithmForPublicKeyContext {
            signature_algorithm_id: vec![6, 9],
            public_key_algorithm_id: Vec::new(),
        };
        check(unsupported, "it is signed with a kind of key or signature that is not supported here");
        let authority = "it is that of a certificate authority, not of a server";
        check(other(webpki::Error::CaUsedAsEndEntity), authority);
        check(other(webpki::Error::BadDer), "it is not accepted");
        check(CertificateError::UnknownIssuer, "UnknownIssuer");
        check(CertificateError::Expired, "it has expired");
    }

    #[test]
    fn an_expired_certificate_is_judged_by_the_time_that_is_given() {
        let now = SystemTime::UNIX_EPOCH + Duration::from_secs(1_700_000_000);
        let fault = |error| tls_fault(&rustls::Error::InvalidCertificate(error), now);
        let (not_after, not_before, now) = (None, None, 1_700_000_000);
        assert_eq!(fault(CertificateError::Expired), NetworkFault::CertificateExpired { not_after, now });
        assert_eq!(fault(CertificateError::NotValidYet), NetworkFault::CertificateNotYetValid { not_before, now });
    }
}
