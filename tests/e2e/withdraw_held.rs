//! What stays withdrawn although a tag, a copy, or another key brings it back.

use insta::assert_snapshot;
use tofu_oci_testkit::Deletion;

use crate::setup::{Scene, WIDGET};
use crate::withdraw::{REASON, published, tags};

/// widget 1.3.0 and 1.4.0 in two repositories; the second one has withdrawn 1.4.0.
fn withdrawn_in_the_mirror() -> Scene {
    let scene = published(Deletion::Tags);
    scene.run("copy REGISTRY/acme/widget REGISTRY/acme/mirror --all").success();
    scene.run(&format!("withdraw REGISTRY/acme/mirror:1.4.0 {REASON}")).success();
    scene
}

#[test]
fn a_withdrawn_version_whose_tag_came_back_was_listed_and_installed() {
    let scene = withdrawn_in_the_mirror();
    let index = scene.tag("acme/mirror", "withdrawn-1.4.0");
    scene.registry.put_tag("acme/mirror", "1.4.0", &index.parse().expect("a digest"));
    assert_snapshot!(scene.run("versions REGISTRY/acme/mirror").text, @"
    exit code: 0
    ----- stdout -----
    1.3.0

    ----- stderr -----
    note: [REGISTRY]/acme/mirror: withdrawn by its publisher: 1.4.0 (it deletes state; use 1.3.0)
    warning: the tag 1.4.0 in [REGISTRY]/acme/mirror still names the withdrawn release, so OpenTofu can choose 1.4.0
      hint: `tofu-oci withdraw [REGISTRY]/acme/mirror:1.4.0 --reason TEXT` finishes it; --undo instead of --reason TEXT brings the version back; either with --sign-key KEY if its notice is signed
    ");
    // The pages of the rules said that `check` calls it half-withdrawn.
    let said = scene.run("check REGISTRY/acme/mirror");
    assert!(said.stdout.contains("error[withdrawn-version]"), "{}", said.text);
    assert!(!said.stdout.contains("error[half-withdrawn]"), "{}", said.text);
    let install =
        |version: &str| format!("install {WIDGET}{version} --from REGISTRY/acme/mirror --platform linux_amd64");
    let refused = scene.refuse(&install("@1.4.0"));
    assert!(refused.contains("1.4.0 was withdrawn") && refused.contains("it deletes state"), "{refused}");
    let said = scene.run(&install("")).success();
    assert!(said.stdout.contains("1.3.0") && !said.text.contains("1.4.0"), "{}", said.text);
    std::fs::remove_file(scene.path(".terraform.lock.hcl")).expect("it was written");
    let said = scene.refuse(&format!("lock {WIDGET}@1.4.0 --from REGISTRY/acme/mirror --platform linux_amd64"));
    assert!(said.contains("it deletes state"), "{said}");
    // A lock file of before, and a place that lists versions.
    let config = "provider_installation {\n  oci_mirror {\n    repository_template = \"REGISTRY/acme/mirror\"\n    include = [\"registry.example.com/acme/widget\"]\n  }\n}\n";
    scene.home_file(".tofurc", config);
    scene.run(&format!("lock {WIDGET}@1.4.0 --from REGISTRY/acme/widget --platform linux_amd64")).success();
    let said = scene.refuse(&format!("install {WIDGET} --platform linux_amd64"));
    assert!(said.contains("1.4.0 was withdrawn") && said.contains("it deletes state"), "{said}");
    let to = "--to 'REGISTRY/m/${namespace}/${type}'";
    scene.run(&format!("mirror {WIDGET} --from REGISTRY/acme/mirror {to}")).success();
    assert_eq!(tags(&scene, "m/acme/widget"), ["1.3.0", "first-seen"]);
    let said = scene.refuse("copy REGISTRY/acme/mirror:1.4.0 oci:layout");
    assert!(said.contains("/acme/mirror has no version 1.4.0: it was withdrawn: it deletes state"), "{said}");
    scene.run("copy REGISTRY/acme/mirror oci:layout --all").success();
    let said = scene.run("versions oci:layout");
    assert!(!said.stdout.contains("1.4.0"), "{}", said.text);
    scene.run(&format!("withdraw REGISTRY/acme/mirror:1.4.0 {REASON}")).success();
    assert_eq!(tags(&scene, "acme/mirror"), ["1.3.0", "withdrawn-1.4.0"]);
    assert_eq!(scene.refuse(&install("@1.4.0")), refused, "the same as of a version without a tag");
    // What `--undo` says counts, although a registry may keep the tag beside the version's own.
    scene.run("withdraw REGISTRY/acme/mirror:1.4.0 --undo").success();
    scene.registry.put_tag("acme/mirror", "withdrawn-1.4.0", &index.parse().expect("a digest"));
    let said = scene.run("versions REGISTRY/acme/mirror").success();
    assert!(said.stdout.contains("1.4.0") && said.stderr.is_empty(), "{}", said.text);
}

#[test]
fn copy_all_brought_a_withdrawn_version_back() {
    let scene = withdrawn_in_the_mirror();
    let before = tags(&scene, "acme/mirror");
    for more in [" --dry-run", ""] {
        let said = scene.run(&format!("copy REGISTRY/acme/widget REGISTRY/acme/mirror --all{more}")).success();
        assert!(!said.stdout.contains("1.4.0"), "{}", said.text);
        assert!(
            said.stderr.starts_with("warning: 1.4.0 is not copied, because it was withdrawn from "),
            "{}",
            said.text
        );
    }
    for more in ["", " --dry-run", " --replace-tag"] {
        let said = scene.refuse(&format!("copy REGISTRY/acme/widget:1.4.0 REGISTRY/acme/mirror{more}"));
        assert!(said.contains("/acme/mirror has no version 1.4.0: it was withdrawn: it deletes state"), "{said}");
    }
    assert_eq!(tags(&scene, "acme/mirror"), before);
    // Its publisher takes it back and brings it again: the destination follows.
    scene.run(&format!("withdraw REGISTRY/acme/widget:1.4.0 {REASON}")).success();
    scene.run("withdraw REGISTRY/acme/widget:1.4.0 --undo").success();
    scene.run("copy REGISTRY/acme/widget REGISTRY/acme/mirror --all").success();
    assert!(tags(&scene, "acme/mirror").contains(&"1.4.0".to_owned()));
}

#[test]
fn an_undo_with_another_key_than_the_notice_was_silent() {
    let scene = Scene::deleting();
    scene.publish("1.4.0");
    for key in ["p256.pem", "p384.pem"] {
        scene.key(key);
    }
    scene.run("withdraw REGISTRY/acme/widget:1.4.0 --reason bad --sign-key p256.pem").success();
    let undo = "withdraw REGISTRY/acme/widget:1.4.0 --undo --sign-key";
    let (notice, other) = (
        "sha256:29f3255683c0d2e40591b4964f111f955a842357a33bd7b2ebe7b419d7b93a8d",
        "sha256:01f031a6e8642f299e5f949bfdbc16f531a60fb8a84ab7ccd11397e74cecb209",
    );
    let warning = format!("warning: its notice (withdrawn) is signed by {notice}, and what takes it back by {other}: ");
    for more in [" --dry-run", ""] {
        let said = scene.run(&format!("{undo} p384.pem{more}")).success();
        assert!(said.stderr.starts_with(&warning), "{}", said.text);
    }
    assert_eq!(scene.run(&format!("{undo} p256.pem")).success().stderr, "");
    assert_eq!(scene.run(&format!("{undo} p384.pem")).success().stderr, "");
}

/// It said that the version is there already, and nothing of the withdrawal.
#[test]
fn a_push_of_what_was_withdrawn_names_the_withdrawal() {
    let scene = withdrawn_in_the_mirror();
    let index = scene.tag("acme/mirror", "withdrawn-1.4.0");
    scene.registry.put_tag("acme/mirror", "1.4.0", &index.parse().expect("a digest"));
    let push = format!("push dist-1.4.0 REGISTRY/acme/mirror --address {WIDGET}");
    for more in ["", " --dry-run"] {
        let said = scene.run(&format!("{push}{more}")).success();
        assert!(
            said.text.contains("warning: 1.4.0 is withdrawn from [REGISTRY]/acme/mirror, and stays so"),
            "{}",
            said.text
        );
        let hint = "`tofu-oci withdraw [REGISTRY]/acme/mirror:1.4.0 --undo` brings it back";
        assert!(said.text.contains(hint), "{}", said.text);
    }
    scene.run("withdraw REGISTRY/acme/mirror:1.4.0 --undo").success();
    let said = scene.run(&push).success();
    assert!(!said.stderr.contains("withdrawn"), "{}", said.text);
}
