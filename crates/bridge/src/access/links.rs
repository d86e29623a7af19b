//! What a signed link opens, and until when: `FOLDER/~SECONDS~CLIENT~HMAC/FILE`.
//!
//! A path, because clients lose a query: Terragrunt's provider cache before 1.1.4 takes `?` for a part of the file name. A
//! request is read as `FOLDER/FILE?expires=SECONDS&client=NAME&signature=HMAC`, which counts as well.
//!
//! The key of a client's links is made of its `token_sha256` and the link secret. All instances with one configuration
//! make and accept the same links, and the links of a token end when its line leaves the configuration. Without a link
//! secret, whoever can read the configuration file can make links, though not learn a token; so can the client itself.
//! Therefore no link counts for longer than the links that are made here, whoever made it. A secret of this process
//! would not help: other instances must accept the link.

use std::time::{Duration, SystemTime};

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use http::Uri;
use percent_encoding::percent_decode_str;
use ring::hmac;
use tofu_oci_types::Secret;
use url::form_urlencoded;

use super::access_error::AccessError;
use super::client::{ClientName, TokenDigest};

/// Changes if what is signed does.
const SCHEME: &str = "tofu-oci link 1";

/// How far the clocks of two instances may differ.
const SKEW: Duration = Duration::from_mins(1);

/// What a link begins with, and what is between its members. No name of a client, number or base64url text has it.
const MARK: char = '~';

/// Expiries are multiples of it.
const STEP: u64 = 60;

/// How links are made.
#[derive(Clone, Debug)]
pub struct LinkOptions {
    /// How long a link opens its path, at least; at most two minutes longer.
    pub lifetime: Duration,
    /// What the keys of links are made of besides the checksums of tokens: a text that all instances share. It may be
    /// empty.
    pub secret: Secret,
}

impl Default for LinkOptions {
    /// 15 minutes, no further secret.
    fn default() -> Self {
        Self { lifetime: Duration::from_mins(15), secret: Secret::new("") }
    }
}

/// When a link that is made now expires, in seconds since 1970.
pub(super) fn expiry(now: SystemTime, lifetime: Duration) -> u64 {
    seconds(now + lifetime).div_ceil(STEP) * STEP
}

fn seconds(moment: SystemTime) -> u64 {
    moment.duration_since(SystemTime::UNIX_EPOCH).map_or(0, |since| since.as_secs())
}

/// The key that signs the links of one token.
#[derive(Debug)]
pub(super) struct LinkKey(hmac::Key);

impl LinkKey {
    pub(super) fn derived(secret: &Secret, token: &TokenDigest) -> Self {
        let root = hmac::Key::new(hmac::HMAC_SHA256, secret.expose().as_bytes());
        let key = hmac::sign(&root, format!("{SCHEME} key\n{}", token.expose()).as_bytes());
        Self(hmac::Key::new(hmac::HMAC_SHA256, key.as_ref()))
    }

    /// The link to `path`.
    pub(super) fn link(&self, client: &ClientName, path: &str, expires: u64) -> String {
        let tag = hmac::sign(&self.0, &message(client, expires, &decoded(path)));
        let (folder, file) = path.rsplit_once('/').unwrap_or(("", path));
        format!("{folder}/{MARK}{expires}{MARK}{client}{MARK}{}/{file}", URL_SAFE_NO_PAD.encode(tag.as_ref()))
    }

    /// Whether it made the link, for its path.
    pub(super) fn made(&self, link: &SignedLink) -> bool {
        hmac::verify(&self.0, &message(&link.client, link.expires, &link.path), &link.signature).is_ok()
    }
}

/// A client's name and a number have no line feed; the path is last.
fn message(client: &ClientName, expires: u64, path: &[u8]) -> Vec<u8> {
    [format!("{SCHEME}\n{expires}\n{client}\n").as_bytes(), path].concat()
}

/// The address of a request that may be a link in its path: the same with a query. `None` if it is not one.
pub(crate) fn with_query(uri: &Uri) -> Option<Uri> {
    let (folder, file) = uri.path().rsplit_once('/')?;
    let (folder, link) = folder.rsplit_once('/')?;
    let link = percent_decode_str(link).decode_utf8().ok()?;
    let [expires, client, signature] = link.strip_prefix(MARK)?.split(MARK).collect::<Vec<_>>()[..] else {
        return None;
    };
    let mut query = form_urlencoded::Serializer::new(String::new());
    query.extend_pairs([("expires", expires), ("client", client), ("signature", signature)]);
    let more = uri.query().map(|query| format!("&{query}")).unwrap_or_default();
    let mut parts = uri.clone().into_parts();
    parts.path_and_query = format!("{folder}/{file}?{}{more}", query.finish()).try_into().ok();
    Uri::from_parts(parts).ok()
}

/// The same address with another path.
pub(crate) fn with_path(uri: &Uri, path: &str) -> Uri {
    let text = uri.query().map_or_else(|| path.to_owned(), |query| format!("{path}?{query}"));
    let mut parts = uri.clone().into_parts();
    parts.path_and_query = text.try_into().ok();
    Uri::from_parts(parts).unwrap_or_else(|_| uri.clone())
}

/// Clients may encode a path in several ways: `+` and `%2B` are one path.
fn decoded(path: &str) -> Vec<u8> {
    percent_decode_str(path).collect()
}

/// A request that claims to be a link.
pub(super) struct SignedLink {
    pub(super) client: ClientName,
    path: Vec<u8>,
    expires: u64,
    signature: Vec<u8>,
}

impl SignedLink {
    /// What a request's query says; `None` if it has no signature. Members may be in any order, each once; others are ignored.
    pub(super) fn of(uri: &Uri) -> Option<Result<Self, AccessError>> {
        let (mut expires, mut client, mut signature) = (Vec::new(), Vec::new(), Vec::new());
        for (name, value) in form_urlencoded::parse(uri.query()?.as_bytes()) {
            match &*name {
                "expires" => expires.push(value),
                "client" => client.push(value),
                "signature" => signature.push(value),
                _ => {}
            }
        }
        if signature.is_empty() {
            return None;
        }
        let ([expires], [client], [signature]) = (&expires[..], &client[..], &signature[..]) else {
            return Some(Err(AccessError::BadLink));
        };
        Some(Self::read(uri.path(), expires, client, signature).ok_or(AccessError::BadLink))
    }

    fn read(path: &str, expires: &str, client: &str, signature: &str) -> Option<Self> {
        let decoded = decoded(path);
        // An encoded slash is not a slash: two paths must not become one.
        let slashes = |bytes: &[u8]| bytes.split(|byte| *byte == b'/').count();
        if slashes(&decoded) != slashes(path.as_bytes()) || !expires.bytes().all(|byte| byte.is_ascii_digit()) {
            return None;
        }
        Some(Self {
            client: client.parse().ok()?,
            path: decoded,
            expires: expires.parse().ok()?,
            signature: URL_SAFE_NO_PAD.decode(signature).ok()?,
        })
    }

    pub(super) fn has_expired(&self, now: SystemTime) -> bool {
        seconds(now) > self.expires.saturating_add(SKEW.as_secs())
    }

    /// Whether it expires later than any link that an instance makes now.
    pub(super) fn outlives(&self, lifetime: Duration, now: SystemTime) -> bool {
        self.expires > expiry(now + SKEW, lifetime)
    }
}
