//! Releases that no honest publisher writes: put into the registry piece by piece, with digests and sizes that fit.

use serde_json::{Value, json};
use tofu_oci_types::Digest;

use super::Scene;

const INDEX: &str = "application/vnd.oci.image.index.v1+json";
const MANIFEST: &str = "application/vnd.oci.image.manifest.v1+json";
const CONFIG: &str = "application/vnd.oci.image.config.v1+json";

impl Scene {
    /// Puts a release of one platform at `REGISTRY/acme/widget:1.4.0`, with this zip whatever it holds.
    pub(crate) fn forge(&self, zip: impl AsRef<[u8]>) -> Forged {
        let zip = zip.as_ref().to_vec();
        let layer = json!({"mediaType": "archive/zip", "digest": Digest::sha256(&zip), "size": zip.len()});
        let package = self.registry.put_blob("acme/widget", zip);
        let config = json!({
            "os": "linux", "architecture": "amd64",
            "config": {"Labels": {"org.opentofu.package-type": "provider_binary"}},
            "rootfs": {"type": "layers", "diff_ids": []},
        });
        self.forge_leaf(package, &config, &layer, Some("application/vnd.opentofu.provider-target"))
    }

    /// Puts a leaf and an index around it.
    pub(crate) fn forge_leaf(
        &self,
        package: Digest,
        config: &Value,
        layer: &Value,
        artifact_type: Option<&str>,
    ) -> Forged {
        let config = config.to_string();
        let mut leaf = json!({
            "schemaVersion": 2, "mediaType": MANIFEST,
            "config": {"mediaType": CONFIG, "digest": Digest::sha256(config.as_bytes()), "size": config.len()},
            "layers": [layer],
        });
        self.registry.put_blob("acme/widget", config);
        if let Some(artifact_type) = artifact_type {
            leaf["artifactType"] = artifact_type.into();
        }
        let leaf_text = leaf.to_string();
        let size = leaf_text.len();
        let leaf_digest = self.registry.put_manifest("acme/widget", MANIFEST, leaf_text);
        let mut entry = json!({
            "mediaType": MANIFEST, "digest": leaf_digest, "size": size,
            "platform": {"os": "linux", "architecture": "amd64"},
        });
        let mut index = json!({"schemaVersion": 2, "mediaType": INDEX});
        if let Some(artifact_type) = artifact_type {
            entry["artifactType"] = artifact_type.into();
            index["artifactType"] = "application/vnd.opentofu.provider".into();
        }
        index["manifests"] = json!([entry]);
        let index = self.registry.put_manifest("acme/widget", INDEX, index.to_string());
        self.registry.put_tag("acme/widget", "1.4.0", &index);
        Forged { package }
    }
}

/// What was put there.
pub(crate) struct Forged {
    /// The digest of the package.
    pub(crate) package: Digest,
}
