//! Folders without metadata: zips by name, or one directory a platform.

use std::path::{Path, PathBuf};

use tofu_oci_types::{ZipName, platforms_of_build};

use super::files::{self, FolderEntry};
use super::model::{CandidatePackage, Dist, DistOptions, PackageSource, settle};
use super::signed_sums::is_signature_of;
use super::sums::DistSums;
use super::{names, platforms, protocols};
use crate::DistKind;
use crate::PackError;

const LOOKED_FOR: [&str; 3] =
    ["artifacts.json of GoReleaser", "terraform-provider-TYPE_VERSION_OS_ARCH.zip files", "OS_ARCH directories"];

pub(super) fn read(path: &Path, options: &DistOptions) -> Result<Dist, PackError> {
    let entries = files::entries(path)?;
    let zips: Vec<&FolderEntry> = entries.iter().filter(|entry| !entry.is_dir && is_package_zip(&entry.name)).collect();
    if !zips.is_empty() {
        return read_zips(path, &entries, &zips, options);
    }
    let candidates = directory_packages(&entries, options)?;
    if candidates.is_empty() {
        return Err(nothing(path, &entries, &LOOKED_FOR));
    }
    let mut dist = settle(path, DistKind::Directories, candidates, options)?;
    let version = options.version.as_ref().or(dist.version.as_ref());
    dist.protocols = protocols::read(path, &entries, version, None)?;
    Ok(dist)
}

fn is_package_zip(name: &str) -> bool {
    name.starts_with(names::PREFIX) && files::is_zip(name)
}

fn read_zips(
    path: &Path,
    entries: &[FolderEntry],
    zips: &[&FolderEntry],
    options: &DistOptions,
) -> Result<Dist, PackError> {
    let mut candidates = Vec::new();
    for zip in zips {
        let Some(name) = ZipName::parse(&zip.name) else {
            return Err(PackError::UnreadableName { path: zip.path.clone() });
        };
        let version = names::version(name.version, &zip.path)?;
        let platforms = platforms::parse(name.platform, &zip.path, options.unknown_platforms)?;
        let source = PackageSource::Zip(zip.path.clone());
        candidates.extend(CandidatePackage::each(Some(name.provider_type), Some(&version), &source, platforms));
    }
    let dist = settle(path, DistKind::Zips, candidates, options)?;
    let sums = sums_file(entries, &dist).map(|path| DistSums::read(&path)).transpose()?;
    dist.read_sums(sums, entries)
}

/// [`usual_sums_file`]; if that has no signature, a signed list of all packages with `sum` in its name.
fn sums_file(entries: &[FolderEntry], dist: &Dist) -> Option<PathBuf> {
    let usual = usual_sums_file(entries, dist);
    let is_signed = |path: &Path| entries.iter().any(|it| !it.is_dir && is_signature_of(&it.name, files::name(path)));
    if usual.as_deref().is_some_and(is_signed) {
        return usual;
    }
    let lists_all = |path: &Path| {
        let text = files::read_text(path).unwrap_or_default();
        dist.packages.iter().all(|package| text.contains(files::name(package.source.path())))
    };
    let lists = entries.iter().filter(|it| !it.is_dir && it.name.to_ascii_lowercase().contains("sum"));
    let signed = lists.map(|entry| &entry.path).filter(|path| is_signed(path) && lists_all(path));
    signed.min_by_key(|path| !matches!(DistSums::read(path), Ok(Ok(_)))).cloned().or(usual)
}

/// `SHA256SUMS`, or the one of several `…_SHA256SUMS` that is named after the release; or `…_checksums.txt`, as `GoReleaser` names
/// it.
fn usual_sums_file(entries: &[FolderEntry], dist: &Dist) -> Option<PathBuf> {
    let found: Vec<&FolderEntry> = entries
        .iter()
        .filter(|entry| !entry.is_dir && (entry.name == "SHA256SUMS" || entry.name.ends_with("_SHA256SUMS")))
        .collect();
    if found.is_empty() {
        let is_of_goreleaser = |name: &str| name == "checksums.txt" || name.ends_with("_checksums.txt");
        return entries.iter().find(|entry| !entry.is_dir && is_of_goreleaser(&entry.name)).map(|it| it.path.clone());
    }
    let named = match (&dist.provider_type, &dist.version) {
        (Some(provider_type), Some(version)) => {
            let name = format!("{}{provider_type}_{version}_SHA256SUMS", names::PREFIX);
            found.iter().find(|entry| entry.name == name).copied()
        }
        _ => None,
    };
    let only = if let [only] = found[..] { Some(only) } else { None };
    let plain = found.iter().find(|entry| entry.name == "SHA256SUMS").copied();
    named.or(only).or(plain).map(|entry| entry.path.clone())
}

/// The packages in directories with platform names, alone or after the name of a build, as `GoReleaser` makes them. A directory
/// with an unknown name counts if it lies beside a known one or holds an executable; otherwise it is ignored.
fn directory_packages(entries: &[FolderEntry], options: &DistOptions) -> Result<Vec<CandidatePackage>, PackError> {
    let directories = || entries.iter().filter(|entry| entry.is_dir && !entry.name.starts_with('.'));
    let any_known = directories().any(|entry| platforms_of_build(&entry.name).is_some());
    let mut candidates = Vec::new();
    for entry in directories() {
        let (inside, known) = (files::entries(&entry.path)?, platforms_of_build(&entry.name));
        let counts = known.is_some()
            || (any_known && entry.name.contains('_'))
            || inside.iter().any(|file| file.name.starts_with(names::PREFIX));
        if !counts {
            continue;
        }
        let after_name = || entry.name.match_indices('_').find_map(|(at, _)| platforms_of_build(&entry.name[at + 1..]));
        let platforms = match known.or_else(after_name) {
            Some(platforms) => platforms,
            None => platforms::parse(&entry.name, &entry.path, options.unknown_platforms)?,
        };
        let told = inside.iter().filter(|file| !file.is_dir).find_map(|file| names::executable_name(&file.name));
        let (provider_type, version) = told.unzip();
        let source = PackageSource::Directory(entry.path.clone());
        candidates.extend(CandidatePackage::each(provider_type, version.flatten().as_ref(), &source, platforms));
    }
    Ok(candidates)
}

/// The error of a folder without packages; it names archives of a wrong format.
pub(super) fn nothing(path: &Path, entries: &[FolderEntry], looked_for: &[&'static str]) -> PackError {
    let other = [".tar.gz", ".tgz", ".tar.xz", ".tar.zst", ".tar", ".gz"];
    for entry in entries.iter().filter(|entry| !entry.is_dir && entry.name.starts_with(names::PREFIX)) {
        if let Some(ending) = other.iter().find(|ending| entry.name.ends_with(*ending)) {
            return PackError::WrongFormat { path: entry.path.clone(), format: ending[1..].to_owned() };
        }
    }
    PackError::NothingFound {
        path: path.to_owned(),
        looked_for: looked_for.to_vec(),
        seen: entries.iter().take(5).map(|entry| entry.name.clone()).collect(),
    }
}
