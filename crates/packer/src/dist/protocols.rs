//! Plugin protocol versions from the registry manifest.

use std::path::{Path, PathBuf};

use serde::Deserialize;
use tofu_oci_types::{Digest, PackageHash, Version};

use super::files::{self, FolderEntry};
use super::names::PREFIX;
use super::sums::DistSums;
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

/// The protocol versions that the release declares, if any.
///
/// The manifest is `…_manifest.json` in the folder, or `terraform-registry-manifest.json` in it or beside it. One that
/// lies beside the folder counts unless the checksum file contradicts it, since it may be of a later release.
/// One that is named after another release than `version` is ignored.
pub(super) fn read(
    dist: &Path,
    entries: &[FolderEntry],
    version: Option<&Version>,
    sums: Option<&DistSums>,
) -> Result<Vec<String>, PackError> {
    if let Some(path) = inside(entries, version) {
        if let Some(sums) = sums {
            sums.check(&path, &Digest::sha256(files::read_text(&path)?.as_bytes()))?;
        }
        return parse(&path);
    }
    let Some(path) = beside(dist) else { return Ok(Vec::new()) };
    let listed = sums.and_then(|sums| sums.listed.iter().find(|(name, _)| name.ends_with(NAME_END)));
    match listed {
        Some((_, zh)) if PackageHash::zh(&Digest::sha256(files::read_text(&path)?.as_bytes())).as_ref() != Some(zh) => {
            Ok(Vec::new())
        }
        _ => parse(&path),
    }
}

/// The manifest in the folder: the one that is named after the release, or one without a version in its name.
fn inside(entries: &[FolderEntry], version: Option<&Version>) -> Option<PathBuf> {
    let found = || entries.iter().filter(|entry| !entry.is_dir);
    let named = found().find(|entry| version.is_some() && manifest_version(&entry.name).as_ref() == version);
    let any = || {
        found().find(|entry| {
            let other = version.is_some() && manifest_version(&entry.name).is_some();
            (entry.name.ends_with(NAME_END) && !other) || entry.name == PLAIN_NAME
        })
    };
    named.or_else(any).map(|entry| entry.path.clone())
}

/// The version in `terraform-provider-TYPE_VERSION_manifest.json`.
fn manifest_version(name: &str) -> Option<Version> {
    let (_, version) = name.strip_prefix(PREFIX)?.strip_suffix(NAME_END)?.rsplit_once('_')?;
    version.parse().ok()
}

fn beside(dist: &Path) -> Option<PathBuf> {
    let parent = dist.canonicalize().ok()?.parent()?.join(PLAIN_NAME);
    parent.is_file().then_some(parent)
}

fn parse(path: &Path) -> Result<Vec<String>, PackError> {
    let manifest: RegistryManifest = files::read_json(path)?;
    // `6` is read as 6.0.
    let whole = |text: String| if text.contains('.') { text } else { text + ".0" };
    let versions: Vec<String> = manifest.metadata.protocol_versions.into_iter().map(whole).collect();
    let number = |text: &str| !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
    let valid = |text: &String| text.split_once('.').is_some_and(|(major, minor)| number(major) && number(minor));
    match versions.iter().find(|text| !valid(text)) {
        Some(wrong) => Err(PackError::Malformed {
            path: path.to_owned(),
            problem: format!("`{wrong}` is not a protocol version: it must read MAJOR.MINOR, such as 6.0"),
        }),
        None => Ok(versions),
    }
}
