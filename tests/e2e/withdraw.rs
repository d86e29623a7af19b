//! `withdraw`, `deprecate` and the way back, against registries that delete in different ways.

use std::fmt::Write as _;

use insta::assert_snapshot;
use tofu_oci_testkit::{Behaviour, Deletion, Profile, Registry, profiles};

use crate::profiles::{Form, IMAGES, USUAL, line, scene};
use crate::setup::{Scene, WIDGET};

pub(crate) const REASON: &str = "--reason 'it deletes state; use 1.3.0'";

/// A registry that deletes in this way, with widget 1.3.0 and 1.4.0.
pub(crate) fn published(deletion: Deletion) -> Scene {
    let scene = Scene::with(Registry::builder().behaviour(Behaviour { deletion, ..Behaviour::default() }));
    scene.publish("1.3.0");
    scene.publish("1.4.0");
    scene.registry.clear_requests();
    scene
}

/// The tags, except those that list referrers.
pub(crate) fn tags(scene: &Scene, repository: &str) -> Vec<String> {
    let tags = scene.registry.tags(repository).into_iter().map(|(tag, _)| tag);
    tags.filter(|tag| !tag.starts_with("sha256-")).collect()
}

#[test]
fn check_says_that_every_version_was_withdrawn() {
    let scene = Scene::published();
    scene.run("copy REGISTRY/acme/widget oci:layout").success();
    scene.run("withdraw oci:layout:1.4.0 --reason broken").success();
    let said = scene.run("check oci:layout");
    assert_eq!(said.code, Some(1), "{}", said.text);
    assert!(said.text.contains("every version is withdrawn: 1.4.0"), "{}", said.text);
}

#[test]
fn verify_of_a_repository_says_why_the_version_has_no_tag() {
    let scene = published(Deletion::Tags);
    scene.run(&format!("withdraw REGISTRY/acme/widget:1.4.0 {REASON}")).success();
    let said = scene.refuse("verify REGISTRY/acme/widget:1.4.0");
    assert!(said.contains("1.4.0 was withdrawn") && said.contains("it deletes state"), "{said}");
    let said = scene.refuse("verify REGISTRY/acme/widget:1.5.0");
    assert!(said.contains("has no tag 1.5.0"), "{said}");
}

#[test]
fn a_version_goes_and_comes_back() {
    let scene = published(Deletion::Tags);
    assert_snapshot!(scene.run(&format!("withdraw REGISTRY/acme/widget:1.4.0 {REASON} --dry-run")).text, @"
    exit code: 0
    ----- stdout -----
    would withdraw registry.example.com/acme/widget 1.4.0 from [REGISTRY]/acme/widget: it deletes state; use 1.3.0
      index sha256:[DIGEST]
      would keep the content at [REGISTRY]/acme/widget:withdrawn-1.4.0 and delete the tag 1.4.0
      whether [REGISTRY]/acme/widget lets a tag be deleted shows when it is done

    ----- stderr -----
    ");
    assert_eq!(tags(&scene, "acme/widget"), ["1.3.0", "1.4.0"]);
    assert_snapshot!(scene.run(&format!("withdraw REGISTRY/acme/widget:1.4.0 {REASON}")).text, @"
    exit code: 0
    ----- stdout -----
    withdrew registry.example.com/acme/widget 1.4.0 from [REGISTRY]/acme/widget: it deletes state; use 1.3.0
      index sha256:[DIGEST]
      notice sha256:[DIGEST], not signed
      the tag 1.4.0 is gone: no client can choose this version
      the content stays at [REGISTRY]/acme/widget:withdrawn-1.4.0; --undo brings it back
      consumers whose lock file names this version read the reason when `install`, `lock` or `verify` asks for it

    ----- stderr -----
    ");
    assert_eq!(tags(&scene, "acme/widget"), ["1.3.0", "withdrawn-1.4.0"]);
    assert_snapshot!(scene.run(&format!("withdraw REGISTRY/acme/widget:1.4.0 {REASON}")).text, @"
    exit code: 0
    ----- stdout -----
    registry.example.com/acme/widget 1.4.0 is withdrawn from [REGISTRY]/acme/widget already: it deletes state; use 1.3.0
      index sha256:[DIGEST]
      notice sha256:[DIGEST], not signed
      the tag 1.4.0 is gone: no client can choose this version
      the content stays at [REGISTRY]/acme/widget:withdrawn-1.4.0; --undo brings it back
      consumers whose lock file names this version read the reason when `install`, `lock` or `verify` asks for it

    ----- stderr -----
    ");
    assert_snapshot!(scene.run("versions REGISTRY/acme/widget").text, @"
    exit code: 0
    ----- stdout -----
    1.3.0

    ----- stderr -----
    note: [REGISTRY]/acme/widget: withdrawn by its publisher: 1.4.0 (it deletes state; use 1.3.0)
    ");
    assert_snapshot!(scene.run(&format!("withdraw REGISTRY/acme/widget:1.4.0 {REASON} --dry-run")).text, @"
    exit code: 0
    ----- stdout -----
    registry.example.com/acme/widget 1.4.0 in [REGISTRY]/acme/widget is withdrawn already; nothing would be changed

    ----- stderr -----
    ");
    assert_snapshot!(scene.run("withdraw REGISTRY/acme/widget:1.4.0 --undo").text, @"
    exit code: 0
    ----- stdout -----
    registry.example.com/acme/widget 1.4.0 is available again at [REGISTRY]/acme/widget:1.4.0
      index sha256:[DIGEST]
      notice sha256:[DIGEST], not signed

    ----- stderr -----
    ");
    assert_eq!(tags(&scene, "acme/widget"), ["1.3.0", "1.4.0"]);
    assert_snapshot!(scene.run("withdraw REGISTRY/acme/widget:1.4.0 --undo").text, @"
    exit code: 0
    ----- stdout -----
    registry.example.com/acme/widget 1.4.0 at [REGISTRY]/acme/widget:1.4.0 is not withdrawn; nothing was changed
      index sha256:[DIGEST]

    ----- stderr -----
    ");
}

#[test]
fn a_deprecated_version_stays() {
    let scene = published(Deletion::Disabled);
    assert_snapshot!(scene.run("deprecate REGISTRY/acme/widget:1.4.0 --message 'use 2.0.0' --dry-run").text, @"
    exit code: 0
    ----- stdout -----
    would deprecate registry.example.com/acme/widget 1.4.0 at [REGISTRY]/acme/widget:1.4.0: use 2.0.0
      index sha256:[DIGEST]

    ----- stderr -----
    ");
    assert_snapshot!(scene.run("deprecate REGISTRY/acme/widget:1.4.0 --message 'use 2.0.0'").text, @"
    exit code: 0
    ----- stdout -----
    deprecated registry.example.com/acme/widget 1.4.0 at [REGISTRY]/acme/widget:1.4.0: use 2.0.0
      index sha256:[DIGEST]
      notice sha256:[DIGEST], not signed
      clients can still choose this version; tofu-oci warns with the message

    ----- stderr -----
    ");
    assert_eq!(tags(&scene, "acme/widget"), ["1.3.0", "1.4.0", "deprecated-1.4.0"]);
    assert_snapshot!(scene.run("deprecate REGISTRY/acme/widget:1.4.0 --message 'use 2.0.0' --json").text, @r#"
    exit code: 0
    ----- stdout -----
    {"event":"release-state","place":"[REGISTRY]/acme/widget","kind":"provider","address":"registry.example.com/acme/widget","version":"1.4.0","state":"deprecated","reason":"use 2.0.0","tag":"1.4.0","state_tag":"deprecated-1.4.0","index":"sha256:[DIGEST]","notice":"sha256:[DIGEST]","key":null,"other_tags":[],"kept":true,"unchanged":true}

    ----- stderr -----
    "#);
    assert_snapshot!(scene.run("deprecate REGISTRY/acme/widget:1.4.0 --undo").text, @"
    exit code: 0
    ----- stdout -----
    registry.example.com/acme/widget 1.4.0 at [REGISTRY]/acme/widget:1.4.0 is no longer deprecated
      index sha256:[DIGEST]
      notice sha256:[DIGEST], not signed

    ----- stderr -----
    ");
    assert_snapshot!(scene.run("deprecate REGISTRY/acme/widget:1.3.0 --undo").text, @"
    exit code: 0
    ----- stdout -----
    registry.example.com/acme/widget 1.3.0 at [REGISTRY]/acme/widget:1.3.0 is not deprecated; nothing was changed
      index sha256:[DIGEST]

    ----- stderr -----
    ");
}

#[test]
fn a_folder_and_an_address_name_a_release_too() {
    let scene = Scene::with_dist();
    scene.key("p256.pem");
    scene.run(&format!("pack dist oci:layout --address {WIDGET} --sign-key p256.pem")).success();
    let withdraw = format!("withdraw {WIDGET}@1.4.0 --from oci:layout {REASON} --sign-key p256.pem --json");
    assert_snapshot!(scene.run(&withdraw).text, @r#"
    exit code: 0
    ----- stdout -----
    {"event":"release-state","place":"oci:layout","kind":"provider","address":"registry.example.com/acme/widget","version":"1.4.0","state":"withdrawn","reason":"it deletes state; use 1.3.0","tag":"1.4.0","state_tag":"withdrawn-1.4.0","index":"sha256:[DIGEST]","notice":"sha256:[DIGEST]","key":"sha256:[DIGEST]","other_tags":[],"kept":true,"unchanged":false}

    ----- stderr -----
    "#);
    assert_snapshot!(scene.refuse("withdraw oci:layout:1.4.0 --undo"), @"
    exit code: 1
    ----- stdout -----

    ----- stderr -----
    error: the withdrawn version 1.4.0 in oci:layout has a signed notice, which only a signed one replaces

    hint: nothing was changed; use the key that signed it: --sign-key KEY
    hint: OpenTofu goes by the tag alone; tofu-oci heeds the notice wherever trust.toml or a pin has that key
    ");
    scene.run("withdraw oci:layout:1.4.0 --undo --sign-key p256.pem").success();
    scene.run("copy oci:layout oci:other --version 1.4.0").success();
}

/// Whichever way the registry has, the tag goes and everything else stays; or nothing is changed.
#[test]
fn every_way_to_delete() {
    for deletion in [Deletion::Disabled, Deletion::Enabled, Deletion::Tags, Deletion::TagsAlone, Deletion::Manifests] {
        let scene = published(deletion);
        let index = scene.tag("acme/widget", "1.4.0");
        let before = scene.registry.tags("acme/widget");
        let said = scene.run(&format!("withdraw REGISTRY/acme/widget:1.4.0 {REASON}"));
        if deletion == Deletion::Disabled {
            assert_eq!(said.code, Some(1), "{}", said.text);
            assert_eq!(scene.registry.tags("acme/widget"), before);
            continue;
        }
        said.success();
        assert_eq!(tags(&scene, "acme/widget"), ["1.3.0", "withdrawn-1.4.0"], "{deletion:?}");
        assert_eq!(scene.tag("acme/widget", "withdrawn-1.4.0"), index);
        let refused = scene.run(&format!("install {WIDGET}@1.4.0 --from REGISTRY/acme/widget --platform linux_amd64"));
        assert_eq!(refused.code, Some(1), "{deletion:?}: {}", refused.text);
        scene.run("withdraw REGISTRY/acme/widget:1.4.0 --undo").success();
        assert_eq!(tags(&scene, "acme/widget"), ["1.3.0", "1.4.0"], "{deletion:?}");
        assert_eq!(scene.tag("acme/widget", "1.4.0"), index);
        scene.run(&format!("install {WIDGET}@1.4.0 --from REGISTRY/acme/widget --platform linux_amd64")).success();
    }
}

/// What becomes of one release: the exit codes of withdraw, undo, deprecate and undo; then what a refusal said.
fn row(profile: &Profile, form: Form) -> (String, String) {
    let scene = scene(profile, form);
    scene.run(&line("push dist REPOSITORY --address ADDRESS LAYOUT", profile, form)).success();
    let before = tags(&scene, profile.repository);
    let (mut cells, mut told) = (String::new(), String::new());
    for step in [
        "withdraw REPOSITORY:1.4.0 --reason broken",
        "withdraw REPOSITORY:1.4.0 --undo",
        "deprecate REPOSITORY:1.4.0 --message old",
        "deprecate REPOSITORY:1.4.0 --undo",
    ] {
        let said = scene.run(&line(step, profile, form));
        let code = said.code.expect("no signal");
        write!(cells, " {:<9}", if code == 0 { "ok".to_owned() } else { code.to_string() })
            .expect("a string takes text");
        if code != 0 {
            let lines = said.text.lines().filter(|line| !line.is_empty() && !line.starts_with("-----")).skip(1);
            let lines: String = lines.map(|line| format!("  {line}\n")).collect();
            write!(told, "{}: {step}\n{lines}", profile.name).expect("a string takes text");
        }
        if step.contains("withdraw") && code == 1 {
            let now = tags(&scene, profile.repository);
            let immutable = profile.name.contains("immutable");
            assert!(before == now || immutable, "{}: a refusal changed the tags to {now:?}", profile.name);
        }
    }
    (format!("{:<44}{}", format!("{}{}", profile.name, form.name), cells.trim_end()), told)
}

#[test]
fn registries_as_they_are() {
    let mut table = format!("{:<44} withdraw  undo      deprecate undo\n", "");
    let mut told = String::new();
    for profile in profiles() {
        let images = profile.name.starts_with("GitLab") || profile.name.contains("list of types");
        let (line, said) = row(&profile, if images { IMAGES } else { USUAL });
        writeln!(table, "{line}").expect("a string takes text");
        told.push_str(&said);
    }
    assert_snapshot!(format!("{table}\n{told}"), @"
                                                 withdraw  undo      deprecate undo
    registry:2                                   1         ok        ok        ok
    distribution 3                               1         ok        ok        ok
    zot                                          ok        ok        ok        ok
    specification, the least of it               1         ok        ok        ok
    ghcr.io                                      1         ok        ok        ok
    Docker Hub                                   1         ok        ok        ok
    quay.io                                      ok        ok        ok        ok
    Quay, with a list of types --layout image    1         ok        1         ok
    ECR                                          1         ok        ok        ok
    ECR, immutable tags                          1         ok        ok        1
    ACR                                          ok        ok        ok        ok
    ACR, customer's key                          ok        ok        ok        ok
    Artifact Registry, immutable tags            1         1         1         ok
    Harbor, immutable tags                       1         ok        ok        1
    Harbor, old                                  ok        ok        ok        ok
    GitLab --layout image                        1         ok        1         ok
    Artifactory                                  ok        ok        ok        ok
    Gitea                                        ok        ok        ok        ok
    one that deletes a manifest with its tag     ok        ok        ok        ok

    registry:2: withdraw REPOSITORY:1.4.0 --reason broken
      error: [REGISTRY]/acme/opentofu-provider-widget does not let the tag 1.4.0 be deleted: it answered 405: The operation is unsupported. (UNSUPPORTED) when asked to delete a tag, and 405: The operation is unsupported. (UNSUPPORTED) when asked to delete a manifest
      hint: the release stays as it is; ask the operator of the registry to turn deletion on
      hint: to warn those who choose the version instead: `tofu-oci deprecate [REGISTRY]/acme/opentofu-provider-widget:1.4.0 --message TEXT`
    distribution 3: withdraw REPOSITORY:1.4.0 --reason broken
      error: [REGISTRY]/acme/opentofu-provider-widget does not let the tag 1.4.0 be deleted: it answered 405: The operation is unsupported. (UNSUPPORTED) when asked to delete a tag, and 405: The operation is unsupported. (UNSUPPORTED) when asked to delete a manifest
      hint: the release stays as it is; ask the operator of the registry to turn deletion on
      hint: to warn those who choose the version instead: `tofu-oci deprecate [REGISTRY]/acme/opentofu-provider-widget:1.4.0 --message TEXT`
    specification, the least of it: withdraw REPOSITORY:1.4.0 --reason broken
      error: [REGISTRY]/acme/opentofu-provider-widget does not let the tag 1.4.0 be deleted: it answered 405: The operation is unsupported. (UNSUPPORTED) when asked to delete a tag, and 405: The operation is unsupported. (UNSUPPORTED) when asked to delete a manifest
      hint: the release stays as it is; ask the operator of the registry to turn deletion on
      hint: to warn those who choose the version instead: `tofu-oci deprecate [REGISTRY]/acme/opentofu-provider-widget:1.4.0 --message TEXT`
    ghcr.io: withdraw REPOSITORY:1.4.0 --reason broken
      error: [REGISTRY]/acme/opentofu-provider-widget does not let the tag 1.4.0 be deleted: it answered 405: The operation is unsupported. (UNSUPPORTED) when asked to delete a tag, and 405: The operation is unsupported. (UNSUPPORTED) when asked to delete a manifest
      hint: the release stays as it is; ask the operator of the registry to turn deletion on
      hint: to warn those who choose the version instead: `tofu-oci deprecate [REGISTRY]/acme/opentofu-provider-widget:1.4.0 --message TEXT`
    Docker Hub: withdraw REPOSITORY:1.4.0 --reason broken
      error: [REGISTRY]/acme/opentofu-provider-widget does not let the tag 1.4.0 be deleted: it answered 405: The operation is unsupported. (UNSUPPORTED) when asked to delete a tag, and 405: The operation is unsupported. (UNSUPPORTED) when asked to delete a manifest
      hint: the release stays as it is; ask the operator of the registry to turn deletion on
      hint: to warn those who choose the version instead: `tofu-oci deprecate [REGISTRY]/acme/opentofu-provider-widget:1.4.0 --message TEXT`
    Quay, with a list of types: withdraw REPOSITORY:1.4.0 --reason broken
      error: [REGISTRY]/acme/opentofu-provider-widget does not take the notice (a referrer)
        cause: [REGISTRY]/acme/opentofu-provider-widget answered 400 to PUT /v2/acme/opentofu-provider-widget/manifests/sha256:[DIGEST]: manifest schema or content type not supported: application/vnd.opentofu.provider.notice.v1 (MANIFEST_INVALID)
    Quay, with a list of types: deprecate REPOSITORY:1.4.0 --message old
      error: [REGISTRY]/acme/opentofu-provider-widget does not take the notice (a referrer)
        cause: [REGISTRY]/acme/opentofu-provider-widget answered 400 to PUT /v2/acme/opentofu-provider-widget/manifests/sha256:[DIGEST]: manifest schema or content type not supported: application/vnd.opentofu.provider.notice.v1 (MANIFEST_INVALID)
    ECR: withdraw REPOSITORY:1.4.0 --reason broken
      error: [REGISTRY]/acme/opentofu-provider-widget does not let the tag 1.4.0 be deleted: it answered 405: The operation is unsupported. (UNSUPPORTED) when asked to delete a tag, and 405: The operation is unsupported. (UNSUPPORTED) when asked to delete a manifest
      hint: the release stays as it is; ask the operator of the registry to turn deletion on
      hint: to warn those who choose the version instead: `tofu-oci deprecate [REGISTRY]/acme/opentofu-provider-widget:1.4.0 --message TEXT`
    ECR, immutable tags: withdraw REPOSITORY:1.4.0 --reason broken
      error: [REGISTRY]/acme/opentofu-provider-widget does not let the tag 1.4.0 be deleted: it answered 405: The operation is unsupported. (UNSUPPORTED) when asked to delete a tag, and 405: The operation is unsupported. (UNSUPPORTED) when asked to delete a manifest
      hint: the release stays as it is; ask the operator of the registry to turn deletion on
      hint: to warn those who choose the version instead: `tofu-oci deprecate [REGISTRY]/acme/opentofu-provider-widget:1.4.0 --message TEXT`
    ECR, immutable tags: deprecate REPOSITORY:1.4.0 --undo
      error: [REGISTRY]/acme/opentofu-provider-widget answered 400 to PUT /v2/acme/opentofu-provider-widget/manifests/deprecated-1.4.0: The image tag 'deprecated-1.4.0' already exists in the 'acme/opentofu-provider-widget' repository and cannot be overwritten because the tag is immutable. (TAG_INVALID)
      hint: tags are immutable there: publish another version, or ask the owner of the repository to lift the rule
    Artifact Registry, immutable tags: withdraw REPOSITORY:1.4.0 --reason broken
      error: [REGISTRY]/acme-project/tofu/widget still has the tag 1.4.0, so the release is not withdrawn
        cause: [REGISTRY]/acme-project/tofu/widget answered 400 to PUT /v2/acme-project/tofu/widget/manifests/1.4.0: cannot update tag 1.4.0. The repository has enabled tag immutability (MANIFEST_INVALID)
      hint: tags are immutable there: publish another version, or ask the owner of the repository to lift the rule
      hint: this run wrote and could not take back: manifest sha256:[DIGEST], tag withdrawn-1.4.0
    Artifact Registry, immutable tags: withdraw REPOSITORY:1.4.0 --undo
      error: [REGISTRY]/acme-project/tofu/widget does not let the tag sha256-[DIGEST] be written, which the notice (a referrer) needs
        cause: [REGISTRY]/acme-project/tofu/widget answered 400 to PUT /v2/acme-project/tofu/widget/manifests/sha256-[DIGEST]: cannot update tag sha256-[DIGEST]. The repository has enabled tag immutability (MANIFEST_INVALID)
      hint: if tags are immutable there, allow changes of those that begin with `sha256-`, such as sha256-[DIGEST]
    Artifact Registry, immutable tags: deprecate REPOSITORY:1.4.0 --message old
      error: [REGISTRY]/acme-project/tofu/widget does not let the tag sha256-[DIGEST] be written, which the notice (a referrer) needs
        cause: [REGISTRY]/acme-project/tofu/widget answered 400 to PUT /v2/acme-project/tofu/widget/manifests/sha256-[DIGEST]: cannot update tag sha256-[DIGEST]. The repository has enabled tag immutability (MANIFEST_INVALID)
      hint: if tags are immutable there, allow changes of those that begin with `sha256-`, such as sha256-[DIGEST]
    Harbor, immutable tags: withdraw REPOSITORY:1.4.0 --reason broken
      error: [REGISTRY]/acme/opentofu-provider-widget still has the tag 1.4.0, so the release is not withdrawn
        cause: [REGISTRY]/acme/opentofu-provider-widget answered 412 to PUT /v2/acme/opentofu-provider-widget/manifests/1.4.0: Failed to process request due to 'acme/opentofu-provider-widget:1.4.0' configured as immutable. (PRECONDITION)
      hint: tags are immutable there: publish another version, or ask the owner of the repository to lift the rule
      hint: this run wrote and could not take back: tag withdrawn-1.4.0
    Harbor, immutable tags: deprecate REPOSITORY:1.4.0 --undo
      error: [REGISTRY]/acme/opentofu-provider-widget answered 412 to PUT /v2/acme/opentofu-provider-widget/manifests/deprecated-1.4.0: Failed to process request due to 'acme/opentofu-provider-widget:deprecated-1.4.0' configured as immutable. (PRECONDITION)
      hint: tags are immutable there: publish another version, or ask the owner of the repository to lift the rule
    GitLab: withdraw REPOSITORY:1.4.0 --reason broken
      error: [REGISTRY]/acme/opentofu-provider-widget does not take the notice (a referrer)
        cause: [REGISTRY]/acme/opentofu-provider-widget answered 400 to PUT /v2/acme/opentofu-provider-widget/manifests/sha256:[DIGEST]: manifest invalid: unknown media type: application/vnd.opentofu.provider.notice.v1 (MANIFEST_INVALID)
    GitLab: deprecate REPOSITORY:1.4.0 --message old
      error: [REGISTRY]/acme/opentofu-provider-widget does not take the notice (a referrer)
        cause: [REGISTRY]/acme/opentofu-provider-widget answered 400 to PUT /v2/acme/opentofu-provider-widget/manifests/sha256:[DIGEST]: manifest invalid: unknown media type: application/vnd.opentofu.provider.notice.v1 (MANIFEST_INVALID)
    ");
}

#[test]
fn the_reason_of_the_only_version_is_said_to_those_who_name_the_repository() {
    let scene = published(Deletion::Tags);
    for version in ["1.3.0", "1.4.0"] {
        scene.run(&format!("withdraw REGISTRY/acme/widget:{version} {REASON}")).success();
    }
    for line in
        ["versions REGISTRY/acme/widget", "show REGISTRY/acme/widget:1.4.0", "verify REGISTRY/acme/widget:1.4.0"]
    {
        let said = scene.run(line).text;
        assert!(said.contains("it deletes state"), "{line}\n{said}");
    }
}

#[test]
fn a_signed_withdrawal_was_called_undone_while_users_stayed_refused() {
    let scene = Scene::deleting();
    scene.publish("1.4.0");
    scene.key("p256.pem");
    let said = scene.run("withdraw REGISTRY/acme/widget:1.4.0 --reason bad --sign-key p256.pem").success();
    assert!(said.stdout.contains("; --undo with --sign-key brings it back\n"), "{}", said.text);
    for options in ["--undo", "--undo --dry-run"] {
        let said = scene.refuse(&format!("withdraw REGISTRY/acme/widget:1.4.0 {options}"));
        assert!(said.contains("error: the withdrawn version 1.4.0 in ") && said.contains("--sign-key KEY\n"), "{said}");
    }
    scene.run("withdraw REGISTRY/acme/widget:1.4.0 --undo --sign-key p256.pem").success();
    scene.run("deprecate REGISTRY/acme/widget:1.4.0 --message old --sign-key p256.pem").success();
    let said = scene.refuse("deprecate REGISTRY/acme/widget:1.4.0 --undo");
    assert!(said.contains("the deprecated version 1.4.0 in "), "{said}");
    scene.run("deprecate REGISTRY/acme/widget:1.4.0 --undo --sign-key p256.pem").success();
    // An unsigned notice needs no key.
    scene.run("withdraw REGISTRY/acme/widget:1.4.0 --reason bad").success();
    scene.run("withdraw REGISTRY/acme/widget:1.4.0 --undo").success();
}
