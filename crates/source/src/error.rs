//! Why a place did not answer with what was asked for.

use tofu_oci_layout::LayoutError;
use tofu_oci_store::StoreError;
use tofu_oci_trust::NoticeReason;
use tofu_oci_types::{Digest, Place, Platform, ProviderAddr, Version, printable};

use crate::InstallMethod;
use crate::failure::Failure;

/// Why a source failed.
#[derive(Debug, Clone, thiserror::Error)]
#[non_exhaustive]
pub enum SourceError {
    /// The place does not have it. The next place may.
    #[error("{}", not_offered(address, place, what))]
    NotOffered { address: ProviderAddr, place: Place, what: NotOffered },
    /// What lies under this version's tag cannot be installed.
    #[error("{address} {version} in {place} cannot be installed: {problem}")]
    Unusable { address: ProviderAddr, version: Version, place: Place, problem: String },
    /// What lies under this version's tag breaks the rules of every layout.
    #[error("{address} {version} in {place} cannot be installed")]
    Layout {
        address: ProviderAddr,
        version: Version,
        place: Place,
        #[source]
        source: LayoutError,
    },
    /// The place could not be read.
    #[error(transparent)]
    Store(#[from] StoreError),
    /// The place could not be used, and is not a repository.
    #[error("nothing can be installed from {place}")]
    Failed {
        place: Place,
        #[source]
        failure: Failure,
    },
    /// One of several methods ends the search: its answer rules the next ones out.
    #[error(transparent)]
    Method(Box<Blame>),
}

/// Which of several methods ended a search, and why.
#[derive(Debug, Clone, thiserror::Error)]
#[error("{label} ends the search for {address}{}", version_of(.version.as_ref()))]
pub struct Blame {
    pub label: String,
    pub kind: InstallMethod,
    pub address: ProviderAddr,
    /// The version of the wanted package; `None` if versions were listed.
    pub version: Option<Version>,
    pub elsewhere: Vec<String>,
    #[source]
    pub source: SourceError,
}

/// What a place does not have.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum NotOffered {
    #[error("no such provider")]
    UnknownProvider,
    /// The provider itself, and the place is the registry that its address belongs to.
    #[error("no such provider")]
    UnknownToRegistry,
    /// Anything: no installation method is configured at all.
    #[error("no installation method")]
    NoMethods,
    /// The provider: no installation method is for it.
    #[error("no installation method for this provider")]
    NoMethodMatches,
    #[error("no version {version}")]
    VersionMissing { version: Version, offered: Vec<Version> },
    /// This version: its publisher has withdrawn it.
    #[error("version {version} was withdrawn")]
    Withdrawn {
        version: Version,
        /// Why; `None` if that could not be read. Nothing has verified it.
        reason: Option<NoticeReason>,
        replaced_by: Option<Digest>,
        offered: Vec<Version>,
    },
    #[error("no package of {version} for {platform}")]
    PlatformMissing {
        version: Version,
        platform: Platform,
        /// The platforms that the release has, sorted.
        offered: Vec<Platform>,
    },
}

fn version_of(version: Option<&Version>) -> String {
    version.map(|version| format!(" {version}")).unwrap_or_default()
}

fn not_offered(address: &ProviderAddr, place: &Place, what: &NotOffered) -> String {
    match what {
        NotOffered::UnknownProvider => format!("{address} was not found in {place}"),
        NotOffered::UnknownToRegistry => format!("{place} does not know {address}"),
        NotOffered::NoMethods => {
            format!("{address} cannot be looked for: the CLI configuration has no installation method left")
        }
        NotOffered::NoMethodMatches => format!("{address} matches none of the installation methods"),
        NotOffered::VersionMissing { version, .. } => format!("{address} {version} was not found in {place}"),
        NotOffered::Withdrawn { version, reason: Some(reason), .. } => {
            format!("{address} {version} was withdrawn from {place}: {}", printable(reason.as_str()))
        }
        NotOffered::Withdrawn { version, .. } => format!("{address} {version} was withdrawn from {place}"),
        NotOffered::PlatformMissing { version, platform, .. } => {
            format!("{address} {version} has no package for {platform}")
        }
    }
}

impl NotOffered {
    /// A stable kebab-case name, as measured with `OpenTofu`.
    pub fn code(&self) -> &'static str {
        match self {
            Self::UnknownProvider | Self::NoMethodMatches => "provider-not-found",
            Self::UnknownToRegistry => "registry-provider-not-known",
            Self::NoMethods => "no-matching-release",
            Self::VersionMissing { .. } => "tag-not-found",
            Self::Withdrawn { .. } => "withdrawn",
            Self::PlatformMissing { .. } => "platform-not-supported",
        }
    }
}

impl SourceError {
    /// Whether a retry of the same question may succeed.
    pub fn is_transient(&self) -> bool {
        match self {
            Self::Store(error) => error.is_transient(),
            Self::Failed { failure, .. } => failure.is_transient(),
            Self::Method(blame) => blame.source.is_transient(),
            Self::NotOffered { .. } | Self::Unusable { .. } | Self::Layout { .. } => false,
        }
    }

    /// Whether the place gave no answer: a retry may succeed, or the folder of packages or of an image layout is not there.
    pub fn is_without_answer(&self) -> bool {
        let missing = matches!(
            self.innermost(),
            Self::Store(StoreError::UnknownRepository { place: Place::Layout(_) })
                | Self::Failed { failure: Failure::FolderMissing(_), .. }
        );
        missing || self.is_transient()
    }

    /// A stable kebab-case name of what went wrong: the measured name of `OpenTofu` if it fails in the same way.
    ///
    /// Spec: `real-tofu-sources.md` (measured), §4 and §8.
    pub fn code(&self) -> &'static str {
        match self {
            Self::NotOffered {
                what: NotOffered::VersionMissing { .. },
                place: Place::Folder(_) | Place::NetworkMirror(_),
                ..
            } => "mirror-version-missing",
            Self::NotOffered { what, .. } => what.code(),
            Self::Unusable { .. } => "unusable",
            Self::Layout { source, .. } => source.code(),
            Self::Store(error) => error.code(),
            Self::Failed { failure, .. } => failure.code(),
            Self::Method(blame) => blame.code(),
        }
    }

    /// The error of the method that ended the search; the error itself if only one place was asked.
    pub fn innermost(&self) -> &Self {
        match self {
            Self::Method(blame) => blame.source.innermost(),
            other => other,
        }
    }
}

impl Blame {
    /// The name of a missing version or provider depends on the kind of the method.
    fn code(&self) -> &'static str {
        match (&self.source, self.kind) {
            (SourceError::NotOffered { what: what @ NotOffered::Withdrawn { .. }, .. }, _) => what.code(),
            (SourceError::NotOffered { what, .. }, kind) if what.is_absence() => match kind {
                InstallMethod::NetworkMirror => "mirror-version-missing",
                InstallMethod::Oci => "tag-not-found",
                InstallMethod::Direct | InstallMethod::Filesystem => what.code(),
            },
            (source, _) => source.code(),
        }
    }

    /// What to change if later methods have the version: the pattern to exclude from this one.
    pub fn remedy(&self) -> Option<String> {
        let first = self.elsewhere.first()?;
        Some(format!(
            "{} would serve it: put `exclude = [\"{}\"]` into {}, or move that method after it",
            first, self.address, self.label
        ))
    }
}

impl NotOffered {
    /// Whether the provider or the version is missing, as opposed to one platform of it.
    pub(crate) fn is_absence(&self) -> bool {
        matches!(
            self,
            Self::UnknownProvider | Self::UnknownToRegistry | Self::VersionMissing { .. } | Self::Withdrawn { .. }
        )
    }

    /// Whether the provider itself is missing.
    pub(crate) fn is_unknown(&self) -> bool {
        matches!(self, Self::UnknownProvider | Self::UnknownToRegistry)
    }
}

/// The error with all its causes, on one line.
#[cfg(test)]
pub(crate) fn causes(error: &dyn std::error::Error) -> String {
    let mut text = error.to_string();
    let mut next = error.source();
    while let Some(cause) = next {
        text = format!("{text}: {cause}");
        next = cause.source();
    }
    text
}
