//! What a folder of release files holds, and what becomes of several builds for one platform.

use std::path::{Path, PathBuf};

use tofu_oci_types::{Event, Platform, Version};

use super::files::{self, FolderEntry};
use super::protocols;
use super::sums::DistSums;
use crate::DistKind;
use crate::PackError;

/// A folder of release files, recognised and not yet read through.
#[derive(Clone, Debug)]
pub struct Dist {
    pub path: PathBuf,
    /// Which kind of folder it is.
    pub kind: DistKind,
    /// The provider's type, if the files say it.
    pub provider_type: Option<String>,
    /// The version, if the files say it.
    pub version: Option<Version>,
    /// Plugin protocol versions such as `6.0`, from the registry manifest; empty without one.
    pub protocols: Vec<String>,
    /// One package a platform, sorted by platform.
    pub packages: Vec<DistPackage>,
    /// The checksum file, if there is one; every zip has a line in it.
    pub sums: Option<DistSums>,
    /// The checksum file instead, if its checksums are of another kind than SHA-256: nothing is compared with it.
    pub other_sums: Option<PathBuf>,
    /// Other lists of SHA-256 checksums in the folder: what they say of a zip must be right too.
    pub(crate) further_sums: Vec<DistSums>,
    /// What the publisher must know of the folder before anything is sent.
    pub events: Vec<Event>,
}

/// One platform's package.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DistPackage {
    pub platform: Platform,
    /// Where its files are.
    pub source: PackageSource,
}

/// Where a package's files are.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum PackageSource {
    /// A zip that is pushed byte for byte.
    Zip(PathBuf),
    /// A directory that has to be packed.
    Directory(PathBuf),
    /// A program that has to be packed alone.
    Program(PathBuf),
}

/// What a caller knows about a folder before it is read.
#[derive(Clone, Debug, Default)]
pub struct DistOptions {
    /// The version to take if a folder holds several.
    pub version: Option<Version>,
    /// What to do with a platform that Go does not know.
    pub unknown_platforms: UnknownPlatforms,
}

/// What to do with a platform whose names are not GOOS and GOARCH names.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum UnknownPlatforms {
    /// An error: it is a misspelling in nearly every case.
    #[default]
    Refuse,
    /// Taken as it is written.
    Allow,
}

/// A package before it is known whether it belongs to the release.
pub(super) struct CandidatePackage {
    pub(super) provider_type: Option<String>,
    pub(super) version: Option<Version>,
    pub(super) package: DistPackage,
    /// What it demands of a processor, as [`tofu_oci_types::platforms_of_build`] counts it.
    pub(super) demands: u8,
}

impl CandidatePackage {
    /// Files that are for each of these platforms.
    pub(super) fn each(
        provider_type: Option<&str>,
        version: Option<&Version>,
        source: &PackageSource,
        (platforms, demands): (Vec<Platform>, u8),
    ) -> impl Iterator<Item = Self> {
        platforms.into_iter().map(move |platform| Self {
            provider_type: provider_type.map(str::to_owned),
            version: version.cloned(),
            package: DistPackage { platform, source: source.clone() },
            demands,
        })
    }
}

/// One release from what was found: one provider, one version, one package a platform. Of several builds for one platform it
/// is that which runs on more machines.
pub(super) fn settle(
    path: &Path,
    kind: DistKind,
    mut candidates: Vec<CandidatePackage>,
    options: &DistOptions,
) -> Result<Dist, PackError> {
    let mut types: Vec<String> = candidates.iter().filter_map(|candidate| candidate.provider_type.clone()).collect();
    types.sort();
    types.dedup();
    if types.len() > 1 {
        return Err(PackError::SeveralTypes { path: path.to_owned(), types });
    }
    let mut versions: Vec<Version> = candidates.iter().filter_map(|candidate| candidate.version.clone()).collect();
    versions.sort_by(|a, b| a.precedence(b).then_with(|| a.to_string().cmp(&b.to_string())));
    versions.dedup();
    let version = match (&options.version, versions.as_slice()) {
        (Some(given), [_, _, ..]) if versions.contains(given) => {
            candidates.retain(|candidate| candidate.version.as_ref() == Some(given));
            Some(given.clone())
        }
        (_, [_, _, ..]) => return Err(PackError::SeveralVersions { path: path.to_owned(), versions }),
        (_, found) => found.first().cloned(),
    };
    let preview = match (&options.version, &version) {
        (Some(given), Some(found)) => preview(given, found, path)?,
        _ => None,
    };
    let (packages, mut events) = one_a_platform(kind, candidates)?;
    events.extend(preview);
    Ok(Dist {
        path: path.to_owned(),
        kind,
        provider_type: types.pop(),
        version,
        protocols: Vec::new(),
        packages,
        sums: None,
        other_sums: None,
        further_sums: Vec::new(),
        events,
    })
}

/// Demands that files of the version `found` may be published as `given`: as themselves, or with a note as a preview, for which
/// projects do not build a release.
fn preview(given: &Version, found: &Version, path: &Path) -> Result<Option<Event>, PackError> {
    if given == found || given.is_prerelease() {
        let text = || format!("the files of {found} become the preview {given}");
        return Ok((given != found).then(|| Event::note("preview-version", text())));
    }
    let (given, found) = (Box::new(given.clone()), Box::new(found.clone()));
    Err(PackError::VersionConflict { given, found, path: path.to_owned() })
}

/// The package of each platform, sorted, with a note of each that stays behind.
fn one_a_platform(
    kind: DistKind,
    mut candidates: Vec<CandidatePackage>,
) -> Result<(Vec<DistPackage>, Vec<Event>), PackError> {
    candidates.sort_by(|a, b| {
        let key =
            |it: &CandidatePackage| (it.package.platform.clone(), it.demands, it.package.source.path().to_owned());
        key(a).cmp(&key(b))
    });
    let (mut packages, mut events) = (Vec::<DistPackage>::new(), Vec::new());
    let mut taken_demands = 0;
    for CandidatePackage { package, demands, .. } in candidates {
        let Some(taken) = packages.last().filter(|taken| taken.platform == package.platform) else {
            taken_demands = demands;
            packages.push(package);
            continue;
        };
        let (platform, first, second) = (&package.platform, taken.source.path(), package.source.path());
        if demands == taken_demands {
            let (first, second) = (first.to_owned(), second.to_owned());
            return Err(PackError::TwoPackages { platform: platform.clone(), first, second, kind });
        }
        let why = if demands == u8::MAX { "is for it alone" } else { "runs on more machines" };
        let (first, second) = (files::name(first), files::name(second));
        let text = format!("{second} does not go with the release as {platform}: {first} {why}");
        events.push(Event::note("package-left-out", text));
    }
    Ok((packages, events))
}

impl PackageSource {
    /// The zip, the directory or the program.
    pub fn path(&self) -> &Path {
        match self {
            Self::Zip(path) | Self::Directory(path) | Self::Program(path) => path,
        }
    }
}

impl Dist {
    /// Takes in a checksum file, which must have a line for every zip, and the protocol versions.
    pub(super) fn read_sums(
        mut self,
        sums: Option<Result<DistSums, PathBuf>>,
        entries: &[FolderEntry],
    ) -> Result<Self, PackError> {
        let sums = match sums.transpose() {
            Ok(sums) => sums,
            Err(path) => {
                let name = files::name(&path);
                let text = format!(
                    "the checksums in {name} are not of SHA-256: no package was compared with them, and they do not go with the release"
                );
                let event = Event::note("sums-of-other-kind", text);
                self.events.push(event.with_hint(
                    "list SHA-256 checksums: `algorithm: sha256` in .goreleaser.yaml, or sha256sum *.zip > SHA256SUMS",
                ));
                self.other_sums = Some(path);
                None
            }
        };
        self.protocols = protocols::read(&self.path, entries, self.version.as_ref(), sums.as_ref())?;
        if let Some(sums) = &sums {
            for package in &self.packages {
                if let PackageSource::Zip(path) = &package.source {
                    sums.require(path)?;
                }
            }
            self.events.extend(self.absent(sums));
        }
        let taken = sums.as_ref().map(|sums| &sums.path).or(self.other_sums.as_ref());
        let further = entries.iter().filter(|entry| entry.is_list_of_sha256() && Some(&entry.path) != taken);
        let further = further.map(|entry| DistSums::read(&entry.path)).collect::<Result<Vec<_>, _>>()?;
        self.further_sums = further.into_iter().filter_map(Result::ok).collect();
        self.sums = sums;
        Ok(self)
    }

    /// What the checksum file lists for platforms that have no package.
    fn absent(&self, sums: &DistSums) -> Option<Event> {
        let mut listed = sums.listed.archives(self.provider_type.as_deref()?, self.version.as_ref()?);
        listed.retain(|platform, _| self.packages.iter().all(|package| package.platform != *platform));
        let platforms = listed.keys().map(ToString::to_string).collect::<Vec<_>>().join(", ");
        let name = files::name(&sums.path);
        let text = format!("{name} lists packages for {platforms} that are not there: the release goes without them");
        let event = Event::warning("listed-package-absent", text);
        (!listed.is_empty()).then(|| {
            event.with_hint("if clients need them: put their zips into the folder, and push again with --replace-tag")
        })
    }

    /// The version to publish: the given one, or the one that the files say.
    ///
    /// # Errors
    /// [`PackError::VersionConflict`] if they differ, [`PackError::VersionUnknown`] if there is neither.
    pub fn choose_version(&self, given: Option<&Version>) -> Result<Version, PackError> {
        match (given, &self.version) {
            (Some(given), Some(found)) => preview(given, found, &self.path).map(|_| given.clone()),
            (Some(version), None) | (None, Some(version)) => Ok(version.clone()),
            (None, None) => Err(PackError::VersionUnknown { path: self.path.clone() }),
        }
    }
}
