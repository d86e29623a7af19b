#![allow(missing_docs, reason = "signatures first")]
use crate::{ArchiveError, ByteSource, InputFile, Limits, PackageContents};
use std::path::Path;
use tofu_oci_types::Digest;
const LATER: ArchiveError = ArchiveError::Malformed { reason: "not read yet" };
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
