//! A request for a token: who asks, for what, and the outcome.

use std::time::Instant;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use bytes::Bytes;
use reqwest::Method;
use reqwest::header::HeaderValue;
use tofu_oci_http::{HeldUrl, authorization, clean, host_of, shown_url};
use tofu_oci_store::{AccessFault, StoreError};
use tofu_oci_types::{Place, Secret};
use url::Url;

use crate::exchange::{Exchange, ShownCredential, TokenOutcome};
use crate::fault::realm_refused;
use crate::network::RegistryNetwork;
use crate::realm::RealmRefusal;
use crate::refresh::RefreshTokens;
use crate::scope::Scopes;

/// Most bytes of a token server's answer.
pub(crate) const TOKEN_LIMIT: u64 = 1024 * 1024;
/// A token and how long it may be used.
#[derive(Clone)]
pub(crate) struct AccessToken {
    pub(crate) header: HeaderValue,
    /// Whether it says itself that it grants less than was asked for.
    pub(crate) short: bool,
    pub(crate) expires: Instant,
}

impl AccessToken {
    /// Whether it will still be valid for the next request.
    pub(crate) fn is_usable(&self) -> bool {
        Instant::now() < self.expires
    }
}

/// What a token server is shown.
#[derive(Clone, Copy)]
pub(crate) enum Asker<'a> {
    Nobody,
    Login {
        username: &'a str,
        password: &'a Secret,
    },
    /// A refresh token as it was configured; what it has become since is known to [`RefreshTokens`].
    Refresh(&'a Secret),
}

/// The server, the scopes and the credential of a token request.
pub(crate) struct TokenRequest<'a> {
    pub(crate) realm: &'a Url,
    pub(crate) service: Option<&'a str>,
    pub(crate) scopes: &'a Scopes,
    pub(crate) asker: Asker<'a>,
    /// The registry, and how near a host may be that it names.
    pub(crate) registry: &'a HeldUrl,
    pub(crate) place: &'a Place,
    pub(crate) tokens: &'a RefreshTokens,
}

/// The `Authorization` of a name and a password.
pub(crate) fn basic(username: &str, password: &Secret) -> Option<HeaderValue> {
    let login = Secret::new(format!("{username}:{}", password.expose()));
    let encoded = Secret::new(STANDARD.encode(login.expose()));
    authorization("Basic", &encoded)
}

/// One request as it is sent.
pub(crate) struct Sending {
    pub(crate) method: Method,
    pub(crate) url: Url,
    pub(crate) authorization: Option<HeaderValue>,
    pub(crate) form: Option<Bytes>,
    pub(crate) shown: ShownCredential,
}

/// A sentence, and after it the server's own words.
pub(crate) fn with_words(problem: String, words: Option<&str>) -> String {
    match words {
        Some(words) => format!("{problem}: {words}"),
        None => problem,
    }
}

impl TokenRequest<'_> {
    /// The error of an answer that is larger than [`TOKEN_LIMIT`].
    pub(crate) fn too_large(&self, network: &RegistryNetwork, sending: &Sending, url: &Url) -> StoreError {
        let server = host_of(self.realm);
        let problem = format!("the token server {server} answered with more than {TOKEN_LIMIT} bytes");
        self.saw(network, sending, url, Some(200), None, || TokenOutcome::None(problem.clone()));
        StoreError::NoToken { place: self.place.clone(), fault: AccessFault::TokenNotJson, problem }
    }

    /// A status that is neither a token nor a refusal. The server's words come after the status: a token server that is not there
    /// must not look like a missing repository.
    pub(crate) fn no_token(&self, status: u16, words: Option<&str>) -> StoreError {
        let problem = format!("the token server {} answered with status {status}", host_of(self.realm));
        let problem = with_words(problem, words);
        let fault = AccessFault::TokenServerStatus(status);
        StoreError::NoToken { place: self.place.clone(), fault, problem }
    }

    pub(crate) fn saw(
        &self,
        network: &RegistryNetwork,
        sending: &Sending,
        url: &Url,
        status: Option<u16>,
        words: Option<String>,
        outcome: impl FnOnce() -> TokenOutcome,
    ) {
        network.saw(|| Exchange::Token {
            method: sending.method.to_string(),
            server: shown_url(url),
            service: self.service.map(clean),
            scopes: self.scopes.each().map(|scope| clean(&scope)).collect(),
            shown: sending.shown.clone(),
            status,
            error: words,
            outcome: outcome(),
        });
    }

    pub(crate) fn forbidden(&self, network: &RegistryNetwork, refusal: RealmRefusal) -> StoreError {
        realm_refused(network, self.place.clone(), refusal)
    }
}
