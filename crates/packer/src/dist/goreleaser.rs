//! `GoReleaser`'s `dist/`: what it lists in `artifacts.json`, with the version from `metadata.json`.
//!
//! `artifacts.json` is a list of `{name, path, goos, goarch, goarm, internal_type, type, extra}`; absent members are
//! omitted. `path` starts at the folder that the build ran in, so it usually begins with `dist/`. The registry
//! manifest that `checksum.extra_files` names is in the checksum file, and lies beside the folder.

use std::path::{Component, Path, PathBuf};

use serde::Deserialize;
use tofu_oci_types::Version;

use super::files::{self, FolderEntry};
use super::model::{CandidatePackage, Dist, DistKind, DistOptions, DistPackage, PackageSource, settle};
use super::sums::DistSums;
use super::{folder, names, platforms, protocols};
use crate::PackError;

/// The file that marks a `GoReleaser` folder.
pub(super) const ARTIFACTS: &str = "artifacts.json";

const METADATA: &str = "metadata.json";

#[derive(Deserialize)]
struct BuildArtifact {
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
    /// Differs by type and version: `Format` of an archive, `ChecksumOf` of a checksum file for one artifact.
    #[serde(default)]
    extra: serde_json::Value,
}

#[derive(Deserialize)]
struct GoReleaserMetadata {
    #[serde(default)]
    project_name: String,
    #[serde(default)]
    version: String,
}

pub(super) fn read(dist: &Path, options: &DistOptions) -> Result<Dist, PackError> {
    let artifacts: Vec<BuildArtifact> = files::read_json(&dist.join(ARTIFACTS))?;
    let project = read_metadata(dist)?;
    let entries = files::entries(dist)?;
    let candidates = packages(dist, &artifacts, &entries)?
        .into_iter()
        .map(|artifact| candidate(dist, artifact, project.as_ref(), options))
        .collect::<Result<Vec<_>, _>>()?;
    if let Some(project) = &project {
        check_version(dist, project, &candidates)?;
    }
    let mut found = settle(dist, DistKind::GoReleaser, candidates, options)?;
    let sums = sums_file(dist, &artifacts)?.map(|path| DistSums::read(&path)).transpose()?;
    found.protocols = protocols::read(dist, &entries, found.version.as_ref(), sums.as_ref())?;
    found.with_sums(sums)
}

/// `metadata.json`, its version parsed.
struct GoReleaserProject {
    metadata: GoReleaserMetadata,
    version: Option<Version>,
}

fn read_metadata(dist: &Path) -> Result<Option<GoReleaserProject>, PackError> {
    let path = dist.join(METADATA);
    if !path.is_file() {
        return Ok(None);
    }
    let metadata: GoReleaserMetadata = files::read_json(&path)?;
    let version = match metadata.version.as_str() {
        "" => None,
        text => Some(names::version(text, &path)?),
    };
    Ok(Some(GoReleaserProject { metadata, version }))
}

/// The archives that are packages of a provider.
fn packages<'a>(
    dist: &Path,
    artifacts: &'a [BuildArtifact],
    entries: &[FolderEntry],
) -> Result<Vec<&'a BuildArtifact>, PackError> {
    let archives: Vec<&BuildArtifact> = artifacts.iter().filter(|artifact| artifact.kind == "Archive").collect();
    let zips: Vec<&BuildArtifact> = archives.iter().copied().filter(|artifact| files::is_zip(&artifact.name)).collect();
    // A project may release other programs beside the provider.
    let providers: Vec<&BuildArtifact> =
        zips.iter().copied().filter(|artifact| artifact.name.starts_with(names::PREFIX)).collect();
    match (providers.is_empty(), zips.is_empty(), archives.first()) {
        (false, ..) => Ok(providers),
        (true, false, _) => Ok(zips),
        (true, true, Some(other)) => {
            let ending = || other.name.rsplit('.').next().unwrap_or_default();
            let format = other.extra["Format"].as_str().unwrap_or_else(ending).to_owned();
            Err(PackError::WrongFormat { path: dist.join(&other.name), format })
        }
        (true, true, None) => Err(folder::nothing(dist, entries)),
    }
}

fn candidate(
    dist: &Path,
    artifact: &BuildArtifact,
    project: Option<&GoReleaserProject>,
    options: &DistOptions,
) -> Result<CandidatePackage, PackError> {
    let path = locate(dist, artifact)?;
    let name = names::package_name(&artifact.name);
    let project_name = project.and_then(|project| project.metadata.project_name.strip_prefix(names::PREFIX));
    let version = match (&name, project.and_then(|project| project.version.clone())) {
        // The name template is the project's own: what it says counts only if it is a version.
        (Some(name), Some(version)) => Some(name.version.parse().unwrap_or(version)),
        (Some(name), None) => Some(names::version(name.version, &path)?),
        (None, version) => version,
    };
    let platform = format!("{}_{}", artifact.goos, artifact.goarch);
    Ok(CandidatePackage {
        provider_type: name.map(|name| name.provider_type).or(project_name).map(str::to_owned),
        version,
        package: DistPackage {
            platform: platforms::parse(&platform, &path, options.unknown_platforms)?,
            source: PackageSource::Zip(path),
        },
    })
}

/// Demands that `metadata.json` and the packages name one version.
fn check_version(dist: &Path, project: &GoReleaserProject, candidates: &[CandidatePackage]) -> Result<(), PackError> {
    let Some(version) = &project.version else { return Ok(()) };
    match candidates.iter().filter_map(|candidate| candidate.version.as_ref()).find(|found| *found != version) {
        None => Ok(()),
        Some(other) => Err(PackError::Malformed {
            path: dist.join(METADATA),
            problem: format!("it says version {version}, but {ARTIFACTS} lists packages of {other}"),
        }),
    }
}

/// Where a listed file is: its path starts at the folder of the build, wherever that lies now.
fn locate(dist: &Path, artifact: &BuildArtifact) -> Result<PathBuf, PackError> {
    let parts: Vec<&std::ffi::OsStr> = Path::new(&artifact.path)
        .components()
        .filter_map(|part| if let Component::Normal(part) = part { Some(part) } else { None })
        .collect();
    (0..parts.len())
        .map(|skip| dist.join(parts[skip..].iter().collect::<PathBuf>()))
        .find(|path| path.is_file())
        .ok_or_else(|| PackError::Missing { path: dist.join(&artifact.name), by: dist.join(ARTIFACTS) })
}

/// The one checksum file of the release; `None` if each artifact has its own.
fn sums_file(dist: &Path, artifacts: &[BuildArtifact]) -> Result<Option<PathBuf>, PackError> {
    artifacts
        .iter()
        .filter(|artifact| artifact.kind == "Checksum")
        .find(|artifact| artifact.extra["ChecksumOf"].is_null())
        .map(|artifact| locate(dist, artifact))
        .transpose()
}
