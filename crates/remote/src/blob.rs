//! A blob on its way down; which address of it may be given away.

use std::ops::Range;
use std::sync::Arc;

use async_trait::async_trait;
use futures_util::StreamExt as _;
use reqwest::Method;
use reqwest::header::LOCATION;
use tofu_oci_http::{
    Attempts, BodySize, Download, Downloaded, HttpClient, NamedHost, Protection, RangeSource, RedirectFault, WebFault,
    host_of,
};
use tofu_oci_store::{BlobAhead, BlobSender, ByteStream, ReadStore as _, StoreError, StoreItem};
use tofu_oci_types::{Descriptor, Digest};

use crate::answer::RegistryAnswer;
use crate::call::{RedirectPolicy, RegistryCall};
use crate::client::RegistryClient;
use crate::fault::{self, unreachable};
use crate::repository::RemoteStore;
use crate::scope::RequestedAccess;

/// Blobs up to this size, in bytes, may come in any number before anyone reads them.
const SMALL: u64 = 4 << 20;

/// A blob of a repository that is being downloaded.
struct BlobSource {
    client: Arc<RegistryClient>,
    access: RequestedAccess,
    path: String,
    digest: Digest,
    redirects: RedirectPolicy,
}

impl RemoteStore {
    /// The blob's bytes, after the first answer's head has been seen.
    pub(crate) async fn blob_stream(&self, blob: &Descriptor) -> Result<ByteStream, StoreError> {
        let attempts = self.client.http().attempts();
        Ok(Download::start(self.blob_source(&blob.digest), BodySize::Known(blob.size), attempts).await?.stream)
    }

    /// The bytes of a blob whose size is not known, unless it may be large and others are on their way.
    pub(crate) async fn unsized_blob(
        &self,
        digest: &Digest,
        claimed: Option<u64>,
    ) -> Result<Option<BlobAhead>, StoreError> {
        let turn = match claimed {
            Some(0..=SMALL) => None,
            _ => match Arc::clone(&self.client.large_ahead).try_acquire_owned() {
                Ok(turn) => Some(turn),
                Err(_) => return Ok(None),
            },
        };
        let attempts = self.client.http().attempts();
        let Downloaded { size, stream } =
            Download::start(self.blob_source(digest), BodySize::AtMost(u64::MAX), attempts).await?;
        // The turn ends with the stream.
        let stream = stream
            .map(move |piece| {
                let _held = &turn;
                piece
            })
            .boxed();
        Ok(Some(BlobAhead { size, stream }))
    }

    /// A part of the blob's bytes, after the first answer's head has been seen.
    pub(crate) async fn blob_part(&self, blob: &Descriptor, part: Range<u64>) -> Result<ByteStream, StoreError> {
        if part == (0..blob.size) {
            return self.blob_stream(blob).await;
        }
        let attempts = self.client.http().attempts();
        Ok(Download::part(self.blob_source(&blob.digest), blob.size, part, attempts).await?.stream)
    }

    /// The blob's bytes if the registry sends them itself, unverified, or else the address on another host that it redirects a
    /// reader to: over TLS, and without anything secret that this program has sent.
    pub(crate) async fn sender_of(&self, blob: &Descriptor) -> Result<BlobSender, StoreError> {
        let source = BlobSource { redirects: RedirectPolicy::WithinTheOrigin, ..self.blob_source(&blob.digest) };
        let mut attempts = self.client.http().attempts();
        let answer = source.send(&[], &mut attempts).await?;
        if let (300..=399, Some(location)) = (answer.status(), answer.header(LOCATION.as_str())) {
            return self.other_host(&answer, location).await.map(BlobSender::OtherHost);
        }
        Ok(BlobSender::Store(Download::begun(source, answer, BodySize::Known(blob.size), attempts).await?.stream))
    }

    /// Where a redirect of the registry leads, if a client may go there. It obeys the rules of redirects. Another program will
    /// follow it, so the name is looked up now.
    async fn other_host(&self, answer: &RegistryAnswer, location: &str) -> Result<Option<String>, StoreError> {
        let http = self.client.http();
        let forbidden = |fault: RedirectFault| fault::forbidden(self.place(), &fault, fault.to_string());
        let from = answer.held_url();
        let rule = self.client.network.hosts.plain_rule(answer.url(), Protection::Digest);
        let to = http.next_hop(&from, location, &rule).map_err(forbidden)?.url;
        if http.named_host(&from.url, &to).await == NamedHost::TooNear {
            return Err(forbidden(RedirectFault::PrivateHost(host_of(&to))));
        }
        let is_free = http.scrubber().hide(to.as_str()) == to.as_str();
        Ok((to.scheme() == "https" && is_free).then(|| to.into()))
    }

    fn blob_source(&self, digest: &Digest) -> BlobSource {
        let (client, access) = (Arc::clone(&self.client), self.pull.clone());
        let path = self.path("blobs", digest.as_str());
        BlobSource { client, access, path, digest: digest.clone(), redirects: RedirectPolicy::All }
    }
}

#[async_trait]
impl RangeSource for BlobSource {
    type PartAnswer = RegistryAnswer;
    type DownloadError = StoreError;

    fn http(&self) -> &HttpClient {
        self.client.http()
    }

    fn protection(&self) -> Protection {
        Protection::Digest
    }

    fn label(&self) -> String {
        format!("GET {}{}", self.access.subject.registry(), self.path)
    }

    async fn send(
        &self,
        headers: &[(&'static str, String)],
        attempts: &mut Attempts,
    ) -> Result<RegistryAnswer, StoreError> {
        let call = RegistryCall::new(Method::GET, &self.path, &self.access).by_digest().with_headers(headers);
        let call = RegistryCall { redirects: self.redirects, ..call };
        self.client.send_within(&call, attempts).await
    }

    async fn refused(&self, answer: RegistryAnswer) -> StoreError {
        answer.into_error(StoreItem::Blob(self.digest.clone())).await
    }

    fn fault(&self, fault: WebFault) -> StoreError {
        let (place, what) = (self.access.subject.place(), StoreItem::Blob(self.digest.clone()));
        match fault {
            WebFault::Network(problem) => unreachable(place, problem),
            WebFault::WrongSize { expected, actual } => StoreError::SizeMismatch { place, what, expected, actual },
            WebFault::TooLarge(limit) => StoreError::TooLarge { place, what: what.to_string(), limit },
            WebFault::Changed => StoreError::Malformed { place, problem: format!("{what} changes while it is read") },
            WebFault::Encoded(encoding) => {
                StoreError::Malformed { place, problem: format!("{what} comes with the content encoding {encoding}") }
            }
            other => StoreError::Malformed { place, problem: format!("{what}: {other}") },
        }
    }
}
