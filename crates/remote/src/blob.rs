//! A blob on its way down.

use std::ops::Range;
use std::sync::Arc;

use async_trait::async_trait;
use futures_util::StreamExt as _;
use reqwest::Method;
use reqwest::header::LOCATION;
use tofu_oci_http::{
    Attempts, BodySize, Download, DownloadFault, Downloaded, HttpClient, Protection, RangeSource, same_origin,
};
use tofu_oci_store::{BlobAhead, ByteStream, StoreError, StoreItem};
use tofu_oci_types::{Descriptor, Digest};
use url::Url;

use crate::answer::RegistryAnswer;
use crate::call::RegistryCall;
use crate::client::RegistryClient;
use crate::fault::unreachable;
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

    /// The address on another host that the registry redirects a reader of the blob to: over TLS, and without anything
    /// secret that this program has sent. `None` if the registry sends the blob itself.
    pub(crate) async fn blob_address(&self, blob: &Descriptor) -> Result<Option<Url>, StoreError> {
        let path = self.path("blobs", blob.digest.as_str());
        // A registry that sends the blob itself sends a byte alone.
        let call = RegistryCall::new(Method::GET, &path, &self.pull).by_digest().header("range", "bytes=0-0").staying();
        let answer = self.client.send(&call).await?;
        match answer.status() {
            200..=299 | 416 => Ok(None),
            300..=399 => {
                let address = answer.header(LOCATION.as_str()).and_then(|location| answer.url().join(location).ok());
                let is_free = |address: &Url| self.client.network.scrubber().hide(address.as_str()) == address.as_str();
                let elsewhere = |address: &Url| address.scheme() == "https" && !same_origin(address, answer.url());
                Ok(address.filter(|address| elsewhere(address) && is_free(address)))
            }
            _ => Err(answer.into_error(StoreItem::Blob(blob.digest.clone())).await),
        }
    }

    fn blob_source(&self, digest: &Digest) -> BlobSource {
        let (client, access) = (Arc::clone(&self.client), self.pull.clone());
        let path = self.path("blobs", digest.as_str());
        BlobSource { client, access, path, digest: digest.clone() }
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
        self.client.send_within(&call, attempts).await
    }

    async fn refused(&self, answer: RegistryAnswer) -> StoreError {
        answer.into_error(StoreItem::Blob(self.digest.clone())).await
    }

    fn fault(&self, fault: DownloadFault) -> StoreError {
        let (place, what) = (self.access.subject.place(), StoreItem::Blob(self.digest.clone()));
        match fault {
            DownloadFault::Network(problem) => unreachable(place, problem),
            DownloadFault::WrongSize { expected, actual } => StoreError::SizeMismatch { place, what, expected, actual },
            DownloadFault::TooLarge(limit) => StoreError::TooLarge { place, what: what.to_string(), limit },
            DownloadFault::Changed => {
                StoreError::Malformed { place, problem: format!("{what} changes while it is read") }
            }
            DownloadFault::Encoded(encoding) => {
                StoreError::Malformed { place, problem: format!("{what} comes with the content encoding {encoding}") }
            }
        }
    }
}
