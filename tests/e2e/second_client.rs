//! An independent client reads what was pushed, and what it pushes is installed.
//!
//! Our own client stays because moving packages is what this project is for. oci-client 0.18 sends Basic credentials to any
//! realm that a server names, panics on a manifest that is pushed by digest to a registry without `Location`, and has no
//! retry, no paging, no refresh grant and no size limit; it takes 703 MB of memory to push 700 MB, ours 26 MB. Whatever
//! replaces ours must pass the conversations of `requests.rs` and the refusals of `bad_registry` and `secrets`.

use oci_client::Reference;
use oci_client::client::{Client, ClientConfig, ClientProtocol, Config, ImageLayer};
use oci_client::manifest::{OciImageIndex, OciImageManifest, OciManifest};
use oci_client::secrets::RegistryAuth;
use serde_json::{Value, json};
use tofu_oci_testkit::ProviderZip;
use tofu_oci_types::Digest;

use crate::setup::{Scene, WIDGET};

const ACCEPTED: [&str; 2] = ["application/vnd.oci.image.index.v1+json", "application/vnd.oci.image.manifest.v1+json"];

/// It is a client of plain HTTP here, but reqwest wants a cryptography provider before it makes any client.
fn client() -> Client {
    rustls::crypto::ring::default_provider().install_default().ok();
    Client::new(ClientConfig { protocol: ClientProtocol::Http, ..ClientConfig::default() })
}

fn reference(scene: &Scene, suffix: &str) -> Reference {
    format!("{}/acme/widget{suffix}", scene.registry.address()).parse().expect("a reference")
}

fn block_on<T>(work: impl Future<Output = T>) -> T {
    tokio::runtime::Builder::new_current_thread().enable_all().build().expect("a runtime can be made").block_on(work)
}

#[test]
fn it_pulls_what_was_pushed() {
    for layout in ["artifact", "image", "both"] {
        let scene = Scene::with_dist();
        scene.run(&format!("push dist REGISTRY/acme/widget --address {WIDGET} --layout {layout}")).success();
        block_on(async {
            let (client, anonymous) = (client(), RegistryAuth::Anonymous);
            let tag = reference(&scene, ":1.4.0");
            let (index, digest) = client.pull_manifest_raw(&tag, &anonymous, &ACCEPTED).await.expect("the index");
            assert_eq!(digest, scene.tag("acme/widget", "1.4.0"));
            assert_eq!(digest, Digest::sha256(&index).to_string());
            let index: Value = serde_json::from_slice(&index).expect("JSON");
            let entries = index["manifests"].as_array().expect("a list");
            assert_eq!(entries.len(), if layout == "both" { 4 } else { 2 });
            for entry in entries {
                let digest = entry["digest"].as_str().expect("a digest");
                let by_digest = reference(&scene, &format!("@{digest}"));
                let (leaf, _) = client.pull_manifest(&by_digest, &anonymous).await.expect("the leaf");
                let OciManifest::Image(leaf) = leaf else { panic!("a leaf is an image manifest") };
                assert_eq!(leaf.artifact_type.as_deref(), entry["artifactType"].as_str());
                for blob in leaf.layers.iter().chain([&leaf.config]) {
                    let mut bytes = Vec::new();
                    client.pull_blob(&by_digest, blob, &mut bytes).await.expect("the blob");
                    assert_eq!(Digest::sha256(&bytes).to_string(), blob.digest);
                    if blob.media_type == "archive/zip" {
                        let arch = entry["platform"]["architecture"].as_str().expect("an architecture");
                        let os = entry["platform"]["os"].as_str().expect("a system");
                        let zip = format!("dist/terraform-provider-widget_1.4.0_{os}_{arch}.zip");
                        assert_eq!(bytes, std::fs::read(scene.path(&zip)).expect("it was written"));
                    }
                }
            }
        });
    }
}

#[test]
fn what_it_pushes_is_installed() {
    let scene = Scene::new();
    let zip = ProviderZip::new("widget", "1.4.0", "linux_amd64").file("LICENSE", "text").build();
    block_on(async {
        let (client, anonymous) = (client(), RegistryAuth::Anonymous);
        let layer = ImageLayer::new(zip.clone(), "archive/zip".to_owned(), None);
        let config = Config::new(b"{}".to_vec(), "application/vnd.oci.empty.v1+json".to_owned(), None);
        let mut leaf = OciImageManifest::build(std::slice::from_ref(&layer), &config, None);
        // It leaves the media type out of the body, which OpenTofu refuses as we do.
        leaf.media_type = Some(ACCEPTED[1].to_owned());
        leaf.artifact_type = Some("application/vnd.opentofu.provider-target".to_owned());
        // Its push by digest alone fails here, so the leaf gets a tag that is not a version.
        let leaf_tag = reference(&scene, ":leaf-linux-amd64");
        client.push(&leaf_tag, &[layer], config, &anonymous, Some(leaf)).await.expect("the leaf is taken");
        let (bytes, digest) = client.pull_manifest_raw(&leaf_tag, &anonymous, &ACCEPTED).await.expect("the leaf");
        let index: OciImageIndex = serde_json::from_value(json!({
            "schemaVersion": 2, "mediaType": ACCEPTED[0], "artifactType": "application/vnd.opentofu.provider",
            "manifests": [{
                "mediaType": ACCEPTED[1], "artifactType": "application/vnd.opentofu.provider-target",
                "digest": digest, "size": bytes.len(), "platform": {"os": "linux", "architecture": "amd64"},
            }],
        }))
        .expect("an index");
        client.push_manifest_list(&reference(&scene, ":1.4.0"), &anonymous, index).await.expect("the index is taken");
    });
    scene.run(&format!("install {WIDGET} --from REGISTRY/acme/widget --platform linux_amd64")).success();
    let folder = ".terraform/providers/registry.example.com/acme/widget/1.4.0/linux_amd64";
    assert_eq!(scene.context.read(&format!("{folder}/LICENSE")), "text");
    assert!(scene.context.read(".terraform.lock.hcl").contains(&format!("zh:{}", Digest::sha256(&zip).encoded())));
}
