//! Why a module did not come.

use tofu_oci_fault::Fault;
use tofu_oci_layout::{DocumentKind, InvalidModuleManifest};
use tofu_oci_store::{ReadStore, StoreError};
use tofu_oci_trust::{NoticeReason, VersionOf};
use tofu_oci_types::{
    Constraints, GitReference, ModuleAddr, Place, RUN, Reference, Version, printable, quoted, versions_in_words,
};

use super::git_program::GitRunError;
use crate::{DiscoveryError, Failure, Listing, withdrawal};

/// Why a place did not give a module.
#[derive(Debug, Clone, thiserror::Error, Fault)]
#[non_exhaustive]
pub enum ModuleError {
    /// the registry of modules does not know the module, or there is no such repository
    #[error("{place} does not know the module {address}")]
    #[fault("module-not-found", todo = "check namespace, name and target system, or the name of the repository")]
    #[hint("check the name: HOST/NAMESPACE/NAME/SYSTEM, such as acme/network/aws")]
    UnknownModule { address: ModuleAddr, place: Place },
    /// no version that the registry lists meets the constraint; a prerelease is chosen only by its exact version
    #[error("{address} has no version{}", wanted_text(wanted))]
    #[fault("no-matching-version", todo = "choose one of the versions that the error names")]
    #[hint("{}", versions_in_words("it has", offered))]
    #[hint(each = prerelease(address, offered))]
    NoMatchingVersion { address: ModuleAddr, place: Place, wanted: Constraints, offered: Vec<Version> },
    /// the registry lists the version and has no download of it
    #[error("{place} lists {address} {version}, and has no download of it")]
    #[fault("module-version-missing", todo = "take another version; tell the owner of the registry")]
    #[hint("take another version: {RUN} module versions {address}")]
    #[hint("the owner of the registry must correct it")]
    VersionMissing { address: ModuleAddr, version: Version, place: Place },
    /// The registry names a location that tofu-oci does not fetch from.
    #[error("{}", location_text(address, version, place, fault))]
    #[fault(of = fault)]
    #[cause(if !location.is_empty() => "the location is {location}")]
    Location { address: ModuleAddr, version: Version, place: Place, location: String, fault: LocationFault },
    #[error("{place} has no module package under {reference}")]
    #[fault(code = source.code())]
    #[hint(each = instead(place, source))]
    Manifest {
        place: Place,
        reference: Reference,
        #[source]
        source: InvalidModuleManifest,
    },
    /// The version was withdrawn from the repository.
    #[error(transparent)]
    #[fault(of = _0)]
    Withdrawn(Box<Withdrawal>),
    #[error("no module can be fetched from {repository}")]
    #[fault(of = fault, end = FaultEnd::of_transient(self.is_transient()))]
    Git {
        place: Place,
        repository: String,
        #[source]
        fault: GitFault,
    },
    /// The repository could not be read.
    #[error(transparent)]
    #[fault(of = _0, code = unread(_0))]
    Store(#[from] StoreError),
    /// Its registry of modules names it, and it is not read as the registry says.
    #[error("no module can be read from {place}, which a registry of modules names")]
    #[fault(of = fault)]
    Located {
        place: Place,
        #[source]
        fault: LocationFault,
    },
    #[error("no module can be read from {place}")]
    #[fault(of = failure)]
    #[hint(if matches!(failure, Failure::PackageMissing(_)) => "the registry names an archive that is gone; tell its \
            owner")]
    #[hint(if matches!(failure, Failure::BadBody(_) | Failure::BadContentType(_)) => "the owner of the host must \
            correct its service")]
    Failed {
        place: Place,
        #[source]
        failure: Failure,
    },
}

/// A version that was withdrawn from a repository.
#[derive(Debug, Clone, thiserror::Error, Fault)]
#[error("version {version} was withdrawn from {place}")]
#[fault(code = "withdrawn")]
#[cause(each = reason.iter().map(|reason| printable(reason.as_str())))]
#[hint("{}", versions_in_words("it has", offered))]
pub struct Withdrawal {
    pub place: Place,
    pub version: Version,
    /// Why; `None` if that could not be read. Nothing has verified it.
    pub reason: Option<NoticeReason>,
    pub offered: Vec<Version>,
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
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error, Fault)]
#[non_exhaustive]
pub enum GitFault {
    /// The program could not be run, or was ended.
    #[error(transparent)]
    #[fault(of = _0)]
    Run(#[from] GitRunError),
    /// git could not fetch the repository; the error has its words
    #[error("git says: {message}")]
    #[fault("git-failed", todo = "try `git ls-remote` with the same address")]
    #[hint(if self.is_of_network() => "check the host name and the network, and run the same command again")]
    #[hint(if self.is_of_network() => "git goes through the proxy of its own settings: git config http.proxy, or \
            HTTPS_PROXY")]
    #[hint(if !self.is_of_network() => "try it by hand: `git ls-remote` with the same address; git asks no questions \
            here")]
    #[hint(if !self.is_of_network() => "a password is a matter of git: a credential helper, ~/.netrc, or an ssh key \
            that the agent holds")]
    Refused { message: String },
    /// the git repository has no such branch, tag or commit
    #[error("it has no branch, tag or commit {reference}")]
    #[fault("git-reference-missing", todo = "correct `ref=`")]
    #[hint("ref= names a branch, a tag or a commit")]
    NoReference {
        /// What was asked for; `HEAD` if nothing was.
        reference: String,
    },
    /// two tags of the git repository are one version and name different commits, so the version has no content
    #[error("its tags {0} and {1} are one version, and name different commits")]
    #[fault("git-two-tags", todo = "the owner of the repository deletes one of the tags")]
    #[hint("the owner of the repository must delete one of the tags")]
    TwoTags(GitReference, GitReference),
    /// an answer of the program git cannot be read
    #[error("the answer of git cannot be read: {problem}")]
    #[fault("git-answer", todo = "report it with `git --version`")]
    #[hint("check which git is on the PATH: `git --version`")]
    Answer { problem: String },
    /// It must not be fetched from there.
    #[error(transparent)]
    #[fault(code = _0.code())]
    #[hint(if matches!(_0, LocationFault::Login) => "name it yourself, and your login counts: {RUN} module mirror \
            'git::ssh://…?ref=REF' --as ADDR")]
    #[hint(if let LocationFault::PrivateHost { host } = _0 => "if that is meant, allow it with --private-host {host}")]
    Location(LocationFault),
    #[error("its submodule `{path}` cannot be fetched: {fault}")]
    #[fault(of = fault)]
    InSubmodule { path: String, fault: Box<GitFault> },
    #[error("its submodule `{path}` cannot be fetched: {problem}")]
    #[fault(code = code)]
    #[hint("the owner of the repository must correct its .gitmodules")]
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
}

/// Why a location of a registry is not fetched from.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error, Fault)]
#[non_exhaustive]
pub enum LocationFault {
    /// the registry names a bucket, a folder or another location that tofu-oci does not fetch from
    #[error("it is {kind}, and a registry may name https archives, oci:// repositories and git repositories")]
    #[fault(
        "module-location-kind",
        todo = "`tofu get` in a configuration; publish the folder with `tofu-oci module \
            push`"
    )]
    #[hint(
        "`tofu get` in a configuration that names the module fetches it; `tofu-oci module push` then publishes the \
            folder to a repository of yours"
    )]
    Kind { kind: &'static str },
    /// the answer of the registry names no location of the package
    #[error("the answer has neither a `location` nor a header X-Terraform-Get")]
    #[fault("module-location-missing", todo = "tell the owner of the registry")]
    #[hint("the owner of the registry must correct it")]
    Missing,
    #[error("it leads to {host}, which is on this machine or in a private network")]
    #[fault(code = "private-host")]
    #[hint("if that is meant, allow it with --private-host {host}")]
    PrivateHost {
        /// Where to: `HOST[:PORT]`.
        host: String,
    },
    /// the registry names a repository that demands a login, or one of git over ssh, and others read what comes
    #[error("it demands a login, and what a registry names is read without one where others read what comes")]
    #[fault(
        "module-location-login",
        todo = "name the repository yourself: `module mirror oci://… --as ADDR`, or in `upstream` of serve.toml"
    )]
    #[hint("name it yourself, and your login counts: {RUN} module mirror 'oci://REPOSITORY?tag=TAG' --as ADDR")]
    Login,
    /// the registry names a location that is malformed or must not be asked
    #[error("{problem}")]
    #[fault(
        "module-location-invalid",
        todo = "tell the owner of the registry; `--private-host` allows a host of your \
            own"
    )]
    #[hint("the owner of the registry must correct it")]
    Invalid { problem: String },
    /// the location names no .zip or .tar.gz archive
    #[error("neither the end of its path nor an argument archive= says that it is a .zip or .tar.gz archive")]
    #[fault("module-archive-form", todo = "the owner of the registry names one, or adds `archive=zip`")]
    #[hint("the owner of the registry must name a .zip or .tar.gz archive, or add archive=zip")]
    NoArchive,
    #[error("it is a {form} archive, and tofu-oci unpacks .zip, .tar.gz and .tgz")]
    #[fault(code = "module-archive-form")]
    #[hint("the owner of the registry must name a .zip or .tar.gz archive, or add archive=zip")]
    Form { form: String },
    /// the `checksum` of the location is not a sha256 or sha512
    #[error("its checksum is not a sha256 or sha512 in hexadecimal digits")]
    #[fault("module-checksum", todo = "tell the owner of the registry")]
    #[hint("the owner of the registry must write checksum=sha256:HEX")]
    Checksum,
}

/// How a prerelease is chosen, if there is nothing else.
fn prerelease(address: &ModuleAddr, offered: &[Version]) -> Option<String> {
    let newest = offered.last().filter(|_| offered.iter().all(Version::is_prerelease))?;
    Some(format!("a prerelease is chosen only by its exact version: {}", quoted(&format!("{address}@{newest}"))))
}

/// What to do with something else than a module package.
fn instead(place: &Place, found: &InvalidModuleManifest) -> Vec<String> {
    let is_repository = matches!(place, Place::Registry(_) | Place::Layout(_));
    match found {
        InvalidModuleManifest::NotAnImageManifest { found: DocumentKind::ProviderIndex } if is_repository => vec![
            format!("for what it is: {RUN} versions {place}"),
            format!("to install it: tofu-oci install HOST/NAMESPACE/TYPE --from {place}"),
        ],
        _ if is_repository => {
            vec!["check the repository and the tag; a module package is what `tofu-oci module push` writes".to_owned()]
        }
        _ => vec!["check the tag".to_owned()],
    }
}

/// The code of a store's error: a repository that is not there is one of modules.
fn unread(error: &StoreError) -> &'static str {
    if matches!(error, StoreError::UnknownRepository { .. }) { "module-not-found" } else { error.code() }
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
    /// The same, or why the tag is not there: there is no such repository, or the version was withdrawn.
    pub(crate) async fn or_why_missing(self, store: &dyn ReadStore, reference: &Reference) -> Self {
        let (Self::Store(StoreError::NotFound { .. }), Reference::Tag(tag)) = (&self, reference) else { return self };
        let tags = match store.tags().await {
            // Many registries answer equally for a tag of a repository that they do not have.
            Err(unknown @ StoreError::UnknownRepository { .. }) => return unknown.into(),
            tags => tags.unwrap_or_default(),
        };
        let Some(version) = tag.version() else { return self };
        let Ok(Listing { versions: offered, withdrawn, .. }) = Listing::in_store(store, &tags).await else {
            return self;
        };
        if !withdrawn.contains(&version) {
            return self;
        }
        let reason = withdrawal(store, &VersionOf::Module, &version).await.map(|notice| notice.reason);
        Self::Withdrawn(Box::new(Withdrawal { place: store.place(), version, reason, offered }))
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

impl From<DiscoveryError> for ModuleError {
    fn from(error: DiscoveryError) -> Self {
        Self::Failed { place: Place::from(&error.host), failure: error.failure }
    }
}
