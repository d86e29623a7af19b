//! Modules: the rule behind the measured layouts of `testdata/testrepos-modules`, on packages that are made here.
//!
//! Spec: `real-tofu-http.md` (measured), §3.

use std::path::Path;

use serde_json::{Value, json};
use tofu_oci_checker::Rejection;
use tofu_oci_checker::facts::Depth;
use tofu_oci_checker::opentofu::AskedModule;
use tofu_oci_checker::{AskedModules, ModuleCheckReport, ModuleCheckRequest, check_modules};
use tofu_oci_store::DirStore;
use tofu_oci_types::{Digest, DigestHasher, NoReporter};

use super::zip::archive;

const MANIFEST: &str = "application/vnd.oci.image.manifest.v1+json";
const INDEX: &str = "application/vnd.oci.image.index.v1+json";
const MODULE: &str = "application/vnd.opentofu.modulepkg";

/// An image layout.
struct Layout {
    folder: tempfile::TempDir,
    listed: Vec<Value>,
}

impl Layout {
    fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        std::fs::write(folder.path().join("oci-layout"), r#"{"imageLayoutVersion":"1.0.0"}"#).unwrap();
        Self { folder, listed: Vec::new() }
    }

    fn blob(&self, digest: &Digest, bytes: &[u8]) {
        let folder = self.folder.path().join("blobs").join(digest.algorithm_name());
        std::fs::create_dir_all(&folder).unwrap();
        std::fs::write(folder.join(digest.encoded()), bytes).unwrap();
    }

    /// The descriptor of a zip that is stored.
    fn zip(&self, bytes: &[u8]) -> Value {
        let digest = Digest::sha256(bytes);
        self.blob(&digest, bytes);
        json!({ "mediaType": "archive/zip", "digest": digest, "size": bytes.len() })
    }

    /// Lists a document under a tag; its digest.
    fn tag(&mut self, media_type: &str, document: &Value, tag: &str) -> Digest {
        let bytes = document.to_string();
        let digest = Digest::sha256(bytes.as_bytes());
        self.blob(&digest, bytes.as_bytes());
        self.listed.push(json!({ "mediaType": media_type, "digest": digest, "size": bytes.len(),
            "annotations": { "org.opencontainers.image.ref.name": tag } }));
        digest
    }

    async fn check(&self, asked: AskedModules) -> ModuleCheckReport {
        let index = json!({ "schemaVersion": 2, "manifests": self.listed });
        std::fs::write(self.folder.path().join("index.json"), index.to_string()).unwrap();
        let work_dir: &Path = self.folder.path();
        let request = ModuleCheckRequest { asked, depth: Depth::Packages, work_dir };
        check_modules(&DirStore::open(self.folder.path()).unwrap(), &request, &NoReporter).await.unwrap()
    }

    /// What is predicted for the source `oci://HOST/module` with this after it, and the warnings.
    async fn predict(&self, rest: &str) -> String {
        let asked = AskedModule::of_source(&format!("oci://registry.example.test/module{rest}")).0;
        said(&self.check(AskedModules::Source(asked)).await)
    }
}

/// The one prediction, and the rules of the warnings; every refusal has exactly one error.
fn said(report: &ModuleCheckReport) -> String {
    let [prediction] = report.predictions.as_slice() else { panic!("one module was asked for") };
    let of =
        |level| report.findings.iter().filter(move |finding| finding.level() == level).map(|finding| finding.rule.id);
    let errors = of(tofu_oci_checker::FindingLevel::Error).count();
    assert_eq!(errors, usize::from(!prediction.installs), "{:?}", report.findings);
    assert!(!prediction.unread, "{prediction:?}");
    let mut text = prediction.because.as_ref().map_or("ok", Rejection::code).to_owned();
    for warning in of(tofu_oci_checker::FindingLevel::Warning) {
        text += &format!(" {warning}");
    }
    text
}

fn manifest(layers: &[Value]) -> Value {
    json!({ "schemaVersion": 2, "mediaType": MANIFEST, "artifactType": MODULE, "layers": layers })
}

fn file(name: &str) -> Value {
    json!({ "name": name, "text": "", "mode": "100644" })
}

fn calls(name: &str, source: &str) -> Value {
    json!({ "name": name, "text": format!("module \"m\" {{\n  source = \"{source}\"\n}}\n"), "mode": "100644" })
}

/// The prediction for a package of this zip.
async fn packed(zip: Value, rest: &str) -> String {
    let mut layout = Layout::new();
    let layer = layout.zip(&archive(&zip));
    layout.tag(MANIFEST, &manifest(&[layer]), "1.0.0");
    layout.predict(rest).await
}

/// The prediction for a manifest with these members in the place of its own; null removes one.
async fn described(members: Value) -> String {
    let mut layout = Layout::new();
    let layer = layout.zip(&archive(&json!({ "files": [file("main.tf")] })));
    let mut document = manifest(&[layer]);
    for (name, value) in members.as_object().unwrap() {
        document[name] = value.clone();
    }
    document.as_object_mut().unwrap().retain(|_, value| !value.is_null());
    layout.tag(MANIFEST, &document, "1.0.0");
    layout.predict("?tag=1.0.0").await
}

async fn check_zips(cases: Vec<(Value, &str, &str)>) {
    for (zip, rest, want) in cases {
        let shown = format!("{zip} {rest}");
        assert_eq!(packed(zip, rest).await, want, "{shown}");
    }
}

#[tokio::test]
async fn folders_of_the_package() {
    let deep = || json!({ "files": [file("main.tf"), file("a/b/c/main.tofu"), file("sub/main.tf"), file("sud/x.tf")] });
    check_zips(vec![
        (deep(), "?tag=1.0.0", "ok"),
        (deep(), "//a/b/c?tag=1.0.0", "ok"),
        (deep(), "//a/b/?tag=1.0.0", "ok module-empty"),
        (deep(), "//sud/../su[a-c]?tag=1.0.0", "ok"),
        (deep(), "//a*?tag=1.0.0", "ok module-empty"),
        (deep(), "//*/b/[a-c]?tag=1.0.0", "ok"),
        (deep(), "//*/b/[^a-c]?tag=1.0.0", "subdir-missing"),
        (deep(), "//a/*/c?tag=1.0.0", "ok"),
        (deep(), "//su*?tag=1.0.0", "subdir-ambiguous"),
        (deep(), "//none*?tag=1.0.0", "subdir-missing"),
        (deep(), "//a/b/c/main.tofu?tag=1.0.0", "subdir-missing"),
        (deep(), "//../x?tag=1.0.0", "subdir-escapes"),
        (json!({ "files": [file("SUB/main.tf")] }), "//sub?tag=1.0.0", "subdir-missing"),
    ])
    .await;
}

#[tokio::test]
async fn zips_as_go_reads_them() {
    let main = || file("main.tf");
    check_zips(vec![
        (json!({ "files": [main()], "zip64": "good" }), "?tag=1.0.0", "ok"),
        (json!({ "files": [main()], "prefix": "#!/bin/sh\n" }), "?tag=1.0.0", "ok"),
        (json!({ "files": [{ "name": "main.tf", "text": "# a\n", "deflated": true }] }), "?tag=1.0.0", "ok"),
        (json!({ "files": [{ "name": "x/", "mode": "040755" }, main()] }), "?tag=1.0.0", "ok"),
        (json!({ "files": [{ "name": "main.tf", "text": "# a\n", "deflated": true, "flags": 1, "data": "00112233445566778899" }] }), "?tag=1.0.0", "damaged-archive"),
        (json!({ "files": [{ "name": "main.tf", "text": "# a\n", "method": 12 }] }), "?tag=1.0.0", "damaged-archive"),
        (json!({ "files": [main(), file("../x.tf")] }), "?tag=1.0.0", "unsafe-entry"),
        (json!({ "files": [main(), file("a\\..\\x.tf")] }), "?tag=1.0.0", "unsafe-entry"),
        (json!({ "files": [main(), file("a\\x.tf")] }), "?tag=1.0.0", "ok module-windows-name"),
        (json!({ "files": [main(), file("a..b/x..tf")] }), "?tag=1.0.0", "ok"),
        (json!({ "files": [file("a"), file("a/b.tf")] }), "?tag=1.0.0", "entry-not-writable"),
        (json!({ "files": [] }), "?tag=1.0.0", "empty-archive"),
        (json!({ "bytes": "\u{1f}\u{8b}" }), "?tag=1.0.0", "not-a-zip"),
        (json!({ "files": [main()], "cut": 1 }), "?tag=1.0.0", "not-a-zip"),
        (json!({ "files": [main(), main()] }), "?tag=1.0.0", "ok module-duplicate-entry"),
        (json!({ "files": [file("./main.tf"), main()] }), "?tag=1.0.0", "ok module-duplicate-entry"),
        (json!({ "files": [file("/etc/main.tf")] }), "//etc?tag=1.0.0", "ok module-absolute-entry"),
        (json!({ "files": [main(), { "name": "l", "text": "/etc/passwd", "mode": "120777" }] }), "?tag=1.0.0", "ok module-link"),
        (json!({ "files": [file("README.md")] }), "?tag=1.0.0", "ok module-empty"),
    ])
    .await;
}

#[tokio::test]
async fn the_target_of_a_link_is_read_as_configuration() {
    let link = json!({ "files": [file("a.tf"), { "name": "b.tf", "text": "a.tf", "mode": "120777" }] });
    assert_eq!(packed(link, "?tag=1.0.0").await, "invalid-configuration module-link");
}

#[tokio::test]
async fn the_last_of_two_equal_names_is_the_one_that_is_read() {
    let twice =
        |first: &str, last: &str| json!({ "files": [calls("main.tf", first), calls("main.tf", last), file("a/x.tf")] });
    assert_eq!(packed(twice("../x", "./a"), "?tag=1.0.0").await, "ok module-duplicate-entry");
    assert_eq!(packed(twice("./a", "../x"), "?tag=1.0.0").await, "call-escapes-package module-duplicate-entry");
}

#[tokio::test]
async fn calls_are_followed_from_the_folder_that_is_used() {
    let package = || json!({ "files": [calls("main.tf", "../x"), calls("a/main.tf", "../b"), calls("b/main.tf.json.txt", ""), file("b/main.tf"), calls("c/main.tf", "./d"), calls("e/main.tf", "../../module/b")] });
    check_zips(vec![
        (package(), "?tag=1.0.0", "call-escapes-package"),
        (package(), "//a?tag=1.0.0", "ok"),
        (package(), "//b?tag=1.0.0", "ok"),
        (package(), "//c?tag=1.0.0", "call-missing"),
        (package(), "//e?tag=1.0.0", "call-escapes-package"),
        (json!({ "files": [calls("main.tf", "./")] }), "?tag=1.0.0", "call-loop"),
        (
            json!({ "files": [calls("main.tf", "./a"), calls("a/main.tf", "../../x")] }),
            "?tag=1.0.0",
            "call-escapes-package",
        ),
        (json!({ "files": [calls("main.tf", "oci://example.com/x?tag=1")] }), "?tag=1.0.0", "ok"),
        (json!({ "files": [{ "name": "main.tf", "text": "module {" }] }), "?tag=1.0.0", "invalid-configuration"),
    ])
    .await;
}

#[tokio::test]
async fn manifests_as_go_reads_them() {
    let digest = Digest::sha256(b"nowhere");
    let gone = json!({ "mediaType": "application/vnd.oci.empty.v1+json", "digest": digest, "size": 2 });
    let zip_gone = json!({ "mediaType": "archive/zip", "digest": digest, "size": 2 });
    let odd = json!({ "mediaType": "archive/zip", "digest": "blake3:00", "size": 2 });
    for (members, want) in [
        (json!({ "config": gone }), "ok"),
        (json!({ "config": {} }), "ok"),
        (json!({ "schemaVersion": null }), "ok"),
        (json!({ "ARTIFACTTYPE": MODULE, "artifactType": null }), "ok"),
        (json!({ "mediaType": null }), "body-media-type-missing"),
        (json!({ "mediaType": INDEX }), "body-media-type-missing"),
        (json!({ "artifactType": "application/vnd.opentofu.provider" }), "artifact-type"),
        (json!({ "layers": [zip_gone.clone()] }), "blob-not-found"),
        (json!({ "layers": [zip_gone.clone(), zip_gone.clone()] }), "several-zip-layers"),
        (json!({ "layers": [odd] }), "digest-algorithm"),
        (json!({ "layers": [gone] }), "no-zip-layer-other-format"),
        (json!({ "layers": {} }), "manifest-not-json"),
        (json!({ "x": "y".repeat(5 * 1024 * 1024) }), "manifest-too-large"),
        (json!({ "x": "y".repeat(4_900_000) }), "ok"),
    ] {
        let shown = members.to_string();
        assert_eq!(described(members).await, want, "{}", &shown[..shown.len().min(200)]);
    }
}

#[tokio::test]
async fn sha512_names_packages_and_manifests() {
    let mut layout = Layout::new();
    let bytes = archive(&json!({ "files": [file("main.tf")] }));
    let sha512 = |bytes: &[u8]| {
        let mut hasher = DigestHasher::sha512();
        hasher.update(bytes);
        hasher.finish()
    };
    let layer = json!({ "mediaType": "archive/zip", "digest": sha512(&bytes), "size": bytes.len() });
    layout.blob(&sha512(&bytes), &bytes);
    let document = manifest(&[layer]);
    layout.tag(MANIFEST, &document, "1.0.0");
    let named = sha512(document.to_string().as_bytes());
    layout.blob(&named, document.to_string().as_bytes());
    assert_eq!(layout.predict("?tag=1.0.0").await, "ok");
    assert_eq!(layout.predict(&format!("?digest={named}")).await, "ok");
    layout.blob(&sha512(&bytes), &[&bytes[..bytes.len() - 1], b"x"].concat());
    assert_eq!(layout.predict("?tag=1.0.0").await, "blob-mismatch");
}

#[tokio::test]
async fn an_index_is_refused_by_its_digest_too_and_its_leaf_is_not() {
    let mut layout = Layout::new();
    let layer = layout.zip(&archive(&json!({ "files": [file("main.tf")] })));
    let leaf = layout.tag(MANIFEST, &manifest(&[layer]), "leaf");
    let entry = json!({ "mediaType": MANIFEST, "digest": leaf, "size": 1, "artifactType": MODULE });
    let index = layout.tag(
        INDEX,
        &json!({ "schemaVersion": 2, "mediaType": INDEX, "artifactType": MODULE, "manifests": [entry] }),
        "1.0.0",
    );
    assert_eq!(layout.predict("?tag=1.0.0").await, "not-an-image-manifest");
    assert_eq!(layout.predict(&format!("?digest={index}")).await, "not-an-image-manifest");
    assert_eq!(layout.predict(&format!("?digest={leaf}")).await, "ok");
    assert_eq!(layout.predict(&format!("?digest={}", Digest::sha256(b"x"))).await, "digest-not-found");
    assert_eq!(layout.predict("").await, "tag-not-found");
    assert_eq!(layout.predict("?tag=LEAF").await, "tag-not-found");
    assert_eq!(layout.predict("?tag=leaf;x").await, "tag-not-found module-argument-dropped");
}

#[tokio::test]
async fn every_tag_is_judged_except_those_beside_a_module() {
    let mut layout = Layout::new();
    let layer = layout.zip(&archive(&json!({ "files": [file("main.tf")] })));
    layout.tag(MANIFEST, &manifest(std::slice::from_ref(&layer)), "1.0.0_linux.5");
    layout.tag(MANIFEST, &manifest(&[layer.clone(), layer]), "_Odd.Tag-1");
    layout.tag(MANIFEST, &manifest(&[]), &format!("sha256-{}.sig", "0".repeat(64)));
    let report = layout.check(AskedModules::EveryTag).await;
    let said: Vec<String> = report
        .predictions
        .iter()
        .map(|one| {
            format!("{} {}", one.reference.as_deref().unwrap(), one.because.as_ref().map_or("ok", Rejection::code))
        })
        .collect();
    assert_eq!(said, ["1.0.0_linux.5 ok", "_Odd.Tag-1 several-zip-layers"]);
    let rules: Vec<&str> = report.findings.iter().map(|finding| finding.rule.id).collect();
    assert_eq!(rules, ["module-layers", "module-no-latest"]);
}

#[tokio::test]
async fn a_path_that_does_not_fit_below_the_temporary_folder_leaves_the_rest_judged() {
    let mut layout = Layout::new();
    let long = json!({ "name": format!("{}/", "a".repeat(250)), "times": 16, "end": format!("{}.tf", "b".repeat(50)), "text": "" });
    let layer = layout.zip(&archive(&json!({ "files": [file("main.tf"), long] })));
    layout.tag(MANIFEST, &manifest(&[layer]), "1.0.0");
    let report = layout.check(AskedModules::EveryTag).await;
    let [prediction] = report.predictions.as_slice() else { panic!("one tag") };
    assert!(prediction.installs && prediction.unread, "{prediction:?}");
    assert!(report.not_judged.is_empty(), "{:?}", report.not_judged);
}
