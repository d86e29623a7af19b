//! What the mock's repositories hold: one installable release of a provider.

use std::collections::BTreeMap;
use std::sync::Arc;

use bytes::Bytes;
use serde_json::json;
use tofu_oci_types::Digest;

use crate::provider_zip::ProviderZip;

const INDEX: &str = "application/vnd.oci.image.index.v1+json";
const MANIFEST: &str = "application/vnd.oci.image.manifest.v1+json";
const CONFIG: &str = "application/vnd.oci.image.config.v1+json";
const VERSION: &str = "1.0.0";
const PLATFORM: &str = "linux_amd64";

/// Releases 1.0.0 for `linux_amd64` by the provider's type, made once and shared.
#[derive(Clone, Debug)]
pub struct MockReleases(Arc<Vec<(String, MockRelease)>>);

#[derive(Debug, Default)]
pub(super) struct MockRelease {
    index: String,
    manifests: BTreeMap<String, (&'static str, Bytes)>,
    blobs: BTreeMap<String, Bytes>,
}

impl MockReleases {
    /// Releases of providers of these types.
    pub fn of(types: &[&str]) -> Self {
        Self(Arc::new(types.iter().map(|name| ((*name).to_owned(), MockRelease::of(name))).collect()))
    }

    /// The release of a type; without a type the first one.
    pub(super) fn get(&self, provider_type: Option<&str>) -> &MockRelease {
        let wanted = |release: &&(String, MockRelease)| provider_type.is_none_or(|wanted| wanted == release.0);
        let release = self.0.iter().find(wanted).unwrap_or_else(|| panic!("no release of {provider_type:?}"));
        &release.1
    }
}

impl MockRelease {
    fn of(provider_type: &str) -> Self {
        let mut release = Self::default();
        let package = release.blob(ProviderZip::new(provider_type, VERSION, PLATFORM).build());
        let config = json!({
            "os": "linux", "architecture": "amd64",
            "config": {"Labels": {"org.opentofu.package-type": "provider_binary"}},
            "rootfs": {"type": "layers", "diff_ids": []},
        });
        let config = release.blob(config.to_string());
        let leaf = json!({
            "schemaVersion": 2, "mediaType": MANIFEST, "artifactType": "application/vnd.opentofu.provider-target",
            "config": {"mediaType": CONFIG, "digest": config.0, "size": config.1},
            "layers": [{"mediaType": "archive/zip", "digest": package.0, "size": package.1}],
        });
        let leaf = release.manifest(MANIFEST, leaf.to_string());
        let index = json!({
            "schemaVersion": 2, "mediaType": INDEX, "artifactType": "application/vnd.opentofu.provider",
            "manifests": [{
                "mediaType": MANIFEST, "artifactType": "application/vnd.opentofu.provider-target",
                "digest": leaf.0, "size": leaf.1, "platform": {"os": "linux", "architecture": "amd64"},
            }],
        });
        release.index = release.manifest(INDEX, index.to_string()).0;
        release
    }

    fn blob(&mut self, bytes: impl Into<Bytes>) -> (String, usize) {
        let bytes = bytes.into();
        let (digest, size) = (Digest::sha256(&bytes).to_string(), bytes.len());
        self.blobs.insert(digest.clone(), bytes);
        (digest, size)
    }

    fn manifest(&mut self, media_type: &'static str, text: String) -> (String, usize) {
        let (digest, size) = (Digest::sha256(text.as_bytes()).to_string(), text.len());
        self.manifests.insert(digest.clone(), (media_type, text.into()));
        (digest, size)
    }

    pub(super) fn tags() -> [&'static str; 1] {
        [VERSION]
    }

    /// Digest, media type and bytes by tag or digest.
    pub(super) fn manifest_at(&self, reference: &str) -> Option<(&str, &'static str, &Bytes)> {
        let digest = if reference == VERSION { &self.index } else { reference };
        self.manifests.get_key_value(digest).map(|(digest, (kind, bytes))| (digest.as_str(), *kind, bytes))
    }

    pub(super) fn blob_at(&self, digest: &str) -> Option<&Bytes> {
        self.blobs.get(digest)
    }
}
