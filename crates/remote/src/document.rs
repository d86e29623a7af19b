//! Whole documents of a registry, in as many attempts as they take.

use bytes::Bytes;
use tofu_oci_http::{RetryAfter, Setback, UnreadBody, clean, host_of, is_cut_short, is_document};
use tofu_oci_store::StoreError;
use tofu_oci_types::Digest;

use crate::answer::RegistryAnswer;
use crate::call::RegistryCall;
use crate::client::RegistryClient;
use crate::fault::unreachable;

impl RegistryClient {
    /// Makes the request and reads the whole body of an answer that is `wanted`, at most `limit` bytes of it. A body that
    /// breaks, or a JSON document that is cut short, costs an attempt as a broken request does. The body of another answer
    /// stays unread.
    pub(crate) async fn document(
        &self,
        call: &RegistryCall<'_>,
        what: &str,
        limit: u64,
        wanted: impl Fn(&RegistryAnswer) -> bool,
    ) -> Result<(RegistryAnswer, Bytes), StoreError> {
        let mut attempts = self.http().attempts();
        loop {
            let mut answer = self.send_within(call, &mut attempts).await?;
            if !wanted(&answer) {
                return Ok((answer, Bytes::new()));
            }
            if let Some(encoding) = answer.content_encoding() {
                let problem = format!("{what} comes with the content encoding {}", clean(encoding));
                return Err(StoreError::Malformed { place: answer.place, problem });
            }
            let read = answer.read_document(limit, call.digest()).await;
            let reason = match &read {
                Err(UnreadBody::TooLarge) => return Err(answer.too_large(what, limit)),
                Err(UnreadBody::Broken(problem)) => problem.text.clone(),
                Ok(bytes) if is_cut_short(bytes) => format!("{what} ended early"),
                Ok(_) => String::new(),
            };
            if !reason.is_empty() {
                answer.spend_on(&mut attempts);
                let request = format!("{} {}{}", call.method, host_of(answer.url()), answer.url().path());
                let (host, after) = (host_of(answer.url()), RetryAfter::Nothing);
                let setback = Setback { request, host, after, reason: &reason };
                if self.http().retry(&mut attempts, setback).await.is_ok() {
                    continue;
                }
            }
            return match read {
                Err(UnreadBody::Broken(problem)) => Err(unreachable(answer.place, problem)),
                Ok(bytes) => Ok((answer, bytes)),
                Err(UnreadBody::TooLarge) => Err(answer.too_large(what, limit)),
            };
        }
    }
}

impl RegistryAnswer {
    /// Reads a document. One without an end is whole if its bytes are those of the digest that was `asked` for, and of the
    /// one that the answer names: white space at its end may come late.
    async fn read_document(&mut self, limit: u64, asked: Option<Digest>) -> Result<Bytes, UnreadBody> {
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_document_has_every_digest_that_speaks_of_it() {
        let own = [Digest::sha256(b"{}\n")];
        let other = [own[0].clone(), Digest::sha256(b"other")];
        let unknown: Digest = "blake3:6437b3ac38465133ffb63b75273a8db5".parse().expect("a digest");
        assert!(are_of(b"{}\n", &[]) && are_of(b"{}\n", &own) && are_of(b"{}\n", &[own[0].clone(), unknown]));
        assert!(!are_of(b"{}", &own) && !are_of(b"{}\n", &other));
    }
}
