//! Writing a package as one layer: tar, then gzip for an image, or Zstandard for the small layer beside a zip.

use std::fs::File;
use std::io::{BufWriter, Write as _};
use std::path::{Path, PathBuf};

use sha2::Digest as _;
use tar::{EntryType, Header};
use tofu_oci_types::Digest;

use super::compress::Compressor;
use super::{BUFFER_BYTES, Blocks, Hashing, create, in_order, mode_of, read_file};
use crate::sink::{KnownEntry, UnpackTarget};
use crate::zip::read_zip_into;
use crate::{ArchiveError, InputFile, Limits, PackageContents, is_executable_name};

/// A layer that has been written.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct WrittenLayer {
    /// Of the compressed layer.
    pub digest: Digest,
    /// Bytes of the compressed layer.
    pub size: u64,
    /// Of the uncompressed layer, as the leaf's config names it.
    pub diff_id: Digest,
    /// What is in it, with its `h1:`.
    pub contents: PackageContents,
}

/// Packs the files into a tar+gzip layer at `out`, which is created or replaced. After an error what lies there is
/// worthless and the caller removes it.
///
/// Spec: OCI image-spec 1.1.1, layer.md; seed RFC, "Package layout".
pub fn write_layer(files: &[InputFile], out: &Path) -> Result<WrittenLayer, ArchiveError> {
    write_files(files, out, Compressor::gzip)
}

/// Packs the files into a small layer at `out`: the tar of [`write_layer`] in Zstandard, level 9, in frames of
/// [`FRAME_BYTES`](crate::FRAME_BYTES) each, by up to four threads. The same version of the Zstandard library makes the same bytes, by
/// any number of threads. At most 256 MiB of memory are used, whatever the size. After an error what lies at `out` is worthless and
/// the caller removes it.
///
/// Spec: OCI image-spec 1.1.1, layer.md; RFC 8878.
pub fn write_small_layer(files: &[InputFile], out: &Path) -> Result<WrittenLayer, ArchiveError> {
    write_files(files, out, Compressor::zstd)
}

fn write_files(files: &[InputFile], out: &Path, compressor: NewCompressor) -> Result<WrittenLayer, ArchiveError> {
    let files = in_order(files)?;
    let mut writer = LayerWriter::create(out, compressor, None)?;
    let mut buffer = vec![0; BUFFER_BYTES];
    let mut described = Vec::new();
    for file in files {
        let changed = || ArchiveError::Changed { path: file.path.clone() };
        let size = std::fs::metadata(&file.path).map_err(ArchiveError::io("read", &file.path))?.len();
        writer.start(&file.name, Some(KnownEntry { size, mode: mode_of(file.executable) }))?;
        let mut left = size;
        described.push(read_file(file, &mut buffer, &mut |bytes| {
            left = left.checked_sub(bytes.len() as u64).ok_or_else(changed)?;
            writer.write(bytes)
        })?);
        if left > 0 {
            return Err(changed());
        }
        writer.finish()?;
    }
    writer.complete(PackageContents::new(described))
}

/// The files of the zip archive at `zip` as a tar+gzip layer at `out`, in the archive's order: same paths, same
/// contents, and so the same `h1:`. The zip archive is checked as by [`crate::read_zip`]. The modes are its own, but
/// the executable of a provider of the type `executable_for` always gets `0o755`. Memory does not grow with the size.
pub fn layer_from_zip(
    zip: &Path,
    executable_for: &str,
    out: &Path,
    limits: &Limits,
) -> Result<WrittenLayer, ArchiveError> {
    from_zip(LayerWriter::create(out, Compressor::gzip, Some(executable_for))?, zip, limits)
}

/// The files of the zip archive at `zip` as a small layer at `out` ([`write_small_layer`]), in the archive's order: same
/// paths, contents and modes as [`crate::unpack_zip`] gives. The zip archive is checked as by [`crate::read_zip`].
pub fn small_layer_from_zip(zip: &Path, out: &Path, limits: &Limits) -> Result<WrittenLayer, ArchiveError> {
    from_zip(LayerWriter::create(out, Compressor::zstd, None)?, zip, limits)
}

fn from_zip(mut writer: LayerWriter, zip: &Path, limits: &Limits) -> Result<WrittenLayer, ArchiveError> {
    let contents = read_zip_into(&mut writer, zip, limits)?;
    let contents = contents.map_modes(|file| writer.mode(&file.name, file.mode));
    writer.complete(contents)
}

type LayerFile = Hashing<BufWriter<File>>;
type LayerOutput = Hashing<Blocks<Compressor<LayerFile>>>;
type NewCompressor = fn(LayerFile) -> std::io::Result<Compressor<LayerFile>>;

struct LayerWriter {
    output: LayerOutput,
    path: PathBuf,
    executable_for: Option<String>,
    /// Name and missing bytes of the file that is being written.
    current: (String, u64),
    size: u64,
}

impl LayerWriter {
    fn create(path: &Path, compressor: NewCompressor, executable_for: Option<&str>) -> Result<Self, ArchiveError> {
        let file = Hashing::new(BufWriter::with_capacity(BUFFER_BYTES, create(path)?));
        let compressor = compressor(file).map_err(ArchiveError::io("write", path))?;
        Ok(Self {
            output: Hashing::new(Blocks::new(compressor)),
            path: path.to_owned(),
            executable_for: executable_for.map(str::to_owned),
            current: (String::new(), 0),
            size: 0,
        })
    }

    fn mode(&self, name: &str, mode: u32) -> u32 {
        let executable = self.executable_for.as_deref().is_some_and(|provider| is_executable_name(name, provider));
        if executable { 0o755 } else { mode }
    }

    fn put(&mut self, bytes: &[u8]) -> Result<(), ArchiveError> {
        self.output.write_all(bytes).map_err(ArchiveError::io("write", &self.path))
    }

    /// Zeros up to the next block.
    fn pad(&mut self, size: u64) -> Result<(), ArchiveError> {
        let used = usize::try_from(size % 512).expect("below 512");
        if used == 0 { Ok(()) } else { self.put(&[0; 512][used..]) }
    }

    fn header(&mut self, name: &str, kind: EntryType, size: u64, mode: u32) -> Result<(), ArchiveError> {
        let mut header = Header::new_ustar();
        let unsafe_name = |_| crate::names::unsafe_name(name, "tar cannot hold it");
        header.set_path(name).map_err(unsafe_name)?;
        header.set_entry_type(kind);
        header.set_size(size);
        header.set_mode(mode);
        header.set_uid(0);
        header.set_gid(0);
        header.set_mtime(0);
        header.set_cksum();
        self.put(header.as_bytes())
    }

    fn complete(mut self, contents: PackageContents) -> Result<WrittenLayer, ArchiveError> {
        self.put(&[0; 1024])?;
        let write = || ArchiveError::io("write", &self.path);
        let diff_id = Digest::from_sha256(self.output.sha256.finalize().into());
        let mut file = self.output.inner.finish().and_then(Compressor::finish).map_err(write())?;
        file.flush().map_err(write())?;
        let digest = Digest::from_sha256(file.sha256.finalize().into());
        Ok(WrittenLayer { digest, size: file.size, diff_id, contents })
    }
}

impl UnpackTarget for LayerWriter {
    fn start(&mut self, name: &str, known: Option<KnownEntry>) -> Result<(), ArchiveError> {
        let Some(KnownEntry { size, mode }) = known else {
            return Err(ArchiveError::Mismatch { name: name.to_owned(), what: "size" });
        };
        let mode = self.mode(name, mode);
        self.current = (name.to_owned(), size);
        self.size = size;
        if name.is_ascii() && Header::new_ustar().set_path(name).is_ok() {
            return self.header(name, EntryType::Regular, size, mode);
        }
        let record = pax_record("path", name);
        self.header("PaxHeaders/name", EntryType::XHeader, record.len() as u64, 0o644)?;
        self.put(&record)?;
        self.pad(record.len() as u64)?;
        self.header("name", EntryType::Regular, size, mode)
    }

    fn write(&mut self, bytes: &[u8]) -> Result<(), ArchiveError> {
        let (name, left) = &mut self.current;
        let mismatch = || ArchiveError::Mismatch { name: name.clone(), what: "size" };
        *left = left.checked_sub(bytes.len() as u64).ok_or_else(mismatch)?;
        self.put(bytes)
    }

    fn finish(&mut self) -> Result<(), ArchiveError> {
        let (name, left) = &self.current;
        if *left > 0 {
            return Err(ArchiveError::Mismatch { name: name.clone(), what: "size" });
        }
        self.pad(self.size)
    }

    fn directory(&mut self, _name: &str) -> Result<(), ArchiveError> {
        Ok(())
    }
}

/// `LENGTH KEY=VALUE\n`, where the length counts itself.
fn pax_record(key: &str, value: &str) -> Vec<u8> {
    let rest = key.len() + value.len() + 3;
    let mut length = rest;
    while length != rest + length.to_string().len() {
        length = rest + length.to_string().len();
    }
    format!("{length} {key}={value}\n").into_bytes()
}
