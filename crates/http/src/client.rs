//! One exchange, the wait before the next attempt, and documents in as many attempts as they take.

use std::sync::Arc;
use std::time::{Duration, SystemTime};

use reqwest::header::{ACCEPT, AUTHORIZATION, CONTENT_TYPE, HeaderName, HeaderValue, LOCATION};
use reqwest::{Request, StatusCode};
use tofu_oci_types::{Event, NetworkFault, Reporter};
use tokio::time::{Instant, timeout};
use url::Url;

use crate::address_scope::AddressScope;
use crate::answer::{HttpAnswer, UnreadBody};
use crate::clean::{clean, host_of};
use crate::connections::{Connections, NoAnswer};
use crate::limits::HttpLimits;
use crate::named_hosts::NamedHosts;
use crate::options::{ClientError, HttpOptions};
use crate::pacing::Pacing;
use crate::problem::{NetworkProblem, is_lasting, is_refused};
use crate::progress::Progress;
use crate::redirect::{MAX_REDIRECTS, is_loopback, same_origin};
use crate::requester::{HttpRequest, Requester, TimeLimit, WebFault};
use crate::resolver::Resolver;
use crate::retry::{Attempts, NextAttempt, RetryAfter, is_transient, random, spread};
use crate::secret_scrubber::SecretScrubber;
use crate::waiting::{Elapsed, Waiting};

/// What all requests of a run share: connections, what is known of hosts and names, and the secrets that were sent.
pub struct HttpClient {
    options: HttpOptions,
    pub(crate) connections: Connections,
    resolver: Resolver,
    pacing: Arc<Pacing>,
    /// Hosts that the user names for plain HTTP.
    plain: NamedHosts,
    /// Hosts that any host may name.
    private: NamedHosts,
    scrubber: SecretScrubber,
    reporter: Arc<dyn Reporter>,
}

/// Why there is no next attempt.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NoRetry {
    /// All attempts have been made.
    GiveUp,
    /// The server asks for a longer wait than this program is willing to make.
    TooLong(Duration),
}

/// An attempt that did not count.
#[derive(Debug)]
pub struct Setback<'a> {
    /// Method, host and path, for people.
    pub request: String,
    /// The host that asks for a wait.
    pub host: String,
    /// The wait that it asks for.
    pub after: RetryAfter,
    pub reason: &'a str,
}

impl HttpClient {
    /// A client without any connection yet.
    ///
    /// # Errors
    /// If a certificate, an identity or a proxy cannot be used.
    pub fn new(options: HttpOptions, reporter: Arc<dyn Reporter>) -> Result<Arc<Self>, ClientError> {
        let resolver = Resolver::new(Arc::clone(&options.names));
        Ok(Arc::new(Self {
            connections: Connections::new(&options, &resolver)?,
            resolver,
            pacing: Arc::default(),
            plain: NamedHosts::new(&options.plain_http),
            private: NamedHosts::new(&options.private_hosts),
            scrubber: SecretScrubber::default(),
            reporter,
            options,
        }))
    }

    /// How long each wait may take.
    pub fn limits(&self) -> &HttpLimits {
        &self.options.limits
    }

    pub fn options(&self) -> &HttpOptions {
        &self.options
    }

    /// Hosts that the user names for plain HTTP.
    pub fn plain_hosts(&self) -> &NamedHosts {
        &self.plain
    }

    /// Hosts that any host may name, wherever they are.
    pub fn private_hosts(&self) -> &NamedHosts {
        &self.private
    }

    /// The secrets that were sent.
    pub fn scrubber(&self) -> &SecretScrubber {
        &self.scrubber
    }

    /// What receives the events.
    pub fn reporter(&self) -> &dyn Reporter {
        &*self.reporter
    }

    /// What is known of names.
    pub(crate) fn resolver(&self) -> &Resolver {
        &self.resolver
    }

    /// Remembers that a host has answered in this run.
    pub fn note_reached(&self, url: &Url) {
        self.pacing.answered(url);
    }

    /// The attempts of a new request.
    pub fn attempts(&self) -> Attempts {
        Attempts::new(&self.options)
    }

    /// Waits until the host takes requests again.
    ///
    /// # Errors
    /// The wait, if it is longer than this program is willing to make.
    pub async fn pass(&self, url: &Url, attempts: &mut Attempts) -> Result<(), Duration> {
        while let Some((left, until)) = self.pacing.pause_of(url, attempts.sat_out()) {
            let wait = left + spread(left, random());
            if !attempts.held_up(wait) {
                return Err(wait);
            }
            self.options.clock.sleep(wait).await;
            attempts.sits_out(until);
        }
        Ok(())
    }

    /// Sends the request to a host that is no nearer than this, and waits for the head of the answer. With a body, the wait begins anew whenever some of it has
    /// gone out. The time without progress is spent of the attempts.
    ///
    /// # Errors
    /// If no answer comes.
    pub async fn execute(
        &self,
        request: Request,
        nearest: AddressScope,
        progress: &Progress,
        attempts: &mut Attempts,
    ) -> Result<HttpAnswer, NoAnswer> {
        let url = request.url().clone();
        if let Some(text) = self.connections.unsupported_proxy(&url) {
            return Err(NoAnswer { problem: NetworkProblem { text, fault: NetworkFault::Proxy }, lasting: true });
        }
        tracing::debug!(method = %request.method(), host = host_of(&url), path = self.scrubber.hide(url.path()), "request");
        let waiting = Waiting {
            pacing: Arc::clone(&self.pacing),
            notice: self.limits().notice,
            reporter: Arc::clone(&self.reporter),
            host: host_of(&url),
            request: self.scrubber.hide(&format!("{} {}", request.method(), url.path())),
            announced: Arc::default(),
        };
        let start = Instant::now();
        let limit = if progress.has_body() { self.limits().taken } else { self.limits().first_byte };
        let limit = limit.min(attempts.left());
        let sent = self.connections.execute(request, nearest, &self.resolver);
        let answer = waiting.until(limit, || progress.still_since(start), sent).await;
        attempts.spend(Instant::now().saturating_duration_since(progress.still_since(start)));
        match answer {
            // Only proxies answer so.
            Ok(Ok(response)) if response.status() == StatusCode::PROXY_AUTHENTICATION_REQUIRED => {
                Err(NoAnswer { problem: NetworkProblem::proxy_login(), lasting: true })
            }
            Ok(Ok(response)) => {
                self.pacing.answered(&url);
                Ok(HttpAnswer::new(response, nearest, waiting.renewed(), *self.limits(), attempts.left(), self.now()))
            }
            Ok(Err(error)) => Err(self.no_answer(error, &url)),
            Err(Elapsed) => {
                let what = if progress.has_body() { progress.describe() } else { "no answer came".to_owned() };
                Err(NoAnswer { problem: NetworkProblem::timed_out(&what, limit), lasting: false })
            }
        }
    }

    fn now(&self) -> SystemTime {
        self.options.clock.now()
    }

    fn no_answer(&self, error: reqwest::Error, url: &Url) -> NoAnswer {
        // A host that has answered in this run may come back; one that never did is taken for missing.
        let refused_here = is_loopback(url) && is_refused(&error) && !self.pacing.was_reached(url);
        NoAnswer { lasting: refused_here || is_lasting(&error), problem: NetworkProblem::of(error, self.now()) }
    }

    /// Waits before the next attempt and reports it. While a host wants fewer requests, no request goes to it.
    ///
    /// # Errors
    /// Why there is no next attempt.
    pub async fn retry(&self, attempts: &mut Attempts, setback: Setback<'_>) -> Result<(), NoRetry> {
        let tries = attempts.tries();
        let wait = match attempts.next(setback.after) {
            NextAttempt::Wait(wait) => wait,
            NextAttempt::GiveUp => return Err(NoRetry::GiveUp),
            NextAttempt::TooLong(asked) => return Err(NoRetry::TooLong(asked)),
        };
        if let RetryAfter::Slower(asked) = setback.after {
            attempts.sits_out(self.pacing.pause(&setback.host, asked.unwrap_or(wait)));
        }
        self.wait(&setback.request, tries + 1, wait, setback.reason).await;
        Ok(())
    }

    /// Waits before an attempt, and reports it.
    pub async fn wait(&self, request: &str, attempt: u32, wait: Duration, reason: &str) {
        self.reporter.event(&Event::Retrying {
            request: self.scrubber.hide(request),
            attempt,
            after_ms: u64::try_from(wait.as_millis()).unwrap_or(u64::MAX),
            reason: self.scrubber.hide(reason),
        });
        self.options.clock.sleep(wait).await;
    }

    /// The last answer, after all redirects and as many attempts as the policy allows. Its body has been read if the
    /// requester wants it.
    ///
    /// # Errors
    /// What kept the document from coming, in the requester's words.
    pub async fn get<R: Requester>(
        &self,
        request: &HttpRequest,
        attempts: &mut Attempts,
        requester: &R,
    ) -> Result<HttpAnswer, R::RequestError> {
        let label = format!("{} {}{}", request.method, host_of(&request.to.url), request.to.url.path());
        loop {
            let (host, after, reason, error) = match self.follow(request, attempts, requester).await? {
                Ok(answer) if is_transient(answer.status()) => {
                    let reason = format!("status {}", answer.status());
                    (host_of(answer.url()), answer.retry_after(), reason, requester.refused(answer).await)
                }
                Ok(answer) if requester.wants(&answer) && answer.content_encoding().is_some() => {
                    let encoding = answer.content_encoding().map(clean).unwrap_or_default();
                    return Err(requester.no_document(answer.url(), WebFault::Encoded(encoding)));
                }
                Ok(mut answer) if requester.wants(&answer) => match self.read(request, &mut answer, attempts).await {
                    Ok(()) => return Ok(answer),
                    Err(UnreadBody::TooLarge) => {
                        return Err(requester.no_document(answer.url(), WebFault::TooLarge(request.limit)));
                    }
                    Err(UnreadBody::Broken(problem)) => {
                        let reason = problem.text.clone();
                        let error = requester.no_document(answer.url(), WebFault::Network(problem));
                        (host_of(answer.url()), RetryAfter::Nothing, reason, error)
                    }
                },
                Ok(answer) => return Ok(answer),
                Err((url, NoAnswer { problem, lasting })) => {
                    let reason = problem.text.clone();
                    let error = requester.no_document(&url, WebFault::Network(problem));
                    if lasting {
                        return Err(error);
                    }
                    (host_of(&url), RetryAfter::Nothing, reason, error)
                }
            };
            let setback = Setback { request: label.clone(), host, after, reason: &reason };
            match self.retry(attempts, setback).await {
                Ok(()) => {}
                Err(NoRetry::GiveUp) => return Err(error),
                Err(NoRetry::TooLong(asked)) => {
                    return Err(requester.no_document(&request.to.url, WebFault::Wait(asked)));
                }
            }
        }
    }

    async fn read(
        &self,
        request: &HttpRequest,
        answer: &mut HttpAnswer,
        attempts: &mut Attempts,
    ) -> Result<(), UnreadBody> {
        let read = match request.time {
            TimeLimit::WithoutProgress => answer.read(request.limit).await,
            TimeLimit::OfEachAttempt => {
                let (started, left) = (Instant::now(), attempts.left());
                let read = timeout(left, answer.read(request.limit)).await;
                attempts.spend(started.elapsed());
                let late = |_| Err(UnreadBody::Broken(NetworkProblem::timed_out("no end of the answer", left)));
                return read.unwrap_or_else(late).map(drop);
            }
        };
        if read.is_err() {
            answer.spend_on(attempts);
        }
        read.map(drop)
    }

    /// One attempt, along redirects. If no answer comes, the error names the last address.
    async fn follow<R: Requester>(
        &self,
        request: &HttpRequest,
        attempts: &mut Attempts,
        requester: &R,
    ) -> Result<Result<HttpAnswer, (Url, NoAnswer)>, R::RequestError> {
        let mut to = request.to.clone();
        let mut crossed = false;
        for _ in 0..=MAX_REDIRECTS {
            let too_long = |asked| requester.no_document(&to.url, WebFault::Wait(asked));
            self.pass(&to.url, attempts).await.map_err(too_long)?;
            let sent = self.prepare(request, &to.url, crossed);
            let answer = match self.execute(sent, to.nearest, &Progress::default(), attempts).await {
                Ok(answer) => answer,
                Err(no_answer) => return Ok(Err((to.url, no_answer))),
            };
            let is_redirect = matches!(answer.status(), 301..=303 | 307 | 308);
            let Some(location) = answer.header(LOCATION.as_str()).filter(|_| is_redirect) else {
                return Ok(Ok(answer));
            };
            let next = requester.next(&answer.held_url(), &answer, location)?;
            crossed |= !same_origin(&next.url, &request.to.url);
            to = next;
        }
        Err(requester.no_document(&request.to.url, WebFault::TooManyRedirects))
    }

    fn prepare(&self, request: &HttpRequest, url: &Url, crossed: bool) -> Request {
        let mut sent = Request::new(request.method.clone(), url.clone());
        sent.headers_mut().insert(ACCEPT, HeaderValue::from_static(request.accept));
        if let Some(authorization) = request.authorization.as_ref().filter(|_| !crossed) {
            self.scrubber.header(authorization);
            sent.headers_mut().insert(AUTHORIZATION, authorization.clone());
        }
        let more = request.headers.iter();
        sent.headers_mut()
            .extend(more.filter_map(|(name, text)| Some((HeaderName::from_static(name), text.parse().ok()?))));
        if let Some(form) = &request.form {
            let form_type = HeaderValue::from_static("application/x-www-form-urlencoded");
            sent.headers_mut().insert(CONTENT_TYPE, form_type);
            *sent.body_mut() = Some(form.clone().into());
        }
        sent
    }
}
