//! Plugin protocol versions from the registry manifest.

use std::path::{Path, PathBuf};

use serde::Deserialize;

use super::files::{self, Entry};
use super::sums::Sums;
use crate::PackError;

const PLAIN_NAME: &str = "terraform-registry-manifest.json";
const NAME_END: &str = "_manifest.json";

/// Spec: provider registry documentation, "Terraform Registry Manifest File", version 1.
#[derive(Deserialize)]
struct RegistryManifest {
    metadata: ManifestMetadata,
}

#[derive(Deserialize)]
struct ManifestMetadata {
    protocol_versions: Vec<String>,
}

/// The protocol versions that the release declares; empty when it declares none.
///
/// The manifest is `…_manifest.json` in the folder, or `terraform-registry-manifest.json` in it or beside it. One that
/// lies beside the folder is believed only when the checksum file does not say otherwise, since it may have moved on.
pub(super) fn read(dist: &Path, entries: &[Entry], sums: Option<&Sums>) -> Result<Vec<String>, PackError> {
    let inside = entries
        .iter()
        .find(|entry| !entry.is_dir && (entry.name.ends_with(NAME_END) || entry.name == PLAIN_NAME))
        .map(|entry| entry.path.clone());
    if let Some(path) = inside {
        if let Some(sums) = sums {
            sums.check(&path, &tofu_oci_types::Digest::sha256(files::read_text(&path)?.as_bytes()))?;
        }
        return parse(&path);
    }
    let Some(path) = beside(dist) else { return Ok(Vec::new()) };
    let listed = sums.and_then(|sums| sums.lines.iter().find(|(name, _)| name.ends_with(NAME_END)));
    match listed {
        Some((_, (digest, _))) if !digest.matches(files::read_text(&path)?.as_bytes()) => Ok(Vec::new()),
        _ => parse(&path),
    }
}

fn beside(dist: &Path) -> Option<PathBuf> {
    let parent = dist.canonicalize().ok()?.parent()?.join(PLAIN_NAME);
    parent.is_file().then_some(parent)
}

fn parse(path: &Path) -> Result<Vec<String>, PackError> {
    let manifest: RegistryManifest = files::read_json(path)?;
    let versions = manifest.metadata.protocol_versions;
    let number = |text: &str| !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
    let valid = |text: &String| text.split_once('.').is_some_and(|(major, minor)| number(major) && number(minor));
    match versions.iter().find(|text| !valid(text)) {
        Some(wrong) => Err(PackError::Malformed {
            path: path.to_owned(),
            problem: format!("`{wrong}` is no protocol version: it must read MAJOR.MINOR, such as 6.0"),
        }),
        None => Ok(versions),
    }
}
