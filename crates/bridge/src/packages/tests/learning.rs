//! The `h1:` of zips that clients got.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::PathBuf;
use std::sync::{Arc, Mutex};

use tofu_oci_packer::PackageLayout;
use tofu_oci_testkit::{Fault, Rule};
use tofu_oci_types::{Digest, Event, PackageHash, Reporter, Scheme};

use super::super::{PackageOptions, Packages, ZipDelivery};
use super::{BLOBS, Bench, linux, options, serve};
use crate::ServedPackage;

/// The warnings so far.
#[derive(Default)]
struct Warnings(Mutex<Vec<String>>);

impl Reporter for Warnings {
    fn event(&self, event: &Event) {
        if let Event::Message { code, text, .. } = event {
            self.0.lock().unwrap().push(format!("{code}: {text}"));
        }
    }
}

/// A process that serves the package for Linux out of the folder of the bench.
struct Process {
    packages: Arc<Packages>,
    warnings: Arc<Warnings>,
    package: ServedPackage,
}

impl Process {
    async fn new(bench: &Bench, delivery: ZipDelivery) -> Self {
        let warnings = Arc::<Warnings>::default();
        let options = PackageOptions { delivery, ..options(bench.cache.path()) };
        let packages = Arc::new(Packages::new(options).learning(Arc::clone(&warnings) as _));
        Self { packages, warnings, package: bench.package("linux_amd64").await }
    }

    /// The zip as a client gets it, and what is known of it afterwards.
    async fn served(&self) -> Option<PackageHash> {
        let site = serve(Arc::clone(&self.packages), self.package.clone()).await;
        let digest = self.packages.zip(&self.package).await.unwrap().digest;
        let _ = site.try_zip().await;
        self.packages.learned.as_ref().unwrap().settled().await;
        self.packages.h1(&digest, None).await
    }

    async fn known(&self, zip: &Digest) -> Option<PackageHash> {
        self.packages.h1(zip, None).await
    }

    fn warnings(&self) -> Vec<String> {
        std::mem::take(&mut self.warnings.0.lock().unwrap())
    }
}

/// What the release claims, which is right.
fn claimed(package: &ServedPackage) -> PackageHash {
    let claims = &package.offer.claims[&package.offer.platform];
    claims.iter().find(|claim| claim.scheme() == Scheme::H1).unwrap().clone()
}

fn note(bench: &Bench, zip: &Digest) -> PathBuf {
    bench.cache.path().join(format!("{}.h1", zip.encoded()))
}

#[tokio::test]
async fn the_h1_of_a_zip_that_a_client_got_is_known_from_then_on_also_after_a_restart() {
    for (layout, delivery) in [
        (PackageLayout::Artifact, ZipDelivery::PassedOn),
        (PackageLayout::Artifact, ZipDelivery::FromCache),
        (PackageLayout::Image, ZipDelivery::PassedOn),
    ] {
        let bench = Bench::new(layout).await;
        let process = Process::new(&bench, delivery).await;
        let h1 = claimed(&process.package);
        let zip = process.packages.zip(&process.package).await.unwrap().digest;
        if layout == PackageLayout::Artifact {
            assert_eq!(process.known(&zip).await, None);
        }
        assert_eq!(process.served().await, Some(h1.clone()), "{layout:?} {delivery:?}");
        assert_eq!(Process::new(&bench, delivery).await.known(&zip).await, Some(h1));
        assert_eq!(process.warnings(), [""; 0]);
    }
}

#[tokio::test]
async fn of_a_zip_that_did_not_come_whole_or_right_nothing_is_known() {
    let bench = Bench::new(PackageLayout::Artifact).await;
    let process = Process::new(&bench, ZipDelivery::PassedOn).await;
    for fault in [Fault::CorruptBody(1000), Fault::CorruptBody(-1), Fault::Disconnect] {
        bench.registry.fault(Rule::on("GET", BLOBS).then(fault.clone()));
        assert_eq!(process.served().await, None, "{fault:?}");
        bench.registry.clear_faults();
    }
    assert_eq!(process.served().await, Some(claimed(&process.package)));
}

#[tokio::test]
async fn a_zip_that_came_faster_than_it_could_be_read_was_never_known() {
    let bench = Bench::new(PackageLayout::Artifact).await;
    let process = Process::new(&bench, ZipDelivery::PassedOn).await;
    process.packages.learned.as_ref().unwrap().forbid_waiting();
    assert_eq!(process.served().await, None);
    assert_eq!(process.packages.kept_bytes(), 0);
    assert_eq!(process.served().await, Some(claimed(&process.package)), "the next client gets it from the disk");
    assert_ne!(process.packages.kept_bytes(), 0);
}

#[tokio::test]
async fn a_wrong_note_is_not_believed() {
    let bench = Bench::new(PackageLayout::Artifact).await;
    let process = Process::new(&bench, ZipDelivery::PassedOn).await;
    let (zip, h1, other) =
        (Digest::sha256(&linux().build()), process.served().await.unwrap(), Digest::sha256(b"other"));
    let right = fs::read_to_string(note(&bench, &zip)).unwrap();
    let wrong = PackageHash::h1(&[7; 32]);
    let replaced = right.replace(h1.as_str(), wrong.as_str());
    for text in [&right[..right.len() - 1], "", "h1:", "h1:x y\n", &replaced, &format!("{right}x"), &"x".repeat(1000)] {
        fs::write(note(&bench, &zip), text).unwrap();
        assert_eq!(Process::new(&bench, ZipDelivery::PassedOn).await.known(&zip).await, None, "{text:?}");
    }
    fs::write(note(&bench, &other), &right).unwrap();
    assert_eq!(process.known(&other).await, None, "it is the note of another zip");
    // Also one that a program made with care counts only until the zip comes along.
    process.packages.folder.note_h1(&zip, &wrong).unwrap();
    let process = Process::new(&bench, ZipDelivery::PassedOn).await;
    assert_eq!(process.known(&zip).await, Some(wrong.clone()));
    assert_eq!(process.packages.h1(&zip, Some(&h1)).await, Some(h1.clone()), "a claim that counts comes before it");
    assert_eq!(process.served().await, Some(h1.clone()));
    let text =
        format!("cache-damaged: the folder of zips says that {zip} has {wrong}, but it has {h1}: the note is replaced");
    assert_eq!(process.warnings(), [text]);
    assert_eq!(fs::read_to_string(note(&bench, &zip)).unwrap(), right);
}

#[tokio::test]
async fn a_zip_was_unpacked_in_each_process_although_its_release_claims_what_was_found() {
    let bench = Bench::new(PackageLayout::Artifact).await;
    let process = Process::new(&bench, ZipDelivery::PassedOn).await;
    let (zip, h1) = (Digest::sha256(&linux().build()), process.served().await.unwrap());
    assert_eq!(h1, claimed(&process.package));
    let wrong = PackageHash::h1(&[7; 32]);
    // What a process has computed counts more than a claim.
    assert_eq!(process.packages.h1(&zip, Some(&wrong)).await, Some(h1.clone()));
    let process = Process::new(&bench, ZipDelivery::PassedOn).await;
    assert_eq!(process.served().await, Some(h1));
    assert_eq!(process.packages.h1(&zip, Some(&wrong)).await, Some(wrong), "it was read again");
}

#[cfg(unix)]
#[tokio::test]
async fn a_note_was_written_through_a_link() {
    let bench = Bench::new(PackageLayout::Artifact).await;
    let process = Process::new(&bench, ZipDelivery::PassedOn).await;
    let zip = Digest::sha256(&linux().build());
    let victim = bench.cache.path().join("victim");
    fs::write(&victim, "kept").unwrap();
    fs::create_dir_all(bench.cache.path()).unwrap();
    std::os::unix::fs::symlink(&victim, note(&bench, &zip)).unwrap();
    assert!(process.served().await.is_some());
    assert_eq!(fs::read_to_string(&victim).unwrap(), "kept");
    assert!(!note(&bench, &zip).is_symlink() && note(&bench, &zip).is_file());
}

#[tokio::test]
async fn a_false_claim_was_given_although_the_zip_was_read() {
    let bench = Bench::new(PackageLayout::Artifact).await;
    let mut process = Process::new(&bench, ZipDelivery::PassedOn).await;
    let (h1, wrong) = (claimed(&process.package), PackageHash::h1(&[7; 32]));
    let platform = process.package.offer.platform.clone();
    process.package.offer.claims = Arc::new(BTreeMap::from([(platform, BTreeSet::from([wrong.clone()]))]));
    let zip = process.packages.zip(&process.package).await.unwrap();
    assert_eq!(process.packages.h1(&zip.digest, Some(&wrong)).await, Some(wrong.clone()));
    process.served().await;
    assert_eq!(process.packages.h1(&zip.digest, Some(&wrong)).await, Some(h1.clone()));
    let text =
        format!("false-claim: {} says that {} has {wrong}, but it has {h1}, which `serve` gives", zip.place, zip.name);
    process.served().await;
    assert_eq!(process.warnings(), [text], "once");
}
