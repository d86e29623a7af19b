//! Errors of places: what is not offered there, what cannot be read, and places that cannot be used.

use tofu_oci_layout::{DocumentKind, LayoutError};
use tofu_oci_source::{DocsError, Failure, NotOffered, SourceError};
use tofu_oci_store::StoreError;
use tofu_oci_types::{Fault as _, NetworkFault, Place, ProviderAddr, Version};

use super::Diagnostic;
use crate::exit::Exit;
use crate::invocation;

impl From<SourceError> for Diagnostic {
    fn from(error: SourceError) -> Self {
        Self::from(&error)
    }
}

impl From<DocsError> for Diagnostic {
    fn from(error: DocsError) -> Self {
        match &error {
            DocsError::Store(error) => error.into(),
            other => Self::fault(other),
        }
    }
}

impl From<&SourceError> for Diagnostic {
    fn from(error: &SourceError) -> Self {
        let plain = Self::fault(error);
        match error {
            SourceError::Store(error) => error.into(),
            SourceError::NotOffered { address, place, what } => plain.not_offered(address, place, what),
            SourceError::Failed { failure, place } => plain.failure_hint(failure, place),
            SourceError::Layout {
                version,
                place,
                source: LayoutError::NotAProviderIndex { found: DocumentKind::ModulePackage },
                ..
            } => plain.instead(module_pull(place, version)),
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
                let remedy = blame.remedy();
                let why = "a mirror never lets a later method serve what it lacks itself";
                diagnostic.more_causes(remedy.is_some().then_some(why)).more_hints(remedy)
            }
            _ => plain,
        }
    }
}

impl Diagnostic {
    /// The same in words that name the place once.
    fn not_offered(mut self, address: &ProviderAddr, place: &Place, what: &NotOffered) -> Self {
        self.text = match what {
            NotOffered::UnknownProvider => format!("there is no provider {address} at {place}"),
            NotOffered::VersionMissing { version, .. } => format!("{address} has no version {version}"),
            NotOffered::Withdrawn { version, reason: Some(reason), .. } => {
                format!("{address} {version} was withdrawn: {reason}")
            }
            NotOffered::Withdrawn { version, .. } => format!("{address} {version} was withdrawn"),
            NotOffered::NoMethods => format!("the CLI configuration has no installation method for {address}"),
            NotOffered::NoMethodMatches => {
                format!("no installation method of the CLI configuration is for {address}")
            }
            NotOffered::PlatformMissing { .. } => self.text,
            _ => format!("{address}: {what}"),
        };
        let asked = !matches!(what, NotOffered::NoMethods | NotOffered::NoMethodMatches);
        let diagnostic = self.code(what.code());
        let is_new = asked && !diagnostic.text.contains(&place.to_string());
        let diagnostic = diagnostic.more_causes(is_new.then(|| format!("asked {place}")));
        match what {
            NotOffered::Withdrawn { version, .. } => diagnostic.hint(away_from(address, version, place)),
            _ => diagnostic,
        }
    }

    /// Why a repository, which was asked without an address, has no release: the message names no provider.
    pub(crate) fn of_repository(error: SourceError) -> Self {
        let code = error.code();
        match error {
            SourceError::NotOffered { place, what: NotOffered::UnknownProvider, .. } => {
                Self::from(StoreError::UnknownRepository { place })
            }
            SourceError::NotOffered {
                place, what: ref what @ NotOffered::VersionMissing { ref version, .. }, ..
            } => Self::new(Exit::Fixable, format!("{place} has no version {version}")).more_hints(what.hints()),
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

/// How the module is fetched that lies where a provider was looked for.
fn module_pull(place: &Place, version: &Version) -> String {
    let tag = version.to_string().replace('+', "_");
    let named = match place {
        Place::Registry(repository) => format!("oci://{repository}?tag={tag}"),
        place => format!("{place}:{tag}"),
    };
    let pull = invocation::command_about_place(&format!("module pull {} DIR", invocation::quoted(&named)));
    format!("{place} holds a module; to fetch it: {pull}")
}

/// The argument of a provider without its host, and the address that it was read as.
fn short() -> Option<(&'static str, ProviderAddr)> {
    let name = invocation::first_word()?.split('@').next()?;
    let whole: ProviderAddr = name.parse().ok()?;
    (name.matches('/').count() < 2).then_some((name, whole))
}

impl Diagnostic {
    /// The same with the advice that fits a place that could not be used.
    fn failure_hint(self, failure: &Failure, place: &Place) -> Self {
        if let (Some((short, whole)), Failure::Network { .. } | Failure::NoProviderService(_)) = (short(), failure)
            && self.text.contains(&whole.hostname().to_string())
        {
            return self
                .instead(format!("`{short}` was read as {whole}; for another provider, write HOST/NAMESPACE/TYPE"))
                .hint("say which repository holds it with --from REPOSITORY, or check the network");
        }
        let fault = match failure {
            Failure::HostWithPort(_) if invocation::says("from") => {
                return self.instead("name a repository, oci:DIR or bundle:FILE with --from");
            }
            Failure::Network { fault, .. } if *fault != NetworkFault::PrivateAddress => *fault,
            _ => return self,
        };
        match super::network::hint_of(fault) {
            Some(hint) => self.hint(hint),
            None if matches!(place, Place::NetworkMirror(_)) => {
                self.hint("check the address of the mirror and the network; --ca-file FILE trusts a private certificate authority")
            }
            None if is_of_port(place) => {
                let host = format!("{place}/");
                let word = invocation::word_where(|word| word.starts_with(&host)).map(|word| {
                    let (name, at) = word.split_at(word.find('@').unwrap_or(word.len()));
                    let address = invocation::quoted(&format!("HOST/NAMESPACE/TYPE{at}"));
                    invocation::with_word(word, &format!("{address} --from {name}"))
                });
                let diagnostic = word.into_iter().fold(self, |diagnostic, word| {
                    diagnostic.hint(format!("if this is a repository, and no provider's address: {word}"))
                });
                diagnostic.hint(
                    "check the host, the port and the network; --ca-file FILE trusts a private certificate authority",
                )
            }
            None => self
                .hint("say which repository holds the provider with --from REPOSITORY")
                .hint("or check the host name and the network; --ca-file FILE trusts a private certificate authority")
                .hint("for a host that is only a name, write an oci_mirror: see `tofu-oci config add --help`"),
        }
    }
}

/// Whether a host is written with a port, as registries of images often are and hosts of providers seldom.
fn is_of_port(place: &Place) -> bool {
    matches!(place, Place::Host(host) if host.contains(':'))
}

/// What leads to another version than a withdrawn one.
fn away_from(address: &ProviderAddr, version: &Version, place: &Place) -> String {
    if invocation::says("upgrade") {
        return format!("a constraint demands {version}: change it");
    }
    let is_named = ["install", "lock"].contains(&invocation::verb()) && invocation::first_word().is_some();
    let named = if is_named { format!(" {address}") } else { String::new() };
    // REPOSITORY:VERSION is the place itself.
    let place = place.to_string();
    let is_place = invocation::first_word().is_some_and(|word| word.starts_with(&place)) && !invocation::says("from");
    let from = if is_place { format!(" --from {}", invocation::quoted(&place)) } else { String::new() };
    let upgrade = invocation::command(&format!("install{named} --upgrade{from}"));
    format!(
        "if a lock file names {version}, `{upgrade}` moves it to another version; if a constraint does, change that"
    )
}
