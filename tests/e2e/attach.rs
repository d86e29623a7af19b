//! `attach`: bundles, bills of materials and other files beside a release.

use std::time::SystemTime;

use insta::assert_snapshot;
use serde_json::{Value, json};
use tofu_oci_testkit::{
    Behaviour, BuiltBy, Fault, Inline, LocalSigstore, Referrer, ReferrersSupport, Registry, RequestHead, Rule,
};
use tofu_oci_types::{Descriptor, Digest};

use crate::setup::{Scene, WIDGET};

const SPDX: &str = r#"{"spdxVersion":"SPDX-2.3","name":"widget"}"#;
pub(crate) const TARGET: &str = "REGISTRY/acme/widget:1.4.0";
pub(crate) const POLICY: &str = r#"
[[identity]]
name = "acme release"
repository = "github.com/acme/widget"
workflow = ".github/workflows/release.yml"
ref = "refs/tags/v{version}"
root = "root.json"

[[rule]]
providers = ["registry.example.com/acme/widget"]
keys = ["acme release"]
"#;

pub(crate) fn published(referrers: ReferrersSupport) -> Scene {
    let scene = Scene::with(Registry::builder().behaviour(Behaviour { referrers, ..Behaviour::default() }));
    scene.publish("1.4.0");
    scene.context.write("widget.spdx.json", SPDX);
    scene.registry.clear_requests();
    scene
}

/// Writes a bundle about these digests as `widget.sigstore.json`.
pub(crate) fn bundle(scene: &Scene, digests: &[String]) -> LocalSigstore {
    let sigstore = LocalSigstore::generate(SystemTime::now());
    scene.context.write("root.json", sigstore.root());
    let named =
        |digest: &String| json!({ "name": "widget.zip", "digest": { "sha256": digest.trim_start_matches("sha256:") } });
    let subjects: Vec<Value> = digests.iter().map(named).collect();
    let bundle = sigstore.attest(&BuiltBy::RELEASE, "https://slsa.dev/provenance/v1", &subjects);
    scene.context.write("widget.sigstore.json", bundle);
    sigstore
}

fn index(scene: &Scene) -> String {
    scene.tag("acme/widget", "1.4.0")
}

/// The digests of the release's leaves, and of the zips in them.
pub(crate) fn parts(scene: &Scene) -> (Vec<String>, Vec<String>) {
    let read = |reference: &str| -> Value {
        let (_, bytes) = scene.registry.manifest("acme/widget", reference).expect("it is published");
        serde_json::from_slice(&bytes).expect("JSON")
    };
    let digests = |list: &Value| -> Vec<String> {
        list.as_array().into_iter().flatten().map(|one| one["digest"].as_str().expect("a digest").to_owned()).collect()
    };
    let leaves = digests(&read("1.4.0")["manifests"]);
    let zips = leaves.iter().flat_map(|leaf| digests(&read(leaf)["layers"])).collect();
    (leaves, zips)
}

/// The artifact types of what refers to the release.
pub(crate) fn referrers(scene: &Scene) -> Vec<String> {
    scene.run("copy REGISTRY/acme/widget oci:read-back").success();
    let (mut found, index) = (Vec::new(), index(scene));
    let blobs = scene.path("read-back/blobs/sha256");
    for blob in std::fs::read_dir(&blobs).expect("blobs") {
        let bytes = std::fs::read(blob.expect("a blob").path()).expect("a blob");
        let Ok(manifest) = serde_json::from_slice::<Value>(&bytes) else { continue };
        if manifest["subject"]["digest"] == index {
            found.push(manifest["artifactType"].as_str().expect("a type").to_owned());
        }
    }
    std::fs::remove_dir_all(scene.path("read-back")).expect("the copy");
    found.sort();
    found
}

#[test]
fn a_bill_of_materials_is_attached_once() {
    for support in [ReferrersSupport::Unsupported, ReferrersSupport::Supported, ReferrersSupport::WithoutSubjectHeader]
    {
        let scene = published(support);
        insta::allow_duplicates! {
            assert_snapshot!(scene.run(&format!("attach widget.spdx.json {TARGET} --dry-run")).text, @"
            exit code: 0
            ----- stdout -----
            application/spdx+json would be attached to registry.example.com/acme/widget 1.4.0 at [REGISTRY]/acme/widget:1.4.0
              index sha256:[DIGEST]
              would attach widget.spdx.json as sha256:[DIGEST]

            ----- stderr -----
            ");
            assert_eq!(referrers(&scene), [""; 0]);
            assert_snapshot!(scene.run(&format!("attach widget.spdx.json {TARGET}")).text, @"
            exit code: 0
            ----- stdout -----
            application/spdx+json is attached to registry.example.com/acme/widget 1.4.0 at [REGISTRY]/acme/widget:1.4.0
              index sha256:[DIGEST]
              attached widget.spdx.json as sha256:[DIGEST]

            ----- stderr -----
            ");
            assert_snapshot!(scene.run(&format!("attach widget.spdx.json {TARGET}")).text, @"
            exit code: 0
            ----- stdout -----
            application/spdx+json is attached to registry.example.com/acme/widget 1.4.0 at [REGISTRY]/acme/widget:1.4.0 already
              index sha256:[DIGEST]
              present  widget.spdx.json as sha256:[DIGEST]

            ----- stderr -----
            ");
        }
        // The same content under another name is the same.
        scene.context.write("other.json", SPDX);
        let said = scene.run(&format!("attach other.json {TARGET} --json")).success();
        let line = &said.json()[0];
        assert_eq!((&line["event"], &line["unchanged"]), (&json!("attached"), &json!(true)), "{}", said.text);
        assert_eq!(referrers(&scene), ["application/spdx+json"]);
        let said = scene
            .run(&format!("attach other.json {TARGET} --type application/vnd.example+json --dry-run --json"))
            .success();
        let line = &said.json()[0];
        assert_eq!(
            (&line["event"], &line["artifact_type"]),
            (&json!("attach-plan"), &json!("application/vnd.example+json"))
        );
        assert_eq!(
            (&line["attachments"][0]["form"], &line["attachments"][0]["state"]),
            (&json!("file"), &json!("missing"))
        );
    }
}

#[test]
fn a_bundle_about_the_index_a_leaf_or_a_zip_is_attached_and_counts() {
    let scene = published(ReferrersSupport::Unsupported);
    let (leaves, zips) = parts(&scene);
    scene.context.write("trust.toml", POLICY);
    for about in [vec![index(&scene)], vec![leaves[1].clone()], zips] {
        bundle(&scene, &about);
        scene.run(&format!("attach widget.sigstore.json {TARGET}")).success();
        let again = scene.run(&format!("attach widget.sigstore.json {TARGET} --json")).success();
        assert_eq!(again.json().last().expect("a line")["unchanged"], json!(true), "{}", again.text);
    }
    assert_eq!(referrers(&scene), ["application/vnd.dev.sigstore.bundle.v0.3+json"; 3]);
    bundle(&scene, &[index(&scene)]);
    scene.refuse(&format!("install {WIDGET} --from REGISTRY/acme/widget --platform linux_amd64"));
    scene.run(&format!("attach widget.sigstore.json {TARGET}")).success();
    scene.run(&format!("install {WIDGET} --from REGISTRY/acme/widget --platform linux_amd64")).success();
}

#[test]
fn a_bundle_that_another_program_attached_is_not_attached_again() {
    let scene = published(ReferrersSupport::Supported);
    bundle(&scene, &[index(&scene)]);
    let (media_type, bytes) = scene.registry.manifest("acme/widget", "1.4.0").expect("it is published");
    let content = std::fs::read(scene.path("widget.sigstore.json")).expect("the bundle");
    scene
        .registry
        .put_referrer("acme/widget", &Referrer::bundle(&Descriptor::of(&media_type, &bytes), &content, Inline::No));
    let said = scene.run(&format!("attach widget.sigstore.json {TARGET} --json")).success();
    assert_eq!(said.json()[0]["unchanged"], json!(true), "{}", said.text);
}

#[test]
fn wrong_arguments_of_attach_were_explained_without_its_files() {
    let scene = published(ReferrersSupport::Supported);
    scene.context.write("other.json", SPDX);
    assert_snapshot!(scene.refuse("attach widget.spdx.json other.json"), @"
    exit code: 2
    ----- stdout -----

    ----- stderr -----
    error: the release is missing after the files: other.json is a file

    hint: write tofu-oci attach widget.spdx.json other.json REPOSITORY:VERSION
    ");
    assert_snapshot!(scene.refuse("attach registry.example.com/acme/widget:1.4.0 widget.spdx.json"), @"
    exit code: 2
    ----- stdout -----

    ----- stderr -----
    error: `attach` takes the files first, and then the release

    hint: write tofu-oci attach widget.spdx.json registry.example.com/acme/widget:1.4.0
    ");
    assert_snapshot!(scene.refuse("attach widget.spdx.json"), @"
    exit code: 2
    ----- stdout -----

    ----- stderr -----
    error: `attach` needs the files, and then the release

    hint: write tofu-oci attach widget.spdx.json REPOSITORY:VERSION
    ");
    assert_snapshot!(scene.refuse(&format!("attach {TARGET}")), @"
    exit code: 2
    ----- stdout -----

    ----- stderr -----
    error: `attach` needs the files, and then the release

    hint: write tofu-oci attach FILE [REGISTRY]/acme/widget:1.4.0
    ");
    assert_snapshot!(scene.refuse(&format!("attach widget.spdx.json {WIDGET}@1.4.0 --type spdx")), @"
    exit code: 2
    ----- stdout -----

    ----- stderr -----
    error: `registry.example.com/acme/widget@1.4.0` names a provider, and not where the release is

    hint: write tofu-oci attach widget.spdx.json registry.example.com/acme/widget@1.4.0 --type spdx --from REPOSITORY, or tofu-oci attach widget.spdx.json REPOSITORY:1.4.0 --type spdx
    ");
    assert_snapshot!(scene.refuse("attach widget.spdx.json registry.example.com/acme/network/aws@1.0.0"), @"
    exit code: 2
    ----- stdout -----

    ----- stderr -----
    error: `registry.example.com/acme/network/aws@1.0.0` names a module, and not where it is

    hint: name its repository: tofu-oci attach widget.spdx.json REPOSITORY:1.0.0
    ");
    let said = scene.refuse(&format!("attach widget.spdx.json {TARGET} --address example.com/acme/other"));
    assert!(said.contains("hint: omit --address: the release says registry.example.com/acme/widget"), "{said}");
}

#[test]
fn every_bundle_of_a_file_with_lines_is_attached() {
    let scene = published(ReferrersSupport::Unsupported);
    let mut lines = String::new();
    for _ in 0..2 {
        bundle(&scene, &[index(&scene)]);
        lines.push_str(&scene.context.read("widget.sigstore.json"));
        lines.push('\n');
    }
    scene.context.write("sha256.jsonl", &lines);
    scene.run(&format!("attach sha256.jsonl {TARGET}")).success();
    assert_eq!(referrers(&scene).len(), 2);
    let again = scene.run(&format!("attach sha256.jsonl {TARGET} --json")).success();
    assert_eq!(again.json()[0]["unchanged"], json!(true), "{}", again.text);
    // One wrong line, and nothing is attached.
    bundle(&scene, &[Digest::sha256(b"other").to_string()]);
    lines.push_str(&scene.context.read("widget.sigstore.json"));
    scene.context.write("mixed.jsonl", &lines);
    scene.refuse(&format!("attach mixed.jsonl {TARGET}"));
    assert_eq!(referrers(&scene).len(), 2);
}

#[test]
fn wrong_input_is_refused_before_anything_is_sent() {
    let scene = published(ReferrersSupport::Unsupported);
    scene.context.write("unknown.txt", "some text");
    scene.context.write("large.txt", "x".repeat((16 << 20) + 1));
    assert_snapshot!(scene.refuse(&format!("attach unknown.txt {TARGET}")), @"
    exit code: 2
    ----- stdout -----

    ----- stderr -----
    error: unknown.txt does not say what it is

    hint: Sigstore bundles, SPDX and CycloneDX (both in JSON) are recognised; name any other media type: --type TYPE
    ");
    assert_snapshot!(scene.refuse(&format!("attach unknown.txt {TARGET} --type bundle")), @"
    exit code: 1
    ----- stdout -----

    ----- stderr -----
    error: unknown.txt is not a Sigstore bundle that can be attached: the signature is malformed: expected value at line 1 column 1

    hint: cosign 3 and actions/attest-build-provenance write bundles v0.3 with a statement in it
    ");
    assert_snapshot!(scene.refuse(&format!("attach large.txt {TARGET} --type text/plain")), @"
    exit code: 2
    ----- stdout -----

    ----- stderr -----
    error: cannot read large.txt: it is larger than 16 MiB

    hint: check the path; the files come first, and then the release
    ");
    assert_snapshot!(scene.refuse(&format!("attach missing.txt {TARGET} --type text/plain")), @"
    exit code: 2
    ----- stdout -----

    ----- stderr -----
    error: cannot read missing.txt: No such file or directory (os error [N])

    hint: check the path; the files come first, and then the release
    ");
    assert_snapshot!(scene.refuse(&format!("attach unknown.txt {TARGET} --type application/vnd.opentofu.provider.notice.v1")), @"
    exit code: 2
    ----- stdout -----

    ----- stderr -----
    error: invalid value 'application/vnd.opentofu.provider.notice.v1' for '--type <TYPE>': files of the type `application/vnd.opentofu.provider.notice.v1` are written by other commands: `push`, `sign`, `withdraw` or cosign

    For more information, try '--help'.
    ");
    assert_snapshot!(scene.refuse("attach widget.spdx.json REGISTRY/acme/widget:9.9.9"), @"
    exit code: 1
    ----- stdout -----

    ----- stderr -----
    error: [REGISTRY]/acme/widget has no version 9.9.9

    hint: it has 1.4.0
    ");
    scene.refuse("attach widget.spdx.json oci:missing:1.4.0");
    assert!(!scene.path("missing").exists());
    assert_eq!(referrers(&scene), [""; 0]);
}

#[test]
fn a_type_was_taken_that_the_file_contradicts() {
    let scene = published(ReferrersSupport::Supported);
    bundle(&scene, &[index(&scene)]);
    scene.context.write("empty.json", " \n");
    assert_snapshot!(scene.refuse(&format!("attach widget.sigstore.json {TARGET} --type spdx")), @"
    exit code: 2
    ----- stdout -----

    ----- stderr -----
    error: widget.sigstore.json is application/vnd.dev.sigstore.bundle.v0.3+json, and --type says application/spdx+json

    hint: omit --type: the file says itself what it is
    ");
    let said = scene.refuse(&format!("attach widget.spdx.json {TARGET} --type cyclonedx"));
    assert!(
        said.contains("widget.spdx.json is application/spdx+json, and --type says application/vnd.cyclonedx+json"),
        "{said}"
    );
    for line in ["--type spdx", "--type bundle", "--type text/plain", ""] {
        let said = scene.refuse(&format!("attach empty.json {TARGET} {line}"));
        assert!(said.contains("error: empty.json is empty"), "{said}");
    }
    assert_eq!(referrers(&scene), [""; 0]);
}

#[test]
fn several_files_were_not_attached_by_one_command() {
    let scene = published(ReferrersSupport::Unsupported);
    bundle(&scene, &[index(&scene)]);
    let said = scene.run(&format!("attach widget.spdx.json widget.sigstore.json {TARGET} --json")).success();
    let types: Vec<Value> = said.json().iter().map(|line| line["artifact_type"].clone()).collect();
    assert_eq!(types, ["application/spdx+json", "application/vnd.dev.sigstore.bundle.v0.3+json"], "{}", said.text);
    assert_eq!(referrers(&scene).len(), 2);
    // One that is about something else keeps the others out, too.
    scene.context.write("other.spdx.json", SPDX.replace("widget", "other"));
    bundle(&scene, &[Digest::sha256(b"other").to_string()]);
    scene.refuse(&format!("attach other.spdx.json widget.sigstore.json {TARGET}"));
    assert_eq!(referrers(&scene).len(), 2);
}

/// What was attached before the failure was not printed. Plan and run both read and warned.
#[test]
fn the_report_of_a_file_was_lost_if_the_next_one_failed() {
    let scene = published(ReferrersSupport::Supported);
    let (_, zips) = parts(&scene);
    bundle(&scene, &zips[..1]);
    let is_last = |head: &RequestHead| head.method == "PUT" && head.path.contains("/manifests/sha256:");
    scene.registry.fault(Rule::when(is_last).after(1).then(Fault::status(403, "DENIED")));
    scene.registry.clear_requests();
    let said = scene.run(&format!("attach widget.sigstore.json widget.spdx.json {TARGET} --json"));
    assert_eq!(said.code, Some(1), "{}", said.text);
    let lines = said.json();
    let events: Vec<&Value> = lines.iter().map(|line| &line["event"]).collect();
    assert_eq!(events, ["message", "attached", "error"], "{}", said.text);
    assert!(said.stderr.contains("1 of 2 files were attached"), "{}", said.text);
    let requests = scene.conversation();
    let reads = requests.iter().filter(|line| line.contains(" /v2/acme/widget/manifests/1.4.0 ")).count();
    assert_eq!(reads, 2, "{}", requests.join("\n"));
}

#[test]
fn what_is_attached_was_shown_nowhere() {
    let scene = published(ReferrersSupport::Unsupported);
    scene.run(&format!("attach widget.spdx.json {TARGET}")).success();
    let said = scene.run(&format!("show {TARGET}")).success();
    assert!(said.stdout.contains("  attached  application/spdx+json, 42 B, widget.spdx.json;\n"), "{}", said.text);
    let said = scene.run(&format!("show {TARGET} --json")).success();
    let attached = &said.json()[0]["attached"][0];
    assert_eq!((&attached["artifact_type"], &attached["bytes"]), (&json!("application/spdx+json"), &json!(SPDX.len())));
    assert_eq!(attached["files"], json!(["widget.spdx.json"]), "{}", said.text);
}

#[test]
fn a_module_and_a_folder_get_files_too() {
    let scene = published(ReferrersSupport::Unsupported);
    scene.context.write("module/main.tf", "variable \"name\" {}\n");
    scene.run("module push module REGISTRY/acme/network --version 1.0.0").success();
    scene.run("attach widget.spdx.json REGISTRY/acme/network:1.0.0").success();
    let manifest = scene.tag("acme/network", "1.0.0");
    bundle(&scene, &[manifest]);
    scene.run("attach widget.sigstore.json REGISTRY/acme/network:1.0.0").success();
    scene.refuse(&format!("attach widget.sigstore.json {TARGET}"));

    scene.run("copy REGISTRY/acme/widget oci:layout").success();
    scene.run("attach widget.spdx.json oci:layout:1.4.0").success();
    scene.run("copy oci:layout REGISTRY/mirror/widget").success();
    let said =
        scene.run(&format!("attach widget.spdx.json {WIDGET}@1.4.0 --from REGISTRY/mirror/widget --json")).success();
    assert_eq!(said.json()[0]["unchanged"], json!(true), "{}", said.text);
}

/// The connection ends after each write in turn, as if the program had been killed: the release stays as it is, and the
/// next run does what is left.
#[test]
fn an_attachment_that_breaks_off_is_done_by_the_next_run() {
    for support in [ReferrersSupport::Unsupported, ReferrersSupport::Supported] {
        for at in 0.. {
            let scene = published(support);
            let before = index(&scene);
            scene.break_off_after(at);
            let code = scene.run(&format!("attach widget.spdx.json {TARGET} --attempts 1")).code;
            scene.registry.clear_faults();
            assert_eq!(index(&scene), before);
            scene.run(&format!("attach widget.spdx.json {TARGET}")).success();
            assert_eq!(referrers(&scene), ["application/spdx+json"], "{support:?}, write {at}");
            if code == Some(0) {
                assert!(at > 2, "{at}: there are more writes");
                break;
            }
        }
    }
}
