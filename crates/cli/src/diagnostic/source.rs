//! Errors of places: what is not offered there, what cannot be read, and places that cannot be used.

use tofu_oci_layout::{DocumentKind, LayoutError};
use tofu_oci_source::{Failure, NotOffered, SourceError};
use tofu_oci_store::StoreError;
use tofu_oci_types::{NetworkFault, Place, ProviderAddr, Version};

use super::Diagnostic;
use crate::exit::Exit;
use crate::invocation;

impl From<SourceError> for Diagnostic {
    fn from(error: SourceError) -> Self {
        Self::from(&error)
    }
}

impl From<&SourceError> for Diagnostic {
    fn from(error: &SourceError) -> Self {
        Self::of_source(error).or_code(error.code())
    }
}

impl Diagnostic {
    fn of_source(error: &SourceError) -> Self {
        match error {
            SourceError::Store(error) => Self::from(error),
            SourceError::NotOffered { address, place, what } => {
                let text = match what {
                    NotOffered::UnknownProvider => format!("there is no provider {address} at {place}"),
                    NotOffered::VersionMissing { version, .. } => format!("{address} has no version {version}"),
                    NotOffered::Withdrawn { version, reason: Some(reason), .. } => {
                        format!("{address} {version} was withdrawn: {reason}")
                    }
                    NotOffered::Withdrawn { version, .. } => format!("{address} {version} was withdrawn"),
                    NotOffered::PlatformMissing { version, platform, .. } => {
                        format!("{address} {version} has no package for {platform}")
                    }
                    NotOffered::NoMethods => format!("the CLI configuration has no installation method for {address}"),
                    NotOffered::NoMethodMatches => {
                        format!("no installation method of the CLI configuration is for {address}")
                    }
                    _ => format!("{address}: {what}"),
                };
                let mut diagnostic = Self::new(Exit::Fixable, text);
                let asked = !matches!(what, NotOffered::NoMethods | NotOffered::NoMethodMatches);
                if asked && !diagnostic.text.contains(&place.to_string()) {
                    diagnostic = diagnostic.cause(format!("asked {place}"));
                }
                diagnostic = diagnostic.code(what.code());
                let explain = invocation::command(&format!("resolve {address} --explain"));
                match what {
                    NotOffered::VersionMissing { offered, .. } => diagnostic.hint(versions("it has", offered)),
                    NotOffered::Withdrawn { version, offered, .. } => {
                        diagnostic.hint(versions("it has", offered)).hint(away_from(address, version))
                    }
                    NotOffered::PlatformMissing { offered, .. } => {
                        let list = offered.iter().map(ToString::to_string).collect::<Vec<_>>().join(", ");
                        diagnostic.hint(format!("this release offers {list}"))
                    }
                    NotOffered::NoMethods | NotOffered::NoMethodMatches => diagnostic
                        .hint(format!("`{explain}` says of each method why"))
                        .hint("or say where it is with --from REPOSITORY"),
                    _ => diagnostic.hint(format!("check the name; `{explain}` says where it is looked for")),
                }
            }
            SourceError::Failed { failure, place } => {
                Self::of(failure_exit(failure), error).failure_hint(failure, place)
            }
            SourceError::Method(blame) => {
                let diagnostic = Self::from(&blame.source).about(&blame.address.to_string());
                let diagnostic = match &blame.source {
                    // What is missing has a name that depends on the kind of the method.
                    SourceError::NotOffered { .. } => diagnostic.code(error.code()),
                    _ => diagnostic,
                };
                let named =
                    std::iter::once(&diagnostic.text).chain(&diagnostic.causes).any(|text| text.contains(&blame.label));
                let diagnostic = if named { diagnostic } else { diagnostic.cause(format!("by {}", blame.label)) };
                match blame.remedy() {
                    Some(remedy) => {
                        diagnostic.cause("a mirror never lets a later method serve what it lacks itself").hint(remedy)
                    }
                    None => diagnostic,
                }
            }
            SourceError::Layout { .. } | SourceError::Unusable { .. } => Self::of(Exit::Fixable, error).hint(
                "check the repository's name; a provider release is what `tofu-oci push` writes, or labelled images",
            ),
            _ => Self::of(Exit::Fixable, error),
        }
    }
}

impl Diagnostic {
    /// Why a repository, which was asked without an address, has no release: the message names no provider.
    pub(crate) fn of_repository(error: SourceError) -> Self {
        let code = error.code();
        match error {
            SourceError::NotOffered { place, what: NotOffered::UnknownProvider, .. } => {
                Self::from(StoreError::UnknownRepository { place })
            }
            SourceError::NotOffered { place, what: NotOffered::VersionMissing { version, offered }, .. } => {
                Self::new(Exit::Fixable, format!("{place} has no version {version}")).hint(versions("it has", &offered))
            }
            SourceError::NotOffered { place, what: NotOffered::Withdrawn { version, reason, offered, .. }, .. } => {
                Self::withdrawn(&place, &version, reason, &offered)
            }
            SourceError::Layout {
                version,
                place,
                source: source @ LayoutError::NotAProviderIndex { found: DocumentKind::ModulePackage },
                ..
            } => Self::of_module_version(&place, &version, &source),
            SourceError::Layout { version, place, source, .. } => {
                let check = invocation::command(&format!("check {place}:{version}"));
                Self::new(Exit::Fixable, format!("version {version} in {place} is not a release of a provider"))
                    .cause(source.to_string())
                    .hint(format!("`{check}` says what it is, and what OpenTofu makes of it"))
            }
            error => Self::from(error),
        }
        .or_code(code)
    }
}

impl Diagnostic {
    /// A version that is a module, where a provider's release is wanted.
    fn of_module_version(place: &Place, version: &Version, source: &LayoutError) -> Self {
        let diagnostic = Self::new(Exit::Fixable, format!("version {version} in {place} is a module, not a provider"))
            .cause(source.to_string());
        let named = match place {
            Place::Registry(repository) => format!("oci://{repository}"),
            place => place.to_string(),
        };
        let tag = version.to_string().replace('+', "_");
        diagnostic
            .hint(format!("`{}` lists its versions", invocation::command(&format!("module versions {named}"))))
            .hint(format!(
                "`{}` says who has signed it, and `{}` what OpenTofu makes of it",
                invocation::command(&format!("verify {place}:{tag}")),
                invocation::command(&format!("check --module {place}:{tag}"))
            ))
    }
}

/// The argument of a provider without its host, and the address that it was read as.
fn short() -> Option<(&'static str, ProviderAddr)> {
    let name = invocation::first_word()?.split('@').next()?;
    let whole: ProviderAddr = name.parse().ok()?;
    (name.matches('/').count() < 2).then_some((name, whole))
}

/// Whether the user can do something about a place that could not be used.
fn failure_exit(failure: &Failure) -> Exit {
    if failure.is_transient() { Exit::Unexpected } else { Exit::Fixable }
}

impl Diagnostic {
    /// The same with the advice that fits a place that could not be used.
    fn failure_hint(self, failure: &Failure, place: &Place) -> Self {
        if let (Some((short, whole)), Failure::Network { .. } | Failure::NoProviderService(_)) = (short(), failure)
            && self.text.contains(&whole.hostname().to_string())
        {
            return self
                .hint(format!("`{short}` was read as {whole}; for another provider, write HOST/NAMESPACE/TYPE"))
                .hint("say which repository holds it with --from REPOSITORY, or check the network");
        }
        match failure {
            Failure::HostWithPort(_) => {
                self.hint("name another place with --from, or exclude the provider from the network_mirror, so that another method serves it")
            }
            Failure::InvalidMirrorAddress(_) => {
                self.hint("write it as https://HOST/PATH/, with a slash at the end")
            }
            Failure::ChecksumFormats(_) => {
                self.hint("whoever runs the mirror must list a zh: or h1: checksum, or none")
            }
            Failure::NoProviderService(_) => self
                .hint("say which repository holds it with --from REPOSITORY")
                .hint("or for good, with an oci_mirror: `tofu-oci config snippet ADDR-PATTERN REPOSITORY-TEMPLATE` prints it"),
            Failure::Token(error) => self.hint(error.hint.clone()),
            Failure::InvalidService(_) => self.hint("the owner of the host must correct its service"),
            Failure::Protocols(_) => self.hint("choose a version that speaks protocol 5 or 6, or ask the publisher for one"),
            Failure::ChecksumList(_) => self.hint("do not install it: the registry contradicts itself; tell its owner"),
            Failure::BadSignature(_) => self
                .hint("do not install it before the owner of the registry says which key signs, and why it was not this one")
                .hint("where the packages are published unsigned on purpose, name a mirror of them with --from"),
            Failure::PrivateHost { host, .. } => self
                .hint(format!("if that is meant, allow it with --private-host {host}"))
                .hint("or say which repository holds the provider with --from REPOSITORY"),
            Failure::Network { fault: NetworkFault::PrivateAddress, .. } => {
                self.hint("if that is meant, allow it with --private-host HOST")
            }
            Failure::Network { fault, .. } => match super::network::hint_of(*fault) {
                Some(hint) => self.hint(hint),
                None if is_of_port(place) => {
                    let host = format!("{place}/");
                    let word = invocation::word_where(|word| word.starts_with(&host)).map(|word| {
                        let (name, at) = word.split_at(word.find('@').unwrap_or(word.len()));
                        invocation::with_word(word, &format!("{} --from {name}", invocation::quoted(&format!("HOST/NAMESPACE/TYPE{at}"))))
                    });
                    let diagnostic = word.into_iter().fold(self, |diagnostic, word| {
                        diagnostic.hint(format!("if this is a repository, and no provider's address: {word}"))
                    });
                    diagnostic.hint("check the host, the port and the network; --ca-file FILE trusts a private certificate authority")
                }
                None => self
                    .hint("say which repository holds the provider with --from REPOSITORY")
                    .hint("or check the host name and the network; --ca-file FILE trusts a private certificate authority")
                    .hint("for a host that is only a name, write an oci_mirror and exclude it from `direct`: see `tofu-oci config snippet --help`"),
            },
            Failure::Unauthorized(_) | Failure::Denied(_) => {
                self.hint("the token of a host is in TF_TOKEN_HOST, with _ for each dot, or in a `credentials` block")
            }
            Failure::PackageRefused { .. } => self.hint(NO_TOKEN_WITH_PACKAGES),
            Failure::FolderMissing(_) => {
                self.hint("create the folder, or correct its path; a relative path begins in the working directory")
            }
            Failure::NoRepository(_) => {
                self.hint("change the template so that it gives a repository, or exclude the provider from this method")
            }
            _ => self,
        }
    }
}

/// Whether a host is written with a port, as registries of images often are and hosts of providers seldom.
fn is_of_port(place: &Place) -> bool {
    matches!(place, Place::Host(host) if host.contains(':'))
}

/// Why a token does not help where packages want one.
pub(super) const NO_TOKEN_WITH_PACKAGES: &str = "no client sends the token of a host with packages: whoever runs it must serve them \
     without a login, or name signed addresses";

/// How many items of a list are shown.
pub(super) const SHOWN: usize = 8;

pub(crate) fn versions(lead: &str, offered: &[Version]) -> String {
    if offered.is_empty() {
        return "it has no versions".to_owned();
    }
    let newest: Vec<String> = offered.iter().rev().take(SHOWN).map(ToString::to_string).collect();
    let more = offered.len().saturating_sub(SHOWN);
    let rest = if more > 0 { format!(" and {more} older") } else { String::new() };
    format!("{lead} {}{rest}", newest.join(", "))
}

/// What leads to another version than a withdrawn one.
fn away_from(address: &ProviderAddr, version: &Version) -> String {
    if invocation::says("upgrade") {
        return format!("a constraint demands {version}: change it");
    }
    let is_named = ["install", "lock"].contains(&invocation::verb()) && invocation::first_word().is_some();
    let named = if is_named { format!(" {address}") } else { String::new() };
    let upgrade = invocation::command(&format!("install{named} --upgrade"));
    format!(
        "if a lock file names {version}, `{upgrade}` moves it to another version; if a constraint does, change that"
    )
}
