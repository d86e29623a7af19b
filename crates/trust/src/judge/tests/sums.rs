//! `SHA256SUMS` that `GnuPG` has signed (`testdata/trust/gpg`): of `widget 1.4.0`, on two platforms.

use std::path::PathBuf;

use insta::assert_snapshot;

use super::*;
use crate::testing::bundle;
use crate::{KeyMaterial, NamedKey};

fn file(name: &str) -> Vec<u8> {
    let root = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../testdata/trust/gpg");
    std::fs::read(root.join(name)).unwrap_or_else(|error| panic!("{name}: {error}"))
}

pub(super) fn sums(signatures: &[&str]) -> Evidence {
    let signatures = signatures.iter().map(|name| file(name)).collect();
    Evidence::Sums { origin: Digest::sha256(b"sums"), sums: file("SHA256SUMS"), signatures, keys: Vec::new() }
}

/// The archives that are offered: `one` and `two` are what the fixture lists.
fn zips(contents: &[(&str, &str)]) -> BTreeMap<Platform, PackageHash> {
    let zip = |(platform, content): &(&str, &str)| {
        let zip = PackageHash::zh(&Digest::sha256(content.as_bytes())).expect("SHA-256");
        (platform.parse().expect("a platform"), zip)
    };
    contents.iter().map(zip).collect()
}

const LISTED: [(&str, &str); 2] = [("darwin_arm64", "one"), ("linux_amd64", "two")];

/// The key files count, and beside them key 1, named `a`.
pub(super) fn scene(keys: &[&str], rule: &str) -> Scene {
    let mut text = String::new();
    let mut names = vec!["\"a\"".to_owned()];
    for name in keys {
        text.push_str(&format!("[[key]]\nname = \"{name}\"\nfile = \"{name}\"\n"));
        names.push(format!("\"{name}\""));
    }
    let pem = crate::testing::key(1).public().to_pem();
    text.push_str(&format!("[[key]]\nname = \"a\"\npem = \"\"\"{pem}\"\"\"\n"));
    text.push_str(&format!("[[rule]]\nproviders = [\"*/*/*\"]\nkeys = [{}]\n{rule}\n", names.join(", ")));
    let mut scene = Scene::new();
    scene.policy = Policy::parse(&text).unwrap().resolve(|path| Ok(file(path.to_str().unwrap()))).unwrap();
    scene.zips = zips(&LISTED);
    // 2026-01-01, the day on which the fixtures are looked at.
    scene.now = UNIX_EPOCH + Duration::from_hours(490_908);
    scene
}

#[test]
fn a_signed_list_covers_the_archives_that_it_names_and_no_index() {
    let signed = scene(&["rsa.pgp"], "").found([sums(&["rsa.sig"])]);
    check(&signed, "signed [rsa.pgp] 2 zips");
    check(&scene(&["rsa.asc"], "").found([sums(&["rsa.sig.asc"])]), "signed [rsa.asc] 2 zips");
    let verdict = signed.judge();
    let [zip, _] = ["linux_amd64", "darwin_arm64"].map(|platform| signed.zips.get(&platform.parse().unwrap()));
    assert_eq!(verdict.refusal_for(zip), None);
    assert_eq!(verdict.refusal_for(None).map(Refusal::code), Some("unsigned"), "an image leaf is no archive");
    let mut unknown = signed;
    unknown.zips = BTreeMap::new();
    check(&unknown, "signed [rsa.pgp] 2 zips");
}

#[test]
fn an_archive_that_is_not_the_listed_one_is_refused_where_others_of_the_release_are_signed() {
    for (rule, missing) in [("", Some("unsigned")), ("unsigned = \"allow\"", None)] {
        let mut scene = scene(&["rsa.pgp"], rule).found([sums(&["rsa.sig"])]);
        scene.zips = zips(&[("darwin_arm64", "one"), ("linux_amd64", "evil"), ("windows_amd64", "three")]);
        check(&scene, "signed [rsa.pgp] 2 zips");
        let verdict = scene.judge();
        let code = |content: &str| {
            let zip = PackageHash::zh(&Digest::sha256(content.as_bytes()));
            verdict.refusal_for(zip.as_ref()).map(Refusal::code)
        };
        assert_eq!(code("one"), None);
        assert_eq!(code("evil"), Some("other-package"), "whatever is said of unsigned ones");
        assert_eq!(code("three"), missing);
    }
}

#[test]
fn swapped_archives_are_refused_whatever_is_said_of_unsigned_ones() {
    let mut scene = scene(&["rsa.pgp"], "unsigned = \"allow\"").found([sums(&["rsa.sig"])]);
    scene.zips = zips(&[("linux_amd64", "evil")]);
    check(&scene, "refused other-package");
    assert_snapshot!(scene.judge().refusal.unwrap(), @"the SHA256SUMS signed by rsa.pgp lists another terraform-provider-widget_1.4.0_linux_amd64.zip than the one offered");
    check(&scene.found([sums(&["rsa.sig"]), bundle(1)]), "signed [a] index; Warning other-package");
}

#[test]
fn a_list_of_another_version_or_provider_vouches_for_nothing() {
    let mut scene = scene(&["rsa.pgp"], "unsigned = \"allow\"").found([sums(&["rsa.sig"])]);
    scene.version = version("1.5.0");
    check(&scene, "refused other-version");
    scene.version = version("1.4.0");
    scene.address = address("example.com/acme/gadget");
    check(&scene, "refused other-provider");
}

#[test]
fn a_list_without_a_good_signature_is_told_by_its_reason() {
    let told = |keys: &[&str], signatures: &[&str]| scene(keys, "").found([sums(signatures)]);
    check(&told(&["rsa.pgp"], &[]), "refused unsigned");
    check(&told(&["rsa.pgp"], &["ed25519.sig"]), "refused unknown-key");
    check(&told(&["rsa.pgp"], &["rsa-sha1.sig"]), "refused weak-digest");
    check(&told(&["revoked-compromised.pgp"], &["revoked-compromised.sig"]), "refused revoked-key");
    check(&told(&["revoked-retired.pgp"], &["revoked-retired-late.sig"]), "refused revoked-key");
    check(&told(&["expired-key.pgp"], &["expired-key-late.sig"]), "refused expired-key");
    let mut swapped = sums(&["rsa.sig"]);
    if let Evidence::Sums { sums, .. } = &mut swapped {
        *sums = file("SHA256SUMS.swapped");
    }
    check(&scene(&["rsa.pgp"], "").found([swapped]), "refused bad-signature");
}

#[test]
fn a_key_that_has_expired_or_retired_since_counts_and_is_told_of_unless_the_policy_refuses_it() {
    let expired = |rule: &str| scene(&["expired-key.pgp"], rule).found([sums(&["expired-key.sig"])]);
    check(&expired(""), "signed [expired-key.pgp] 2 zips; Warning expired-key");
    check(&expired("expired_keys = \"refuse\""), "refused expired-key");
    let retired = |rule: &str| scene(&["revoked-retired.pgp"], rule).found([sums(&["revoked-retired.sig"])]);
    check(&retired(""), "signed [revoked-retired.pgp] 2 zips; Warning expired-key");
    check(&retired("expired_keys = \"refuse\""), "refused revoked-key");
}

#[test]
fn a_key_that_travels_with_the_list_is_shown_and_never_trusted() {
    let mut found = sums(&["rsa.sig"]);
    if let Evidence::Sums { keys, .. } = &mut found {
        keys.push(file("rsa.asc"));
    }
    let scene = scene(&["ed25519.pgp"], "").found([found]);
    check(&scene, "refused unknown-key");
    let told = scene.judge().examined[0].outcome.to_string();
    assert!(told.starts_with("is by a key that travels with it: "), "{told}");
    assert!(told.ends_with(", not one of yours"), "{told}");
    let mut without = scene;
    without.policy = Policy::default();
    check(&without, "unsigned []");
}

#[test]
fn keys_of_both_kinds_reach_a_threshold_together_for_the_listed_archives() {
    let two = |found: Vec<Evidence>| scene(&["rsa.pgp", "ed25519.pgp"], "threshold = 2").found(found);
    check(&two(vec![sums(&["rsa.sig"]), bundle(1)]), "signed [a rsa.pgp] 2 zips");
    check(&two(vec![sums(&["rsa.sig", "rsa-sha512.sig"])]), "refused threshold");
    check(&two(vec![sums(&["rsa.sig"]), sums(&["rsa.sig"])]), "refused threshold");
    let both = two(vec![sums(&["rsa.sig", "ed25519.sig"])]);
    assert_eq!(both.judge().covered.zips.len(), 2);
}

#[test]
fn one_certificate_under_two_names_is_one_key() {
    let text = "threshold = 2";
    let named =
        |name: &str| NamedKey { name: name.to_owned(), material: KeyMaterial::parse(&file("rsa.pgp")).expect("a key") };
    let mut scene = scene(&["rsa.pgp", "rsa.asc"], text).found([sums(&["rsa.sig"])]);
    check(&scene, "refused threshold");
    scene.policy = Policy::with_keys(vec![named("one"), named("two")]);
    check(&scene, "signed [one] 2 zips");
}

#[test]
fn what_a_list_had_covered_stays_covered_and_nothing_else_does() {
    let before = scene(&["rsa.pgp"], "").found([sums(&["rsa.sig"])]).remembered();
    let mut gone = before.found([]);
    check(&gone, "pinned [] 2 zips; Note signature-gone");
    gone.zips = zips(&[("darwin_arm64", "one"), ("windows_amd64", "three")]);
    let other = PackageHash::zh(&Digest::sha256(b"three"));
    assert_eq!(gone.judge().refusal_for(other.as_ref()).map(Refusal::code), Some("was-signed"));
    gone.zips = zips(&[("windows_amd64", "three")]);
    check(&gone, "refused was-signed");
    let gone = gone.without_policy();
    check(&gone, "refused was-signed");
}
