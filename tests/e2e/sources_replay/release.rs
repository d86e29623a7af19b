//! What a repository of a case holds: manifests and packages, damaged as the case says.

use std::collections::BTreeMap;

use serde_json::{Value, json};
use tofu_oci_types::Digest;

use super::case::Offered;
use super::packages::{maker, package};

const INDEX: &str = "application/vnd.oci.image.index.v1+json";
const MANIFEST: &str = "application/vnd.oci.image.manifest.v1+json";
const PROVIDER: &str = "application/vnd.opentofu.provider";
const TARGET: &str = "application/vnd.opentofu.provider-target";
const OTHER: &str = "application/vnd.example.other";

/// What can be broken about a release.
const DAMAGES: [&str; 12] = [
    "blob-corrupt",
    "blob-missing",
    "descriptor-type",
    "index-no-type",
    "index-type",
    "layer-type",
    "leaf-tagged",
    "leaf-type",
    "manifest-missing",
    "no-digest-header",
    "no-leaves",
    "no-platform",
];

/// The contents of a repository.
#[derive(Debug, Default)]
pub(super) struct Repository {
    /// Tags, each with its digest, in the order of the case.
    pub(super) tags: Vec<(String, String)>,
    /// Media type and bytes by digest.
    pub(super) manifests: BTreeMap<String, (&'static str, Vec<u8>)>,
    pub(super) blobs: BTreeMap<String, Vec<u8>>,
    /// The manifests of the packages by version and platform.
    leaves: BTreeMap<(String, String), String>,
}

impl Repository {
    /// What an offer says.
    pub(super) fn of(name: &str, offer: &Offered, provider_type: &str) -> Self {
        offer.assert_known(name, &["list", "tag", "manifest", "blob", "ping", "all"], &DAMAGES, &[]);
        let mut repository = Self::default();
        for version in &offer.versions {
            let digest = repository.put(offer, provider_type, version);
            repository.tags.push((version.replace('+', "_"), digest));
        }
        for tag in &offer.extra_tags {
            let digest = repository.put(offer, provider_type, "1.0.0");
            repository.tags.push((tag.clone(), digest));
        }
        repository
    }

    /// The digest of a package's manifest; what a `ch:` line of a lock file names.
    pub(super) fn leaf(&self, version: &str, platform: &str) -> Option<&str> {
        self.leaves.get(&(version.to_owned(), platform.to_owned())).map(String::as_str)
    }

    /// The manifest that a tag or digest names: its digest, media type and bytes.
    pub(super) fn manifest(&self, reference: &str) -> Option<(&str, &'static str, &[u8])> {
        let tagged = self.tags.iter().find(|(tag, _)| tag == reference).map(|(_, digest)| digest.as_str());
        let (digest, (media_type, bytes)) = self.manifests.get_key_value(tagged.unwrap_or(reference))?;
        Some((digest, media_type, bytes))
    }

    fn put_manifest(&mut self, media_type: &'static str, document: &Value) -> (String, usize) {
        let bytes = document.to_string().into_bytes();
        let (digest, size) = (Digest::sha256(&bytes).to_string(), bytes.len());
        self.manifests.insert(digest.clone(), (media_type, bytes));
        (digest, size)
    }

    /// Stores a version with all its platforms. Gives the digest for its tag.
    fn put(&mut self, offer: &Offered, provider_type: &str, version: &str) -> String {
        let broken = offer.broken.as_deref().unwrap_or_default();
        let platforms = offer.platforms(version).iter();
        let leaves: Vec<(String, Value)> =
            platforms.map(|platform| self.put_leaf(offer, provider_type, version, platform)).collect();
        if broken == "leaf-tagged" {
            return leaves.into_iter().next().expect("a leaf to tag").0;
        }
        let manifests: Vec<Value> = match broken {
            "no-leaves" => Vec::new(),
            _ => leaves.into_iter().map(|(_, entry)| entry).collect(),
        };
        let mut index =
            json!({"schemaVersion": 2, "mediaType": INDEX, "artifactType": PROVIDER, "manifests": manifests});
        match broken {
            "index-type" => index["artifactType"] = json!(OTHER),
            "index-no-type" => drop(index.as_object_mut().and_then(|index| index.remove("artifactType"))),
            _ => {}
        }
        self.put_manifest(INDEX, &index).0
    }

    /// Stores a platform's package and manifest. Gives the manifest's digest and its entry in the index.
    fn put_leaf(&mut self, offer: &Offered, provider_type: &str, version: &str, platform: &str) -> (String, Value) {
        let broken = offer.broken.as_deref().unwrap_or_default();
        let maker = maker("oci", offer.content.as_deref());
        let mut zip = package(&maker, provider_type, version, platform).zip.clone();
        let (digest, size) = (Digest::sha256(&zip).to_string(), zip.len());
        if broken == "blob-corrupt" {
            zip[0] ^= 1;
        }
        if broken != "blob-missing" {
            self.blobs.insert(digest.clone(), zip);
        }
        let config = Digest::sha256(b"{}").to_string();
        self.blobs.insert(config.clone(), b"{}".to_vec());
        let layer_type = if broken == "layer-type" { "application/zip" } else { "archive/zip" };
        let body_type = if broken == "leaf-type" { OTHER } else { TARGET };
        let manifest = json!({
            "schemaVersion": 2, "mediaType": MANIFEST, "artifactType": body_type,
            "config": {"mediaType": "application/vnd.oci.empty.v1+json", "digest": config, "size": 2},
            "layers": [{"mediaType": layer_type, "digest": digest, "size": size}],
        });
        let (digest, size) = self.put_manifest(MANIFEST, &manifest);
        if broken == "manifest-missing" {
            self.manifests.remove(&digest);
        }
        self.leaves.insert((version.to_owned(), platform.to_owned()), digest.clone());
        let entry_type = if broken == "descriptor-type" { OTHER } else { TARGET };
        let (os, architecture) = platform.split_once('_').expect("a platform is OS_ARCH");
        let mut entry = json!({
            "mediaType": MANIFEST, "digest": digest, "size": size, "artifactType": entry_type,
            "platform": {"os": os, "architecture": architecture},
        });
        if broken == "no-platform"
            && let Some(entry) = entry.as_object_mut()
        {
            entry.remove("platform");
        }
        (digest, entry)
    }
}
