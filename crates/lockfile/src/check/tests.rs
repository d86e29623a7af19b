use tofu_oci_types::Constraints;

use super::*;

#[track_caller]
fn verdict(lock: &str, release: &str) -> String {
    verdict_with(lock, release, ManifestLines::Optional)
}

/// The package at hand has `h1:own zh:own ch:own`; the release may name `h1:mac zh:mac ch:mac` for darwin.
#[track_caller]
fn verdict_with(lock: &str, release: &str, lines: ManifestLines) -> String {
    let hash = |text: &str| -> PackageHash { text.parse().unwrap() };
    let mut entry = LockEntry::new("1.0.0".parse().unwrap(), Constraints::any());
    entry.hashes = lock.split_whitespace().map(hash).collect();
    let package = PackageHashes { h1: Some(hash("h1:own")), zh: Some(hash("zh:own")), ch: Some(hash("ch:own")) };
    let mut claims = ReleaseHashes::new();
    for word in release.split_whitespace() {
        let platform = if word.ends_with("mac") { "darwin_arm64" } else { "linux_amd64" };
        claims.entry(platform.parse().unwrap()).or_default().insert(hash(word));
    }
    let early = precheck(&entry, &PackageHashes { h1: None, ..package.clone() }, &claims, lines);
    match check(&entry, &package, &claims, lines) {
        LockVerdict::Unlocked => {
            assert_eq!(early, None);
            "unlocked".to_owned()
        }
        LockVerdict::Refused(LockRefusal::OtherManifest { .. }) => {
            assert!(early.is_some());
            "other manifest".to_owned()
        }
        LockVerdict::Refused(_) => {
            format!("no match{}", if early.is_some() { ", known before the download" } else { "" })
        }
        LockVerdict::Accepted(report) => {
            assert_eq!(early, None);
            let text = |hashes: Vec<&PackageHash>| hashes.iter().map(ToString::to_string).collect::<Vec<_>>().join(" ");
            let mut answer = vec!["accepted".to_owned()];
            if !report.other_manifests().is_empty() {
                answer.push(format!("published anew {}", text(report.other_manifests())));
            }
            if !report.wrong().is_empty() {
                answer.push(format!("wrong {}", text(report.wrong())));
            }
            if !report.unexplained().is_empty() {
                answer.push(format!("unexplained {}", text(report.unexplained())));
            }
            answer.join(", ")
        }
    }
}

const PLAIN: &str = "ch:own ch:mac";
const ANNOTATED: &str = "ch:own h1:own zh:own ch:mac h1:mac zh:mac";

/// The rows of real-tofu-sources.md §5. A comment marks each row that `OpenTofu` decides differently.
#[test]
fn the_table_of_real_lock_files() {
    for (lock, want) in [
        // OpenTofu's oci_mirror refuses an h1 alone; it is as good a proof as zh.
        ("h1:own", "accepted"),
        ("h1:own h2:x", "accepted"),
        ("zh:own", "accepted"),
        ("zh:own zh:mac", "accepted, unexplained zh:mac"),
        ("h1:own zh:own", "accepted"),
        ("zh:mac", "no match, known before the download"),
        // OpenTofu's oci_mirror refuses these two as well.
        ("zh:wrong h1:own", "accepted, unexplained zh:wrong"),
        ("zh:mac h1:own", "accepted, unexplained zh:mac"),
        ("zh:own h1:wrong", "accepted, unexplained h1:wrong"),
        ("zh:wrong", "no match, known before the download"),
        ("h1:wrong", "no match"),
        ("h1:wrong zh:wrong", "no match"),
        ("h1:mac", "no match"),
        ("", "unlocked"),
        ("h2:x ZH:own", "unlocked"),
        ("zh:OWN", "no match, known before the download"),
        ("zh:", "no match, known before the download"),
    ] {
        assert_eq!(verdict(lock, PLAIN), want, "{lock}");
    }
}

#[test]
fn a_line_is_wrong_only_where_the_release_names_all_platforms() {
    for (lock, want) in [
        ("h1:own h1:mac zh:mac", "accepted"),
        ("h1:own zh:wrong", "accepted, wrong zh:wrong"),
        ("zh:own h1:wrong h1:mac", "accepted, wrong h1:wrong"),
    ] {
        assert_eq!(verdict(lock, ANNOTATED), want, "{lock}");
    }
    assert_eq!(verdict("h1:own zh:wrong", "ch:own ch:mac zh:mac"), "accepted, wrong zh:wrong");
}

#[test]
fn the_same_package_under_another_manifest_is_the_locked_one() {
    for (lock, want) in [
        ("ch:own", "accepted"),
        ("ch:own h1:wrong", "accepted, unexplained h1:wrong"),
        // One line of contents suffices.
        ("ch:wrong h1:own zh:own", "accepted, published anew ch:wrong"),
        ("ch:wrong h1:own", "accepted, published anew ch:wrong"),
        ("ch:wrong zh:own", "accepted, published anew ch:wrong"),
        ("ch:a ch:b zh:own zh:mac", "accepted, published anew ch:a ch:b, unexplained zh:mac"),
        // The new line has been added: no warning remains.
        ("ch:wrong ch:own zh:own", "accepted"),
        ("ch:wrong ch:own", "accepted"),
        // A colleague's platform, by the digests in this very index.
        ("ch:mac zh:own", "accepted"),
        ("ch:mac h1:own", "accepted"),
        ("ch:mac", "no match, known before the download"),
        // Nothing matches.
        ("ch:wrong zh:mac", "no match, known before the download"),
        ("ch:wrong zh:wrong", "no match, known before the download"),
        ("ch:wrong h1:wrong", "no match"),
        // If there are only `ch:` lines, they bind.
        ("ch:wrong", "other manifest"),
        ("ch:wrong ch:mac", "other manifest"),
        ("ch:wrong h2:x", "other manifest"),
    ] {
        assert_eq!(verdict(lock, PLAIN), want, "{lock}");
    }
}

#[test]
fn a_required_manifest_binds() {
    for (lock, want) in [
        ("ch:own", "accepted"),
        ("ch:own h1:wrong", "accepted, unexplained h1:wrong"),
        ("ch:wrong", "other manifest"),
        // The same contents under another manifest.
        ("ch:wrong h1:own zh:own", "other manifest"),
        ("ch:wrong ch:own", "accepted"),
        ("ch:mac zh:own", "accepted"),
        ("ch:mac h1:own", "accepted"),
        // Every `init` drops these lines, so their absence refuses nothing here.
        ("zh:own", "accepted"),
        ("h1:own zh:mac", "accepted, unexplained zh:mac"),
        ("ch:mac", "no match, known before the download"),
    ] {
        assert_eq!(verdict_with(lock, PLAIN, ManifestLines::Required), want, "{lock}");
    }
}

#[test]
fn a_release_is_known_by_any_of_its_packages() {
    let hash = |text: &str| -> PackageHash { text.parse().unwrap() };
    let proven: BTreeSet<PackageHash> = ["ch:own", "zh:own", "ch:mac", "zh:mac", "h1:mac"].map(hash).into();
    let refused = |lock: &str| {
        let mut entry = LockEntry::new("1.0.0".parse().unwrap(), Constraints::any());
        entry.hashes = lock.split_whitespace().map(hash).collect();
        check_release(&entry, &proven).map(|refusal| refusal.to_string()).unwrap_or_default()
    };
    assert_eq!(refused("zh:mac zh:wrong"), "");
    assert_eq!(refused("x:y"), "");
    assert_eq!(refused("h1:wrong"), "the one checksum in the lock file is not one of its packages'");
    assert_eq!(refused("h1:wrong zh:wrong"), "none of the 2 checksums in the lock file is one of its packages'");
}

#[test]
fn a_platform_is_added_unless_its_line_may_be_there_already() {
    let hash = |text: &str| -> PackageHash { text.parse().unwrap() };
    // The h1 of darwin is unknown.
    let facts: ReleaseHashes = [("linux_amd64", "ch:own h1:own zh:own"), ("darwin_arm64", "ch:mac zh:mac")]
        .map(|(platform, lines)| (platform.parse().unwrap(), lines.split_whitespace().map(hash).collect()))
        .into();
    let with = |lock: &str, lines: ManifestLines| {
        let mut entry = LockEntry::new("1.0.0".parse().unwrap(), Constraints::any());
        entry.hashes = lock.split_whitespace().map(hash).collect();
        match check_addition(&entry, &"linux_amd64".parse().unwrap(), &facts, lines) {
            Some(LockRefusal::NoMatch { locked, .. }) => {
                locked.iter().map(PackageHash::as_str).collect::<Vec<_>>().join(", ")
            }
            Some(other) => panic!("{other}"),
            None => String::new(),
        }
    };
    for (lock, want) in [
        ("zh:mac h1:mac ch:mac", ""),
        ("zh:own zh:wrong", ""),
        ("zh:mac zh:wrong", "zh:wrong"),
        // It may be darwin's.
        ("zh:mac h1:wrong", ""),
        ("x:y", ""),
        // Darwin's manifest in another registry explains one line; the second may be this platform's.
        ("zh:mac ch:wrong", ""),
        ("zh:mac ch:a ch:b", "ch:a, ch:b"),
        ("zh:mac ch:mac ch:wrong", "ch:wrong"),
    ] {
        assert_eq!(with(lock, ManifestLines::Optional), want, "{lock}");
    }
    assert_eq!(with("zh:mac ch:wrong", ManifestLines::Required), "ch:wrong");
}

#[test]
fn many_locked_manifests_are_reported_in_one_line() {
    let message = |lines: &str| {
        let mut entry = LockEntry::new("1.0.0".parse().unwrap(), tofu_oci_types::Constraints::any());
        entry.hashes = lines.split(' ').map(|line| line.parse().unwrap()).collect();
        let refusal =
            check_manifest(&entry, &"ch:new".parse().unwrap(), &ReleaseHashes::new(), ManifestLines::Optional);
        refusal.map(|refusal| refusal.to_string()).unwrap_or_default()
    };
    assert_eq!(message("ch:a"), "the lock file names the manifest ch:a, but the release has ch:new");
    assert_eq!(
        message("ch:a ch:b ch:c"),
        "the lock file names the manifest ch:a and 2 more, but the release has ch:new"
    );
}
