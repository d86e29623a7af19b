//! The repositories of `testdata/testrepos`, made without code of this project, and what `OpenTofu` makes of each.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use tofu_oci_store::{DirStore, ReadStore};

use super::fixture::{Workspace, with_causes};

/// The cases that tofu-oci decides differently from `OpenTofu`, and why.
const DECISIONS: &[(&str, &str)] = &[
    ("image-only", "installs: the RFC's form, which released OpenTofu cannot read"),
    ("floating-tag-2", "installs: only versions that have their canonical tag are chosen from, with a warning"),
    ("zip-symlink", "refuses: a package consists of files, and a link may lead out of it"),
];

fn repositories() -> PathBuf {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let shared = root.join("../shared/testrepos");
    if shared.is_dir() { shared } else { root.join("testdata/testrepos") }
}

#[tokio::test]
async fn each_is_installed_or_refused_for_the_right_reason() {
    let text = std::fs::read_to_string(repositories().join("expected.json")).unwrap();
    let cases: Vec<serde_json::Value> = serde_json::from_str(&text).unwrap();
    let mut lines = Vec::new();
    for case in &cases {
        let name = case["case"].as_str().unwrap();
        let workspace = Workspace::new();
        let store: Arc<dyn ReadStore> = Arc::new(DirStore::open(repositories().join(name)).unwrap());
        let place = store.place();
        let answer = match workspace.install(store).await {
            Ok(installed) => format!("installs {}", installed.version),
            Err(error) => {
                assert!(workspace.snapshot().is_empty(), "{name} left something behind: {:?}", workspace.snapshot());
                with_causes(&error).replace(&place.to_string(), "PLACE")
            }
        };
        let because = case["because"].as_str().unwrap_or_default();
        let ours = answer.split(' ').next().filter(|word| *word == "installs").unwrap_or("refuses");
        let decision = DECISIONS.iter().find(|(decided, _)| *decided == name).map(|(_, why)| *why);
        let want = decision.or(case["opentofu"].as_str()).unwrap();
        assert!(want.starts_with(ours), "{name}: {want}, but {answer}");
        lines.push(format!("{name} [{} {because}] {answer}", case["opentofu"].as_str().unwrap()));
    }
    insta::assert_snapshot!(lines.join("\n"), @r"
good [installs ] installs 1.0.0
good-empty-config [installs ] installs 1.0.0
good-both [installs ] installs 1.0.0
image-only [refuses index-or-leaf-artifact-type] installs 1.0.0
plain-image [refuses index-or-leaf-artifact-type] registry.example.test/acme/widget 1.0.0 in PLACE cannot be installed: this is a plain container image, not a provider package: its config has no label org.opentofu.package-type=provider_binary
index-no-artifact-type [refuses index-or-leaf-artifact-type] registry.example.test/acme/widget 1.0.0 in PLACE cannot be installed: this index has provider packages but no artifactType: expected application/vnd.opentofu.provider on the index
index-module-type [refuses index-or-leaf-artifact-type] registry.example.test/acme/widget 1.0.0 in PLACE cannot be installed: this is a module package, not a provider release: expected an image index with a package for each platform
descriptor-no-artifact-type [refuses no-provider-leaf] registry.example.test/acme/widget 1.0.0 in PLACE cannot be installed: sha256:6a629318f0391a8a6a9f426d69b04b9ce245541548a5302cee00a776678a6d8f has artifactType none in its index entry and `application/vnd.opentofu.provider-target` in itself
body-no-artifact-type [refuses index-or-leaf-artifact-type] registry.example.test/acme/widget 1.0.0 in PLACE cannot be installed: sha256:b995fdd08e7ffca82bd7be8c307e746e78c2f912e919edd4a6025dea311d333d has artifactType `application/vnd.opentofu.provider-target` in its index entry and none in itself
no-platform [refuses leaf-without-platform] registry.example.test/acme/widget 1.0.0 in PLACE cannot be installed: the provider package sha256:6a629318f0391a8a6a9f426d69b04b9ce245541548a5302cee00a776678a6d8f has no platform in its index entry
other-platforms-only [refuses platform-not-offered] registry.example.test/acme/widget 1.0.0 has no package for linux_amd64
platform-variant [installs ] installs 1.0.0
duplicate-platform [refuses duplicate-platform] registry.example.test/acme/widget 1.0.0 in PLACE cannot be installed: this release has 2 packages for linux_amd64
no-index [refuses not-an-index] registry.example.test/acme/widget 1.0.0 in PLACE cannot be installed: this is a single platform's provider package, not a provider release: expected an image index with a package for each platform
nested-index [refuses leaf-media-type] registry.example.test/acme/widget 1.0.0 in PLACE cannot be installed: the provider package sha256:4c3f6c67547179ce725c67872589955288532eb70f623774560ae799e1c084b8 has media type `application/vnd.oci.image.index.v1+json`: expected application/vnd.oci.image.manifest.v1+json
docker-list [refuses index-media-type] registry.example.test/acme/widget 1.0.0 in PLACE cannot be installed: this index has provider packages but no artifactType: expected application/vnd.opentofu.provider on the index
index-no-media-type [refuses body-media-type-missing] registry.example.test/acme/widget 1.0.0 in PLACE cannot be installed: sha256:26e3b4c4bb8a68383ff88de360e9fa4780944699ed30f41032a2329ec62313fb has mediaType none: expected `application/vnd.oci.image.index.v1+json`
two-layers [refuses several-packages] registry.example.test/acme/widget 1.0.0 in PLACE cannot be installed: the provider package sha256:20738fa1f7d8deac0a1c14b4c618cadd09d6989af3bd22e74a33cbed15978c72 has 2 layers of type archive/zip: expected one
extra-layer [installs ] installs 1.0.0
no-layer [refuses no-zip-layer] registry.example.test/acme/widget 1.0.0 in PLACE cannot be installed: the provider package sha256:1831fff16c5b529ea912ca2dca684652c0bb5aaadcef64cc1c302f0c1b512829 has no layer of type archive/zip
layer-application-zip [refuses no-zip-layer-other-format] registry.example.test/acme/widget 1.0.0 in PLACE cannot be installed: the provider package sha256:f12a473c632bf91290df1f2d49d68555bad9ac49c2fd0d49a66f891da8e64c95 has no layer of type archive/zip, only application/zip
layer-tar [refuses no-zip-layer-other-format] registry.example.test/acme/widget 1.0.0 in PLACE cannot be installed: the provider package sha256:9a1a7f07fe4333b702a8b52dbe5663d5736636f80bb261f2b15d522b8bcca643 has no layer of type archive/zip, only application/vnd.oci.image.layer.v1.tar+gzip
blob-missing [refuses blob-not-found] PLACE has no blob sha256:8888b10778ccef362626259db98474c62d2aa65a042db2a0c1fc23ff42514ab9
blob-damaged [refuses digest-mismatch] blob sha256:8888b10778ccef362626259db98474c62d2aa65a042db2a0c1fc23ff42514ab9 of PLACE is damaged: expected sha256:8888b10778ccef362626259db98474c62d2aa65a042db2a0c1fc23ff42514ab9, got sha256:319abe93768793e0bdfaf0c4da42152ddd54a7f0c6dfbf3167362472fce5583b
layer-size-more [refuses size-mismatch] blob sha256:8888b10778ccef362626259db98474c62d2aa65a042db2a0c1fc23ff42514ab9 of PLACE has the wrong size: expected 278 bytes, got 277
leaf-missing [refuses manifest-not-found] PLACE has no manifest sha256:6a629318f0391a8a6a9f426d69b04b9ce245541548a5302cee00a776678a6d8f
not-a-zip [refuses not-a-zip] the package of registry.example.test/acme/widget 1.0.0 for linux_amd64 cannot be installed: this is not a zip archive
no-executable [refuses executable-not-found] the package of registry.example.test/acme/widget 1.0.0 for linux_amd64 cannot be installed: the package has no executable `terraform-provider-widget`
executable-no-version [installs ] installs 1.0.0
executable-other-version [installs ] installs 1.0.0
zip-parent-entry [refuses unsafe-entry] the package of registry.example.test/acme/widget 1.0.0 for linux_amd64 cannot be installed: the archive has an entry with an unsafe name, `../evil`: it has a `..` part
zip-symlink [installs ] the package of registry.example.test/acme/widget 1.0.0 for linux_amd64 cannot be installed: `link` is a symbolic link, which a package must not contain
zip-empty [refuses empty-archive] the package of registry.example.test/acme/widget 1.0.0 for linux_amd64 cannot be installed: the package has no files
floating-tag-2 [refuses tag-not-found] installs 1.0.0
only-tag-1-0 [refuses tag-not-found] registry.example.test/acme/widget has no version that can be installed
tag-v [refuses no-versions] registry.example.test/acme/widget has no version that can be installed
harmless-tags [installs ] installs 1.0.0
no-tags [refuses no-versions] registry.example.test/acme/widget has no version that can be installed
index-not-json [refuses manifest-not-json] registry.example.test/acme/widget 1.0.0 in PLACE cannot be installed: sha256:92072df399cb74703f8e86f450d552bc0bb01eeeb98a90985a1b7772c8fd0016 is malformed: key must be a string at line 1 column 2
");
}
