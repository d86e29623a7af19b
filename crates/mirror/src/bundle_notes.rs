//! What a bundle says of itself, for people and for the receiver, who verifies all of it.
//!
//! ```text
//! tofu-oci/releases.json   providers, versions, the digest of each release, platforms and sizes; modules with their manifests
//! tofu-oci/tofurc          blocks for the CLI configuration, once the bundle has been loaded into a registry
//! tofu-oci/keys/HEX.asc    OpenPGP keys that were found beside releases; nothing trusts them by itself
//! ```

use std::collections::BTreeMap;
use std::sync::Arc;

use bytes::Bytes;
use serde::Serialize;
use tofu_oci_mapper::config::{HclSyntax, WrittenMethod, write_methods};
use tofu_oci_source::{OciSource, Search, Source, SourceError};
use tofu_oci_store::{BundleContents, StoreError};
use tofu_oci_trust::{Evidence, OpenPgpContents, openpgp_contents};
use tofu_oci_types::{Digest, ModuleAddr, Platform, ProviderAddr, Reference, Tag, Version};

use crate::MirrorError;

/// A provider in a bundle.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct BundledProvider {
    /// Its address.
    pub address: ProviderAddr,
    /// Its versions, ascending.
    pub versions: Vec<BundledVersion>,
}

/// A version in a bundle.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct BundledVersion {
    /// The version.
    pub version: Version,
    /// The digest of the release's index, by which it can be pinned; `None` for one without.
    pub index: Option<Digest>,
    /// Its packages by platform.
    pub platforms: Vec<BundledPackage>,
    /// How many pieces of evidence lie beside it: signatures and signed checksum files. Nothing has verified them.
    pub evidence: usize,
    /// OpenPGP keys that lie beside it, armored.
    #[serde(skip)]
    keys: Vec<String>,
}

/// A package in a bundle.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct BundledPackage {
    /// The platform.
    pub platform: Platform,
    /// Its size in bytes; `None` if the release does not say.
    pub bytes: Option<u64>,
}

async fn bundled_version(
    source: &OciSource,
    address: &ProviderAddr,
    version: Version,
) -> Result<BundledVersion, SourceError> {
    let release = source.release(address, &version).await?;
    let mut platforms = Vec::new();
    for platform in release.platforms().await? {
        let bytes = Arc::clone(&release).offer(&platform).await?.bytes();
        platforms.push(BundledPackage { platform, bytes });
    }
    let (mut evidence, mut keys) = (0, Vec::new());
    for piece in release.evidence(Search::Everywhere).await? {
        match piece {
            Evidence::Bundle { .. } | Evidence::CosignTag { .. } => evidence += 1,
            Evidence::Sums { signatures, keys: found, .. } => {
                evidence += usize::from(!signatures.is_empty());
                let public = found.iter().filter_map(|bytes| match openpgp_contents(bytes) {
                    OpenPgpContents::PublicKeys(armored) => String::from_utf8(armored).ok(),
                    _ => None,
                });
                keys.extend(public);
            }
            _ => {}
        }
    }
    let index = release.id().identity.index().cloned();
    Ok(BundledVersion { version, index, platforms, evidence, keys })
}

/// The providers of a bundle, sorted, with their releases.
///
/// # Errors
/// If one of the releases cannot be read.
pub async fn bundled_providers(contents: &BundleContents) -> Result<Vec<BundledProvider>, MirrorError> {
    let mut providers = Vec::new();
    for (name, tags) in &contents.repositories {
        let Ok(address) = name.parse::<ProviderAddr>() else { continue };
        let mut versions = Vec::new();
        for (tag, store) in tags {
            if let Some(version) = tag.version().filter(|version| Tag::for_version(version).as_ref() == Ok(tag)) {
                let source = OciSource::new(Arc::clone(store));
                versions.push(bundled_version(&source, &address, version).await?);
            }
        }
        versions.sort_by(|one: &BundledVersion, other| Version::precedence(&one.version, &other.version));
        providers.push(BundledProvider { address, versions });
    }
    Ok(providers)
}

/// A version of a module in a bundle.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct BundledModule {
    /// The module.
    pub address: ModuleAddr,
    /// The version.
    pub version: Version,
    /// The digest of its manifest, by which it can be pinned.
    pub manifest: Digest,
}

/// The modules of a bundle with their versions, sorted by address, then by version.
///
/// # Errors
/// If one of the repositories cannot be read.
pub async fn bundled_modules(contents: &BundleContents) -> Result<Vec<BundledModule>, StoreError> {
    let mut modules = Vec::new();
    for (name, tags) in &contents.repositories {
        let Some(address) = module_named(name) else { continue };
        let mut found = Vec::new();
        for (tag, store) in tags {
            let Some(version) = tag.version().filter(|version| Tag::for_version(version).as_ref() == Ok(tag)) else {
                continue;
            };
            let manifest = store.resolve(&Reference::Tag(tag.clone())).await?.digest;
            found.push(BundledModule { address: address.clone(), version, manifest });
        }
        found.sort_by(|one: &BundledModule, other| one.version.precedence(&other.version));
        modules.append(&mut found);
    }
    Ok(modules)
}

/// The module that a repository of a bundle is named by.
pub(crate) fn module_named(name: &str) -> Option<ModuleAddr> {
    name.parse().ok().filter(|address: &ModuleAddr| address.to_string() == name)
}

/// The notes of a bundle with these contents.
pub(crate) async fn notes(contents: &BundleContents) -> Result<BTreeMap<String, Bytes>, MirrorError> {
    let providers = bundled_providers(contents).await?;
    let keys = providers.iter().flat_map(|provider| &provider.versions).flat_map(|version| &version.keys);
    let keys =
        keys.map(|key| (format!("keys/{}.asc", Digest::sha256(key.as_bytes()).encoded()), Bytes::from(key.clone())));
    let mut notes: BTreeMap<String, Bytes> = keys.collect();
    let modules = bundled_modules(contents).await?;
    let mut document = serde_json::json!({ "providers": providers });
    if !modules.is_empty() {
        document["modules"] = serde_json::to_value(&modules).expect("a list of modules always serialises");
    }
    let releases = serde_json::to_vec_pretty(&document);
    notes.insert("releases.json".to_owned(), releases.expect("a JSON value always serialises").into());
    let addresses: Vec<&ProviderAddr> = providers.iter().map(|provider| &provider.address).collect();
    notes.insert("tofurc".to_owned(), tofurc(&addresses).into());
    Ok(notes)
}

/// Where the notes of a bundle suppose that it is loaded.
const LOADED: &str = "registry.example.com/providers/${hostname}/${namespace}/${type}";

/// Blocks for the CLI configuration of those who install what was loaded into a registry.
pub fn tofurc(addresses: &[&ProviderAddr]) -> String {
    if addresses.is_empty() {
        return "# This bundle holds no providers.\n".to_owned();
    }
    let list: Vec<String> = addresses.iter().map(ToString::to_string).collect();
    let methods = [
        WrittenMethod::OciMirror { template: LOADED.to_owned(), include: list.clone(), exclude: Vec::new() },
        WrittenMethod::Direct { include: Vec::new(), exclude: list, retries: None },
    ];
    format!("# After: tofu-oci bundle load FILE '{LOADED}'\n{}", write_methods(&methods, HclSyntax::Native))
}
