//! Packages as zips: streamed from their place and verified on the way, or made here and kept on disk.
//!
//! ```text
//! ServedPackage --zip--> PackageZip { digest, size }    no byte of a zip layer is read for it
//! GET --answer--> the whole zip     hashed on the way; its end is held back until the digest is right. If the registry sends its
//!                                   readers to another host, of a module, and if every zip is kept: of a zip on disk, which is
//!                                   fetched and verified first, and hashed again if an hour has passed or the file may have changed
//!                 a part of it      of a zip on disk: a digest says nothing about a part
//!                 304, 416, 502     502 only before the header; a body that breaks later ends the connection
//!
//! the registry fails                what was verified and lies on the disk is sent
//! nothing comes                     502 after 45 seconds
//! no room on the disk               zips that no request reads go, once and as many bytes as the new one has; then the client gets
//!                                   the whole, also for a part, if the registry sends that itself, which needs no room
//! every zip that a client gets      its `h1:` is computed once (`learned`), for lock files
//! ```

mod answer;
mod compact;
#[cfg(any(test, feature = "fuzzing"))]
pub(crate) mod fuzzing;
mod held_back;
mod learned;
mod made;
mod progress;
mod range;
mod work;
mod zip_folder;

use std::io;
use std::ops::Range;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use futures_util::StreamExt as _;
use tofu_oci_archive::Limits;
use tofu_oci_source::{Locator, Offer, Package};
use tofu_oci_store::{ByteStream, ReadStore, StoreError, StoreItem, file_range, verified};
use tofu_oci_types::{Descriptor, Digest, PackageHash, Place, Reporter, Scheme, zip_name};

use self::learned::{LearnedHashes, ZipClaims};
use self::made::ZipMaker;
use self::work::{LayerContents, ZipLayer};
use self::zip_folder::{CachedZip, ZipFolder};
use crate::place_fault::upstream;
use crate::served_module::module_zip_name;
use crate::{Refusal, ServedAddress, ServedModule, ServedPackage};

/// How packages are served.
#[derive(Clone, Debug)]
pub struct PackageOptions {
    /// A folder of this program alone, for zips that are made here; it is created if it is missing. Instances on one machine may
    /// share it.
    pub cache: PathBuf,
    /// Most bytes of the zips in it. Zips in use stay, also if they are more.
    pub cache_bytes: u64,
    /// What a package may hold.
    pub limits: Limits,
    /// How zips get to a client.
    pub delivery: ZipDelivery,
    /// Who may keep a zip on its way to the client.
    pub visibility: Visibility,
}

/// How the zip of a provider gets from the registry to a client.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ZipDelivery {
    /// Through this program, as it comes.
    PassedOn,
    /// If the registry answers with an address on another host, the client is sent there.
    SentAway,
    /// Out of the cache, which has every zip that was asked for: it is served also while its registry is down.
    FromCache,
}

/// Who may keep a zip on its way to the client.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Visibility {
    Public,
    /// The client alone: access is restricted.
    Private,
}

/// Zips of packages.
pub struct Packages {
    options: PackageOptions,
    folder: Arc<ZipFolder>,
    maker: ZipMaker,
    learned: Option<Arc<LearnedHashes>>,
}

/// The zip of one package. Clones are cheap.
#[derive(Clone)]
pub struct PackageZip {
    /// Its digest: a SHA-256; of a module perhaps a SHA-512.
    pub digest: Digest,
    /// Its size in bytes, as its place says.
    pub size: u64,
    /// What it is called: `terraform-provider-TYPE_VERSION_OS_ARCH.zip`, `NAME-SYSTEM_VERSION.zip`.
    pub name: String,
    address: ServedAddress,
    place: Place,
    /// `None` of a module, which has no `h1:`.
    claims: Option<ZipClaims>,
    bytes: ZipBytes,
}

/// Where the bytes of a zip come from.
#[derive(Clone)]
enum ZipBytes {
    /// A layer of a repository.
    Layer(ZipLayer),
    /// A file of this program, which was made or fetched for it.
    Kept(Arc<CachedZip>),
}

impl Packages {
    /// Zips that are served by these options.
    pub fn new(options: PackageOptions) -> Self {
        let folder = Arc::new(ZipFolder::new(options.cache.clone(), options.cache_bytes));
        let maker = ZipMaker::new(Arc::clone(&folder), options.limits.clone());
        Self { options, folder, maker, learned: None }
    }

    /// The same, which learn the `h1:` of each zip that a client gets. False claims of releases are reported.
    #[must_use]
    pub fn learning(self, reporter: Arc<dyn Reporter>) -> Self {
        let learned = LearnedHashes::new(Arc::clone(&self.folder), self.options.limits.clone(), reporter);
        Self { learned: Some(Arc::new(learned)), ..self }
    }

    /// The `h1:` of a zip, if it is known: what was learned, or else what its release claims and clients may see.
    pub(crate) async fn h1(&self, zip: &Digest, claimed: Option<&PackageHash>) -> Option<PackageHash> {
        match &self.learned {
            Some(learned) => learned.h1(zip, claimed).await,
            None => claimed.cloned(),
        }
    }

    /// Grows with each `h1:` that is learned.
    pub(crate) fn changes(&self) -> u64 {
        self.learned.as_ref().map_or(0, |learned| learned.changes())
    }

    /// The bytes of the zips that are kept on disk now. It reads the folder.
    pub(crate) fn kept_bytes(&self) -> u64 {
        self.maker.bytes()
    }

    /// A folder of this program alone, which may not exist yet.
    pub(crate) fn folder(&self) -> &Path {
        &self.options.cache
    }

    /// The zip of a package. For a zip layer nothing is read; any other package is fetched, verified and made a zip once.
    ///
    /// # Errors
    /// If the package cannot be read, or is larger than the limits admit.
    pub async fn zip(&self, package: &ServedPackage) -> Result<PackageZip, Refusal> {
        let offer = &package.offer;
        let bytes = match zip_layer(offer) {
            Some((store, blob)) => {
                let admitted = self.options.limits.check_packed(blob.size);
                admitted.map_err(|error| upstream(offer.address(), &error))?;
                ZipBytes::Layer(ZipLayer { store, blob: Box::new(blob), holds: LayerContents::Provider })
            }
            None => ZipBytes::Kept(self.maker.zip(offer).await?),
        };
        let (digest, size) = match &bytes {
            ZipBytes::Layer(ZipLayer { blob, .. }) => (blob.digest.clone(), blob.size),
            ZipBytes::Kept(kept) => (kept.digest.clone(), kept.size),
        };
        let name = zip_name(offer.address(), offer.version(), &offer.platform);
        let h1 = offer.claims.get(&offer.platform).into_iter().flatten().filter(|claim| claim.scheme() == Scheme::H1);
        let claimant = format!("{} says that {name}", offer.place());
        let (h1, counts) = (h1.cloned().collect(), package.h1().is_some());
        let claims = ZipClaims { digest: digest.clone(), claimant, h1, counts };
        if let (Some(learned), ZipBytes::Kept(kept)) = (&self.learned, &bytes) {
            learned.on_disk(&claims, kept);
        }
        let (address, place, claims) = (offer.address().into(), offer.place().clone(), Some(claims));
        Ok(PackageZip { digest, size, name, address, place, claims, bytes })
    }

    /// The zip of a module, of which nothing is read.
    ///
    /// # Errors
    /// If it is larger than the limits admit.
    pub fn module_zip(&self, module: &ServedModule) -> Result<PackageZip, Refusal> {
        let blob = module.manifest.package().clone();
        let admitted = self.options.limits.check_packed(blob.size);
        admitted.map_err(|error| upstream(&module.address, &error))?;
        Ok(PackageZip {
            digest: blob.digest.clone(),
            size: blob.size,
            name: module_zip_name(&module.address, &module.version),
            address: (&module.address).into(),
            place: module.store.place(),
            claims: None,
            bytes: ZipBytes::Layer(ZipLayer {
                store: Arc::clone(&module.store),
                blob: Box::new(blob),
                holds: LayerContents::Module(module.version.clone()),
            }),
        })
    }

    /// Whether the zip lies on disk.
    async fn is_on_disk(&self, zip: &PackageZip) -> bool {
        match &zip.bytes {
            ZipBytes::Layer(layer) => self.maker.has_layer(&zip.address, layer).await,
            ZipBytes::Kept(_) => true,
        }
    }

    /// The zip on disk, all of it and verified.
    async fn on_disk(&self, zip: &PackageZip) -> Result<Arc<CachedZip>, Refusal> {
        match &zip.bytes {
            ZipBytes::Layer(layer) => self.maker.layer(&zip.address, layer).await,
            ZipBytes::Kept(kept) => Ok(Arc::clone(kept)),
        }
    }

    /// These bytes of the zip on disk. All of them end in an error if their digest is wrong: they are hashed, unless the file
    /// shows at the end that it is the one that was compared with its digest.
    fn read(&self, zip: &PackageZip, kept: &Arc<CachedZip>, range: Range<u64>) -> Result<ByteStream, StoreError> {
        let is_whole = range == (0..zip.size);
        let stream = file_range(Arc::clone(&kept.file), kept.path.clone(), range);
        if !is_whole {
            return Ok(stream);
        }
        if (&kept.digest, kept.size) == (&zip.digest, zip.size) && kept.shows_changes {
            return Ok(self.unchanged(zip, Arc::clone(kept), stream));
        }
        verified(zip.place.clone(), stream, &Descriptor::new("application/zip", zip.digest.clone(), zip.size))
    }

    /// Ends the bytes of a file in an error if it is not as it was when it was compared.
    fn unchanged(&self, zip: &PackageZip, kept: Arc<CachedZip>, stream: ByteStream) -> ByteStream {
        let (folder, zip) = (Arc::clone(&self.folder), zip.clone());
        let check = async move {
            let (path, expected) = (kept.path.clone(), kept.digest.clone());
            let looked = tokio::task::spawn_blocking(move || folder.other_digest(&kept)).await;
            let what = StoreItem::Blob(zip.digest);
            match looked.unwrap_or_else(|stopped| Err(io::Error::other(stopped))) {
                Ok(None) => None,
                Ok(Some(actual)) => {
                    let actual = Box::new(actual);
                    Some(Err(StoreError::DigestMismatch { place: zip.place, what, expected, actual }))
                }
                Err(error) => Some(Err(StoreError::io("read", &path, error))),
            }
        };
        stream.chain(futures_util::stream::once(check).filter_map(std::future::ready)).boxed()
    }
}

/// The layer of a repository that is the zip of an offer, and has a SHA-256.
fn zip_layer(offer: &Offer) -> Option<(Arc<dyn ReadStore>, Descriptor)> {
    let (Package::Zip(part), Some(_)) = (&offer.package, offer.zh()) else { return None };
    let Locator::Blob(media_type) = &part.at else { return None };
    let blob = Descriptor::new(media_type, part.digest.clone()?, part.size?);
    Some((offer.release.store()?, blob))
}

#[cfg(test)]
pub(crate) mod tests;
