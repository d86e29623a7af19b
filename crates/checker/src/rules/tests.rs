//! The repositories of `testdata/testrepos`: what is broken, and which rules say so.

use std::path::{Path, PathBuf};

use tofu_oci_store::DirStore;
use tofu_oci_types::{NoReporter, Predecessors};

use crate::Rejection;
use crate::facts::Depth;
use crate::{CheckReport, CheckRequest, FindingLevel, check};

fn repositories() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../testdata/testrepos")
}

async fn checked(name: &str) -> CheckReport {
    checked_in(name, &std::env::temp_dir()).await
}

async fn checked_in(name: &str, work_dir: &Path) -> CheckReport {
    let store = DirStore::open(repositories().join(name)).unwrap();
    let (address, own) = ("registry.example.test/acme/widget".parse().unwrap(), "linux_amd64".parse().unwrap());
    let (address, depth) = (Some(&address), Depth::Packages);
    let predecessors = Predecessors::NONE;
    let request = CheckRequest { address, predecessors, version: None, platforms: &[], own: &own, depth, work_dir };
    check(&store, &request, &NoReporter).await.unwrap()
}

#[tokio::test]
async fn layers_are_put_where_the_caller_says() {
    for name in ["good", "image-only"] {
        let folder = tempfile::tempdir().unwrap();
        assert_eq!(checked_in(name, folder.path()).await.not_judged.len(), 0, "{name}");
        assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 0, "{name}: nothing stays");
        let missing = folder.path().join("missing");
        let not_judged = checked_in(name, &missing).await.not_judged;
        let reported = not_judged.first().map(|one| one.error.to_string()).unwrap_or_default();
        assert!(reported.contains(&missing.display().to_string()), "{name}: {reported}");
    }
}

/// The rules of the findings that matter, each once; notes in parentheses.
fn rules(report: &CheckReport) -> String {
    let mut reported: Vec<String> = Vec::new();
    for finding in &report.findings {
        let name = match finding.level() {
            FindingLevel::Error => finding.rule.id.to_owned(),
            FindingLevel::Warning => format!("{}?", finding.rule.id),
            FindingLevel::Note => format!("({})", finding.rule.id),
        };
        if !reported.contains(&name) {
            reported.push(name);
        }
    }
    reported.join(" ")
}

#[tokio::test]
async fn what_is_broken_is_found() {
    let text = std::fs::read_to_string(repositories().join("expected.json")).unwrap();
    let cases: Vec<serde_json::Value> = serde_json::from_str(&text).unwrap();
    let mut lines = Vec::new();
    for case in &cases {
        let name = case["case"].as_str().unwrap();
        let report = checked(name).await;
        for prediction in report.predictions.iter().filter(|prediction| !prediction.installs) {
            let offered = prediction.because != Some(Rejection::PlatformNotOffered);
            let error = report.findings.iter().any(|finding| finding.level() == FindingLevel::Error);
            assert!(!offered || error, "{name}: {prediction:?} goes without a finding");
        }
        assert!(!rules(&report).contains("opentofu-refuses"), "{name}: no rule of its own");
        lines.push(format!("{name:<28} {}", rules(&report)).trim_end().to_owned());
    }
    insta::assert_snapshot!(lines.join("\n"), @r#"
    good                         (annotations-missing)
    good-empty-config            (annotations-missing)
    good-both                    diff-ids-missing? (annotations-missing)
    image-only                   image-only diff-ids-missing?
    plain-image                  index-artifact-type nothing-installable image-label
    index-no-artifact-type       index-artifact-type (annotations-missing)
    index-module-type            index-artifact-type (annotations-missing)
    descriptor-no-artifact-type  no-provider-leaf entry-artifact-type?
    body-no-artifact-type        leaf-artifact-type (annotations-missing)
    no-platform                  leaf-without-platform (annotations-missing)
    other-platforms-only         config-platform? (annotations-missing)
    platform-variant             (platform-variant) (annotations-missing)
    duplicate-platform           duplicate-platform (annotations-missing)
    no-index                     not-an-index
    nested-index                 leaf-media-type leaf-artifact-type no-zip-layer (annotations-missing)
    docker-list                  index-media-type index-artifact-type leaf-media-type leaf-artifact-type (annotations-missing)
    index-no-media-type          body-media-type (annotations-missing)
    two-layers                   several-packages (annotations-missing)
    extra-layer                  (extra-layer) (annotations-missing)
    no-layer                     no-zip-layer (annotations-missing)
    layer-application-zip        no-zip-layer (annotations-missing)
    layer-tar                    no-zip-layer (annotations-missing)
    blob-missing                 blob-missing (annotations-missing)
    blob-damaged                 blob-digest (annotations-missing)
    layer-size-more              blob-size (annotations-missing)
    leaf-missing                 leaf-missing (annotations-missing)
    not-a-zip                    not-a-zip (annotations-missing)
    no-executable                no-executable (annotations-missing)
    executable-no-version        (executable-without-version) (annotations-missing)
    executable-other-version     executable-other-version? (annotations-missing)
    zip-parent-entry             unsafe-entry (annotations-missing)
    zip-symlink                  symlink-entry (annotations-missing)
    zip-empty                    zip-empty (annotations-missing)
    floating-tag-2               stray-version-tag (annotations-missing)
    only-tag-1-0                 stray-version-tag
    tag-v                        v-tag? no-version-tags
    harmless-tags                v-tag? (annotations-missing) referrer-dangling?
    no-tags                      no-version-tags
    index-not-json               manifest-not-json
    "#);
}

/// A layout with one version whose index has so many entries, each for a platform of its own; its leaves are missing.
fn wide(entries: usize) -> tempfile::TempDir {
    let folder = tempfile::tempdir().unwrap();
    let blobs = folder.path().join("blobs/sha256");
    std::fs::create_dir_all(&blobs).unwrap();
    let entry = |number: usize| {
        serde_json::json!({
            "mediaType": "application/vnd.oci.image.manifest.v1+json",
            "artifactType": "application/vnd.opentofu.provider-target",
            "digest": format!("sha256:{number:064x}"),
            "size": 2,
            "platform": { "os": format!("os{number}"), "architecture": "amd64" },
            "annotations": { "org.opentofu.provider.package-size": "2" },
        })
    };
    let index = serde_json::json!({
        "schemaVersion": 2,
        "mediaType": "application/vnd.oci.image.index.v1+json",
        "artifactType": "application/vnd.opentofu.provider",
        "manifests": (0..entries).map(entry).collect::<Vec<_>>(),
    });
    let bytes = index.to_string();
    let digest = tofu_oci_types::Digest::sha256(bytes.as_bytes());
    std::fs::write(blobs.join(digest.encoded()), &bytes).unwrap();
    std::fs::write(folder.path().join("oci-layout"), r#"{"imageLayoutVersion":"1.0.0"}"#).unwrap();
    let tagged = serde_json::json!({
        "schemaVersion": 2,
        "manifests": [{
            "mediaType": "application/vnd.oci.image.index.v1+json",
            "digest": digest,
            "size": bytes.len(),
            "annotations": { "org.opencontainers.image.ref.name": "1.0.0" },
        }],
    });
    std::fs::write(folder.path().join("index.json"), tagged.to_string()).unwrap();
    folder
}

#[tokio::test]
async fn an_index_is_read_as_often_whether_it_is_for_few_platforms_or_many() {
    let reads = async |entries: usize| {
        let folder = wide(entries);
        let own = "linux_amd64".parse().unwrap();
        let (depth, work_dir) = (Depth::Packages, folder.path());
        let predecessors = Predecessors::NONE;
        let request =
            CheckRequest { address: None, predecessors, version: None, platforms: &[], own: &own, depth, work_dir };
        let before = crate::go::json::READS.get();
        let report = check(&DirStore::open(folder.path()).unwrap(), &request, &NoReporter).await.unwrap();
        assert_eq!(report.predictions.len(), entries + 1);
        assert_eq!(report.findings.iter().filter(|finding| finding.rule.id == "leaf-missing").count(), entries);
        crate::go::json::READS.get() - before
    };
    let few = reads(2).await;
    assert_eq!(reads(300).await, few);
}
