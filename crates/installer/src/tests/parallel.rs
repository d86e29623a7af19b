//! Programs that work in one directory at once.

use std::sync::Arc;
use std::time::Duration;

use tofu_oci_disk::{Lockable, Waiter};
use tofu_oci_layout::PackageLayout;
use tofu_oci_source::Source;
use tofu_oci_store::MemoryStore;
use tofu_oci_types::Constraints;
use tokio::sync::Barrier;

use super::fixture::{ADDRESS, Annotations, PLATFORM, Workspace, address, publish, publish_for, store, told};
use super::meddler::{Meddler, write_entry};
use crate::{InstallRequest, LockOptions, LockRequest, LockWrite, Options, Outcome, Upgrade, Wanted, install, lock};

const OTHER: &str = "registry.example.test/acme/other";
const H1: &str = "h1:AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA=";
const MANY: usize = 10;

fn waiter() -> Waiter {
    Waiter { program: "tofu-oci install".to_owned(), limit: Duration::from_secs(30) }
}

/// The addresses in the lock file.
fn locked(workspace: &Workspace) -> Vec<String> {
    let lock = tofu_oci_lockfile::read(&workspace.lock_path()).unwrap();
    lock.file().iter().map(|(address, entry)| format!("{address} {}", entry.version)).collect()
}

#[tokio::test(start_paused = true)]
async fn an_entry_that_another_program_writes_while_this_one_waits_is_kept() {
    let workspace = Workspace::new();
    let (store, _) = store(PackageLayout::Artifact).await;
    let folder = Lockable::Folder(workspace.path().to_owned());
    let held = tofu_oci_disk::lock(&folder, &waiter(), &|_| ()).await.unwrap();
    let other = async {
        while workspace.reporter.codes() != ["waiting-for-lock"] {
            tokio::time::sleep(Duration::from_millis(100)).await;
        }
        assert_eq!(locked(&workspace), [""; 0], "nothing is written out of turn");
        write_entry(&workspace.lock_path(), OTHER, "3.0.0", H1);
        drop(held);
    };
    let (installed, ()) = tokio::join!(workspace.install(store), other);
    installed.unwrap_or_else(|error| panic!("{}", told(&error)));
    assert_eq!(locked(&workspace), [format!("{OTHER} 3.0.0"), format!("{ADDRESS} 1.0.0")]);
}

#[tokio::test(start_paused = true)]
async fn a_directory_that_stays_locked_is_an_error_that_says_by_whom() {
    let workspace = Workspace::new();
    let (store, _) = store(PackageLayout::Artifact).await;
    let folder = Lockable::Folder(workspace.path().to_owned());
    let _held = tofu_oci_disk::lock(&folder, &waiter(), &|_| ()).await.unwrap();
    let mut options = workspace.options();
    options.waiter = waiter();
    let begin = tokio::time::Instant::now();
    let error = install(&[workspace.job(store)], &options, &workspace.reporter).await.expect_err("it is locked");
    assert_eq!((begin.elapsed(), error.code()), (Duration::from_secs(30), "locked-by-another"));
    let who = format!("{folder} is locked by tofu-oci install (process {} on ", std::process::id());
    assert!(error.to_string().starts_with(&who), "{error}");
    assert_eq!(locked(&workspace), [""; 0]);
}

/// Locks the provider for each of these at once. All have read the lock file before the first one writes it.
async fn lock_at_once(workspace: &Workspace, store: &Arc<MemoryStore>, wanted: Vec<Wanted>) {
    let together = Arc::new(Barrier::new(wanted.len()));
    let scratch = tempfile::tempdir().unwrap();
    let runs = wanted.into_iter().map(|platforms| {
        let (together, scratch) = (Arc::clone(&together), scratch.path().to_owned());
        let source = Meddler::waiting(store.clone(), move || {
            let together = Arc::clone(&together);
            async move {
                _ = together.wait().await;
            }
        });
        let (constraints, upgrade) = (Constraints::any(), Upgrade::KeepLocked);
        let job = LockRequest { address: address(), constraints, source, platforms, upgrade };
        async move {
            let options = LockOptions::new(workspace.lock_path(), LockWrite::Write, scratch, workspace.trust());
            lock(vec![job], &options, &workspace.reporter).await
        }
    });
    for report in futures_util::future::join_all(runs).await {
        report.unwrap_or_else(|error| panic!("{}", told(&error)));
    }
}

#[tokio::test]
async fn ten_locks_of_one_provider_at_once_all_succeed() {
    let workspace = Workspace::new();
    let (store, published) = store(PackageLayout::Artifact).await;
    lock_at_once(&workspace, &store, vec![Wanted::Offered; MANY]).await;
    let locked = workspace.locked();
    assert!(published.values().all(|published| locked.contains(&published.h1.to_string())), "{locked:?}");
    assert_eq!(workspace.reporter.downloads(), MANY * published.len(), "none of them downloads anything twice");
}

#[tokio::test]
async fn ten_locks_for_ten_platforms_at_once_lose_none() {
    let workspace = Workspace::new();
    let platforms: Vec<String> = (0..MANY).map(|number| format!("linux_cpu{number}")).collect();
    let names: Vec<&str> = platforms.iter().map(String::as_str).collect();
    let (store, _) = store(PackageLayout::Artifact).await;
    let published = publish_for(&names, &*store, "2.0.0", PackageLayout::Artifact, Annotations::All).await;
    let wanted = names.iter().map(|name| Wanted::Named(vec![name.parse().unwrap()])).collect();
    lock_at_once(&workspace, &store, wanted).await;
    let locked = workspace.locked();
    let h1: Vec<String> = published.values().map(|published| published.h1.to_string()).collect();
    let missing: Vec<&String> = h1.iter().filter(|h1| !locked.contains(h1)).collect();
    assert_eq!(missing, [""; 0]);
}

#[tokio::test]
async fn ten_installs_of_one_provider_at_once_all_succeed() {
    let workspace = Workspace::new();
    let (store, _) = store(PackageLayout::Artifact).await;
    let together = Arc::new(Barrier::new(MANY));
    let runs = (0..MANY).map(|_| {
        let together = Arc::clone(&together);
        let source: Arc<dyn Source> = Meddler::waiting(store.clone(), move || {
            let together = Arc::clone(&together);
            async move {
                _ = together.wait().await;
            }
        });
        workspace.run(vec![InstallRequest { source, ..workspace.job(store.clone()) }])
    });
    let done = futures_util::future::join_all(runs).await;
    let mut outcomes = Vec::new();
    for done in done {
        let (installed, _) = done.unwrap_or_else(|error| panic!("{}", told(&error)));
        outcomes.push(installed[0].outcome);
    }
    assert_eq!(outcomes.iter().filter(|outcome| **outcome == Outcome::Installed).count(), 1, "{outcomes:?}");
    assert_eq!(locked(&workspace), [format!("{ADDRESS} 1.0.0")]);
}

#[tokio::test]
async fn a_version_that_another_program_locks_meanwhile_is_the_one_to_install() {
    let workspace = Workspace::new();
    let (store, published) = store(PackageLayout::Artifact).await;
    publish(&*store, "2.0.0", PackageLayout::Artifact, Annotations::All).await;
    let (path, h1) = (workspace.lock_path(), published[PLATFORM].h1.to_string());
    let source = Meddler::before_versions(store.clone(), move || write_entry(&path, ADDRESS, "1.0.0", &h1));
    let job = InstallRequest { source, ..workspace.job(store.clone()) };
    let (installed, _) = workspace.run(vec![job]).await.unwrap_or_else(|error| panic!("{}", told(&error)));
    assert_eq!(installed[0].version.to_string(), "1.0.0", "as if it had been locked from the start");
    assert_eq!(locked(&workspace), [format!("{ADDRESS} 1.0.0")]);
}

#[tokio::test]
async fn a_package_that_another_program_locks_otherwise_meanwhile_is_refused() {
    let workspace = Workspace::new();
    let (store, _) = store(PackageLayout::Artifact).await;
    let path = workspace.lock_path();
    let source = Meddler::before_versions(store.clone(), move || write_entry(&path, ADDRESS, "1.0.0", H1));
    let job = InstallRequest { source, ..workspace.job(store.clone()) };
    let error = workspace.run(vec![job]).await.expect_err("both cannot be right");
    assert_eq!(error.code(), "lock-mismatch");
    assert_eq!(workspace.locked(), [H1], "the lock file is as the other one left it");
}

/// Options of a caller that read the lock file when it said this; another program changes it before the installer writes.
fn options_of_an_old_lock_file(workspace: &Workspace, version: &str, h1: &str) -> Options {
    write_entry(&workspace.lock_path(), ADDRESS, version, h1);
    workspace.options()
}

#[tokio::test]
async fn a_version_that_was_locked_after_the_caller_read_the_lock_file_is_not_overwritten() {
    let workspace = Workspace::new();
    let (store, old) = store(PackageLayout::Artifact).await;
    let new = publish(&*store, "2.0.0", PackageLayout::Artifact, Annotations::All).await;
    let options = options_of_an_old_lock_file(&workspace, "1.0.0", &old[PLATFORM].h1.to_string());
    write_entry(&workspace.lock_path(), ADDRESS, "2.0.0", &new[PLATFORM].h1.to_string());
    let report = install(&[workspace.job(store)], &options, &workspace.reporter).await;
    let report = report.unwrap_or_else(|error| panic!("{}", told(&error)));
    assert_eq!(report.installed[0].version.to_string(), "2.0.0");
    assert_eq!(locked(&workspace), [format!("{ADDRESS} 2.0.0")]);
}

#[tokio::test]
async fn checksums_that_were_locked_after_the_caller_read_the_lock_file_bind() {
    let workspace = Workspace::new();
    let (store, published) = store(PackageLayout::Artifact).await;
    let options = options_of_an_old_lock_file(&workspace, "1.0.0", &published[PLATFORM].h1.to_string());
    write_entry(&workspace.lock_path(), ADDRESS, "1.0.0", H1);
    let installed = install(&[workspace.job(store)], &options, &workspace.reporter).await;
    let error = installed.expect_err("both cannot be right");
    assert_eq!(error.code(), "lock-mismatch");
    assert_eq!(workspace.locked(), [H1], "the lock file is as the other one left it");
}
