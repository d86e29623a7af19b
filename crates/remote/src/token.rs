//! Asking a token server.
//!
//! Spec: Docker registry token authentication (`GET realm?service&scope`) and its `OAuth2` form (`POST`, refresh tokens).

use std::time::Instant;

use bytes::Bytes;
use reqwest::Method;
use reqwest::header::HeaderValue;
use tofu_oci_http::{HttpAnswer, bearer, host_of};
use tofu_oci_store::{AccessFault, StoreError};
use tofu_oci_types::Secret;
use url::form_urlencoded::Serializer;

use crate::exchange::{ShownCredential, TokenOutcome};
use crate::network::RegistryNetwork;
use crate::realm::check_confidant;
use crate::refresh::{Refresh, RefreshGrant};
use crate::token_answer::TokenAnswer;
use crate::token_request::{AccessToken, Asker, Sending, TokenRequest, basic, with_words};
use crate::words::ErrorWords;

/// The user name that a refresh token is sent with in place of a password.
const TOKEN_USER: &str = "<token>";

impl TokenRequest<'_> {
    /// The token, after as many attempts as the policy allows.
    pub(crate) async fn fetch(&self, network: &RegistryNetwork) -> Result<AccessToken, StoreError> {
        if !matches!(self.asker, Asker::Nobody) {
            check_confidant(self.realm, &self.registry.url, &network.hosts.named)
                .map_err(|refusal| self.forbidden(network, refusal))?;
        }
        let (authorization, shown) = match self.asker {
            Asker::Refresh(first) => {
                let known = self.tokens.of(self.realm, first);
                let mut refresh = known.lock().await;
                return self.by_refresh(network, &mut refresh).await;
            }
            Asker::Nobody => (None, ShownCredential::Nothing),
            Asker::Login { username, password } => {
                (basic(username, password), ShownCredential::Basic { username: username.to_owned() })
            }
        };
        let sending = self.get(authorization, shown);
        let answer = self.send(network, &sending).await?;
        self.read(network, &sending, answer).await.map(|(token, _)| token)
    }

    /// A token for a refresh token, which the answer may replace.
    async fn by_refresh(&self, network: &RegistryNetwork, refresh: &mut Refresh) -> Result<AccessToken, StoreError> {
        network.scrubber().secret(refresh.token.expose());
        if refresh.grant == RefreshGrant::Post {
            let form = self.refresh_form(&refresh.token);
            let (url, shown) = (self.realm.clone(), ShownCredential::RefreshToken);
            let sending = Sending { method: Method::POST, url, authorization: None, form: Some(form), shown };
            let answer = self.send(network, &sending).await?;
            if !matches!(answer.status(), 404 | 405) {
                let (token, next) = self.read(network, &sending, answer).await?;
                if let Some(next) = next {
                    network.scrubber().secret(next.expose());
                    refresh.token = next;
                }
                return Ok(token);
            }
            let reason = format!("status {}: it knows no such request, and is asked with GET", answer.status());
            self.saw(network, &sending, answer.url(), Some(answer.status()), None, || TokenOutcome::None(reason));
            refresh.grant = RefreshGrant::Get;
        }
        let sending = self.get(basic(TOKEN_USER, &refresh.token), ShownCredential::RefreshToken);
        let answer = self.send(network, &sending).await?;
        self.read(network, &sending, answer).await.map(|(token, _)| token)
    }

    fn get(&self, authorization: Option<HeaderValue>, shown: ShownCredential) -> Sending {
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
        network: &RegistryNetwork,
        sending: &Sending,
        answer: HttpAnswer,
    ) -> Result<(AccessToken, Option<Secret>), StoreError> {
        let (status, url) = (answer.status(), answer.url().clone());
        let (words, read) = self.token_of(network, answer).await;
        let outcome = || match &read {
            Ok(answer) => TokenOutcome::Token { seconds: answer.seconds, granted: answer.granted() },
            Err(
                StoreError::Unauthorized { problem, .. }
                | StoreError::Denied { problem, .. }
                | StoreError::NoToken { problem, .. },
            ) => TokenOutcome::None(problem.clone()),
            Err(error) => TokenOutcome::None(error.to_string()),
        };
        self.saw(network, sending, &url, Some(status), words, outcome);
        let answer = read?;
        let short = answer.granted().is_some_and(|granted| !self.scopes.are_in(&granted));
        let TokenAnswer { token, life, refresh, .. } = answer;
        network.scrubber().token(token.expose());
        let header = bearer(&token).ok_or_else(|| {
            let problem = format!("the token server {} gave a token that no request can carry", host_of(self.realm));
            StoreError::NoToken { place: self.place.clone(), fault: AccessFault::TokenEmpty, problem }
        })?;
        // A token may expire on the way, so it counts as expired a tenth of its life earlier.
        Ok((AccessToken { header, short, expires: Instant::now() + life.saturating_sub(life / 10) }, refresh))
    }

    /// The server's own words if it refuses, and the token or the error.
    async fn token_of(
        &self,
        network: &RegistryNetwork,
        mut answer: HttpAnswer,
    ) -> (Option<String>, Result<TokenAnswer, StoreError>) {
        let status = answer.status();
        if status == 200 {
            return (None, self.good(&answer));
        }
        // A wrong address leads to a server that gives no tokens: its words would mislead.
        let words = if status == 404 {
            None
        } else {
            ErrorWords::read(&mut answer, network.scrubber()).await.of_token_server()
        };
        let server = host_of(self.realm);
        let problem = match (status, self.asker) {
            (400 | 401 | 403, Asker::Nobody) => format!("the token server {server} gives nothing to anonymous callers"),
            (403, _) => format!("the token server {server} does not allow this to the login"),
            (400 | 401, _) => format!("the token server {server} refused the credentials"),
            _ => {
                let error = self.no_token(status, words.as_deref());
                return (words, Err(error));
            }
        };
        let problem = with_words(format!("{problem} (status {status})"), words.as_deref());
        let (place, fault) = (self.place.clone(), AccessFault::TokenServerStatus(status));
        let error = match (status, self.asker) {
            (403, Asker::Login { .. } | Asker::Refresh(_)) => StoreError::Denied { place, fault, problem },
            _ => StoreError::Unauthorized { place, fault, problem },
        };
        (words, Err(error))
    }

    fn good(&self, answer: &HttpAnswer) -> Result<TokenAnswer, StoreError> {
        let server = host_of(self.realm);
        let no_token = |fault, problem: &str| {
            let problem = format!("the token server {server} {problem}");
            StoreError::NoToken { place: self.place.clone(), fault, problem }
        };
        TokenAnswer::parse(answer.body()).map_err(|fault| match fault {
            AccessFault::TokenEmpty => no_token(fault, "gave an empty token"),
            _ => no_token(fault, "answered with something else than a token"),
        })
    }
}
