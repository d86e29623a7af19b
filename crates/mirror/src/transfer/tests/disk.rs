//! Packages that are verified on disk before they are sent.

use super::*;

fn h1(bytes: &[u8]) -> PackageHash {
    let file = tempfile::NamedTempFile::new().unwrap();
    std::fs::write(file.path(), bytes).unwrap();
    tofu_oci_archive::read_zip(file.path(), &Limits::default()).unwrap().h1()
}

#[tokio::test]
async fn a_package_of_unknown_size_is_verified_first_and_its_contents_are_named() {
    let carried = Carried::new();
    let release = Arc::new(OfferedRelease::new("1.4.0", BOTH).with("linux_amd64", |package| package.asked = None));
    carried.carry(&release).await.unwrap();
    let about = carried.release("1.4.0").await.describe().await.unwrap().clone();
    let (linux, darwin) = ("linux_amd64".parse().unwrap(), "darwin_arm64".parse().unwrap());
    assert!(about.claims[&linux].contains(&h1(&release.zip("linux_amd64").zip)));
    assert!(!about.claims[&darwin].contains(&h1(&release.zip("darwin_arm64").zip)));
}

#[tokio::test]
async fn one_checksum_that_its_place_names_must_match() {
    let zip = OfferedRelease::new("1.4.0", BOTH).zip("linux_amd64").zip.clone();
    for (allowed, want) in [(h1(&zip), None), (h1(b_zip()), Some("mirror-hash-mismatch"))] {
        let carried = Carried::new();
        let release = OfferedRelease::new("1.4.0", BOTH).with("linux_amd64", |package| {
            (package.digest, package.allowed) = (None, vec![allowed]);
        });
        let done = carried.carry(&Arc::new(release)).await;
        assert_eq!(done.as_ref().err().map(MirrorError::code), want, "{done:?}");
        assert_eq!(carried.tags().is_empty(), want.is_some());
    }
}

/// The zip of another package.
fn b_zip() -> &'static [u8] {
    Box::leak(tofu_oci_testkit::ProviderZip::new("zap", "9.9.9", "linux_amd64").build().into_boxed_slice())
}

#[tokio::test]
async fn a_package_known_by_its_contents_alone_is_recognised_without_a_download() {
    let carried = Carried::new();
    let known = |package: &mut OfferedPackage| {
        (package.digest, package.allowed) = (None, vec![h1(&package.zip)]);
    };
    let release = || Arc::new(OfferedRelease::new("1.4.0", &["linux_amd64"]).with("linux_amd64", known));
    carried.carry(&release()).await.unwrap();
    carried.requests();
    let again = release();
    assert!(carried.carry(&again).await.unwrap().unchanged);
    assert_eq!((again.opened(), carried.requests().len()), (0, 1));
}

#[tokio::test]
async fn what_is_no_zip_is_refused_before_anything_is_sent() {
    let carried = Carried::new();
    let release = OfferedRelease::new("1.4.0", BOTH).with("linux_amd64", |package| {
        *package = OfferedPackage { asked: None, ..OfferedPackage::of(b"<html>not here</html>".to_vec()) };
    });
    let error = carried.carry(&Arc::new(release)).await.unwrap_err();
    insta::assert_snapshot!(told(&error), @"bad-zip: the package of example.com/acme/zap 1.4.0 for linux_amd64 cannot be installed: this is not a zip archive");
    assert!(carried.requests().iter().all(|request| request.starts_with("GET ")));
}

#[tokio::test]
async fn an_unpacked_folder_becomes_a_zip_and_the_next_run_finds_it() {
    let (_folder, path) = folder_of(&[("terraform-provider-zap_v1.4.0", b"program")]);
    let carried = Carried::new();
    let release = || {
        let release = OfferedRelease::new("1.4.0", &["linux_amd64"]);
        Arc::new(release.with("linux_amd64", |package| package.folder = Some(path.clone())))
    };
    carried.carry(&release()).await.unwrap();
    assert_eq!(*carried.heard.0.lock().unwrap(), ["zip-made-here"]);
    assert_eq!(carried.tags(), ["1.4.0"]);
    assert!(carried.carry(&release()).await.unwrap().unchanged);
}
