//! Cheap checks before anything is read through or sent.

use std::path::Path;

use tofu_oci_archive::is_executable_name;

use super::prepare::blocking;
use crate::{PackError, PackageSource, PushRequest};

/// Compares what was asked for with the files, and lists every package: names, sizes, the executable.
pub(super) async fn inspect(request: &PushRequest<'_>) -> Result<(), PackError> {
    let dist = request.dist;
    let provider_type = request.address.provider_type();
    if let Some(found) = dist.provider_type.as_ref().filter(|found| *found != provider_type) {
        return Err(PackError::TypeConflict {
            given: provider_type.to_owned(),
            found: found.clone(),
            path: dist.path.clone(),
        });
    }
    dist.choose_version(Some(request.version))?;
    for package in &dist.packages {
        let source = package.source.clone();
        let provider_type = provider_type.to_owned();
        blocking(move || list(&source, &provider_type)).await?;
    }
    Ok(())
}

fn list(source: &PackageSource, provider_type: &str) -> Result<(), PackError> {
    match source {
        PackageSource::Zip(path) => list_zip(path, provider_type),
        PackageSource::Directory(path) => tofu_oci_archive::input_files(path, provider_type)
            .map(|_| ())
            .map_err(|error| PackError::archive(path, error)),
    }
}

fn list_zip(path: &Path, provider_type: &str) -> Result<(), PackError> {
    let entries = tofu_oci_archive::list_zip(path).map_err(|error| PackError::archive(path, error))?;
    if entries.iter().any(|entry| is_executable_name(&entry.name, provider_type)) {
        return Ok(());
    }
    let mut found: Vec<String> = entries.into_iter().map(|entry| entry.name).collect();
    found.sort();
    found.truncate(5);
    Err(PackError::NoExecutable { path: path.to_owned(), provider_type: provider_type.to_owned(), found })
}
