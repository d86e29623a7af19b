//! Why a place did not answer with what was asked for.

use tofu_oci_fault::Fault;
use tofu_oci_layout::LayoutError;
use tofu_oci_store::StoreError;
use tofu_oci_trust::{NoticeReason, NoticeWriter};
use tofu_oci_types::{Digest, Place, Platform, ProviderAddr, RUN, Version, printable, versions_in_words};

use crate::InstallMethod;
use crate::failure::Failure;

const WRITTEN: &str =
    "check the repository's name; a provider release is what `tofu-oci push` writes, or labelled images";

/// Why a source failed.
#[derive(Debug, Clone, thiserror::Error, Fault)]
#[non_exhaustive]
pub enum SourceError {
    /// The place does not have it. The next place may.
    #[error("{}", not_offered(address, place, what))]
    #[fault(of = what, code = not_offered_code(what, place))]
    #[hint(if matches!(what, NotOffered::NoMethods | NotOffered::NoMethodMatches) => "`{RUN} resolve {address} \
            --explain` says of each method why")]
    #[hint(if matches!(what, NotOffered::NoMethods | NotOffered::NoMethodMatches) => "or say where it is with --from \
            REPOSITORY")]
    #[hint(if what.is_unknown() => "check the name; `{RUN} resolve {address} --explain` says where it is looked for")]
    NotOffered { address: ProviderAddr, place: Place, what: NotOffered },
    /// the place has something under the tag of the version that cannot be installed
    #[error("{address} {version} in {place} cannot be installed: {problem}")]
    #[fault("unusable", todo = "run `tofu-oci check REPOSITORY`; its findings say what to correct")]
    #[hint("{WRITTEN}")]
    Unusable { address: ProviderAddr, version: Version, place: Place, problem: String },
    #[error("{address} {version} in {place} cannot be installed")]
    #[fault(code = source.code())]
    #[hint("{WRITTEN}")]
    Layout {
        address: ProviderAddr,
        version: Version,
        place: Place,
        #[source]
        source: LayoutError,
    },
    /// The place could not be read.
    #[error(transparent)]
    #[fault(of = _0)]
    Store(#[from] StoreError),
    #[error("nothing can be installed from {place}")]
    #[fault(of = failure)]
    #[hint(if matches!(failure, Failure::PrivateHost { .. }) => "or say which repository holds the provider with \
            --from REPOSITORY")]
    Failed {
        place: Place,
        #[source]
        failure: Failure,
    },
    /// One of several methods ends the search: its answer rules the next ones out.
    #[error(transparent)]
    #[fault(code = _0.code(), end = _0.source.end())]
    Method(Box<MethodError>),
}

/// Which of several methods ended a search, and why.
#[derive(Debug, Clone, thiserror::Error)]
#[error("{label} ends the search for {address}{}", version_of(.version.as_ref()))]
pub struct MethodError {
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
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error, Fault)]
#[non_exhaustive]
pub enum NotOffered {
    /// the place does not have the provider, there is no such repository, or no method of the CLI configuration is
    /// for it
    #[error("no such provider")]
    #[fault(
        "provider-not-found",
        todo = "check the address; `tofu-oci resolve ADDR --explain` shows what each method \
            answers"
    )]
    UnknownProvider,
    /// the registry of the address does not know the provider
    #[error("no such provider")]
    #[fault(
        "registry-provider-not-known",
        todo = "check the address; name the repository with `--from` if the \
            packages are elsewhere"
    )]
    UnknownToRegistry,
    /// no version meets the constraints, or the CLI configuration has no method left
    #[error("no installation method")]
    #[fault("no-matching-release", todo = "relax the constraint; the error lists the versions that the place offers")]
    NoMethods,
    #[error("no installation method for this provider")]
    #[fault(code = "provider-not-found")]
    NoMethodMatches,
    /// the repository has no tag for the version
    #[error("no version {version}")]
    #[fault(
        "tag-not-found",
        todo = "publish the version, or exclude the provider from this method so that the next \
            one is asked"
    )]
    #[hint("{}", versions_in_words("it has", offered))]
    VersionMissing { version: Version, offered: Vec<Version> },
    /// This version: its publisher has withdrawn it.
    #[error("version {version} was withdrawn")]
    #[fault(code = "withdrawn")]
    #[hint("{}", versions_in_words("it has", offered))]
    Withdrawn {
        version: Version,
        /// Why; `None` if that could not be read. Nothing has verified it.
        reason: Option<NoticeReason>,
        /// Who says so; `None` if that could not be read.
        writer: Option<NoticeWriter>,
        replaced_by: Option<Digest>,
        offered: Vec<Version>,
    },
    /// the release has no package for the platform
    #[error("no package of {version} for {platform}")]
    #[fault(
        "platform-not-supported",
        todo = "choose one of the platforms in the hint, or ask the publisher for this \
            one"
    )]
    #[hint("this release offers {}", offered.iter().map(ToString::to_string).collect::<Vec<_>>().join(", "))]
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

/// A stable kebab-case name: the measured one of `OpenTofu` if it fails in the same way.
///
/// Spec: `real-tofu-sources.md` (measured), §4 and §8.
fn not_offered_code(what: &NotOffered, place: &Place) -> &'static str {
    match (what, place) {
        (NotOffered::VersionMissing { .. }, Place::Folder(_) | Place::NetworkMirror(_)) => "mirror-version-missing",
        _ => what.code(),
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

    /// The error of the method that ended the search; the error itself if only one place was asked.
    pub fn innermost(&self) -> &Self {
        match self {
            Self::Method(blame) => blame.source.innermost(),
            other => other,
        }
    }
}

impl MethodError {
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
    pub fn is_unknown(&self) -> bool {
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
