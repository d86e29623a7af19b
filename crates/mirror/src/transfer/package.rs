//! Whether a package is streamed into a mirror or verified on disk first.

use std::path::Path;
use std::sync::Arc;

use async_trait::async_trait;
use futures_util::TryStreamExt as _;
use tofu_oci_fetch::{FetchError, Fetcher, Verified};
use tofu_oci_packer::ZipPackage;
use tofu_oci_source::{Offer, Package, Part};
use tofu_oci_store::{Body, ByteStream, FileBody, StoreError};
use tofu_oci_types::{Digest, DigestHasher, PackageHash, zip_name};

use super::request::TransferRequest;
use super::streamed::StreamedPart;
use crate::MirrorError;

/// A package, and what can say why it could not be read.
pub(super) struct CarriedPackage {
    pub(super) zip: ZipPackage,
    pub(super) streamed: Option<Arc<StreamedPart>>,
}

/// A zip that lies in a temporary folder, which is removed with the value.
struct SpooledZip(Verified);

#[async_trait]
impl Body for SpooledZip {
    async fn open(&self) -> Result<ByteStream, StoreError> {
        FileBody(self.0.path()).open().await
    }
}

impl CarriedPackage {
    /// The package of an offer. It is streamed if its digest and size are known; any other is fetched to disk and verified
    /// first, because a store must know both before the first byte.
    ///
    /// A streamed package has no `h1:`: that would take all its bytes before the index is written, twice as long.
    pub(super) async fn new(
        request: &TransferRequest<'_>,
        offer: &Offer,
        asking: SizeFrom,
        fetcher: &Fetcher<'_>,
    ) -> Result<Self, MirrorError> {
        if let Some(part) = streamable(offer, asking).await? {
            return Self::streamed(request, offer, part);
        }
        let verified = fetcher.zip(offer, request.work_dir).await?;
        let h1 = verified.hashes().h1.clone();
        let path = verified.path().to_owned();
        let (digest, size) = hashed(&path).await?;
        let body = Arc::new(SpooledZip(verified));
        Ok(Self { zip: zip_package(offer, digest, size, h1, body), streamed: None })
    }

    fn streamed(request: &TransferRequest<'_>, offer: &Offer, known: KnownPart) -> Result<Self, MirrorError> {
        let KnownPart { part, digest, size, opened } = known;
        check_size(request, offer, size)?;
        let body = Arc::new(StreamedPart::new(Arc::clone(&offer.release), part, opened));
        Ok(Self { zip: zip_package(offer, digest, size, None, Arc::clone(&body) as _), streamed: Some(body) })
    }
}

/// A part whose digest and size are known.
struct KnownPart {
    part: Part,
    digest: Digest,
    size: u64,
    /// Its bytes, if they were asked for the size.
    opened: Option<ByteStream>,
}

/// What says the size of a zip if its place has not.
#[derive(Clone, Copy)]
pub(super) enum SizeFrom {
    /// A request of its own: many packages wait for their turn, and a connection that waits is closed.
    Request,
    /// The answer that brings the bytes, which are read soon.
    Answer,
}

/// The zip, if it may be streamed. Its place is asked for the size if it has not said it.
async fn streamable(offer: &Offer, asking: SizeFrom) -> Result<Option<KnownPart>, MirrorError> {
    let (Package::Zip(part), Some(zh)) = (&offer.package, offer.zh()) else { return Ok(None) };
    let (true, Some(digest)) = (offer.allowed.is_empty() || offer.allowed.contains(&zh), part.digest.clone()) else {
        return Ok(None);
    };
    let (size, opened) = match asking {
        SizeFrom::Answer if part.size.is_none() => {
            let opened = offer.release.open(part).await?;
            (opened.size, Some(opened.stream))
        }
        SizeFrom::Answer | SizeFrom::Request => (offer.release.size(part).await?, None),
    };
    let Some(size) = size else { return Ok(None) };
    let part = Part { size: Some(size), ..part.clone() };
    Ok(Some(KnownPart { part, digest, size, opened }))
}

fn zip_package(offer: &Offer, digest: Digest, size: u64, h1: Option<PackageHash>, body: Arc<dyn Body>) -> ZipPackage {
    let filename = zip_name(offer.address(), offer.version(), &offer.platform);
    ZipPackage { platform: offer.platform.clone(), filename, digest, size, h1, body }
}

/// Refuses a package that is larger than the limit before a byte of it is read.
pub(crate) fn check_size(request: &TransferRequest<'_>, offer: &Offer, size: u64) -> Result<(), FetchError> {
    request.limits.check_packed(size).map_err(|source| FetchError::Package {
        address: offer.address().clone(),
        version: offer.version().clone(),
        platform: offer.platform.clone(),
        place: offer.place().clone(),
        source,
    })
}

/// The digest of a file, and its size in bytes.
pub(crate) async fn hashed(path: &Path) -> Result<(Digest, u64), StoreError> {
    let mut bytes = FileBody(path).open().await?;
    let (mut hasher, mut size) = (DigestHasher::sha256(), 0);
    while let Some(piece) = bytes.try_next().await? {
        hasher.update(&piece);
        size += piece.len() as u64;
    }
    Ok((hasher.finish(), size))
}
