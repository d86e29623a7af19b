//! What lies in a folder of release files.

mod files;
mod folder;
mod goreleaser;
mod model;
mod names;
mod platforms;
mod protocols;
mod signed_sums;
mod sums;
#[cfg(test)]
mod tests;

use std::path::Path;

pub(crate) use files::name;
pub use model::{Dist, DistOptions, DistPackage, PackageSource, UnknownPlatforms};
pub use signed_sums::SignedSums;
pub use sums::DistSums;

use crate::PackError;

/// Finds out what lies in a folder; nothing large is read.
pub fn read_dist(path: &Path) -> Result<Dist, PackError> {
    read_dist_with(path, &DistOptions::default())
}

/// [`read_dist`] with what the caller knows about the folder.
pub fn read_dist_with(path: &Path, options: &DistOptions) -> Result<Dist, PackError> {
    match std::fs::metadata(path) {
        Ok(metadata) if metadata.is_dir() => {}
        Ok(_) => return Err(PackError::NotAFolder { path: path.to_owned() }),
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => {
            return Err(PackError::NoFolder { path: path.to_owned() });
        }
        Err(error) => return Err(PackError::io("read", path, error)),
    }
    if path.join(goreleaser::ARTIFACTS).is_file() {
        goreleaser::read(path, options)
    } else {
        folder::read(path, options)
    }
}
