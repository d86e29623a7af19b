//! What comes after an attempt that did not count, and reading a whole document in as many attempts as it takes.

use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use reqwest::Method;
use tofu_oci_store::{Patience, StoreError};
use tofu_oci_types::Event;
use url::Url;

use crate::answer::{Answer, Unread, is_cut_short};
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
            let read = answer.read(limit).await;
            let reason = match &read {
                Err(Unread::TooLarge) => return Err(answer.too_large(what, limit)),
                Err(Unread::Broken(problem)) => problem.text.clone(),
                Ok(bytes) if is_cut_short(bytes) => format!("{what} ended early"),
                Ok(_) => String::new(),
            };
            if !reason.is_empty() {
                attempts.spend(answer.pace.still);
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

/// The registry wants a longer wait than we are willing to make.
pub(crate) fn too_long(place: String, asked: Duration) -> StoreError {
    StoreError::RateLimited { place, seconds: asked.as_secs().max(1), patience: Patience::Wait }
}
