//! Where packages go, and what may lie there already.

use std::fs;
use std::path::PathBuf;
use std::sync::Arc;

use tofu_oci_fetch::FetchError;
use tofu_oci_layout::PackageLayout;
use tofu_oci_lockfile::{LOCK_FILE_NAME, WriteOutcome};
use tofu_oci_store::MemoryStore;
use tofu_oci_trust::PIN_FILE_NAME;

use super::fixture::{Annotations, PLATFORM, Workspace, publish, store, with_causes};
use crate::{InstallError, InstallOutcome, InstallTarget, Installed};

const PROVIDER: &str = "registry.example.test/acme/widget";

/// The files below the workspace, without the lock file, the pins and folders.
fn files(workspace: &Workspace) -> Vec<String> {
    let names = workspace.snapshot().into_keys();
    names.filter(|name| !name.ends_with('/') && ![LOCK_FILE_NAME, PIN_FILE_NAME].contains(&name.as_str())).collect()
}

async fn put(workspace: &Workspace, store: Arc<MemoryStore>, target: InstallTarget) -> Result<Installed, InstallError> {
    let mut job = workspace.job(store);
    job.target = target;
    workspace.run(vec![job]).await.map(|(mut installed, _)| installed.remove(0))
}

#[tokio::test]
async fn every_layout_gives_the_same_folder() {
    let mut found = Vec::new();
    for layout in [PackageLayout::Artifact, PackageLayout::Image, PackageLayout::Both] {
        let (store, _) = store(layout).await;
        let workspace = Workspace::new();
        workspace.install(store).await.unwrap();
        let mut snapshot = workspace.snapshot();
        snapshot.remove(LOCK_FILE_NAME);
        snapshot.remove(PIN_FILE_NAME);
        found.push(snapshot);
    }
    assert_eq!(found[0], found[1]);
    assert_eq!(found[0], found[2]);
    let folder = format!(".terraform/providers/{PROVIDER}/1.0.0/linux_amd64");
    let names: Vec<&String> = found[0].keys().filter(|name| !name.ends_with('/')).collect();
    let want = [
        format!("{folder}.lock"),
        format!("{folder}/docs/guide.md"),
        format!("{folder}/terraform-provider-widget_v1.0.0"),
    ];
    let mut want: Vec<&String> = want.iter().collect();
    want.sort();
    assert_eq!(names, want);
}

#[cfg(unix)]
#[tokio::test]
async fn the_executable_can_run_and_folders_can_be_read() {
    use std::os::unix::fs::PermissionsExt as _;
    for layout in [PackageLayout::Artifact, PackageLayout::Image] {
        let (store, _) = store(layout).await;
        let workspace = Workspace::new();
        let installed = workspace.install(store).await.unwrap();
        let mode = |path: PathBuf| fs::metadata(path).unwrap().permissions().mode() & 0o777;
        assert_eq!(mode(installed.path.join("terraform-provider-widget_v1.0.0")), 0o755, "{layout}");
        assert_eq!(mode(installed.path.join("docs/guide.md")), 0o644, "{layout}");
        assert_eq!(mode(installed.path) & 0o555, 0o555, "{layout}");
    }
}

#[tokio::test]
async fn a_packed_mirror_has_the_releases_own_zip() {
    let (store, published) = store(PackageLayout::Artifact).await;
    let workspace = Workspace::new();
    let mirror = workspace.path().join("mirror");
    let installed = put(&workspace, store.clone(), InstallTarget::MirrorPacked(mirror.clone())).await.unwrap();
    let zip = fs::read(&installed.path).unwrap();
    assert_eq!(format!("zh:{}", tofu_oci_types::Digest::sha256(&zip).encoded()), published[PLATFORM].zh.as_str());
    let name = format!("mirror/{PROVIDER}/terraform-provider-widget_1.0.0_linux_amd64.zip");
    assert_eq!(files(&workspace), [name]);
    let again = put(&workspace, store, InstallTarget::MirrorPacked(mirror)).await.unwrap();
    assert_eq!(again.outcome, InstallOutcome::AlreadyInstalled);
}

#[tokio::test]
async fn a_packed_mirror_of_an_image_gets_a_zip_made_here() {
    let (store, published) = store(PackageLayout::Image).await;
    let workspace = Workspace::new();
    let mirror = workspace.path().join("mirror");
    let installed = put(&workspace, store, InstallTarget::MirrorPacked(mirror)).await.unwrap();
    assert_eq!(workspace.reporter.codes(), ["zip-made-here"]);
    let contents = tofu_oci_archive::read_zip(&installed.path, &tofu_oci_archive::Limits::default()).unwrap();
    assert_eq!(contents.h1(), published[PLATFORM].h1);
    assert!(!workspace.locked().iter().any(|hash| hash.starts_with("zh:")), "it is not the release's zip");
}

#[tokio::test]
async fn an_unpacked_mirror_has_no_lock_beside_the_package() {
    let (store, _) = store(PackageLayout::Artifact).await;
    let workspace = Workspace::new();
    put(&workspace, store, InstallTarget::vendor(workspace.path())).await.unwrap();
    let folder = format!("terraform.d/plugins/{PROVIDER}/1.0.0/linux_amd64");
    let want = [format!("{folder}/docs/guide.md"), format!("{folder}/terraform-provider-widget_v1.0.0")];
    assert_eq!(files(&workspace), want);
}

#[tokio::test]
async fn several_platforms_and_providers_at_once() {
    let (store, published) = store(PackageLayout::Artifact).await;
    let workspace = Workspace::new();
    let mut jobs = vec![workspace.job(store.clone()), workspace.job(store)];
    jobs[1].platform = "darwin_arm64".parse().unwrap();
    let (installed, written) = workspace.run(jobs).await.unwrap();
    assert_eq!((installed.len(), written), (2, WriteOutcome::Created));
    assert_eq!(installed[1].platform.to_string(), "darwin_arm64");
    let locked = workspace.locked();
    assert_eq!(locked.len(), 6);
    for own in published.values() {
        assert!(locked.contains(&own.h1.to_string()) && locked.contains(&own.zh.to_string()));
    }
}

#[tokio::test]
async fn two_jobs_for_one_place_agree() {
    let (store, _) = store(PackageLayout::Artifact).await;
    let workspace = Workspace::new();
    let jobs: Vec<_> = (0..8).map(|_| workspace.job(store.clone())).collect();
    let (installed, _) = workspace.run(jobs).await.unwrap();
    assert_eq!(installed.iter().filter(|one| one.outcome == InstallOutcome::Installed).count(), 1);
    assert!(!workspace.snapshot().keys().any(|name| name.contains(".tofu-oci-")));
}

#[tokio::test]
async fn one_that_fails_leaves_the_lock_file_alone() {
    let (store, _) = store(PackageLayout::Artifact).await;
    let workspace = Workspace::new();
    let mut jobs = vec![workspace.job(store.clone()), workspace.job(store)];
    jobs[1].platform = "windows_386".parse().unwrap();
    let error = workspace.run(jobs).await.expect_err("there is no windows_386");
    insta::assert_snapshot!(with_causes(&error), @"registry.example.test/acme/widget 1.0.0 has no package for windows_386");
    assert!(!workspace.lock_path().exists());
    assert!(!files(&workspace).iter().any(|name| name.contains("windows_386") || name.contains(".tofu-oci-")));
}

#[tokio::test]
async fn without_a_lock_file_equal_contents_are_left_alone() {
    let (store, _) = store(PackageLayout::Artifact).await;
    let workspace = Workspace::new();
    workspace.install(store.clone()).await.unwrap();
    fs::remove_file(workspace.lock_path()).unwrap();
    assert_eq!(workspace.install(store).await.unwrap().outcome, InstallOutcome::AlreadyInstalled);
    assert!(workspace.lock_path().exists());
}

#[tokio::test]
async fn changed_contents_are_neither_believed_nor_overwritten() {
    let (store, _) = store(PackageLayout::Artifact).await;
    let workspace = Workspace::new();
    let installed = workspace.install(store.clone()).await.unwrap();
    fs::write(installed.path.join("docs/guide.md"), "my own words").unwrap();
    let before = workspace.snapshot();
    let error = workspace.install(store).await.expect_err("the package was changed");
    assert!(matches!(error, InstallError::Fetch(FetchError::LocallyModified { .. })), "{}", with_causes(&error));
    assert_eq!(workspace.snapshot(), before);
}

#[tokio::test]
async fn an_empty_folder_is_no_obstacle_and_a_file_is() {
    let (store, _) = store(PackageLayout::Artifact).await;
    let workspace = Workspace::new();
    let folder = workspace.path().join(format!(".terraform/providers/{PROVIDER}/1.0.0"));
    fs::create_dir_all(folder.join("linux_amd64")).unwrap();
    assert_eq!(workspace.install(store.clone()).await.unwrap().outcome, InstallOutcome::Installed);
    fs::write(folder.join("darwin_arm64"), "a file").unwrap();
    fs::remove_file(workspace.lock_path()).unwrap();
    let mut job = workspace.job(store);
    job.platform = "darwin_arm64".parse().unwrap();
    assert!(matches!(workspace.run(vec![job]).await, Err(InstallError::Fetch(FetchError::LocallyModified { .. }))));
}

/// Terraform links a vendored package into `.terraform` instead of copying it.
#[cfg(unix)]
#[tokio::test]
async fn a_link_to_the_same_package_stays_and_a_dangling_one_is_replaced() {
    let (store, _) = store(PackageLayout::Artifact).await;
    let workspace = Workspace::new();
    let vendored = put(&workspace, store.clone(), InstallTarget::vendor(workspace.path())).await.unwrap();
    let version = workspace.path().join(format!(".terraform/providers/{PROVIDER}/1.0.0"));
    fs::create_dir_all(&version).unwrap();
    let link = version.join("linux_amd64");
    std::os::unix::fs::symlink(&vendored.path, &link).unwrap();
    assert_eq!(workspace.install(store.clone()).await.unwrap().outcome, InstallOutcome::AlreadyInstalled);
    assert!(fs::symlink_metadata(&link).unwrap().is_symlink());

    fs::write(vendored.path.join("docs/guide.md"), "other words").unwrap();
    assert!(matches!(
        workspace.install(store.clone()).await,
        Err(InstallError::Fetch(FetchError::LocallyModified { .. }))
    ));
    assert_eq!(fs::read_to_string(vendored.path.join("docs/guide.md")).unwrap(), "other words");

    fs::remove_dir_all(&vendored.path).unwrap();
    assert_eq!(workspace.install(store).await.unwrap().outcome, InstallOutcome::Installed);
    assert!(!fs::symlink_metadata(&link).unwrap().is_symlink());
}

#[tokio::test]
async fn stray_tags_are_warned_of_and_not_chosen() {
    let store = Arc::new(MemoryStore::new("memory".parse().unwrap()));
    publish(&*store, "1.0.0", PackageLayout::Artifact, Annotations::All).await;
    let reference = tofu_oci_types::Reference::Tag("1.0.0".parse().unwrap());
    let index = tofu_oci_store::ReadStore::resolve(&*store, &reference).await.unwrap();
    tofu_oci_store::Store::tag(&*store, &index, &"2".parse().unwrap()).await.unwrap();
    tofu_oci_store::Store::tag(&*store, &index, &"1.0".parse().unwrap()).await.unwrap();
    let workspace = Workspace::new();
    assert_eq!(workspace.install(store).await.unwrap().version.to_string(), "1.0.0");
    assert_eq!(workspace.reporter.codes(), ["floating-tag"]);
}

/// Mirrors serve the `zh:` of what lies there, and lock files hold that of the release.
#[tokio::test]
async fn a_packed_archive_of_the_same_files_with_other_bytes_is_not_the_release() {
    let (store, published) = store(PackageLayout::Artifact).await;
    let workspace = Workspace::new();
    let target = InstallTarget::MirrorPacked(workspace.path().join("packed"));
    let path = put(&workspace, store.clone(), target.clone()).await.unwrap().path;
    assert_eq!(put(&workspace, store.clone(), target.clone()).await.unwrap().outcome, InstallOutcome::AlreadyInstalled);

    // A comment at the end of the archive.
    let mut bytes = fs::read(&path).unwrap();
    let length = bytes.len() - 2;
    bytes[length] = 1;
    bytes.push(b'x');
    fs::write(&path, &bytes).unwrap();
    let h1 = tofu_oci_archive::read_zip(&path, &tofu_oci_archive::Limits::default()).unwrap().h1();
    assert_eq!(h1, published[PLATFORM].h1, "the same files");
    let error = put(&workspace, store.clone(), target.clone()).await.unwrap_err();
    assert_eq!(error.code(), "cache-modified", "{}", with_causes(&error));
    fs::remove_file(workspace.lock_path()).unwrap();
    let error = put(&workspace, store, target).await.unwrap_err();
    assert_eq!(error.code(), "cache-modified", "{}", with_causes(&error));
    assert_eq!(fs::read(&path).unwrap(), bytes, "it stays as it is");
}
