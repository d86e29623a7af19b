//! Foreign text made fit for people: short, on one line, without anything that could be a secret. Pure.

use std::cell::Cell;
use std::error::Error;
use std::io;
use std::time::{Duration, SystemTime};

use rustls::CertificateError;

use tofu_oci_store::StoreError;
use tofu_oci_types::{NetworkFault, is_unprintable};

use crate::limits::shown;
use crate::names::NearName;

/// Most characters of a registry's own words that are repeated.
const LONGEST: usize = 300;

/// The text on one line, shortened, with queries and user infos cut out of the addresses in it.
pub(crate) fn clean(text: &str) -> String {
    let mut out = String::new();
    for word in text.split(|character: char| character.is_whitespace() || is_unprintable(character)) {
        if word.is_empty() {
            continue;
        }
        if !out.is_empty() {
            out.push(' ');
        }
        out.push_str(&without_secrets(word));
        if out.chars().count() > LONGEST {
            return out.chars().take(LONGEST).chain("…".chars()).collect();
        }
    }
    out
}

fn without_secrets(word: &str) -> String {
    let Some(scheme) = word.find("://") else {
        return word.split_once('?').filter(|(path, _)| path.contains('/')).map_or(word, |(path, _)| path).to_owned();
    };
    let (before, after) = word.split_at(scheme + 3);
    let address = after.split(['?', '#']).next().unwrap_or_default();
    let (authority, path) = address.split_at(address.find('/').unwrap_or(address.len()));
    let host = authority.rsplit_once('@').map_or(authority, |(_, host)| host);
    format!("{before}{host}{path}")
}

/// What the network said, and what kind of fault that is.
#[derive(Clone, Debug)]
pub(crate) struct NetworkProblem {
    pub(crate) text: String,
    pub(crate) fault: NetworkFault,
}

impl NetworkProblem {
    /// Nothing came in this time.
    pub(crate) fn timed_out(what: &str, limit: Duration) -> Self {
        Self { text: format!("timed out: {what} for {}", shown(limit)), fault: NetworkFault::TimedOut }
    }

    /// A host that cannot be in an address.
    pub(crate) fn no_address(error: url::ParseError) -> Self {
        Self { text: error.to_string(), fault: NetworkFault::Dns }
    }

    pub(crate) fn at(self, place: String) -> StoreError {
        StoreError::Unreachable { place, fault: self.fault, problem: self.text }
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

/// What the network said. The operating system and the name service are quoted, no library is: its words are for those
/// who use it.
pub(crate) fn network_problem(error: reqwest::Error, now: SystemTime) -> NetworkProblem {
    let error = error.without_url();
    let fault = network_fault(&error, now);
    let mut innermost: &dyn Error = &error;
    while let Some(source) = innermost.source() {
        innermost = source;
    }
    let text = clean(&innermost.to_string());
    let text = match fault {
        NetworkFault::TimedOut if error.is_connect() => "timed out: no connection came about".to_owned(),
        NetworkFault::TimedOut => "timed out".to_owned(),
        NetworkFault::Tls | NetworkFault::Certificate | NetworkFault::CertificateOfAnother => tls(&text),
        NetworkFault::Lost => lost(&error, &text).to_owned(),
        _ => text,
    };
    NetworkProblem { text, fault }
}

/// How a connection ended too early.
fn lost(error: &reqwest::Error, said: &str) -> &'static str {
    use io::ErrorKind::{BrokenPipe, ConnectionAborted, ConnectionReset};
    let is_kind = |wanted: &[io::ErrorKind]| {
        has_cause(error, &|cause| cause.downcast_ref::<io::Error>().is_some_and(|error| wanted.contains(&error.kind())))
    };
    if is_kind(&[ConnectionReset]) {
        "connection reset"
    } else if is_kind(&[BrokenPipe, ConnectionAborted]) {
        "connection closed while something was sent"
    } else if said.to_ascii_lowercase().contains("invalid") {
        "what was answered is not HTTP"
    } else if error.is_body() || error.is_decode() {
        "connection closed before the end of the answer"
    } else {
        "connection closed before the answer came"
    }
}

/// What went wrong with TLS.
fn tls(said: &str) -> String {
    if said.contains("://") || said.starts_with("received corrupt message") || said.starts_with("received unexpected") {
        return "what was answered is not TLS".to_owned();
    }
    certificate(said)
}

/// What the TLS library says of a certificate, where that is the name of a variant with what it holds.
fn certificate(text: &str) -> String {
    const START: &str = "invalid peer certificate: ";
    let Some(said) = text.strip_prefix(START) else { return text.to_owned() };
    let name = said.split(|character: char| !character.is_ascii_alphanumeric()).next().unwrap_or_default();
    let meaning = match name {
        "UnsupportedSignatureAlgorithmForPublicKeyContext"
        | "UnsupportedSignatureAlgorithmContext"
        | "UnsupportedSignatureAlgorithmForPublicKey"
        | "UnsupportedSignatureAlgorithm" => "it is signed with a kind of key or signature that is not supported here",
        _ if said.starts_with("certificate expired") => "it has expired",
        _ if said.starts_with("certificate not valid yet") => "it is not valid yet",
        "BadSignature" => "its signature is wrong",
        "BadEncoding" => "it is not encoded as certificates are",
        "Revoked" => "it is revoked",
        "UnhandledCriticalExtension" => "it has a critical extension that is not known here",
        "InvalidPurpose" | "InvalidPurposeContext" => "it is not meant for servers",
        "Other" if said.contains("CaUsedAsEndEntity") => "it is that of a certificate authority, not of a server",
        _ if said.contains(['{', '(']) && said.contains("OtherError") => "it is not accepted",
        _ => return text.to_owned(),
    };
    format!("{START}{meaning}")
}

fn network_fault(error: &reqwest::Error, now: SystemTime) -> NetworkFault {
    if error.is_timeout() {
        NetworkFault::TimedOut
    } else if let Some(fault) = tls_fault(error, now) {
        fault
    } else if has_cause(error, &is_near) {
        NetworkFault::PrivateAddress
    } else if has_cause(error, &is_refused) {
        NetworkFault::Refused
    } else if has_cause(error, &is_lookup) {
        NetworkFault::Dns
    } else if has_cause(error, &is_no_http) {
        NetworkFault::NotHttp
    } else if has_cause(error, &is_lost) || !error.is_connect() {
        NetworkFault::Lost
    } else {
        NetworkFault::NoRoute
    }
}

/// What the TLS library found wrong, if it was the one that ended the connection.
fn tls_fault(error: &reqwest::Error, now: SystemTime) -> Option<NetworkFault> {
    let fault = Cell::new(None);
    let is_tls = |cause: &(dyn Error + 'static)| {
        fault.set(cause.downcast_ref().map(|error| fault_of(error, now)));
        fault.get().is_some()
    };
    has_cause(error, &is_tls).then(|| fault.get()).flatten()
}

fn fault_of(error: &rustls::Error, now: SystemTime) -> NetworkFault {
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
        _ => NetworkFault::Tls,
    }
}

/// Whether the first line of an answer was none of HTTP. The parser's error has no public type here, only its words.
fn is_no_http(cause: &(dyn Error + 'static)) -> bool {
    let text = cause.to_string();
    text.starts_with("invalid HTTP ") && text.ends_with(" parsed")
}

/// Whether nobody listens there.
pub(crate) fn is_refused(cause: &(dyn Error + 'static)) -> bool {
    cause.downcast_ref::<io::Error>().is_some_and(|error| error.kind() == io::ErrorKind::ConnectionRefused)
}

/// Whether the name leads nearer than it may.
pub(crate) fn is_near(cause: &(dyn Error + 'static)) -> bool {
    cause.is::<NearName>()
}

/// Whether the name service was what failed. The connector's own error has no public type, only its words.
fn is_lookup(cause: &(dyn Error + 'static)) -> bool {
    cause.to_string().starts_with("dns error")
}

fn is_lost(cause: &(dyn Error + 'static)) -> bool {
    use io::ErrorKind::{BrokenPipe, ConnectionAborted, ConnectionReset, UnexpectedEof};
    let kind = cause.downcast_ref::<io::Error>().map(io::Error::kind);
    kind.is_some_and(|kind| matches!(kind, BrokenPipe | ConnectionAborted | ConnectionReset | UnexpectedEof))
}

/// Whether the error or anything below it is of this kind. What an IO error carries is not its source, so that is looked
/// into as well.
pub(crate) fn has_cause(error: &(dyn Error + 'static), is: &dyn Fn(&(dyn Error + 'static)) -> bool) -> bool {
    let carried = error.downcast_ref::<io::Error>().and_then(io::Error::get_ref);
    is(error)
        || carried.is_some_and(|carried| has_cause(carried, is))
        || error.source().is_some_and(|source| has_cause(source, is))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(text: &str, want: &str) {
        assert_eq!(clean(text), want);
    }

    #[test]
    fn secrets_of_addresses_are_cut_out() {
        check("no such blob", "no such blob");
        check("a\n\tb\u{1b}[31m", "a b [31m");
        check("see https://user:pass@s3.test/b/o?X-Amz-Signature=abc&Expires=1 now", "see https://s3.test/b/o now");
        check("https://a@b@c.test", "https://c.test");
        check("GET \"/v2/x?token=abc\"", "GET \"/v2/x");
        check("why? because", "why? because");
    }

    #[test]
    fn a_certificate_error_is_a_sentence() {
        let check = |said: &str, want: &str| {
            assert_eq!(
                certificate(&format!("invalid peer certificate: {said}")),
                format!("invalid peer certificate: {want}")
            );
        };
        check(
            "UnsupportedSignatureAlgorithmForPublicKeyContext { signature_algorithm_id: [6, 9], public_key_algorithm_id: [] }",
            "it is signed with a kind of key or signature that is not supported here",
        );
        check("Other(OtherError(CaUsedAsEndEntity))", "it is that of a certificate authority, not of a server");
        check("UnknownIssuer", "UnknownIssuer");
        check("certificate expired: verification time 7 (UNIX)", "it has expired");
        assert_eq!(certificate("connection reset"), "connection reset");
    }

    #[test]
    fn an_expired_certificate_is_judged_by_the_time_that_is_given() {
        let now = SystemTime::UNIX_EPOCH + Duration::from_secs(1_700_000_000);
        let fault = |error| fault_of(&rustls::Error::InvalidCertificate(error), now);
        let (not_after, not_before, now) = (None, None, 1_700_000_000);
        assert_eq!(fault(CertificateError::Expired), NetworkFault::CertificateExpired { not_after, now });
        assert_eq!(fault(CertificateError::NotValidYet), NetworkFault::CertificateNotYetValid { not_before, now });
    }

    #[test]
    fn long_texts_are_shortened() {
        assert_eq!(clean(&"x".repeat(10_000)).chars().count(), LONGEST + 1);
        assert_eq!(clean(&"x ".repeat(10_000)).chars().count(), LONGEST + 1);
    }
}
