//! Whose signature counts.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use serde_json::json;
use tofu_oci_testkit::ScratchOpenPgpKey;
use tofu_oci_trust::ExpiredKeys;
use tofu_oci_types::{PackageHash, Scheme};

use super::*;

#[tokio::test]
async fn any_named_key_may_have_signed() {
    let world = World::start();
    world.upstream.name_keys(&[&ScratchOpenPgpKey::of(3), &ScratchOpenPgpKey::of(1)]);
    assert_eq!(world.told().await, "");
}

#[tokio::test]
async fn a_signature_by_another_key_is_refused_before_the_package_is_asked_for() {
    let world = World::start();
    world.upstream.sign_with(&ScratchOpenPgpKey::of(2));
    assert_snapshot!(world.told().await, @"nothing can be installed from registry.example.test: the signature of https://HOST/files/acme/widget/1.0.0/terraform-provider-widget_1.0.0_SHA256SUMS: the OpenPGP signature was made by BB966A2E4A1B813D8E83B394CB07F108E6D3F02A, which is not one of the keys that registry.example.test names (bad-signature)");
    assert!(!world.asked().iter().any(|line| line.contains(".zip")));
}

#[tokio::test]
async fn a_damaged_signature_or_list_is_refused() {
    let world = World::start();
    let mut said = Vec::new();
    for (path, fault) in [
        ("*_SHA256SUMS.sig", Fault::CorruptBody(-1)),
        ("*_SHA256SUMS.sig", Fault::ReplaceBody("<html>".into())),
        ("*_SHA256SUMS", Fault::CorruptBody(0)),
        ("*_SHA256SUMS", Fault::Answer(Answer::new(404))),
    ] {
        world.upstream.fault(Rule::on("GET", path).then(fault));
        said.push(world.told().await);
        world.upstream.clear_faults();
    }
    assert_snapshot!(said.join("\n"), @"
    nothing can be installed from registry.example.test: the signature of https://HOST/files/acme/widget/1.0.0/terraform-provider-widget_1.0.0_SHA256SUMS: the OpenPGP signature does not fit: openpgp:7F2B39720E5940CC244B2A2AB5EB077557F14FEF did not sign this text (bad-signature)
    nothing can be installed from registry.example.test: the signature of https://HOST/files/acme/widget/1.0.0/terraform-provider-widget_1.0.0_SHA256SUMS: the OpenPGP signature is malformed: it has text outside of the ASCII armor (bad-signature)
    nothing can be installed from registry.example.test: the signature of https://HOST/files/acme/widget/1.0.0/terraform-provider-widget_1.0.0_SHA256SUMS: the OpenPGP signature does not fit: openpgp:7F2B39720E5940CC244B2A2AB5EB077557F14FEF did not sign this text (bad-signature)
    nothing can be installed from registry.example.test: https://HOST/files/acme/widget/1.0.0/terraform-provider-widget_1.0.0_SHA256SUMS answered 404 (bad-status)
    ");
}

fn file(name: &str) -> Vec<u8> {
    std::fs::read(format!("{}/../../testdata/trust/gpg/{name}", env!("CARGO_MANIFEST_DIR"))).unwrap()
}

fn armor(name: &str) -> String {
    let body = STANDARD.encode(file(name));
    format!("-----BEGIN PGP PUBLIC KEY BLOCK-----\n\n{body}\n-----END PGP PUBLIC KEY BLOCK-----\n")
}

/// Publishes the release of `testdata/trust/gpg`, with these keys and this signature.
fn publish(world: &World, keys: &[String], signature: &str) {
    let sums = String::from_utf8(file("SHA256SUMS")).unwrap();
    let line = sums.lines().find(|line| line.ends_with("_linux_amd64.zip")).unwrap();
    let (shasum, file_name) = line.split_once("  ").unwrap();
    let keys: Vec<_> = keys.iter().map(|armor| json!({"ascii_armor": armor})).collect();
    let document = json!({
        "protocols": ["6.0"], "os": "linux", "arch": "amd64", "filename": file_name, "shasum": shasum,
        "download_url": "/files/zip", "shasums_url": "/sums", "shasums_signature_url": "/sums.sig",
        "signing_keys": {"gpg_public_keys": keys},
    });
    let page = |path: &str, body: Vec<u8>| {
        world.upstream.fault(Rule::on("GET", path).then(Fault::Answer(Answer::new(200).body(body))));
    };
    page(DOWNLOAD, document.to_string().into_bytes());
    page("/sums", file("SHA256SUMS"));
    page("/sums.sig", file(signature));
}

/// The text without the fingerprints of keys, which are others each time they are made.
fn without_keys(text: &str) -> String {
    let word = |word: &str| if word.starts_with("openpgp:") { "KEY".to_owned() } else { word.to_owned() };
    text.split(' ').map(word).collect::<Vec<_>>().join(" ")
}

#[tokio::test]
async fn an_expired_key_counts_with_a_warning_unless_the_user_demands_more() {
    let world = World::start();
    publish(&world, &[armor("expired-key.pgp")], "expired-key.sig");
    assert_snapshot!(without_keys(&world.told().await), @"expired-key: registry.example.test/acme/widget 1.0.0: the signature of https://HOST/sums counts, although KEY has expired");
    let mut access = world.access();
    access.demands.expired = ExpiredKeys::Refuse;
    let source = world.source("registry.example.test", access);
    let error = offer(&source, WIDGET, "linux_amd64").await.unwrap_err();
    assert_snapshot!(without_keys(&world.shown(&error)), @"nothing can be installed from registry.example.test: the signature of https://HOST/sums: KEY has expired (bad-signature)");
}

#[tokio::test]
async fn a_key_that_was_revoked_does_not_count() {
    let world = World::start();
    publish(&world, &[armor("revoked-compromised.pgp")], "revoked-compromised.sig");
    assert!(world.told().await.ends_with("(bad-signature)"));
    world.upstream.clear_faults();
    publish(&world, &[armor("revoked-retired.pgp")], "revoked-retired.sig");
    assert!(world.told().await.ends_with("(bad-signature)"), "OpenTofu refuses it, too");
}

#[tokio::test]
async fn a_key_that_cannot_be_read_ends_the_search_for_the_signer() {
    let world = World::start();
    publish(&world, &["no armor".to_owned(), armor("rsa.pgp")], "rsa.sig");
    assert_snapshot!(world.told().await, @"nothing can be installed from registry.example.test: the signature of https://HOST/sums: key 1 that registry.example.test names cannot be read: the OpenPGP key is malformed: it has text outside of the ASCII armor (bad-signature)");
    world.upstream.clear_faults();
    publish(&world, &[armor("rsa.pgp"), "no armor".to_owned()], "rsa.sig");
    assert_eq!(world.told().await, "", "the first key that has signed it decides");
}

#[tokio::test]
async fn the_public_registry_alone_may_name_no_key() {
    let world = World::start();
    world.upstream.name_keys(&[]);
    assert_snapshot!(world.told().await, @"nothing can be installed from registry.example.test: the signature of https://HOST/files/acme/widget/1.0.0/terraform-provider-widget_1.0.0_SHA256SUMS: registry.example.test names no key that it could be by (bad-signature)");
    let public = "registry.opentofu.org/acme/widget";
    let source = world.source("registry.opentofu.org", world.access());
    let offered = offer(&source, public, "linux_amd64").await.unwrap();
    assert_eq!(offered.signed.len(), 2);
    assert_snapshot!(lock(&world.told.0).join("\n").replace(world.upstream.address(), "HOST"), @"signature-not-checked: registry.opentofu.org/acme/widget 1.0.0: registry.opentofu.org names no key, so the signature of https://HOST/files/acme/widget/1.0.0/terraform-provider-widget_1.0.0_SHA256SUMS was not checked");
    let mut access = world.access();
    access.demands.keyless = Keyless::Refused;
    let error = offer(&world.source("registry.opentofu.org", access), public, "linux_amd64").await.unwrap_err();
    assert_eq!(error.code(), "bad-signature");
}

/// Measured: `packages` is recorded for the public registry alone.
#[tokio::test]
async fn listed_packages_are_recorded_for_the_public_registry_alone() {
    let world = World::start();
    let (h1, zh) = world.upstream.hashes("acme/widget", "1.0.0", "linux_amd64");
    let zip = world.upstream.zip("acme/widget", "1.0.0", "linux_amd64");
    let source = world.source("registry.example.test", world.access());
    let path = "acme/widget/1.0.0/download/linux/amd64";
    let document = source.origin.document(path).await.unwrap().unwrap();
    let mut document: serde_json::Value = serde_json::from_slice(document.body()).unwrap();
    document["packages"] = json!({
        "linux_amd64": {"hashes": [h1, zh, "ch:sha256:aa"], "package_size": zip.len()},
        "plan9_386": {"hashes": ["h1:other"], "package_size": 1},
    });
    world.upstream.fault(Rule::on("GET", DOWNLOAD).then(Fault::Answer(Answer::json(&document))));
    let recorded = |offer: &Offer| offer.signed.iter().map(PackageHash::scheme).collect::<Vec<_>>();
    let offered = world.offer("linux_amd64").await.unwrap();
    assert_eq!(recorded(&offered), [Scheme::Zh, Scheme::Zh]);
    assert_eq!(offered.bytes(), Some(zip.len() as u64));
    let source = world.source("registry.opentofu.org", world.access());
    let offered = offer(&source, "registry.opentofu.org/acme/widget", "linux_amd64").await.unwrap();
    assert_eq!(recorded(&offered), [Scheme::H1, Scheme::H1, Scheme::Zh, Scheme::Zh]);
}
