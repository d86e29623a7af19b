//! Zips that are made, and kept on disk.

use std::fs::{self, File};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::SystemTime;

use bytes::Bytes;
use tofu_oci_packer::PackageLayout;
use tofu_oci_source::FolderSource;
use tofu_oci_store::MemoryStore;
use tofu_oci_testkit::{Fault, Gate, ProviderZip, ReleaseFolder, Rule};
use tofu_oci_types::{Descriptor, Digest, Place};

use super::super::work::LayerContents;
use super::super::zip_folder::CachedZip;
use super::super::{PackageOptions, PackageZip, Packages, ZipBytes, ZipDelivery};
use super::{BLOBS, Bench, answered, digest, head, layer_zip, linux, options, package, serve};
use crate::Refusal;

/// The zips in a folder, and whatever else lies there.
fn files(folder: &Path) -> Vec<PathBuf> {
    let mut files: Vec<PathBuf> = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()).collect();
    files.sort();
    files
}

#[tokio::test]
async fn an_image_is_the_same_zip_everywhere() {
    let bench = Bench::new(PackageLayout::Image).await;
    let site = bench.serve().await;
    let zip = site.zip().await;
    assert_eq!(bench.ranges(), ["-"], "one layer");
    let answer = site.get(&[("range", "bytes=10-19")]).await;
    assert!(head(&answer).starts_with(&format!("206 10 | bytes 10-19/{} | \"{}\" | ", zip.len(), digest(&zip))));
    assert_eq!(answer.bytes().await.unwrap(), zip[10..20]);
    assert!(bench.registry.requests().is_empty());
    let elsewhere = tempfile::tempdir().unwrap();
    let made = Packages::new(options(elsewhere.path())).zip(&bench.package("linux_amd64").await).await.unwrap();
    assert_eq!((made.digest.to_string(), made.size), (digest(&zip), zip.len() as u64));
}

#[tokio::test]
async fn a_made_zip_survives_a_restart_and_other_processes_share_it() {
    let bench = Bench::new(PackageLayout::Image).await;
    let package = bench.package("linux_amd64").await;
    let first = bench.packages(ZipDelivery::PassedOn).zip(&package).await.unwrap();
    bench.registry.fault(Rule::on("GET", BLOBS).then(Fault::Disconnect));
    let again = bench.packages(ZipDelivery::PassedOn).zip(&package).await.unwrap();
    assert_eq!((again.digest, again.size), (first.digest, first.size));
    assert_eq!(bench.packages(ZipDelivery::PassedOn).kept_bytes(), first.size);
    let files = files(bench.cache.path());
    assert_eq!(files.len(), 1, "{files:?}");
}

#[tokio::test]
async fn equal_zips_are_made_once_also_by_two_processes() {
    let bench = Bench::new(PackageLayout::Image).await;
    let package = bench.package("linux_amd64").await;
    let gate = Gate::closed();
    bench.registry.fault(Rule::on("GET", BLOBS).then(Fault::Hold(gate.clone())));
    bench.registry.clear_requests();
    let (one, other) = (bench.packages(ZipDelivery::PassedOn), bench.packages(ZipDelivery::PassedOn));
    let asked = [&one, &one, &other, &other].map(|packages| packages.zip(&package));
    let opening = async {
        gate.arrived(1).await;
        gate.open();
    };
    let (made, ()) = tokio::join!(futures_util::future::join_all(asked), opening);
    let digests: Vec<_> = made.into_iter().map(|zip| zip.unwrap().digest).collect();
    assert!(digests.windows(2).all(|pair| pair[0] == pair[1]));
    assert_eq!(bench.ranges(), ["-"]);
}

#[tokio::test]
async fn a_zip_is_finished_although_its_client_has_gone() {
    let bench = Bench::new(PackageLayout::Image).await;
    let package = bench.package("linux_amd64").await;
    let gate = Gate::closed();
    bench.registry.fault(Rule::on("GET", BLOBS).then(Fault::Hold(gate.clone())));
    bench.registry.clear_requests();
    let packages = bench.packages(ZipDelivery::PassedOn);
    tokio::select! {
        _ = packages.zip(&package) => panic!("the gate is closed"),
        () = gate.arrived(1) => {}
    }
    gate.open();
    packages.zip(&package).await.unwrap();
    assert_eq!(bench.ranges(), ["-"]);
}

#[tokio::test]
async fn a_package_that_cannot_be_fetched_is_an_error_for_whoever_asks() {
    let bench = Bench::new(PackageLayout::Image).await;
    let package = bench.package("linux_amd64").await;
    let packages = bench.packages(ZipDelivery::PassedOn);
    bench.registry.fault(Rule::on("GET", BLOBS).then(Fault::CorruptBody(-1)));
    let Err(Refusal::Upstream { code, .. }) = packages.zip(&package).await else { panic!("it is damaged") };
    assert_eq!(code, "blob-digest-mismatch");
    assert!(files(bench.cache.path()).is_empty());
    bench.registry.clear_faults();
    packages.zip(&package).await.unwrap();
}

#[tokio::test]
async fn a_disk_that_takes_nothing_fails_that_request_alone() {
    let bench = Bench::new(PackageLayout::Image).await;
    let file = bench.cache.path().join("a file");
    fs::write(&file, "").unwrap();
    let packages = Packages::new(options(&file));
    let Err(refusal) = packages.zip(&bench.package("linux_amd64").await).await else {
        panic!("a file is not a folder")
    };
    assert_eq!(refusal.code(), "io", "{refusal}");
    assert!(!refusal.to_string().contains(file.to_str().unwrap()), "clients read it: {refusal}");
}

#[tokio::test]
async fn the_zip_that_was_used_longest_ago_goes_and_one_in_use_stays() {
    let bench = Bench::new(PackageLayout::Image).await;
    let (linux, darwin) = (bench.package("linux_amd64").await, bench.package("darwin_arm64").await);
    let small = PackageOptions { cache_bytes: 200_000, ..options(bench.cache.path()) };
    let packages = Packages::new(small);
    let held = packages.zip(&linux).await.unwrap();
    let other = packages.zip(&darwin).await.unwrap();
    assert_eq!(files(bench.cache.path()).len(), 2, "both are in use");
    drop(held);
    let third = PackageOptions { cache_bytes: 0, ..options(bench.cache.path()) };
    let gadget = Bench::new(PackageLayout::Image).await;
    Packages::new(third).zip(&gadget.package("darwin_arm64").await).await.unwrap();
    let left = files(bench.cache.path());
    assert!(left.len() == 2 && left.iter().all(|path| path.metadata().unwrap().len() < 200_000), "{left:?}");
    drop(other);
    packages.zip(&linux).await.unwrap();
    let left = files(bench.cache.path());
    assert!(left.len() == 1 && left[0].metadata().unwrap().len() > 200_000, "{left:?}");
}

#[tokio::test]
async fn a_damaged_file_is_made_again() {
    for damage in [|bytes: &mut Vec<u8>| bytes[1000] ^= 1, |bytes: &mut Vec<u8>| bytes.truncate(1000)] {
        let bench = Bench::new(PackageLayout::Image).await;
        let zip = bench.serve().await.zip().await;
        let path = &files(bench.cache.path())[0];
        let mut bytes = fs::read(path).unwrap();
        damage(&mut bytes);
        fs::write(path, bytes).unwrap();
        assert_eq!(bench.serve().await.zip().await, zip);
    }
}

#[tokio::test]
async fn a_file_that_is_damaged_after_it_was_found_never_comes_whole_and_is_made_again() {
    let bench = Bench::new(PackageLayout::Image).await;
    let (packages, package) = (bench.packages(ZipDelivery::PassedOn), bench.package("linux_amd64").await);
    let found = packages.zip(&package).await.unwrap();
    let (_, zip) = answered(&packages, &found, None).await;
    let path = &files(bench.cache.path())[0];
    let mut bytes = fs::read(path).unwrap();
    bytes[1000] ^= 1;
    fs::write(path, bytes).unwrap();
    assert_ne!(answered(&packages, &found, None).await.1, zip);
    let found = packages.zip(&package).await.unwrap();
    assert_eq!(answered(&packages, &found, None).await.1, zip);
}

#[tokio::test]
async fn a_file_that_changes_after_it_was_compared_never_comes_whole() {
    let bench = Bench::new(PackageLayout::Image).await;
    let (packages, package) = (bench.packages(ZipDelivery::PassedOn), bench.package("linux_amd64").await);
    let found = packages.zip(&package).await.unwrap();
    let ZipBytes::Kept(kept) = &found.bytes else { panic!("an image is made a zip") };
    // As it is some seconds later.
    let (file, path, digest) = (Arc::clone(&kept.file), kept.path.clone(), kept.digest.clone());
    let kept = CachedZip { file, path, digest, size: kept.size, shows_changes: true };
    let path = kept.path.clone();
    let found = PackageZip { bytes: ZipBytes::Kept(Arc::new(kept)), ..found };
    let (_, zip) = answered(&packages, &found, None).await;
    assert_eq!(Digest::sha256(&zip), found.digest);
    let mut bytes = fs::read(&path).unwrap();
    bytes[1000] ^= 1;
    fs::write(&path, bytes).unwrap();
    // The clock of a file system may tick slowly.
    File::open(&path).unwrap().set_modified(SystemTime::UNIX_EPOCH).unwrap();
    let (_, came) = answered(&packages, &found, None).await;
    assert!(came.len() < zip.len(), "{} of {} bytes came", came.len(), zip.len());
    assert!(!path.exists());
}

/// The zip of the bench's layer, kept because a part was asked for; what a running process gives of it afterwards.
async fn part_after(change: impl FnOnce(&Path)) -> (Bytes, Bytes) {
    let bench = Bench::new(PackageLayout::Artifact).await;
    let site = bench.serve().await;
    let part = async || site.get(&[("range", "bytes=0-99")]).await.bytes().await.unwrap();
    let before = part().await;
    change(&files(bench.cache.path())[0]);
    (before, part().await)
}

#[tokio::test]
async fn a_kept_zip_that_was_replaced_by_a_file_of_the_same_size_was_given_in_parts() {
    let replaced = |path: &Path| {
        let other = path.with_extension("new");
        fs::write(&other, vec![b'x'; usize::try_from(path.metadata().unwrap().len()).unwrap()]).unwrap();
        fs::rename(other, path).unwrap();
    };
    let (before, after) = part_after(replaced).await;
    assert_eq!(before, after);
}

#[cfg(unix)]
#[tokio::test]
async fn other_users_could_read_kept_zips_and_zips_of_a_folder_that_others_write_to_were_given() {
    use std::os::unix::fs::PermissionsExt as _;
    for layout in [PackageLayout::Artifact, PackageLayout::Image] {
        let bench = Bench::new(layout).await;
        let (packages, package) = (bench.packages(ZipDelivery::PassedOn), bench.package("linux_amd64").await);
        let zip = packages.zip(&package).await.unwrap();
        let part = async || answered(&packages, &zip, Some("bytes=0-9")).await.0;
        assert_eq!(part().await, 206);
        let zips = files(bench.cache.path());
        assert_eq!(zips[0].metadata().unwrap().permissions().mode() & 0o777, 0o600, "{}", zips[0].display());
        fs::set_permissions(bench.cache.path(), fs::Permissions::from_mode(0o777)).unwrap();
        let refusal = packages.zip(&package).await.err().map(|refusal| refusal.for_operator());
        match layout {
            // Nothing of the folder is read for it: the registry sends the whole zip.
            PackageLayout::Artifact => assert_eq!(part().await, 200),
            _ => assert!(refusal.unwrap().contains("others may write to it")),
        }
    }
}

#[tokio::test]
async fn packages_of_a_folder_are_zips_of_what_is_in_it_now() {
    let (folder, cache) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    let place = folder.path().join("example.com/acme/zap/1.0.0");
    ReleaseFolder::new("zap", "1.0.0", &["darwin_arm64"]).write_directories(&place);
    let packages = Packages::new(options(cache.path()));
    let source = || FolderSource::new(folder.path());
    let before = packages.zip(&package(&source(), "darwin_arm64").await).await.unwrap();
    let same = packages.zip(&package(&source(), "darwin_arm64").await).await.unwrap();
    assert_eq!(before.digest, same.digest);
    fs::write(place.join("darwin_arm64/LICENSE"), "another text").unwrap();
    let after = packages.zip(&package(&source(), "darwin_arm64").await).await.unwrap();
    assert_ne!(before.digest, after.digest);
}

#[tokio::test]
async fn a_zip_in_a_folder_is_served_as_it_is() {
    let (folder, cache) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    let place = folder.path().join("example.com/acme/zap");
    ReleaseFolder::new("zap", "1.0.0", &[]).package(linux()).write_zips(&place);
    let package = package(&FolderSource::new(folder.path()), "linux_amd64").await;
    let site = serve(Arc::new(Packages::new(options(cache.path()))), package).await;
    assert_eq!(site.zip().await, linux().build());
}

fn repository(name: &str, blobs: &[&[u8]]) -> MemoryStore {
    let store = MemoryStore::new(Place::Registry(format!("ghcr.io/acme/{name}").parse().unwrap()));
    for blob in blobs {
        store.insert_unchecked(&Descriptor::of("archive/zip", blob), blob.to_vec().into());
    }
    store
}

#[tokio::test]
async fn a_release_that_names_the_digest_of_another_repositorys_zip_got_it_from_the_disk() {
    let (cache, zip) = (tempfile::tempdir().unwrap(), linux().build());
    let (packages, blob) = (Packages::new(options(cache.path())), Descriptor::of("archive/zip", &zip));
    for holds in [LayerContents::Provider, LayerContents::Module("1.0.0".parse().unwrap())] {
        let private = layer_zip(repository("private", &[&zip]), blob.clone(), holds.clone());
        let strange = layer_zip(repository("strange", &[]), blob.clone(), holds);
        for range in [Some("bytes=0-9"), None] {
            assert_eq!(answered(&packages, &private, range).await.1[..10], zip[..10]);
            let (status, body) = answered(&packages, &strange, range).await;
            assert!(status == 502 && !body.starts_with(&zip[..4]), "{status}");
        }
    }
}

#[tokio::test]
async fn no_client_gets_the_zip_of_a_module_with_a_repository_of_version_control() {
    let zip = |name: &str| ProviderZip::new("zap", "1.0.0", "linux_amd64").without_executable().file(name, "x").build();
    let (git, clean) = (zip("modules/.git/config"), zip("main.tf"));
    let (cache, store) = (tempfile::tempdir().unwrap(), || repository("network", &[&git, &clean]));
    let packages = Packages::new(options(cache.path()));
    let holds = || LayerContents::Module("1.0.0".parse().unwrap());
    // A provider may have `.git` in it. Its kept zip of the same bytes does not count for the module.
    let provider = layer_zip(store(), Descriptor::of("archive/zip", &git), LayerContents::Provider);
    assert_eq!(answered(&packages, &provider, Some("bytes=0-9")).await.0, 206);
    for range in [Some("bytes=0-9"), None] {
        let module = layer_zip(store(), Descriptor::of("archive/zip", &git), holds());
        let (status, body) = answered(&packages, &module, range).await;
        let said = String::from_utf8_lossy(&body);
        assert!(status == 409 && said.contains("modules/.git/config"), "{status} {said}");
        let module = layer_zip(store(), Descriptor::of("archive/zip", &clean), holds());
        assert!(matches!(answered(&packages, &module, range).await.0, 200 | 206));
    }
}
