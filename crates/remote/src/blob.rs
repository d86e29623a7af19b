//! A blob on its way down.

use std::sync::Arc;

use async_trait::async_trait;
use reqwest::Method;
use tofu_oci_http::{Attempts, BodySize, Download, DownloadFault, HttpClient, Protection, RangeSource};
use tofu_oci_store::{ByteStream, StoreError, StoreItem};
use tofu_oci_types::{Descriptor, Digest};

use crate::answer::RegistryAnswer;
use crate::call::RegistryCall;
use crate::client::RegistryClient;
use crate::fault::unreachable;
use crate::repository::RemoteStore;
use crate::scope::RequestedAccess;

/// A blob of a repository that is being downloaded.
struct BlobSource {
    client: Arc<RegistryClient>,
    access: RequestedAccess,
    path: String,
    digest: Digest,
}

impl RemoteStore {
    /// The blob's bytes, after the first answer's head has been seen.
    pub(crate) async fn blob_stream(&self, descriptor: &Descriptor) -> Result<ByteStream, StoreError> {
        let (client, access) = (Arc::clone(&self.client), self.pull.clone());
        let path = self.path("blobs", descriptor.digest.as_str());
        let blob = BlobSource { client, access, path, digest: descriptor.digest.clone() };
        let attempts = self.client.http().attempts();
        Ok(Download::start(blob, BodySize::Known(descriptor.size), attempts).await?.stream)
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
