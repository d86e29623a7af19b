//! Rules about blobs and the zips in them.

use std::collections::{BTreeMap, BTreeSet};

use tofu_oci_archive::{Program, clean_name, is_executable_name};
use tofu_oci_layout::media_type;

use super::catalogue::package::{
    BLOB_DIGEST, BLOB_MISSING, BLOB_SIZE, CASE_COLLISION, DIRECTORY_ENTRIES, DUPLICATE_NAME, EXECUTABLE_MODE,
    EXECUTABLE_NO_VERSION, EXECUTABLE_PLATFORM, EXECUTABLE_VERSION, NO_EXECUTABLE, NOT_A_ZIP, NOT_READ,
    SEVERAL_EXECUTABLES, SMALL_LAYER_DIFFERS, SMALL_LAYER_UNREADABLE, SYMLINK, UNSAFE_ENTRY, ZIP_EMPTY, ZIP_STRUCTURE,
};
use super::document::{OfContent, unreadable};
use super::leaf::{IndexEntryKind, is_package_leaf, small_layer};
use super::places::{Findings, quoted};
use super::subject::CheckSubject;
use crate::facts::{
    BlobContent, Depth, FoundRelease, IndexEntry, LeafPart, PackageFacts, RepositoryFacts, is_any_executable,
};
use crate::go::{ZipItem, ZipListing};

/// The findings about the blobs of one leaf.
pub(super) fn check(subject: &CheckSubject<'_>, release: &FoundRelease, entry: &IndexEntry) -> Findings {
    if !matches!(IndexEntryKind::of(entry), IndexEntryKind::Provider | IndexEntryKind::Image) {
        return Findings::new();
    }
    let mut found = Findings::new();
    for part in entry.leaf.config.iter().chain(&entry.leaf.layers) {
        found.extend(blob(part));
    }
    if is_package_leaf(entry)
        && let Some((part, package)) = zip(entry)
        && package.intact
    {
        let place = format!("layer {}", part.descriptor.digest);
        found.extend(archive(subject, release, entry, &place, package));
    }
    found.extend(small(entry));
    found.into_iter().map(|finding| finding.of_platform(entry.descriptor.platform().as_ref())).collect()
}

/// The first zip layer of a leaf, if its bytes were read.
pub(super) fn zip(entry: &IndexEntry) -> Option<(&LeafPart, &PackageFacts)> {
    let part = entry.leaf.layers.iter().find(|layer| layer.descriptor.media_type == media_type::ARCHIVE_ZIP)?;
    match &part.blob.content {
        Ok(BlobContent::Package(package)) => Some((part, package)),
        _ => None,
    }
}

/// What is wrong with the small layer of a leaf, if its bytes were read and are those that its digest names.
fn small(entry: &IndexEntry) -> Option<crate::Finding> {
    let part = small_layer(entry)?;
    let place = format!("layer {}", part.descriptor.digest);
    let Ok(BlobContent::Package(package)) = &part.blob.content else { return None };
    let of_layer = match package.tar.as_ref().filter(|_| package.intact)? {
        Ok(contents) => contents,
        Err(problem) => return Some(SMALL_LAYER_UNREADABLE.at(place, problem.clone())),
    };
    let (_, zip) = zip(entry).filter(|(_, zip)| zip.intact)?;
    let of_zip = zip.contents.as_ref().ok()?;
    let said = if of_layer.h1() == of_zip.h1() {
        let mut files = of_layer.files().iter().zip(of_zip.files());
        let (layer, zip) = files.find(|(layer, zip)| layer.mode != zip.mode)?;
        let name = quoted(&layer.name);
        format!("its file {name} has the mode {:o}, that of the zip beside it {:o}", layer.mode, zip.mode)
    } else {
        format!("its files have {}, those of the zip beside it {}", of_layer.h1(), of_zip.h1())
    };
    Some(SMALL_LAYER_DIFFERS.at(place, said))
}

/// One finding if packages were not read.
pub(super) fn not_read(facts: &RepositoryFacts) -> Option<crate::Finding> {
    let any = facts.releases.iter().any(|release| !release.entries.is_empty());
    (facts.depth == Depth::Manifests && any)
        .then(|| NOT_READ.at(&facts.place, "blobs are there or not; what is in them was not read"))
}

/// The rules for the faults of a blob.
const OF_BLOBS: OfContent = OfContent { missing: &BLOB_MISSING, size: &BLOB_SIZE, digest: &BLOB_DIGEST };

fn blob(part: &LeafPart) -> Findings {
    let place = format!("blob {}", part.descriptor.digest);
    let (size, intact) = match &part.blob.content {
        Err(fault) => return unreadable(&OF_BLOBS, &place, fault).into_iter().collect(),
        Ok(BlobContent::There) => return Findings::new(),
        Ok(BlobContent::Document { size, intact, .. }) => (*size, *intact),
        Ok(BlobContent::Package(package)) => (package.size, package.intact),
    };
    let mut found = Findings::new();
    if u64::try_from(part.descriptor.size).ok() != Some(size) {
        found.push(BLOB_SIZE.at(&place, format!("its descriptor says {} bytes, it has {size}", part.descriptor.size)));
    }
    if !intact {
        found.push(BLOB_DIGEST.at(&place, "its bytes do not have this digest"));
    }
    found
}

fn archive(
    subject: &CheckSubject<'_>,
    release: &FoundRelease,
    entry: &IndexEntry,
    place: &str,
    package: &PackageFacts,
) -> Findings {
    let Ok(listing) = &package.zip else {
        return vec![NOT_A_ZIP.at(place, "it cannot be opened as a zip archive")];
    };
    if listing.items.is_empty() {
        return vec![ZIP_EMPTY.at(place, "it has no entries")];
    }
    let mut found = names(listing, place);
    if let Err(problem) = &package.contents
        && found.iter().all(|finding| finding.rule.level != crate::FindingLevel::Error)
    {
        found.push(ZIP_STRUCTURE.at(place, problem.clone()));
    }
    found.extend(executable(subject, release, entry, place, listing));
    found.extend(program(subject, entry, place, &package.programs));
    found
}

/// The findings about the names in a zip.
fn names(listing: &ZipListing, place: &str) -> Findings {
    let mut found = Findings::new();
    let at = |name: &str| format!("{place}, entry `{name}`");
    let mut folded: BTreeMap<String, &str> = BTreeMap::new();
    let mut seen = BTreeSet::new();
    let (mut directories, mut dotted) = (0, 0);
    for ZipItem { name, directory, link, .. } in &listing.items {
        if name.split(['/', '\\']).any(|part| part == "..") {
            found.push(UNSAFE_ENTRY.at(at(name), "its name leads out of the package"));
        }
        if *link {
            found.push(SYMLINK.at(at(name), "it is a symbolic link"));
        }
        if *directory {
            directories += 1;
            continue;
        }
        let clean = clean_name(name);
        dotted += u32::from(clean != *name);
        if !seen.insert(clean.clone()) {
            found.push(DUPLICATE_NAME.at(at(name), "the archive has the name twice"));
        } else if let Some(other) = folded.insert(clean.to_lowercase(), name) {
            found.push(CASE_COLLISION.at(at(name), format!("it differs from `{other}` by case alone")));
        }
    }
    if directories > 0 {
        let entries = if directories == 1 { "entry is a directory" } else { "entries are directories" };
        found.push(DIRECTORY_ENTRIES.at(place, format!("{directories} {entries}")));
    }
    if dotted > 0 {
        found.push(DIRECTORY_ENTRIES.at(place, format!("names with empty or `.` parts, such as `./a`: {dotted}")));
    }
    found
}

/// Whether a file of this name may be the provider's executable; of any provider if the type is unknown.
pub(super) fn is_executable(name: &str, provider_type: Option<&str>) -> bool {
    match provider_type {
        Some(provider_type) => is_executable_name(name, provider_type),
        None => is_any_executable(name),
    }
}

pub(super) fn no_executable(provider_type: Option<&str>) -> String {
    format!("its root has no file terraform-provider-{}", provider_type.unwrap_or("TYPE"))
}

fn executable(
    subject: &CheckSubject<'_>,
    release: &FoundRelease,
    entry: &IndexEntry,
    place: &str,
    listing: &ZipListing,
) -> Findings {
    let mut fitting: Vec<&ZipItem> = listing
        .items
        .iter()
        .filter(|item| !item.directory && is_executable(&clean_name(&item.name), subject.provider_type))
        .collect();
    fitting.sort_by(|one, other| one.name.cmp(&other.name));
    fitting.dedup_by(|one, other| one.name == other.name);
    let mut found = Findings::new();
    let Some(first) = fitting.first() else {
        return vec![NO_EXECUTABLE.at(place, no_executable(subject.provider_type))];
    };
    let at = format!("{place}, entry `{}`", first.name);
    if fitting.len() > 1 {
        let names: Vec<&str> = fitting.iter().map(|item| item.name.as_str()).collect();
        found.push(SEVERAL_EXECUTABLES.at(place, format!("{}; the first is the one that runs", names.join(", "))));
    }
    let windows = entry.descriptor.platform.as_ref().is_some_and(|platform| platform.os == "windows");
    if !windows && first.permissions & 0o111 == 0 {
        found.push(EXECUTABLE_MODE.at(&at, format!("its mode is {:04o}", first.permissions)));
    }
    match version_of(&clean_name(&first.name), subject.provider_type) {
        None => found.push(EXECUTABLE_NO_VERSION.at(&at, "its name has no version")),
        Some(version) if !same_version(&version, release) => {
            found.push(
                EXECUTABLE_VERSION.at(&at, format!("its name has {version}, the release is {}", release.version)),
            );
        }
        Some(_) => {}
    }
    found
}

/// Whether the program of a package is for another platform than its entry in the index.
pub(super) fn program(
    subject: &CheckSubject<'_>,
    entry: &IndexEntry,
    place: &str,
    programs: &[(String, Option<Program>)],
) -> Option<crate::Finding> {
    let (name, program) = programs.iter().find(|(name, _)| is_executable(name, subject.provider_type))?;
    let platform = entry.descriptor.platform()?;
    let program = program.as_ref().filter(|program| program.contradicts(&platform))?;
    let said = format!("it is {program}, and the entry of the index says {platform}");
    Some(EXECUTABLE_PLATFORM.at(format!("{place}, entry `{name}`"), said))
}

/// The version in an executable's name: what follows `_v` or `_`, up to another `_` or the ending `.exe`.
fn version_of(name: &str, provider_type: Option<&str>) -> Option<String> {
    let rest = name.strip_prefix("terraform-provider-")?;
    let rest = match provider_type {
        Some(provider_type) => rest.strip_prefix(provider_type)?,
        None => &rest[rest.find('_')?..],
    };
    let rest = rest.strip_prefix('_')?;
    let rest = rest.strip_suffix(".exe").unwrap_or(rest);
    let rest = rest.strip_prefix('v').unwrap_or(rest);
    let version = rest.split('_').next().unwrap_or_default();
    version.starts_with(|first: char| first.is_ascii_digit()).then(|| version.to_owned())
}

/// Build metadata is often left out of names.
fn same_version(named: &str, release: &FoundRelease) -> bool {
    let version = release.version.to_string();
    named == version || Some(named) == version.split('+').next()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check_version(name: &str, want: Option<&str>) {
        assert_eq!(version_of(name, Some("widget")).as_deref(), want, "{name}");
        assert_eq!(version_of(name, None).as_deref(), want, "{name}");
    }

    #[test]
    fn two_names_of_one_file_were_not_reported() {
        let item = |name: &str| ZipItem {
            name: name.to_owned(),
            directory: false,
            link: false,
            permissions: 0o644,
            method: 0,
            size: 0,
            damaged: false,
        };
        let listing = ZipListing { items: ["a/b", "a//b", "A/./B"].map(item).into(), complete: true };
        let found: Vec<&str> = names(&listing, "zip").iter().map(|finding| finding.rule.id).collect();
        assert_eq!(found, ["duplicate-entry", "case-collision", "directory-entries"]);
    }

    #[test]
    fn the_version_in_an_executables_name() {
        check_version("terraform-provider-widget_v1.2.3", Some("1.2.3"));
        check_version("terraform-provider-widget_v1.2.3_x5.exe", Some("1.2.3"));
        check_version("terraform-provider-widget_1.2.3", Some("1.2.3"));
        check_version("terraform-provider-widget_v1.2.3-rc.1", Some("1.2.3-rc.1"));
        check_version("terraform-provider-widget", None);
        check_version("terraform-provider-widget_linux_amd64", None);
    }
}
