//! Manifests as they are sent, for looking at what is wrong with them.

use reqwest::Method;
use tofu_oci_store::{StoreError, UnverifiedManifest};
use tofu_oci_types::Reference;

use crate::answer::RegistryAnswer;
use crate::call::RegistryCall;
use crate::manifest::{ACCEPT, what};
use crate::repository::RemoteStore;

impl RemoteStore {
    /// A manifest as it is sent. Nothing is checked but its size.
    pub(crate) async fn get_manifest_unverified(
        &self,
        reference: &Reference,
        limit: u64,
    ) -> Result<UnverifiedManifest, StoreError> {
        let path = self.path("manifests", &reference.to_string());
        let call = RegistryCall::new(Method::GET, path, &self.pull).header("accept", ACCEPT);
        let is_there = |answer: &RegistryAnswer| answer.status() == 200;
        let (answer, bytes) = self.client.document(&call, &what(reference), limit, is_there).await?;
        if answer.status() != 200 {
            return Err(self.manifest_error(answer, reference).await);
        }
        let digest = answer.header("docker-content-digest").and_then(|text| text.parse().ok());
        let media_type = answer.media_type();
        Ok(UnverifiedManifest { media_type, digest, bytes })
    }
}
