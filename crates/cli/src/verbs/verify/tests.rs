//! Releases that a signature covers in part (`testdata/trust/gpg`: a list of `widget 1.4.0` on two platforms).

use std::time::{Duration, UNIX_EPOCH};

use tofu_oci_layout::PackageLayout;
use tofu_oci_trust::{KeyMaterial, NamedKey, Pins};
use tofu_oci_types::{Descriptor, Digest, DigestHasher};

use super::*;

fn file(name: &str) -> Vec<u8> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../testdata/trust/gpg");
    std::fs::read(root.join(name)).expect("a fixture")
}

/// The first platform that is refused of a release with these archives, beside the publisher's own list.
#[track_caller]
fn check(zips: &[(&str, &str)], want: Option<&str>) {
    let platform = |text: &str| text.parse::<Platform>().expect("a platform");
    let zip = |(name, content): &(&str, &str)| {
        (platform(name), PackageHash::zh(&Digest::sha256(content.as_bytes())).expect("SHA-256"))
    };
    let release = Release {
        index_sha512: DigestHasher::sha512().finish(),
        address: "example.com/acme/widget".parse().expect("an address"),
        version: "1.4.0".parse().expect("a version"),
        place: "ghcr.io/acme/widget".to_owned(),
        tag: "1.4.0".parse().expect("a tag"),
        index: Descriptor::new("application/vnd.oci.image.index.v1+json", Digest::sha256(b"index"), 5),
        layout: PackageLayout::Artifact,
        platforms: vec![platform("darwin_arm64"), platform("linux_amd64")],
        kinds: BTreeMap::new(),
        claims: BTreeMap::new(),
        zips: BTreeMap::new(),
        protocols: Vec::new(),
        published_as: None,
    };
    let sums = Evidence::Sums {
        origin: Digest::sha256(b"sums"),
        sums: file("SHA256SUMS"),
        signatures: vec![file("rsa.sig")],
        keys: Vec::new(),
    };
    let found = Found { release, zips: zips.iter().map(zip).collect(), evidence: vec![sums] };
    let material = KeyMaterial::parse(&file("rsa.pgp")).expect("a key");
    let policy = Policy::with_keys(vec![NamedKey { name: "acme".to_owned(), material }]);
    let now = UNIX_EPOCH + Duration::from_hours(490_908);
    let verdict = judge(&policy, &Pins::default(), &found.facts(), &found.evidence, now);
    assert!(verdict.refusal.is_none(), "the list itself is good: {:?}", verdict.refusal);
    assert_eq!(found.refused_package(&verdict).map(|(platform, _)| platform.to_string()).as_deref(), want);
}

/// `verify` said "signed", with exit code 0, of images and archives that `install` refuses.
#[test]
fn a_good_list_of_archives_does_not_vouch_for_other_packages() {
    check(&[("darwin_arm64", "one"), ("linux_amd64", "two")], None);
    check(&[], Some("darwin_arm64"));
    check(&[("darwin_arm64", "one")], Some("linux_amd64"));
    check(&[("darwin_arm64", "one"), ("linux_amd64", "other")], Some("linux_amd64"));
}
