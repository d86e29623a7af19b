//! Unpacked packages: linked as `OpenTofu` links them, or copied.

use std::fs;
use std::path::Path;

use super::super::fixture::{PLATFORM, Workspace, address};
use super::{Elsewhere, Files, PROGRAM, installed, into, texts};
use crate::{InstallOutcome, InstallTarget, PluginCache};

#[tokio::test]
async fn a_folder_is_linked_and_locked_by_its_contents() {
    let (files, workspace) = (Files::new(), Workspace::new());
    let done = installed(&workspace, Elsewhere::folder(&files)).await.unwrap();
    assert_eq!(done.outcome, InstallOutcome::Installed);
    assert_eq!(fs::read_link(&done.path).unwrap(), files.package(), "as OpenTofu does");
    assert_eq!(workspace.locked(), texts(&[files.h1()]));
    let again = installed(&workspace, Elsewhere::folder(&files)).await.unwrap();
    assert_eq!(again.outcome, InstallOutcome::AlreadyInstalled);
    fs::write(files.package().join("docs/guide.md"), "another guide").unwrap();
    let error = installed(&workspace, Elsewhere::folder(&files)).await.unwrap_err();
    assert_eq!(error.code(), "lock-mismatch");
}

#[tokio::test]
async fn a_folder_that_is_vendored_is_copied() {
    let (files, workspace) = (Files::new(), Workspace::new());
    let options = workspace.options();
    let target = InstallTarget::vendor(workspace.path());
    let done = into(&workspace, Elsewhere::folder(&files), target, &options).await.unwrap();
    assert!(!fs::symlink_metadata(&done.path).unwrap().is_symlink());
    fs::write(files.package().join("docs/guide.md"), "another guide").unwrap();
    assert_eq!(fs::read_to_string(done.path.join("docs/guide.md")).unwrap(), "the guide");
}

#[cfg(unix)]
#[tokio::test]
async fn a_folder_takes_the_place_of_an_empty_one_and_of_a_link_to_nothing() {
    let files = Files::new();
    for prepare in [|place: &Path| fs::create_dir(place), |place: &Path| std::os::unix::fs::symlink("/nowhere", place)]
    {
        let workspace = Workspace::new();
        let place = workspace.path().join(format!(".terraform/providers/{}/1.0.0/{PLATFORM}", address()));
        fs::create_dir_all(place.parent().unwrap()).unwrap();
        prepare(&place).unwrap();
        let done = installed(&workspace, Elsewhere::folder(&files)).await.unwrap();
        assert_eq!((done.outcome, fs::read_link(&place).unwrap()), (InstallOutcome::Installed, files.package()));
    }
}

#[tokio::test]
async fn a_link_to_another_folder_gives_way_and_a_folder_does_not() {
    let (files, other, workspace) = (Files::new(), Files::new(), Workspace::new());
    fs::write(other.package().join("docs/guide.md"), "another guide").unwrap();
    let done = installed(&workspace, Elsewhere::folder(&files)).await.unwrap();
    fs::remove_file(workspace.lock_path()).unwrap();
    let done_again = installed(&workspace, Elsewhere::folder(&other)).await.unwrap();
    assert_eq!((done_again.outcome, done_again.path), (InstallOutcome::Installed, done.path.clone()));
    assert_eq!(fs::read_link(&done.path).unwrap(), other.package());
    fs::remove_file(workspace.lock_path()).unwrap();
    fs::remove_file(&done.path).unwrap();
    fs::create_dir(&done.path).unwrap();
    fs::write(done.path.join(PROGRAM), "changed by hand").unwrap();
    let error = installed(&workspace, Elsewhere::folder(&files)).await.unwrap_err();
    assert_eq!(error.code(), "cache-modified");
}

#[tokio::test]
async fn a_folder_is_linked_through_the_plugin_cache() {
    let (files, workspace) = (Files::new(), Workspace::new());
    let cache = PluginCache { dir: workspace.path().join("cache"), may_break_lock: false };
    fs::create_dir(&cache.dir).unwrap();
    let target =
        InstallTarget::WorkingDir { data_dir: workspace.path().join(".terraform"), cache: Some(cache.clone()) };
    let options = workspace.options();
    let done = into(&workspace, Elsewhere::folder(&files), target, &options).await.unwrap();
    let cached = fs::read_link(&done.path).unwrap();
    assert!(cached.starts_with(&cache.dir), "{cached:?}");
    assert_eq!(fs::read_link(&cached).unwrap(), files.package());
}
