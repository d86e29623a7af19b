//! What a registry answered.

use std::sync::Arc;
use std::time::Duration;

use bytes::{Bytes, BytesMut};
use reqwest::header::WWW_AUTHENTICATE;
use reqwest::{Response, StatusCode};
use serde::Deserialize;
use serde::de::IgnoredAny;
use serde_json::Value;
use tofu_oci_store::{AccessFault, GiveUpReason, StoreError};
use tofu_oci_types::NetworkFault;
use tokio::time::{Instant, timeout};
use url::Url;

use crate::challenge::parse;
use crate::clean::{NetworkProblem, clean, network_problem};
use crate::exchange::Shown;
use crate::origin::host_of;
use crate::pace::Pace;
use crate::refusal::Refusal;
use crate::retry::{Asked, retry_after};
use crate::secret_scrubber::SecretScrubber;
use crate::waiting::{Elapsed, Waiting};

/// Most bytes of an error's body that are read.
const ERROR_LIMIT: u64 = 64 * 1024;

/// The head of an answer, its body unread.
pub(crate) struct Answer {
    pub(crate) response: Response,
    /// The repository, for people.
    pub(crate) place: String,
    /// Method and path of the first request, for people.
    pub(crate) request: String,
    /// Whether a redirect led to another origin.
    pub(crate) crossed: bool,
    /// What the request showed.
    pub(crate) shown: Shown,
    /// Whether there was a credential behind it.
    pub(crate) named: bool,
    /// Whether what it showed says itself that it grants less than was asked for.
    pub(crate) short: bool,
    /// Why nothing was shown to a registry that asked for it.
    pub(crate) lack: Option<AccessFault>,
    /// The registry's own words, where they have been read already.
    pub(crate) said: Option<Words>,
    /// The whole body, where it has been read already.
    pub(crate) body: Option<Bytes>,
    /// Who waits for the body.
    pub(crate) waiting: Waiting,
    /// How the body comes.
    pub(crate) pace: Pace,
    pub(crate) now: std::time::SystemTime,
    /// Secrets that must not be quoted.
    pub(crate) told: Arc<SecretScrubber>,
}

impl Answer {
    pub(crate) fn status(&self) -> u16 {
        self.response.status().as_u16()
    }

    pub(crate) fn is(&self, status: StatusCode) -> bool {
        self.response.status() == status
    }

    pub(crate) fn url(&self) -> &Url {
        self.response.url()
    }

    pub(crate) fn header(&self, name: &str) -> Option<&str> {
        self.response.headers().get(name).and_then(|value| value.to_str().ok())
    }

    pub(crate) fn headers<'a>(&'a self, name: &'a str) -> impl Iterator<Item = &'a str> {
        self.response.headers().get_all(name).iter().filter_map(|value| value.to_str().ok())
    }

    /// What the registry wants to see, a line each.
    pub(crate) fn challenges(&self) -> Vec<String> {
        let lines = self.response.headers().get_all(WWW_AUTHENTICATE).iter();
        lines.map(|line| String::from_utf8_lossy(line.as_bytes()).into_owned()).collect()
    }

    /// The length that the registry announces.
    pub(crate) fn length(&self) -> Option<u64> {
        self.header("content-length")?.trim().parse().ok()
    }

    /// The media type without parameters, in lower case.
    pub(crate) fn media_type(&self) -> Option<String> {
        let value = self.header("content-type")?.split(';').next()?.trim().to_ascii_lowercase();
        (!value.is_empty()).then_some(value)
    }

    /// The wait that the registry asks for.
    pub(crate) fn asked_wait(&self) -> Option<Duration> {
        retry_after(self.header("retry-after")?, self.now)
    }

    /// What a passing refusal says about the next attempt.
    pub(crate) fn asked(&self) -> Asked {
        Asked::of(self.status(), self.asked_wait())
    }

    /// The next piece of the body. Only the time that is waited here counts: whoever takes the pieces may be slow.
    pub(crate) async fn piece(&mut self) -> Result<Option<Bytes>, NetworkProblem> {
        let limits = self.waiting.http.limits();
        let start = Instant::now();
        // What was waited before counts, as long as not enough has come since.
        let since = start.checked_sub(self.pace.stalled()).unwrap_or(start);
        let limit = self.pace.stalled().saturating_add(self.pace.patience(&limits));
        let piece = self.waiting.until(limit, || since, self.response.chunk()).await;
        self.pace.waited(start.elapsed());
        match piece {
            Ok(Ok(piece)) => {
                self.pace.moved(piece.as_ref().map_or(0, |piece| piece.len() as u64), &limits);
                Ok(piece)
            }
            Ok(Err(error)) => Err(network_problem(error, self.now)),
            Err(Elapsed) => Err(self.pace.too_slow(&limits)),
        }
    }

    /// The next piece, or the end if nothing comes for a moment: for a body that is all there, so that its end matters
    /// for the connection alone.
    pub(crate) async fn end(&mut self) -> Result<Option<Bytes>, NetworkProblem> {
        let moment = self.waiting.http.limits().window / 300;
        timeout(moment, self.piece()).await.unwrap_or(Ok(None))
    }

    /// The whole body, as long as it is not larger than `limit` bytes. A JSON document that is complete needs no end of
    /// the answer: a server may keep the connection open without saying how long the answer is.
    pub(crate) async fn read(&mut self, limit: u64) -> Result<Bytes, Unread> {
        self.read_until(limit, &is_document).await
    }

    /// The same; `is_all` says whether a document that may have no end is all there.
    pub(crate) async fn read_until(
        &mut self,
        limit: u64,
        is_all: &(dyn Fn(&[u8]) -> bool + Sync),
    ) -> Result<Bytes, Unread> {
        if let Some(body) = &self.body {
            return Ok(Bytes::clone(body));
        }
        if self.length().is_some_and(|length| length > limit) {
            return Err(Unread::TooLarge);
        }
        let moment = self.waiting.http.limits().window / 120;
        let mut bytes = BytesMut::new();
        loop {
            let is_open = self.length().is_none() && !bytes.is_empty();
            let piece = if is_open { timeout(moment, self.piece()).await.ok() } else { Some(self.piece().await) };
            let piece = match piece {
                Some(piece) => piece,
                None if is_all(&bytes) => Ok(None),
                None => {
                    self.pace.waited(moment);
                    match self.piece().await {
                        // Another document than was asked for says more than the want of an end.
                        Err(problem) if problem.fault == NetworkFault::TimedOut && is_document(&bytes) => Ok(None),
                        piece => piece,
                    }
                }
            };
            match piece {
                Ok(Some(piece)) if bytes.len() as u64 + piece.len() as u64 > limit => return Err(Unread::TooLarge),
                Ok(Some(piece)) => bytes.extend_from_slice(&piece),
                Ok(None) => {
                    let bytes = bytes.freeze();
                    self.body = Some(Bytes::clone(&bytes));
                    return Ok(bytes);
                }
                Err(problem) => return Err(Unread::Broken(problem)),
            }
        }
    }

    pub(crate) fn too_large(&self, what: &str, limit: u64) -> StoreError {
        StoreError::TooLarge { place: self.place.clone(), what: what.to_owned(), limit }
    }

    /// The answer as an error: the registry's own words where there are some. `what` is what was asked for.
    pub(crate) async fn into_error(self, what: &str) -> StoreError {
        let is_404 = self.is(StatusCode::NOT_FOUND) && !self.crossed;
        let place = self.place.clone();
        let (words, error) = self.words_and_error().await;
        if !is_404 {
            return error;
        }
        if words.repository_unknown() {
            StoreError::UnknownRepository { place }
        } else {
            StoreError::NotFound { place, what: what.to_owned() }
        }
    }

    /// The registry's own words, and the answer as an error that says its status.
    pub(crate) async fn words_and_error(self) -> (Words, StoreError) {
        let status = self.response.status();
        let asked_wait = self.asked_wait();
        let refusal = self.refusal();
        let from = self.crossed.then(|| host_of(self.url()));
        let (place, request) = (self.place.clone(), self.request.clone());
        let words = self.words().await;
        let mut problem = words.text(status);
        if let Some(host) = from {
            problem = format!("{host} says: {problem}");
            let status = status.as_u16();
            return (words, StoreError::Rejected { place, status, request, problem });
        }
        let error = match (status, asked_wait) {
            (StatusCode::UNAUTHORIZED | StatusCode::FORBIDDEN, _) => refusal.error(status, place, problem),
            (StatusCode::TOO_MANY_REQUESTS, Some(asked)) => {
                StoreError::RateLimited { place, seconds: asked.as_secs(), patience: GiveUpReason::Attempts }
            }
            _ => StoreError::Rejected { place, status: status.as_u16(), request, problem },
        };
        (words, error)
    }

    /// What a refusal is about.
    fn refusal(&self) -> Refusal {
        let lines = self.challenges();
        let challenges = parse(lines.iter().map(String::as_str));
        Refusal::new((self.shown.clone(), self.named, self.short), self.lack, &challenges, &self.told)
    }

    /// The registry's own words, without what it was shown.
    pub(crate) async fn words(mut self) -> Words {
        match self.said.take() {
            Some(words) => words,
            None => self.read_words().await,
        }
    }

    /// Reads the registry's own words and keeps them.
    pub(crate) async fn keep_words(&mut self) {
        if self.said.is_none() {
            self.said = Some(self.read_words().await);
        }
    }

    /// Whether the registry's own words have one of these codes.
    pub(crate) async fn says(&mut self, codes: &[&str]) -> bool {
        self.keep_words().await;
        self.said.as_ref().is_some_and(|words| words.has_code(codes))
    }

    async fn read_words(&mut self) -> Words {
        // Words are a help; the wait for them is short.
        let patience = self.waiting.http.limits().window;
        let bytes = timeout(patience, self.read(ERROR_LIMIT)).await;
        let bytes = bytes.ok().and_then(Result::ok).unwrap_or_default();
        let mut words: Words = serde_json::from_slice(&bytes).unwrap_or_default();
        let errors = words.errors.iter_mut().flat_map(|error| {
            let detail = match &mut error.detail {
                Value::String(text) => Some(text),
                _ => None,
            };
            [&mut error.code, &mut error.message].into_iter().chain(detail)
        });
        let others = [&mut words.error, &mut words.error_description, &mut words.details];
        let others = others.into_iter().filter_map(|one| match one {
            Value::String(text) => Some(text),
            _ => None,
        });
        for text in errors.chain(others) {
            *text = self.told.hide(text);
        }
        words
    }
}

/// Why there is no body.
pub(crate) enum Unread {
    TooLarge,
    Broken(NetworkProblem),
}

/// Whether these bytes are a whole JSON document.
pub(crate) fn is_document(bytes: &[u8]) -> bool {
    serde_json::from_slice::<IgnoredAny>(bytes).is_ok()
}

/// Whether these bytes are the beginning of a JSON document, and not all of it.
pub(crate) fn is_cut_short(bytes: &[u8]) -> bool {
    serde_json::from_slice::<IgnoredAny>(bytes).is_err_and(|error| error.is_eof())
}

/// The errors that a registry names.
///
/// Spec: OCI distribution-spec 1.1.1, "Error Codes". Bodies that are anything else have no words.
#[derive(Debug, Default, Deserialize)]
pub(crate) struct Words {
    #[serde(default)]
    errors: Vec<Word>,
    /// What token servers say instead: of `OAuth2` these two, of Docker Hub the third.
    #[serde(default)]
    error: Value,
    #[serde(default)]
    error_description: Value,
    #[serde(default)]
    details: Value,
}

#[derive(Debug, Deserialize)]
struct Word {
    #[serde(default)]
    code: String,
    #[serde(default)]
    message: String,
    /// More about it, which registries may give in any form; a text is shown.
    #[serde(default)]
    detail: Value,
}

impl Word {
    /// The sentence, with the detail where that says more.
    fn sentence(&self) -> String {
        let message = clean(&self.message);
        match self.detail.as_str().map(clean) {
            Some(detail) if !detail.is_empty() && !message.contains(&detail) => {
                if message.is_empty() {
                    detail
                } else {
                    format!("{message}: {detail}")
                }
            }
            _ => message,
        }
    }
}

impl Words {
    /// The first error in one line, where there is one.
    pub(crate) fn said(&self) -> Option<String> {
        let error = self.errors.first()?;
        let parts = [clean(&error.code), clean(&error.message)];
        Some(parts.into_iter().filter(|part| !part.is_empty()).collect::<Vec<_>>().join(": "))
            .filter(|said| !said.is_empty())
    }

    /// What a token server says, in one line: an error as registries name them, or one of `OAuth2`.
    ///
    /// Spec: RFC 6749, section 5.2; distribution, `docs/spec/auth/token.md`.
    pub(crate) fn of_token_server(&self) -> Option<String> {
        let text = |value: &Value| value.as_str().map(clean).filter(|text| !text.is_empty());
        let code_first = |code: Option<String>, message: Option<String>| match (code, message) {
            (Some(code), Some(message)) => Some(format!("{message} ({code})")),
            (code, message) => message.or(code),
        };
        let first = self.errors.first().and_then(|error| {
            let [code, message] = [&error.code, &error.message].map(|text| clean(text));
            code_first(Some(code).filter(|text| !text.is_empty()), Some(message).filter(|text| !text.is_empty()))
        });
        let said =
            first.or_else(|| code_first(text(&self.error), text(&self.error_description).or(text(&self.details))));
        said.map(|said| clean(&said))
    }

    /// Whether there are none: the answer may come from something that is no registry.
    pub(crate) fn is_empty(&self) -> bool {
        self.errors.is_empty()
    }

    pub(crate) fn has_code(&self, codes: &[&str]) -> bool {
        self.errors.iter().any(|error| codes.contains(&error.code.as_str()))
    }

    pub(crate) fn mentions(&self, text: &str) -> bool {
        let said = self.errors.iter().flat_map(|error| [Some(error.message.as_str()), error.detail.as_str()]);
        said.flatten().any(|said| said.to_ascii_lowercase().contains(text))
    }

    pub(crate) fn repository_unknown(&self) -> bool {
        self.has_code(&["NAME_UNKNOWN", "NAME_INVALID"])
    }

    /// The first error in one line, or the status where there is none.
    pub(crate) fn text(&self, status: StatusCode) -> String {
        let reason = status.canonical_reason().unwrap_or("no reason given").to_ascii_lowercase();
        let Some(error) = self.errors.first() else { return reason };
        match (clean(&error.code), error.sentence()) {
            (code, message) if code.is_empty() && message.is_empty() => reason,
            (code, message) if message.is_empty() => code,
            (code, message) if code.is_empty() => message,
            (code, message) => format!("{message} ({code})"),
        }
    }
}
