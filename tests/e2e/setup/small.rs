//! Small layers as `push --small` writes them, made by hand.

use serde_json::Value;
use tofu_oci_testkit::{ProviderZip, ReleaseFolder};
use tofu_oci_types::Digest;

use super::{Scene, WIDGET};

const LAYER: &str = "application/vnd.oci.image.layer.v1.tar+zstd";
const INDEX: &str = "application/vnd.oci.image.index.v1+json";
const MANIFEST: &str = "application/vnd.oci.image.manifest.v1+json";

/// Whether the index names the small layer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum NamedByIndex {
    Yes,
    No,
}

/// The package whose small layer is made: large enough that two blobs differ in size.
pub(crate) fn package() -> ProviderZip {
    ProviderZip::new("widget", "1.4.0", "linux_amd64").random_file("data.bin", 300_000)
}

/// A tar of these files, each with its mode.
pub(crate) fn tar_of(entries: &[(String, Vec<u8>, u32)]) -> Vec<u8> {
    let mut tar = tar::Builder::new(Vec::new());
    for (name, bytes, mode) in entries {
        let mut header = tar::Header::new_ustar();
        header.set_size(bytes.len() as u64);
        header.set_mode(*mode);
        tar.append_data(&mut header, name, bytes.as_slice()).expect("a name that tar can hold");
    }
    tar.into_inner().expect("memory can be written")
}

/// The same in Zstandard.
pub(crate) fn layer_of(entries: &[(String, Vec<u8>, u32)]) -> Vec<u8> {
    zstd::encode_all(tar_of(entries).as_slice(), 9).expect("memory can be written")
}

impl Scene {
    /// With widget 1.4.0 for one platform at `REGISTRY/acme/widget`, and this layer beside its zip.
    pub(crate) fn with_small_layer(layer: &[u8], named: NamedByIndex) -> Self {
        let scene = Self::new();
        ReleaseFolder::new("widget", "1.4.0", &[]).package(package()).write_zips(&scene.path("dist"));
        scene.run(&format!("push dist REGISTRY/acme/widget --address {WIDGET}")).success();
        scene.add_small_layer(layer, named);
        scene
    }

    /// Puts a layer beside the zip of the release's one leaf.
    fn add_small_layer(&self, layer: &[u8], named: NamedByIndex) {
        let json = |reference: &str| -> Value {
            let (_, bytes) = self.registry.manifest("acme/widget", reference).expect("it was pushed");
            serde_json::from_slice(&bytes).expect("a manifest")
        };
        let digest = self.registry.put_blob("acme/widget", layer.to_vec());
        let mut index = json("1.4.0");
        let entry = &mut index["manifests"][0];
        let mut leaf = json(entry["digest"].as_str().expect("a digest"));
        let title = "terraform-provider-widget_1.4.0_linux_amd64.tar.zst";
        let small = serde_json::json!({ "mediaType": LAYER, "digest": digest, "size": layer.len(),
            "annotations": { "org.opencontainers.image.title": title } });
        leaf["layers"].as_array_mut().expect("layers").push(small);
        let leaf = leaf.to_string();
        entry["size"] = leaf.len().into();
        entry["digest"] = self.registry.put_manifest("acme/widget", MANIFEST, leaf).to_string().into();
        if named == NamedByIndex::Yes {
            entry["annotations"]["org.opentofu.provider.small"] = digest.to_string().into();
        }
        let index = self.registry.put_manifest("acme/widget", INDEX, index.to_string());
        self.registry.put_tag("acme/widget", "1.4.0", &index);
        self.registry.clear_requests();
    }

    /// Which blobs were asked for since the log was emptied, in their order: `zip`, or `small` for this layer.
    pub(crate) fn packages_asked_for(&self, layer: &[u8]) -> Vec<&'static str> {
        self.asked_for(&package(), layer)
    }

    /// The same of another package.
    pub(crate) fn asked_for(&self, package: &ProviderZip, layer: &[u8]) -> Vec<&'static str> {
        let (zip, small) = (Digest::sha256(&package.build()), Digest::sha256(layer));
        let asked = self.registry.requests_to("GET", "/v2/acme/widget/blobs/*");
        let name = |path: &str| {
            let ends = |digest: &Digest| path.ends_with(&digest.to_string());
            if ends(&zip) { Some("zip") } else { ends(&small).then_some("small") }
        };
        asked.iter().filter_map(|request| name(&request.path)).collect()
    }
}
