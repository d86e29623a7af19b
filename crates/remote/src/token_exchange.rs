//! The requests to a token server, made as often as they must be.

use bytes::Bytes;
use reqwest::Method;
use reqwest::header::{ACCEPT, AUTHORIZATION, CONTENT_TYPE, HeaderValue, LOCATION};
use tofu_oci_store::{AccessFault, StoreError};
use tokio::time::Instant;
use url::Url;

use crate::again::{Setback, Stop, too_long};
use crate::answer::{Answer, Unread};
use crate::body::Progress;
use crate::clean::NetworkProblem;
use crate::client::RegistryClient;
use crate::exchange::{Exchange, Shown, TokenOutcome, shown_url};
use crate::http::NoAnswer;
use crate::origin::{FromHttps, MAX_REDIRECTS, host_of, next_hop, same_origin};
use crate::pace::Pace;
use crate::realm::{Refusal, check_realm};
use crate::retry::{Asked, Attempts, is_transient};
use crate::token::{Asker, TOKEN_LIMIT, TokenRequest};

/// An attempt that gave no token.
struct Failed {
    reason: String,
    error: StoreError,
    /// Whether the next one would fail as well.
    lasting: bool,
}

/// One request as it is sent.
pub(crate) struct Sending {
    pub(crate) method: Method,
    pub(crate) url: Url,
    pub(crate) authorization: Option<HeaderValue>,
    pub(crate) form: Option<Bytes>,
    pub(crate) shown: Shown,
}

impl TokenRequest<'_> {
    /// The final answer, after as many attempts as the policy allows. The body of a good one has been read.
    pub(crate) async fn send(&self, client: &RegistryClient, sending: &Sending) -> Result<Answer, StoreError> {
        let request = format!("{} {}{}", sending.method, host_of(&sending.url), sending.url.path());
        let server = host_of(&sending.url);
        let mut attempts = client.attempts();
        loop {
            let outcome = self.follow(client, sending, &mut attempts).await?;
            let (url, asked, problem) = match outcome {
                Ok(answer) if is_transient(answer.status()) => {
                    let (status, asked) = (answer.status(), answer.asked());
                    let reason = format!("status {status}");
                    let url = answer.url().clone();
                    let said = answer.words().await.of_token_server();
                    self.saw(client, sending, &url, Some(status), said.clone(), || TokenOutcome::None(reason.clone()));
                    let error = self.no_token(status, said.as_deref());
                    (url, asked, Failed { reason, error, lasting: false })
                }
                Ok(mut answer) if answer.status() == 200 => match answer.read(TOKEN_LIMIT).await {
                    Err(Unread::Broken(problem)) => {
                        attempts.spend(answer.pace.still());
                        let url = answer.url().clone();
                        (url, Asked::Nothing, self.unreachable(client, sending, answer.url(), &problem, &server))
                    }
                    Ok(_) | Err(Unread::TooLarge) => return Ok(answer),
                },
                Ok(answer) => return Ok(answer),
                Err((url, no_answer)) => {
                    let failed = self.unreachable(client, sending, &url, &no_answer.problem, &server);
                    (url, Asked::Nothing, Failed { lasting: no_answer.lasting, ..failed })
                }
            };
            let Failed { reason, error, lasting } = problem;
            if lasting {
                return Err(error);
            }
            let setback = Setback { request: request.clone(), host: host_of(&url), asked, reason: &reason };
            match client.again(&mut attempts, setback).await {
                Ok(()) => {}
                Err(Stop::GiveUp) => return Err(error),
                Err(Stop::TooLong(asked)) => return Err(too_long(self.place.clone(), asked)),
            }
        }
    }

    /// What the network did to an attempt.
    fn unreachable(
        &self,
        client: &RegistryClient,
        sending: &Sending,
        url: &Url,
        problem: &NetworkProblem,
        server: &str,
    ) -> Failed {
        let reason = format!("the token server {server}: {}", problem.text);
        self.saw(client, sending, url, None, None, || TokenOutcome::None(problem.text.clone()));
        let (place, fault) = (self.place.clone(), problem.fault);
        let error = StoreError::Unreachable { place, fault, problem: reason.clone() };
        Failed { reason, error, lasting: false }
    }

    /// One attempt, along redirects that pass the rules of a realm. Who shows a secret is sent on within the origin
    /// alone: without it the answer would be a token for nobody. No answer comes with the address that gave none.
    async fn follow(
        &self,
        client: &RegistryClient,
        sending: &Sending,
        attempts: &mut Attempts,
    ) -> Result<Result<Answer, (Url, NoAnswer)>, StoreError> {
        let mut url = sending.url.clone();
        for _ in 0..=MAX_REDIRECTS {
            client.pass(&url, attempts).await.map_err(|asked| too_long(self.place.clone(), asked))?;
            let request = sending.request(client, &url);
            let (started, waiting) = (Instant::now(), client.waiting(&sending.method, &url));
            let answer = client.http.execute(request, &Progress::default(), attempts.left(), &waiting).await;
            attempts.spend(started.elapsed());
            let response = match answer {
                Ok(response) => response,
                Err(no_answer) => return Ok(Err((url, no_answer))),
            };
            let location = response.headers().get(LOCATION).and_then(|value| value.to_str().ok());
            let (true, Some(location)) = (response.status().is_redirection(), location) else {
                let request = format!("{} {}", sending.method, url.path());
                let mut answer = client.answer(response, self.place.clone(), request, waiting);
                answer.pace = Pace::within(attempts.left());
                return Ok(Ok(answer));
            };
            let to = url.join(location).map_or_else(|_| String::from("no address"), |to| shown_url(&to));
            let status = response.status().as_u16();
            self.saw(client, sending, &url, Some(status), None, || TokenOutcome::Elsewhere { to });
            let next = self.next(client, &url, location).map_err(|refusal| self.forbidden(client, refusal))?;
            client.saw(|| {
                let shown_there = sending.shown.clone();
                Exchange::Redirected { from: shown_url(&url), to: shown_url(&next), shown_there }
            });
            url = next;
        }
        let problem = format!("the token server redirects more than {MAX_REDIRECTS} times");
        Err(StoreError::Forbidden { place: self.place.clone(), fault: None, problem })
    }

    fn next(&self, client: &RegistryClient, from: &Url, location: &str) -> Result<Url, Refusal> {
        let scheme = |problem| Refusal::new(AccessFault::RealmScheme, problem);
        let to = from.join(location).map_err(|_| scheme("the token server redirects to an invalid address"))?;
        if !same_origin(&to, from) && !matches!(self.asker, Asker::Nobody) {
            let problem = format!("the token server redirects a login to another origin, {}", host_of(&to));
            return Err(Refusal::new(AccessFault::TokenRedirect, problem));
        }
        check_realm(&to, self.registry, &client.hosts.named)?;
        next_hop(from, location, &client.hosts.plain_rule(from, FromHttps::Refused)).map_err(|detour| {
            let problem = format!("the token server redirects: {}", detour.problem);
            Refusal::new(detour.fault.unwrap_or(AccessFault::RealmScheme), problem)
        })
    }
}

impl Sending {
    fn request(&self, client: &RegistryClient, url: &Url) -> reqwest::Request {
        let mut request = reqwest::Request::new(self.method.clone(), url.clone());
        request.headers_mut().insert(ACCEPT, HeaderValue::from_static("application/json"));
        if let Some(authorization) = &self.authorization {
            client.told.header(authorization);
            request.headers_mut().insert(AUTHORIZATION, authorization.clone());
        }
        if let Some(form) = &self.form {
            let form_type = HeaderValue::from_static("application/x-www-form-urlencoded");
            request.headers_mut().insert(CONTENT_TYPE, form_type);
            *request.body_mut() = Some(form.clone().into());
        }
        tracing::debug!(method = %self.method, host = host_of(url), path = client.told.hide(url.path()), "token request");
        request
    }
}
