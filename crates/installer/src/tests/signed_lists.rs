//! Releases beside a `SHA256SUMS` that covers none or some of their packages, if unsigned ones are allowed.

use std::sync::Arc;
use std::time::{Duration, UNIX_EPOCH};

use tofu_oci_fetch::pin_file;
use tofu_oci_layout::PackageLayout;
use tofu_oci_store::{MemoryStore, ReadStore as _, Store as _};
use tofu_oci_testkit::{Inline, Referrer};
use tofu_oci_trust::{Policy, Standing};
use tofu_oci_types::{PackageHash, Reference, Tag};

use super::fixture::{ADDRESS, Annotations, PLATFORM, Workspace, address, publish};
use super::signing::{self, sign};
use crate::{InstallError, InstallRequest, Installed, install};

fn file(name: &str) -> Vec<u8> {
    std::fs::read(format!("{}/../../testdata/trust/gpg/{name}", env!("CARGO_MANIFEST_DIR"))).unwrap()
}

/// A rule for the one certificate that has signed the list of `widget 1.4.0`.
fn policy(lines: &str) -> Arc<Policy> {
    let text = format!(
        "[[key]]\nname = \"g\"\nfile = \"rsa.pgp\"\n\n[[rule]]\nproviders = [\"registry.example.test/acme/*\"]\n\
         keys = [\"g\"]\n{lines}\n"
    );
    Arc::new(Policy::parse(&text).unwrap().resolve(|_| Ok(file("rsa.pgp"))).unwrap())
}

/// A release of 1.4.0, with the publisher's own list as its referrer.
async fn beside_a_list(layout: PackageLayout, annotations: Annotations) -> Arc<MemoryStore> {
    let store = Arc::new(MemoryStore::new("memory".parse().unwrap()));
    publish(&*store, "1.4.0", layout, annotations).await;
    let tag = Tag::for_version(&"1.4.0".parse().unwrap()).unwrap();
    let index = store.resolve(&Reference::Tag(tag)).await.unwrap();
    let referrer = Referrer::sums(&index, &file("SHA256SUMS"), &file("rsa.sig"), Inline::Yes);
    for (descriptor, bytes) in referrer.blobs() {
        store.push(&descriptor, &bytes).await.unwrap();
    }
    store.push(&referrer.descriptor(), &referrer.manifest()).await.unwrap();
    store
}

async fn run(workspace: &Workspace, job: InstallRequest, policy: &Arc<Policy>) -> Result<Installed, InstallError> {
    let mut options = workspace.options();
    options.trust.policy = Arc::clone(policy);
    options.trust.now = UNIX_EPOCH + Duration::from_hours(490_908);
    install(&[job], &options, &workspace.reporter).await.map(|mut report| report.installed.remove(0))
}

/// The signed referrer of a release of archives, grafted onto another release.
#[tokio::test]
async fn images_beside_a_genuine_list_of_archives_are_installed_with_a_warning_and_pinned_as_unsigned() {
    for annotations in [Annotations::All, Annotations::None] {
        let store = beside_a_list(PackageLayout::Image, annotations).await;
        let workspace = Workspace::new();
        let installed = run(&workspace, workspace.job(store.clone()), &policy("unsigned = \"warn\"")).await.unwrap();
        assert_eq!(installed.trust.unwrap().standing, Standing::Unsigned);
        assert_eq!(workspace.reporter.codes(), ["unsigned"]);
        let pins = pin_file::read(&workspace.trust().pins_path).unwrap();
        assert_eq!(pins.iter().map(|pin| pin.signers.len()).collect::<Vec<_>>(), [0]);
        assert_eq!(pins.signed(&address()), None, "no key has signed a package of it");

        let refusing = Workspace::new();
        let error = run(&refusing, refusing.job(store), &policy("")).await.unwrap_err();
        assert_eq!(error.code(), "unsigned");
    }
}

/// Pins by which the archive of `PLATFORM` was signed, and the other platform's was not.
async fn signed_in_part() -> (Workspace, Arc<MemoryStore>) {
    let store = Arc::new(MemoryStore::new("memory".parse().unwrap()));
    publish(&*store, "1.0.0", PackageLayout::Artifact, Annotations::None).await;
    sign(&store, "1.0.0").await;
    let workspace = Workspace::new();
    run(&workspace, workspace.job(store), &signing::policy("")).await.unwrap();
    let store = Arc::new(MemoryStore::new("memory".parse().unwrap()));
    let published = publish(&*store, "1.0.0", PackageLayout::Artifact, Annotations::None).await;
    let own: &PackageHash = &published[PLATFORM].zh;
    let path = workspace.trust().pins_path;
    let mut pins: serde_json::Value = serde_json::from_slice(&std::fs::read(&path).unwrap()).unwrap();
    pins["providers"][0]["signers"][0]["statements"][0]["zips"] = serde_json::json!([own.as_str()]);
    std::fs::write(path, pins.to_string()).unwrap();
    std::fs::remove_file(workspace.lock_path()).unwrap();
    (workspace, store)
}

#[tokio::test]
async fn the_package_that_a_list_does_not_cover_is_installed_with_a_warning() {
    let rule = signing::policy("unsigned = \"warn\"\nunnamed = \"allow\"");
    let (workspace, store) = signed_in_part().await;
    let job = workspace.job(store);
    let other = InstallRequest { platform: "darwin_arm64".parse().unwrap(), ..job.clone() };
    let own = run(&workspace, job, &rule).await.unwrap();
    assert_eq!(own.trust.unwrap().standing, Standing::Pinned, "{ADDRESS} on {PLATFORM}");
    assert_eq!(workspace.reporter.codes(), ["signature-gone"]);
    std::fs::remove_file(workspace.lock_path()).unwrap();
    let uncovered = run(&workspace, other, &rule).await.unwrap();
    assert_eq!(uncovered.trust.unwrap().standing, Standing::Unsigned);
    assert_eq!(workspace.reporter.codes(), ["signature-gone", "signature-gone", "was-signed"]);
}

/// Without annotations, the archives of the release are unknown.
#[tokio::test]
async fn images_are_not_what_the_pin_of_a_list_covers() {
    let store = Arc::new(MemoryStore::new("memory".parse().unwrap()));
    publish(&*store, "1.0.0", PackageLayout::Image, Annotations::None).await;
    sign(&store, "1.0.0").await;
    let workspace = Workspace::new();
    run(&workspace, workspace.job(store), &signing::policy("")).await.unwrap();
    let path = workspace.trust().pins_path;
    let mut pins: serde_json::Value = serde_json::from_slice(&std::fs::read(&path).unwrap()).unwrap();
    let zip = PackageHash::zh(&tofu_oci_types::Digest::sha256(b"zip")).unwrap();
    pins["providers"][0]["signers"][0]["statements"][0]["zips"] = serde_json::json!([zip.as_str()]);
    std::fs::write(path, pins.to_string()).unwrap();
    let bare = Arc::new(MemoryStore::new("memory".parse().unwrap()));
    publish(&*bare, "1.0.0", PackageLayout::Image, Annotations::None).await;
    let rule = signing::policy("unsigned = \"warn\"\nunnamed = \"allow\"");
    run(&workspace, workspace.job(bare), &rule).await.unwrap();
    assert_eq!(workspace.reporter.codes(), ["was-signed"]);
}
