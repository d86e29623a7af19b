//! Files into blobs. A layer or small layer that is made beside a zip is read back and proved. Everything here blocks
//! and runs on threads of its own.

use std::io::Read as _;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use tofu_oci_archive::{
    ArchiveError, InputFile, LayerCompression, LayerTree, Limits, ReadSource, WrittenLayer, WrittenZip, input_files,
    layer_from_zip, read_tar_zst, small_layer_from_zip, write_layer, write_small_layer, write_zip,
};
use tofu_oci_disk::Scratch;
use tofu_oci_layout::{LayerBlob, LeafKind, LeafPlan, PlatformPackage, plan_leaves};
use tofu_oci_store::{Body, FileBody};
use tofu_oci_types::{Digest, DigestHasher, PackageHash, Platform};

use crate::{DistPackage, DistSums, PackError, PackageLayout, PackageSource, SmallLayers, dist};

/// What to make of one platform's files.
pub(super) struct PackJob {
    pub(super) package: DistPackage,
    pub(super) provider_type: String,
    /// The name of the zip, whatever its file is called.
    pub(super) filename: String,
    pub(super) layout: PackageLayout,
    pub(super) small: SmallLayers,
    pub(super) sums: Vec<DistSums>,
    /// Where zips and layers are made: a folder of this push alone. Its last owner removes it: if the push is
    /// interrupted, that is the thread that still packs.
    pub(super) scratch: Arc<Scratch>,
}

/// One platform's blobs and manifests, ready to be sent.
#[derive(Clone)]
pub(super) struct Prepared {
    pub(super) platform: Platform,
    pub(super) filename: String,
    /// The zip that is published.
    pub(super) zip: Option<PackedBlob>,
    /// The image's layer that is published.
    pub(super) layer: Option<PackedBlob>,
    /// The small layer that is published.
    pub(super) small: Option<PackedBlob>,
    /// The size of the small layer that is not published, as it would save too little.
    pub(super) small_omitted: Option<u64>,
    pub(super) leaves: Vec<LeafPlan>,
}

/// Bytes that become a blob.
#[derive(Clone)]
pub(super) struct PackedBlob {
    pub(super) digest: Digest,
    pub(super) size: u64,
    pub(super) body: Arc<dyn Body>,
}

/// A file whose digest and size are known.
#[derive(Clone, Debug)]
pub(super) struct HashedFile {
    pub(super) path: PathBuf,
    pub(super) digest: Digest,
    pub(super) size: u64,
}

impl HashedFile {
    fn blob(&self) -> PackedBlob {
        let Self { path, digest, size } = self.clone();
        PackedBlob { digest, size, body: Arc::new(FileBody(path)) }
    }
}

/// What is known about a package's contents.
#[derive(Clone, Debug)]
pub(super) enum PackageH1 {
    /// From our own packing.
    Known(PackageHash),
    /// The zip has to be read through.
    Of(HashedFile),
}

/// Hashes the zip, or packs the directory, and plans the leaves.
pub(super) fn prepare(job: &PackJob) -> Result<(Prepared, PackageH1), PackError> {
    let made = match &job.package.source {
        PackageSource::Zip(path) => from_zip(job, path)?,
        PackageSource::Directory(path) | PackageSource::Program(path) => from_files(job, path)?,
    };
    let Made { filename, zip, layer, small, h1 } = made;
    let saves_little = |small: &MadeLayer| zip.as_ref().is_some_and(|zip| !is_worth_it(small.file.size, zip.size));
    let (small_omitted, small) = match small {
        Some(small) if saves_little(&small) => (Some(small.file.size), None),
        small => (None, small),
    };
    let package = PlatformPackage {
        platform: job.package.platform.clone(),
        filename,
        zip: zip.as_ref().map(|zip| (zip.digest.clone(), zip.size)),
        layer: layer.as_ref().map(MadeLayer::plan),
        small: small.as_ref().map(MadeLayer::plan),
    };
    let leaves = plan_leaves(&package, job.layout)?;
    let PlatformPackage { platform, filename, .. } = package;
    let [layer, small] = [layer, small].map(|made| made.map(|made| made.file.blob()));
    Ok((Prepared { platform, filename, zip: zip.map(|zip| zip.blob()), layer, small, small_omitted, leaves }, h1))
}

/// Whether a small layer saves enough of the zip, at least 5 %.
fn is_worth_it(small: u64, zip: u64) -> bool {
    u128::from(small) * 100 <= u128::from(zip) * 95
}

struct Made {
    filename: String,
    zip: Option<HashedFile>,
    layer: Option<MadeLayer>,
    small: Option<MadeLayer>,
    h1: PackageH1,
}

struct MadeLayer {
    file: HashedFile,
    diff_id: Digest,
}

impl MadeLayer {
    fn of(path: PathBuf, WrittenLayer { digest, size, diff_id, .. }: WrittenLayer) -> Self {
        Self { file: HashedFile { path, digest, size }, diff_id }
    }

    fn plan(&self) -> LayerBlob {
        let Self { file, diff_id } = self;
        LayerBlob { digest: file.digest.clone(), size: file.size, diff_id: diff_id.clone() }
    }
}

impl PackJob {
    fn has_small_layer(&self) -> bool {
        self.small == SmallLayers::Make && self.layout.has(LeafKind::Artifact)
    }

    /// The file that a layer is made in.
    fn layer_path(&self, ending: &str) -> PathBuf {
        self.scratch.path().join(format!("{}.{ending}", self.package.platform))
    }
}

fn from_zip(job: &PackJob, path: &Path) -> Result<Made, PackError> {
    let zip = hash_file(path)?;
    job.sums.iter().try_for_each(|sums| sums.check(path, &zip.digest))?;
    let failed = |error| PackError::archive(path, error);
    let (mut h1, mut layer, mut small) = (PackageH1::Of(zip.clone()), None, None);
    if job.has_small_layer() {
        let out = job.layer_path("tar.zst");
        let written = small_layer_from_zip(path, &out, &Limits::default()).map_err(failed)?;
        let found = written.contents.h1();
        prove_small(job, &out, &found)?;
        h1 = PackageH1::Known(found);
        small = Some(MadeLayer::of(out, written));
    }
    if job.layout.has(LeafKind::Image) {
        let out = job.layer_path("tar.gz");
        let written = layer_from_zip(path, &job.provider_type, &out, &Limits::default()).map_err(failed)?;
        let found = written.contents.h1();
        if job.layout.has(LeafKind::Artifact) {
            prove(job, &out, &written, &found)?;
        }
        h1 = PackageH1::Known(found);
        layer = Some(MadeLayer::of(out, written));
    }
    let zip = job.layout.has(LeafKind::Artifact).then_some(zip);
    Ok(Made { filename: job.filename.clone(), zip, layer, small, h1 })
}

fn from_files(job: &PackJob, path: &Path) -> Result<Made, PackError> {
    let failed = |error| PackError::archive(path, error);
    let files: Vec<InputFile> = match job.package.source {
        PackageSource::Program(_) => {
            vec![InputFile { name: dist::name(path).to_owned(), path: path.to_owned(), executable: true }]
        }
        _ => input_files(path, &job.provider_type).map_err(failed)?,
    };
    let mut h1 = None;
    let mut zip = None;
    let (mut layer, mut small) = (None, None);
    if job.layout.has(LeafKind::Artifact) {
        let out = job.scratch.path().join(&job.filename);
        let WrittenZip { digest, size, contents } = write_zip(&files, &out).map_err(failed)?;
        h1 = Some(contents.h1());
        zip = Some(HashedFile { path: out, digest, size });
    }
    if job.has_small_layer() {
        let out = job.layer_path("tar.zst");
        let written = write_small_layer(&files, &out).map_err(failed)?;
        prove_small(job, &out, h1.as_ref().unwrap_or(&written.contents.h1()))?;
        small = Some(MadeLayer::of(out, written));
    }
    if job.layout.has(LeafKind::Image) {
        let out = job.layer_path("tar.gz");
        let written = write_layer(&files, &out).map_err(failed)?;
        match &h1 {
            Some(h1) => prove(job, &out, &written, h1)?,
            None => h1 = Some(written.contents.h1()),
        }
        layer = Some(MadeLayer::of(out, written));
    }
    let h1 = h1.expect("every layout has leaves of one kind at least");
    Ok(Made { filename: job.filename.clone(), zip, layer, small, h1: PackageH1::Known(h1) })
}

/// Reads the layer back as an installer would, and demands that it holds what the zip holds.
///
/// Spec: seed RFC "Package checksums and signing": the layers' union has the zip's paths and contents.
fn prove(job: &PackJob, path: &Path, layer: &WrittenLayer, zip: &PackageHash) -> Result<(), PackError> {
    let failed = |error| PackError::archive(path, error);
    let platform = &job.package.platform;
    let folder = job.scratch.path();
    let room = tempfile::tempdir_in(folder).map_err(|error| PackError::io("create", folder, error))?;
    let (spool, into) = (room.path().join("spool"), room.path().join("tree"));
    for folder in [&spool, &into] {
        std::fs::create_dir(folder).map_err(|error| PackError::io("create", folder, error))?;
    }
    let mut tree = LayerTree::new(&spool, Limits::default()).map_err(failed)?;
    let mut source = ReadSource::open(path).map_err(failed)?;
    tree.apply(&mut source, LayerCompression::Gzip, Some(&layer.diff_id)).map_err(failed)?;
    let found = tree.materialise(&into).map_err(failed)?.h1();
    if found == *zip {
        return Ok(());
    }
    Err(PackError::LayersDiffer { platform: platform.clone(), zip: zip.clone(), layer: found })
}

/// Reads the small layer back as an installer would, and demands that it holds what the zip holds: an installer would pass
/// over any other one.
fn prove_small(job: &PackJob, path: &Path, zip: &PackageHash) -> Result<(), PackError> {
    let platform = || job.package.platform.clone();
    let read = ReadSource::open(path).and_then(|mut source| read_tar_zst(&mut source, &Limits::default()));
    let failed = |error| match error {
        ArchiveError::RatioExceeded { .. } => {
            PackError::SmallLayerTooDense { platform: platform(), source: Arc::new(error) }
        }
        error => PackError::archive(path, error),
    };
    let found = read.map_err(failed)?.h1();
    if found == *zip {
        return Ok(());
    }
    Err(PackError::LayersDiffer { platform: platform(), zip: zip.clone(), layer: found })
}

/// Digest and size of a file, read once in pieces of 256 KiB.
pub(super) fn hash_file(path: &Path) -> Result<HashedFile, PackError> {
    let error = |source| PackError::io("read", path, source);
    let mut file = tofu_oci_disk::open_file(path).map_err(error)?;
    let mut buffer = vec![0; 256 << 10];
    let mut hasher = DigestHasher::sha256();
    let mut size = 0;
    loop {
        match file.read(&mut buffer) {
            Ok(0) => return Ok(HashedFile { path: path.to_owned(), digest: hasher.finish(), size }),
            Ok(count) => {
                hasher.update(&buffer[..count]);
                size += count as u64;
            }
            Err(source) if source.kind() == std::io::ErrorKind::Interrupted => {}
            Err(source) => return Err(error(source)),
        }
    }
}
