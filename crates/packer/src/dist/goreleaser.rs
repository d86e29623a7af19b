//! `GoReleaser`'s `dist/`: what it lists in `artifacts.json`, with the version from `metadata.json`.
//!
//! `artifacts.json` is a list of `{name, path, goos, goarch, goarm, internal_type, type, extra}`; absent members are
//! left out. `path` starts at the folder that the build ran in, so it usually begins with `dist/`. The registry
//! manifest that `checksum.extra_files` names is in the checksum file, but stays beside the folder.

use std::path::{Component, Path, PathBuf};

use serde::Deserialize;
use tofu_oci_types::Version;

use super::files::{self, Entry};
use super::{
    Candidate, Dist, DistKind, DistOptions, DistPackage, PackageSource, Sums, folder, names, platforms, protocols,
    settle,
};
use crate::PackError;

/// The file that tells a `GoReleaser` folder.
pub(super) const ARTIFACTS: &str = "artifacts.json";

const METADATA: &str = "metadata.json";

#[derive(Deserialize)]
struct Artifact {
    #[serde(default)]
    name: String,
    #[serde(default)]
    path: String,
    #[serde(default)]
    goos: String,
    #[serde(default)]
    goarch: String,
    #[serde(default, rename = "type")]
    kind: String,
    #[serde(default)]
    extra: Option<Extra>,
}

#[derive(Deserialize)]
struct Extra {
    #[serde(default, rename = "Format")]
    format: Option<String>,
    /// Set when every artifact has a checksum file of its own.
    #[serde(default, rename = "ChecksumOf")]
    checksum_of: Option<String>,
}

#[derive(Deserialize)]
struct Metadata {
    #[serde(default)]
    project_name: String,
    #[serde(default)]
    version: String,
}

pub(super) fn read(dist: &Path, options: &DistOptions) -> Result<Dist, PackError> {
    let listing = dist.join(ARTIFACTS);
    let artifacts: Vec<Artifact> = files::read_json(&listing)?;
    let metadata = read_metadata(dist)?;
    let entries = files::entries(dist)?;
    let candidates = candidates(dist, &artifacts, metadata.as_ref(), options, &entries)?;
    let mut found = settle(dist, DistKind::GoReleaser, candidates, options)?;
    let sums = sums_file(dist, &listing, &artifacts)?.map(|path| Sums::read(&path)).transpose()?;
    found.protocols = protocols::read(dist, &entries, sums.as_ref())?;
    found.with_sums(sums)
}

fn read_metadata(dist: &Path) -> Result<Option<(Metadata, Option<Version>)>, PackError> {
    let path = dist.join(METADATA);
    if !path.is_file() {
        return Ok(None);
    }
    let metadata: Metadata = files::read_json(&path)?;
    let version = match metadata.version.as_str() {
        "" => None,
        text => Some(names::version(text, &path)?),
    };
    Ok(Some((metadata, version)))
}

fn candidates(
    dist: &Path,
    artifacts: &[Artifact],
    metadata: Option<&(Metadata, Option<Version>)>,
    options: &DistOptions,
    entries: &[Entry],
) -> Result<Vec<Candidate>, PackError> {
    let listing = dist.join(ARTIFACTS);
    let archives: Vec<&Artifact> = artifacts.iter().filter(|artifact| artifact.kind == "Archive").collect();
    let zips: Vec<&Artifact> = archives.iter().copied().filter(|artifact| files::is_zip(&artifact.name)).collect();
    // A project may release other programs beside the provider.
    let providers: Vec<&Artifact> =
        zips.iter().copied().filter(|artifact| artifact.name.starts_with(names::PREFIX)).collect();
    let chosen = if providers.is_empty() { zips } else { providers };
    if let (true, Some(other)) = (chosen.is_empty(), archives.first()) {
        let format = other.extra.as_ref().and_then(|extra| extra.format.clone());
        let format = format.unwrap_or_else(|| other.name.rsplit('.').next().unwrap_or_default().to_owned());
        return Err(PackError::WrongFormat { path: dist.join(&other.name), format });
    }
    if chosen.is_empty() {
        return Err(folder::nothing(dist, entries));
    }
    let mut candidates = Vec::new();
    for artifact in chosen {
        let path = locate(dist, &listing, artifact)?;
        let name = names::package_name(&artifact.name);
        let project = metadata.and_then(|(metadata, _)| metadata.project_name.strip_prefix(names::PREFIX));
        let platform = format!("{}_{}", artifact.goos, artifact.goarch);
        let version = match (&name, metadata.and_then(|(_, version)| version.clone())) {
            (Some(name), from_metadata) => match (name.version.parse::<Version>(), from_metadata) {
                // The name template is the project's own: what it says counts only when it is a version.
                (Err(_), Some(version)) => Some(version),
                _ => Some(names::version(name.version, &path)?),
            },
            (None, version) => version,
        };
        candidates.push(Candidate {
            provider_type: name.map(|name| name.provider_type).or(project).map(str::to_owned),
            version,
            package: DistPackage {
                platform: platforms::parse(&platform, &path, options.unknown_platforms)?,
                source: PackageSource::Zip(path),
            },
        });
    }
    if let Some((metadata, Some(version))) = metadata {
        let other =
            candidates.iter().filter_map(|candidate| candidate.version.as_ref()).find(|found| *found != version);
        if let Some(other) = other {
            return Err(PackError::Malformed {
                path: dist.join(METADATA),
                problem: format!("it says version {}, but {ARTIFACTS} lists packages of {other}", metadata.version),
            });
        }
    }
    Ok(candidates)
}

/// Where a listed file is: its path starts at the folder of the build, wherever that lies now.
fn locate(dist: &Path, listing: &Path, artifact: &Artifact) -> Result<PathBuf, PackError> {
    let parts: Vec<&std::ffi::OsStr> = Path::new(&artifact.path)
        .components()
        .filter_map(|part| if let Component::Normal(part) = part { Some(part) } else { None })
        .collect();
    (0..parts.len())
        .map(|skip| dist.join(parts[skip..].iter().collect::<PathBuf>()))
        .find(|path| path.is_file())
        .ok_or_else(|| PackError::Missing { path: dist.join(&artifact.name), by: listing.to_owned() })
}

/// The one checksum file of the release; nothing where each artifact has its own.
fn sums_file(dist: &Path, listing: &Path, artifacts: &[Artifact]) -> Result<Option<PathBuf>, PackError> {
    artifacts
        .iter()
        .filter(|artifact| artifact.kind == "Checksum")
        .find(|artifact| artifact.extra.as_ref().is_none_or(|extra| extra.checksum_of.is_none()))
        .map(|artifact| locate(dist, listing, artifact))
        .transpose()
}
