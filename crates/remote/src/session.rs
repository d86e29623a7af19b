//! An upload session: where it goes on, how it ends, and what comes after a break.

use reqwest::Method;
use tofu_oci_http::{
    Attempts, HeldUrl, NamedHosts, NoRetry, PlainRule, Protection, RedirectFault, RetryAfter, Setback, host_of,
    is_transient, named_address, next_hop,
};
use tofu_oci_store::{ReadStore as _, StoreError, StoreItem};
use tofu_oci_types::Digest;
use url::Url;

use crate::answer::RegistryAnswer;
use crate::call::{CallTarget, RegistryCall};
use crate::fault::{forbidden, too_long};
use crate::repository::RemoteStore;

/// How the sending of the bytes ended.
pub(crate) enum Sent {
    Done,
    /// The registry does not take so many bytes at once.
    TooLong(Box<RegistryAnswer>),
    /// It broke; a new session may succeed.
    Broken(BrokenTransfer),
    /// The session is gone, and the wait that follows a break has been made.
    Lost,
}

/// A transfer that broke.
pub(crate) struct BrokenTransfer {
    pub(crate) error: StoreError,
    pub(crate) after: RetryAfter,
    /// The host that broke it, as all requests name it: the registry may have named another one for the session.
    pub(crate) host: String,
}

impl RemoteStore {
    /// Waits after a break, or ends with its error.
    pub(crate) async fn after_break(&self, attempts: &mut Attempts, broken: &BrokenTransfer) -> Result<(), StoreError> {
        let request = format!("PUT {}{}", self.repository.registry(), self.path("blobs", "uploads/"));
        let reason = broken.error.to_string();
        let setback = Setback { request, host: broken.host.clone(), after: broken.after, reason: &reason };
        self.client.http().retry(attempts, setback).await.map_err(|stop| match stop {
            NoRetry::GiveUp => broken.error.clone(),
            NoRetry::TooLong(asked) => too_long(self.place(), asked),
        })
    }

    /// The request that ends a session with the digest of everything in it.
    pub(crate) fn closing(&self, mut location: HeldUrl, digest: &Digest) -> RegistryCall<'_> {
        location.url.query_pairs_mut().append_pair("digest", digest.as_str());
        RegistryCall::to(Method::PUT, CallTarget::Address(location), &self.push)
            .header("content-type", "application/octet-stream")
            .step()
    }

    /// What the answer to the closing request means.
    pub(crate) async fn closed(&self, mut answer: RegistryAnswer, digest: &Digest) -> Result<Sent, StoreError> {
        let (after, host) = (answer.retry_after(), host_of(answer.url()));
        match answer.status() {
            200 | 201 | 202 | 204 => {}
            411 | 413 | 416 => return Ok(Sent::TooLong(Box::new(answer))),
            status => {
                let is_lost = status == 404
                    || answer.keep_words().await.has_code(&["BLOB_UPLOAD_INVALID", "BLOB_UPLOAD_UNKNOWN"]);
                let may_pass = self.may_pass(&mut answer).await;
                let error = self.write_error(answer).await;
                if is_lost || is_transient(status) {
                    return Ok(Sent::Broken(BrokenTransfer { error, after, host }));
                }
                // The registry may have denied what it has just taken.
                return if may_pass && self.has_blob(digest, &self.push).await? { Ok(Sent::Done) } else { Err(error) };
            }
        }
        match answer.header("docker-content-digest").and_then(|text| text.parse::<Digest>().ok()) {
            Some(actual) if actual.algorithm_name() == digest.algorithm_name() && actual != *digest => {
                Err(StoreError::DigestMismatch {
                    place: self.place(),
                    what: StoreItem::Other("the blob that was stored"),
                    expected: digest.clone(),
                    actual: Box::new(actual),
                })
            }
            _ => Ok(Sent::Done),
        }
    }

    /// Where the session goes on: no nearer than the host that says so, which the registry may have led to.
    pub(crate) fn location(&self, answer: &RegistryAnswer) -> Result<HeldUrl, StoreError> {
        let location = answer
            .header("location")
            .ok_or_else(|| self.malformed(format!("its answer to {} names no upload location", answer.request)))?;
        let from = answer.held_url();
        let named = upload_location(&from.url, location, &self.client.network.hosts.named.plain);
        named.and_then(|url| self.client.http().held(&from, url)).map_err(|fault| {
            let problem = format!("the upload location: {fault}");
            forbidden(self.place(), &fault, problem)
        })
    }

    /// Ends a session that is not needed. A failure is ignored and no right to delete is asked for: a session expires by
    /// itself.
    pub(crate) async fn cancel(&self, session: HeldUrl) {
        let call = RegistryCall::to(Method::DELETE, CallTarget::Address(session), &self.push).once().at_hand();
        if let Err(error) = self.client.send(&call).await {
            tracing::debug!(%error, "an upload session stays open");
        }
    }
}

/// The upload location, with the one repair that costs no safety: a registry whose proxy ends TLS often names its
/// own host with `http:`, and is then asked over HTTPS on its own origin.
pub(crate) fn upload_location(from: &Url, location: &str, named: &NamedHosts) -> Result<Url, RedirectFault> {
    if let Ok(to) = named_address(from, location)
        && from.scheme() == "https"
        && to.scheme() == "http"
        && to.host() == from.host()
        && to.username().is_empty()
        && to.port().is_none_or(|port| from.port() == Some(port))
    {
        let mut repaired = from.clone();
        repaired.set_path(to.path());
        repaired.set_query(to.query());
        return Ok(repaired);
    }
    next_hop(from, location, &PlainRule { began: from, named, protection: Protection::Tls })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn url(text: &str) -> Url {
        Url::parse(text).expect("a test address")
    }

    #[track_caller]
    fn check_location(from: &str, location: &str, want: Option<&str>) {
        assert_eq!(
            upload_location(&url(from), location, &NamedHosts::new(&["b.test".to_owned()]))
                .ok()
                .as_ref()
                .map(Url::as_str),
            want
        );
    }

    #[test]
    fn upload_locations_are_taken_as_they_are_or_on_the_safe_scheme() {
        check_location("https://a.test/v2/x/blobs/uploads/", "/u/1?s=a%2Fb", Some("https://a.test/u/1?s=a%2Fb"));
        check_location("https://a.test/v2/", "http://a.test/u?s=1", Some("https://a.test/u?s=1"));
        check_location("https://a.test:8443/v2/", "http://a.test/u", Some("https://a.test:8443/u"));
        check_location("https://a.test/v2/", "http://a.test:5000/u", None);
        check_location("https://a.test/v2/", "http://b.test/u", None);
        check_location("https://a.test/v2/", "https://b.test/u", Some("https://b.test/u"));
    }
}
