//! `SHA256SUMS` that `GnuPG` has signed (`testdata/trust/gpg`): of `widget 1.4.0`, on two platforms.

use std::collections::BTreeMap;
use std::path::PathBuf;

use insta::assert_snapshot;

use super::*;
use crate::testing::bundle;
use crate::{KEYS_LIMIT, KeyMaterial, NamedKey, SUMS_FILES_LIMIT};

pub(super) fn file(name: &str) -> Vec<u8> {
    let root = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../testdata/trust/gpg");
    std::fs::read(root.join(name)).unwrap_or_else(|error| panic!("{name}: {error}"))
}

pub(super) fn sums(signatures: &[&str]) -> Evidence {
    let signatures = signatures.iter().map(|name| file(name)).collect();
    Evidence::Sums { origin: Digest::sha256(b"sums"), sums: file("SHA256SUMS"), signatures, keys: Vec::new() }
}

/// The archives that are offered: `one` and `two` are what the fixture lists.
pub(super) fn zips(contents: &[(&str, &str)]) -> Archives {
    let zip = |(platform, content): &(&str, &str)| {
        let zip = PackageHash::zh(&Digest::sha256(content.as_bytes())).expect("SHA-256");
        (platform.parse().expect("a platform"), zip)
    };
    Archives::Read { zips: contents.iter().map(zip).collect(), leaves: BTreeMap::new() }
}

fn linux() -> Platform {
    "linux_amd64".parse().expect("a platform")
}

/// Why an archive with this content is refused on a platform.
fn code(verdict: &Verdict, platform: &str, content: &str) -> Option<&'static str> {
    let zip = PackageHash::zh(&Digest::sha256(content.as_bytes()));
    verdict.refusal_for(&platform.parse().expect("a platform"), zip.as_ref()).map(TrustRefusal::code)
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
    text.push_str(&format!("[[rule]]\nproviders = [\"example.com/acme/*\"]\nkeys = [{}]\n{rule}\n", names.join(", ")));
    let mut scene = Scene::new();
    scene.policy = Policy::parse(&text).unwrap().resolve(|path| Ok(file(path.to_str().unwrap()))).unwrap();
    scene.archives = zips(&LISTED);
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
    let linux = linux();
    assert_eq!(verdict.refusal_for(&linux, signed.archives.get(&linux)), None);
    assert_eq!(
        verdict.refusal_for(&linux, None).map(TrustRefusal::code),
        Some("unsigned"),
        "an image leaf is no archive"
    );
    let mut unknown = signed;
    unknown.archives = Archives::Unknown;
    check(&unknown, "signed [rsa.pgp] 2 zips");
}

#[test]
fn an_archive_that_is_not_the_listed_one_is_refused_where_others_of_the_release_are_signed() {
    for (rule, missing) in [("", Some("unsigned")), ("unsigned = \"allow\"", None)] {
        let mut scene = scene(&["rsa.pgp"], rule).found([sums(&["rsa.sig"])]);
        scene.archives = zips(&[("darwin_arm64", "one"), ("linux_amd64", "evil"), ("windows_amd64", "three")]);
        check(&scene, "signed [rsa.pgp] 2 zips");
        let verdict = scene.judge();
        assert_eq!(code(&verdict, "darwin_arm64", "one"), None);
        assert_eq!(code(&verdict, "linux_amd64", "evil"), Some("other-package"), "whatever is said of unsigned ones");
        assert_eq!(code(&verdict, "windows_amd64", "three"), missing);
    }
}

#[test]
fn swapped_archives_are_refused_whatever_is_said_of_unsigned_ones() {
    let mut scene = scene(&["rsa.pgp"], "unsigned = \"allow\"").found([sums(&["rsa.sig"])]);
    scene.archives = zips(&[("linux_amd64", "evil")]);
    check(&scene, "refused other-package");
    assert_snapshot!(scene.judge().refusal.unwrap(), @"the list signed by rsa.pgp lists another terraform-provider-widget_1.4.0_linux_amd64.zip than the one offered");
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
    gone.archives = zips(&[("darwin_arm64", "one"), ("windows_amd64", "three")]);
    assert_eq!(code(&gone.judge(), "windows_amd64", "three"), Some("was-signed"));
    gone.archives = zips(&[("windows_amd64", "three")]);
    check(&gone, "refused was-signed");
    let gone = gone.without_policy();
    check(&gone, "refused was-signed");
}

#[test]
fn an_archive_that_is_listed_for_another_platform_is_refused() {
    for rule in ["", "unsigned = \"allow\""] {
        let mut scene = scene(&["rsa.pgp"], rule).found([sums(&["rsa.sig"])]);
        scene.archives = zips(&[("darwin_arm64", "one"), ("linux_amd64", "one")]);
        let verdict = scene.judge();
        assert_eq!(code(&verdict, "darwin_arm64", "one"), None);
        assert_eq!(code(&verdict, "linux_amd64", "one"), Some("other-package"));
        assert!(!verdict.covers(&linux(), scene.archives.get(&linux())));
    }
    // Not even when the list is gone, and the archive is one of those that were signed.
    let mut scene = scene(&["rsa.pgp"], "").found([sums(&["rsa.sig"])]);
    scene.archives = zips(&[("darwin_arm64", "one"), ("linux_amd64", "one")]);
    let verdict = scene.remembered().found([]).judge();
    assert_eq!(code(&verdict, "linux_amd64", "one"), Some("was-signed"));
}

#[test]
fn an_archive_for_a_platform_that_the_list_does_not_name_is_not_covered() {
    let mut scene = scene(&["rsa.pgp"], "").found([sums(&["rsa.sig"])]);
    scene.archives = zips(&[("darwin_arm64", "one"), ("windows_amd64", "two")]);
    assert_eq!(code(&scene.judge(), "windows_amd64", "two"), Some("unsigned"));
}

#[test]
fn a_list_with_the_names_of_a_build_was_one_of_another_version_and_platform() {
    let created = UNIX_EPOCH + Duration::from_hours(490_000);
    let key = crate::OpenPgpSecretKey::generate("Publisher", created, &zeroize::Zeroizing::new([7; 32]));
    let sum = |content: &str| Digest::sha256(content.as_bytes()).encoded().to_owned();
    let list = format!(
        "{}  terraform-provider-widget_v1.4.0_darwin_all.zip\n{}  terraform-provider-widget_v1.4.0_linux_armv7.zip\n",
        sum("one"),
        sum("two")
    );
    let evidence = Evidence::Sums {
        origin: Digest::sha256(b"sums"),
        signatures: vec![key.sign(list.as_bytes())],
        sums: list.into(),
        keys: Vec::new(),
    };
    let mut scene = scene(&["rsa.pgp"], "").found([evidence]);
    let policy =
        "[[key]]\nname = \"a\"\nfile = \"a\"\n[[rule]]\nproviders = [\"example.com/acme/*\"]\nkeys = [\"a\"]\n";
    scene.policy = Policy::parse(policy).unwrap().resolve(|_| Ok(key.public().into())).unwrap();
    scene.archives = zips(&[("darwin_amd64", "one"), ("darwin_arm64", "one"), ("linux_arm", "two")]);
    let verdict = scene.judge();
    for (platform, content) in [("darwin_amd64", "one"), ("darwin_arm64", "one"), ("linux_arm", "two")] {
        assert_eq!(code(&verdict, platform, content), None, "{platform}");
    }
    assert_eq!(code(&verdict, "linux_arm", "one"), Some("other-package"));
}

/// The key file `rsa.pgp` in rules for these patterns, the first of which is for `example.com/acme/*`.
fn shared(patterns: &[&str], rule: &str) -> Scene {
    let mut text = "[[key]]\nname = \"rsa\"\nfile = \"rsa.pgp\"\n".to_owned();
    for pattern in patterns {
        text.push_str(&format!("[[rule]]\nproviders = [\"{pattern}\"]\nkeys = [\"rsa\"]\n{rule}\n"));
    }
    let mut scene = scene(&[], "").found([sums(&["rsa.sig"])]);
    scene.policy = Policy::parse(&text).unwrap().resolve(|path| Ok(file(path.to_str().unwrap()))).unwrap();
    scene
}

#[test]
fn a_list_of_one_namespace_does_not_count_for_another_one_that_has_the_same_key() {
    check(&shared(&["example.com/acme/*"], ""), "signed [rsa] 2 zips");
    check(&shared(&["example.com/acme/widget", "example.com/acme/*"], ""), "signed [rsa] 2 zips");
    for other in ["example.com/beta/*", "example.org/acme/*", "example.com/*/*", "*/*/*"] {
        let two = ["example.com/acme/*", other];
        check(&shared(&two, ""), "refused unnamed-signature");
        check(&shared(&two, "unnamed = \"warn\""), "signed [rsa] 2 zips; Warning unnamed-signature");
        check(&shared(&two, "unnamed = \"allow\""), "signed [rsa] 2 zips");
        check_outcomes(&shared(&two, "unnamed = \"allow\""), &["counts-unnamed"]);
    }
    check(&shared(&["*/*/*"], ""), "refused unnamed-signature");
    let told = shared(&["*/*/*"], "").judge().refusal.unwrap();
    assert_snapshot!(told, @"the signature by rsa does not name the provider");
}

#[test]
fn four_thousand_copies_of_one_certificate_are_looked_at_once() {
    let copy = file("ed25519.pgp");
    let copies = KEYS_LIMIT / copy.len();
    let mut found = sums(&["ed25519.sig"]);
    if let Evidence::Sums { keys, .. } = &mut found {
        *keys = vec![copy.repeat(copies); 4];
    }
    let scene = scene(&["rsa.pgp"], "");
    let trusted = trusted_keys::TrustedKeys::new(
        &scene.policy,
        scene.policy.rule(&scene.address),
        &scene.pins,
        Some(&scene.address),
    );
    let facts = scene.facts();
    let mut examination = examine::Examination::new(scene.policy.rule(&scene.address), &trusted, &facts, scene.now);
    examination.look_at(&found);
    assert!(4 * copies > 4000);
    assert_eq!(examination.work.documents_done(), 1);
    assert!(matches!(examination.examined[0].outcome, SignatureOutcome::DoesNotCount(Flaw::TravellingKey { .. })));
}

#[test]
fn keys_that_travel_are_not_looked_at_where_a_key_of_ours_has_signed() {
    let mut found = sums(&["rsa.sig"]);
    if let Evidence::Sums { keys, .. } = &mut found {
        keys.push(file("rsa.pgp"));
    }
    let scene = scene(&["rsa.pgp"], "");
    let trusted = trusted_keys::TrustedKeys::new(
        &scene.policy,
        scene.policy.rule(&scene.address),
        &scene.pins,
        Some(&scene.address),
    );
    let facts = scene.facts();
    let mut examination = examine::Examination::new(scene.policy.rule(&scene.address), &trusted, &facts, scene.now);
    examination.look_at(&found);
    assert_eq!(examination.work.documents_done(), 1);
}

#[test]
fn signatures_without_end_are_looked_at_up_to_a_limit() {
    let many: Vec<Evidence> = std::iter::repeat_n(sums(&["rsa.sig"; 16]), 20).collect();
    let verdict = scene(&["rsa.pgp"], "").found(many).judge();
    let (mut done, mut left) = (0, 0);
    for examined in &verdict.examined {
        match examined.outcome {
            SignatureOutcome::Counts => done += 1,
            _ => left += 1,
        }
    }
    assert_eq!((done, left), (256, 64));
}

#[test]
fn files_beyond_the_limit_are_told_of() {
    let mut found = sums(&["rsa.sig"; 17]);
    if let Evidence::Sums { keys, .. } = &mut found {
        *keys = vec![Vec::new(); 18];
    }
    let scene = scene(&["rsa.pgp"], "").found([found]);
    check(&scene, "signed [rsa.pgp] 2 zips; Warning too-much-evidence; Warning too-much-evidence");
    let told: Vec<String> = scene.judge().remarks.into_iter().map(|remark| remark.text).collect();
    assert_snapshot!(told.join("\n"), @r"
    only 16 of 17 signature files beside a SHA256SUMS were looked at
    only 16 of 18 key files beside a SHA256SUMS were looked at
    ");
    assert_eq!((scene.judge().examined.len(), SUMS_FILES_LIMIT), (16, 16));
}
