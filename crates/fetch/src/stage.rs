//! An offer's bytes, fetched, checked and unpacked into a temporary folder.

use std::path::PathBuf;

use tofu_oci_archive::{
    ArchiveError, LayerCompression, LayerTree, Limits, PackageContents, input_files, read_zip, save_zip, unpack_zip,
    write_zip,
};
use tofu_oci_layout::{LayerFormat, media_type};
use tofu_oci_source::{LeafKind, Offer, Source};
use tofu_oci_types::Reporter;

use crate::chunks::{ChunkReceiver, queue};
use crate::place::{PackageForm, PackagePath, zip_name};
use crate::staging::Staging;
use crate::{FetchError, subject};

/// A package in a temporary folder beside its place. Its bytes had the sizes and digests of the offer, its structure
/// was checked; whether it is the *right* package has not been asked yet. Dropping it removes it.
#[derive(Debug)]
pub(crate) struct Staged {
    pub(crate) staging: Staging,
    /// The folder or archive that will be renamed into place.
    pub(crate) package: PathBuf,
    pub(crate) contents: PackageContents,
    pub(crate) archive: Archive,
}

/// Where the bytes of an archive come from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Archive {
    /// The release's own, or none was asked for.
    Original,
    /// Made here from an image's files: another zip than the release's.
    MadeHere,
}

/// Fetches and unpacks. When the future is dropped the download ends, the unpacking thread notices and cleans up.
pub(crate) async fn stage(
    source: &dyn Source,
    offer: &Offer,
    place: &PackagePath,
    limits: &Limits,
    reporter: &dyn Reporter,
) -> Result<Staged, FetchError> {
    let compressions = compressions(offer)?;
    let (feeder, mut feed) = queue();
    let work = Work { offer: offer.clone(), place: place.clone(), limits: limits.clone(), compressions };
    // The staging folder lives in the thread: it is removed there, after the last file has been closed.
    let unpacking = tokio::task::spawn_blocking(move || work.run(&mut feed));
    let subject = subject(&offer.address, &offer.version, &offer.platform);
    let (sent, unpacked) = tokio::join!(feeder.send(source, offer, &subject, reporter), unpacking);
    let unpacked = unpacked.unwrap_or_else(|panic| std::panic::resume_unwind(panic.into_panic()));
    // A broken download is the cause, and what the unpacker makes of it the effect.
    sent?;
    unpacked
}

fn compressions(offer: &Offer) -> Result<Vec<LayerCompression>, FetchError> {
    if offer.kind == LeafKind::Artifact {
        return Ok(Vec::new());
    }
    let compression = |part: &tofu_oci_types::Descriptor| match media_type::layer_format(&part.media_type) {
        Some(LayerFormat::Tar) => Ok(LayerCompression::None),
        Some(LayerFormat::TarGzip) => Ok(LayerCompression::Gzip),
        Some(LayerFormat::TarZstd) => Ok(LayerCompression::Zstd),
        None => Err(FetchError::LayerType {
            address: offer.address.clone(),
            version: offer.version.clone(),
            digest: part.digest.clone(),
            media_type: part.media_type.clone(),
        }),
    };
    offer.parts.iter().map(compression).collect()
}

/// So many bytes of something that is not read are read, to see whether the download was damaged.
const MOST_AFTER_THE_END: u64 = 4 << 20;

/// What the unpacking thread does.
struct Work {
    offer: Offer,
    place: PackagePath,
    limits: Limits,
    compressions: Vec<LayerCompression>,
}

impl Work {
    fn run(&self, feed: &mut ChunkReceiver) -> Result<Staged, FetchError> {
        let staging = match &self.place.scratch {
            Some(scratch) => Staging::scratch(scratch)?,
            None => Staging::beside(&self.place)?,
        };
        let (package, contents, archive) = match (self.offer.kind, self.place.form) {
            (LeafKind::Artifact, PackageForm::Folder) => {
                let folder = staging.folder("package")?;
                let contents = self.read_to_the_end(feed, |feed| unpack_zip(feed, &folder, &self.limits))?;
                (folder, contents, Archive::Original)
            }
            (LeafKind::Artifact, PackageForm::Archive) => {
                let zip = staging.path().join(self.zip_name());
                self.read_to_the_end(feed, |feed| save_zip(feed, &zip, &self.limits))?;
                let contents = read_zip(&zip, &self.limits).map_err(|error| self.refused(error))?;
                (zip, contents, Archive::Original)
            }
            (LeafKind::Image, PackageForm::Folder) => {
                let (folder, contents) = self.union(&staging, feed)?;
                (folder, contents, Archive::Original)
            }
            (LeafKind::Image, PackageForm::Archive) => {
                let (folder, _) = self.union(&staging, feed)?;
                let zip = staging.path().join(self.zip_name());
                let written = input_files(&folder, self.offer.address.provider_type())
                    .and_then(|files| write_zip(&files, &zip))
                    .map_err(|error| self.refused(error))?;
                (zip, written.contents, Archive::MadeHere)
            }
        };
        Ok(Staged { staging, package, contents, archive })
    }

    fn zip_name(&self) -> String {
        zip_name(&self.offer.address, &self.offer.version, &self.offer.platform)
    }

    fn union(&self, staging: &Staging, feed: &mut ChunkReceiver) -> Result<(PathBuf, PackageContents), FetchError> {
        let spool = staging.folder("layers")?;
        let folder = staging.folder("package")?;
        let mut tree = LayerTree::new(&spool, self.limits.clone()).map_err(|error| self.refused(error))?;
        for (layer, compression) in self.compressions.iter().enumerate() {
            let diff_id = self.offer.diff_ids.get(layer);
            self.read_to_the_end(feed, |feed| tree.apply(feed, *compression, diff_id))?;
        }
        let contents = tree.materialise(&folder).map_err(|error| self.refused(error))?;
        Ok((folder, contents))
    }

    /// Reads one part. If the reader refuses it, the part is read to its end all the same, because size and digest are
    /// known only there, and a damaged download is a better cause than what it looks like to the reader. What is no archive
    /// at all, or more than is read, is given up soon.
    fn read_to_the_end<T>(
        &self,
        feed: &mut ChunkReceiver,
        read: impl FnOnce(&mut ChunkReceiver) -> Result<T, ArchiveError>,
    ) -> Result<T, FetchError> {
        feed.begin_part();
        let result = read(feed);
        let complete = match &result {
            Err(error) if !error.is_refusal() => Ok(()),
            Err(error) if error.ends_reading() => feed.drain(MOST_AFTER_THE_END),
            _ => feed.drain(u64::MAX),
        };
        let value = result.map_err(|error| self.refused(error))?;
        complete.map_err(|error| self.refused(ArchiveError::Input(error)))?;
        Ok(value)
    }

    fn refused(&self, source: ArchiveError) -> FetchError {
        package_error(&self.offer, source)
    }
}

pub(crate) fn package_error(offer: &Offer, source: ArchiveError) -> FetchError {
    FetchError::Package {
        address: offer.address.clone(),
        version: offer.version.clone(),
        platform: offer.platform.clone(),
        place: offer.place.clone(),
        source,
    }
}
