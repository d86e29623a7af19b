//! Releases that a signature covers in part (`testdata/trust/gpg`: a list of `widget 1.4.0` on two platforms).

use std::collections::BTreeMap;
use std::path::Path;
use std::time::{Duration, UNIX_EPOCH};

use tofu_oci_trust::{Pins, Policy};
use tofu_oci_types::{Digest, PackageHash};

use super::*;

fn file(name: &str) -> Vec<u8> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../testdata/trust/gpg");
    std::fs::read(root.join(name)).expect("a fixture")
}

/// A release with these archives, beside the publisher's own list.
fn found(zips: &[(&str, &str)]) -> ReleaseWithEvidence {
    let platform = |text: &str| text.parse::<Platform>().expect("a platform");
    let zip = |(name, content): &(&str, &str)| {
        (platform(name), PackageHash::zh(&Digest::sha256(content.as_bytes())).expect("SHA-256"))
    };
    let sums = Evidence::Sums {
        origin: Digest::sha256(b"sums"),
        sums: file("SHA256SUMS"),
        signatures: vec![file("rsa.sig")],
        keys: Vec::new(),
    };
    let platforms = vec![platform("darwin_arm64"), platform("linux_amd64")];
    let place: Place = "ghcr.io/acme/widget".parse().expect("a place");
    ReleaseWithEvidence {
        of: VersionOf::from(&"example.com/acme/widget".parse().expect("an address")),
        wanted: Some("1.4.0".parse().expect("a version")),
        claimed: None,
        said: None,
        pinned_as: place.clone(),
        place,
        identity: Identity::of_index(b"index"),
        about: ReleaseDescription { platforms, ..ReleaseDescription::default() },
        archives: Archives::Read { zips: zips.iter().map(zip).collect(), leaves: BTreeMap::new() },
        evidence: vec![sums],
    }
}

/// The verdict by a rule for the publisher's key.
fn verdict(found: &ReleaseWithEvidence, rule: &str) -> Verdict {
    let text = format!(
        "[[key]]\nname = \"acme\"\nfile = \"rsa.pgp\"\n[[rule]]\nproviders = [\"example.com/acme/*\"]\n\
         keys = [\"acme\"]\n{rule}\n"
    );
    let policy = Policy::parse(&text).expect("a policy").resolve(|_| Ok(file("rsa.pgp"))).expect("a key");
    let now = UNIX_EPOCH + Duration::from_hours(490_908);
    judge(&policy, &Pins::default(), &found.facts(), &found.evidence, now)
}

/// Checks the platform that decides by a strict rule, and by one that accepts unsigned packages.
#[track_caller]
fn check(zips: &[(&str, &str)], uncovered: Option<&str>) {
    let found = found(zips);
    let strict = verdict(&found, "");
    let refused = match found.conclusion(&strict) {
        Conclusion::RefusedFor(platform, _) => Some(platform.to_string()),
        Conclusion::Trusted => None,
        _ => panic!("the list itself is good: {:?}", strict.refusal),
    };
    assert_eq!(refused.as_deref(), uncovered);
    let lax = verdict(&found, "unsigned = \"warn\"");
    let unsigned = match found.conclusion(&lax) {
        // An archive that contradicts the list is refused by any rule.
        Conclusion::UnsignedFor(platform) | Conclusion::RefusedFor(platform, _) => Some(platform.to_string()),
        Conclusion::Trusted => None,
        _ => panic!("the list itself is good: {:?}", lax.refusal),
    };
    assert_eq!(unsigned.as_deref(), uncovered);
}

/// `verify` said "signed", with exit code 0, of images and archives that `install` refuses, or takes with a warning.
#[test]
fn a_good_list_of_archives_does_not_vouch_for_other_packages() {
    check(&[("darwin_arm64", "one"), ("linux_amd64", "two")], None);
    check(&[("darwin_arm64", "one")], Some("linux_amd64"));
    check(&[("linux_amd64", "two")], Some("darwin_arm64"));
    check(&[("darwin_arm64", "one"), ("linux_amd64", "other")], Some("linux_amd64"));
    assert_eq!(verdict(&found(&[]), "").refusal, Some(TrustRefusal::Unsigned), "images alone");
    assert_eq!(verdict(&found(&[]), "unsigned = \"warn\"").standing, Standing::Unsigned);
}
