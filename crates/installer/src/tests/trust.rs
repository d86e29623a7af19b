//! Installations of signed and unsigned releases, and of a tag that moved.

use std::fs;
use std::sync::Arc;

use tofu_oci_fetch::{FetchError, pin_file};
use tofu_oci_layout::PackageLayout;
use tofu_oci_source::{Failure, NotRead};
use tofu_oci_store::MemoryStore;
use tofu_oci_trust::{Policy, Standing};

use super::fixture::{Annotations, PLATFORM, Workspace, address, publish, store, with_causes};
use super::signing::{index, policy, sign, sign_as};
use crate::{InstallError, InstallOutcome, InstallRequest, InstallTarget, Installed, PluginCache, Upgrade, install};

/// Installs from the store by a policy; returns the code of a refusal.
async fn attempt(workspace: &Workspace, store: &Arc<MemoryStore>, policy: &Arc<Policy>) -> Result<Installed, String> {
    let job = workspace.job(store.clone());
    run(workspace, job, policy).await
}

async fn run(workspace: &Workspace, job: InstallRequest, policy: &Arc<Policy>) -> Result<Installed, String> {
    let mut options = workspace.options();
    options.trust.policy = Arc::clone(policy);
    let (before, downloads) = (workspace.snapshot(), workspace.reporter.downloads());
    match install(&[job], &options, &workspace.reporter).await {
        Ok(mut report) => Ok(report.installed.remove(0)),
        Err(error @ InstallError::Fetch(FetchError::Untrusted { .. })) => {
            assert_eq!(workspace.reporter.downloads(), downloads, "it is refused before anything is downloaded");
            assert_eq!(workspace.snapshot(), before, "a refusal changes nothing");
            Err(error.code().to_owned())
        }
        Err(error) => panic!("{}", with_causes(&error)),
    }
}

fn standing(installed: &Installed) -> (Standing, Vec<&str>) {
    let trust = installed.trust.as_ref().unwrap();
    (trust.standing, trust.signers.iter().map(|signer| signer.name.as_str()).collect())
}

#[tokio::test]
async fn what_a_signature_covers_is_recorded_for_all_platforms() {
    for (annotations, lines) in [(Annotations::All, 6), (Annotations::None, 5)] {
        let store = Arc::new(MemoryStore::new("memory".parse().unwrap()));
        let published = publish(&*store, "1.0.0", PackageLayout::Artifact, annotations).await;
        sign(&store, "1.0.0").await;
        let workspace = Workspace::new();
        let installed = attempt(&workspace, &store, &policy("")).await.unwrap();
        assert_eq!(standing(&installed), (Standing::Signed, vec!["acme"]));
        let locked = workspace.locked();
        // Without annotations the other platform's h1 is unknown.
        assert_eq!(locked.len(), lines);
        for own in published.values() {
            assert!(locked.contains(&own.zh.to_string()));
            assert!(own.ch.values().all(|ch| locked.contains(&ch.to_string())));
        }
    }
}

#[tokio::test]
async fn the_contents_of_an_image_have_no_zip() {
    let (store, _) = store(PackageLayout::Image).await;
    sign(&store, "1.0.0").await;
    let workspace = Workspace::new();
    attempt(&workspace, &store, &policy("")).await.unwrap();
    let schemes: Vec<String> = workspace.locked().iter().map(|line| line[..2].to_owned()).collect();
    assert_eq!(schemes, ["ch", "ch", "h1", "h1"]);
}

#[tokio::test]
async fn without_a_signature_only_what_was_verified_is_recorded() {
    let (store, _) = store(PackageLayout::Artifact).await;
    let workspace = Workspace::new();
    let installed = attempt(&workspace, &store, &Arc::default()).await.unwrap();
    assert_eq!(standing(&installed), (Standing::Unsigned, vec![]));
    assert_eq!(workspace.locked().len(), 3);
    let pins = pin_file::read(&workspace.trust().pins_path).unwrap();
    let pin = pins.get(&address(), &"1.0.0".parse().unwrap(), &"memory".parse().unwrap()).unwrap();
    assert_eq!((&pin.index, pin.signers.len()), (&index(&store, "1.0.0").await, 0));
}

#[tokio::test]
async fn a_policy_with_keys_refuses_what_is_not_signed_so() {
    let (store, _) = store(PackageLayout::Artifact).await;
    let workspace = Workspace::new();
    assert_eq!(attempt(&workspace, &store, &policy("")).await.unwrap_err(), "unsigned");
    sign_as(&store, "1.0.0", &"registry.example.test/acme/gadget".parse().unwrap(), "1.0.0").await;
    assert_eq!(attempt(&workspace, &store, &policy("")).await.unwrap_err(), "other-provider");
    let (store, _) = super::fixture::store(PackageLayout::Artifact).await;
    sign_as(&store, "1.0.0", &address(), "1.0.1").await;
    assert_eq!(attempt(&workspace, &store, &policy("")).await.unwrap_err(), "other-version");
    let (bare, _) = super::fixture::store(PackageLayout::Artifact).await;
    let installed = attempt(&workspace, &bare, &policy("unsigned = \"allow\"")).await.unwrap();
    assert_eq!(standing(&installed), (Standing::Unsigned, vec![]));
}

#[tokio::test]
async fn what_was_signed_does_not_become_unsigned() {
    let (signed, _) = store(PackageLayout::Artifact).await;
    sign(&signed, "1.0.0").await;
    let workspace = Workspace::new();
    attempt(&workspace, &signed, &policy("")).await.unwrap();

    // The signature is deleted, and every line of the lock file; the policy is gone, too.
    let (bare, _) = store(PackageLayout::Artifact).await;
    fs::remove_file(workspace.lock_path()).unwrap();
    let installed = attempt(&workspace, &bare, &Arc::default()).await.unwrap();
    assert_eq!(standing(&installed), (Standing::Pinned, vec!["acme"]));
    assert_eq!(workspace.locked().len(), 6, "what was covered before is covered now");

    // A newer version without a signature.
    publish(&*bare, "1.1.0", PackageLayout::Artifact, Annotations::All).await;
    let mut job = workspace.job(bare.clone());
    job.upgrade = crate::Upgrade::Newest;
    assert_eq!(run(&workspace, job.clone(), &Arc::default()).await.unwrap_err(), "was-signed");
    sign(&bare, "1.1.0").await;
    // By the key that the pins remember.
    assert_eq!(standing(&run(&workspace, job, &Arc::default()).await.unwrap()), (Standing::Signed, vec!["acme"]));
}

#[tokio::test]
async fn a_tag_that_moved_is_refused() {
    let (first, _) = store(PackageLayout::Artifact).await;
    let workspace = Workspace::new();
    attempt(&workspace, &first, &Arc::default()).await.unwrap();
    // Equal packages, equal leaves; another index.
    let second = Arc::new(MemoryStore::new("memory".parse().unwrap()));
    publish(&*second, "1.0.0", PackageLayout::Artifact, Annotations::None).await;
    assert!(
        attempt(&workspace, &second, &Arc::default()).await.is_ok(),
        "what is in its place and locked is not asked for"
    );
    let upgrade = InstallRequest { upgrade: Upgrade::Newest, ..workspace.job(second.clone()) };
    assert_eq!(run(&workspace, upgrade, &Arc::default()).await.unwrap_err(), "moved-tag");
    fs::remove_file(workspace.lock_path()).unwrap();
    assert_eq!(attempt(&workspace, &second, &Arc::default()).await.unwrap_err(), "moved-tag");
    sign(&second, "1.0.0").await;
    assert_eq!(attempt(&workspace, &second, &policy("")).await.unwrap_err(), "moved-tag");
    assert!(attempt(&workspace, &second, &policy("moved_tags = \"allow\"")).await.is_ok());
}

#[tokio::test]
async fn what_is_in_its_place_was_not_asked_for_although_a_rule_demands_signatures() {
    let (first, _) = store(PackageLayout::Artifact).await;
    sign(&first, "1.0.0").await;
    let workspace = Workspace::new();
    attempt(&workspace, &first, &policy("")).await.unwrap();
    let second = Arc::new(MemoryStore::new("memory".parse().unwrap()));
    publish(&*second, "1.0.0", PackageLayout::Artifact, Annotations::None).await;
    sign(&second, "1.0.0").await;
    assert_eq!(attempt(&workspace, &second, &policy("")).await.unwrap_err(), "moved-tag");
}

#[tokio::test]
async fn a_false_annotation_is_not_recorded_whoever_signed_it() {
    let (store, published) = store(PackageLayout::Artifact).await;
    sign(&store, "1.0.0").await;
    let workspace = Workspace::new();
    attempt(&workspace, &store, &policy("")).await.unwrap();
    let mut record = crate::record::ReleaseRecord::new(tofu_oci_trust::ManifestChecksums::Optional);
    let platform = PLATFORM.parse().unwrap();
    let own = &published[PLATFORM];
    let wrong = "h1:47DEQpj8HBSa+/TImW+5JCeuQeRkm5NMpJWZG3hSuFU=".parse().unwrap();
    record.cover(&[(PLATFORM.parse().unwrap(), [wrong, own.zh.clone()].into())].into());
    let hashes = tofu_oci_lockfile::PackageHashes { h1: Some(own.h1.clone()), zh: Some(own.zh.clone()), ch: None };
    record.verify(&platform, &hashes);
    assert_eq!(record.hashes()[&platform], [own.h1.clone(), own.zh.clone()].into());
}

/// Installs into a working directory of its own through the plugin cache of `workspace`.
fn cached_job(workspace: &Workspace, store: &Arc<MemoryStore>) -> InstallRequest {
    let _ = fs::remove_dir_all(workspace.path().join(".terraform"));
    let cache = Some(PluginCache { dir: workspace.path().join("cache"), may_break_lock: false });
    let data_dir = workspace.path().join(".terraform");
    InstallRequest { target: InstallTarget::WorkingDir { data_dir, cache }, ..workspace.job(store.clone()) }
}

#[tokio::test]
async fn a_cached_and_locked_package_does_not_get_around_the_policy() {
    let (store, _) = store(PackageLayout::Artifact).await;
    let workspace = Workspace::new();
    run(&workspace, cached_job(&workspace, &store), &Arc::default()).await.unwrap();
    let again = |policy: Arc<Policy>| {
        let job = cached_job(&workspace, &store);
        let workspace = &workspace;
        async move { run(workspace, job, &policy).await }
    };
    assert_eq!(again(policy("")).await.unwrap_err(), "unsigned");
    let refuse_all = "[[rule]]\nproviders = [\"*/*/*\"]\nunsigned = \"refuse\"\n";
    let refuse_all = Arc::new(Policy::parse(refuse_all).unwrap().resolve(|_| unreachable!()).unwrap());
    assert_eq!(again(refuse_all).await.unwrap_err(), "unsigned");
    // Signed, it is linked after the question, and after that without.
    sign(&store, "1.0.0").await;
    let linked = again(policy("")).await.unwrap();
    assert_eq!((linked.outcome, standing(&linked)), (InstallOutcome::Linked, (Standing::Signed, vec!["acme"])));
    let pinned = again(policy("")).await.unwrap();
    assert_eq!((pinned.outcome, pinned.trust), (InstallOutcome::Linked, None));
    assert_eq!(workspace.reporter.downloads(), 1);
}

#[tokio::test]
async fn an_installed_and_locked_package_does_not_get_around_the_policy_when_the_place_is_away() {
    let (store, _) = store(PackageLayout::Artifact).await;
    let workspace = Workspace::new();
    attempt(&workspace, &store, &Arc::default()).await.unwrap();
    let away = || {
        let failing = NotRead::failing(
            tofu_oci_types::Place::Method("the place".to_owned()),
            Failure::ServerError("500".to_owned()),
        );
        InstallRequest { source: Arc::new(failing), ..workspace.job(store.clone()) }
    };
    let mut options = workspace.options();
    assert!(install(&[away()], &options, &workspace.reporter).await.is_ok());
    options.trust.policy = policy("");
    let error = install(&[away()], &options, &workspace.reporter).await.unwrap_err();
    assert_eq!(error.code(), "server-error");
    sign(&store, "1.0.0").await;
    attempt(&workspace, &store, &policy("")).await.unwrap();
    options.trust.pins = workspace.trust().pins;
    assert!(install(&[away()], &options, &workspace.reporter).await.is_ok(), "the pin vouches for it");
}

#[tokio::test]
async fn a_complete_lock_file_in_a_read_only_folder_is_no_error() {
    let (store, _) = store(PackageLayout::Artifact).await;
    let workspace = Workspace::new();
    attempt(&workspace, &store, &Arc::default()).await.unwrap();
    let mut options = workspace.options();
    options.trust = super::fixture::trust(workspace.path().join("none/.tofu-oci.pins.json"));
    // What is in its place and locked is not asked for without an upgrade.
    assert!(install(&[workspace.job(store.clone())], &options, &workspace.reporter).await.is_ok());
    assert_eq!(workspace.reporter.codes(), Vec::<&str>::new());
    let upgrade = InstallRequest { upgrade: Upgrade::Newest, ..workspace.job(store.clone()) };
    assert!(install(&[upgrade], &options, &workspace.reporter).await.is_ok());
    assert_eq!(workspace.reporter.codes(), ["pins-not-written"]);
    sign(&store, "1.0.0").await;
    options.trust.policy = policy("");
    let error = install(&[workspace.job(store)], &options, &workspace.reporter).await.unwrap_err();
    assert_eq!(error.code(), "pin-file", "a signature would be forgotten");
}
