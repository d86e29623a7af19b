use bytes::Bytes;
use serde_json::json;
use tofu_oci_layout::{
    IndexFacts, LayerBlob, LeafPlan, PackageLayout, Planned, PlatformHashes, PlatformPackage, media_type, plan_index,
    plan_leaves,
};
use tofu_oci_store::{MemoryStore, Store};
use tofu_oci_testkit::{HookedStore, StoreHook};
use tofu_oci_types::{Descriptor, Digest, PackageHash, Reference};

use super::*;
use crate::{CreatedBy, LeafKind, NotOffered, Offer, Package, ReleaseDate};

pub(crate) mod answers;

pub(crate) const ADDRESS: &str = "registry.example.test/acme/widget";

async fn push(store: &dyn Store, descriptor: &Descriptor, bytes: &[u8]) {
    store.push(descriptor, &Bytes::copy_from_slice(bytes)).await.unwrap();
}

async fn push_planned(store: &dyn Store, planned: &Planned) {
    push(store, &planned.descriptor, &planned.bytes).await;
}

/// Pushes leaves whose packages are no packages: an offer never looks into them.
async fn leaves(store: &dyn Store, layout: PackageLayout, platforms: &[&str]) -> Vec<LeafPlan> {
    let mut leaves = Vec::new();
    for platform in platforms {
        let bytes = Bytes::from(format!("the package of {platform}"));
        let (digest, size) = (Digest::sha256(&bytes), bytes.len() as u64);
        let package = PlatformPackage {
            platform: platform.parse().unwrap(),
            filename: format!("terraform-provider-widget_1.0.0_{platform}.zip"),
            zip: Some((digest.clone(), size)),
            layer: Some(LayerBlob { digest: digest.clone(), size, diff_id: digest }),
            small: None,
        };
        for plan in plan_leaves(&package, layout).unwrap() {
            for blob in &plan.blobs {
                push(store, blob, &bytes).await;
            }
            push_planned(store, &plan.config).await;
            push_planned(store, &plan.manifest).await;
            leaves.push(plan);
        }
    }
    leaves
}

pub(crate) async fn release(store: &dyn Store, layout: PackageLayout, platforms: &[&str]) {
    let leaves = leaves(store, layout, platforms).await;
    let hash = |platform: &&str| {
        let hashes = PlatformHashes {
            h1: Some(format!("h1:{platform}").parse().unwrap()),
            zh: None,
            size: 1,
            filename: String::new(),
        };
        (platform.parse().unwrap(), hashes)
    };
    let facts = IndexFacts {
        address: ADDRESS.parse().unwrap(),
        version: "1.0.0".parse().unwrap(),
        protocols: vec!["5.0".to_owned(), "6.0".to_owned()],
        hashes: platforms.iter().map(hash).collect(),
    };
    let index = plan_index(&leaves, &facts, layout);
    push_planned(store, &index).await;
    store.tag(&index.descriptor, &"1.0.0".parse().unwrap()).await.unwrap();
}

/// What a source offers of a version.
pub(crate) async fn offered(source: &dyn Source, version: &str, platform: &str) -> Result<Offer, SourceError> {
    let release = source.release(&ADDRESS.parse().unwrap(), &version.parse().unwrap()).await?;
    release.offer(&platform.parse().unwrap()).await
}

async fn offer(store: MemoryStore, version: &str, platform: &str) -> Result<Offer, SourceError> {
    offered(&OciSource::new(Arc::new(store)), version, platform).await
}

#[tokio::test]
async fn a_release_of_an_unreadable_address_answered_for_any() {
    let store = MemoryStore::new("memory".parse().unwrap());
    let leaves = leaves(&store, PackageLayout::Artifact, &["linux_amd64"]).await;
    let facts = IndexFacts {
        address: ADDRESS.parse().unwrap(),
        version: "1.0.0".parse().unwrap(),
        protocols: Vec::new(),
        hashes: std::collections::BTreeMap::new(),
    };
    let index = plan_index(&leaves, &facts, PackageLayout::Artifact);
    let text =
        String::from_utf8(index.bytes.clone()).unwrap().replace(ADDRESS, "registry.example.test/acme/corp/widget");
    let bytes = Bytes::from(text);
    let descriptor = Descriptor { size: bytes.len() as u64, digest: Digest::sha256(&bytes), ..index.descriptor };
    push(&store, &descriptor, &bytes).await;
    store.tag(&descriptor, &"1.0.0".parse().unwrap()).await.unwrap();
    let error = offer(store, "1.0.0", "linux_amd64").await.unwrap_err();
    assert_eq!(error.code(), "bad-layout");
    let said = crate::error::causes(&error);
    assert!(said.contains("its annotation org.opentofu.provider.address is not an address: "), "{said}");
}

#[tokio::test]
async fn an_offer_says_all_there_is_to_know() {
    let store = MemoryStore::new("memory".parse().unwrap());
    release(&store, PackageLayout::Both, &["linux_amd64", "darwin_arm64"]).await;
    let offer = offer(store, "1.0.0", "linux_amd64").await.unwrap();
    assert_eq!(offer.kind(), Some(LeafKind::Artifact));
    let Package::Zip(zip) = &offer.package else { panic!("{offer:?}") };
    assert_eq!((offer.zh(), offer.bytes()), (PackageHash::zh(zip.digest.as_ref().unwrap()), zip.size));
    let about = offer.release.describe().await.unwrap();
    assert_eq!(about.protocols, ["5.0", "6.0"]);
    assert_eq!(about.tag.as_ref().map(Tag::as_str), Some("1.0.0"));
    assert_eq!(offer.place().to_string(), "memory");
    assert_eq!(offer.release.published_as().map(ToString::to_string).as_deref(), Some(ADDRESS));
    let offered: Vec<String> = about.platforms.iter().map(ToString::to_string).collect();
    assert_eq!(offered, ["darwin_arm64", "linux_amd64"]);
    let claims = &offer.claims[&"darwin_arm64".parse().unwrap()];
    assert_eq!(claims.iter().filter(|hash| hash.as_str().starts_with("ch:")).count(), 2, "image and artifact");
    assert!(claims.contains(&"h1:darwin_arm64".parse().unwrap()));
}

#[tokio::test]
async fn an_image_has_its_layers_and_their_diff_ids() {
    let store = MemoryStore::new("memory".parse().unwrap());
    release(&store, PackageLayout::Image, &["linux_amd64"]).await;
    let offer = offer(store, "1.0.0", "linux_amd64").await.unwrap();
    assert_eq!(offer.kind(), Some(LeafKind::Image));
    assert!(matches!(&offer.package, Package::Layers(layers) if layers.len() == 1 && layers[0].diff_id.is_some()));
    assert_eq!(offer.zh(), None);
}

/// What a release of one image says of its time. Each part is put where builders put it; `null` is no time.
async fn created(
    index: serde_json::Value,
    manifest: serde_json::Value,
    config: serde_json::Value,
) -> Option<ReleaseDate> {
    let store = MemoryStore::new("memory".parse().unwrap());
    let noted = |at: serde_json::Value| json!({"org.opencontainers.image.created": at});
    let labels = json!({"Labels": {"org.opentofu.package-type": "provider_binary"}});
    let config = json!({"os": "linux", "architecture": "amd64", "created": config, "config": labels}).to_string();
    let config_descriptor = Descriptor::of(media_type::OCI_CONFIG, config.as_bytes());
    push(&store, &config_descriptor, config.as_bytes()).await;
    let manifest =
        json!({"schemaVersion": 2, "config": config_descriptor, "layers": [], "annotations": noted(manifest)});
    let bytes = manifest.to_string();
    let manifest = Descriptor::of(media_type::OCI_MANIFEST, bytes.as_bytes());
    push(&store, &manifest, bytes.as_bytes()).await;
    let mut entry = serde_json::to_value(manifest).unwrap();
    entry["platform"] = json!({"os": "linux", "architecture": "amd64"});
    let mut annotations = noted(index);
    annotations.as_object_mut().unwrap().retain(|_, at| !at.is_null());
    let index = json!({"schemaVersion": 2, "manifests": [entry], "annotations": annotations}).to_string();
    let descriptor = Descriptor::of(media_type::OCI_INDEX, index.as_bytes());
    push(&store, &descriptor, index.as_bytes()).await;
    store.tag(&descriptor, &"1.0.0".parse().unwrap()).await.unwrap();
    let source = OciSource::new(Arc::new(store));
    let release = source.release(&ADDRESS.parse().unwrap(), &"1.0.0".parse().unwrap()).await.unwrap();
    release.created().await.unwrap()
}

#[tokio::test]
async fn the_outermost_document_that_names_a_time_says_when_a_release_was_made() {
    let of = |created: Option<ReleaseDate>| created.map(|created| (created.at.day().to_owned(), created.by));
    let (index, manifest, config) =
        (json!("2026-03-01T00:00:00Z"), json!("2026-03-02T00:00:00Z"), json!("2026-03-03T00:00:00Z"));
    let none = json!(null);
    let said = created(index.clone(), manifest.clone(), config.clone()).await;
    assert_eq!(of(said), Some(("2026-03-01".to_owned(), CreatedBy::Index)));
    let said = created(json!("soon"), manifest.clone(), config.clone()).await;
    assert_eq!(of(said), Some(("2026-03-02".to_owned(), CreatedBy::Manifest)));
    let said = created(none.clone(), json!("1970-01-01T00:00:00Z"), config).await;
    assert_eq!(of(said), Some(("2026-03-03".to_owned(), CreatedBy::ImageConfig)));
    assert_eq!(of(created(none.clone(), none.clone(), none).await), None);
}

#[tokio::test]
async fn a_reproducible_release_says_no_time() {
    for layout in [PackageLayout::Artifact, PackageLayout::Image, PackageLayout::Both] {
        let store = MemoryStore::new("memory".parse().unwrap());
        release(&store, layout, &["linux_amd64"]).await;
        let source = OciSource::new(Arc::new(store));
        let release = source.release(&ADDRESS.parse().unwrap(), &"1.0.0".parse().unwrap()).await.unwrap();
        assert_eq!(release.created().await.unwrap(), None);
    }
}

/// As builders write it: an index of indexes, one for each platform.
#[tokio::test]
async fn nested_indexes_are_followed() {
    let store = MemoryStore::new("memory".parse().unwrap());
    let mut entries = Vec::new();
    for leaf in leaves(&store, PackageLayout::Image, &["linux_amd64", "darwin_arm64"]).await {
        let (os, architecture) = (leaf.platform.os().to_owned(), leaf.platform.arch().to_owned());
        let platform = json!({"os": os, "architecture": architecture});
        let mut entry = serde_json::to_value(&leaf.manifest.descriptor).unwrap();
        entry.as_object_mut().unwrap().remove("platform");
        let nested = push_index(&store, &[entry]).await;
        let mut entry = serde_json::to_value(nested).unwrap();
        entry["platform"] = platform;
        entries.push(entry);
    }
    let index = push_index(&store, &entries).await;
    store.tag(&index, &"1.0.0".parse().unwrap()).await.unwrap();
    let source = OciSource::new(Arc::new(store));
    let (address, version) = (ADDRESS.parse().unwrap(), "1.0.0".parse().unwrap());
    let release = source.release(&address, &version).await.unwrap();
    let platforms = release.platforms().await.unwrap();
    assert_eq!(platforms.len(), 2);
    let offer = release.offer(&platforms[0]).await.unwrap();
    assert_eq!((offer.platform.to_string().as_str(), offer.kind()), ("darwin_arm64", Some(LeafKind::Image)));
}

async fn push_index(store: &dyn Store, entries: &[serde_json::Value]) -> Descriptor {
    let index = json!({"schemaVersion": 2, "mediaType": media_type::OCI_INDEX, "manifests": entries});
    let bytes = serde_json::to_vec(&index).unwrap();
    let descriptor = Descriptor::of(media_type::OCI_INDEX, &bytes);
    push(store, &descriptor, &bytes).await;
    descriptor
}

/// Lists its tags, but has no manifest for any: what a registry's garbage collection may leave.
struct TagsAlone(MemoryStore);

#[async_trait]
impl StoreHook for TagsAlone {
    fn inner(&self) -> &dyn Store {
        &self.0
    }

    async fn resolve(&self, reference: &Reference) -> Result<Descriptor, StoreError> {
        Err(StoreError::NotFound { place: self.0.place(), what: reference.into() })
    }
}

#[tokio::test]
async fn a_listed_tag_without_its_manifest_is_no_missing_version() {
    let store = MemoryStore::new("memory".parse().unwrap());
    release(&store, PackageLayout::Artifact, &["linux_amd64"]).await;
    let source = OciSource::new(Arc::new(HookedStore(TagsAlone(store))));
    let (address, version) = (ADDRESS.parse().unwrap(), "1.0.0".parse().unwrap());
    let error = source.release(&address, &version).await.expect_err("its index is gone");
    insta::assert_snapshot!(error, @"memory has no manifest for its tag 1.0.0");
}

#[tokio::test]
async fn what_is_missing_is_told_with_what_is_there() {
    let store = MemoryStore::new("memory".parse().unwrap());
    release(&store, PackageLayout::Artifact, &["linux_amd64"]).await;
    let error = offer(store, "1.1.0", "linux_amd64").await.expect_err("there is only 1.0.0");
    insta::assert_snapshot!(error, @"registry.example.test/acme/widget 1.1.0 was not found in memory");
    let SourceError::NotOffered { what: NotOffered::VersionMissing { offered, .. }, .. } = error else {
        panic!("{error}")
    };
    assert_eq!(offered, ["1.0.0".parse().unwrap()]);

    let store = MemoryStore::new("memory".parse().unwrap());
    release(&store, PackageLayout::Artifact, &["linux_amd64"]).await;
    let error = offer(store, "1.0.0", "linux_arm").await.expect_err("there is only linux_amd64");
    insta::assert_snapshot!(error, @"registry.example.test/acme/widget 1.0.0 has no package for linux_arm");
    let SourceError::NotOffered { what: NotOffered::PlatformMissing { offered, .. }, .. } = error else {
        panic!("{error}")
    };
    assert_eq!(offered, ["linux_amd64".parse().unwrap()]);
}

/// Names the index of 1.0.0 by its SHA-512, under which alone it is there.
async fn named_by_sha512(layout: PackageLayout) -> (MemoryStore, Digest) {
    let plain = MemoryStore::new("memory".parse().unwrap());
    release(&plain, layout, &["linux_amd64"]).await;
    let (index, bytes) = plain.manifest(&Reference::Tag("1.0.0".parse().unwrap())).await.unwrap();
    let store = MemoryStore::new("memory".parse().unwrap());
    for plan in leaves(&store, layout, &["linux_amd64"]).await {
        assert_eq!(plan.manifest.descriptor.digest.algorithm_name(), "sha256");
    }
    let mut hasher = tofu_oci_types::DigestHasher::sha512();
    hasher.update(&bytes);
    let named = Descriptor { digest: hasher.finish(), ..index.clone() };
    push(&store, &named, &bytes).await;
    store.tag(&named, &"1.0.0".parse().unwrap()).await.unwrap();
    (store, index.digest)
}

#[tokio::test]
async fn an_index_that_its_registry_names_by_sha512_has_the_digest_that_was_pinned() {
    let (store, sha256) = named_by_sha512(PackageLayout::Artifact).await;
    let source = OciSource::new(Arc::new(store));
    let (address, version) = (ADDRESS.parse().unwrap(), "1.0.0".parse().unwrap());
    let release = source.release(&address, &version).await.unwrap();
    let identity = release.id().identity.clone();
    assert_eq!(identity.index(), Some(&sha256));
    assert!(matches!(&identity, Identity::Index { sha512: Some(sha512), .. } if sha512.algorithm_name() == "sha512"));
    // What is not kept any more is asked for by the name that the store knows.
    source.forget_documents();
    assert_eq!(source.release(&address, &version).await.unwrap().id().identity, identity);
}
