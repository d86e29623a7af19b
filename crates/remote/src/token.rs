//! Asking a token server.
//!
//! Spec: Docker registry token authentication (`GET realm?service&scope`) and its `OAuth2` form (`POST`, refresh tokens).

use std::time::{Duration, Instant};

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use bytes::Bytes;
use reqwest::Method;
use reqwest::header::{ACCEPT, AUTHORIZATION, CONTENT_TYPE, HeaderValue, LOCATION};
use serde::Deserialize;
use tofu_oci_credentials::{Credential, Secret};
use tofu_oci_store::{AccessFault, NetworkFault, StoreError};
use url::Url;
use url::form_urlencoded::Serializer;

use crate::answer::Answer;
use crate::body::Progress;
use crate::client::RegistryClient;
use crate::origin::{MAX_REDIRECTS, check_confidant, check_realm, host_of, next_hop, same_origin};
use crate::retry::{Attempts, Next, is_transient};
use crate::scope::Scopes;

/// Most bytes of a token server's answer.
const TOKEN_LIMIT: u64 = 1024 * 1024;
/// How long a token lives when the server does not say.
const DEFAULT_LIFE: Duration = Duration::from_mins(1);
/// The name under which an identity token stands where a user's name is expected.
const TOKEN_USER: &str = "<token>";

/// A token and how long it may be used.
#[derive(Clone)]
pub(crate) struct Token {
    pub(crate) header: HeaderValue,
    expires: Instant,
}

impl Token {
    /// Whether it will still be valid for the next request.
    pub(crate) fn is_usable(&self) -> bool {
        Instant::now() < self.expires
    }
}

/// Who is asked for which token.
pub(crate) struct TokenRequest<'a> {
    pub(crate) realm: &'a Url,
    pub(crate) service: Option<&'a str>,
    pub(crate) scopes: &'a Scopes,
    pub(crate) credential: Option<&'a Credential>,
    pub(crate) registry: &'a Url,
    pub(crate) place: &'a str,
}

/// The `Authorization` of a name and a password.
pub(crate) fn basic(username: &str, password: &Secret) -> Option<HeaderValue> {
    secret_header("Basic ", &STANDARD.encode(format!("{username}:{}", password.expose())))
}

/// The `Authorization` of a token.
pub(crate) fn bearer(token: &str) -> Option<HeaderValue> {
    secret_header("Bearer ", token)
}

fn secret_header(scheme: &str, value: &str) -> Option<HeaderValue> {
    let mut header = HeaderValue::from_str(&format!("{scheme}{value}")).ok()?;
    header.set_sensitive(true);
    Some(header)
}

impl TokenRequest<'_> {
    /// The token, after as many attempts as the policy allows.
    pub(crate) async fn fetch(&self, client: &RegistryClient) -> Result<Token, StoreError> {
        if self.credential.is_some() {
            check_confidant(self.realm, self.registry, &client.options.token_hosts)
                .map_err(|problem| self.forbidden(problem))?;
        }
        let refresh = match self.credential {
            Some(Credential::IdentityToken(token)) => Some(token),
            Some(Credential::Basic { username, password }) if username == TOKEN_USER => Some(password),
            _ => None,
        };
        let Some(refresh) = refresh else {
            let authorization = match self.credential {
                Some(Credential::Basic { username, password }) => basic(username, password),
                _ => None,
            };
            return self.read(self.get(client, authorization).await?).await;
        };
        let answer = self.post(client, refresh).await?;
        if matches!(answer.status(), 404 | 405) {
            return self.read(self.get(client, basic(TOKEN_USER, refresh)).await?).await;
        }
        self.read(answer).await
    }

    async fn get(&self, client: &RegistryClient, authorization: Option<HeaderValue>) -> Result<Answer, StoreError> {
        let mut url = self.realm.clone();
        {
            let mut query = url.query_pairs_mut();
            if let Some(service) = self.service {
                query.append_pair("service", service);
            }
            for scope in self.scopes.each() {
                query.append_pair("scope", &scope);
            }
        }
        self.send(client, Method::GET, url, authorization, None).await
    }

    async fn post(&self, client: &RegistryClient, refresh: &Secret) -> Result<Answer, StoreError> {
        client.told.secret(refresh.expose());
        let form = self.refresh_form(refresh);
        self.send(client, Method::POST, self.realm.clone(), None, Some(form)).await
    }

    fn refresh_form(&self, refresh: &Secret) -> Bytes {
        let mut form = Serializer::new(String::new());
        form.append_pair("grant_type", "refresh_token").append_pair("client_id", "tofu-oci");
        if let Some(service) = self.service {
            form.append_pair("service", service);
        }
        form.append_pair("scope", &self.scopes.to_string()).append_pair("refresh_token", refresh.expose());
        Bytes::from(form.finish())
    }

    async fn send(
        &self,
        client: &RegistryClient,
        method: Method,
        url: Url,
        authorization: Option<HeaderValue>,
        form: Option<Bytes>,
    ) -> Result<Answer, StoreError> {
        let label = format!("{method} {}{}", host_of(&url), url.path());
        let mut attempts = Attempts::new(client.options.retry, client.options.max_retry_after);
        loop {
            let result = self.follow(client, &method, url.clone(), authorization.clone(), form.clone()).await?;
            let (asked, reason, fault) = match result {
                Ok(answer) if is_transient(answer.status()) => {
                    (answer.asked_wait(), format!("status {}", answer.status()), NetworkFault::NoRoute)
                }
                Ok(answer) => return Ok(answer),
                Err(no_answer) => {
                    let problem = format!("the token server {}: {}", host_of(&url), no_answer.problem.text);
                    if no_answer.lasting {
                        return Err(self.unreachable(problem, no_answer.problem.fault));
                    }
                    (None, problem, no_answer.problem.fault)
                }
            };
            match attempts.next(asked) {
                Next::Wait(wait) => client.wait(&label, attempts.made(), wait, &reason).await,
                Next::GiveUp => return Err(self.unreachable(reason, fault)),
                Next::TooLong(asked) => {
                    return Err(StoreError::RateLimited { place: self.place.to_owned(), seconds: asked.as_secs() });
                }
            }
        }
    }

    /// One attempt, along redirects that pass the rules of a realm.
    async fn follow(
        &self,
        client: &RegistryClient,
        method: &Method,
        mut url: Url,
        mut authorization: Option<HeaderValue>,
        form: Option<Bytes>,
    ) -> Result<Result<Answer, crate::http::NoAnswer>, StoreError> {
        for _ in 0..=MAX_REDIRECTS {
            check_realm(&url, self.registry).map_err(|problem| self.forbidden(problem))?;
            let mut request = reqwest::Request::new(method.clone(), url.clone());
            request.headers_mut().insert(ACCEPT, HeaderValue::from_static("application/json"));
            if let Some(authorization) = &authorization {
                client.told.header(authorization);
                request.headers_mut().insert(AUTHORIZATION, authorization.clone());
            }
            if let Some(form) = &form {
                let form_type = HeaderValue::from_static("application/x-www-form-urlencoded");
                request.headers_mut().insert(CONTENT_TYPE, form_type);
                *request.body_mut() = Some(form.clone().into());
            }
            let response = match client.http.execute(request, &Progress::default()).await {
                Ok(response) => response,
                Err(no_answer) => return Ok(Err(no_answer)),
            };
            let location = response.headers().get(LOCATION).and_then(|value| value.to_str().ok());
            let (true, Some(location)) = (response.status().is_redirection(), location) else {
                let request = format!("{method} {}", url.path());
                return Ok(Ok(client.answer(response, self.place.to_owned(), request, false)));
            };
            let plain = |to: &Url| client.hosts.allows_plain(to);
            let next = next_hop(&url, location, &plain).map_err(|problem| self.forbidden(problem))?;
            if !same_origin(&next, &url) {
                authorization = None;
                if form.is_some() {
                    let problem = format!("the token server redirects a login to {}", host_of(&next));
                    return Err(self.forbidden(problem));
                }
            }
            url = next;
        }
        Err(self.forbidden(format!("the token server redirects more than {MAX_REDIRECTS} times")))
    }

    async fn read(&self, answer: Answer) -> Result<Token, StoreError> {
        let server = host_of(self.realm);
        let status = answer.status();
        if matches!(status, 400 | 401 | 403) {
            let problem = match self.credential {
                Some(_) => format!("the token server {server} refused the credentials (status {status})"),
                None => format!("the token server {server} gives nothing to anonymous callers (status {status})"),
            };
            let fault = AccessFault::TokenServerStatus(status);
            return Err(StoreError::Unauthorized { place: self.place.to_owned(), fault, problem });
        }
        if status != 200 {
            // Not in the registry's words: a token server that is not there must not look like a missing repository, and
            // it may repeat what it was sent.
            return Err(StoreError::Rejected {
                place: self.place.to_owned(),
                status,
                request: answer.request,
                problem: format!("the token server {server} gives no token"),
            });
        }
        let bytes = answer.read("the token server's answer", TOKEN_LIMIT).await?;
        let malformed = |problem: &str| StoreError::Malformed {
            place: self.place.to_owned(),
            problem: format!("the token server {server} {problem}"),
        };
        let said: Said =
            serde_json::from_slice(&bytes).map_err(|_| malformed("answered with something else than a token"))?;
        let token = [said.access_token, said.token].into_iter().flatten().find(|token| !token.is_empty());
        let token = Secret::new(token.ok_or_else(|| malformed("gave an empty token"))?);
        let header = bearer(token.expose()).ok_or_else(|| malformed("gave a token that no header can carry"))?;
        let life = said.expires_in.filter(|seconds| *seconds > 0).map_or(DEFAULT_LIFE, Duration::from_secs);
        let life = life.min(Duration::from_hours(24));
        // A token that dies on the way is worth nothing: it counts as dead a tenth of its life earlier.
        Ok(Token { header, expires: Instant::now() + life.saturating_sub(life / 10) })
    }

    fn forbidden(&self, problem: String) -> StoreError {
        StoreError::Forbidden { place: self.place.to_owned(), fault: None, problem }
    }

    fn unreachable(&self, problem: String, fault: NetworkFault) -> StoreError {
        StoreError::Unreachable { place: self.place.to_owned(), fault, problem }
    }
}

#[derive(Deserialize)]
struct Said {
    token: Option<String>,
    access_token: Option<String>,
    expires_in: Option<u64>,
}
