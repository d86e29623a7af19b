//! Packages outside of repositories: a zip with only a checksum, and an unpacked folder.

use std::collections::BTreeSet;
use std::fs;
use std::path::PathBuf;
use std::sync::Arc;

use async_trait::async_trait;
use bytes::Bytes;
use futures_util::StreamExt as _;
use tofu_oci_archive::{ArchiveError, InputFile, Limits, read_directory, write_zip};
use tofu_oci_fetch::FetchError;
use tofu_oci_source::{
    ClaimedHashes, Listing, Locator, Offer, Package, Part, PartStream, Release, ReleaseDate, ReleaseDescription,
    ReleaseId, Search, Source, SourceError, ZipNames,
};
use tofu_oci_store::StoreError;
use tofu_oci_trust::{Evidence, Notice, Policy};
use tofu_oci_types::{Digest, Identity, PackageHash, Place, Platform, ProviderAddr, Version};

use super::fixture::{PLATFORM, Workspace};
use crate::{
    Basis, InstallError, InstallOutcome, InstallRequest, InstallTarget, Installed, LockOptions, LockRequest, LockWrite,
    Options, PlatformChoice, Upgrade, install, lock,
};

mod folders;

const PROGRAM: &str = "terraform-provider-widget_v1.0.0";

/// A place with version 1.0.0 for one platform.
struct Elsewhere {
    place: Place,
    identity: Identity,
    package: Package,
    allowed: Vec<PackageHash>,
    /// The answer to a request for the zip.
    zip: Bytes,
    about: ReleaseDescription,
}

impl Elsewhere {
    /// A server that has the zip, names its checksum and does not say its size.
    fn zip(files: &Files) -> Self {
        let digest = Digest::sha256(&fs::read(files.zip()).unwrap());
        let identity = Identity::Sums(Digest::sha256(b"SHA256SUMS"));
        Self { identity, ..Self::zip_of(files, Some(digest), Vec::new()) }
    }

    /// A server that has the zip, and demands that it matches one of these.
    fn zip_of(files: &Files, digest: Option<Digest>, allowed: Vec<PackageHash>) -> Self {
        let zip = Bytes::from(fs::read(files.zip()).unwrap());
        let at = Locator::Url("https://mirror.example.test/widget.zip".parse().unwrap());
        let package = Package::Zip(Part { at, size: None, digest });
        let place = Place::NetworkMirror("https://mirror.example.test/".to_owned());
        Self { allowed, ..Self::of(place, Identity::Unidentified, package, zip) }
    }

    /// A folder of unpacked packages.
    fn folder(files: &Files) -> Self {
        let place = Place::Folder(files.folder.path().to_owned());
        Self::of(place, Identity::Unidentified, Package::Folder(files.package()), Bytes::new())
    }

    fn of(place: Place, identity: Identity, package: Package, zip: Bytes) -> Self {
        let platforms = vec![PLATFORM.parse().unwrap()];
        let about = ReleaseDescription { platforms, ..ReleaseDescription::default() };
        Self { place, identity, package, allowed: Vec::new(), zip, about }
    }
}

#[async_trait]
impl Source for Elsewhere {
    fn place(&self) -> &Place {
        &self.place
    }

    async fn versions(&self, _: &ProviderAddr) -> Result<Listing, SourceError> {
        Ok(Listing { versions: vec!["1.0.0".parse().unwrap()], ..Listing::default() })
    }

    async fn release(&self, address: &ProviderAddr, version: &Version) -> Result<Arc<dyn Release>, SourceError> {
        let (address, version) = (address.clone(), version.clone());
        let id = ReleaseId { address, version, place: self.place.clone(), identity: self.identity.clone() };
        let (package, allowed) = (self.package.clone(), self.allowed.clone());
        let (zip, about) = (self.zip.clone(), self.about.clone());
        Ok(Arc::new(OneRelease { id, package, allowed, zip, about }))
    }
}

struct OneRelease {
    id: ReleaseId,
    package: Package,
    allowed: Vec<PackageHash>,
    zip: Bytes,
    about: ReleaseDescription,
}

#[async_trait]
impl Release for OneRelease {
    fn id(&self) -> &ReleaseId {
        &self.id
    }

    async fn describe(&self) -> Result<&ReleaseDescription, SourceError> {
        Ok(&self.about)
    }

    async fn platforms(&self) -> Result<Vec<Platform>, SourceError> {
        Ok(self.about.platforms.clone())
    }

    async fn created(&self) -> Result<Option<ReleaseDate>, SourceError> {
        Ok(None)
    }

    async fn offer(self: Arc<Self>, platform: &Platform) -> Result<Offer, SourceError> {
        Ok(Offer {
            platform: platform.clone(),
            manifest: None,
            package: self.package.clone(),
            small: None,
            claims: Arc::default(),
            allowed: self.allowed.clone(),
            signed: BTreeSet::new(),
            release: self,
        })
    }

    async fn evidence(&self, _: Search) -> Result<Vec<Evidence>, SourceError> {
        Ok(Vec::new())
    }

    async fn leaf_evidence(&self) -> Result<Vec<Evidence>, SourceError> {
        Ok(Vec::new())
    }

    async fn notice(&self) -> Result<Option<Notice>, SourceError> {
        Ok(None)
    }

    async fn zip_names(&self) -> Result<ZipNames, SourceError> {
        Ok(ZipNames::new())
    }

    async fn hashes(&self) -> Result<ClaimedHashes, SourceError> {
        Ok(ClaimedHashes::new())
    }

    async fn open(&self, _: &Part) -> Result<PartStream, SourceError> {
        let zip = self.zip.clone();
        Ok(PartStream { size: None, stream: futures_util::stream::once(async move { Ok(zip) }).boxed() })
    }
}

/// A package as a folder and as a zip.
struct Files {
    folder: tempfile::TempDir,
}

impl Files {
    fn new() -> Self {
        let files = Self { folder: tempfile::tempdir().unwrap() };
        fs::create_dir_all(files.package().join("docs")).unwrap();
        fs::write(files.package().join("docs/guide.md"), "the guide").unwrap();
        fs::write(files.package().join(PROGRAM), "#!/bin/sh\n").unwrap();
        let input = |name: &str| InputFile {
            name: name.to_owned(),
            path: files.package().join(name),
            executable: name == PROGRAM,
        };
        write_zip(&[input("docs/guide.md"), input(PROGRAM)], &files.zip()).unwrap();
        files
    }

    fn package(&self) -> PathBuf {
        self.folder.path().join("package")
    }

    fn zip(&self) -> PathBuf {
        self.folder.path().join("widget.zip")
    }

    fn h1(&self) -> PackageHash {
        read_directory(&self.package(), &Limits::default()).unwrap().h1()
    }

    fn zh(&self) -> PackageHash {
        PackageHash::zh(&Digest::sha256(&fs::read(self.zip()).unwrap())).unwrap()
    }
}

/// Installs into a working directory.
async fn installed(workspace: &Workspace, source: Elsewhere) -> Result<Installed, InstallError> {
    let options = workspace.options();
    installed_with(workspace, source, &options).await
}

async fn installed_with(
    workspace: &Workspace,
    source: Elsewhere,
    options: &Options,
) -> Result<Installed, InstallError> {
    let target = InstallTarget::WorkingDir { data_dir: workspace.path().join(".terraform"), cache: None };
    into(workspace, source, target, options).await
}

async fn into(
    workspace: &Workspace,
    source: Elsewhere,
    target: InstallTarget,
    options: &Options,
) -> Result<Installed, InstallError> {
    let (address, platform) = (super::fixture::address(), PLATFORM.parse().unwrap());
    let constraints = tofu_oci_types::Constraints::any();
    let (source, upgrade) = (Arc::new(source), Upgrade::KeepLocked);
    let request = InstallRequest { address, constraints, platform, source, target, upgrade };
    install(&[request], options, &workspace.reporter).await.map(|mut report| report.installed.remove(0))
}

fn texts(hashes: &[PackageHash]) -> Vec<String> {
    let mut texts: Vec<String> = hashes.iter().map(ToString::to_string).collect();
    texts.sort();
    texts
}

#[tokio::test]
async fn a_zip_with_nothing_but_a_checksum_is_installed_and_locked() {
    let (files, workspace) = (Files::new(), Workspace::new());
    let done = installed(&workspace, Elsewhere::zip(&files)).await.unwrap();
    assert_eq!((done.outcome, done.layout, done.trust), (InstallOutcome::Installed, None, None));
    assert_eq!(serde_json::to_value(&done.identity).unwrap(), serde_json::Value::Null);
    assert_eq!(fs::read_to_string(done.path.join("docs/guide.md")).unwrap(), "the guide");
    assert_eq!(workspace.locked(), texts(&[files.h1(), files.zh()]));
    assert!(workspace.trust().pins.is_empty(), "no index, nothing to pin");
    let again = installed(&workspace, Elsewhere::zip(&files)).await.unwrap();
    assert_eq!(again.outcome, InstallOutcome::AlreadyInstalled);
    assert_eq!(workspace.reporter.downloads(), 1, "the lock file knows its zh:");
}

#[tokio::test]
async fn a_zip_that_is_not_the_one_of_its_checksum_leaves_no_trace() {
    let (files, workspace) = (Files::new(), Workspace::new());
    let mut source = Elsewhere::zip(&files);
    fs::write(files.package().join("docs/guide.md"), "another guide").unwrap();
    let input = |name: &str| InputFile { name: name.to_owned(), path: files.package().join(name), executable: true };
    write_zip(&[input("docs/guide.md"), input(PROGRAM)], &files.zip()).unwrap();
    source.zip = Bytes::from(fs::read(files.zip()).unwrap());
    let error = installed(&workspace, source).await.unwrap_err();
    let InstallError::Fetch(FetchError::Source(SourceError::Store(StoreError::DigestMismatch { place, .. }))) = &error
    else {
        panic!("{error:?}")
    };
    assert_eq!(place.to_string(), "the network mirror https://mirror.example.test/");
    assert!(workspace.snapshot().is_empty(), "{:?}", workspace.snapshot());
}

#[tokio::test]
async fn a_zip_whose_size_is_not_known_is_given_up_at_the_limit() {
    let (files, workspace) = (Files::new(), Workspace::new());
    let mut options = workspace.options();
    options.limits.packed_bytes = 100;
    for target in [InstallTarget::MirrorUnpacked("m".into()), InstallTarget::MirrorPacked("m".into())] {
        let target = match target {
            InstallTarget::MirrorPacked(_) => InstallTarget::MirrorPacked(workspace.path().join("m")),
            _ => InstallTarget::MirrorUnpacked(workspace.path().join("m")),
        };
        let error = into(&workspace, Elsewhere::zip(&files), target, &options).await.unwrap_err();
        let InstallError::Fetch(FetchError::Package { source: ArchiveError::Oversized { limit: 100, .. }, .. }) =
            &error
        else {
            panic!("{error:?}")
        };
    }
    assert!(workspace.snapshot().is_empty(), "{:?}", workspace.snapshot());
}

#[tokio::test]
async fn a_zip_keeps_its_bytes_in_a_packed_mirror_and_a_folder_is_zipped() {
    let files = Files::new();
    for (source, zh) in [(Elsewhere::zip(&files), Some(files.zh())), (Elsewhere::folder(&files), None)] {
        let workspace = Workspace::new();
        let options = workspace.options();
        let target = InstallTarget::MirrorPacked(workspace.path().join("mirror"));
        let done = into(&workspace, source, target, &options).await.unwrap();
        let contents = tofu_oci_archive::read_zip(&done.path, &Limits::default()).unwrap();
        assert_eq!(contents.h1(), files.h1());
        if let Some(zh) = &zh {
            assert_eq!(PackageHash::zh(&Digest::sha256(&fs::read(&done.path).unwrap())).as_ref(), Some(zh));
        }
        assert_eq!(workspace.reporter.codes().contains(&"zip-made-here"), zh.is_none());
    }
}

#[tokio::test]
async fn a_zip_of_unknown_digest_is_hashed_on_the_way_and_recorded_as_its_place_says() {
    let files = Files::new();
    let other: PackageHash = format!("zh:{}", "0".repeat(64)).parse().unwrap();
    let (h1, zh) = (files.h1(), files.zh());
    for (allowed, want) in [
        (vec![], vec![&h1]),
        (vec![&zh], vec![&h1, &zh]),
        (vec![&other, &h1], vec![&h1]),
        (vec![&h1, &other, &zh], vec![&h1, &zh]),
    ] {
        let workspace = Workspace::new();
        let source = || Elsewhere::zip_of(&files, None, allowed.iter().copied().cloned().collect());
        let done = installed(&workspace, source()).await.unwrap();
        let want = texts(&want.into_iter().cloned().collect::<Vec<_>>());
        assert_eq!((texts(&done.hashes), workspace.locked()), (want.clone(), want), "{allowed:?}");
        let again = installed(&workspace, source()).await.unwrap();
        assert_eq!(again.outcome, InstallOutcome::AlreadyInstalled);
        assert_eq!(workspace.reporter.downloads(), 1, "{allowed:?}: what is locked is not fetched again");
    }
}

#[tokio::test]
async fn a_zip_that_matches_no_checksum_of_its_place_leaves_no_trace() {
    let (files, workspace) = (Files::new(), Workspace::new());
    let other: PackageHash = format!("zh:{}", "0".repeat(64)).parse().unwrap();
    let error = installed(&workspace, Elsewhere::zip_of(&files, None, vec![other])).await.unwrap_err();
    assert_eq!(error.code(), "mirror-hash-mismatch");
    assert!(workspace.snapshot().is_empty(), "{:?}", workspace.snapshot());
}

/// Spec: `real-tofu-sources.md`, section 5. The last column differs: a folder has no `zh:`, and the bytes would not be
/// checked.
#[tokio::test]
async fn the_lock_file_judges_zips_and_folders() {
    let files = Files::new();
    let (h1, zh) = (files.h1(), files.zh());
    let wrong_h1: PackageHash = "h1:AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA=".parse().unwrap();
    let wrong_zh: PackageHash = format!("zh:{}", "0".repeat(64)).parse().unwrap();
    for (lock, zip, folder) in [
        (vec![&h1], true, true),
        (vec![&h1, &zh], true, true),
        (vec![&h1, &wrong_zh], true, true),
        (vec![&zh], true, false),
        (vec![&zh, &wrong_h1], true, false),
        (vec![&wrong_zh], false, false),
        (vec![&wrong_h1], false, false),
        (vec![&wrong_h1, &wrong_zh], false, false),
    ] {
        for (source, fits) in [(Elsewhere::zip_of(&files, None, Vec::new()), zip), (Elsewhere::folder(&files), folder)]
        {
            let workspace = Workspace::new();
            workspace.lock("1.0.0", &lock);
            match installed(&workspace, source).await {
                Ok(_) => {
                    let mut want = lock.clone();
                    if !want.contains(&&h1) {
                        want.push(&h1);
                    }
                    assert!(fits, "{lock:?}");
                    assert_eq!(workspace.locked(), texts(&want.into_iter().cloned().collect::<Vec<_>>()));
                }
                Err(error) => assert_eq!((error.code(), fits), ("lock-mismatch", false), "{lock:?}"),
            }
        }
    }
}

#[tokio::test]
async fn a_rule_that_refuses_unsigned_releases_refuses_what_has_no_index() {
    let files = Files::new();
    for source in [Elsewhere::zip(&files), Elsewhere::folder(&files)] {
        let workspace = Workspace::new();
        let mut options = workspace.options();
        let policy = Policy::parse("[[rule]]\nproviders = [\"*/*/*\"]\nunsigned = \"refuse\"\n").unwrap();
        options.trust.policy = Arc::new(policy.resolve(|_| Ok(Vec::new())).unwrap());
        let error = installed_with(&workspace, source, &options).await.unwrap_err();
        assert!(matches!(error, InstallError::Fetch(FetchError::Untrusted { .. })), "{error:?}");
        assert!(workspace.snapshot().is_empty(), "{:?}", workspace.snapshot());
    }
}

#[tokio::test]
async fn both_are_locked_by_looking_at_them() {
    let files = Files::new();
    let sources =
        [(Elsewhere::zip(&files), vec![files.h1(), files.zh()]), (Elsewhere::folder(&files), vec![files.h1()])];
    for (source, want) in sources {
        let workspace = Workspace::new();
        let scratch = tempfile::tempdir().unwrap();
        let job = LockRequest {
            address: super::fixture::address(),
            constraints: tofu_oci_types::Constraints::any(),
            source: Arc::new(source),
            platforms: PlatformChoice::Offered,
            upgrade: Upgrade::KeepLocked,
        };
        let scratch = scratch.path().to_owned();
        let options = LockOptions::new(workspace.lock_path(), LockWrite::Write, scratch, workspace.trust());
        let report = lock(vec![job], &options, &workspace.reporter).await.unwrap();
        assert_eq!(report.providers[0].platforms[0].basis, Basis::Downloaded);
        assert_eq!(workspace.locked(), texts(&want));
    }
}
