//! One request before it is made.

use reqwest::Method;
use reqwest::header::{HeaderMap, HeaderName, HeaderValue};
use tofu_oci_http::{HeldUrl, Protection};
use tofu_oci_types::Digest;

use crate::body::CallBody;
use crate::scope::RequestedAccess;

/// Where a request goes.
#[derive(Clone, Debug)]
pub(crate) enum CallTarget {
    /// A path on the registry, with its query.
    Registry(String),
    /// An address that an answer named.
    Address(HeldUrl),
}

/// Whether a request that broke may simply be made again.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Repeat {
    Yes,
    /// Only if the registry says that it has not looked at it (429).
    IfRefused,
    No,
}

/// Which credential a request shows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum CredentialChoice {
    /// Once the registry has asked for it.
    WhenAsked,
    /// As far as the scheme is known; a challenge is not answered.
    AtHand,
    Never,
}

/// Which redirects a request follows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum RedirectPolicy {
    /// All that the rules admit.
    All,
    /// Those within the registry's origin: a redirect to another one is the answer.
    WithinTheOrigin,
}

/// A request, as often as it must be made.
pub(crate) struct RegistryCall<'a> {
    pub(crate) method: Method,
    pub(crate) target: CallTarget,
    pub(crate) headers: HeaderMap,
    pub(crate) body: CallBody<'a>,
    pub(crate) access: &'a RequestedAccess,
    pub(crate) repeat: Repeat,
    pub(crate) credential: CredentialChoice,
    pub(crate) protection: Protection,
    pub(crate) redirects: RedirectPolicy,
}

impl<'a> RegistryCall<'a> {
    /// A request to a path of the registry, without a body, that may be repeated.
    pub(crate) fn new(method: Method, path: impl Into<String>, access: &'a RequestedAccess) -> Self {
        Self::to(method, CallTarget::Registry(path.into()), access)
    }

    /// The same, to an address that the registry named.
    pub(crate) fn to(method: Method, target: CallTarget, access: &'a RequestedAccess) -> Self {
        Self {
            method,
            target,
            headers: HeaderMap::new(),
            body: CallBody::None,
            access,
            repeat: Repeat::Yes,
            credential: CredentialChoice::WhenAsked,
            protection: Protection::Tls,
            redirects: RedirectPolicy::All,
        }
    }

    /// With these headers.
    pub(crate) fn with_headers(self, headers: &[(&'static str, String)]) -> Self {
        headers.iter().fold(self, |call, (name, value)| call.header(name, value))
    }

    /// With a header. A value that no header can carry is omitted; no caller gives one.
    pub(crate) fn header(mut self, name: &'static str, value: &str) -> Self {
        if let Ok(value) = HeaderValue::from_str(value) {
            self.headers.insert(HeaderName::from_static(name), value);
        }
        self
    }

    pub(crate) fn body(mut self, body: CallBody<'a>) -> Self {
        self.body = body;
        self
    }

    /// To read content whose digest is in the path, and which is compared with it before it is used.
    pub(crate) fn by_digest(mut self) -> Self {
        self.protection = Protection::Digest;
        self
    }

    /// The digest that protects the answer, if a digest does.
    pub(crate) fn digest(&self) -> Option<Digest> {
        let CallTarget::Registry(path) = &self.target else { return None };
        path.rsplit('/').next().filter(|_| self.protection == Protection::Digest)?.parse().ok()
    }

    /// Without any credential, even if the registry asks for one.
    pub(crate) fn bare(mut self) -> Self {
        self.credential = CredentialChoice::Never;
        self
    }

    /// With the credential at hand; a challenge is not answered.
    pub(crate) fn at_hand(mut self) -> Self {
        self.credential = CredentialChoice::AtHand;
        self
    }

    /// For a part of something longer: after a break the next step is another one.
    pub(crate) fn step(mut self) -> Self {
        self.repeat = Repeat::IfRefused;
        self
    }

    pub(crate) fn once(mut self) -> Self {
        self.repeat = Repeat::No;
        self
    }
}
