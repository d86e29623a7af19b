//! The package cache: what a second project needs no download for, and what is refused all the same.

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use tofu_oci_fetch::{CacheDirOrigin, PackageCache, PackageCacheSettings};
use tofu_oci_layout::{LeafKind, PackageLayout};
use tofu_oci_store::ReadStore;
use tofu_oci_types::NoReporter;

use super::fixture::{PLATFORM, Workspace, store, with_causes};
use crate::{InstallError, InstallRequest, InstallTarget, Installed, install};

const FOLDER: &str = "registry.example.test/acme/widget/1.0.0/linux_amd64";
const GUIDE: &str = "docs/guide.md";

/// A cache, and the folder of it.
struct SharedCache {
    root: tempfile::TempDir,
    cache: PackageCache,
}

impl SharedCache {
    fn new(origin: CacheDirOrigin) -> Self {
        let root = tempfile::tempdir().unwrap();
        let cache = open(root.path(), origin, None);
        Self { root, cache }
    }

    /// The folders of its packages.
    fn packages(&self) -> Vec<PathBuf> {
        let content = self.root.path().join("packages-v1/content");
        fs::read_dir(content).unwrap().map(|entry| entry.unwrap().path()).collect()
    }
}

fn open(root: &Path, origin: CacheDirOrigin, lower: Option<PathBuf>) -> PackageCache {
    PackageCache::open(&PackageCacheSettings { dir: Some(root.to_owned()), origin, lower }, &NoReporter)
}

impl Workspace {
    async fn cached(&self, job: InstallRequest, cache: &PackageCache) -> Result<Installed, InstallError> {
        let mut options = self.options();
        options.package_cache = cache.clone();
        install(&[job], &options, &self.reporter).await.map(|mut report| report.installed.remove(0))
    }
}

/// Installs into two folders through one cache. The second one gets the same files, the same lock file, and fetches nothing.
async fn check(
    layout: PackageLayout,
    job: impl Fn(&Workspace, Arc<dyn ReadStore>) -> InstallRequest,
) -> [Workspace; 2] {
    let (store, _) = store(layout).await;
    let shared = SharedCache::new(CacheDirOrigin::Named);
    let workspaces = [Workspace::new(), Workspace::new()];
    for (nth, workspace) in workspaces.iter().enumerate() {
        let installed = workspace.cached(job(workspace, store.clone()), &shared.cache).await.unwrap();
        assert_eq!((installed.from_cache, workspace.reporter.downloads()), (nth == 1, 1 - nth));
        assert_eq!(workspace.reporter.codes(), [""; 0]);
    }
    assert_eq!(workspaces[0].snapshot(), workspaces[1].snapshot());
    assert_eq!(shared.packages().len(), 1);
    workspaces
}

#[tokio::test]
async fn a_second_project_fetches_nothing() {
    for layout in [PackageLayout::Artifact, PackageLayout::Image, PackageLayout::Both] {
        check(layout, Workspace::job).await;
    }
}

#[cfg(unix)]
#[tokio::test]
async fn a_mirror_gets_files_of_its_own() {
    use std::os::unix::fs::MetadataExt as _;
    let into = |workspace: &Workspace, store: Arc<dyn ReadStore>| InstallRequest {
        target: InstallTarget::MirrorUnpacked(workspace.path().join("mirror")),
        ..workspace.job(store)
    };
    for workspace in check(PackageLayout::Artifact, into).await {
        let file = fs::metadata(workspace.path().join("mirror").join(FOLDER).join(GUIDE)).unwrap();
        assert_eq!((file.nlink(), file.mode() & 0o777), (1, 0o644));
    }
}

#[tokio::test]
async fn a_usual_cache_keeps_no_second_copy() {
    let (store, _) = store(PackageLayout::Artifact).await;
    let shared = SharedCache::new(CacheDirOrigin::Usual);
    let workspace = Workspace::new();
    let target = InstallTarget::MirrorUnpacked(workspace.path().join("mirror"));
    let job = InstallRequest { target, ..workspace.job(store) };
    workspace.cached(job, &shared.cache).await.unwrap();
    // Where files can share their blocks there is no second copy.
    let kept = shared.packages().len();
    assert!(kept <= 1 && workspace.reporter.codes().is_empty());
}

/// What `damage` does to a cached package is found, and the package is fetched again.
async fn check_damage(damage: impl Fn(&Path), codes: &[&str]) {
    let (store, _) = store(PackageLayout::Artifact).await;
    let shared = SharedCache::new(CacheDirOrigin::Named);
    let (first, second) = (Workspace::new(), Workspace::new());
    first.cached(first.job(store.clone()), &shared.cache).await.unwrap();
    let before = first.snapshot();
    damage(&shared.packages()[0]);
    second.cached(second.job(store.clone()), &shared.cache).await.unwrap();
    assert_eq!((second.reporter.downloads(), second.reporter.codes()), (1, codes.to_vec()));
    assert_eq!(second.snapshot(), before);
    let third = Workspace::new();
    third.cached(third.job(store), &shared.cache).await.unwrap();
    assert_eq!(third.reporter.downloads(), 0, "the cache is whole again");
}

/// Makes a cache forget which archives its packages came from.
fn forget_archives(cache: &Path) {
    for source in fs::read_dir(cache.join("packages-v1/sources")).unwrap() {
        fs::remove_file(source.unwrap().path()).unwrap();
    }
}

/// Replaces a file: the projects that have it keep theirs.
fn replace(file: &Path, bytes: &str) {
    fs::remove_file(file).unwrap();
    fs::write(file, bytes).unwrap();
}

#[tokio::test]
async fn a_damaged_package_is_fetched_again() {
    let guide = |package: &Path| package.join("files").join(GUIDE);
    check_damage(|package| replace(&guide(package), "another guide"), &["cache-damaged"]).await;
    check_damage(|package| fs::remove_file(guide(package)).unwrap(), &["cache-damaged"]).await;
    check_damage(|package| replace(&guide(package), &"the guide of 9.0.0\n".repeat(50)), &["cache-damaged"]).await;
    check_damage(|package| fs::write(package.join("record.json"), "{}").unwrap(), &[]).await;
    check_damage(|package| fs::remove_dir_all(package).unwrap(), &[]).await;
}

#[cfg(unix)]
#[tokio::test]
async fn a_link_in_the_cache_is_not_followed() {
    let link = |package: &Path| {
        let guide = package.join("files").join(GUIDE);
        let elsewhere = package.join("elsewhere");
        fs::rename(&guide, &elsewhere).unwrap();
        std::os::unix::fs::symlink(&elsewhere, &guide).unwrap();
    };
    check_damage(link, &["cache-damaged"]).await;
}

/// A cache that does not know the archive fetches it, and learns that it has its files.
#[cfg(unix)]
#[tokio::test]
async fn a_package_that_was_fetched_in_vain_takes_no_room_of_its_own() {
    use std::os::unix::fs::MetadataExt as _;
    let (store, _) = store(PackageLayout::Artifact).await;
    let shared = SharedCache::new(CacheDirOrigin::Named);
    let file = |workspace: &Workspace| {
        let file = fs::metadata(workspace.path().join(".terraform/providers").join(FOLDER).join(GUIDE)).unwrap();
        (file.ino(), file.nlink())
    };
    let workspaces = [Workspace::new(), Workspace::new()];
    for workspace in &workspaces {
        let installed = workspace.cached(workspace.job(store.clone()), &shared.cache).await.unwrap();
        assert!(!installed.from_cache && installed.received > 0);
        assert_eq!((workspace.reporter.downloads(), workspace.reporter.codes()), (1, vec![]));
        forget_archives(shared.root.path());
    }
    assert_eq!(workspaces[0].snapshot(), workspaces[1].snapshot());
    let [(first, links), (second, _)] = [file(&workspaces[0]), file(&workspaces[1])];
    assert!(links == 1 || first == second, "one of them has files of its own, though others are hard links");
    // If the files of the cache are damaged, those that were fetched take their place.
    replace(&shared.packages()[0].join("files").join(GUIDE), "another guide");
    let third = Workspace::new();
    third.cached(third.job(store.clone()), &shared.cache).await.unwrap();
    assert_eq!((third.reporter.downloads(), third.snapshot()), (1, workspaces[0].snapshot()));
    let fourth = Workspace::new();
    assert!(fourth.cached(fourth.job(store), &shared.cache).await.unwrap().from_cache);
}

/// A hard link has one mode in all its places.
#[cfg(unix)]
#[tokio::test]
async fn a_mode_that_is_changed_in_one_project_does_not_reach_the_next() {
    use std::os::unix::fs::PermissionsExt as _;
    for mode in [0o6777, 0] {
        let (store, _) = store(PackageLayout::Artifact).await;
        let shared = SharedCache::new(CacheDirOrigin::Named);
        let (first, second) = (Workspace::new(), Workspace::new());
        first.cached(first.job(store.clone()), &shared.cache).await.unwrap();
        let guide = |package: &Path| package.join("files").join(GUIDE);
        fs::set_permissions(guide(&shared.packages()[0]), fs::Permissions::from_mode(mode)).unwrap();
        second.cached(second.job(store), &shared.cache).await.unwrap();
        assert_eq!(second.reporter.downloads(), 0);
        let found = fs::metadata(guide(&shared.packages()[0])).unwrap().permissions().mode();
        assert_eq!(found & 0o7777, 0o444);
    }
}

#[tokio::test]
async fn a_cached_package_that_was_not_locked_is_refused() {
    let (store, published) = store(PackageLayout::Artifact).await;
    let shared = SharedCache::new(CacheDirOrigin::Named);
    let (first, second) = (Workspace::new(), Workspace::new());
    first.cached(first.job(store.clone()), &shared.cache).await.unwrap();
    // The `h1:` alone could be that of the zip; the cache knows that it is not.
    second.lock("1.0.0", &[&published["darwin_arm64"].h1]);
    let before = second.snapshot();
    let error = second.cached(second.job(store), &shared.cache).await.unwrap_err();
    assert!(with_causes(&error).contains("is not the package that was locked"), "{}", with_causes(&error));
    assert_eq!((second.reporter.downloads(), second.snapshot()), (0, before));
}

#[tokio::test]
async fn a_lower_cache_is_read_and_never_written() {
    let (store, published) = store(PackageLayout::Image).await;
    let lower = SharedCache::new(CacheDirOrigin::Named);
    let first = Workspace::new();
    first.cached(first.job(store.clone()), &lower.cache).await.unwrap();
    assert!(published[PLATFORM].ch.contains_key(&LeafKind::Image));
    let record = lower.packages()[0].join("record.json");
    let before = fs::metadata(&record).unwrap().modified().unwrap();
    let root = tempfile::tempdir().unwrap();
    let upper = open(root.path(), CacheDirOrigin::Named, Some(lower.root.path().to_owned()));
    let second = Workspace::new();
    let installed = second.cached(second.job(store.clone()), &upper).await.unwrap();
    assert!(installed.from_cache);
    assert_eq!(fs::metadata(&record).unwrap().modified().unwrap(), before);
    #[cfg(unix)]
    {
        use std::os::unix::fs::MetadataExt as _;
        let guide = fs::metadata(lower.packages()[0].join("files").join(GUIDE)).unwrap();
        assert!(guide.nlink() <= 2, "no project but the first has a link to it");
    }
    let next = Workspace::new();
    replace(&lower.packages()[0].join("files").join(GUIDE), "another guide");
    assert!(next.cached(next.job(store.clone()), &upper).await.unwrap().from_cache, "the user's own cache has it now");
    assert!(next.reporter.codes().is_empty(), "the lower one was not looked at");
    forget_archives(root.path());
    replace(&lower.packages()[0].join("files").join(GUIDE), "another guide");
    let third = Workspace::new();
    third.cached(third.job(store), &upper).await.unwrap();
    assert_eq!((third.reporter.downloads(), third.reporter.codes()), (1, vec!["cache-damaged"]));
    assert_eq!(lower.packages().len(), 1, "a lower cache stays as it is");
    assert_eq!(second.snapshot(), third.snapshot());
}
