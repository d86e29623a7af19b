//! Versions that the entry of the provider's predecessor chooses, and removed entries.

use std::collections::BTreeSet;
use std::sync::Arc;

use tofu_oci_layout::PackageLayout;
use tofu_oci_lockfile::{LockEntry, LockFile};
use tofu_oci_source::{OciSource, Source};
use tofu_oci_store::MemoryStore;
use tofu_oci_types::Constraints;

use super::fixture::{Annotations, Workspace, publish, with_causes};
use super::interleaving_source::{InterleavingSource, write_entry};
use crate::{
    InstallError, InstallRequest, LockOptions, LockRequest, LockWrite, PlatformChoice, Upgrade, install, lock,
};

const OLD: &str = "registry.terraform.io/hashicorp/widget";
const NEW: &str = "registry.opentofu.org/hashicorp/widget";
const STRANGER: &str = "registry.example.test/acme/other";
const OTHER_H1: &str = "h1:AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA=";
const WRONG_H1: &str = "h1:47DEQpj8HBSa+/TImW+5JCeuQeRkm5NMpJWZG3hSuFU=";

/// What runs.
#[derive(Clone, Copy)]
enum Verb {
    Install,
    Lock,
}

/// A place with three versions and a folder where these are locked.
async fn scene(locked: &[(&str, &str)]) -> (Arc<MemoryStore>, Workspace) {
    let store = Arc::new(MemoryStore::new("memory".parse().unwrap()));
    for version in ["1.0.0", "1.1.0", "1.2.0"] {
        publish(&*store, version, PackageLayout::Artifact, Annotations::All).await;
    }
    let workspace = Workspace::new();
    let mut file = LockFile::default();
    for (address, version) in locked {
        let mut entry = LockEntry::new(version.parse().unwrap(), ">= 0.1.0".parse().unwrap());
        entry.hashes.insert(WRONG_H1.parse().unwrap());
        file.insert(address.parse().unwrap(), entry);
    }
    tofu_oci_lockfile::read(&workspace.lock_path()).unwrap().write(&file).unwrap();
    (store, workspace)
}

/// Every entry of the lock file: its type's host, version, constraints, and how many checksums it has.
fn entries(workspace: &Workspace) -> String {
    let lock = tofu_oci_lockfile::read(&workspace.lock_path()).unwrap();
    let entry = |(address, entry): (&tofu_oci_types::ProviderAddr, &LockEntry)| {
        format!("{} {} `{}` {}", address.hostname().display(), entry.version, entry.constraints, entry.hashes.len())
    };
    lock.file().iter().map(entry).collect::<Vec<_>>().join("; ")
}

#[track_caller]
fn check(locked: &[(&str, &str)], constraints: &str, upgrade: Upgrade, want: &str) {
    let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(1).enable_all().build().unwrap();
    for verb in [Verb::Install, Verb::Lock] {
        let answer = runtime.block_on(answer(verb, locked, constraints, upgrade));
        let checksums = match verb {
            Verb::Install => "3",
            Verb::Lock => "6",
        };
        assert_eq!(answer, want.replace("ALL", checksums));
    }
}

async fn answer(verb: Verb, locked: &[(&str, &str)], constraints: &str, upgrade: Upgrade) -> String {
    let (store, workspace) = scene(locked).await;
    let done = run(verb, &workspace, Arc::new(OciSource::new(store)), constraints.parse().unwrap(), upgrade).await;
    // The place has the packages under an address of its own, as a mirror does.
    let codes: Vec<&str> = workspace.reporter.codes().into_iter().filter(|code| *code != "other-address").collect();
    let codes = codes.join(", ");
    match done {
        Ok(()) => format!("{} ({codes})", entries(&workspace)),
        Err(error) => format!("{}: {} ({codes})", error.code(), with_causes(&error)),
    }
}

async fn run(
    verb: Verb,
    workspace: &Workspace,
    source: Arc<dyn Source>,
    constraints: Constraints,
    upgrade: Upgrade,
) -> Result<(), InstallError> {
    let address = NEW.parse().unwrap();
    match verb {
        Verb::Install => {
            let job = workspace.job(Arc::new(MemoryStore::new("nobody asks".parse().unwrap())));
            workspace.run(vec![InstallRequest { address, constraints, source, upgrade, ..job }]).await.map(|_| ())
        }
        Verb::Lock => {
            let job = LockRequest { address, constraints, source, platforms: PlatformChoice::Offered, upgrade };
            let scratch = workspace.path().join("scratch");
            std::fs::create_dir(&scratch).unwrap();
            let options = LockOptions::new(workspace.lock_path(), LockWrite::Write, scratch, workspace.trust());
            lock(vec![job], &options, &workspace.reporter).await.map(|_| ())
        }
    }
}

#[test]
fn a_team_that_migrates_keeps_its_versions() {
    const WARNED: &str = "(locked-by-predecessor)";
    let old = |version| format!("registry.terraform.io {version} `>= 0.1.0` 1");
    let keep = Upgrade::KeepLocked;
    for (locked, constraints, upgrade, want) in [
        (&[(OLD, "1.0.0")][..], "", keep, format!("registry.opentofu.org 1.0.0 `` ALL; {} {WARNED}", old("1.0.0"))),
        (
            &[(OLD, "1.1.0")],
            "~> 1.0",
            keep,
            format!("registry.opentofu.org 1.1.0 `~> 1.0` ALL; {} {WARNED}", old("1.1.0")),
        ),
        (
            &[(OLD, "1.0.0")],
            "~> 1.0",
            Upgrade::Newest,
            format!("registry.opentofu.org 1.2.0 `~> 1.0` ALL; {} ()", old("1.0.0")),
        ),
        (
            &[(OLD, "1.0.0")],
            ">= 1.1.0",
            keep,
            format!(
                "locked-version-conflict: {NEW} is locked at 1.0.0 by the entry of {OLD}, which does not meet `>= 1.1.0` {WARNED}"
            ),
        ),
        (
            &[(OLD, "0.9.0")],
            "",
            keep,
            format!(
                "locked-version-gone: {NEW} is locked at 0.9.0 by the entry of {OLD}, which memory does not have {WARNED}"
            ),
        ),
        (
            &[(STRANGER, "1.0.0")],
            "",
            keep,
            "registry.example.test 1.0.0 `>= 0.1.0` 1; registry.opentofu.org 1.2.0 `` ALL ()".to_owned(),
        ),
    ] {
        check(locked, constraints, upgrade, &want);
    }
}

#[tokio::test]
async fn the_predecessor_is_reported_once_although_another_program_changes_the_entry_meanwhile() {
    for verb in [Verb::Install, Verb::Lock] {
        let (store, workspace) = scene(&[(OLD, "1.0.0")]).await;
        let path = workspace.lock_path();
        let source =
            InterleavingSource::before_release(store.clone(), move || write_entry(&path, OLD, "1.0.0", OTHER_H1));
        let answer = run(verb, &workspace, source, Constraints::any(), Upgrade::KeepLocked).await;
        answer.unwrap_or_else(|error| panic!("{}", with_causes(&error)));
        let codes = workspace.reporter.codes();
        assert_eq!(codes.iter().filter(|code| **code == "locked-by-predecessor").count(), 1, "{codes:?}");
    }
}

#[tokio::test]
async fn forgotten_entries_go_when_the_lock_file_is_written_and_never_before() {
    let (store, workspace) = scene(&[(OLD, "1.0.0"), (STRANGER, "2.0.0")]).await;
    let mut options = workspace.options();
    options.forget = BTreeSet::from([OLD.parse().unwrap(), STRANGER.parse().unwrap()]);
    let before = workspace.snapshot();
    let job = InstallRequest { address: NEW.parse().unwrap(), ..workspace.job(store) };
    let failing = InstallRequest { constraints: "> 9.0.0".parse().unwrap(), ..job.clone() };
    install(&[failing], &options, &workspace.reporter).await.expect_err("there is no such version");
    assert_eq!(workspace.snapshot(), before, "a failed installation writes nothing");
    install(&[job], &options, &workspace.reporter).await.unwrap();
    assert_eq!(entries(&workspace), "registry.opentofu.org 1.0.0 `` 3", "its version was taken over before it went");
    options.forget = BTreeSet::from([NEW.parse().unwrap()]);
    install(&[], &options, &workspace.reporter).await.unwrap();
    assert_eq!(entries(&workspace), "", "nothing is required any more");
}
