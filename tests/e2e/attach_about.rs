//! `attach`: what a bundle is about, and whether that counts.

use insta::assert_snapshot;
use serde_json::{Value, json};
use tofu_oci_testkit::{BuiltBy, ReferrersSupport};
use tofu_oci_types::Digest;

use crate::attach::{POLICY, TARGET, bundle, parts, published, referrers};
use crate::setup::{Scene, WIDGET};

#[test]
fn a_bundle_about_something_else_is_refused() {
    let scene = published(ReferrersSupport::Unsupported);
    let other: Vec<String> = (0..5u8).map(|nth| Digest::sha256(&[nth]).to_string()).collect();
    bundle(&scene, &other);
    assert_snapshot!(scene.refuse(&format!("attach widget.sigstore.json {TARGET}")), @"
    exit code: 1
    ----- stdout -----

    ----- stderr -----
    error: widget.sigstore.json is not about registry.example.com/acme/widget 1.4.0: it is about widget.zip sha256:[DIGEST], widget.zip sha256:[DIGEST], widget.zip sha256:[DIGEST], 2 more

    hint: a bundle must be about the index or manifest sha256:[DIGEST], one of its leaves, or one of its zips
    ");
    assert_eq!(referrers(&scene), [""; 0]);
    // Another version of the same provider, by the names that its signer wrote.
    scene.publish("1.5.0");
    scene.key("p256.pem");
    scene.run("sign REGISTRY/acme/widget:1.5.0 --key p256.pem").success();
    let said = scene.refuse("attach widget.sigstore.json REGISTRY/acme/widget:1.5.0");
    assert!(said.contains("it is about"), "{said}");
}

#[test]
fn a_bundle_that_calls_the_zips_otherwise_was_attached_without_a_word() {
    let scene = published(ReferrersSupport::Unsupported);
    let (_, zips) = parts(&scene);
    bundle(&scene, &zips[..1]);
    let said = scene.run(&format!("attach widget.sigstore.json {TARGET}")).success();
    assert!(said.text.contains("does not name the zips of the release as SHA256SUMS does"), "{}", said.text);
    scene.context.write("trust.toml", POLICY);
    let said = scene.refuse(&format!("verify {WIDGET}@1.4.0 --from REGISTRY/acme/widget"));
    let why = "the signature by acme release calls an archive of this release widget.zip, not terraform-provider-widget_1.4.0_";
    assert!(said.replace("\n            ", " ").contains(why), "{said}");
    let sigstore = bundle(&scene, &zips[..1]);
    let name = "dist/terraform-provider-widget_1.4.0_darwin_arm64.zip";
    let subject = json!({ "name": name, "digest": { "sha256": zips[0].trim_start_matches("sha256:") } });
    let right = sigstore.attest(&BuiltBy::RELEASE, "https://slsa.dev/provenance/v1", &[subject]);
    scene.context.write("widget.sigstore.json", right);
    let said = scene.run(&format!("attach widget.sigstore.json {TARGET}")).success();
    assert!(!said.text.contains("warning"), "{}", said.text);
}

/// `attach` took it without a word, and `verify` called it a signature of another index, to be signed anew.
#[test]
fn an_attestation_of_a_zip_by_a_key_was_said_to_be_of_another_index() {
    let scene = published(ReferrersSupport::Unsupported);
    let (_, zips) = parts(&scene);
    let name = "terraform-provider-widget_1.4.0_darwin_arm64.zip";
    let subject = json!({ "name": name, "digest": { "sha256": zips[0].trim_start_matches("sha256:") } });
    scene.context.write("widget.sigstore.json", Scene::attested_by_key(&[subject]));
    let said = scene.run(&format!("attach widget.sigstore.json {TARGET}")).success();
    let why = "is made by a key and not about the index, so it counts for no rule: terraform-provider-widget";
    assert!(said.text.contains(why), "{}", said.text);
    scene.trust("");
    let place = "--from REGISTRY/acme/widget";
    for verb in ["verify", "install"] {
        let said = scene.refuse(&format!("{verb} {WIDGET}@1.4.0 {place}"));
        let why = "the signature by acme-release is of terraform-provider-widget_1.4.0_darwin_arm64.zip alone, and a key must sign the index";
        assert!(said.contains(why), "{said}");
        let hint = "its publisher signs the index: tofu-oci sign ";
        assert!(said.contains(hint) && !said.contains("sign the release anew"), "{said}");
    }
}

/// Rules count these names, and `attach` said that they do not.
#[test]
fn names_that_goreleaser_gives_zips_were_said_to_count_for_no_rule() {
    let scene = published(ReferrersSupport::Unsupported);
    let (_, zips) = parts(&scene);
    let sigstore = bundle(&scene, &zips);
    let hex = |zip: &String| zip.trim_start_matches("sha256:").to_owned();
    let subject = |(name, zip): (&str, &String)| json!({ "name": name, "digest": { "sha256": hex(zip) } });
    let names =
        ["terraform-provider-widget_v1.4.0_darwin_all.zip", "terraform-provider-widget_1.4.0_linux_amd64_v1.zip"];
    let subjects: Vec<Value> = names.into_iter().zip(&zips).map(subject).collect();
    let bundle = sigstore.attest(&BuiltBy::RELEASE, "https://slsa.dev/provenance/v1", &subjects);
    scene.context.write("widget.sigstore.json", bundle);
    let said = scene.run(&format!("attach widget.sigstore.json {TARGET}")).success();
    assert!(!said.text.contains("warning"), "{}", said.text);
    scene.context.write("trust.toml", POLICY);
    scene.run(&format!("verify {WIDGET}@1.4.0 --from REGISTRY/acme/widget")).success();
}
