//! Which contents an entry of the lock file proves.

use tofu_oci_lockfile::LockEntry;
use tofu_oci_types::{Constraints, PackageHash};

use super::*;

fn hashes(text: &str) -> impl Iterator<Item = PackageHash> {
    text.split_whitespace().map(|hash| hash.parse().unwrap())
}

/// The package has the zip `zh:own`; the release claims these checksums for linux and darwin.
#[track_caller]
fn check(locked: &str, linux: &str, darwin: &str, want: &str) {
    let mut entry = LockEntry::new("1.0.0".parse().unwrap(), Constraints::default());
    entry.hashes = hashes(locked).collect();
    let platform: Platform = "linux_amd64".parse().unwrap();
    let claims = [(platform.clone(), linux), ("darwin_arm64".parse().unwrap(), darwin)];
    let claims = claims.map(|(platform, claims)| (platform, hashes(claims).collect())).into();
    let found = ProvedContents::by_lock(&entry, &"zh:own".parse().unwrap(), &platform, &claims);
    let found: Vec<String> = found.h1.iter().map(ToString::to_string).collect();
    assert_eq!(found.join(" "), want);
}

#[test]
fn an_entry_with_the_zip_and_the_claimed_contents_proves_them() {
    check("zh:own h1:own", "h1:own zh:own", "h1:mac", "h1:own");
    check("zh:own zh:mac h1:own h1:mac ch:x", "ch:y h1:own", "h1:mac", "h1:own");
    check("zh:own h1:a h1:b", "h1:a h1:b", "", "h1:a h1:b");
}

#[test]
fn contents_that_the_release_does_not_claim_for_the_platform_may_be_of_another() {
    check("zh:own h1:own", "", "", "");
    check("zh:own zh:mac h1:own h1:mac", "ch:y", "h1:mac", "");
    check("zh:own zh:mac h1:own h1:mac", "zh:own", "zh:mac", "");
}

#[test]
fn an_entry_without_the_zip_or_the_contents_proves_nothing() {
    check("h1:own", "h1:own zh:own", "", "");
    check("zh:other h1:own", "h1:own zh:own", "", "");
    check("zh:own", "h1:own zh:own", "", "");
    check("zh:own ch:x", "h1:own", "", "");
    check("", "h1:own", "", "");
}

#[test]
fn contents_of_other_platforms_are_not_this_packages() {
    check("zh:own h1:mac", "", "h1:mac", "");
    check("zh:own h1:mac", "h1:own", "", "");
    check("zh:own h1:mac h1:own", "h1:own", "h1:mac", "h1:own");
}
