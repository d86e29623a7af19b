//! Broken repositories: an OCI image layout folder taken in without a check.

use std::fs;
use std::path::Path;

use bytes::Bytes;
use serde_json::Value;

use super::content::{ContentState, StoredManifest};

const FALLBACK: &str = "application/vnd.oci.image.manifest.v1+json";
const TAG: &str = "org.opencontainers.image.ref.name";

/// Takes in every file below `blobs/` under the digest that its name claims, and the tags of `index.json`.
pub(crate) fn load(content: &mut ContentState, repository: &str, folder: &Path) {
    let index: Value = serde_json::from_slice(&read(&folder.join("index.json"))).expect("index.json is JSON");
    let entries = index["manifests"].as_array().cloned().unwrap_or_default();
    let repository = content.repository(repository);
    for entry in &entries {
        if let (Some(tag), Some(digest)) = (entry["annotations"][TAG].as_str(), entry["digest"].as_str()) {
            repository.tags.insert(tag.to_owned(), digest.to_owned());
        }
    }
    for algorithm in children(&folder.join("blobs")) {
        for file in children(&folder.join("blobs").join(&algorithm)) {
            let bytes = Bytes::from(read(&folder.join("blobs").join(&algorithm).join(&file)));
            let digest = format!("{algorithm}:{file}");
            let document: Value = serde_json::from_slice(&bytes).unwrap_or_default();
            let listed = entries.iter().find(|entry| entry["digest"] == digest.as_str());
            let looks_so = ["manifests", "layers", "blobs"].iter().any(|key| document[*key].is_array());
            if listed.is_some() || looks_so || document["mediaType"].is_string() {
                let media_type = listed.and_then(|entry| entry["mediaType"].as_str());
                let media_type = media_type.or_else(|| document["mediaType"].as_str()).unwrap_or(FALLBACK).to_owned();
                repository.manifests.insert(digest.clone(), StoredManifest { media_type, bytes: bytes.clone() });
            }
            repository.blobs.insert(digest, bytes);
        }
    }
}

fn read(path: &Path) -> Vec<u8> {
    fs::read(path).unwrap_or_else(|error| panic!("reading {}: {error}", path.display()))
}

fn children(folder: &Path) -> Vec<String> {
    let entries = fs::read_dir(folder).unwrap_or_else(|error| panic!("listing {}: {error}", folder.display()));
    entries.flatten().map(|entry| entry.file_name().to_string_lossy().into_owned()).collect()
}
