//! A signed `SHA256SUMS` beside a release whose archives are known: what it says of other archives counts for nothing.

use super::sums::{scene, sums, zips};
use super::*;

/// What is known of a package that no signature covers: the remark, or why it is refused.
fn told(verdict: &Verdict, platform: &str, content: Option<&str>) -> String {
    let zip = content.and_then(|content| PackageHash::zh(&Digest::sha256(content.as_bytes())));
    let platform = platform.parse().expect("a platform");
    let refusal = verdict.refusal_for(&platform, zip.as_ref()).map(TrustRefusal::code);
    let remark = verdict.remark_for(&platform, zip.as_ref()).map(|remark| remark.code);
    format!("{refusal:?} {remark:?}")
}

fn images(rule: &str) -> Scene {
    let mut scene = scene(&["rsa.pgp"], rule).found([sums(&["rsa.sig"])]);
    scene.archives = zips(&[]);
    scene
}

#[test]
fn a_release_without_archives_is_not_signed_by_a_list_of_archives() {
    check(&images(""), "refused unsigned");
    check(&images("unsigned = \"warn\""), "unsigned [rsa.pgp]; Warning unsigned");
    check(&images("unsigned = \"allow\""), "unsigned [rsa.pgp]");
    for rule in ["unsigned = \"warn\"", "unsigned = \"allow\""] {
        let pins = images(rule).remembered().pins;
        assert_eq!(pins.iter().map(|pin| pin.signers.len()).collect::<Vec<_>>(), [0]);
        assert_eq!(pins.signed(&images("").address), None);
    }
}

#[test]
fn the_pin_of_a_list_does_not_sign_a_release_without_archives() {
    let mut signed = scene(&["rsa.pgp"], "").found([sums(&["rsa.sig"])]).remembered().found([]);
    check(&signed, "pinned [] 2 zips; Note signature-gone");
    signed.archives = zips(&[]);
    check(&signed, "refused was-signed");
}

#[test]
fn an_archive_under_the_name_of_an_unlisted_platform_is_not_signed_and_not_pinned_as_signed() {
    let mut moved = scene(&["rsa.pgp"], "unsigned = \"warn\"").found([sums(&["rsa.sig"])]);
    moved.archives = zips(&[("windows_amd64", "one")]);
    check(&moved, "unsigned [rsa.pgp]; Warning unsigned");
    assert_eq!(moved.remembered().pins.iter().map(|pin| pin.signers.len()).collect::<Vec<_>>(), [0]);
}

#[test]
fn a_package_that_no_list_covers_is_reported_for_its_platform() {
    for (rule, want) in [
        ("", "Some(\"unsigned\") None"),
        ("unsigned = \"warn\"", "None Some(\"unsigned\")"),
        ("unsigned = \"allow\"", "None None"),
    ] {
        let mut mixed = scene(&["rsa.pgp"], rule).found([sums(&["rsa.sig"])]);
        mixed.archives = zips(&[("darwin_arm64", "one"), ("windows_amd64", "three")]);
        let verdict = mixed.judge();
        assert_eq!(verdict.standing, Standing::Signed);
        assert_eq!(told(&verdict, "darwin_arm64", Some("one")), "None None");
        assert_eq!(told(&verdict, "windows_amd64", Some("three")), want, "{rule}");
        assert_eq!(told(&verdict, "linux_amd64", None), want, "{rule}");
    }
}

#[test]
fn a_pin_names_the_archives_that_are_offered_and_no_other_ones() {
    let mut part = scene(&["rsa.pgp"], "").found([sums(&["rsa.sig"])]);
    part.archives = zips(&[("darwin_arm64", "one"), ("windows_amd64", "two")]);
    let part = part.remembered();
    let pinned: Vec<_> = part.pins.iter().flat_map(|pin| &pin.signers).flat_map(|signer| &signer.statements).collect();
    let one = PackageHash::zh(&Digest::sha256(b"one")).expect("SHA-256");
    assert_eq!(pinned.len(), 1);
    assert_eq!(pinned[0].zips, Some([one].into()));
    check(&part.found([]), "pinned [] 1 zips; Note signature-gone");
}
