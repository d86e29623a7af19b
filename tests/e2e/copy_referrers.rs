//! What `copy` and every reader make of the lists of referrers.

use insta::assert_snapshot;
use serde_json::Value;
use tofu_oci_testkit::{Behaviour, ReferrersSupport, Registry};

use crate::setup::{Scene, WIDGET};

/// A registry of this kind, and keys.
fn scene(referrers: ReferrersSupport) -> Scene {
    let scene = Scene::with(Registry::builder().behaviour(Behaviour { referrers, ..Behaviour::default() }));
    for key in ["p256.pem", "p256.pub", "p384.pem", "p384.pub", "ed25519.pem"] {
        scene.key(key);
    }
    scene.dist("dist", "1.4.0");
    scene
}

/// How many referrers of the release are listed under the tag of the referrers tag schema.
fn listed(scene: &Scene, repository: &str) -> usize {
    let tag = scene.tag(repository, "1.4.0").replace(':', "-");
    let (_, list) = scene.registry.manifest(repository, &tag).expect("a list of referrers");
    serde_json::from_slice::<Value>(&list).expect("an index")["manifests"].as_array().expect("entries").len()
}

/// 12 of 20 copies with two referrers lost one, and said 0.
#[test]
fn a_copy_with_many_jobs_loses_no_referrer() {
    let scene = scene(ReferrersSupport::Unsupported);
    scene.run(&format!("push dist REGISTRY/acme/widget --address {WIDGET} --sign-key p256.pem")).success();
    scene.run("sign REGISTRY/acme/widget:1.4.0 --key p384.pem").success();
    scene.run("sign REGISTRY/acme/widget:1.4.0 --key ed25519.pem").success();
    scene.run("copy REGISTRY/acme/widget REGISTRY/mirror/widget --all --jobs 8").success();
    assert_eq!(listed(&scene, "mirror/widget"), 3);
    let said = scene.run("copy REGISTRY/acme/widget REGISTRY/mirror/widget --all --jobs 8").success();
    assert!(said.stdout.contains("is there already"), "{}", said.text);
}

#[test]
fn a_copy_to_a_registry_that_loses_referrers_fails_and_names_them() {
    let scene = scene(ReferrersSupport::Losing);
    scene.run(&format!("pack dist oci:layout --address {WIDGET} --sign-key p256.pem")).success();
    assert_snapshot!(scene.run("copy oci:layout REGISTRY/acme/widget").text, @"
    exit code: 1
    ----- stdout -----

    ----- stderr -----
    signature ([HEX]): pushed (799 B)
    zip of darwin_arm64 ([HEX]): pushed (324 B)
    zip of linux_amd64 ([HEX]): pushed (323 B)
    error: [REGISTRY]/acme/widget does not list among the referrers of sha256:[DIGEST] what it has: sha256:[DIGEST]
      cause: it happened at the destination of the copy

    hint: no tag was written: run the same command again, and if it fails again, copy to a registry that lists referrers
    ");
    assert_eq!(scene.registry.tags("acme/widget"), [], "nothing is released without its signature");
}

/// A registry whose API answers 200 with an empty list while the signatures are under the tag: `copy` dropped them.
#[test]
fn an_empty_answer_of_the_api_hides_no_signature_from_anybody() {
    let scene = scene(ReferrersSupport::EmptyList);
    scene.run(&format!("push dist REGISTRY/acme/widget --address {WIDGET} --sign-key p256.pem")).success();
    assert_eq!(listed(&scene, "acme/widget"), 1);
    let said = scene.run("sign REGISTRY/acme/widget:1.4.0 --key p256.pem").success();
    assert!(said.stdout.contains("is signed by this key already"), "{}", said.text);

    scene.run("copy REGISTRY/acme/widget oci:layout").success();
    scene.run("copy REGISTRY/acme/widget REGISTRY/mirror/widget").success();
    assert_eq!(listed(&scene, "mirror/widget"), 1);
    let policy =
        "[[key]]\nname = \"acme\"\nfile = \"p256.pub\"\n\n[[rule]]\nproviders = [\"*/*/*\"]\nkeys = [\"acme\"]\n";
    scene.context.write("trust.toml", policy);
    for place in ["REGISTRY/acme/widget", "REGISTRY/mirror/widget", "oci:layout"] {
        let said = scene.run(&format!("verify {WIDGET}@1.4.0 --from {place}")).success();
        assert!(said.stdout.contains("signed by acme"), "{}", said.text);
        scene
            .run(&format!("install {WIDGET}@1.4.0 --from {place} --platform linux_amd64 --into work-mirror"))
            .success();
        let said = scene.run(&format!("check {place} --against oci:layout --address {WIDGET}"));
        assert!(!said.text.contains("drift-referrer"), "{}", said.text);
    }
}
