//! `versions`: what is no provider, what publishers say later, and the table.

use insta::assert_snapshot;
use serde_json::{Value, json};
use tofu_oci_testkit::{Fault, Inline, Referrer, Rule};
use tofu_oci_trust::{Notice, NoticeWriter, ReleaseState, SignedSubject};
use tofu_oci_types::{Descriptor, Digest};

use crate::json::check;
use crate::requests::anonymous;
use crate::setup::{Scene, WIDGET};

const INDEX: &str = "application/vnd.oci.image.index.v1+json";
const MANIFEST: &str = "application/vnd.oci.image.manifest.v1+json";
const CONFIG: &str = "application/vnd.oci.image.config.v1+json";

impl Scene {
    /// Puts a container image at a tag: an index of one image if `label` says which kind of package it is, `null` for
    /// none. `created` is the time in its config.
    pub(crate) fn image(&self, tag: &str, label: &Value, created: &str) {
        let labels = if label.is_null() { json!({}) } else { json!({"org.opentofu.package-type": label}) };
        let config = json!({
            "os": "linux", "architecture": "amd64", "created": created,
            "config": {"Labels": labels}, "rootfs": {"type": "layers", "diff_ids": []},
        });
        let config = config.to_string();
        let described = json!({"mediaType": CONFIG, "digest": Digest::sha256(config.as_bytes()), "size": config.len()});
        self.registry.put_blob("acme/widget", config);
        let leaf = json!({"schemaVersion": 2, "mediaType": MANIFEST, "config": described, "layers": []}).to_string();
        let size = leaf.len();
        let leaf = self.registry.put_manifest("acme/widget", MANIFEST, leaf);
        let platform = json!({"os": "linux", "architecture": "amd64"});
        let entry = json!({"mediaType": MANIFEST, "digest": leaf, "size": size, "platform": platform});
        let index = json!({"schemaVersion": 2, "mediaType": INDEX, "manifests": [entry]}).to_string();
        let index = self.registry.put_manifest("acme/widget", INDEX, index);
        self.registry.put_tag("acme/widget", tag, &index);
    }

    /// Puts an unsigned notice about a version beside the release that a tag names, and gives the digest of the notice.
    fn notice(&self, tag: &str, version: &str, state: ReleaseState, reason: &str) -> Digest {
        let (media_type, bytes) = self.registry.manifest("acme/widget", tag).expect("it is published");
        let index = Descriptor::of(&media_type, &bytes);
        let (address, version) = (WIDGET.parse().expect("an address"), version.parse().expect("a version"));
        let subject = SignedSubject { index: &index.digest, address: &address, version: &version };
        let reason = reason.parse().expect("a reason");
        let writer = NoticeWriter::Publisher;
        let notice = Notice { state, reason, writer, replaced_by: None, supersedes: [].into() };
        let notice = notice.to_statement(&subject);
        let referrer = Referrer::new(&index, "application/vnd.opentofu.provider.notice.v1");
        let referrer = referrer.layer("application/vnd.in-toto+json", &notice, &[], Inline::No);
        self.registry.put_referrer("acme/widget", &referrer)
    }

    /// Deprecates a version, as `deprecate` does.
    pub(crate) fn deprecated(&self, version: &str, reason: &str) {
        let notice = self.notice(version, version, ReleaseState::Deprecated, reason);
        self.registry.put_tag("acme/widget", &format!("deprecated-{version}"), &notice);
    }

    /// Publishes a version whose content is then kept under `withdrawn-VERSION` alone, as `withdraw` does.
    pub(crate) fn withdrawn(&self, version: &str, reason: &str) {
        let dist = format!("dist-{version}");
        self.dist(&dist, version);
        self.run(&format!("pack {dist} oci:withdrawn-layout --address {WIDGET}")).success();
        let tag = self.context.read("withdrawn-layout/index.json").replace(&format!("\"{version}\""), "\"kept\"");
        self.context.write("withdrawn-layout/index.json", tag);
        self.registry.put_layout("acme/widget", &self.path("withdrawn-layout"));
        let index: Digest = self.tag("acme/widget", "kept").parse().expect("a digest");
        self.registry.put_tag("acme/widget", &format!("withdrawn-{version}"), &index);
        self.notice("kept", version, ReleaseState::Withdrawn, reason);
    }
}

#[test]
fn what_is_no_provider_is_left_out_with_a_note() {
    let scene = Scene::published();
    let image = scene.registry.put_manifest("acme/widget", MANIFEST, "{\"schemaVersion\":2}");
    scene.registry.put_tag("acme/widget", "3.0.0", &image);
    scene.image("2.0.0", &Value::Null, "");
    scene.image("2.1.0", &json!("module"), "");
    scene.image("1.0.0", &json!("provider_binary"), "");
    assert_snapshot!(scene.run("versions REGISTRY/acme/widget").text, @"
    exit code: 0
    ----- stdout -----
    1.4.0
    1.0.0

    ----- stderr -----
    note: [REGISTRY]/acme/widget: some tags are not providers, and are left out: 3.0.0 (a single manifest), 2.1.0 (a package of type `module`), 2.0.0 (a container image)
      hint: keep them in another repository: if such a tag is the newest, `install` and `tofu init` choose it and fail
    ");
    for option in ["", "--platforms", "--long"] {
        let said = scene.run(&format!("versions REGISTRY/acme/widget {option} --json")).success();
        let versions: Vec<Value> = said.json().iter().map(|line| line["version"].clone()).collect();
        assert_eq!(versions, [Value::Null, "1.4.0".into(), "1.0.0".into()], "{}", said.text);
    }
    let said = scene.run("versions REGISTRY/acme/widget --quiet").success();
    assert_eq!((said.stdout.as_str(), said.stderr.as_str()), ("1.4.0\n1.0.0\n", ""));
}

#[test]
fn a_broken_release_does_not_hide_the_platforms_of_the_others() {
    let scene = Scene::published();
    let entry = json!({
        "mediaType": MANIFEST, "digest": Digest::sha256(b"{}"), "size": 2,
        "artifactType": "application/vnd.opentofu.provider-target",
    });
    let index = json!({
        "schemaVersion": 2, "mediaType": INDEX, "manifests": [entry],
        "artifactType": "application/vnd.opentofu.provider",
    });
    let index = scene.registry.put_manifest("acme/widget", INDEX, index.to_string());
    scene.registry.put_tag("acme/widget", "1.5.0", &index);
    scene.publish("1.6.0");
    assert_snapshot!(scene.run("versions REGISTRY/acme/widget --platforms").text, @"
    exit code: 0
    ----- stdout -----
    1.6.0  darwin_arm64 linux_amd64
    1.5.0
    1.4.0  darwin_arm64 linux_amd64

    ----- stderr -----
    warning: the platforms of 1.5.0 in [REGISTRY]/acme/widget cannot be read: the provider package sha256:[DIGEST] has no platform in its index entry
      hint: its publisher can push the release again
    ");
    assert_snapshot!(scene.run("versions REGISTRY/acme/widget --platforms --json").text, @r#"
    exit code: 0
    ----- stdout -----
    {"event":"message","level":"warning","code":"broken-release","text":"the platforms of 1.5.0 in [REGISTRY]/acme/widget cannot be read: the provider package sha256:[DIGEST] has no platform in its index entry","hint":"its publisher can push the release again"}
    {"event":"version","place":"[REGISTRY]/acme/widget","version":"1.6.0","platforms":["darwin_arm64","linux_amd64"]}
    {"event":"version","place":"[REGISTRY]/acme/widget","version":"1.5.0"}
    {"event":"version","place":"[REGISTRY]/acme/widget","version":"1.4.0","platforms":["darwin_arm64","linux_amd64"]}

    ----- stderr -----
    "#);
}

#[test]
fn five_hundred_versions_cost_the_requests_of_twenty() {
    let scene = Scene::published();
    let digest = scene.tag("acme/widget", "1.4.0").parse().expect("a digest");
    (0..500).for_each(|minor| scene.registry.put_tag("acme/widget", &format!("2.{minor}.0"), &digest));
    let said = scene.run("versions REGISTRY/acme/widget").success();
    assert_eq!((said.stdout.lines().count(), said.stdout.lines().next()), (501, Some("2.499.0")));
    let looked = scene.conversation().iter().filter(|line| line.contains("/manifests/")).count();
    assert_eq!(looked, 20);
    // One of the newest is something else: then all are looked into.
    scene.image("2.490.1", &Value::Null, "");
    scene.image("1.0.0", &Value::Null, "");
    let said = scene.run("versions REGISTRY/acme/widget").success();
    assert_eq!(said.stdout.lines().count(), 501);
    assert!(said.stderr.contains("2.490.1 (a container image), 1.0.0 (a container image)"), "{}", said.stderr);
}

#[test]
fn limit_takes_the_newest_of_what_is_listed() {
    let scene = Scene::published();
    scene.publish("1.5.0");
    scene.image("2.0.0", &Value::Null, "");
    for option in ["", "--platforms", "--long"] {
        let said = scene.run(&format!("versions REGISTRY/acme/widget --limit 1 {option} --json")).success();
        let versions: Vec<Value> = said.json().iter().map(|line| line["version"].clone()).collect();
        assert_eq!(versions, [Value::Null, "1.5.0".into()], "{}", said.text);
    }
    assert!(scene.refuse("versions REGISTRY/acme/widget --limit 0").starts_with("exit code: 2"));
}

#[test]
fn the_long_list_says_when_by_whom_and_for_what() {
    let scene = Scene::published();
    scene.publish("1.5.0");
    scene.publish("1.6.0");
    scene.image("1.0.0", &json!("provider_binary"), "2026-03-01T12:00:00Z");
    scene.sign("acme/widget", WIDGET, "1.5.0");
    scene.sign("acme/widget", WIDGET, "1.4.0");
    scene.deprecated("1.4.0", "use 1.5.0");
    scene.registry.clear_requests();
    assert_snapshot!(scene.run("versions REGISTRY/acme/widget --long").text, @"
    exit code: 0
    ----- stdout -----
    version             created     protocols  signed      platforms
    1.6.0               unknown     -          no          darwin_arm64 linux_amd64
    1.5.0               unknown     -          not judged  darwin_arm64 linux_amd64
    1.4.0 (deprecated)  unknown     -          not judged  darwin_arm64 linux_amd64
    1.0.0               2026-03-01  -          -           linux_amd64

    ----- stderr -----
    note: [REGISTRY]/acme/widget: deprecated by its publisher: 1.4.0 (use 1.5.0)
    ");
    scene.trust("unsigned = \"allow\"");
    assert_snapshot!(scene.run("versions REGISTRY/acme/widget --long").text, @"
    exit code: 0
    ----- stdout -----
    version             created     protocols  signed           platforms
    1.6.0               unknown     -          no               darwin_arm64 linux_amd64
    1.5.0               unknown     -          by acme-release  darwin_arm64 linux_amd64
    1.4.0 (deprecated)  unknown     -          by acme-release  darwin_arm64 linux_amd64
    1.0.0               2026-03-01  -          -                linux_amd64

    ----- stderr -----
    note: [REGISTRY]/acme/widget: deprecated by its publisher: 1.4.0 (use 1.5.0)
    ");
    scene.trust("");
    let said = scene.run("versions REGISTRY/acme/widget --long --json");
    assert_eq!(check(&said), ["message", "version", "version", "version", "version"]);
    assert_snapshot!(said.text, @r#"
    exit code: 0
    ----- stdout -----
    {"event":"message","level":"note","code":"deprecated","text":"[REGISTRY]/acme/widget: deprecated by its publisher: 1.4.0 (use 1.5.0)","hint":null}
    {"event":"version","place":"[REGISTRY]/acme/widget","version":"1.6.0","platforms":["darwin_arm64","linux_amd64"],"index":"sha256:[DIGEST]","protocols":[],"created":null,"signatures":{"state":"refused","code":"unsigned"}}
    {"event":"version","place":"[REGISTRY]/acme/widget","version":"1.5.0","platforms":["darwin_arm64","linux_amd64"],"index":"sha256:[DIGEST]","protocols":[],"created":null,"signatures":{"state":"signed","by":["acme-release"]}}
    {"event":"version","place":"[REGISTRY]/acme/widget","version":"1.4.0","platforms":["darwin_arm64","linux_amd64"],"notice":{"state":"deprecated","reason":"use 1.5.0","writer":"publisher"},"index":"sha256:[DIGEST]","protocols":[],"created":null,"signatures":{"state":"signed","by":["acme-release"]}}
    {"event":"version","place":"[REGISTRY]/acme/widget","version":"1.0.0","platforms":["linux_amd64"],"index":"sha256:[DIGEST]","protocols":[],"created":{"at":"2026-03-01T12:00:00Z","by":"image-config"},"signatures":null}

    ----- stderr -----
    "#);
}

#[test]
fn what_publishers_say_later_stands_beside_the_list() {
    let scene = Scene::published();
    scene.publish("1.5.0");
    scene.withdrawn("1.3.0", "it deletes data");
    scene.deprecated("1.4.0", "use 1.5.0");
    assert_snapshot!(scene.run("versions REGISTRY/acme/widget").text, @"
    exit code: 0
    ----- stdout -----
    1.5.0
    1.4.0

    ----- stderr -----
    note: [REGISTRY]/acme/widget: deprecated by its publisher: 1.4.0 (use 1.5.0)
    note: [REGISTRY]/acme/widget: withdrawn by its publisher: 1.3.0 (it deletes data)
    ");
    let said = scene.run("versions REGISTRY/acme/widget --json");
    assert_eq!(check(&said), ["message", "message", "version", "version"]);
    assert_snapshot!(said.text, @r#"
    exit code: 0
    ----- stdout -----
    {"event":"message","level":"note","code":"deprecated","text":"[REGISTRY]/acme/widget: deprecated by its publisher: 1.4.0 (use 1.5.0)","hint":null}
    {"event":"message","level":"note","code":"withdrawn","text":"[REGISTRY]/acme/widget: withdrawn by its publisher: 1.3.0 (it deletes data)","hint":null}
    {"event":"version","place":"[REGISTRY]/acme/widget","version":"1.5.0"}
    {"event":"version","place":"[REGISTRY]/acme/widget","version":"1.4.0","notice":{"state":"deprecated","reason":"use 1.5.0","writer":"publisher"}}

    ----- stderr -----
    "#);
}

#[test]
fn a_registry_that_lists_and_shows_nothing_still_lists() {
    let scene = Scene::published();
    scene.registry.fault(Rule::on("GET", "/v2/*/manifests/*").then(Fault::status(403, "DENIED")));
    assert_snapshot!(scene.run("versions REGISTRY/acme/widget --attempts 1").text, @"
    exit code: 0
    ----- stdout -----
    1.4.0

    ----- stderr -----
    warning: whether 1.4.0 is a provider is not known: [REGISTRY]/acme/widget denied access: it names no way to log in, so nothing was shown: injected (DENIED)
    ");
    assert!(scene.refuse("versions REGISTRY/acme/widget --long --attempts 1").starts_with("exit code: 1"));
}

#[test]
fn a_directory_is_looked_into_as_a_registry_is() {
    let scene = Scene::with_dist();
    scene.run(&format!("pack dist oci:layout --address {WIDGET}")).success();
    assert_snapshot!(scene.run("versions oci:layout --long").text, @"
    exit code: 0
    ----- stdout -----
    version  created  protocols  signed  platforms
    1.4.0    unknown  -          no      darwin_arm64 linux_amd64

    ----- stderr -----
    ");
    assert_eq!(anonymous(&scene), "");
}
