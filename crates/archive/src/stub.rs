#![allow(missing_docs, reason = "signatures first")]
use crate::{ArchiveError, ByteSource, Limits, PackageContents};
use std::path::{Path, PathBuf};
use std::sync::atomic::AtomicBool;
use tofu_oci_types::Digest;
const LATER: ArchiveError = ArchiveError::Malformed { reason: "not read yet" };
pub fn unpack_zip(
    _source: &mut dyn ByteSource,
    _into: &Path,
    _limits: &Limits,
) -> Result<PackageContents, ArchiveError> {
    Err(LATER)
}
pub fn read_zip(_path: &Path, _limits: &Limits) -> Result<PackageContents, ArchiveError> {
    Err(LATER)
}
pub fn read_zip_unless(
    _cancelled: &AtomicBool,
    _path: &Path,
    _limits: &Limits,
) -> Result<PackageContents, ArchiveError> {
    Err(LATER)
}
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ZipEntry {
    pub name: String,
    pub size: u64,
    pub compressed_size: u64,
    pub mode: u32,
}
pub fn list_zip(_path: &Path) -> Result<Vec<ZipEntry>, ArchiveError> {
    Err(LATER)
}
pub fn read_directory(_dir: &Path) -> Result<PackageContents, ArchiveError> {
    Err(LATER)
}
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct InputFile {
    pub name: String,
    pub path: PathBuf,
    pub executable: bool,
}
pub fn input_files(_dir: &Path, _provider_type: &str) -> Result<Vec<InputFile>, ArchiveError> {
    Err(LATER)
}
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct WrittenZip {
    pub digest: Digest,
    pub size: u64,
    pub contents: PackageContents,
}
pub fn write_zip(_files: &[InputFile], _out: &Path) -> Result<WrittenZip, ArchiveError> {
    Err(LATER)
}
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct WrittenLayer {
    pub digest: Digest,
    pub size: u64,
    pub diff_id: Digest,
    pub contents: PackageContents,
}
pub fn write_layer(_files: &[InputFile], _out: &Path) -> Result<WrittenLayer, ArchiveError> {
    Err(LATER)
}
pub fn layer_from_zip(
    _zip: &Path,
    _executable_for: &str,
    _out: &Path,
    _limits: &Limits,
) -> Result<WrittenLayer, ArchiveError> {
    Err(LATER)
}
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LayerCompression {
    None,
    Gzip,
    Zstd,
}
#[derive(Debug)]
pub struct LayerTree {
    _limits: Limits,
}
impl LayerTree {
    pub fn new(_spool: &Path, limits: Limits) -> Result<Self, ArchiveError> {
        Ok(Self { _limits: limits })
    }
    pub fn apply(
        &mut self,
        _source: &mut dyn ByteSource,
        _compression: LayerCompression,
        _diff_id: Option<&Digest>,
    ) -> Result<Digest, ArchiveError> {
        Err(LATER)
    }
    pub fn materialise(self, _into: &Path) -> Result<PackageContents, ArchiveError> {
        Err(LATER)
    }
}
