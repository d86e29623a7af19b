//! What comes after an attempt that did not count, and reading a whole document in as many attempts as it takes.

use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use reqwest::Method;
use tofu_oci_store::{GiveUpReason, StoreError};
use tofu_oci_types::{Digest, Event};
use url::Url;

use crate::answer::{Answer, Unread, is_cut_short, is_document};
use crate::call::Call;
use crate::client::RegistryClient;
use crate::origin::host_of;
use crate::retry::{Asked, Attempts, Next, random, spread};
use crate::waiting::Waiting;

/// Why there is no next attempt.
pub(crate) enum Stop {
    GiveUp,
    /// The registry asks for a longer wait than we are willing to make.
    TooLong(Duration),
}

/// An attempt that did not count.
pub(crate) struct Setback<'a> {
    /// Method, host and path, for people.
    pub(crate) request: String,
    /// The host that asks us to wait.
    pub(crate) host: String,
    pub(crate) asked: Asked,
    pub(crate) reason: &'a str,
}

impl RegistryClient {
    /// Makes the request and reads the whole body of an answer that is `wanted`, at most `limit` bytes of it. A body that
    /// breaks, or a JSON document that is cut short, costs an attempt as a broken request does. Of another answer no body
    /// is read here.
    pub(crate) async fn document(
        &self,
        call: &Call<'_>,
        what: &str,
        limit: u64,
        wanted: impl Fn(&Answer) -> bool,
    ) -> Result<(Answer, Bytes), StoreError> {
        let mut attempts = self.attempts();
        loop {
            let mut answer = self.send_within(call, &mut attempts).await?;
            if !wanted(&answer) {
                return Ok((answer, Bytes::new()));
            }
            let read = answer.read_document(limit, call.digest()).await;
            let reason = match &read {
                Err(Unread::TooLarge) => return Err(answer.too_large(what, limit)),
                Err(Unread::Broken(problem)) => problem.text.clone(),
                Ok(bytes) if is_cut_short(bytes) => format!("{what} ended early"),
                Ok(_) => String::new(),
            };
            if !reason.is_empty() {
                attempts.spend(answer.pace.still());
                let request = format!("{} {}{}", call.method, host_of(answer.url()), answer.url().path());
                let setback = Setback { request, host: host_of(answer.url()), asked: Asked::Nothing, reason: &reason };
                if self.again(&mut attempts, setback).await.is_ok() {
                    continue;
                }
            }
            return match read {
                Err(Unread::Broken(problem)) => Err(problem.at(answer.place)),
                Ok(bytes) => Ok((answer, bytes)),
                Err(Unread::TooLarge) => Err(answer.too_large(what, limit)),
            };
        }
    }

    /// Waits before the next attempt and says so, or says why there is none. A host that wants fewer requests is left
    /// alone by all requests.
    pub(crate) async fn again(&self, attempts: &mut Attempts, setback: Setback<'_>) -> Result<(), Stop> {
        let tries = attempts.tries();
        let wait = match attempts.next(setback.asked) {
            Next::Wait(wait) => wait,
            Next::GiveUp => return Err(Stop::GiveUp),
            Next::TooLong(asked) => return Err(Stop::TooLong(asked)),
        };
        if let Asked::Slower(asked) = setback.asked {
            attempts.sits_out(self.http.pacing().pause(&setback.host, asked.unwrap_or(wait)));
        }
        self.wait(&setback.request, tries + 1, wait, setback.reason).await;
        Ok(())
    }

    /// Waits before the next attempt, and says so.
    pub(crate) async fn wait(&self, request: &str, attempt: u32, wait: Duration, reason: &str) {
        self.reporter.event(&Event::Retrying {
            request: self.told.hide(request),
            attempt,
            after_ms: u64::try_from(wait.as_millis()).unwrap_or(u64::MAX),
            reason: self.told.hide(reason),
        });
        self.options.clock.sleep(wait).await;
    }

    /// Waits until the host takes requests again.
    pub(crate) async fn pass(&self, url: &Url, attempts: &mut Attempts) -> Result<(), Duration> {
        while let Some((left, until)) = self.http.pacing().pause_of(url, attempts.sat_out()) {
            let wait = left + spread(left, random());
            if !attempts.held_up(wait) {
                return Err(wait);
            }
            self.options.clock.sleep(wait).await;
            attempts.sits_out(until);
        }
        Ok(())
    }

    /// Who waits for the answer to this request.
    pub(crate) fn waiting(&self, method: &Method, url: &Url) -> Waiting {
        Waiting {
            http: Arc::clone(&self.http),
            reporter: Arc::clone(&self.reporter),
            host: host_of(url),
            request: self.told.hide(&format!("{method} {}", url.path())),
            said: Arc::default(),
        }
    }
}

impl Answer {
    /// Reads a document. One without an end is whole if its bytes are those of the digest that was `asked` for, and of the
    /// one that the answer names: white space at its end may come late.
    async fn read_document(&mut self, limit: u64, asked: Option<Digest>) -> Result<Bytes, Unread> {
        let named = self.header("docker-content-digest").and_then(|text| text.parse::<Digest>().ok());
        let digests: Vec<Digest> = asked.into_iter().chain(named).collect();
        self.read_until(limit, &|bytes| is_document(bytes) && are_of(bytes, &digests)).await
    }
}

/// Whether the bytes have all these digests, as far as they can be computed here.
fn are_of(bytes: &[u8], digests: &[Digest]) -> bool {
    digests.iter().all(|digest| {
        digest.hasher().is_none_or(|mut hasher| {
            hasher.update(bytes);
            hasher.finish() == *digest
        })
    })
}

/// The registry wants a longer wait than we are willing to make.
pub(crate) fn too_long(place: String, asked: Duration) -> StoreError {
    StoreError::RateLimited { place, seconds: asked.as_secs().max(1), patience: GiveUpReason::Wait }
}

#[cfg(test)]
mod tests {
    use tofu_oci_types::NoReporter;

    use super::*;
    use crate::options::{ClientOptions, NoCredentials};

    /// What is read of a body whose parts come a second apart, on a connection that stays open.
    async fn read(parts: &'static [&'static str], named: Option<Digest>, asked: Option<Digest>) -> Option<Bytes> {
        let client = RegistryClient::new(ClientOptions::default(), Arc::new(NoCredentials), Arc::new(NoReporter));
        let client = client.expect("a client");
        let body = futures_util::stream::unfold(0, async |nth: usize| match parts.get(nth) {
            Some(part) => {
                tokio::time::sleep(Duration::from_secs(nth as u64)).await;
                Some((Ok::<_, std::io::Error>(Bytes::from_static(part.as_bytes())), nth + 1))
            }
            None => std::future::pending().await,
        });
        let mut response = http::Response::builder();
        if let Some(named) = named {
            response = response.header("docker-content-digest", named.to_string());
        }
        let response = response.body(reqwest::Body::wrap_stream(body)).expect("an answer").into();
        let waiting = client.waiting(&Method::GET, &Url::parse("http://a.test/v2/x").expect("an address"));
        let mut answer = client.answer(response, "a.test/x".to_owned(), "GET /v2/x".to_owned(), waiting);
        answer.read_document(1024, asked).await.ok()
    }

    #[tokio::test(start_paused = true)]
    async fn white_space_that_comes_late_belongs_to_a_document_of_a_known_digest() {
        let all = Some(Bytes::from("{}\n"));
        let (known, other) = (Digest::sha256(b"{}\n"), Digest::sha256(b"other"));
        assert_eq!(read(&["{}", "\n"], None, Some(known.clone())).await, all);
        assert_eq!(read(&["{}", "\n"], Some(known), None).await, all);
        assert_eq!(read(&["{}", "\n"], Some(other.clone()), None).await, all, "and whoever asked compares it");
        assert_eq!(read(&["{", "}"], None, None).await, Some(Bytes::from("{}")));
        assert_eq!(read(&["{}", "\n"], None, None).await, Some(Bytes::from("{}")), "nothing says that more comes");
        assert_eq!(read(&["{"], Some(other), None).await, None);
    }
}
