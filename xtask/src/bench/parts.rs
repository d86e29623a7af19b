//! The parts of an installation, each alone and on one core: what the whole is compared with.

use std::fs::File;
use std::io::{self, Read, Write as _};
use std::path::{Path, PathBuf};
use std::time::Instant;

use clap::{Args, ValueEnum};
use flate2::bufread::MultiGzDecoder;
use tofu_oci_archive::ZSTD_WINDOW_LOG;
use tofu_oci_types::DigestHasher;

use super::measure::inflate_to_nowhere;
use crate::failure::{ChoreFailure, ChoreResult};

/// Bytes that a part works on at a time.
const BUFFER: usize = 1 << 20;

/// Arguments of the part that runs in a release build: it does its work and prints the seconds.
#[derive(Debug, Args)]
pub(crate) struct PartArgs {
    /// Which part
    part: BenchPart,
    /// The archive: a zip, or a layer for `zstd`, `gunzip` and `hash-archive`
    archive: PathBuf,
    /// A file that `write` makes
    #[arg(required_if_eq("part", "write"))]
    out: Option<PathBuf>,
}

/// A part of an installation.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum BenchPart {
    /// Inflate every entry into one reused buffer
    Inflate,
    /// The CRC-32 of as many bytes as the zip unpacks to
    Crc,
    /// Decompress a Zstandard stream into one reused buffer
    Zstd,
    /// Decompress a gzip stream into one reused buffer
    Gunzip,
    /// The SHA-256 of as many bytes as the archive has
    HashArchive,
    /// The SHA-256 of as many bytes as the zip unpacks to
    HashFiles,
    /// As many bytes as the zip unpacks to, written into a file
    Write,
}

impl BenchPart {
    /// The word on the command line.
    pub(super) fn word(self) -> String {
        self.to_possible_value().map(|value| value.get_name().to_owned()).unwrap_or_default()
    }
}

/// Does one part and prints the seconds.
pub(crate) fn run(args: &PartArgs) -> ChoreResult {
    let seconds = match args.part {
        BenchPart::Inflate => inflate_to_nowhere(&args.archive)?,
        BenchPart::Crc => {
            let mut crc = flate2::Crc::new();
            each(unpacked(&args.archive)?, |bytes| {
                crc.update(bytes);
                Ok(())
            })?
        }
        BenchPart::Zstd => read_through(&args.archive, |bytes| {
            let mut decoder = zstd::Decoder::with_buffer(bytes)?;
            decoder.window_log_max(ZSTD_WINDOW_LOG)?;
            Ok(Box::new(decoder))
        })?,
        BenchPart::Gunzip => read_through(&args.archive, |bytes| Ok(Box::new(MultiGzDecoder::new(bytes))))?,
        BenchPart::HashArchive => hash(args.archive.metadata()?.len())?,
        BenchPart::HashFiles => hash(unpacked(&args.archive)?)?,
        BenchPart::Write => {
            let out = args.out.as_ref().ok_or_else(|| ChoreFailure::new("`write` needs a file"))?;
            let mut file = File::create(out)?;
            each(unpacked(&args.archive)?, |bytes| Ok(file.write_all(bytes)?))?
        }
    };
    println!("{seconds:.4}");
    Ok(())
}

/// Seconds to decompress a file that is in memory.
fn read_through(archive: &Path, decoder: impl FnOnce(&[u8]) -> io::Result<Box<dyn Read + '_>>) -> ChoreResult<f64> {
    let bytes = std::fs::read(archive)?;
    let mut buffer = vec![0; BUFFER];
    let start = Instant::now();
    let mut decoder = decoder(&bytes)?;
    while decoder.read(&mut buffer)? > 0 {}
    Ok(start.elapsed().as_secs_f64())
}

/// Bytes that the zip unpacks to.
fn unpacked(zip: &Path) -> ChoreResult<u64> {
    let mut archive = zip::ZipArchive::new(File::open(zip)?)?;
    let mut bytes = 0;
    for index in 0..archive.len() {
        bytes += archive.by_index_raw(index)?.size();
    }
    Ok(bytes)
}

fn hash(bytes: u64) -> ChoreResult<f64> {
    let mut hasher = DigestHasher::sha256();
    let seconds = each(bytes, |piece| {
        hasher.update(piece);
        Ok(())
    })?;
    std::hint::black_box(hasher.finish());
    Ok(seconds)
}

/// Seconds that `work` takes for this many bytes, a buffer at a time.
fn each(bytes: u64, mut work: impl FnMut(&[u8]) -> ChoreResult) -> ChoreResult<f64> {
    let buffer: Vec<u8> = (0..=250).cycle().take(BUFFER).collect();
    let start = Instant::now();
    let mut left = usize::try_from(bytes)?;
    while left > 0 {
        let piece = left.min(BUFFER);
        work(&buffer[..piece])?;
        left -= piece;
    }
    Ok(start.elapsed().as_secs_f64())
}
