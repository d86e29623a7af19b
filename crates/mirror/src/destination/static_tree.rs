//! What `mirror` writes for a web server, and in which order: a network mirror as plain files, which is a filesystem
//! mirror too.
//!
//! ```text
//! DIR/HOST/NAMESPACE/TYPE/
//!   terraform-provider-TYPE_VERSION_OS_ARCH.zip      first
//!   VERSION.json                                     then; its packages, each with zh: before h1:
//!   index.json                                       then; the versions
//!   terraform-provider-TYPE_VERSION_SHA256SUMS, .sig last; the origin's signature, for people
//! ```
//!
//! Each file is written beside its place and renamed. Both documents are changed under a lock, so two writers lose nothing.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, OnceLock, PoisonError};

use async_trait::async_trait;
use futures_util::{StreamExt as _, TryStreamExt as _};
use tofu_oci_archive::read_zip;
use tofu_oci_disk::{FileIdentity, LOCK_NAME, Lock, Lockable, ScratchFile, Waiter, leads_out, read_file, sync_tree};
use tofu_oci_fetch::Fetcher;
use tofu_oci_mapper::FolderPackage;
use tofu_oci_packer::Transfers;
use tofu_oci_source::{FolderSource, OciSource, Offer, Release, ReleaseId, Search, Source};
use tofu_oci_store::{ComparedBy, MemoryStore, Store, StoreError};
use tofu_oci_types::{Event, PackageHash, Place, Platform, ProviderAddr, Reporter, Version, sums_name, zip_name};

use super::mirror_json::{ARCHIVES, MirrorArchive, MirrorDocument, VERSIONS};
use super::{Destination, PlatformFill, zips};
use crate::blocking::blocking;
use crate::transfer::{check_size, hashed, signed_sums};
use crate::{MirrorError, TransferRequest, Transferred};

/// The most that is read of a checksum file or its signature, in bytes.
const SUMS_LIMIT: u64 = 4 << 20;

/// A folder that holds a network mirror.
pub struct StaticTree {
    dir: PathBuf,
    waiter: Waiter,
    compared: ComparedBy,
    /// Whether anything was written since it was flushed.
    written: AtomicBool,
    /// The folders of providers from which the leftovers of killed runs are gone.
    swept: Mutex<BTreeSet<PathBuf>>,
}

/// A package that lies in its place, and what `VERSION.json` will say of it.
struct TreePackage {
    offer: Offer,
    archive: MirrorArchive,
    /// The bytes that were written; `None` if it was there before.
    written: Option<u64>,
    /// The file, by which it is known again. `None` if the system does not say.
    file: Option<FileIdentity>,
}

impl StaticTree {
    /// The tree in this folder, which the first release makes. The waiter waits for other writers.
    pub fn new(dir: impl Into<PathBuf>, waiter: Waiter) -> Self {
        let (compared, written) = (ComparedBy::default(), AtomicBool::new(false));
        Self { dir: dir.into(), waiter, compared, written, swept: Mutex::default() }
    }

    /// The same, in which a zip that is there is compared so with what is listed of it.
    #[must_use]
    pub fn comparing(self, compared: ComparedBy) -> Self {
        Self { compared, ..self }
    }

    fn folder(&self, address: &ProviderAddr) -> PathBuf {
        let host = address.hostname().display();
        self.dir.join(host).join(address.namespace()).join(address.provider_type())
    }

    /// The same, unless a link leads out of the tree on the way to it: what lies there is not the tree's.
    fn own_folder(&self, address: &ProviderAddr) -> Result<PathBuf, MirrorError> {
        let folder = self.folder(address);
        match leads_out(&self.dir, &folder) {
            Ok(false) => Ok(folder),
            Ok(true) => Err(MirrorError::LinkOutOfTree { folder, tree: self.dir.clone() }),
            Err(error) => Err(StoreError::io("read", folder, error).into()),
        }
    }

    /// The package of an offer, in its place. `listed` is what `VERSION.json` said of the platform at the beginning.
    async fn package(
        &self,
        request: &TransferRequest<'_>,
        fetcher: &Fetcher<'_>,
        offer: &Offer,
        listed: Option<&MirrorArchive>,
        reporter: &dyn Reporter,
    ) -> Result<TreePackage, MirrorError> {
        let folder = self.folder(offer.address());
        let name = zip_name(offer.address(), offer.version(), &offer.platform);
        let path = folder.join(&name);
        let file = identity(&path);
        if let Some(archive) = self.present(request, offer, &path, &name, listed).await? {
            return Ok(TreePackage { offer: offer.clone(), archive, written: None, file });
        }
        if let Some(offered) = offer.zh() {
            demand_same(offer, &folder, listed, &[offered])?;
        }
        let verified = fetcher.zip_beside(offer, &folder).await?;
        let (digest, size) = hashed(verified.path()).await?;
        let hashes = PackageHash::zh(&digest).into_iter().chain(verified.hashes().h1.clone()).collect();
        let archive = MirrorArchive { url: name, hashes };
        let (lock, offer) = (self.lock(&folder, reporter).await?, offer.clone());
        let document = folder.join(format!("{}.json", offer.version()));
        blocking(move || {
            // Here, so that an interruption does not release it meanwhile.
            let _lock = lock;
            let listed = MirrorDocument::read(&document)?.archives();
            demand_same(&offer, &folder, listed.get(&offer.platform.to_string()), &archive.hashes)?;
            std::fs::rename(verified.path(), &path).map_err(|error| StoreError::io("write", &path, error))?;
            let file = identity(&path);
            Ok(TreePackage { offer, archive, written: Some(size), file })
        })
        .await
    }

    /// The package if it is there already and is the offered one. A listed zip is believed by its size, which its last bytes
    /// tell, unless digests are compared; an unlisted one is hashed.
    async fn present(
        &self,
        request: &TransferRequest<'_>,
        offer: &Offer,
        path: &Path,
        name: &str,
        listed: Option<&MirrorArchive>,
    ) -> Result<Option<MirrorArchive>, MirrorError> {
        let size = std::fs::symlink_metadata(path).ok().filter(std::fs::Metadata::is_file).map(|file| file.len());
        let Some(size) = size.filter(|size| offer.bytes().is_none_or(|offered| offered == *size)) else {
            return Ok(None);
        };
        if let Some(archive) = listed.filter(|archive| archive.url == name && archive.zh().is_some()) {
            if !zips::is_listed_one(path, archive, self.compared).await? {
                return Ok(None);
            }
            let is_offered =
                offered(offer).is_none_or(|offered| archive.hashes.iter().any(|hash| offered.contains(hash)));
            return Ok(is_offered.then(|| archive.clone()));
        }
        let Some(wanted) = offered(offer) else { return Ok(None) };
        check_size(request, offer, size)?;
        let (digest, _) = hashed(path).await?;
        let (path, limits) = (path.to_owned(), request.limits.clone());
        // A damaged file is fetched again.
        let Ok(contents) = blocking(move || read_zip(&path, &limits)).await else { return Ok(None) };
        let hashes: Vec<_> = PackageHash::zh(&digest).into_iter().chain([contents.h1()]).collect();
        let is_offered = hashes.iter().any(|hash| wanted.contains(hash));
        Ok(is_offered.then(|| MirrorArchive { url: name.to_owned(), hashes }))
    }

    /// The signed checksums that name one of these packages, as files.
    async fn put_sums(&self, release: &dyn Release, zips: &[PackageHash]) -> Result<(), MirrorError> {
        let Some(signed) = signed_sums(release.id(), release.evidence(Search::Everywhere).await?, zips) else {
            return Ok(());
        };
        let (folder, (name, sums)) = (self.folder(&release.id().address), signed.sums);
        let Some((_, signature)) = signed.signatures.into_iter().next() else { return Ok(()) };
        self.written.store(true, Ordering::Relaxed);
        Ok(blocking(move || {
            put(&folder.join(&name), &sums)?;
            put(&folder.join(format!("{name}.sig")), &signature)
        })
        .await?)
    }

    /// Whether the checksum file or its signature is missing, empty, or cut off as far as its lines show it.
    async fn lacks_sums(&self, address: &ProviderAddr, version: &Version) -> bool {
        let (folder, name) = (self.folder(address), sums_name(address, version));
        let last = move |name: &str| read_file(&folder.join(name), SUMS_LIMIT).ok()?.last().copied();
        blocking(move || last(&name) != Some(b'\n') || last(&format!("{name}.sig")).is_none_or(|last| last == 0)).await
    }

    /// Waits until no other program changes the folder of a provider; released when dropped.
    async fn lock(&self, folder: &Path, reporter: &dyn Reporter) -> Result<Lock, MirrorError> {
        let report = |held: &_| reporter.event(&Event::note("waiting-for-lock", self.waiter.words(held)));
        let lock = tofu_oci_disk::lock(&Lockable::File(folder.join(LOCK_NAME)), &self.waiter, &report).await;
        Ok(lock.map_err(StoreError::Locked)?)
    }

    /// Lists the packages in `VERSION.json`, and then the version in `index.json`. True if one of them has changed, with all
    /// platforms that the version has now.
    async fn list(
        &self,
        id: &ReleaseId,
        packages: Vec<TreePackage>,
        reporter: &dyn Reporter,
    ) -> Result<(bool, Vec<Platform>), MirrorError> {
        let folder = self.folder(&id.address);
        let lock = self.lock(&folder, reporter).await?;
        let (address, version) = (id.address.clone(), id.version.clone());
        blocking(move || {
            // Here, so that an interruption does not release it while a file is being written.
            let _lock = lock;
            let mut document = MirrorDocument::read(&folder.join(format!("{version}.json")))?;
            let mut changed = false;
            if document.is_cut() {
                for (platform, archive) in zips::of_version(&folder, &address, &version)? {
                    document.set(ARCHIVES, &platform.to_string(), archive.to_value());
                }
            }
            let listed = document.archives();
            for TreePackage { offer, archive, file, .. } in &packages {
                // Another run may have brought another one meanwhile.
                demand_same(offer, &folder, listed.get(&offer.platform.to_string()), &archive.hashes)?;
                let path = folder.join(&archive.url);
                let is_own = matches!((file, identity(&path)), (Some(file), Some(now)) if now.has_bytes_of(file));
                if !is_own {
                    let there = MirrorArchive { url: archive.url.clone(), hashes: zips::zh_of(&path)? };
                    demand_same(offer, &folder, Some(&there), &archive.hashes)?;
                }
            }
            for TreePackage { offer, archive, .. } in packages {
                changed |= document.set(ARCHIVES, &offer.platform.to_string(), archive.to_value());
            }
            let platforms = document.names(ARCHIVES).filter_map(|name| name.parse().ok()).collect();
            if changed || document.is_cut() {
                changed = true;
                put(document.path(), &document.to_bytes())?;
            }
            let mut index = MirrorDocument::read(&folder.join("index.json"))?;
            if index.is_cut() {
                for version in zips::listed_versions(&folder)? {
                    index.set(VERSIONS, &version, serde_json::json!({}));
                }
                index.set(VERSIONS, &version.to_string(), serde_json::json!({}));
                put(index.path(), &index.to_bytes())?;
                changed = true;
            }
            if !index.names(VERSIONS).any(|known| known == version.to_string()) {
                index.set(VERSIONS, &version.to_string(), serde_json::json!({}));
                put(index.path(), &index.to_bytes())?;
                changed = true;
            }
            Ok((changed, platforms))
        })
        .await
    }
}

/// Refuses a package that is another one than the listed one.
fn demand_same(
    offer: &Offer,
    folder: &Path,
    listed: Option<&MirrorArchive>,
    found: &[PackageHash],
) -> Result<(), MirrorError> {
    let there = listed.map(|listed| listed.hashes.as_slice()).unwrap_or_default();
    let comparable = |there: &&PackageHash| found.iter().any(|hash| hash.scheme() == there.scheme());
    let (Some(there), Some(offered)) = (there.iter().find(comparable), found.first()) else { return Ok(()) };
    if found.contains(there) {
        return Ok(());
    }
    Err(MirrorError::UpstreamChanged {
        address: offer.address().clone(),
        version: offer.version().clone(),
        platform: offer.platform.clone(),
        from: offer.place().clone(),
        to: Place::Folder(folder.to_owned()),
        offered: offered.clone(),
        there: there.clone(),
    })
}

/// Identifies the file at a path. `None` if the path names no file, or if the system does not identify files.
fn identity(path: &Path) -> Option<FileIdentity> {
    FileIdentity::of(&std::fs::symlink_metadata(path).ok()?)
}

#[async_trait]
impl Destination for StaticTree {
    fn place(&self, address: &ProviderAddr) -> Result<Place, MirrorError> {
        self.own_folder(address).map(Place::Folder)
    }

    fn source(&self, address: &ProviderAddr) -> Result<Arc<dyn Source>, MirrorError> {
        if !self.dir.exists() {
            // The first release makes the folder. Until then the tree is an empty one, and not a wrong name.
            return Ok(Arc::new(OciSource::new(Arc::new(MemoryStore::new(Place::Folder(self.dir.clone()))))));
        }
        // An interrupted run leaves zips that clients of a web server do not see: such a version is not there yet.
        let (folder, address) = (self.folder(address), address.clone());
        let versions = OnceLock::new();
        let is_listed = move |package: &FolderPackage| {
            let versions = versions.get_or_init(|| listed(&folder.join("index.json"), VERSIONS));
            let version = package.version.to_string();
            package.address == address
                && versions.contains(&version)
                && listed(&folder.join(format!("{version}.json")), ARCHIVES).contains(&package.platform.to_string())
        };
        Ok(Arc::new(FolderSource::tree(&self.dir, is_listed)))
    }

    fn store(&self, _address: &ProviderAddr) -> Result<Option<Arc<dyn Store>>, MirrorError> {
        Ok(None)
    }

    fn platform_fill(&self) -> PlatformFill {
        PlatformFill::Any
    }

    async fn receive(
        &self,
        request: &TransferRequest<'_>,
        release: Arc<dyn Release>,
        reporter: &dyn Reporter,
    ) -> Result<Transferred, MirrorError> {
        let id = release.id().clone();
        let folder = self.own_folder(&id.address)?;
        let path = folder.join(format!("{}.json", id.version));
        let is_first = self.swept.lock().unwrap_or_else(PoisonError::into_inner).insert(folder.clone());
        let listed = blocking(move || {
            std::fs::create_dir_all(&folder).map_err(|error| StoreError::io("create", &folder, error))?;
            if is_first {
                tofu_oci_disk::sweep(&folder, tofu_oci_disk::FolderOwner::Ours);
            }
            Ok::<_, MirrorError>(MirrorDocument::read(&path)?.archives())
        });
        let listed: BTreeMap<String, MirrorArchive> = listed.await?;
        let fetcher = Fetcher::new(request.jobs, request.limits, reporter);
        let work = request.platforms.clone().into_iter().map(|platform| {
            let (release, listed, fetcher) = (Arc::clone(&release), listed.get(&platform.to_string()), &fetcher);
            async move {
                let offer = release.offer(&platform).await?;
                self.package(request, fetcher, &offer, listed, reporter).await
            }
        });
        let packages: Vec<TreePackage> =
            futures_util::stream::iter(work).buffered(request.jobs.max(1)).try_collect().await?;
        let mut transfers = Transfers::default();
        for package in &packages {
            match package.written {
                Some(bytes) => {
                    transfers.uploaded += 1;
                    transfers.bytes += bytes;
                }
                None => transfers.present += 1,
            }
        }
        let zips: Vec<PackageHash> = packages.iter().filter_map(|package| package.archive.zh().cloned()).collect();
        let (changed, platforms) = self.list(&id, packages, reporter).await?;
        if transfers.uploaded > 0 || self.lacks_sums(&id.address, &id.version).await {
            self.put_sums(&*release, &zips).await?;
        }
        if changed || transfers.uploaded > 0 {
            self.written.store(true, Ordering::Relaxed);
        }
        Ok(Transferred { index: None, platforms, transfers, unchanged: !changed && transfers.uploaded == 0 })
    }

    async fn is_whole(&self, address: &ProviderAddr, version: &Version) -> Result<bool, MirrorError> {
        let folder = self.own_folder(address)?;
        let (document, tree) = (folder.join(format!("{version}.json")), folder.clone());
        let archives = blocking(move || Ok::<_, MirrorError>(MirrorDocument::read(&document)?.archives())).await?;
        for archive in archives.values().filter(|archive| archive.zh().is_some()) {
            let path = tree.join(&archive.url);
            // What another tool has listed may lie elsewhere.
            if path.parent() == Some(&tree) && !zips::is_listed_one(&path, archive, self.compared).await? {
                return Ok(false);
            }
        }
        Ok(true)
    }

    async fn complete(&self, address: &ProviderAddr, version: &Version, from: &dyn Source) -> Result<(), MirrorError> {
        if !self.lacks_sums(address, version).await {
            return Ok(());
        }
        let document = self.own_folder(address)?.join(format!("{version}.json"));
        let archives = blocking(move || Ok::<_, MirrorError>(MirrorDocument::read(&document)?.archives())).await?;
        let zips: Vec<PackageHash> = archives.values().filter_map(|archive| archive.zh().cloned()).collect();
        let release = from.release(address, version).await?;
        self.put_sums(&*release, &zips).await
    }

    async fn finish(&self, _reporter: &dyn Reporter) -> Result<(), MirrorError> {
        if !self.written.swap(false, Ordering::Relaxed) {
            return Ok(());
        }
        let dir = self.dir.clone();
        let flushed = blocking(move || sync_tree(&dir).map_err(|error| StoreError::io("write", dir, error))).await;
        if flushed.is_err() {
            self.written.store(true, Ordering::Relaxed);
        }
        Ok(flushed?)
    }
}

/// The checksums of which the offered package has one; `None` if its place does not say.
fn offered(offer: &Offer) -> Option<Vec<PackageHash>> {
    let known: Vec<PackageHash> = match offer.zh() {
        Some(zh) => vec![zh],
        None => offer.allowed.clone(),
    };
    (!known.is_empty()).then_some(known)
}

/// What a document lists; nothing if it cannot be read. Whoever changes it then finds out why.
fn listed(path: &Path, member: &str) -> BTreeSet<String> {
    let document = MirrorDocument::read(path).ok();
    document.iter().flat_map(|document| document.names(member)).map(str::to_owned).collect()
}

/// Writes a file beside its place and renames it.
fn put(path: &Path, bytes: &[u8]) -> Result<(), StoreError> {
    let failed = |error| StoreError::io("write", path, error);
    let file = ScratchFile::beside(path.parent().unwrap_or(path)).map_err(failed)?;
    std::io::Write::write_all(&mut file.as_file(), bytes).map_err(failed)?;
    file.put(path).map_err(failed)
}
