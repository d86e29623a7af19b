//! What a registry answered.

use std::ops::{Deref, DerefMut};
use std::sync::Arc;
use tofu_oci_types::Place;

use reqwest::StatusCode;
use reqwest::header::WWW_AUTHENTICATE;
use tofu_oci_http::{HttpAnswer, HttpClient, host_of};
use tofu_oci_store::{AccessFault, GiveUpReason, StoreError, StoreItem};

use crate::challenge::parse;
use crate::exchange::ShownCredential;
use crate::refusal::AccessRefusal;
use crate::words::ErrorWords;

/// An answer, with the context that its error needs.
pub(crate) struct RegistryAnswer {
    head: HttpAnswer,
    http: Arc<HttpClient>,
    /// The repository, for people.
    pub(crate) place: Place,
    /// Method and path of the first request, for people.
    pub(crate) request: String,
    /// Whether a redirect led to another origin.
    pub(crate) crossed: bool,
    /// What the request showed.
    pub(crate) shown: ShownCredential,
    /// Whether it came from a credential.
    pub(crate) named: bool,
    /// Whether what it showed says itself that it grants less than was asked for.
    pub(crate) short: bool,
    /// Why nothing was shown to a registry that asked for it.
    pub(crate) lack: Option<AccessFault>,
    /// The registry's own words, if they have been read already.
    words: Option<ErrorWords>,
}

impl Deref for RegistryAnswer {
    type Target = HttpAnswer;

    fn deref(&self) -> &HttpAnswer {
        &self.head
    }
}

impl DerefMut for RegistryAnswer {
    fn deref_mut(&mut self) -> &mut HttpAnswer {
        &mut self.head
    }
}

impl AsMut<HttpAnswer> for RegistryAnswer {
    fn as_mut(&mut self) -> &mut HttpAnswer {
        &mut self.head
    }
}

impl RegistryAnswer {
    /// An answer to a request that showed nothing.
    pub(crate) fn new(head: HttpAnswer, http: Arc<HttpClient>, place: Place, request: String) -> Self {
        let (crossed, named, short) = (false, false, false);
        Self {
            head,
            http,
            place,
            request,
            crossed,
            shown: ShownCredential::Nothing,
            named,
            short,
            lack: None,
            words: None,
        }
    }

    fn code(&self) -> StatusCode {
        StatusCode::from_u16(self.status()).unwrap_or_default()
    }

    /// What the registry wants to see, a line each.
    pub(crate) fn challenges(&self) -> Vec<String> {
        let lines = self.all_headers().get_all(WWW_AUTHENTICATE).iter();
        lines.map(|line| String::from_utf8_lossy(line.as_bytes()).into_owned()).collect()
    }

    pub(crate) fn too_large(&self, what: &str, limit: u64) -> StoreError {
        StoreError::TooLarge { place: self.place.clone(), what: what.to_owned(), limit }
    }

    /// The answer as an error: the registry's own words if there are some. `what` is what was asked for.
    pub(crate) async fn into_error(self, what: StoreItem) -> StoreError {
        let is_404 = self.status() == 404 && !self.crossed;
        let place = self.place.clone();
        let (words, error) = self.words_and_error().await;
        if !is_404 {
            return error;
        }
        if words.repository_unknown() {
            StoreError::UnknownRepository { place }
        } else {
            StoreError::NotFound { place, what }
        }
    }

    /// The registry's own words, and the answer as an error that says its status.
    pub(crate) async fn words_and_error(self) -> (ErrorWords, StoreError) {
        let (status, asked_wait) = (self.code(), self.asked_wait());
        let refusal = self.refusal();
        let from = self.crossed.then(|| host_of(self.url()));
        let (place, request) = (self.place.clone(), self.request.clone());
        let words = self.words().await;
        let (mut problem, reason) = (words.text(status), words.reason(status, &place));
        if let Some(host) = from {
            problem = format!("{host} says: {problem}");
            let status = status.as_u16();
            return (words, StoreError::Rejected { place, status, request, problem, reason, crossed: true });
        }
        let error = match (status, asked_wait) {
            (StatusCode::UNAUTHORIZED | StatusCode::FORBIDDEN, _) => refusal.error(status, place, problem),
            (StatusCode::TOO_MANY_REQUESTS, Some(asked)) => {
                StoreError::RateLimited { place, seconds: asked.as_secs(), reason: GiveUpReason::Attempts }
            }
            _ => StoreError::Rejected { place, status: status.as_u16(), request, problem, reason, crossed: false },
        };
        (words, error)
    }

    /// What a refusal is about.
    fn refusal(&self) -> AccessRefusal {
        let lines = self.challenges();
        let challenges = parse(lines.iter().map(String::as_str));
        let proof = (self.shown.clone(), self.named, self.short);
        AccessRefusal::new(proof, self.lack, &challenges, self.http.scrubber())
    }

    /// The registry's own words, without secrets that were sent.
    pub(crate) async fn words(mut self) -> ErrorWords {
        self.keep_words().await;
        self.words.take().unwrap_or_default()
    }

    /// Reads the registry's own words and keeps them.
    pub(crate) async fn keep_words(&mut self) -> &ErrorWords {
        let words = match self.words.take() {
            Some(words) => words,
            None => ErrorWords::read(&mut self.head, self.http.scrubber()).await,
        };
        self.words.insert(words)
    }
}
