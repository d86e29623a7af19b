//! Blobs: whether they exist, and their contents.

use std::io::{Seek as _, Write as _};
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use futures_util::TryStreamExt as _;
use serde_json::Value;
use tofu_oci_archive::{ArchiveError, Limits, PackageContents, ReadSource, read_tar_zst, read_zip, zip_programs};
use tofu_oci_disk::{Purpose, Scratch};
use tofu_oci_store::{ReadStore, StoreError};
use tofu_oci_types::{Descriptor, Digest, DigestHasher, Event, Reporter, WorkUnit};

use super::budget::{ReadBudget, spend};
use super::{FaultKind, PackageFacts, ReadFault, is_any_executable};
use crate::go::{ZipFault, list_zip};

/// The largest config that is read, in bytes.
const CONFIG_LIMIT: usize = 4 * 1024 * 1024;

/// The blob at a digest.
#[derive(Clone, Debug)]
pub struct FoundBlob {
    /// The digest as the descriptor writes it, well-formed or not.
    pub digest: String,
    pub content: Result<BlobContent, ReadFault>,
}

/// What was read of a blob.
#[derive(Clone, Debug)]
pub enum BlobContent {
    /// It exists; its bytes were not read.
    There,
    /// A config, with its JSON value if it is valid JSON.
    Document {
        /// Bytes.
        size: u64,
        /// Whether they have the digest.
        intact: bool,
        value: Option<Value>,
    },
    /// A layer that was read to its end.
    Package(Box<PackageFacts>),
}

/// Reads a config.
pub(super) async fn read_config(
    store: &dyn ReadStore,
    descriptor: &Descriptor,
    budget: &ReadBudget,
) -> Result<BlobContent, ReadFault> {
    let mut stream = store.fetch_unverified(descriptor).await.map_err(|error| ReadFault::from(&error))?;
    let mut bytes = Vec::new();
    while let Some(piece) = stream.try_next().await.map_err(|error| ReadFault::from(&error))? {
        bytes.extend_from_slice(&piece);
        if bytes.len() > CONFIG_LIMIT {
            return Err(ReadFault::new(
                FaultKind::TooLarge,
                format!("config {} has more than 4 MiB", descriptor.digest),
            ));
        }
    }
    budget.take(&bytes).await?;
    let (size, intact) = (bytes.len() as u64, descriptor.digest.matches(&bytes));
    Ok(BlobContent::Document { size, intact, value: serde_json::from_slice(&bytes).ok() })
}

/// How many bytes of all layers have been read.
pub(super) struct LayerProgress<'a> {
    pub(super) reporter: &'a dyn Reporter,
    done: AtomicU64,
    of: AtomicU64,
}

impl<'a> LayerProgress<'a> {
    /// Nothing is known of them.
    pub(super) fn new(reporter: &'a dyn Reporter) -> Self {
        Self { reporter, done: AtomicU64::new(0), of: AtomicU64::new(0) }
    }

    /// These sizes are claimed; one below zero counts as none.
    pub(super) fn begin(&self, sizes: impl Iterator<Item = i64>) {
        let of = sizes.fold(0_u64, |sum, size| sum.saturating_add(size.try_into().unwrap_or(0)));
        self.of.store(of, Ordering::Relaxed);
    }

    fn more(&self, bytes: u64) {
        let (of, done) = (self.of.load(Ordering::Relaxed), self.done.fetch_add(bytes, Ordering::Relaxed) + bytes);
        let subject = "packages read".to_owned();
        self.reporter.event(&Event::Working { subject, done: done.min(of), of, unit: WorkUnit::Bytes });
    }
}

/// The bytes of a layer, in a temporary file.
pub(super) struct DownloadedLayer {
    // Dropped before its folder.
    pub(super) file: tempfile::NamedTempFile,
    _folder: Scratch,
    pub(super) size: u64,
    sha256: Digest,
    /// Whether they have the digest that names them.
    pub(super) intact: bool,
}

impl DownloadedLayer {
    /// Makes the file ready to be read from its start.
    pub(super) fn rewind(&mut self) -> std::io::Result<()> {
        self.file.flush()?;
        self.file.as_file_mut().rewind()
    }
}

/// Reads a layer to its end, into a temporary file.
pub(super) async fn download_layer(
    store: &dyn ReadStore,
    descriptor: &Descriptor,
    work_dir: &Path,
    moved: &LayerProgress<'_>,
) -> Result<DownloadedLayer, ReadFault> {
    let limits = Limits::default();
    limits.check_packed(descriptor.size).map_err(|error| too_large(&error))?;
    let mut stream = store.fetch_unverified(descriptor).await.map_err(|error| ReadFault::from(&error))?;
    let folder =
        Scratch::temporary(work_dir, Purpose::Check).map_err(|error| local("create a folder in", work_dir, error))?;
    let file = tempfile::NamedTempFile::new_in(folder.path())
        .map_err(|error| local("create a file in", folder.path(), error))?;
    let (mut sha256, mut own) = (DigestHasher::sha256(), descriptor.digest.hasher());
    let mut size = 0;
    while let Some(piece) = stream.try_next().await.map_err(|error| ReadFault::from(&error))? {
        size += piece.len() as u64;
        moved.more(piece.len() as u64);
        limits.check_packed(size).map_err(|error| too_large(&error))?;
        sha256.update(&piece);
        if let Some(own) = &mut own {
            own.update(&piece);
        }
        file.as_file().write_all(&piece).map_err(|error| local("write", file.path(), error))?;
    }
    let intact = own.map(DigestHasher::finish).as_ref() == Some(&descriptor.digest);
    Ok(DownloadedLayer { file, _folder: folder, size, sha256: sha256.finish(), intact })
}

/// What descriptors say that a layer is, apart from a zip.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum LayerReadAs {
    Zip,
    /// A tar in Zstandard as well.
    Tar,
}

/// Reads a layer to its end.
pub(super) async fn read_layer(
    store: &dyn ReadStore,
    (descriptor, read_as): (&Descriptor, LayerReadAs),
    work_dir: &Path,
    budget: &ReadBudget,
    moved: &LayerProgress<'_>,
) -> Result<BlobContent, ReadFault> {
    let layer = download_layer(store, descriptor, work_dir, moved).await?;
    let unpacked = Arc::clone(&budget.unpacked);
    let examined = tokio::task::spawn_blocking(move || examine(layer, read_as, &unpacked)).await;
    let package = examined.unwrap_or_else(|error| Err(StoreError::io("read", work_dir, std::io::Error::other(error))));
    match package.map_err(|error| ReadFault::from(&error))? {
        Some(package) => Ok(BlobContent::Package(Box::new(package))),
        None => Err(ReadFault::new(FaultKind::NotRead, "it was not read: it has more than 100000 entries")),
    }
}

/// This program does not install it. Another client may, so no rule judges it.
fn too_large(error: &ArchiveError) -> ReadFault {
    ReadFault::new(FaultKind::NotRead, format!("it was not read: {error}"))
}

/// The package, or `None` if its directory has too many entries.
fn examine(
    mut layer: DownloadedLayer,
    read_as: LayerReadAs,
    unpacked: &AtomicU64,
) -> Result<Option<PackageFacts>, StoreError> {
    let path = layer.file.path().to_owned();
    let failed = |error| StoreError::io("read", &path, error);
    layer.rewind().map_err(failed)?;
    let DownloadedLayer { file, size, sha256, intact, .. } = &mut layer;
    let (size, intact, sha256) = (*size, *intact, sha256.clone());
    let zip = list_zip(file.as_file_mut(), size, unpacked).map_err(failed)?;
    if zip == Err(ZipFault::TooMany) {
        return Ok(None);
    }
    let contents = match read_zip(file.path(), &Limits::default()) {
        Err(ArchiveError::Io(error)) => return Err(error.into()),
        read => PackageFacts::contents_of(read),
    };
    let programs = zip_programs(file.path(), &is_any_executable).unwrap_or_default();
    let tar = match read_as {
        LayerReadAs::Zip => None,
        LayerReadAs::Tar => tar(file.path(), unpacked)?,
    };
    Ok(Some(PackageFacts { size, sha256, intact, zip, contents, programs, tar }))
}

/// What the bytes hold as a tar in Zstandard, or why an installer would not unpack them; `None` if no more may be `unpacked`.
fn tar(path: &Path, unpacked: &AtomicU64) -> Result<Option<Result<PackageContents, String>>, StoreError> {
    let limits = Limits::default();
    if unpacked.load(Ordering::Relaxed) == 0 {
        return Ok(None);
    }
    let read = ReadSource::open(path).and_then(|mut source| read_tar_zst(&mut source, &limits));
    // Nobody knows how much of a refused one came out.
    spend(unpacked, read.as_ref().map_or(limits.total_bytes, PackageContents::bytes));
    match read {
        Err(ArchiveError::Io(error)) => Err(error.into()),
        read => Ok(Some(PackageFacts::contents_of(read))),
    }
}

fn local(action: &'static str, path: &Path, error: std::io::Error) -> ReadFault {
    ReadFault::from(&StoreError::io(action, path, error))
}

#[cfg(test)]
mod tests {
    use tofu_oci_store::MemoryStore;

    use super::*;

    /// The fault of a layer with this declared size that does not exist.
    async fn read(size: u64) -> (FaultKind, String) {
        let descriptor = Descriptor::new("archive/zip", Digest::sha256(b"package"), size);
        let (store, folder) = (MemoryStore::new("memory".parse().unwrap()), tempfile::tempdir().unwrap());
        let (budget, moved) = (ReadBudget::new(), LayerProgress::new(&tofu_oci_types::NoReporter));
        let fault = read_layer(&store, (&descriptor, LayerReadAs::Zip), folder.path(), &budget, &moved)
            .await
            .expect_err("it is not there");
        (fault.kind, fault.text)
    }

    #[tokio::test]
    async fn a_layer_declared_as_larger_than_the_limit_is_not_asked_for() {
        let limit = Limits::default().packed_bytes;
        assert_eq!(read(limit).await.0, FaultKind::Missing);
        let (kind, text) = read(limit + 1).await;
        assert_eq!(kind, FaultKind::NotRead);
        insta::assert_snapshot!(text, @"it was not read: the archive has 2147483649 bytes or more, and the limit is 2147483648");
        assert_eq!(read(1 << 50).await.0, FaultKind::NotRead);
    }
}
