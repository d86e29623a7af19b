//! Asking a token server.
//!
//! Spec: Docker registry token authentication (`GET realm?service&scope`) and its `OAuth2` form (`POST`, refresh tokens).

use std::time::Instant;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use bytes::Bytes;
use reqwest::Method;
use reqwest::header::HeaderValue;
use tofu_oci_store::{AccessFault, StoreError};
use tofu_oci_types::Secret;
use url::Url;
use url::form_urlencoded::Serializer;

use crate::answer::{Answer, Unread};
use crate::client::RegistryClient;
use crate::exchange::{Exchange, Shown, TokenOutcome, shown_url};
use crate::origin::host_of;
use crate::realm::{Refusal, check_confidant};
use crate::refresh::{Grant, Refresh, RefreshTokens};
use crate::scope::Scopes;
use crate::token_answer::TokenAnswer;
use crate::token_exchange::Sending;

/// Most bytes of a token server's answer.
pub(crate) const TOKEN_LIMIT: u64 = 1024 * 1024;
/// The name under which a refresh token stands where a user's name is expected.
const TOKEN_USER: &str = "<token>";

/// A token and how long it may be used.
#[derive(Clone)]
pub(crate) struct Token {
    pub(crate) header: HeaderValue,
    /// Whether it says itself that it grants less than was asked for.
    pub(crate) short: bool,
    expires: Instant,
}

impl Token {
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

/// Who is asked for which token.
pub(crate) struct TokenRequest<'a> {
    pub(crate) realm: &'a Url,
    pub(crate) service: Option<&'a str>,
    pub(crate) scopes: &'a Scopes,
    pub(crate) asker: Asker<'a>,
    pub(crate) registry: &'a Url,
    pub(crate) place: &'a str,
    pub(crate) tokens: &'a RefreshTokens,
}

/// The `Authorization` of a name and a password.
pub(crate) fn basic(username: &str, password: &Secret) -> Option<HeaderValue> {
    let login = Secret::new(format!("{username}:{}", password.expose()));
    secret_header("Basic ", &Secret::new(STANDARD.encode(login.expose())))
}

/// The `Authorization` of a token.
pub(crate) fn bearer(token: &Secret) -> Option<HeaderValue> {
    secret_header("Bearer ", token)
}

fn secret_header(scheme: &str, value: &Secret) -> Option<HeaderValue> {
    let whole = Secret::new(format!("{scheme}{}", value.expose()));
    let mut header = HeaderValue::from_str(whole.expose()).ok()?;
    header.set_sensitive(true);
    Some(header)
}

/// A sentence, and behind it what the server said itself.
fn with_words(problem: String, said: Option<&str>) -> String {
    match said {
        Some(said) => format!("{problem}: {said}"),
        None => problem,
    }
}

impl TokenRequest<'_> {
    /// The token, after as many attempts as the policy allows.
    pub(crate) async fn fetch(&self, client: &RegistryClient) -> Result<Token, StoreError> {
        if !matches!(self.asker, Asker::Nobody) {
            check_confidant(self.realm, self.registry, &client.hosts.named)
                .map_err(|refusal| self.forbidden(client, refusal))?;
        }
        let (authorization, shown) = match self.asker {
            Asker::Refresh(first) => {
                let known = self.tokens.of(self.realm, first);
                let mut refresh = known.lock().await;
                return self.by_refresh(client, &mut refresh).await;
            }
            Asker::Nobody => (None, Shown::Nothing),
            Asker::Login { username, password } => {
                (basic(username, password), Shown::Basic { username: username.to_owned() })
            }
        };
        let sending = self.get(authorization, shown);
        let answer = self.send(client, &sending).await?;
        self.read(client, &sending, answer).await.map(|(token, _)| token)
    }

    /// A token for a refresh token, which the answer may replace.
    async fn by_refresh(&self, client: &RegistryClient, refresh: &mut Refresh) -> Result<Token, StoreError> {
        client.told.secret(refresh.token.expose());
        if refresh.grant == Grant::Post {
            let form = self.refresh_form(&refresh.token);
            let (url, shown) = (self.realm.clone(), Shown::RefreshToken);
            let sending = Sending { method: Method::POST, url, authorization: None, form: Some(form), shown };
            let answer = self.send(client, &sending).await?;
            if !matches!(answer.status(), 404 | 405) {
                let (token, next) = self.read(client, &sending, answer).await?;
                if let Some(next) = next {
                    client.told.secret(next.expose());
                    refresh.token = next;
                }
                return Ok(token);
            }
            let reason = format!("status {}: it knows no such request, and is asked with GET", answer.status());
            self.saw(client, &sending, answer.url(), Some(answer.status()), None, || TokenOutcome::None(reason));
            refresh.grant = Grant::Get;
        }
        let sending = self.get(basic(TOKEN_USER, &refresh.token), Shown::RefreshToken);
        let answer = self.send(client, &sending).await?;
        self.read(client, &sending, answer).await.map(|(token, _)| token)
    }

    fn get(&self, authorization: Option<HeaderValue>, shown: Shown) -> Sending {
        let mut url = self.realm.clone();
        let scopes: Vec<String> = self.scopes.each().collect();
        if self.service.is_some() || !scopes.is_empty() {
            let mut query = url.query_pairs_mut();
            query.extend_pairs(self.service.map(|service| ("service", service)));
            query.extend_pairs(scopes.iter().map(|scope| ("scope", scope)));
        }
        Sending { method: Method::GET, url, authorization, form: None, shown }
    }

    fn refresh_form(&self, refresh: &Secret) -> Bytes {
        let mut form = Serializer::new(String::new());
        form.append_pair("grant_type", "refresh_token").append_pair("client_id", "tofu-oci");
        form.extend_pairs(self.service.map(|service| ("service", service)));
        form.append_pair("scope", &self.scopes.to_string()).append_pair("refresh_token", refresh.expose());
        Bytes::from(form.finish())
    }

    /// The token in an answer, and the refresh token that came with it.
    async fn read(
        &self,
        client: &RegistryClient,
        sending: &Sending,
        answer: Answer,
    ) -> Result<(Token, Option<Secret>), StoreError> {
        let (status, url) = (answer.status(), answer.url().clone());
        let (said, read) = self.token_of(answer).await;
        let outcome = || match &read {
            Ok(answer) => TokenOutcome::Token { seconds: answer.seconds, granted: answer.granted() },
            Err(
                StoreError::Unauthorized { problem, .. }
                | StoreError::Denied { problem, .. }
                | StoreError::NoToken { problem, .. },
            ) => TokenOutcome::None(problem.clone()),
            Err(error) => TokenOutcome::None(error.to_string()),
        };
        self.saw(client, sending, &url, Some(status), said, outcome);
        let answer = read?;
        let short = answer.granted().is_some_and(|granted| !self.scopes.are_in(&granted));
        let TokenAnswer { token, life, refresh, .. } = answer;
        client.told.token(token.expose());
        let header = bearer(&token).ok_or_else(|| {
            let problem = format!("the token server {} gave a token that no request can carry", host_of(self.realm));
            StoreError::NoToken { place: self.place.to_owned(), fault: AccessFault::TokenEmpty, problem }
        })?;
        // A token that dies on the way is worth nothing: it counts as dead a tenth of its life earlier.
        Ok((Token { header, short, expires: Instant::now() + life.saturating_sub(life / 10) }, refresh))
    }

    /// The server's own words where it refuses, and the token or why there is none.
    async fn token_of(&self, answer: Answer) -> (Option<String>, Result<TokenAnswer, StoreError>) {
        let status = answer.status();
        if status == 200 {
            return (None, self.good(answer).await);
        }
        // What stands behind a wrong address is no token server: its words would mislead.
        let said = if status == 404 { None } else { answer.words().await.of_token_server() };
        let server = host_of(self.realm);
        let problem = match (status, self.asker) {
            (400 | 401 | 403, Asker::Nobody) => format!("the token server {server} gives nothing to anonymous callers"),
            (403, _) => format!("the token server {server} does not allow this to the login"),
            (400 | 401, _) => format!("the token server {server} refused the credentials"),
            _ => {
                let error = self.no_token(status, said.as_deref());
                return (said, Err(error));
            }
        };
        let problem = with_words(format!("{problem} (status {status})"), said.as_deref());
        let (place, fault) = (self.place.to_owned(), AccessFault::TokenServerStatus(status));
        let error = match (status, self.asker) {
            (403, Asker::Login { .. } | Asker::Refresh(_)) => StoreError::Denied { place, fault, problem },
            _ => StoreError::Unauthorized { place, fault, problem },
        };
        (said, Err(error))
    }

    async fn good(&self, mut answer: Answer) -> Result<TokenAnswer, StoreError> {
        let server = host_of(self.realm);
        let no_token = |fault, problem: &str| {
            let problem = format!("the token server {server} {problem}");
            StoreError::NoToken { place: self.place.to_owned(), fault, problem }
        };
        let bytes = answer.read(TOKEN_LIMIT).await.map_err(|unread| match unread {
            Unread::TooLarge => {
                no_token(AccessFault::TokenNotJson, &format!("answered with more than {TOKEN_LIMIT} bytes"))
            }
            Unread::Broken(problem) => problem.at(self.place.to_owned()),
        })?;
        TokenAnswer::parse(&bytes).map_err(|fault| match fault {
            AccessFault::TokenEmpty => no_token(fault, "gave an empty token"),
            _ => no_token(fault, "answered with something else than a token"),
        })
    }

    /// A status that is neither a token nor a refusal. The server's words stand behind the status: one that is not there
    /// must not look like a missing repository.
    pub(crate) fn no_token(&self, status: u16, said: Option<&str>) -> StoreError {
        let problem = format!("the token server {} answered with status {status}", host_of(self.realm));
        let problem = with_words(problem, said);
        let fault = AccessFault::TokenServerStatus(status);
        StoreError::NoToken { place: self.place.to_owned(), fault, problem }
    }

    pub(crate) fn saw(
        &self,
        client: &RegistryClient,
        sending: &Sending,
        url: &Url,
        status: Option<u16>,
        said: Option<String>,
        outcome: impl FnOnce() -> TokenOutcome,
    ) {
        client.saw(|| Exchange::Token {
            method: sending.method.to_string(),
            server: shown_url(url),
            service: self.service.map(crate::clean::clean),
            scopes: self.scopes.each().map(|scope| crate::clean::clean(&scope)).collect(),
            shown: sending.shown.clone(),
            status,
            error: said,
            outcome: outcome(),
        });
    }

    pub(crate) fn forbidden(&self, client: &RegistryClient, refusal: Refusal) -> StoreError {
        let Refusal { fault, problem } = refusal;
        client.saw(|| Exchange::Refused { code: fault.code(), problem: problem.clone() });
        StoreError::Forbidden { place: self.place.to_owned(), fault: Some(fault), problem }
    }
}
