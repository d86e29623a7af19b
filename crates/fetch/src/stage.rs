//! An offer's bytes, fetched, checked and unpacked into a temporary folder.

use std::path::{Path, PathBuf};
use std::sync::atomic::AtomicU64;

use tofu_oci_archive::{
    ArchiveError, LayerCompression, LayerTree, Limits, PackageContents, input_files, read_directory, read_zip,
    save_zip, unpack_tar_zst, unpack_zip, write_zip,
};
use tofu_oci_layout::{LayerFormat, media_type};
use tofu_oci_source::{Layer, Locator, Offer, Package, Part};
use tofu_oci_types::{PackageHash, Reporter, zip_name};

use crate::FetchError;
use crate::blocking::blocking;
use crate::chunks::{ChunkReceiver, queue};
use crate::error::package_error;
use crate::link::{copy, link_folder};
use crate::place::{PackageForm, PackagePath};
use crate::staging::StagingFolder;

/// A package in a temporary folder beside its place. Its bytes have the sizes and digests of the offer, and its
/// structure is valid; it may still be the wrong package. Dropping it removes it.
#[derive(Debug)]
pub(crate) struct Staged {
    pub(crate) staging: StagingFolder,
    /// The folder or archive that will be renamed into place.
    pub(crate) package: PathBuf,
    pub(crate) contents: PackageContents,
    pub(crate) archive: ArchiveOrigin,
    pub(crate) origin: PackageOrigin,
    /// The `zh:` of a zip whose place named no digest.
    pub(crate) zh: Option<PackageHash>,
}

/// Where a package was taken from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PackageOrigin {
    /// The place that offers it.
    Place,
    /// That place; its small layer was fetched, and not the zip.
    SmallLayer,
    /// The package cache: nothing was fetched.
    Cache,
}

/// What is fetched of an offer.
#[derive(Clone, Copy, Debug)]
pub(crate) enum OfferedBytes<'a> {
    /// What the package consists of.
    Package,
    /// The layer that holds the same package.
    SmallLayer(&'a Part),
}

/// Where the bytes of an archive come from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum ArchiveOrigin {
    /// The release's own. Folders count too.
    Original,
    /// Made here from an image's files: another zip than the release's.
    MadeHere,
}

/// Fetches and unpacks; `received` counts the bytes. If the future is dropped, the download ends, and the unpacking thread
/// notices and cleans up.
pub(crate) async fn stage(
    offer: &Offer,
    bytes: OfferedBytes<'_>,
    place: &PackagePath,
    limits: &Limits,
    received: &AtomicU64,
    reporter: &dyn Reporter,
) -> Result<Staged, FetchError> {
    let (parts, origin): (Vec<&Part>, _) = match bytes {
        OfferedBytes::Package => (offer.package.parts().collect(), PackageOrigin::Place),
        OfferedBytes::SmallLayer(layer) => (vec![layer], PackageOrigin::SmallLayer),
    };
    let compressions = match &offer.package {
        Package::Layers(layers) => layers.iter().map(|layer| compression(offer, layer)).collect::<Result<_, _>>()?,
        Package::Zip(_) | Package::Folder(_) => Vec::new(),
    };
    let (sender, mut chunks) = queue();
    let work = Unpacking { offer: offer.clone(), origin, place: place.clone(), limits: limits.clone(), compressions };
    // The thread owns the staging folder, and removes it after it has closed the last file.
    let unpacking = blocking(move || work.run(&mut chunks));
    let (sent, unpacked) = tokio::join!(sender.send(offer, &parts, limits, received, reporter), unpacking);
    // A broken download is the cause; the unpacker's error is its effect.
    let zh = sent?;
    Ok(Staged { zh, ..unpacked? })
}

fn compression(offer: &Offer, layer: &Layer) -> Result<LayerCompression, FetchError> {
    let media_type = match &layer.part.at {
        Locator::Blob(media_type) => media_type,
        Locator::Url(_) | Locator::File(_) => "",
    };
    match media_type::layer_format(media_type) {
        Some(LayerFormat::Tar) => Ok(LayerCompression::None),
        Some(LayerFormat::TarGzip) => Ok(LayerCompression::Gzip),
        Some(LayerFormat::TarZstd) => Ok(LayerCompression::Zstd),
        None => Err(FetchError::LayerType {
            address: offer.address().clone(),
            version: offer.version().clone(),
            layer: layer.part.to_string(),
            media_type: media_type.to_owned(),
        }),
    }
}

/// What the unpacking thread does.
struct Unpacking {
    offer: Offer,
    origin: PackageOrigin,
    place: PackagePath,
    limits: Limits,
    compressions: Vec<LayerCompression>,
}

impl Unpacking {
    fn run(&self, receiver: &mut ChunkReceiver) -> Result<Staged, FetchError> {
        let staging = match &self.place.scratch {
            Some(scratch) => StagingFolder::scratch(scratch)?,
            None => StagingFolder::beside(&self.place)?,
        };
        if self.origin == PackageOrigin::SmallLayer {
            return self.small_layer(staging, receiver);
        }
        let (package, contents, archive) = match (&self.offer.package, self.place.form) {
            (Package::Zip(_), PackageForm::Folder) => {
                let folder = staging.folder("package")?;
                let contents =
                    self.read_to_the_end(receiver, |receiver| unpack_zip(receiver, &folder, &self.limits))?;
                (folder, contents, ArchiveOrigin::Original)
            }
            (Package::Zip(_), PackageForm::Archive) => {
                let zip = staging.path().join(self.zip_name());
                self.read_to_the_end(receiver, |receiver| save_zip(receiver, &zip, &self.limits))?;
                let contents = read_zip(&zip, &self.limits).map_err(|error| self.refused(error))?;
                (zip, contents, ArchiveOrigin::Original)
            }
            (Package::Layers(layers), PackageForm::Folder) => {
                let (folder, contents) = self.union(layers, &staging, receiver)?;
                (folder, contents, ArchiveOrigin::Original)
            }
            (Package::Layers(layers), PackageForm::Archive) => {
                let (folder, _) = self.union(layers, &staging, receiver)?;
                self.zipped(&folder, &staging)?
            }
            (Package::Folder(from), PackageForm::Folder) => {
                // Read before a copy: a link to a folder may lead in a circle.
                let mut contents = read_directory(from, &self.limits).map_err(|error| self.refused(error))?;
                let folder = staging.path().join("package");
                if !self.place.takes_links() || link_folder(from, &folder).is_err() {
                    copy(from, &folder)?;
                    contents = read_directory(&folder, &self.limits).map_err(|error| self.refused(error))?;
                }
                (folder, contents, ArchiveOrigin::Original)
            }
            (Package::Folder(from), PackageForm::Archive) => {
                read_directory(from, &self.limits).map_err(|error| self.refused(error))?;
                self.zipped(from, &staging)?
            }
        };
        Ok(Staged { staging, package, contents, archive, origin: self.origin, zh: None })
    }

    fn small_layer(&self, staging: StagingFolder, receiver: &mut ChunkReceiver) -> Result<Staged, FetchError> {
        let package = staging.folder("package")?;
        let contents = self.read_to_the_end(receiver, |receiver| unpack_tar_zst(receiver, &package, &self.limits))?;
        let archive = ArchiveOrigin::Original;
        Ok(Staged { staging, package, contents, archive, origin: self.origin, zh: None })
    }

    fn zip_name(&self) -> String {
        zip_name(self.offer.address(), self.offer.version(), &self.offer.platform)
    }

    /// A zip of a folder's files.
    fn zipped(
        &self,
        folder: &Path,
        staging: &StagingFolder,
    ) -> Result<(PathBuf, PackageContents, ArchiveOrigin), FetchError> {
        let zip = staging.path().join(self.zip_name());
        let written = input_files(folder, self.offer.address().provider_type())
            .and_then(|files| write_zip(&files, &zip))
            .map_err(|error| self.refused(error))?;
        Ok((zip, written.contents, ArchiveOrigin::MadeHere))
    }

    fn union(
        &self,
        layers: &[Layer],
        staging: &StagingFolder,
        receiver: &mut ChunkReceiver,
    ) -> Result<(PathBuf, PackageContents), FetchError> {
        let spool = staging.folder("layers")?;
        let folder = staging.folder("package")?;
        let mut tree = LayerTree::new(&spool, self.limits.clone()).map_err(|error| self.refused(error))?;
        for (layer, compression) in layers.iter().zip(&self.compressions) {
            self.read_to_the_end(receiver, |receiver| tree.apply(receiver, *compression, layer.diff_id.as_ref()))?;
        }
        let contents = tree.materialise(&folder).map_err(|error| self.refused(error))?;
        Ok((folder, contents))
    }

    fn read_to_the_end<T>(
        &self,
        receiver: &mut ChunkReceiver,
        read: impl FnOnce(&mut ChunkReceiver) -> Result<T, ArchiveError>,
    ) -> Result<T, FetchError> {
        receiver.read_part(read).map_err(|error| self.refused(error))
    }

    fn refused(&self, source: ArchiveError) -> FetchError {
        package_error(&self.offer, source)
    }
}
