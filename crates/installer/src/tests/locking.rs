//! A lock file for all platforms.

use std::fs;
use std::path::PathBuf;
use std::sync::Arc;

use tofu_oci_fetch::pin_file;
use tofu_oci_layout::PackageLayout;
use tofu_oci_lockfile::{LockEntry, LockFile, WriteOutcome};
use tofu_oci_source::OciSource;
use tofu_oci_store::MemoryStore;
use tofu_oci_trust::Policy;
use tofu_oci_types::{Constraints, PackageHash};

use super::fixture::{
    ADDRESS, Annotations, PLATFORM, Published, Workspace, address, publish, publish_for, with_causes,
};
use super::interleaving_source::{InterleavingSource, write_entry};
use super::signing::{policy, sign};
use crate::{
    Basis, InstallError, LockDifference, LockOptions, LockReport, LockRequest, LockWrite, PlatformChoice, Upgrade, lock,
};

const MAC: &str = "darwin_arm64";

/// A release, a working directory, and how they are locked.
struct Scene {
    store: Arc<MemoryStore>,
    published: std::collections::BTreeMap<String, Published>,
    workspace: Workspace,
    policy: Arc<Policy>,
    pins: PathBuf,
    write: LockWrite,
}

impl Scene {
    async fn new(layout: PackageLayout, annotations: Annotations) -> Self {
        let store = Arc::new(MemoryStore::new("memory".parse().unwrap()));
        let published = publish(&*store, "1.0.0", layout, annotations).await;
        let workspace = Workspace::new();
        let pins = workspace.trust().pins_path;
        Self { store, published, workspace, policy: Arc::default(), pins, write: LockWrite::Write }
    }

    async fn signed(layout: PackageLayout, annotations: Annotations) -> Self {
        let scene = Self::new(layout, annotations).await;
        sign(&scene.store, "1.0.0").await;
        Self { policy: policy(""), ..scene }
    }

    fn scratch(&self) -> PathBuf {
        let scratch = self.workspace.path().join("scratch");
        fs::create_dir_all(&scratch).unwrap();
        scratch
    }

    async fn lock(&self, platforms: PlatformChoice) -> Result<LockReport, InstallError> {
        let mut trust = self.workspace.trust();
        trust.policy = Arc::clone(&self.policy);
        trust.pins = pin_file::read(&self.pins).unwrap();
        trust.pins_path.clone_from(&self.pins);
        let options = LockOptions::new(self.workspace.lock_path(), self.write, self.scratch(), trust);
        let job = LockRequest {
            address: address(),
            constraints: "~> 1.0".parse().unwrap(),
            source: Arc::new(OciSource::new(self.store.clone())),
            platforms,
            upgrade: Upgrade::KeepLocked,
        };
        let report = lock(vec![job], &options, &self.workspace.reporter).await;
        assert_eq!(fs::read_dir(self.scratch()).unwrap().count(), 0, "nothing is left of what was looked at");
        report
    }

    /// How each platform's checksums became known, how many lines there are, and how many packages were fetched.
    async fn locked(&self) -> String {
        let before = self.workspace.reporter.downloads();
        let report = self.lock(PlatformChoice::Offered).await.unwrap_or_else(|error| panic!("{}", with_causes(&error)));
        let word = |basis| match basis {
            Basis::Signed => "signed",
            Basis::SignedAtOrigin => "signed at its origin",
            Basis::Downloaded => "downloaded",
            Basis::Kept => "kept",
        };
        let bases: Vec<&str> = report.providers[0].platforms.iter().map(|platform| word(platform.basis)).collect();
        let (lines, fetched) = (self.workspace.locked().len(), self.workspace.reporter.downloads() - before);
        let written = match report.written {
            WriteOutcome::Unchanged => "unchanged",
            WriteOutcome::Updated => "updated",
            WriteOutcome::Created => "created",
        };
        let restored = report.providers[0].restored.len();
        format!("{}, {lines} lines, {fetched} fetched, {restored} restored, {written}", bases.join(" "))
    }

    fn lines(&self, words: &str) -> Vec<PackageHash> {
        let hash = |word: &str| match word.split_once('-') {
            Some(("mac", scheme)) => self.hash(MAC, scheme),
            _ => self.hash(PLATFORM, word),
        };
        words.split_whitespace().map(hash).collect()
    }

    fn hash(&self, platform: &str, word: &str) -> PackageHash {
        let published = &self.published[platform];
        match word {
            "h1" => published.h1.clone(),
            "zh" => published.zh.clone(),
            "ch" => published.ch.values().next().unwrap().clone(),
            text => text.parse().unwrap(),
        }
    }

    /// Writes a lock file with these lines.
    fn write_lock(&self, words: &str) {
        let lines = self.lines(words);
        self.workspace.lock("1.0.0", &lines.iter().collect::<Vec<_>>());
    }
}

#[tokio::test]
async fn a_signed_index_with_annotations_locks_everything_without_a_download() {
    let scene = Scene::signed(PackageLayout::Artifact, Annotations::All).await;
    assert_eq!(scene.locked().await, "signed signed, 6 lines, 0 fetched, 0 restored, created");
    assert_eq!(scene.locked().await, "signed signed, 6 lines, 0 fetched, 0 restored, unchanged");
    let scene = Scene::signed(PackageLayout::Image, Annotations::All).await;
    assert_eq!(scene.locked().await, "signed signed, 4 lines, 0 fetched, 0 restored, created");
    let scene = Scene::signed(PackageLayout::Both, Annotations::All).await;
    assert_eq!(scene.locked().await, "signed signed, 8 lines, 0 fetched, 0 restored, created");
}

#[tokio::test]
async fn what_a_signature_does_not_cover_is_looked_at() {
    let scene = Scene::signed(PackageLayout::Artifact, Annotations::None).await;
    assert_eq!(scene.locked().await, "downloaded downloaded, 6 lines, 2 fetched, 0 restored, created");
    let scene = Scene::signed(PackageLayout::Image, Annotations::None).await;
    assert_eq!(scene.locked().await, "downloaded downloaded, 4 lines, 2 fetched, 0 restored, created");
}

#[tokio::test]
async fn unsigned_packages_are_looked_at_once() {
    for layout in [PackageLayout::Artifact, PackageLayout::Both] {
        let scene = Scene::new(layout, Annotations::All).await;
        assert_eq!(scene.locked().await, "downloaded downloaded, 6 lines, 2 fetched, 0 restored, created");
        assert_eq!(scene.locked().await, "kept kept, 6 lines, 0 fetched, 0 restored, unchanged");
    }
    let scene = Scene::new(PackageLayout::Image, Annotations::All).await;
    assert_eq!(scene.locked().await, "downloaded downloaded, 4 lines, 2 fetched, 0 restored, created");
    assert_eq!(scene.locked().await, "kept kept, 4 lines, 0 fetched, 0 restored, unchanged");
    // Without annotations the owner of an h1 is unknown.
    let scene = Scene::new(PackageLayout::Artifact, Annotations::None).await;
    assert_eq!(scene.locked().await, "downloaded downloaded, 6 lines, 2 fetched, 0 restored, created");
    assert_eq!(scene.locked().await, "downloaded downloaded, 6 lines, 2 fetched, 0 restored, unchanged");
}

#[tokio::test]
async fn lines_that_an_init_has_dropped_come_back() {
    let scene = Scene::signed(PackageLayout::Artifact, Annotations::All).await;
    scene.write_lock("h1 zh mac-h1 mac-zh");
    assert_eq!(scene.locked().await, "signed signed, 6 lines, 0 fetched, 2 restored, updated");
    // Unsigned, the leaf that was read names the archive that is locked.
    let scene = Scene::new(PackageLayout::Artifact, Annotations::All).await;
    scene.write_lock("h1 zh mac-h1 mac-zh");
    assert_eq!(scene.locked().await, "kept kept, 6 lines, 0 fetched, 2 restored, updated");
}

#[tokio::test]
async fn one_platform_vouches_for_the_release() {
    let scene = Scene::new(PackageLayout::Artifact, Annotations::All).await;
    scene.write_lock("h1 zh");
    assert_eq!(scene.locked().await, "downloaded kept, 6 lines, 1 fetched, 1 restored, updated");
    // The h1 that a filesystem mirror gave.
    let scene = Scene::new(PackageLayout::Artifact, Annotations::None).await;
    scene.write_lock("h1");
    assert_eq!(scene.locked().await, "downloaded downloaded, 6 lines, 2 fetched, 1 restored, updated");
}

#[tokio::test]
async fn other_lines_and_other_providers_stay_and_constraints_are_the_configurations() {
    let scene = Scene::signed(PackageLayout::Artifact, Annotations::All).await;
    scene.write_lock("h1 zh x9:other");
    let lock = tofu_oci_lockfile::read(&scene.workspace.lock_path()).unwrap();
    let mut file = lock.file().clone();
    file.insert("example.com/a/b".parse().unwrap(), LockEntry::new("2.0.0".parse().unwrap(), Constraints::any()));
    let text = format!("# a note\n{}", file.to_text());
    fs::write(scene.workspace.lock_path(), text).unwrap();
    assert_eq!(scene.locked().await, "signed signed, 7 lines, 0 fetched, 1 restored, updated");
    let text = fs::read_to_string(scene.workspace.lock_path()).unwrap();
    let file = LockFile::parse(&text).unwrap();
    assert_eq!(file.to_text(), text, "the text is the canonical one, as OpenTofu writes it");
    assert_eq!(file.iter().count(), 2);
    assert_eq!(file.get(&address()).unwrap().constraints.to_string(), "~> 1.0");
}

/// Locks with these lines in the lock file; a refusal leaves everything as it was.
async fn refused(scene: &Scene, words: &str, platforms: PlatformChoice) -> String {
    scene.write_lock(words);
    scene.scratch();
    let before = scene.workspace.snapshot();
    let error = scene.lock(platforms).await.expect_err(words);
    assert_eq!(scene.workspace.snapshot(), before, "a refusal changes nothing");
    error.code().to_owned()
}

const WRONG_ZH: &str = "zh:0000000000000000000000000000000000000000000000000000000000000000";
const WRONG_H1: &str = "h1:47DEQpj8HBSa+/TImW+5JCeuQeRkm5NMpJWZG3hSuFU=";
const WRONG_CH: &str = "ch:sha256:0000000000000000000000000000000000000000000000000000000000000000";

#[tokio::test]
async fn existing_lines_win() {
    for scene in [
        Scene::new(PackageLayout::Artifact, Annotations::All).await,
        Scene::signed(PackageLayout::Artifact, Annotations::All).await,
        Scene::signed(PackageLayout::Artifact, Annotations::None).await,
    ] {
        for words in [
            WRONG_ZH.to_owned(),
            WRONG_H1.to_owned(),
            WRONG_CH.to_owned(),
            // The other platform is the locked one, and this one has been replaced.
            format!("mac-h1 mac-zh {WRONG_ZH}"),
            format!("mac-h1 {WRONG_H1}"),
            format!("mac-h1 mac-zh mac-ch {WRONG_CH}"),
        ] {
            assert_eq!(refused(&scene, &words, PlatformChoice::Offered).await, "lock-mismatch", "{words}");
        }
        let linux = || PlatformChoice::Named(vec![PLATFORM.parse().unwrap()]);
        assert_eq!(refused(&scene, &format!("mac-zh {WRONG_ZH}"), linux()).await, "lock-mismatch");
        assert_eq!(refused(&scene, WRONG_ZH, linux()).await, "lock-mismatch");
    }
}

/// The same bytes, packed anew in another registry.
#[tokio::test]
async fn other_manifests_of_the_locked_contents_are_a_warning_and_recorded() {
    for annotations in [Annotations::All, Annotations::None] {
        let mut scene = Scene::new(PackageLayout::Artifact, annotations).await;
        scene.write_lock(&format!("h1 zh mac-h1 mac-zh {WRONG_CH}"));
        scene.lock(PlatformChoice::Offered).await.unwrap_or_else(|error| panic!("{}", with_causes(&error)));
        assert_eq!(scene.workspace.locked().len(), 7, "the old line stays, two are added");
        assert_eq!(scene.workspace.reporter.codes(), ["other-manifest"], "once for all platforms");
        scene.lock(PlatformChoice::Offered).await.unwrap_or_else(|error| panic!("{}", with_causes(&error)));
        assert_eq!(scene.workspace.reporter.codes(), ["other-manifest"], "the new lines are there now");
        scene.policy = policy("manifest_checksums = \"required\"");
        let words = format!("h1 zh mac-h1 mac-zh {WRONG_CH}");
        assert_eq!(refused(&scene, &words, PlatformChoice::Offered).await, "unsigned");
    }
    let mut scene = Scene::signed(PackageLayout::Artifact, Annotations::All).await;
    scene.policy = policy("manifest_checksums = \"required\"");
    let words = format!("h1 zh mac-h1 mac-zh {WRONG_CH}");
    assert_eq!(
        refused(&scene, &words, PlatformChoice::Offered).await,
        "lock-mismatch",
        "a rule demands the locked manifest"
    );
}

#[tokio::test]
async fn named_platforms_alone_are_looked_at() {
    let scene = Scene::new(PackageLayout::Artifact, Annotations::All).await;
    let named = |name: &str| PlatformChoice::Named(vec![name.parse().unwrap()]);
    scene.lock(named(MAC)).await.unwrap();
    assert_eq!(scene.workspace.locked().len(), 3);
    let error = scene.lock(named("plan9_386")).await.expect_err("it is not offered");
    insta::assert_snapshot!(with_causes(&error), @"registry.example.test/acme/widget 1.0.0 has no package for plan9_386");
    // A line of one platform suffices for the other.
    scene.lock(named(PLATFORM)).await.unwrap();
    assert_eq!(scene.workspace.locked().len(), 6);
}

#[tokio::test]
async fn comparing_writes_nothing() {
    let mut scene = Scene::signed(PackageLayout::Artifact, Annotations::All).await;
    scene.write = LockWrite::Compare;
    let difference = async |scene: &Scene| scene.lock(PlatformChoice::Offered).await.unwrap().difference;
    assert_eq!(difference(&scene).await, LockDifference::Entries);
    assert!(!scene.workspace.lock_path().exists());
    scene.write_lock("h1 zh");
    let before = scene.workspace.snapshot();
    assert_eq!(difference(&scene).await, LockDifference::Entries);
    assert_eq!(scene.workspace.snapshot(), before);

    scene.write = LockWrite::Write;
    scene.lock(PlatformChoice::Offered).await.unwrap();
    scene.write = LockWrite::Compare;
    assert_eq!(difference(&scene).await, LockDifference::None);
    // What every init does.
    let text = fs::read_to_string(scene.workspace.lock_path()).unwrap();
    let lines = text.lines().filter(|line| !line.contains("ch:")).collect::<Vec<_>>().join("\n");
    fs::write(scene.workspace.lock_path(), lines + "\n").unwrap();
    assert_eq!(difference(&scene).await, LockDifference::OptionalManifests);
    scene.policy = policy("manifest_checksums = \"required\"");
    assert_eq!(difference(&scene).await, LockDifference::Entries);
    fs::remove_file(&scene.workspace.trust().pins_path).unwrap();
    difference(&scene).await;
    assert!(pin_file::read(&scene.workspace.trust().pins_path).unwrap().is_empty());
}

/// An unsigned release for three platforms.
async fn three_platforms(annotations: Annotations) -> Scene {
    let scene = Scene::new(PackageLayout::Artifact, annotations).await;
    let store = Arc::new(MemoryStore::new("memory".parse().unwrap()));
    let platforms = [PLATFORM, MAC, "windows_amd64"];
    let published = publish_for(&platforms, &*store, "1.0.0", PackageLayout::Artifact, annotations).await;
    Scene { store, published, ..scene }
}

#[tokio::test]
async fn a_replaced_package_of_a_locked_platform_is_not_recorded_whatever_platforms_are_named() {
    for annotations in [Annotations::All, Annotations::None] {
        let scene = three_platforms(annotations).await;
        let windows = scene.hash("windows_amd64", "h1");
        // The line of the package that linux_amd64 had before it was replaced belongs to no package now.
        let words = format!("{WRONG_H1} mac-h1 {windows}");
        for named in [vec![PLATFORM], vec![PLATFORM, MAC], vec![PLATFORM, MAC, "windows_amd64"]] {
            let wanted = PlatformChoice::Named(named.iter().map(|name| name.parse().unwrap()).collect());
            assert_eq!(refused(&scene, &words, wanted).await, "lock-mismatch", "{named:?}");
        }
    }
}

#[tokio::test]
async fn a_platform_is_added_to_lines_of_h1_of_others_after_looking_at_those() {
    let scene = three_platforms(Annotations::None).await;
    let windows = scene.hash("windows_amd64", "h1");
    scene.write_lock(&format!("mac-h1 {windows}"));
    scene
        .lock(PlatformChoice::Named(vec![PLATFORM.parse().unwrap()]))
        .await
        .unwrap_or_else(|error| panic!("{}", with_causes(&error)));
    assert_eq!(scene.workspace.locked().len(), 5, "what was only looked at is not recorded");
}

#[tokio::test]
async fn lines_of_manifests_come_back_only_where_the_index_was_seen_before() {
    let scene = Scene::new(PackageLayout::Artifact, Annotations::All).await;
    scene.write_lock("h1 zh mac-h1 mac-zh");
    assert!(!scene.lock(PlatformChoice::Offered).await.unwrap().providers[0].seen_before);
    scene.write_lock("h1 zh mac-h1 mac-zh");
    assert!(scene.lock(PlatformChoice::Offered).await.unwrap().providers[0].seen_before);
    // Here no `init` has dropped a line: the lock file names another manifest.
    scene.write_lock(&format!("h1 zh mac-h1 mac-zh {WRONG_CH}"));
    assert!(!scene.lock(PlatformChoice::Offered).await.unwrap().providers[0].seen_before);
}

#[tokio::test]
async fn an_unchanged_lock_file_in_a_read_only_folder_is_no_error() {
    let mut scene = Scene::new(PackageLayout::Artifact, Annotations::All).await;
    scene.locked().await;
    scene.pins = scene.workspace.path().join("none/.tofu-oci.pins.json");
    scene.lock(PlatformChoice::Offered).await.unwrap();
    assert_eq!(scene.workspace.reporter.codes(), ["pins-not-written"]);
    scene.write_lock("h1 zh");
    let error = scene.lock(PlatformChoice::Offered).await.unwrap_err();
    assert_eq!(error.code(), "pin-file", "what is recorded needs its pins");
    scene.policy = policy("");
    sign(&scene.store, "1.0.0").await;
    scene.pins = scene.workspace.trust().pins_path;
    scene.locked().await;
    scene.pins = scene.workspace.path().join("none/.tofu-oci.pins.json");
    let error = scene.lock(PlatformChoice::Offered).await.unwrap_err();
    assert_eq!(error.code(), "pin-file", "a signature would be forgotten");
}

#[tokio::test]
async fn what_another_program_locked_meanwhile_is_held_against_the_release() {
    let scene = Scene::new(PackageLayout::Artifact, Annotations::All).await;
    let path = scene.workspace.lock_path();
    let job = LockRequest {
        address: address(),
        constraints: Constraints::any(),
        source: InterleavingSource::before_versions(scene.store.clone(), {
            let path = path.clone();
            move || write_entry(&path, ADDRESS, "1.0.0", WRONG_H1)
        }),
        platforms: PlatformChoice::Offered,
        upgrade: Upgrade::KeepLocked,
    };
    let options = LockOptions::new(path.clone(), LockWrite::Write, scene.scratch(), scene.workspace.trust());
    let error = lock(vec![job], &options, &scene.workspace.reporter).await.unwrap_err();
    assert_eq!(error.code(), "lock-mismatch");
    assert_eq!(scene.workspace.locked(), [WRONG_H1], "it is left alone");
}
