//! The unions of image layers, each the package that an installer would unpack.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use futures_util::TryStreamExt as _;
use tofu_oci_archive::{
    ArchiveError, LayerCompression, LayerTree, Limits, PackageContents, Program, ReadSource, folder_programs,
};
use tofu_oci_disk::{FileError, Purpose, Scratch};
use tofu_oci_layout::{LayerFormat, media_type};
use tofu_oci_store::{ReadStore, StoreError};
use tofu_oci_types::{Descriptor, Digest};
use tokio::io::AsyncWriteExt as _;

use super::image_config::{diff_ids, is_labelled};
use crate::facts::{BlobContent, Depth, IndexEntry, RepositoryFacts, is_any_executable};

/// The package of each labelled image, by the digest of its manifest.
#[derive(Debug, Default)]
pub struct Images(BTreeMap<String, Result<Union, ImageFault>>);

/// The package of an image.
#[derive(Clone, Debug)]
pub(super) struct Union {
    pub(super) contents: PackageContents,
    /// The files of its root that may be a provider's executable, sorted by name, with what their headers say.
    pub(super) programs: Vec<(String, Option<Program>)>,
}

/// Why the layers of an image are not a package.
#[derive(Clone, Debug)]
pub(super) enum ImageFault {
    /// A layer is not the one that the config names.
    DiffId(String),
    /// A layer is not an archive that an installer unpacks.
    Layer(String),
    /// The network or the machine kept a layer from being unpacked; its content is unknown.
    Unasked(StoreError),
}

impl Images {
    /// Unpacks the labelled images of a repository into a folder in `work_dir`, one after the other; nothing at
    /// [`Depth::Manifests`]. Images whose layers are missing or damaged are left out: the facts have that already.
    pub async fn read(store: &dyn ReadStore, facts: &RepositoryFacts, work_dir: &Path) -> Self {
        let mut images = Self::default();
        if facts.depth == Depth::Manifests {
            return images;
        }
        for entry in facts.releases.iter().flat_map(|release| &release.entries) {
            let digest = &entry.descriptor.digest;
            if !is_labelled(entry) || images.0.contains_key(digest) {
                continue;
            }
            if let Some(layers) = intact_layers(entry) {
                images.0.insert(digest.clone(), union(store, layers, diff_ids(entry), work_dir).await);
            }
        }
        images
    }

    /// The error that kept the layers of an image from being unpacked, if it leaves their content unknown.
    pub(crate) fn unasked(&self, entry: &IndexEntry) -> Option<&StoreError> {
        match self.of(entry) {
            Some(Err(ImageFault::Unasked(error))) => Some(error),
            _ => None,
        }
    }

    pub(super) fn of(&self, entry: &IndexEntry) -> Option<&Result<Union, ImageFault>> {
        self.0.get(&entry.descriptor.digest)
    }
}

/// The layers and their compression; `None` if one of them is missing, damaged or not an image layer.
fn intact_layers(entry: &IndexEntry) -> Option<Vec<(Descriptor, LayerCompression)>> {
    let layer = |part: &crate::facts::LeafPart| {
        let compression = match media_type::layer_format(&part.descriptor.media_type)? {
            LayerFormat::Tar => LayerCompression::None,
            LayerFormat::TarGzip => LayerCompression::Gzip,
            LayerFormat::TarZstd => LayerCompression::Zstd,
        };
        match &part.blob.content {
            Ok(BlobContent::Package(package)) if package.intact => {}
            _ => return None,
        }
        let descriptor = part.descriptor.to_descriptor()?;
        let right_size =
            matches!(&part.blob.content, Ok(BlobContent::Package(package)) if package.size == descriptor.size);
        right_size.then_some((descriptor, compression))
    };
    entry.leaf.layers.iter().map(layer).collect()
}

async fn union(
    store: &dyn ReadStore,
    layers: Vec<(Descriptor, LayerCompression)>,
    diff_ids: Vec<Digest>,
    work_dir: &Path,
) -> Result<Union, ImageFault> {
    let folder = Scratch::temporary(work_dir, Purpose::Check)
        .map_err(|source| ImageFault::from(StoreError::io("create a folder in", work_dir, source)))?;
    let size = layers.iter().fold(0, |sum: u64, (layer, _)| sum.saturating_add(layer.size));
    Limits::default().check_packed(size).map_err(|error| ImageFault::Layer(error.to_string()))?;
    let mut files = Vec::new();
    for (number, (descriptor, compression)) in layers.iter().enumerate() {
        let path = folder.path().join(format!("layer-{number}"));
        download(store, descriptor, &path).await?;
        files.push((path, *compression));
    }
    let unpacked = tokio::task::spawn_blocking(move || {
        let outcome = unpack(folder.path(), &files, &diff_ids);
        drop(folder);
        outcome
    });
    let outcome = unpacked
        .await
        .map_err(|error| ImageFault::from(StoreError::io("unpack", "layers", std::io::Error::other(error))))?;
    outcome.map_err(|error| match error {
        ArchiveError::WrongDiffId { .. } => ImageFault::DiffId(error.to_string()),
        ArchiveError::Io(error) => ImageFault::Unasked(error.into()),
        other => ImageFault::Layer(other.to_string()),
    })
}

impl From<StoreError> for ImageFault {
    fn from(error: StoreError) -> Self {
        if error.is_of_content() { Self::Layer(error.to_string()) } else { Self::Unasked(error) }
    }
}

async fn download(store: &dyn ReadStore, descriptor: &Descriptor, path: &Path) -> Result<(), StoreError> {
    let failed = |source| StoreError::io("write", path, source);
    let mut file = tokio::fs::File::create(path).await.map_err(failed)?;
    let mut pieces = store.fetch(descriptor).await?;
    while let Some(piece) = pieces.try_next().await? {
        file.write_all(&piece).await.map_err(failed)?;
    }
    file.flush().await.map_err(failed)
}

fn unpack(folder: &Path, layers: &[(PathBuf, LayerCompression)], diff_ids: &[Digest]) -> Result<Union, ArchiveError> {
    let mut tree = LayerTree::new(folder, Limits::default())?;
    for (number, (path, compression)) in layers.iter().enumerate() {
        tree.apply(&mut ReadSource::open(path)?, *compression, diff_ids.get(number))?;
    }
    let into = folder.join("package");
    std::fs::create_dir(&into).map_err(FileError::at("create", into.clone()))?;
    let contents = tree.materialise(&into)?;
    let programs = folder_programs(&into, &is_any_executable)?;
    Ok(Union { contents, programs })
}
