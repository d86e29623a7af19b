//! Who answers for a registry now.

use tofu_oci_credentials::{Choice, Credential, FileKind, FoundFile, Origin, Search};
use tofu_oci_remote::CredentialFault;
use tofu_oci_types::{Event, RepositoryRef};

use super::registry::RegistryName;
use super::target::Target;
use crate::credentials::{CredentialResolver, Heard};
use crate::diagnostic::Diagnostic;
use crate::environment::ReadConfig;
use crate::exit::Exit;
use crate::verbs::Context;

/// Every source as it is now, and what it gives for a registry.
pub(super) struct Standing {
    resolver: CredentialResolver,
    repository: RepositoryRef,
    answer: Result<Option<Credential>, CredentialFault>,
}

impl Standing {
    /// Reads files and blocks, and asks the helper where one is chosen.
    pub(super) async fn look(registry: &RegistryName) -> Result<Self, Diagnostic> {
        let resolver = CredentialResolver::read_lenient(&ReadConfig::read(None)?);
        let repository = registry.any_repository();
        let answer = resolver.answer(&repository).await;
        Ok(Self { resolver, repository, answer })
    }

    /// What would be shown to the registry.
    ///
    /// # Errors
    /// When a source stands in the way, or its helper fails.
    pub(super) fn credential(&self) -> Result<Option<&Credential>, Diagnostic> {
        match &self.answer {
            Ok(credential) => Ok(credential.as_ref()),
            Err(CredentialFault { code, problem, hint }) => {
                let diagnostic = Diagnostic::new(Exit::Fixable, problem.as_str()).code(code.as_str());
                Err(hint.iter().fold(diagnostic, Diagnostic::hint))
            }
        }
    }

    /// Whether nothing answers, and nothing is in the way either.
    pub(super) fn is_empty(&self) -> bool {
        matches!(self.answer, Ok(None))
    }

    /// The source that answers; nothing where none does.
    pub(super) fn used(&self) -> Option<String> {
        match &self.answer {
            Ok(Some(_)) => self.origin().map(|origin| origin.to_string()),
            _ => None,
        }
    }

    /// What puts another login in the place of the one that is used.
    pub(super) fn log_in(&self, registry: &RegistryName) -> String {
        let command = format!("tofu-oci login {registry} --username NAME");
        let origin = self.origin();
        if let Some(Origin::Block { .. } | Origin::DefaultHelper { .. }) = &origin {
            return remedy(origin.as_ref(), registry);
        }
        let policy = self.resolver.policy();
        let file = policy.files().iter().find(|file| origin.as_ref().is_some_and(|one| one.place().file == file.name));
        match file {
            // A login in docker's own file would not come before it.
            Some(file) if policy.search() == Search::Listed || file.kind == FileKind::Containers => {
                format!("log in with `{command} --auth-file {}`", file.name)
            }
            _ => format!("log in with `{command}`"),
        }
    }

    fn origin(&self) -> Option<Origin> {
        match self.resolver.policy().look_up(&self.repository).choice {
            Choice::Credential { origin, .. } | Choice::Ask { origin, .. } => Some(origin),
            Choice::Anonymous | Choice::Refused(_) => None,
        }
    }

    /// Says why the login that was stored a moment ago would not be used, or not by `tofu`.
    pub(super) fn warn_after_login(
        &self,
        context: &Context,
        registry: &RegistryName,
        target: &Target,
        new: &Credential,
    ) {
        if let Some(refusal) = self.resolver.refusal() {
            let fault = refusal.text().lines().next().unwrap_or_default();
            let text = format!("other commands stop at the CLI configuration: {fault}");
            let warning = Event::warning("cli-configuration", text).with_hint("`tofu-oci config check` says more");
            context.reporter.event(&warning);
        }
        self.resolver.warnings().iter().for_each(|warning| context.reporter.event(warning));
        let warning = match &self.answer {
            Ok(Some(credential)) if credential == new => return self.note_of_opentofu(context, registry, target),
            Ok(Some(_)) => {
                let origin = self.origin();
                let text =
                    format!("another login is used for {registry}: that of {} comes first", named(origin.as_ref()));
                Event::warning("login-outranked", text).with_hint(remedy(origin.as_ref(), registry))
            }
            Ok(None) => match self.origin() {
                Some(origin) => {
                    let text =
                        format!("the login that was stored is not found again: {origin} comes first and has none");
                    Event::warning("login-outranked", text).with_hint(remedy(Some(&origin), registry))
                }
                None => self.not_looked_at(target),
            },
            Err(fault) => {
                let text = format!("no login can be used for {registry}: {}", fault.problem);
                let warning = Event::warning("login-outranked", text);
                match &fault.hint {
                    Some(hint) => warning.with_hint(hint),
                    None => warning,
                }
            }
        };
        context.reporter.event(&warning);
    }

    fn not_looked_at(&self, target: &Target) -> Event {
        let file = target.shown();
        let warning = Event::warning("file-not-looked-at", format!("nothing looks for logins in {file}"));
        warning.with_hint(match self.resolver.policy().search() {
            Search::Ambient => format!(
                "REGISTRY_AUTH_FILE={file} makes tofu-oci and podman look there; for tofu, name it in docker_style_config_files of oci_default_credentials"
            ),
            Search::Listed => {
                "the docker_style_config_files of oci_default_credentials in the CLI configuration are looked at alone: add it there".to_owned()
            }
            Search::Off => {
                "oci_default_credentials in the CLI configuration turns the search off: discover_ambient_credentials = false".to_owned()
            }
        })
    }

    /// Says which repositories of the registry have a login of their own.
    pub(super) fn note_of_repositories(&self, context: &Context, registry: &RegistryName) {
        for origin in self.of_repositories(registry) {
            let text = format!("for the repositories that it names, {origin} still comes first");
            context.reporter.event(&Event::note("own-login", text));
        }
    }

    /// Says which repositories of the registry keep a login of their own, after a logout.
    pub(super) fn note_of_what_stays(&self, context: &Context, registry: &RegistryName) {
        for origin in self.of_repositories(registry) {
            let text = format!("{origin} stays: it is for the repositories that it names");
            context.reporter.event(&Event::note("own-login", text));
        }
    }

    /// What is for single repositories of the registry.
    fn of_repositories(&self, registry: &RegistryName) -> Vec<Origin> {
        let inside = format!("{registry}/");
        let own = |origin: &Origin| match origin {
            Origin::Auth { key: name, .. } | Origin::Block { label: name, .. } => name.starts_with(&inside),
            _ => false,
        };
        let candidates = self.resolver.policy().look_up(&self.repository).candidates;
        candidates.into_iter().map(|candidate| candidate.origin).filter(own).collect()
    }

    /// Where the same login does not work in `tofu`.
    fn note_of_opentofu(&self, context: &Context, registry: &RegistryName, target: &Target) {
        let files = self.resolver.policy().files();
        let ours = |file: &&FoundFile| target.is_named(&file.name);
        if let Some(file) = files.iter().find(ours)
            && !file.known_to_opentofu
        {
            let text = format!("tofu does not look at {}: it does not know {}", file.name, file.because);
            context.reporter.event(&Event::note("unknown-to-opentofu", text));
            return;
        }
        let calls = self.resolver.calls();
        if let [first, .., last] = calls.as_slice()
            && matches!(first.heard, Heard::NotFound | Heard::Empty)
        {
            let text = format!(
                "tofu does not find this login: it asks {} for {} alone, and it is kept under {}",
                first.helper.program(),
                first.server,
                last.server
            );
            let hint = format!(
                "an oci_credentials \"{registry}\" block with username and password in the CLI configuration works in both"
            );
            context.reporter.event(&Event::note("unknown-to-opentofu", text).with_hint(hint));
        }
    }

    /// Says who still answers, after a logout.
    pub(super) fn warn_after_logout(&self, context: &Context, registry: &RegistryName) {
        let origin = self.origin();
        let text = match &self.answer {
            Ok(None) => return,
            Ok(Some(_)) => format!("{} still answers for {registry}", named(origin.as_ref())),
            Err(fault) => format!("who still answers for {registry} cannot be told: {}", fault.problem),
        };
        let warning = Event::warning("still-logged-in", text);
        context.reporter.event(&warning.with_hint(remedy(origin.as_ref(), registry)));
    }
}

fn named(origin: Option<&Origin>) -> String {
    origin.map_or_else(|| "another source".to_owned(), ToString::to_string)
}

/// What to do about a source that is in the way.
fn remedy(origin: Option<&Origin>, registry: &RegistryName) -> String {
    match origin {
        Some(Origin::Auth { place, .. }) => {
            format!("remove it with `tofu-oci logout {registry} --auth-file {}`, or log in there", place.file)
        }
        Some(Origin::Block { place, .. } | Origin::DefaultHelper { place, .. }) => {
            format!("it stands in the CLI configuration, {place}, which is yours to edit")
        }
        Some(origin @ (Origin::CredHelper { .. } | Origin::CredsStore { .. })) => {
            format!("erase it with the helper, or take the helper's name out of {}", origin.place())
        }
        None => format!("`tofu-oci auth explain {registry}/REPOSITORY` shows every source"),
    }
}
