//! Errors of `module pull` and `module versions`.

use tofu_oci_archive::ArchiveError;
use tofu_oci_fetch::ModuleFetchError;
use tofu_oci_layout::{DocumentKind, InvalidModuleManifest};
use tofu_oci_source::{Failure, GitFault, GitRunError, LocationFault, ModuleError};
use tofu_oci_store::{StoreError, StoreItem};
use tofu_oci_trust::{Flaw, NoticeReason, RuleOrigin, TrustRefusal, TrustRule};
use tofu_oci_types::{
    Constraints, InvalidModuleName, InvalidModuleSource, ModuleAddr, ModuleName, NetworkFault, Place, Reference,
    Version, printable,
};

use super::{Diagnostic, versions};
use crate::exit::Exit;
use crate::invocation;
use crate::subject::{is_version_argument, source_of_repository};

/// How modules are named.
const FORMS: &str =
    "write oci://REPOSITORY?tag=TAG, HOST/NAMESPACE/NAME/SYSTEM@CONSTRAINT, git::URL?ref=REF or oci:DIR:VERSION";

impl Diagnostic {
    /// Why an argument names no module.
    pub(crate) fn of_module_name(text: &str, error: &InvalidModuleName) -> Self {
        // Module blocks also take folders; arguments do not.
        let diagnostic = match error {
            InvalidModuleName::Source(InvalidModuleSource::Unknown { input }) => {
                Self::of(Exit::Usage, &InvalidModuleName::OtherKind { input: input.clone() })
            }
            error => Self::of(Exit::Usage, error),
        };
        let diagnostic = diagnostic.code(error.code());
        match error {
            InvalidModuleName::Constraints(_) => diagnostic.hint(crate::subject::CONSTRAINTS),
            InvalidModuleName::OtherKind { .. } => {
                diagnostic.hint(FORMS).hint("`tofu get` in a configuration that names it fetches any other source")
            }
            InvalidModuleName::Git(error) if error.code() == "git-ssh-key" => {
                diagnostic.hint("give the key to the agent (ssh-add), or name it in GIT_SSH_COMMAND")
            }
            InvalidModuleName::Git(error) if error.code() == "git-reference" => {
                let parts = text.split_once('?').and_then(|(name, rest)| Some((name, rest.split_once("//")?)));
                let diagnostic = match parts {
                    Some((name, (reference, sub))) => {
                        diagnostic.hint(format!("the folder stands before the ?: {name}//{sub}?{reference}"))
                    }
                    None => diagnostic,
                };
                diagnostic.hint("ref= takes a branch, a tag or a commit, such as ref=v1.4.0")
            }
            InvalidModuleName::Git(_) => {
                diagnostic.hint("write git::https://HOST/PATH.git//SUB?ref=REF, or git::ssh://git@HOST/PATH.git")
            }
            _ => match of_registry(text) {
                Some(name) => diagnostic.hint(format!("a version follows an @: {name}")),
                None => diagnostic.hint(corrected(text).unwrap_or_else(|| FORMS.to_owned())),
            },
        }
    }
}

/// How the source of a repository is written that is refused as it is.
pub(crate) fn corrected(text: &str) -> Option<String> {
    let source = source_of_repository(text).filter(|source| source != text)?;
    Some(format!("a repository is written {}", invocation::quoted(&source)))
}

/// The name of a module of a registry whose version is written as for a repository: `HOST/NAMESPACE/NAME/SYSTEM:1.4.0` or
/// `…?version=1.4.0`.
fn of_registry(text: &str) -> Option<String> {
    let (name, version) = match text.split_once('?') {
        Some((name, argument)) => (name, argument.split_once('=').filter(|of| is_version_argument(of.0, of.1))?.1),
        None => text.rsplit_once(':').filter(|of| of.1.parse::<Version>().is_ok())?,
    };
    let is_module = matches!(name.parse(), Ok(ModuleName::Registry { .. }));
    is_module.then(|| format!("{name}@{version}"))
}

impl From<ModuleError> for Diagnostic {
    fn from(error: ModuleError) -> Self {
        let code = error.code();
        Self::of_module(&error).or_code(code)
    }
}

impl Diagnostic {
    fn of_module(error: &ModuleError) -> Self {
        match error {
            ModuleError::Store(StoreError::DigestMismatch { place: Place::Host(host), expected, actual, .. }) => {
                Self::new(Exit::Fixable, format!("the archive from {host} is not the one that its checksum names"))
                    .cause(format!("the checksum is {expected}, and that of the archive is {actual}"))
                    .hint("the owner of the registry must correct the checksum or the archive; nothing was kept")
            }
            ModuleError::Store(error) => Self::from(error),
            ModuleError::UnknownModule { .. } => Self::of(Exit::Fixable, error)
                .hint("check the name: HOST/NAMESPACE/NAME/SYSTEM, such as acme/network/aws"),
            ModuleError::NoMatchingVersion { address, offered, .. } => {
                let diagnostic = Self::of(Exit::Fixable, error).hint(versions("it has", offered));
                match offered.last() {
                    Some(newest) if offered.iter().all(Version::is_prerelease) => diagnostic.hint(format!(
                        "a prerelease is chosen only by its exact version: {}",
                        invocation::quoted(&format!("{address}@{newest}"))
                    )),
                    _ => diagnostic,
                }
            }
            ModuleError::VersionMissing { address, .. } => Self::of(Exit::Fixable, error)
                .hint(format!("take another version: {}", module_versions(address)))
                .hint("the owner of the registry must correct it"),
            ModuleError::Withdrawn { place, version, reason, offered } => {
                Self::withdrawn(place, version, reason.clone(), offered)
            }
            ModuleError::Location { location, fault, .. } => {
                let diagnostic = Self::of(Exit::Fixable, error);
                let diagnostic = if location.is_empty() {
                    diagnostic
                } else {
                    diagnostic.cause(format!("the location is {location}"))
                };
                if let LocationFault::PrivateHost { host } = fault {
                    return diagnostic.hint(format!("if that is meant, allow it with --private-host {host}"));
                }
                diagnostic.hint(match fault {
                    LocationFault::Kind { .. } => {
                        "`tofu get` in a configuration that names the module fetches it; `tofu-oci module push` then \
                         publishes the folder to a repository of yours"
                    }
                    LocationFault::NoArchive | LocationFault::Form { .. } => {
                        "the owner of the registry must name a .zip or .tar.gz archive, or add archive=zip"
                    }
                    LocationFault::Checksum => "the owner of the registry must write checksum=sha256:HEX",
                    _ => "the owner of the registry must correct it",
                })
            }
            ModuleError::Git { fault, .. } => Self::of_git(error, fault),
            ModuleError::Manifest {
                place: place @ (Place::Registry(_) | Place::Layout(_)),
                source: InvalidModuleManifest::NotAnImageManifest { found: DocumentKind::ProviderIndex },
                ..
            } => Self::of(Exit::Fixable, error)
                .hint(format!("for what it is: {}", invocation::command(&format!("versions {place}"))))
                .hint(format!("to install it: tofu-oci install HOST/NAMESPACE/TYPE --from {place}")),
            ModuleError::Manifest { place, .. } => Self::of(Exit::Fixable, error).hint(match place {
                Place::Registry(_) | Place::Layout(_) => {
                    "check the repository and the tag; a module package is what `tofu-oci module push` writes"
                }
                _ => "check the tag",
            }),
            ModuleError::Failed { failure, .. } => {
                let exit = if failure.is_transient() { Exit::Unexpected } else { Exit::Fixable };
                Self::of(exit, error).module_host_hint(failure)
            }
            _ => Self::of(Exit::Fixable, error),
        }
    }

    /// Why a git repository gave no module.
    fn of_git(error: &ModuleError, fault: &GitFault) -> Self {
        let exit = if error.is_transient() { Exit::Unexpected } else { Exit::Fixable };
        Self::of(exit, error).git_hint(fault)
    }

    fn git_hint(self, fault: &GitFault) -> Self {
        let diagnostic = self;
        match fault {
            GitFault::InSubmodule { fault, .. } => diagnostic.git_hint(fault),
            GitFault::Run(GitRunError::TooLarge { .. }) => {
                diagnostic.hint("name a smaller repository, or publish the module with `tofu-oci module push`")
            }
            GitFault::Answer { .. } => diagnostic.hint("check which git is on the PATH: git --version"),
            GitFault::Run(GitRunError::NotRun { .. }) => {
                diagnostic.hint("install git; modules in git repositories need it")
            }
            GitFault::Run(GitRunError::Unguarded { .. }) => diagnostic.hint(
                "tofu-oci starts itself for that: check that its program file is in place, and the limit of processes",
            ),
            GitFault::Run(GitRunError::Stuck { .. }) => diagnostic.hint("run it again, or wait longer: --timeout 5m"),
            fault if fault.is_of_network() => diagnostic
                .hint("check the host name and the network, and run the same command again")
                .hint("git goes through the proxy of its own settings: git config http.proxy, or HTTPS_PROXY"),
            GitFault::Refused { .. } => diagnostic
                .hint("try it by hand: `git ls-remote` with the same address; git asks no questions here")
                .hint(
                    "a password is a matter of git: a credential helper, ~/.netrc, or an ssh key that the agent holds",
                ),
            GitFault::NoReference { .. } => diagnostic.hint("ref= names a branch, a tag or a commit"),
            GitFault::Location(LocationFault::PrivateHost { host }) => {
                diagnostic.hint(format!("if that is meant, allow it with --private-host {host}"))
            }
            GitFault::Submodule { .. } => diagnostic.hint("the owner of the repository must correct its .gitmodules"),
            _ => diagnostic,
        }
    }

    /// The same with the advice that fits a host that could not be used for modules.
    fn module_host_hint(self, failure: &Failure) -> Self {
        match failure {
            Failure::NoModuleService(_) => self
                .hint("the host is not a registry of modules; one in a repository is written oci://REPOSITORY?tag=TAG"),
            Failure::Token(error) => self.hint(error.hint.clone()),
            Failure::Unauthorized(_) | Failure::Denied(_) => {
                self.hint("the token of a host is in TF_TOKEN_HOST, with _ for each dot, or in a `credentials` block")
            }
            Failure::PrivateHost { host, .. } => {
                self.hint(format!("if that is meant, allow it with --private-host {host}"))
            }
            Failure::Network { fault: NetworkFault::PrivateAddress, .. } => {
                self.hint("if that is meant, allow it with --private-host HOST")
            }
            Failure::Network { fault, .. } => match super::network::hint_of(*fault) {
                Some(hint) => self.hint(hint),
                None => self
                    .hint("check the host name and the network; --ca-file FILE trusts a private certificate authority"),
            },
            Failure::PackageRefused { .. } => self.hint(super::source::NO_TOKEN_WITH_PACKAGES),
            Failure::PackageMissing(_) => self.hint("the registry names an archive that is gone; tell its owner"),
            Failure::InvalidService(_) | Failure::BadBody(_) | Failure::BadContentType(_) => {
                self.hint("the owner of the host must correct its service")
            }
            _ => self,
        }
    }

    /// A version that was withdrawn from a repository, with the versions that it has.
    pub(crate) fn withdrawn(
        place: &Place,
        version: &Version,
        reason: Option<NoticeReason>,
        offered: &[Version],
    ) -> Self {
        let diagnostic =
            Self::new(Exit::Fixable, format!("version {version} was withdrawn from {place}")).code("withdrawn");
        let diagnostic = match reason {
            Some(reason) => diagnostic.cause(printable(reason.as_str())),
            None => diagnostic,
        };
        diagnostic.hint(versions("it has", offered))
    }

    /// A tag or digest that a repository lacks, with the versions that it has.
    pub(crate) fn missing_module(error: StoreError, place: &Place, reference: &Reference, offered: &[Version]) -> Self {
        if !matches!(&error, StoreError::NotFound { what: StoreItem::Tag(_) | StoreItem::Manifest(_), .. }) {
            return Self::from(error);
        }
        let (kind, code) = match reference {
            Reference::Tag(_) => ("tag", "tag-not-found"),
            Reference::Digest(_) => ("manifest", "digest-not-found"),
        };
        let diagnostic = Self::new(Exit::Fixable, format!("{place} has no {kind} {reference}")).code(code);
        // A prerelease is an example only where there is nothing else.
        match Constraints::any().select(offered).or(offered.last()) {
            Some(newest) => diagnostic
                .hint(versions("it has the versions", offered))
                .hint(format!("name one in the source, such as ?tag={}", newest.to_string().replace('+', "_"))),
            None => diagnostic
                .hint("it has no tag that is a version; check the name, or publish one with `tofu-oci module push`"),
        }
    }
}

/// The command that lists the versions of a module.
fn module_versions(address: &ModuleAddr) -> String {
    invocation::command(&format!("module versions {address}"))
}

impl From<ModuleFetchError> for Diagnostic {
    fn from(error: ModuleFetchError) -> Self {
        let code = error.code();
        let diagnostic = match &error {
            ModuleFetchError::Io { source, .. }
            | ModuleFetchError::Archive { source: ArchiveError::Io { source, .. }, .. } => {
                Self::of(super::io::io_exit(source), &error)
            }
            ModuleFetchError::NotReplaced { .. } => Self::of(Exit::Usage, &error),
            _ => Self::of(Exit::Fixable, &error),
        };
        match error {
            ModuleFetchError::Module(error) => Self::from(error),
            ModuleFetchError::Archive { source, .. } => diagnostic.archive_hint(&source),
            ModuleFetchError::FolderMissing { found, .. } if found.is_empty() => {
                diagnostic.hint("the package has no folders: omit //SUB from the source")
            }
            ModuleFetchError::FolderMissing { found, .. } => diagnostic.hint(format!("it has {}", found.join(", "))),
            ModuleFetchError::FolderIsFile { .. } => diagnostic.hint("name the folder that the file is in"),
            ModuleFetchError::SeveralFolders { found, .. } => {
                diagnostic.hint(format!("name one of them: {}", found.join(", ")))
            }
            ModuleFetchError::NotEmpty { .. } => {
                diagnostic.hint("name another folder, or add --force, which removes everything that is in this one")
            }
            ModuleFetchError::Untrusted { refusal, rule, .. } => diagnostic.untrusted_module(&refusal, &rule),
            ModuleFetchError::Io { action, path, source } => diagnostic.io_hint(action, &path, &source),
            _ => diagnostic,
        }
        .or_code(code)
    }
}

impl Diagnostic {
    /// The same with the rule that decides, and what to do about a module that is not trusted.
    fn untrusted_module(self, refusal: &TrustRefusal, rule: &TrustRule) -> Self {
        let diagnostic = match &rule.origin {
            RuleOrigin::File { path, line, providers } => {
                let path = path.strip_prefix(".").unwrap_or(path).display();
                let providers = providers.join(", ");
                self.cause(if matches!(refusal, TrustRefusal::Withdrawn { .. }) {
                    format!("{path}:{line}, the rule for {providers}, says whose notices count")
                } else if rule.keys.is_empty() {
                    format!("{path}:{line}, the rule for {providers}, refuses unsigned modules and names no keys")
                } else {
                    format!("{path}:{line}, the rule for {providers}, demands {}", rule.demand())
                })
            }
            _ => self,
        };
        if let TrustRefusal::Withdrawn { replaced_by, .. } = refusal {
            let diagnostic = match replaced_by {
                Some(manifest) => diagnostic.cause(format!("{manifest} took its place")),
                None => diagnostic,
            };
            return diagnostic
                .hint("take another version; `tofu-oci module versions` lists them")
                .hint("no option overrides it; if it was withdrawn by mistake, its publisher takes that back");
        }
        match refusal.flaw() {
            Some(Flaw::UnknownKey { .. } | Flaw::TravellingKey { .. } | Flaw::Keyless) => {
                diagnostic.hint(super::trust::publishers_key())
            }
            Some(Flaw::OtherVersion { .. }) => diagnostic
                .hint("the tag has moved to another version; ask its publisher why, or name the digest you mean"),
            _ => diagnostic.hint("its publisher signs it: `tofu-oci sign REPOSITORY:VERSION --key KEY`"),
        }
    }
}
