//! What a publisher says of a release later: deprecated, withdrawn, replaced under its tag.

use insta::assert_snapshot;
use tofu_oci_testkit::{Answer, Behaviour, Fault, Inline, Referrer, ReferrersSupport, Registry, ReleaseFolder, Rule};
use tofu_oci_trust::{NOTICE_ARTIFACT_TYPE, Notice, NoticeWriter, ReleaseState, SignedSubject};
use tofu_oci_types::{Descriptor, Digest};

use crate::setup::{Scene, WIDGET};
use crate::verify::{VERIFY, policy};

const INSTALL: &str =
    "install registry.example.com/acme/widget@1.4.0 --from REGISTRY/acme/widget --platform linux_amd64";
const LOCK: &str = "lock registry.example.com/acme/widget@1.4.0 --from REGISTRY/acme/widget";
const PUSH: &str = "REGISTRY/acme/widget --address registry.example.com/acme/widget";
const SIGNED: &str = "--sign-key p256.pem";

fn referrers(referrers: ReferrersSupport) -> Scene {
    let scene = Scene::with(Registry::builder().behaviour(Behaviour { referrers, ..Behaviour::default() }));
    scene.key("p256.pem");
    scene.key("p256.pub");
    scene.dist("dist", "1.4.0");
    ReleaseFolder::new("widget", "1.4.0", &["linux_amd64"]).protocols(&["4.0"]).write_goreleaser(&scene.path("other"));
    scene
}

/// 1.4.0 is signed, and then another release is pushed under its tag.
fn replaced(support: ReferrersSupport, options: &str) -> Scene {
    let scene = referrers(support);
    scene.run(&format!("push dist {PUSH} {SIGNED}")).success();
    let before: Digest = scene.tag("acme/widget", "1.4.0").parse().expect("well-formed");
    scene.run(&format!("push other {PUSH} --replace-tag {options}")).success();
    assert_ne!(scene.tag("acme/widget", "1.4.0"), before.to_string());
    // Somebody puts the old one back.
    scene.registry.put_tag("acme/widget", "1.4.0", &before);
    scene
}

#[test]
fn a_replaced_release_that_is_put_back_under_its_tag_is_not_trusted_any_more() {
    for support in [ReferrersSupport::Unsupported, ReferrersSupport::Supported] {
        let scene = replaced(support, SIGNED);
        policy(&scene, "p256.pub", "");
        for line in [INSTALL, LOCK, VERIFY] {
            let said = scene.run(line);
            assert_eq!(said.code, Some(1), "{}", said.text);
            let text = "not trusted: it was withdrawn by acme: its tag moved to another release";
            assert!(said.stderr.contains(text), "{}", said.text);
        }
        let json = scene.run(&format!("{INSTALL} --json"));
        assert!(
            json.text.contains("\"code\":\"withdrawn\"") || json.text.contains("withdrawn by acme"),
            "{}",
            json.text
        );
        let accepted = scene.run(&format!("{VERIFY} --accept"));
        assert_eq!(accepted.code, Some(1), "{}", accepted.text);
        assert!(!scene.path(".tofu-oci.pins.json").exists());
    }
}

#[test]
fn the_refusal_of_a_withdrawn_release_says_what_to_do() {
    let scene = replaced(ReferrersSupport::Supported, SIGNED);
    policy(&scene, "p256.pub", "");
    assert_snapshot!(scene.refuse(INSTALL), @"
    exit code: 1
    ----- stdout -----

    ----- stderr -----
    error: registry.example.com/acme/widget 1.4.0 is not trusted: it was withdrawn by acme: its tag moved to another release
      cause: it came from [REGISTRY]/acme/widget
      cause: trust.toml:5, the rule for registry.example.com/*/*, demands a signature by acme
      cause: sha256:[DIGEST] took its place

    hint: take another version: tofu-oci versions registry.example.com/acme/widget --from [REGISTRY]/acme/widget
    hint: no option overrides it; if it was withdrawn by mistake, whoever withdrew it takes that back
    hint: `tofu-oci verify registry.example.com/acme/widget@1.4.0 --from [REGISTRY]/acme/widget` shows every signature, and why it does not count
    ");
    assert_snapshot!(scene.refuse(VERIFY), @"
    exit code: 1
    ----- stdout -----
    registry.example.com/acme/widget 1.4.0
      place     [REGISTRY]/acme/widget:1.4.0
      index     sha256:[DIGEST]
      rule      trust.toml:5: one of acme; unsigned = refuse; must say
                https://sigstore.dev/cosign/sign/v1
      found     bundle by acme (sha256:[DIGEST])
                counts; it names registry.example.com/acme/widget 1.4.0; it says
                https://sigstore.dev/cosign/sign/v1; in
                sha256:[DIGEST]
      result    refused (withdrawn): it was withdrawn by acme: its tag moved to another release

    ----- stderr -----
    error: registry.example.com/acme/widget 1.4.0 is not trusted: it was withdrawn by acme: its tag moved to another release
      cause: it came from [REGISTRY]/acme/widget
      cause: trust.toml:5, the rule for registry.example.com/*/*, demands a signature by acme
      cause: sha256:[DIGEST] took its place

    hint: take another version: tofu-oci versions registry.example.com/acme/widget --from [REGISTRY]/acme/widget
    hint: no option overrides it; if it was withdrawn by mistake, whoever withdrew it takes that back
    ");
}

#[test]
fn an_unsigned_notice_is_a_warning_where_signatures_count() {
    for support in [ReferrersSupport::Unsupported, ReferrersSupport::Supported] {
        let scene = replaced(support, "");
        policy(&scene, "p256.pub", "");
        for line in [INSTALL, LOCK, VERIFY] {
            let said = scene.run(line).success();
            let text = "a notice says that it is withdrawn, and does not count, as no key of yours signed it";
            assert!(said.text.replace("\n                ", " ").contains(text), "{}", said.text);
        }
    }
}

#[test]
fn a_replaced_release_that_is_put_back_in_a_folder_is_not_trusted_any_more() {
    let scene = referrers(ReferrersSupport::Supported);
    let to = |line: &str| line.replace("REGISTRY/acme/widget", "oci:layout");
    scene.run(&to(&format!("push dist {PUSH} {SIGNED}"))).success();
    let tagged = |scene: &Scene| {
        let index: serde_json::Value = serde_json::from_str(&scene.context.read("layout/index.json")).unwrap();
        let is_it = |entry: &&serde_json::Value| entry["annotations"]["org.opencontainers.image.ref.name"] == "1.4.0";
        index["manifests"].as_array().unwrap().iter().find(is_it).unwrap().clone()
    };
    let before = tagged(&scene);
    scene.run(&to(&format!("push other {PUSH} --replace-tag {SIGNED}"))).success();
    let now = tagged(&scene);
    let index = scene.context.read("layout/index.json");
    let mut index: serde_json::Value = serde_json::from_str(&index).unwrap();
    for entry in index["manifests"].as_array_mut().unwrap() {
        if *entry == now {
            *entry = before.clone();
        }
    }
    scene.context.write("layout/index.json", index.to_string());
    policy(&scene, "p256.pub", "");
    for line in [INSTALL, LOCK, VERIFY] {
        let said = scene.run(&to(line));
        assert_eq!(said.code, Some(1), "{}", said.text);
        assert!(said.stderr.contains("withdrawn by acme"), "{}", said.text);
    }
}

#[test]
fn a_publisher_can_roll_a_tag_back_on_purpose() {
    let scene = referrers(ReferrersSupport::Supported);
    policy(&scene, "p256.pub", "");
    scene.run(&format!("push dist {PUSH} {SIGNED}")).success();
    scene.run(&format!("push other {PUSH} --replace-tag {SIGNED}")).success();
    assert_snapshot!(scene.run(&format!("push dist {PUSH} --replace-tag {SIGNED} --dry-run")).text, @"
    exit code: 0
    ----- stdout -----
    [REGISTRY]/acme/widget:1.4.0 points at another release of registry.example.com/acme/widget, sha256:[DIGEST]
    would mark it as withdrawn, and push registry.example.com/acme/widget 1.4.0 in its place
      index sha256:[DIGEST]
      darwin_arm64         324 B  h1:EpzOw67GZI3oJwc3WEsuZHoCvH952FVhRbU2OaEcQa0=
      linux_amd64          323 B  h1:5ZIaEXtuGPhNEHItKhFseWeAc56rKw42E9ZsSDCu/hw=
      present  package   darwin_arm64     sha256:[DIGEST]     324 B
      present  config    darwin_arm64     sha256:[DIGEST]     220 B
      present  manifest  darwin_arm64     sha256:[DIGEST]     527 B
      present  package   linux_amd64      sha256:[DIGEST]     323 B
      present  config    linux_amd64      sha256:[DIGEST]     219 B
      present  manifest  linux_amd64      sha256:[DIGEST]     526 B
      present  index                      sha256:[DIGEST]    1.5 kB
      key sha256:[DIGEST]
      present  signature sha256:[DIGEST]
      would send 0 B

    ----- stderr -----
    ");
    assert_snapshot!(scene.run(&format!("push dist {PUSH} --replace-tag {SIGNED}")).success().text, @"
    exit code: 0
    ----- stdout -----
    pushed registry.example.com/acme/widget 1.4.0 to [REGISTRY]/acme/widget:1.4.0
      index sha256:[DIGEST]
      darwin_arm64         324 B  h1:EpzOw67GZI3oJwc3WEsuZHoCvH952FVhRbU2OaEcQa0=
      linux_amd64          323 B  h1:5ZIaEXtuGPhNEHItKhFseWeAc56rKw42E9ZsSDCu/hw=
      key sha256:[DIGEST]
      present  signature sha256:[DIGEST]
      replaced sha256:[DIGEST], marked as withdrawn
      sent 0 B (0 new, 7 present)

    ----- stderr -----
    widget 1.4.0 darwin_arm64: present (324 B)
    widget 1.4.0 linux_amd64: present (323 B)
    ");
    let said = scene.run(VERIFY).success();
    assert!(said.stdout.contains("signed by acme") && !said.text.contains("withdrawn"), "{}", said.text);
    scene.run(INSTALL).success();
}

#[test]
fn a_tag_that_does_not_move_leaves_the_old_release_as_it_was() {
    let scene = referrers(ReferrersSupport::Supported);
    policy(&scene, "p256.pub", "");
    scene.run(&format!("push dist {PUSH} {SIGNED}")).success();
    let refusal = Answer::error(412, "PRECONDITION", "the tag is immutable");
    scene.registry.fault(Rule::on("PUT", "*/manifests/1.4.0").then(Fault::Answer(refusal)));
    let said = scene.run(&format!("push other {PUSH} --replace-tag {SIGNED}"));
    assert_ne!(said.code, Some(0), "{}", said.text);
    assert!(said.stderr.contains("the tag 1.4.0 did not move"), "{}", said.text);
    assert!(said.stderr.contains("the tag is immutable"), "{}", said.text);
    scene.run(INSTALL).success();
}

#[test]
fn a_registry_that_takes_no_notice_causes_a_warning() {
    let scene = referrers(ReferrersSupport::Losing);
    scene.run(&format!("push dist {PUSH}")).success();
    let said = scene.run(&format!("push other {PUSH} --replace-tag")).success();
    assert!(said.stderr.contains("warning: the replaced release cannot be marked as withdrawn"), "{}", said.text);
    assert!(said.stdout.contains("not marked as withdrawn"), "{}", said.text);
    assert!(said.stderr.contains("publish the change as a new version instead"), "{}", said.text);
}

/// Says something of the release that a tag points at, unsigned, and gives the notice a tag.
fn say(scene: &Scene, repository: &str, from: &str, state: ReleaseState, reason: &str, tag: Option<&str>) {
    let (media_type, bytes) = scene.registry.manifest(repository, from).expect("it is published");
    let index = Descriptor::of(&media_type, &bytes);
    let (address, version) = (WIDGET.parse().expect("well-formed"), "1.4.0".parse().expect("well-formed"));
    let subject = SignedSubject { index: &index.digest, address: &address, version: &version };
    let reason = reason.parse().expect("well-formed");
    let notice = Notice { state, reason, writer: NoticeWriter::Publisher, replaced_by: None, supersedes: [].into() };
    let statement = notice.to_statement(&subject);
    let layer = "application/vnd.in-toto+json";
    let referrer = Referrer::new(&index, NOTICE_ARTIFACT_TYPE).layer(layer, &statement, &[], Inline::Yes);
    let digest = scene.registry.put_referrer(repository, &referrer);
    if let Some(tag) = tag {
        scene.registry.put_tag(repository, tag, &digest);
    }
    scene.registry.clear_requests();
}

/// Widget 1.5.0 at `REGISTRY/acme/widget`, where 1.4.0 was withdrawn.
fn withdrawn() -> Scene {
    let scene = Scene::new();
    scene.dist("dist", "1.4.0");
    scene.run(&format!("push dist REGISTRY/acme/first --address {WIDGET}")).success();
    scene.publish("1.5.0");
    for digest in scene.registry.digests("acme/first") {
        match scene.registry.manifest("acme/first", &digest) {
            Some((media_type, bytes)) => drop(scene.registry.put_manifest("acme/widget", &media_type, bytes)),
            None => drop(scene.registry.put_blob(
                "acme/widget",
                scene.registry.blob("acme/first", &digest.parse().expect("well-formed")).expect("it is listed"),
            )),
        }
    }
    let index = scene.tag("acme/first", "1.4.0").parse().expect("well-formed");
    scene.registry.put_tag("acme/widget", "withdrawn-1.4.0", &index);
    say(&scene, "acme/widget", "withdrawn-1.4.0", ReleaseState::Withdrawn, "it deletes the state", None);
    scene
}

#[test]
fn a_withdrawn_version_is_not_simply_not_found() {
    let scene = withdrawn();
    assert_snapshot!(scene.refuse(INSTALL), @"
    exit code: 1
    ----- stdout -----

    ----- stderr -----
    error: registry.example.com/acme/widget 1.4.0 was withdrawn: it deletes the state
      cause: asked [REGISTRY]/acme/widget

    hint: it has 1.5.0
    hint: if a lock file names 1.4.0, `tofu-oci install registry.example.com/acme/widget --upgrade --from [REGISTRY]/acme/widget --platform linux_amd64` moves it to another version; if a constraint does, change that
    ");
    assert!(scene.refuse(&format!("{INSTALL} --upgrade")).contains("\nhint: a constraint demands 1.4.0: change it\n"));
    for line in [LOCK, VERIFY] {
        let said = scene.run(line);
        assert_eq!(said.code, Some(1), "{}", said.text);
        assert!(said.stderr.contains("was withdrawn") && said.stderr.contains("it deletes the state"), "{}", said.text);
    }
    // A consumer who has it locked.
    scene.run(&INSTALL.replace("acme/widget --platform", "acme/first --platform")).success();
    std::fs::remove_dir_all(scene.path(".terraform")).expect("it was installed");
    assert_snapshot!(scene.refuse(&INSTALL.replace("@1.4.0", "")), @"
    exit code: 1
    ----- stdout -----

    ----- stderr -----
    error: registry.example.com/acme/widget 1.4.0 was withdrawn: it deletes the state
      cause: asked [REGISTRY]/acme/widget

    hint: it has 1.5.0
    hint: if a lock file names 1.4.0, `tofu-oci install registry.example.com/acme/widget --upgrade --from [REGISTRY]/acme/widget --platform linux_amd64` moves it to another version; if a constraint does, change that
    ");
    let said = scene.run("check .terraform.lock.hcl --from REGISTRY/acme/widget --platform linux_amd64");
    assert!(said.text.contains("it deletes the state"), "{}", said.text);
    let explained = scene.run(&format!("resolve {WIDGET} --explain --from REGISTRY/acme/widget"));
    assert!(explained.text.contains("was withdrawn"), "{}", explained.text);
    let newest = scene.run(&format!("install {WIDGET} --from REGISTRY/acme/widget --platform linux_amd64 --upgrade"));
    assert!(newest.success().text.contains("1.5.0"));
}

#[test]
fn a_version_that_was_withdrawn_is_not_published_by_accident() {
    let scene = withdrawn();
    let refused = scene.refuse(&format!("push dist {PUSH}"));
    assert_snapshot!(refused, @"
    exit code: 1
    ----- stdout -----

    ----- stderr -----
    error: 1.4.0 was withdrawn from [REGISTRY]/acme/widget: it deletes the state
      cause: its content is still there, under the tag withdrawn-1.4.0

    hint: publish the change as another version: lock files may still name this one
    hint: if it was withdrawn by mistake: tofu-oci withdraw [REGISTRY]/acme/widget:1.4.0 --undo (with --sign-key KEY if its notice is signed)
    hint: to publish this release under the version all the same, add --replace-tag
    ");
    assert_eq!(scene.refuse(&format!("push dist {PUSH} --dry-run")), refused);
    scene.run(&format!("push dist {PUSH} --replace-tag")).success();
    assert!(scene.run(INSTALL).success().text.contains("1.4.0"));
}

#[test]
fn a_deprecated_release_is_used_with_one_warning() {
    let scene = Scene::published();
    say(&scene, "acme/widget", "1.4.0", ReleaseState::Deprecated, "use 2.0.0", Some("deprecated-1.4.0"));
    let text = "warning: registry.example.com/acme/widget 1.4.0: its publisher has deprecated it: use 2.0.0";
    for line in [INSTALL, LOCK] {
        let said = scene.run(line).success();
        assert_eq!(said.stderr.matches(text).count(), 1, "{}", said.text);
    }
    let checked = scene.run("check .terraform.lock.hcl --from REGISTRY/acme/widget --platform linux_amd64").success();
    assert!(checked.stdout.contains("note[lock-version-deprecated]") && checked.stdout.contains("use 2.0.0"));
    let json = scene.run(&format!("{LOCK} --json")).success();
    assert!(json.stderr.contains("\"code\":\"deprecated\"") || json.stdout.contains("\"code\":\"deprecated\""));
    // What is on disk costs no request, so nothing new is heard of it.
    let again = scene.run(INSTALL).success();
    assert!(!again.stderr.contains("deprecated"), "{}", again.text);
}

#[test]
fn a_notice_that_cannot_be_had_is_no_error() {
    let scene = Scene::published();
    scene.run(INSTALL).success();
    std::fs::remove_dir_all(scene.path(".terraform")).expect("it was installed");
    scene
        .registry
        .fault(Rule::on("GET", "*/manifests/deprecated-1.4.0").then(Fault::Answer(Answer::error(403, "DENIED", "no"))));
    let said = scene.run(INSTALL).success();
    assert!(!said.stderr.contains("warning"), "{}", said.text);
}

#[test]
fn a_copy_of_all_takes_along_what_is_said_of_versions() {
    let scene = withdrawn();
    scene.publish("1.4.1");
    scene.run(&format!("push dist REGISTRY/acme/mirror --address {WIDGET}")).success();
    let said = scene.run("copy REGISTRY/acme/widget REGISTRY/acme/mirror --all").success();
    assert_eq!(scene.tag("acme/mirror", "withdrawn-1.4.0"), scene.tag("acme/widget", "withdrawn-1.4.0"));
    assert!(said.stderr.contains("still offers 1.4.0, which"), "{}", said.text);
    let again = scene.run("copy REGISTRY/acme/widget REGISTRY/acme/empty --all").success();
    assert!(!again.stderr.contains("still offers"), "{}", again.text);
    let refused = scene.run(&INSTALL.replace("acme/widget --platform", "acme/empty --platform"));
    assert!(refused.stderr.contains("it deletes the state"), "{}", refused.text);
    let dry = scene.run("copy REGISTRY/acme/widget REGISTRY/acme/other --all --dry-run").success();
    assert!(dry.stdout.contains("withdrawn-1.4.0"), "{}", dry.text);
}

#[test]
fn a_copy_of_a_deprecated_version_is_deprecated_too() {
    let scene = Scene::published();
    say(&scene, "acme/widget", "1.4.0", ReleaseState::Deprecated, "use 2.0.0", Some("deprecated-1.4.0"));
    scene.run("copy REGISTRY/acme/widget REGISTRY/acme/mirror").success();
    let said = scene.run(&INSTALL.replace("acme/widget --platform", "acme/mirror --platform")).success();
    assert!(said.stderr.contains("has deprecated it: use 2.0.0"), "{}", said.text);
}

#[test]
fn check_reports_what_is_said_of_versions() {
    let scene = replaced(ReferrersSupport::Supported, SIGNED);
    policy(&scene, "p256.pub", "");
    let check = "check REGISTRY/acme/widget --address registry.example.com/acme/widget";
    let said = scene.run(check);
    assert!(said.stdout.contains("withdrawn-version") && said.stdout.contains("withdrawn by acme"), "{}", said.text);
    let scene = Scene::published();
    say(&scene, "acme/widget", "1.4.0", ReleaseState::Deprecated, "use 2.0.0", Some("deprecated-1.4.0"));
    let said = scene.run(check);
    assert!(said.stdout.contains("deprecated-version") && said.stdout.contains("use 2.0.0"), "{}", said.text);
}
