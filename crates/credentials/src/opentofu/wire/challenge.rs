//! Challenges and origins as oras-go reads them, as far as the differences need it.

use std::fmt;
use std::net::IpAddr;

/// A scheme of `WWW-Authenticate`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::opentofu) enum ChallengeScheme {
    Basic,
    Bearer,
    Other,
}

/// What oras-go takes from the first line.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(in crate::opentofu) struct Challenge {
    pub(in crate::opentofu) scheme: ChallengeScheme,
    pub(in crate::opentofu) realm: Option<String>,
    /// The realm stands without quotes and is read up to a letter that no token may hold.
    pub(in crate::opentofu) broken_realm: bool,
    pub(in crate::opentofu) scopes: Vec<String>,
}

/// The challenge that counts: the first one of the first line; `None` if there is no line.
///
/// Spec: oras-go 2.6, `registry/remote/auth`, `parseChallenge`.
pub(in crate::opentofu) fn first(lines: &[String]) -> Option<Challenge> {
    let line = lines.first()?;
    let (scheme, mut rest) = token(line);
    let mut challenge = Challenge { scheme: known(scheme), realm: None, broken_realm: false, scopes: Vec::new() };
    if challenge.scheme != ChallengeScheme::Bearer {
        return Some(challenge);
    }
    loop {
        let (key, behind) = token(skip(rest));
        let Some(value) = skip(behind).strip_prefix('=').filter(|_| !key.is_empty()) else { return Some(challenge) };
        let value = skip(value);
        let (value, behind) = if let Some(quoted) = value.strip_prefix('"') {
            let Some((text, behind)) = unquoted(quoted) else { return Some(challenge) };
            (text, behind)
        } else {
            let (text, behind) = token(value);
            if key == "realm" && !matches!(skip(behind).bytes().next(), None | Some(b',')) {
                challenge.broken_realm = true;
            }
            (text.to_owned(), behind)
        };
        if key == "realm" {
            challenge.realm = Some(value.clone());
        }
        if key == "scope" {
            challenge.scopes = value.split(' ').filter(|scope| !scope.is_empty()).map(str::to_owned).collect();
        }
        match skip(behind).strip_prefix(',') {
            Some(next) => rest = next,
            None => return Some(challenge),
        }
    }
}

/// Whether a line has a challenge of a known scheme anywhere in it.
pub(in crate::opentofu) fn names_a_known_scheme(line: &str) -> bool {
    // Outside quotes, a scheme is a word at the start of the line or behind a comma.
    let outside: String = line.split('"').step_by(2).collect::<Vec<_>>().join("\"\"");
    outside.split(',').any(|part| known(token(skip(part)).0) != ChallengeScheme::Other)
}

fn known(scheme: &str) -> ChallengeScheme {
    if scheme.eq_ignore_ascii_case("basic") {
        ChallengeScheme::Basic
    } else if scheme.eq_ignore_ascii_case("bearer") {
        ChallengeScheme::Bearer
    } else {
        ChallengeScheme::Other
    }
}

/// A token of RFC 7230 and what follows.
fn token(text: &str) -> (&str, &str) {
    let fine = |letter: char| letter.is_ascii_alphanumeric() || "!#$%&'*+-.^_`|~".contains(letter);
    text.split_at(text.find(|letter| !fine(letter)).unwrap_or(text.len()))
}

fn skip(text: &str) -> &str {
    text.trim_start_matches([' ', '\t'])
}

/// The text up to the closing quote, and what follows it.
fn unquoted(quoted: &str) -> Option<(String, &str)> {
    let mut text = String::new();
    let mut letters = quoted.char_indices();
    while let Some((at, letter)) = letters.next() {
        match letter {
            '"' => return Some((text, &quoted[at + 1..])),
            '\\' => text.push(letters.next()?.1),
            _ => text.push(letter),
        }
    }
    None
}

/// Scheme, host and port of a URL.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(in crate::opentofu) struct UrlOrigin {
    scheme: String,
    pub(in crate::opentofu) host: String,
    port: String,
}

/// The origin of an absolute URL of http or https.
pub(in crate::opentofu) fn origin(url: &str) -> Option<UrlOrigin> {
    let (scheme, rest) = url.split_once("://")?;
    let scheme = scheme.to_ascii_lowercase();
    let authority = rest.split(['/', '?', '#']).next().unwrap_or_default();
    let host = authority.rsplit('@').next().unwrap_or_default().to_ascii_lowercase();
    let default = match scheme.as_str() {
        "https" => "443",
        "http" => "80",
        _ => return None,
    };
    let (host, port) = match host.rsplit_once(':') {
        Some((host, port)) if port.bytes().all(|byte| byte.is_ascii_digit()) => (host.to_owned(), port.to_owned()),
        _ => (host, String::new()),
    };
    Some(UrlOrigin { scheme, host, port: if port.is_empty() { default.to_owned() } else { port } })
}

impl fmt::Display for UrlOrigin {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { scheme, host, port } = self;
        match (scheme.as_str(), port.as_str()) {
            ("https", "443") | ("http", "80") => write!(f, "{scheme}://{host}"),
            _ => write!(f, "{scheme}://{host}:{port}"),
        }
    }
}

/// Whether a host is the literal of an address that oras-go 2.6 takes for unsafe. Names are not looked at, nor are
/// addresses that are shared by carriers.
///
/// Spec: oras-go 2.6, `registry/remote/auth`, `validateRealm`; Go 1.25, `net.IP`.
pub(in crate::opentofu) fn is_private_literal(host: &str) -> bool {
    let host = host.strip_prefix('[').and_then(|host| host.strip_suffix(']')).unwrap_or(host);
    match host.parse::<IpAddr>().map(|address| address.to_canonical()) {
        Ok(IpAddr::V4(address)) => {
            address.is_loopback()
                || address.is_link_local()
                || address.octets().starts_with(&[224, 0, 0])
                || address.is_private()
                || address.is_unspecified()
        }
        Ok(IpAddr::V6(address)) => {
            let first = address.segments()[0];
            address.is_loopback()
                || first & 0xffc0 == 0xfe80
                || first & 0xff0f == 0xff02
                || first & 0xfe00 == 0xfc00
                || address.is_unspecified()
        }
        Err(_) => false,
    }
}
