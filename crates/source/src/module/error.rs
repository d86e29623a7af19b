//! Why a module did not come.

use tofu_oci_layout::InvalidModuleManifest;
use tofu_oci_store::{ReadStore, StoreError};
use tofu_oci_trust::{NoticeReason, VersionOf};
use tofu_oci_types::{Constraints, ModuleAddr, Place, Reference, Version};

use super::git_program::GitRunError;
use crate::{DiscoveryError, Failure, Listing, withdrawal};

/// Why a place did not give a module.
#[derive(Debug, Clone, thiserror::Error)]
#[non_exhaustive]
pub enum ModuleError {
    /// The registry does not know the module.
    #[error("{place} does not know the module {address}")]
    UnknownModule { address: ModuleAddr, place: Place },
    /// The registry lists no version that the constraint admits.
    #[error("{address} has no version{}", wanted_text(wanted))]
    NoMatchingVersion { address: ModuleAddr, place: Place, wanted: Constraints, offered: Vec<Version> },
    /// The registry lists the version, and does not say where its package is.
    #[error("{place} lists {address} {version}, and has no download of it")]
    VersionMissing { address: ModuleAddr, version: Version, place: Place },
    /// The registry names a location that tofu-oci does not fetch from.
    #[error("{}", location_text(address, version, place, fault))]
    Location { address: ModuleAddr, version: Version, place: Place, location: String, fault: LocationFault },
    /// What the repository has under this tag or digest is not a module package.
    #[error("{place} has no module package under {reference}")]
    Manifest {
        place: Place,
        reference: Reference,
        #[source]
        source: InvalidModuleManifest,
    },
    /// The version was withdrawn from the repository.
    #[error("version {version} was withdrawn from {place}")]
    Withdrawn {
        place: Place,
        version: Version,
        /// Why; `None` if that could not be read. Nothing has verified it.
        reason: Option<NoticeReason>,
        offered: Vec<Version>,
    },
    /// A git repository did not give the package.
    #[error("no module can be fetched from {repository}")]
    Git {
        place: Place,
        repository: String,
        #[source]
        fault: GitFault,
    },
    /// The repository could not be read.
    #[error(transparent)]
    Store(#[from] StoreError),
    /// The registry, or the host of the archive, could not be used.
    #[error("no module can be read from {place}")]
    Failed {
        place: Place,
        #[source]
        failure: Failure,
    },
}

/// What git, curl and ssh say of a host that they did not reach. The program runs with untranslated messages.
const UNREACHED: [&str; 8] = [
    "Could not resolve ",
    "name resolution",
    "Failed to connect to ",
    "Connection refused",
    "Connection timed out",
    "Connection reset",
    "No route to host",
    "Network is unreachable",
];

/// Why a git repository did not give a package.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum GitFault {
    /// The program could not be run, or was ended.
    #[error(transparent)]
    Run(#[from] GitRunError),
    /// The program said no.
    #[error("git says: {message}")]
    Refused { message: String },
    /// The repository has no such branch, tag or commit.
    #[error("it has no branch, tag or commit {reference}")]
    NoReference {
        /// What was asked for; `HEAD` if nothing was.
        reference: String,
    },
    /// The answer of the program is not one that git gives.
    #[error("the answer of git cannot be read: {problem}")]
    Answer { problem: String },
    /// It must not be fetched from there.
    #[error(transparent)]
    Location(LocationFault),
    /// A submodule could not be fetched, as any repository.
    #[error("its submodule `{path}` cannot be fetched: {fault}")]
    InSubmodule { path: String, fault: Box<GitFault> },
    /// A submodule is not usable.
    #[error("its submodule `{path}` cannot be fetched: {problem}")]
    Submodule { path: String, problem: String, code: &'static str },
}

impl GitFault {
    /// Whether it may be different the next time.
    pub fn is_transient(&self) -> bool {
        match self {
            Self::Run(GitRunError::Stuck { .. }) => true,
            Self::InSubmodule { fault, .. } => fault.is_transient(),
            _ => self.is_of_network(),
        }
    }

    /// Whether the program did not reach the repository, by its own words: a login has nothing to do with it.
    pub fn is_of_network(&self) -> bool {
        match self {
            Self::InSubmodule { fault, .. } => fault.is_of_network(),
            Self::Refused { message } => UNREACHED.iter().any(|words| message.contains(words)),
            _ => false,
        }
    }

    /// A stable kebab-case name.
    pub fn code(&self) -> &'static str {
        match self {
            Self::InSubmodule { fault, .. } => fault.code(),
            Self::Run(GitRunError::NotRun { .. }) => "git-missing",
            Self::Run(GitRunError::Unguarded { .. }) => "git-unguarded",
            Self::Run(GitRunError::Stuck { .. }) => "git-stuck",
            Self::Run(GitRunError::TooLarge { .. }) => "git-too-large",
            Self::Refused { .. } => "git-failed",
            Self::NoReference { .. } => "git-reference-missing",
            Self::Answer { .. } => "git-answer",
            Self::Location(fault) => fault.code(),
            Self::Submodule { code, .. } => code,
        }
    }
}

/// Why a location of a registry is not fetched from.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum LocationFault {
    /// It is of another kind of `OpenTofu`'s: a bucket, Mercurial, a folder.
    #[error("it is {kind}, and a registry may name https archives, oci:// repositories and git repositories")]
    Kind { kind: &'static str },
    /// The answer names no location.
    #[error("the answer has neither a `location` nor a header X-Terraform-Get")]
    Missing,
    /// A host of the internet sends to this machine or into a private network.
    #[error("it leads to {host}, which is on this machine or in a private network")]
    PrivateHost {
        /// Where to: `HOST[:PORT]`.
        host: String,
    },
    /// It is not a module source, or one that may not stand here.
    #[error("{problem}")]
    Invalid { problem: String },
    /// Neither the end of the path nor the argument `archive` says what the archive is.
    #[error("neither the end of its path nor an argument archive= says that it is a .zip or .tar.gz archive")]
    NoArchive,
    /// The archive has a form that is not unpacked.
    #[error("it is a {form} archive, and tofu-oci unpacks .zip, .tar.gz and .tgz")]
    Form {
        /// Such as `tar.xz`.
        form: String,
    },
    /// The checksum is not one that can be verified.
    #[error("its checksum is not a sha256 or sha512 in hexadecimal digits")]
    Checksum,
}

fn location_text(address: &ModuleAddr, version: &Version, place: &Place, fault: &LocationFault) -> String {
    match fault {
        LocationFault::Missing => format!("{place} names no location for {address} {version}: {fault}"),
        _ => format!("the package of {address} {version} cannot be fetched from where {place} says: {fault}"),
    }
}

/// What a version must meet, as the end of `… has no version`.
pub fn wanted_text(wanted: &Constraints) -> String {
    match wanted.exact() {
        _ if wanted.is_any() => " that is a release".to_owned(),
        Some(version) => format!(" {version}"),
        None => format!(" that meets `{wanted}`"),
    }
}

impl ModuleError {
    /// The same, or that the version was withdrawn if that is why the tag is not there.
    pub(crate) async fn or_withdrawn(self, store: &dyn ReadStore, reference: &Reference) -> Self {
        let (Self::Store(StoreError::NotFound { .. }), Reference::Tag(tag)) = (&self, reference) else { return self };
        let (Some(version), Ok(tags)) = (tag.version(), store.tags().await) else { return self };
        let Listing { versions: offered, withdrawn, .. } = Listing::in_store(store, &tags).await;
        if !withdrawn.contains(&version) {
            return self;
        }
        let reason = withdrawal(store, &VersionOf::Module, &version).await.map(|notice| notice.reason);
        Self::Withdrawn { place: store.place(), version, reason, offered }
    }

    /// A stable kebab-case name of what went wrong: the name of `OpenTofu`'s reason if it refuses too.
    pub fn code(&self) -> &'static str {
        match self {
            Self::UnknownModule { .. } => "module-not-found",
            Self::NoMatchingVersion { .. } => "no-matching-version",
            Self::VersionMissing { .. } => "module-version-missing",
            Self::Withdrawn { .. } => "withdrawn",
            Self::Location { fault, .. } => fault.code(),
            Self::Manifest { source, .. } => source.code(),
            Self::Git { fault, .. } => fault.code(),
            Self::Store(error) => error.code(),
            Self::Failed { failure, .. } => failure.code(),
        }
    }

    /// Whether a retry of the same question may succeed.
    pub fn is_transient(&self) -> bool {
        match self {
            Self::Git { fault, .. } => fault.is_transient(),
            Self::Store(error) => error.is_transient(),
            Self::Failed { failure, .. } => failure.is_transient(),
            _ => false,
        }
    }
}

impl LocationFault {
    /// A stable kebab-case name.
    pub fn code(&self) -> &'static str {
        match self {
            Self::Kind { .. } => "module-location-kind",
            Self::Missing => "module-location-missing",
            Self::PrivateHost { .. } => "private-host",
            Self::Invalid { .. } => "module-location-invalid",
            Self::NoArchive | Self::Form { .. } => "module-archive-form",
            Self::Checksum => "module-checksum",
        }
    }
}

impl From<DiscoveryError> for ModuleError {
    fn from(error: DiscoveryError) -> Self {
        Self::Failed { place: Place::from(&error.host), failure: error.failure }
    }
}
