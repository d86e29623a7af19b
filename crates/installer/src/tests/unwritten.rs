//! Installations that leave the lock file as it is, plans of installations, and entries that are for few platforms.

use std::sync::Arc;

use tofu_oci_layout::PackageLayout;
use tofu_oci_lockfile::LockFile;
use tofu_oci_store::MemoryStore;
use tofu_oci_trust::Policy;

use super::fixture::{ADDRESS, Annotations, PLATFORM, Workspace, address, publish, store, with_causes};
use super::signing::{policy, sign};
use crate::{
    InstallError, InstallOutcome, InstallPreview, InstallReport, LockWrite, Options, Upgrade, install, install_locked,
    preview,
};

const OFF: &str = "[[rule]]\nproviders = [\"*/*/*\"]\nmanifest_checksums = \"off\"\n";

fn off() -> Arc<Policy> {
    Arc::new(Policy::parse(OFF).unwrap().resolve(|_| panic!("the rule has no key")).unwrap())
}

async fn locked(workspace: &Workspace, store: &Arc<MemoryStore>) -> Result<InstallReport, InstallError> {
    let before = workspace.snapshot();
    let done = install_locked(&[workspace.job(store.clone())], &workspace.options(), &workspace.reporter).await;
    if done.is_err() {
        assert_eq!(workspace.snapshot(), before, "a refusal changes nothing");
    } else {
        let files = |files: std::collections::BTreeMap<String, String>| {
            files.into_iter().filter(|(name, _)| !name.starts_with(".terraform/")).collect::<Vec<_>>()
        };
        assert_eq!(files(workspace.snapshot()), files(before), "neither the lock file nor the pins are written");
    }
    done
}

async fn planned(
    workspace: &Workspace,
    store: &Arc<MemoryStore>,
    options: &Options,
) -> Result<InstallPreview, InstallError> {
    let (before, downloads) = (workspace.snapshot(), workspace.reporter.downloads());
    let job = workspace.job(store.clone());
    let planned = preview(&[job], options, LockWrite::Write, &workspace.reporter).await;
    assert_eq!((workspace.snapshot(), workspace.reporter.downloads()), (before, downloads), "a plan changes nothing");
    planned
}

#[tokio::test]
async fn without_an_entry_a_lock_file_that_must_not_change_is_refused() {
    let (store, _) = store(PackageLayout::Artifact).await;
    let workspace = Workspace::new();
    let error = locked(&workspace, &store).await.unwrap_err();
    assert_eq!((error.code(), workspace.reporter.downloads()), ("lock-outdated", 0));
    workspace.install(store.clone()).await.unwrap();
    let mut options = workspace.options();
    options.forget = [address()].into();
    let error = install_locked(&[workspace.job(store)], &options, &workspace.reporter).await.unwrap_err();
    assert!(with_causes(&error).contains("does not require"), "{}", with_causes(&error));
}

#[tokio::test]
async fn a_constraint_that_excludes_the_locked_version_is_refused_before_another_provider_is_installed() {
    let (store, published) = store(PackageLayout::Artifact).await;
    let workspace = Workspace::new();
    workspace.lock("1.0.0", &[&published[PLATFORM].h1]);
    let (first, mut second) = (workspace.job(store.clone()), workspace.job(store));
    second.constraints = ">= 2.0.0".parse().unwrap();
    let error = install_locked(&[first, second], &workspace.options(), &workspace.reporter).await.unwrap_err();
    assert_eq!((error.code(), workspace.reporter.downloads()), ("locked-version-conflict", 0));
}

#[tokio::test]
async fn checksums_that_are_missing_are_reported_and_not_written() {
    let (store, published) = store(PackageLayout::Artifact).await;
    let workspace = Workspace::new();
    workspace.lock("1.0.0", &[&published[PLATFORM].zh]);
    let report = locked(&workspace, &store).await.unwrap();
    assert_eq!(report.installed[0].outcome, InstallOutcome::Installed);
    assert!(report.lock.get(&address()).unwrap().hashes.contains(&published[PLATFORM].h1));
}

#[tokio::test]
async fn a_plan_has_the_lock_file_of_the_run_if_the_release_says_the_truth() {
    for layout in [PackageLayout::Artifact, PackageLayout::Image, PackageLayout::Both] {
        let (store, published) = store(layout).await;
        let workspace = Workspace::new();
        let before = planned(&workspace, &store, &workspace.options()).await.unwrap();
        assert_eq!(before.packages[0].claimed, [published[PLATFORM].h1.clone()]);
        assert!(before.packages[0].download > 0);
        let installed = workspace.install(store.clone()).await.unwrap();
        let after = tofu_oci_lockfile::read(&workspace.lock_path()).unwrap();
        assert_eq!(&before.lock, after.file(), "{layout:?}");
        assert_eq!(before.packages[0].installed.path, installed.path);
        let settled = planned(&workspace, &store, &workspace.options()).await.unwrap();
        assert_eq!(settled.packages[0].installed.outcome, InstallOutcome::AlreadyInstalled);
        assert_eq!((settled.packages[0].download, &settled.lock), (0, after.file()));
    }
}

#[tokio::test]
async fn a_plan_has_no_checksum_that_the_release_does_not_name() {
    for (layout, lines) in [(PackageLayout::Artifact, Some(2)), (PackageLayout::Image, None)] {
        let store = Arc::new(MemoryStore::new("memory".parse().unwrap()));
        publish(&*store, "1.0.0", layout, Annotations::None).await;
        let workspace = Workspace::new();
        let planned = planned(&workspace, &store, &workspace.options()).await.unwrap();
        assert_eq!(planned.lock.get(&address()).map(|entry| entry.hashes.len()), lines, "{layout:?}");
        assert!(planned.packages[0].claimed.is_empty());
    }
}

/// Installs 1.0.0, then publishes 1.1.0 and upgrades; the platforms of each new entry that is for few.
async fn upgraded(policy: &Arc<Policy>, signed: bool) -> [Vec<String>; 3] {
    let store = Arc::new(MemoryStore::new("memory".parse().unwrap()));
    let workspace = Workspace::new();
    let mut narrow = Vec::new();
    for version in ["1.0.0", "1.1.0", "1.1.0"] {
        if narrow.len() < 2 {
            publish(&*store, version, PackageLayout::Artifact, Annotations::All).await;
            if signed {
                sign(&store, version).await;
            }
        }
        let mut options = workspace.options();
        options.trust.policy = Arc::clone(policy);
        let mut job = workspace.job(store.clone());
        job.upgrade = Upgrade::Newest;
        let report = install(&[job], &options, &workspace.reporter).await.unwrap();
        narrow.push(report.narrow.iter().flat_map(|entry| &entry.platforms).map(ToString::to_string).collect());
    }
    narrow.try_into().unwrap()
}

#[tokio::test]
async fn an_entry_for_one_platform_is_noted_once_unless_a_signature_covers_all() {
    let one = vec![PLATFORM.to_owned()];
    assert_eq!(upgraded(&Arc::default(), false).await, [one.clone(), one, Vec::new()]);
    assert_eq!(upgraded(&policy(""), true).await, [Vec::<String>::new(), Vec::new(), Vec::new()]);
}

#[tokio::test]
async fn manifest_lines_that_are_off_are_not_written_and_leave_an_entry() {
    let (store, published) = store(PackageLayout::Artifact).await;
    let workspace = Workspace::new();
    let Some(ch) = published[PLATFORM].ch.values().next() else { panic!("it has a leaf") };
    workspace.lock("1.0.0", &[&published[PLATFORM].h1, &published[PLATFORM].zh, ch]);
    let mut options = workspace.options();
    options.trust.policy = off();
    install(&[workspace.job(store)], &options, &workspace.reporter).await.unwrap();
    assert_eq!(workspace.locked(), [published[PLATFORM].h1.to_string(), published[PLATFORM].zh.to_string()]);
}

#[test]
fn an_entry_of_manifests_alone_keeps_them() {
    let read = |hashes: &str| {
        let text = format!("provider \"{ADDRESS}\" {{\n  version = \"1.0.0\"\n  hashes = [{hashes}]\n}}\n");
        LockFile::parse(&text).unwrap().remove(&address()).unwrap().without_manifests().hashes.len()
    };
    assert_eq!(read("\"ch:sha256:a\""), 1);
    assert_eq!(read("\"ch:sha256:a\", \"zh:a\""), 1);
    assert_eq!(read("\"ch:sha256:a\", \"x:a\", \"h1:a\""), 2);
}
