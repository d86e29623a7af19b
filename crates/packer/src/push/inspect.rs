//! Cheap checks before anything is read through or sent.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use tofu_oci_archive::{
    ArchiveError, folder_program, folder_programs, is_executable_name, windows_refusal, zip_program,
};
use tofu_oci_types::{Event, Platform, Reporter};

use super::prepare::blocking;
use crate::{
    Dist, DistPackage, ExecutableCheck, OtherPlatform, PackError, PackageSource, PlatformReport, PushRequest, dist,
};

/// Compares what was asked for with the files, and lists every package: names, sizes, the executable
/// and the platform that its header names.
pub(super) async fn inspect(request: &PushRequest<'_>) -> Result<(), PackError> {
    let PushRequest { dist, publication, .. } = request;
    let provider_type = publication.address.provider_type();
    if let Some(found) = dist.provider_type.as_ref().filter(|found| *found != provider_type) {
        return Err(PackError::TypeConflict {
            given: provider_type.to_owned(),
            found: found.clone(),
            path: dist.path.clone(),
        });
    }
    dist.choose_version(Some(publication.version))?;
    for package in &dist.packages {
        let package = package.clone();
        let (provider_type, check) = (provider_type.to_owned(), request.executables);
        blocking(move || {
            let names = list(&package.source, &provider_type)?;
            if package.platform.os() == "windows" {
                demand_windows_names(package.source.path(), &names)?;
            }
            if check == ExecutableCheck::Refuse { platform(&package, &provider_type) } else { Ok(()) }
        })
        .await?;
    }
    Ok(())
}

/// The names of the files of a package for Windows are such that Windows can hold them.
fn demand_windows_names(path: &Path, names: &[String]) -> Result<(), PackError> {
    match names.iter().find_map(|name| Some((name, windows_refusal(name)?))) {
        Some((name, reason)) => Err(PackError::archive(path, ArchiveError::UnsafeName { name: name.clone(), reason })),
        None => Ok(()),
    }
}

/// The names of the files of a package, one of which is the executable.
fn list(source: &PackageSource, provider_type: &str) -> Result<Vec<String>, PackError> {
    match source {
        PackageSource::Zip(path) => list_zip(path, provider_type),
        PackageSource::Directory(path) => tofu_oci_archive::input_files(path, provider_type)
            .map(|files| files.into_iter().map(|file| file.name).collect())
            .map_err(|error| PackError::archive(path, error)),
        PackageSource::Program(path) if is_executable_name(dist::name(path), provider_type) => Ok(Vec::new()),
        PackageSource::Program(path) => Err(PackError::NoExecutable {
            path: path.clone(),
            provider_type: provider_type.to_owned(),
            found: vec![dist::name(path).to_owned()],
        }),
    }
}

fn list_zip(path: &Path, provider_type: &str) -> Result<Vec<String>, PackError> {
    let entries = tofu_oci_archive::list_zip(path).map_err(|error| PackError::archive(path, error))?;
    let mut found: Vec<String> = entries.into_iter().map(|entry| entry.name).collect();
    if found.iter().any(|name| is_executable_name(name, provider_type)) {
        return Ok(found);
    }
    found.sort();
    found.truncate(5);
    Err(PackError::NoExecutable { path: path.to_owned(), provider_type: provider_type.to_owned(), found })
}

/// Demands that the header of the package's program does not name another platform than the package's.
fn platform(package: &DistPackage, provider_type: &str) -> Result<(), PackError> {
    let (path, program) = match &package.source {
        PackageSource::Zip(path) => (path, zip_program(path, provider_type)),
        PackageSource::Directory(path) => (path, folder_program(path, provider_type)),
        PackageSource::Program(path) => {
            let programs = folder_programs(path.parent().unwrap_or(path), &|name| name == dist::name(path));
            (path, programs.map(|programs| programs.into_iter().next().and_then(|(_, program)| program)))
        }
    };
    let program = program.map_err(|error| PackError::archive(path, error))?;
    match program.filter(|program| program.contradicts(&package.platform)) {
        Some(program) => {
            let (path, platform) = (path.clone(), package.platform.clone());
            Err(PackError::OtherPlatform(Box::new(OtherPlatform { path, platform, program })))
        }
        None => Ok(()),
    }
}

/// Warns of platforms whose packages hold the same files: one of them was probably not built for its platform. One file that is
/// named for several platforms was.
pub(super) fn warn_of_equal_packages(dist: &Dist, platforms: &[PlatformReport], reporter: &dyn Reporter) {
    let mut equal: BTreeMap<String, Vec<&Platform>> = BTreeMap::new();
    let source =
        |platform: &Platform| dist.packages.iter().find(|package| package.platform == *platform).map(|it| &it.source);
    let mut seen = BTreeSet::new();
    for report in platforms {
        if source(&report.platform).is_some_and(|source| !seen.insert(source.path())) {
            continue;
        }
        let digest = report.zip.as_ref().or(report.layer.as_ref());
        let key = report.h1.as_ref().map(ToString::to_string).or_else(|| digest.map(ToString::to_string));
        if let Some(key) = key {
            equal.entry(key).or_default().push(&report.platform);
        }
    }
    for (checksum, platforms) in equal.iter().filter(|(_, platforms)| platforms.len() > 1) {
        let names: Vec<String> = platforms.iter().map(ToString::to_string).collect();
        let text = format!("the packages of {} hold the same files, {checksum}", names.join(", "));
        reporter.event(
            &Event::warning("equal-packages", text)
                .with_hint("a program usually runs on one platform: look whether each package was built for its own"),
        );
    }
}
