//! The checksums of a release in a registry, over packages that are served.

use tofu_oci_packer::PackageLayout;
use tofu_oci_source::{OciSource, Source as _};
use tofu_oci_testkit::{Fault, Registry, Rule};
use tofu_oci_types::Platform;

use super::*;
use crate::ServedPackage;
use crate::packages::tests::{Bench, options};

const SUMS: &str = "terraform-provider-zap_1.0.0_SHA256SUMS";

/// The `SHA256SUMS` of all zips in a folder, with its signature and the publisher's key beside it.
fn sign(folder: &Path, publisher: &OpenPgpSecretKey) -> String {
    let files = std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path());
    let zips: Vec<_> = files.filter(|path| path.extension().is_some_and(|end| end == "zip")).collect();
    let line = |path: &std::path::PathBuf| {
        let name = path.file_name().unwrap().to_str().unwrap().to_owned();
        let platform = tofu_oci_types::ZipName::parse(&name).unwrap().platform.parse().unwrap();
        let bytes = std::fs::read(path).unwrap();
        (platform, SumsZip { name, digest: Digest::sha256(&bytes), size: bytes.len() as u64 })
    };
    let text = SumsLines::new(zips.iter().map(line)).to_string();
    std::fs::write(folder.join(SUMS), &text).unwrap();
    std::fs::write(folder.join(format!("{SUMS}.sig")), publisher.sign(text.as_bytes())).unwrap();
    std::fs::write(folder.join("publisher.asc"), publisher.public()).unwrap();
    text
}

/// A registry with a release of a publisher who has signed the zips.
async fn signed(layout: PackageLayout) -> (Bench, String) {
    let written = Mutex::default();
    let more = |folder: &Path| *written.lock().unwrap() = sign(folder, &key("subkey.asc"));
    let bench = Bench::prepared(Registry::start(), layout, more).await;
    (bench, written.into_inner().unwrap())
}

/// The release as the catalog gives it.
async fn released(bench: &Bench) -> ServedRelease {
    let (address, version) = ("example.com/acme/zap".parse().unwrap(), "1.0.0".parse().unwrap());
    let release = OciSource::new(Arc::new(bench.store())).release(&address, &version).await.unwrap();
    let mut packages = std::collections::BTreeMap::new();
    for platform in ["darwin_arm64", "linux_amd64"] {
        let platform: Platform = platform.parse().unwrap();
        let offer = Arc::clone(&release).offer(&platform).await.unwrap();
        packages.insert(platform, ServedPackage { offer, hashes: Vec::new() });
    }
    ServedRelease { address, version, release, protocols: Vec::new(), packages, created: None }
}

/// What an instance answers that has this key, and nothing in its cache.
async fn instance(bench: &Bench, key: Option<OpenPgpSecretKey>) -> Result<Arc<ReleaseSums>, Refusal> {
    let cache = tempfile::tempdir().unwrap();
    let packages = Packages::new(options(cache.path()));
    SumsSigner::new(key).sums(&released(bench).await, &packages).await
}

/// The text of checksums that the bridge has signed itself.
fn own_text(sums: &ReleaseSums) -> String {
    let text = String::from_utf8(sums.text.to_vec()).unwrap();
    assert_eq!(served(Some(sums), &text), key("ed25519.asc").key_id());
    text
}

#[tokio::test]
async fn what_the_publisher_signed_is_served_with_and_without_a_key() {
    let (bench, text) = signed(PackageLayout::Artifact).await;
    for own in [None, Some(key("ed25519.asc"))] {
        let sums = instance(&bench, own).await.unwrap();
        assert_eq!(served(Some(&sums), &text), key("subkey.asc").key_id());
    }
}

#[tokio::test]
async fn two_instances_sign_every_platform_with_the_same_bytes() {
    let bench = Bench::prepared(Registry::start(), PackageLayout::Artifact, |_| {}).await;
    let first = instance(&bench, Some(key("ed25519.asc"))).await.unwrap();
    let text = own_text(&first);
    let names: Vec<&str> = text.lines().filter_map(|line| line.split_once("  ")).map(|(_, name)| name).collect();
    assert_eq!(
        names,
        ["terraform-provider-zap_1.0.0_darwin_arm64.zip", "terraform-provider-zap_1.0.0_linux_amd64.zip"]
    );
    assert_eq!(instance(&bench, Some(key("ed25519.asc"))).await.unwrap(), first);
}

#[tokio::test]
async fn zips_that_are_made_of_images_are_signed_by_the_bridge() {
    let bench = Bench::prepared(Registry::start(), PackageLayout::Image, |_| {}).await;
    let first = instance(&bench, Some(key("ed25519.asc"))).await.unwrap();
    assert_eq!(own_text(&first).lines().count(), 2);
    assert_eq!(instance(&bench, Some(key("ed25519.asc"))).await.unwrap(), first);
    let without = instance(&bench, None).await.unwrap_err();
    assert!(matches!(without, Refusal::NoSigningKey { .. }), "{without:?}");
}

#[tokio::test]
async fn what_the_publisher_signed_is_served_if_the_zips_of_images_are_the_same() {
    let (bench, text) = signed(PackageLayout::Image).await;
    let sums = instance(&bench, Some(key("ed25519.asc"))).await.unwrap();
    assert_eq!(served(Some(&sums), &text), key("subkey.asc").key_id());
}

#[tokio::test]
async fn evidence_that_cannot_be_read_is_an_error_and_no_reason_to_sign() {
    let (bench, text) = signed(PackageLayout::Artifact).await;
    let (release, signer) = (released(&bench).await, SumsSigner::new(Some(key("ed25519.asc"))));
    let cache = tempfile::tempdir().unwrap();
    let packages = Packages::new(options(cache.path()));
    bench.registry.fault(Rule::on("GET", "*").then(Fault::status(403, "DENIED")));
    let refused = signer.sums(&release, &packages).await.unwrap_err();
    assert!(matches!(refused, Refusal::Upstream { .. }), "{refused:?}");
    bench.registry.clear_faults();
    // The failure is not kept.
    let sums = signer.sums(&release, &packages).await.unwrap();
    assert_eq!(served(Some(&sums), &text), key("subkey.asc").key_id());
}

#[tokio::test]
async fn without_a_signature_and_a_key_the_operator_learns_what_to_do() {
    let bench = Bench::prepared(Registry::start(), PackageLayout::Artifact, |_| {}).await;
    let refused = instance(&bench, None).await.unwrap_err().to_string();
    assert_eq!(
        refused,
        "the checksums of example.com/acme/zap 1.0.0 have no signature of its publisher, and this server has no key to \
         sign them: its operator can make one with `tofu-oci serve --new-key FILE`, and name the file as `signing_key`"
    );
}
