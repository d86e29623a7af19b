use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::path::Path;

use tofu_oci_lockfile::{LockFile, ReleaseHashes};
use tofu_oci_types::{Digest, PackageHash, Platform};

use super::{Coverage, LockText, coverage, lock_file, one_platform};
use crate::model::Finding;

const HEAD: &str =
    "# This file is maintained automatically by \"tofu init\".\n# Manual edits may be lost in future updates.\n";

fn h1(seed: u8) -> String {
    PackageHash::h1(&[seed; 32]).to_string()
}

fn zh(seed: &str) -> String {
    PackageHash::zh(&Digest::sha256(seed.as_bytes())).unwrap().to_string()
}

fn ch(seed: &str) -> String {
    PackageHash::ch(&Digest::sha256(seed.as_bytes())).to_string()
}

/// A canonical lock file of one provider with these lines.
fn file(hashes: &[String]) -> String {
    let mut hashes = hashes.to_vec();
    hashes.sort();
    let lines: String = hashes.iter().map(|hash| format!("    \"{hash}\",\n")).collect();
    let list = if hashes.is_empty() { String::new() } else { format!("  hashes = [\n{lines}  ]\n") };
    format!("{HEAD}\nprovider \"example.com/acme/widget\" {{\n  version = \"1.0.0\"\n{list}}}\n")
}

fn reported(found: &[Finding]) -> String {
    let mut text = String::new();
    for finding in found {
        let _ = writeln!(text, "{} {}", finding.rule.id, finding.place);
    }
    text
}

#[track_caller]
fn check(text: &str, want: &str) {
    let file = LockText { path: Path::new("lock.hcl"), text, link: None };
    assert_eq!(reported(&lock_file(file).1), want, "{text}");
}

#[test]
fn a_good_file_has_no_findings() {
    check(&file(&[h1(1), zh("a"), ch("a")]), "");
}

#[test]
fn lines_that_protect_nobody_or_not_everybody() {
    check(&file(&[ch("a")]), "lock-ch-only lock.hcl:4\n");
    check(&file(&[]), "lock-no-hashes lock.hcl:4\n");
    check(&file(&["h9:x".to_owned()]), "lock-unknown-scheme lock.hcl:7\nlock-no-hashes lock.hcl:4\n");
    check(&file(&[h1(1)]), "lock-h1-only lock.hcl:4\n");
    check(&file(&[zh("a")]), "lock-zh-only lock.hcl:4\n");
}

#[test]
fn checksums_that_no_package_can_have() {
    check(&file(&["h1:abc".to_owned(), zh("a")]), "lock-malformed-hash lock.hcl:7\n");
    check(&file(&[h1(1), zh("a"), "zh:00".to_owned()]), "lock-malformed-hash lock.hcl:8\n");
    check(&file(&[h1(1), zh("a"), zh("b").to_uppercase().replace("ZH", "zh")]), "lock-malformed-hash lock.hcl:8\n");
    check(&file(&["ch:sha256:1".to_owned(), h1(1), zh("a")]), "lock-malformed-hash lock.hcl:7\n");
}

#[test]
fn a_file_that_does_not_parse_says_where() {
    check("provider \"example.com/acme/widget\" {\n", "lock-syntax lock.hcl:1:38\n");
    check("provider \"example.com/acme/widget\" {\n  version = \"1\"\n}\n", "lock-syntax lock.hcl:2:13\n");
}

#[test]
fn what_init_would_rewrite_is_shown() {
    let good = file(&[h1(1), zh("a")]);
    for text in [good.replace("  version", " version"), good.replace('\n', "\r\n"), good.replace(HEAD, "")] {
        let (lock, found) = lock_file(LockText { path: Path::new("lock.hcl"), text: &text, link: None });
        assert!(lock.is_some());
        assert_eq!(found.iter().map(|finding| finding.rule.id).collect::<Vec<_>>(), ["lock-not-canonical"]);
    }
    let text = good.replace("  version", " version");
    let (_, found) = lock_file(LockText { path: Path::new("lock.hcl"), text: &text, link: None });
    assert_eq!(found[0].place, "lock.hcl:5");
    insta::assert_snapshot!(found[0].diff.as_deref().unwrap().lines().take(8).collect::<Vec<_>>().join("\n"), @r#"
    --- lock.hcl
    +++ as init writes it
    @@ -3,5 +3,5 @@
     
     provider "example.com/acme/widget" {
    - version = "1.0.0"
    +  version = "1.0.0"
       hashes = [
    "#);
    check(HEAD, "lock-empty lock.hcl\n");
}

#[test]
fn a_link_is_told() {
    let text = file(&[h1(1), zh("a")]);
    let found = lock_file(LockText { path: Path::new("lock.hcl"), text: &text, link: Some(Path::new("../lock")) }).1;
    assert_eq!(reported(&found), "lock-symlink lock.hcl\n");
}

fn release(platforms: &[(&str, &[String])]) -> ReleaseHashes {
    let hashes = |list: &[String]| list.iter().map(|hash| hash.parse().unwrap()).collect();
    platforms.iter().map(|(platform, list)| (platform.parse().unwrap(), hashes(list))).collect::<BTreeMap<_, _>>()
}

#[track_caller]
fn check_coverage(lines: &[String], release: &ReleaseHashes, want: &[&str]) {
    let lock = LockFile::parse(&file(lines)).unwrap();
    let (address, entry) = lock.iter().next().unwrap();
    let platforms: Vec<Platform> = ["linux_amd64", "darwin_arm64"].map(|name| name.parse().unwrap()).to_vec();
    let asked = Coverage {
        path: "lock.hcl",
        address,
        entry,
        platforms: &platforms,
        place: &"registry.test/widget".parse().unwrap(),
        release,
    };
    let found: Vec<String> = coverage(&asked)
        .iter()
        .map(|finding| {
            format!("{} {}", finding.rule.id, finding.platform.as_ref().map_or(String::new(), ToString::to_string))
        })
        .collect();
    assert_eq!(found, want);
}

#[test]
fn platforms_that_no_line_covers() {
    let both = release(&[
        ("linux_amd64", &[h1(1), zh("linux"), ch("linux")]),
        ("darwin_arm64", &[h1(2), zh("darwin"), ch("darwin")]),
    ]);
    check_coverage(&[h1(1), zh("linux"), zh("darwin")], &both, &[]);
    check_coverage(&[h1(1), zh("linux")], &both, &["lock-platform darwin_arm64"]);
    check_coverage(&[h1(1), h1(2), zh("linux")], &both, &["lock-h1-only darwin_arm64"]);
    check_coverage(&[h1(1), zh("linux"), ch("darwin")], &both, &["lock-platform darwin_arm64"]);
    check_coverage(&[zh("linux"), zh("darwin"), zh("other")], &both, &["lock-line-unknown "]);
    let one = release(&[("linux_amd64", &[zh("linux"), ch("linux")])]);
    check_coverage(&[h1(9), zh("linux")], &one, &["lock-platform-not-offered darwin_arm64"]);
}

#[track_caller]
fn check_one_platform(lines: &[String], want: usize) {
    let text = file(lines);
    let lock = LockFile::parse(&text).unwrap();
    let found = one_platform(LockText { path: Path::new("lock.hcl"), text: &text, link: None }, &lock);
    assert_eq!(reported(&found), "lock-one-platform lock.hcl:4\n".repeat(want), "{text}");
}

#[test]
fn providers_that_one_platform_is_locked_of() {
    check_one_platform(&[h1(1), zh("a"), ch("a")], 1);
    check_one_platform(&[h1(1)], 1);
    check_one_platform(&[zh("a"), zh("b"), h1(1)], 0);
    check_one_platform(&[h1(1), h1(2)], 0);
    check_one_platform(&[ch("a")], 0);
}

#[test]
fn other_line_ends_need_no_diff() {
    let text = file(&[h1(1), zh("a")]).replace('\n', "\r\n");
    let found = lock_file(LockText { path: Path::new("lock.hcl"), text: &text, link: None }).1;
    assert_eq!(reported(&found), "lock-not-canonical lock.hcl\n");
    assert!(found[0].diff.is_none() && found[0].text.starts_with("its lines end in CR LF"), "{found:?}");
}

/// A file of 3,200 providers took a minute: each checksum was searched for from the first line on.
#[test]
fn each_checksum_of_many_providers_is_found_on_its_own_line() {
    let mut text = HEAD.to_owned();
    for nth in 0..3000 {
        let lines = format!("    \"{}\",\n    \"h9:x\",\n", h1(1));
        let _ = write!(
            text,
            "\nprovider \"example.com/acme/w{nth:04}\" {{\n  version = \"1.0.0\"\n  hashes = [\n{lines}  ]\n}}\n"
        );
    }
    let file = LockText { path: Path::new("lock.hcl"), text: &text, link: None };
    let found = lock_file(file).1;
    let places: Vec<&str> =
        found.iter().filter(|one| one.rule.id == "lock-unknown-scheme").map(|one| one.place.as_str()).collect();
    let line_of = |nth: usize| format!("lock.hcl:{}", 4 + nth * 8 + 4);
    assert_eq!((places.len(), places[0], places[2999]), (3000, line_of(0).as_str(), line_of(2999).as_str()));
}
