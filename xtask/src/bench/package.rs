//! The large package that is measured: a real one where the machine carries one, otherwise one that is made.

use std::fmt;
use std::fs::{self, File};
use std::io::{self, BufWriter, Read as _, Write as _};
use std::path::{Path, PathBuf};

use zip::write::SimpleFileOptions;

use tofu_oci_types::DigestHasher;

use crate::failure::{ChoreFailure, ChoreResult};

/// Folders in which people and images keep filesystem mirrors.
const USUAL_FOLDERS: &[&str] =
    &["/usr/local/share/terraform/plugins", "/usr/share/terraform/plugins", "/usr/local/share/terraform/providers"];

/// Platforms of the large release, in the order in which they are used.
pub(super) const PLATFORMS: &[&str] = &[
    "linux_amd64",
    "linux_arm64",
    "linux_386",
    "linux_arm",
    "darwin_amd64",
    "darwin_arm64",
    "windows_amd64",
    "windows_386",
    "freebsd_amd64",
    "freebsd_386",
    "openbsd_amd64",
    "windows_arm64",
];

/// Distinct zips of one provider, one a platform, nearly all of their bytes alike.
pub(super) struct BenchPackage {
    pub(super) provider_type: String,
    pub(super) version: String,
    /// A folder with one zip.
    pub(super) one: PathBuf,
    /// A folder with a zip a platform.
    pub(super) all: PathBuf,
    /// Whether a machine really uses it.
    pub(super) is_real: bool,
    origin: String,
    zip_bytes: u64,
    unpacked_bytes: u64,
}

impl BenchPackage {
    /// The package at `provider_dir`, one that lies in a usual folder, or a made one.
    pub(super) fn find_or_make(
        provider_dir: Option<&Path>,
        size_mb: u64,
        platforms: usize,
        work: &Path,
    ) -> ChoreResult<Self> {
        let found = match provider_dir {
            Some(dir) => Some(largest(dir).ok_or_else(|| {
                ChoreFailure::new(format!("{} holds no HOST/NAMESPACE/TYPE/VERSION/OS_ARCH folder", dir.display()))
            })?),
            None => usual_folders().iter().filter_map(|dir| largest(dir)).max_by_key(|found| found.bytes),
        };
        let (provider_type, version, files, origin, is_real) = match found {
            Some(found) if found.bytes > 50_000_000 || provider_dir.is_some() => {
                let origin = format!("{} {} (real)", found.provider_type, found.version);
                (found.provider_type, found.version, found.files, origin, true)
            }
            _ => (
                "bench".to_owned(),
                "1.0.0".to_owned(),
                vec![make(size_mb, work)?],
                format!("made, {size_mb} MB"),
                false,
            ),
        };
        let (one, all) = (work.join("dist-one"), work.join("dist-all"));
        fs::create_dir_all(&one)?;
        fs::create_dir_all(&all)?;
        let name = |platform: &str| format!("terraform-provider-{provider_type}_{version}_{platform}.zip");
        let base = one.join(name(PLATFORMS[0]));
        let unpacked_bytes = files.iter().map(|file| file.metadata().map_or(0, |data| data.len())).sum();
        write_zip(&files, &base)?;
        for platform in &PLATFORMS[..platforms.clamp(1, PLATFORMS.len())] {
            variant(&base, &all.join(name(platform)), platform)?;
        }
        let zip_bytes = base.metadata()?.len();
        Ok(Self { provider_type, version, one, all, is_real, origin, zip_bytes, unpacked_bytes })
    }

    /// The address that it is published under.
    pub(super) fn address(&self) -> String {
        format!("registry.example.test/bench/{}", self.provider_type)
    }

    /// The zip of the first platform.
    pub(super) fn zip(&self) -> PathBuf {
        self.one.join(format!("terraform-provider-{}_{}_{}.zip", self.provider_type, self.version, PLATFORMS[0]))
    }

    /// The same zip with stored entries.
    pub(super) fn store(&self, out: &Path) -> ChoreResult {
        let mut archive = zip::ZipArchive::new(File::open(self.zip())?)?;
        let mut writer = zip::ZipWriter::new(BufWriter::new(File::create(out)?));
        for index in 0..archive.len() {
            let mut entry = archive.by_index(index)?;
            let options = SimpleFileOptions::default()
                .compression_method(zip::CompressionMethod::Stored)
                .unix_permissions(entry.unix_mode().unwrap_or(0o644));
            let name = entry.name()?.into_owned();
            writer.start_file(name, options)?;
            io::copy(&mut entry, &mut writer)?;
        }
        Ok(writer.finish()?.flush()?)
    }

    /// Every zip of a folder, such as that of the large release.
    pub(super) fn zips(dist: &Path) -> ChoreResult<Vec<PathBuf>> {
        let mut zips: Vec<PathBuf> =
            fs::read_dir(dist)?.map(|entry| entry.map(|entry| entry.path())).collect::<Result<_, _>>()?;
        zips.sort();
        Ok(zips)
    }
}

impl fmt::Display for BenchPackage {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mb = |bytes: u64| bytes as f64 / 1e6;
        let (zip, unpacked) = (mb(self.zip_bytes), mb(self.unpacked_bytes));
        write!(f, "package: {}, zip {zip:.1} MB, unpacked {unpacked:.1} MB", self.origin)
    }
}

struct FoundProgram {
    provider_type: String,
    version: String,
    files: Vec<PathBuf>,
    bytes: u64,
}

fn usual_folders() -> Vec<PathBuf> {
    let mut folders: Vec<PathBuf> = USUAL_FOLDERS.iter().map(PathBuf::from).collect();
    if let Some(home) = std::env::var_os("HOME") {
        folders.push(Path::new(&home).join(".terraform.d/plugins"));
        folders.push(Path::new(&home).join(".local/share/terraform/plugins"));
    }
    // Images that ship providers put them below /opt under names of their own.
    folders.extend(children(Path::new("/opt")));
    folders
}

/// The largest package of a filesystem mirror: `HOST/NAMESPACE/TYPE/VERSION/OS_ARCH`.
fn largest(mirror: &Path) -> Option<FoundProgram> {
    let mut folders = vec![mirror.to_owned()];
    for _ in 0..5 {
        folders = folders.iter().flat_map(|folder| children(folder)).filter(|path| path.is_dir()).collect();
    }
    folders.iter().filter_map(|folder| package_at(folder)).max_by_key(|found| found.bytes)
}

fn package_at(folder: &Path) -> Option<FoundProgram> {
    let text = |path: &Path| path.file_name().map(|name| name.to_string_lossy().into_owned());
    let version = text(folder.parent()?)?;
    let provider_type = text(folder.parent()?.parent()?)?;
    let files: Vec<PathBuf> = children(folder).into_iter().filter(|path| path.is_file()).collect();
    let is_program = |path: &PathBuf| text(path).is_some_and(|name| name.starts_with("terraform-provider-"));
    files.iter().any(is_program).then(|| {
        let bytes = files.iter().filter_map(|file| file.metadata().ok()).map(|data| data.len()).sum();
        FoundProgram { provider_type, version, files, bytes }
    })
}

fn children(folder: &Path) -> Vec<PathBuf> {
    let Ok(entries) = fs::read_dir(folder) else { return Vec::new() };
    entries.flatten().map(|entry| entry.path()).collect()
}

/// An executable of half random and half compressible bytes.
pub(super) fn make(size_mb: u64, work: &Path) -> ChoreResult<PathBuf> {
    let path = work.join("terraform-provider-bench_v1.0.0");
    let mut file = BufWriter::new(File::create(&path)?);
    let mut random = 0x2545_f491_4f6c_dd1d_u64;
    let mut block = vec![0_u8; 1_000_000];
    for megabyte in 0..size_mb {
        for chunk in block.chunks_exact_mut(8) {
            random ^= random << 13;
            random ^= random >> 7;
            random ^= random << 17;
            // A fifth of the blocks does not compress, as in a real program; the rest has few distinct bytes.
            let mask = if megabyte % 5 == 0 { u64::MAX } else { 0x0303_0303_0303_0303 };
            chunk.copy_from_slice(&(random & mask).to_le_bytes());
        }
        file.write_all(&block)?;
    }
    file.flush()?;
    Ok(path)
}

pub(super) fn write_zip(files: &[PathBuf], out: &Path) -> ChoreResult {
    let mut writer = zip::ZipWriter::new(BufWriter::new(File::create(out)?));
    for file in files {
        let name = file.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
        let mode = if name.starts_with("terraform-provider-") { 0o755 } else { 0o644 };
        let options = SimpleFileOptions::default()
            .compression_method(zip::CompressionMethod::Deflated)
            .large_file(file.metadata()?.len() > u64::from(u32::MAX))
            .unix_permissions(mode);
        writer.start_file(name, options)?;
        io::copy(&mut File::open(file)?, &mut writer)?;
    }
    writer.finish()?.flush()?;
    Ok(())
}

/// The same zip with one more small file, so that every platform has a digest of its own.
pub(super) fn variant(base: &Path, out: &Path, platform: &str) -> ChoreResult {
    let mut archive = zip::ZipArchive::new(File::open(base)?)?;
    let mut writer = zip::ZipWriter::new(BufWriter::new(File::create(out)?));
    for index in 0..archive.len() {
        writer.raw_copy_file(archive.by_index_raw(index)?)?;
    }
    writer.start_file("PLATFORM", SimpleFileOptions::default().unix_permissions(0o644))?;
    writer.write_all(platform.as_bytes())?;
    writer.finish()?.flush()?;
    Ok(())
}

/// The digest of a file.
pub(super) fn sha256(path: &Path) -> ChoreResult<String> {
    let mut hasher = DigestHasher::sha256();
    let mut file = fs::File::open(path)?;
    let mut buffer = vec![0; 1 << 20];
    loop {
        let read = file.read(&mut buffer)?;
        if read == 0 {
            return Ok(hasher.finish().to_string());
        }
        hasher.update(&buffer[..read]);
    }
}
