//! `GoReleaser`'s `dist/`: what it lists in `artifacts.json`, with the version from `metadata.json`.
//!
//! `artifacts.json` is a list of `{name, path, goos, goarch, goarm, internal_type, type, extra}`; absent members are
//! omitted. `goreleaser build` lists programs alone, with the paths of the machine that it ran on. `path` starts at the folder that
//! the build ran in, so it usually begins with `dist/`. The registry manifest that `checksum.extra_files` names is in the checksum
//! file, and lies beside the folder.

use std::path::{Component, Path, PathBuf};

use serde::Deserialize;
use tofu_oci_types::{Platform, Version, ZipName, platforms_of_build};

use super::files::{self, FolderEntry};
use super::model::{CandidatePackage, Dist, DistOptions, PackageSource, settle};
use super::sums::DistSums;
use super::{folder, names, platforms};
use crate::DistKind;
use crate::PackError;

/// The file that marks a `GoReleaser` folder.
pub(super) const ARTIFACTS: &str = "artifacts.json";

const METADATA: &str = "metadata.json";

/// What would have been taken: files that the list does not name do not count.
const LISTED: [&str; 1] =
    ["a zip or a program of a provider in artifacts.json, which lists none: build again, or take that file away"];

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
    #[serde(default)]
    goamd64: String,
    #[serde(default)]
    go386: String,
    #[serde(default)]
    goarm: String,
    #[serde(default)]
    goarm64: String,
    #[serde(default)]
    gomips: String,
    #[serde(default)]
    goppc64: String,
    #[serde(default)]
    goriscv64: String,
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
    let mut candidates = Vec::new();
    for artifact in packages(dist, &artifacts, &entries)? {
        candidates.extend(self::candidates(dist, artifact, project.as_ref(), options)?);
    }
    if let Some(project) = &project {
        check_version(dist, project, &candidates)?;
    }
    let found = settle(dist, DistKind::GoReleaser, candidates, options)?;
    let algorithm = artifacts.iter().find_map(|artifact| artifact.extra["Checksum"].as_str()?.split_once(':'));
    let sums = sums_file(dist, &artifacts)?.map(|path| match algorithm {
        None | Some(("sha256", _)) => DistSums::read(&path),
        Some(_) => Ok(Err(path)),
    });
    found.read_sums(sums.transpose()?, &entries)
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

/// The archives that are packages of a provider, or if there are no archives its programs.
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
        (true, true, None) => {
            let mut programs: Vec<&BuildArtifact> = artifacts.iter().filter(|it| it.kind == "Binary").collect();
            programs.retain(|artifact| files::name(Path::new(&artifact.path)).starts_with(names::PREFIX));
            // `formats: [binary]` lists each program again, under its name for the release.
            programs.sort_by(|a, b| a.path.cmp(&b.path));
            programs.dedup_by(|a, b| a.path == b.path);
            if programs.is_empty() { Err(folder::nothing(dist, entries, &LISTED)) } else { Ok(programs) }
        }
    }
}

fn candidates(
    dist: &Path,
    artifact: &BuildArtifact,
    project: Option<&GoReleaserProject>,
    options: &DistOptions,
) -> Result<Vec<CandidatePackage>, PackError> {
    let path = locate(dist, artifact)?;
    let name = ZipName::parse(&artifact.name);
    let program = names::executable_name(files::name(&path)).filter(|_| artifact.kind == "Binary");
    let project_name = project.and_then(|project| project.metadata.project_name.strip_prefix(names::PREFIX));
    let version = match (&name, project.and_then(|project| project.version.clone())) {
        // The name template is the project's own: what it says counts only if it is a version.
        (Some(name), Some(version)) => Some(name.version.parse().unwrap_or(version)),
        (Some(name), None) => Some(names::version(name.version, &path)?),
        (None, version) => version.or_else(|| program.clone()?.1),
    };
    let provider_type = name.map(|name| name.provider_type).or(program.map(|(name, _)| name)).or(project_name);
    let platforms = platforms(artifact, &path, options)?;
    let source = if artifact.kind == "Binary" { PackageSource::Program } else { PackageSource::Zip };
    Ok(CandidatePackage::each(provider_type, version.as_ref(), &source(path.clone()), platforms).collect())
}

/// The platforms of an artifact, and what it demands of a processor.
fn platforms(artifact: &BuildArtifact, path: &Path, options: &DistOptions) -> Result<(Vec<Platform>, u8), PackError> {
    let BuildArtifact { goos, goarch, goamd64, go386, goarm, goarm64, gomips, goppc64, goriscv64, .. } = artifact;
    let levels = [goamd64, go386, goarm, goarm64, gomips, goppc64, goriscv64];
    let level: String = levels.into_iter().filter(|level| !level.is_empty()).map(|level| format!("_{level}")).collect();
    match platforms_of_build(&format!("{goos}_{goarch}{level}")) {
        Some(platforms) => Ok(platforms),
        None => platforms::parse(&format!("{goos}_{goarch}"), path, options.unknown_platforms),
    }
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
        .ok_or_else(|| {
            let named = if artifact.path.is_empty() { &artifact.name } else { &artifact.path };
            PackError::Missing { path: named.into(), by: dist.join(ARTIFACTS) }
        })
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
