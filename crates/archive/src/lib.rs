//! Deterministic zip and tar.gz, safe extraction, and package checksums.
//!
//! Bytes in, files and checksums out; no network, no async, no printing. Whatever goes through here is checked: names,
//! sizes, checksums, and that an archive says the same thing to every reader.
//!
//! ```text
//! a zip that comes in      unpack_zip   ByteSource -> folder + PackageContents      (install)
//!                          unpack_module_zip   the same, links become copies        (module pull)
//! a zip on disk            read_zip     checks + PackageContents, nothing written   (push)
//!                          read_zip_from   the same of a stream                     (serve)
//!                          list_zip     names, sizes, modes from its directory      (a look before a push)
//! a zip in memory          zip_files    its files in memory                        (documentation)
//! a folder                 read_directory   PackageContents as dirhash sees it      (is it what the lock file says?)
//!                          read_known_directory   the same, without reading what is known
//!                          input_files      its files, fit to be packed             (push)
//!                          plain_files      its files, whatever they are           (documentation)
//! a module's folder        module_files     its files, fit to be packed, and what is left out
//! files to pack            write_zip, write_layer, write_small_layer   the same bytes every time
//! a zip as a layer         layer_from_zip, small_layer_from_zip        same paths, same contents, same h1:
//! the layers of an image   LayerTree        their union, whiteouts applied, as a folder
//! a tar+gzip that comes in unpack_tar_gz   as one layer over nothing               (module packages)
//! a tar+zstd that comes in unpack_tar_zst  straight into a folder                  (small layers)
//!                          read_tar_zst    checks + PackageContents, nothing written
//! a package                zip_program, folder_program   for which platforms its program is
//! ```

mod contents;
mod embedded;
mod error;
mod folder;
mod folder_target;
mod known;
mod layer;
mod limits;
mod links;
mod module;
mod names;
mod pack;
mod program;
mod sink;
mod source;
mod spelling;
#[cfg(test)]
mod testing;
mod zip;

pub use contents::{PackageContents, PackageFile, is_executable_name};
pub use embedded::{embedded_repository, makes_bare_repository};
pub use error::{ArchiveError, FoundSecret};
pub use folder::{InputFile, file_sha256, input_files, plain_files, read_directory, read_known_directory};
pub use known::{KnownFiles, NoKnownFiles};
pub use layer::{LayerCompression, LayerTree, read_tar_zst, unpack_tar_gz, unpack_tar_zst};
pub use limits::{FRAME_BYTES, Limits, ZSTD_WINDOW_LOG};
pub use module::{IGNORE_FILES, LeftOut, LeftOutReason, PackableModule, all_module_files, module_files, take_checkout};
pub use names::{clean_name, windows_refusal};
pub use pack::{
    WrittenLayer, WrittenZip, layer_from_zip, small_layer_from_zip, write_layer, write_small_layer, write_zip,
};
pub use program::{Program, folder_program, folder_programs, zip_program, zip_programs};
pub use source::{ByteSource, ReadSource};
pub use zip::{
    ZipEntry, list_zip, read_zip, read_zip_from, read_zip_unless, save_zip, unpack_module_zip, unpack_zip, zip_files,
};
