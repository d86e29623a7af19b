//! The warnings and notes of `login` and `logout`.

use tofu_oci_credentials::{CredentialOrigin, SearchScope};
use tofu_oci_logins::{AfterLogin, AfterLogout, CurrentLogin, LoginFile, Obstacle, RegistryName};
use tofu_oci_types::Event;

use crate::diagnostic::{Diagnostic, source_remedy};
use crate::verbs::context::Context;

/// Says why the login that was just stored would not be used, or not by `tofu`.
pub(super) fn warn_after_login(
    context: &Context,
    current: &CurrentLogin,
    registry: &RegistryName,
    file: &LoginFile,
    after: AfterLogin,
) {
    if let Some(refusal) = current.resolver().refusal() {
        let refusal = Diagnostic::from(refusal);
        let fault = refusal.text().lines().next().unwrap_or_default();
        let text = format!("other commands stop at the CLI configuration: {fault}");
        let warning = Event::warning("cli-configuration", text).with_hint("`tofu-oci config check` says more");
        context.reporter.event(&warning);
    }
    current.resolver().warnings().iter().for_each(|warning| context.reporter.event(warning));
    let event = match after {
        AfterLogin::Used => return,
        AfterLogin::UnknownFile { file, because } => {
            Event::note("unknown-to-opentofu", format!("tofu does not look at {file}: it does not know {because}"))
        }
        AfterLogin::UnknownServer { program, asked, kept } => Event::note(
            "unknown-to-opentofu",
            format!("tofu does not find this login: it asks {program} for {asked} alone, and it is kept under {kept}"),
        )
        .with_hint(format!(
            "an oci_credentials \"{registry}\" block with username and password in the CLI configuration works in both"
        )),
        AfterLogin::NotUsed(obstacle) => obstacle_event(obstacle, registry, file),
    };
    context.reporter.event(&event);
}

fn obstacle_event(obstacle: Obstacle, registry: &RegistryName, file: &LoginFile) -> Event {
    let outranked = |text: String| Event::warning("login-outranked", text);
    match obstacle {
        Obstacle::Outranked(origin) => {
            outranked(format!("another login is used for {registry}: that of {} comes first", named(origin.as_ref())))
                .with_hint(source_remedy(origin.as_ref(), registry))
        }
        Obstacle::Empty(origin) => {
            outranked(format!("the login that was stored is not found again: {origin} comes first and has none"))
                .with_hint(source_remedy(Some(&origin), registry))
        }
        Obstacle::Fault(fault) => {
            let warning = outranked(format!("no login can be used for {registry}: {}", fault.problem));
            fault.hint.into_iter().fold(warning, Event::with_hint)
        }
        Obstacle::NotSearched(search) => not_searched(search, file.shown()),
    }
}

fn not_searched(search: SearchScope, file: &str) -> Event {
    let warning = Event::warning("file-not-looked-at", format!("nothing looks for logins in {file}"));
    warning.with_hint(match search {
        SearchScope::Ambient => format!(
            "REGISTRY_AUTH_FILE={file} makes tofu-oci and podman look there; for tofu, name it in docker_style_config_files of oci_default_credentials"
        ),
        SearchScope::Listed => {
            "the docker_style_config_files of oci_default_credentials in the CLI configuration are looked at alone: add it there".to_owned()
        }
        SearchScope::Off => {
            "oci_default_credentials in the CLI configuration turns the search off: discover_ambient_credentials = false".to_owned()
        }
    })
}

/// Says which source still answers after a logout.
pub(super) fn warn_after_logout(context: &Context, registry: &RegistryName, after: AfterLogout) {
    let (text, origin) = match after {
        AfterLogout::Nothing => return,
        AfterLogout::Answers(origin) => (format!("{} still answers for {registry}", named(origin.as_ref())), origin),
        AfterLogout::NotKnown { fault, origin } => {
            (format!("it is not known which source still answers for {registry}: {}", fault.problem), origin)
        }
    };
    let warning = Event::warning("still-logged-in", text);
    context.reporter.event(&warning.with_hint(source_remedy(origin.as_ref(), registry)));
}

/// Says which repositories of the registry have a login of their own.
pub(super) fn note_own_logins(context: &Context, current: &CurrentLogin, text: impl Fn(&CredentialOrigin) -> String) {
    for origin in current.of_repositories() {
        context.reporter.event(&Event::note("own-login", text(&origin)));
    }
}

/// Says that the registry did not check the login.
pub(super) fn note_unchecked(context: &Context, registry: &RegistryName) {
    let text = format!("{registry} lets everybody in, so that the login could not be checked");
    context.reporter.event(&Event::note("login-not-checked", text));
}

/// Warns of capital letters in the registry's name.
pub(super) fn warn_of_capitals(context: &Context, registry: &RegistryName) {
    let Some(small) = registry.in_small_letters() else { return };
    let text = format!("this login is for repositories that are written {registry}/… alone, in these letters");
    let hint = format!("names of registries are compared byte for byte: `tofu-oci login {small}` is for {small}/…");
    context.reporter.event(&Event::warning("capital-letters", text).with_hint(hint));
}

/// Warns that the file keeps the password unencrypted.
pub(super) fn warn_of_plain(context: &Context, file: &LoginFile) {
    let name = file.shown();
    let text = format!("the password is not encrypted in {name}");
    let hint = "a credential helper keeps it safer: name one as \"credsStore\" in the file, and log in again";
    context.reporter.event(&Event::warning("plain-password", text).with_hint(hint));
    if file.is_shared() {
        let text = format!("others than its owner may read {name}");
        context.reporter.event(&Event::warning("shared-file", text).with_hint(format!("chmod 600 {name}")));
    }
}

fn named(origin: Option<&CredentialOrigin>) -> String {
    origin.map_or_else(|| "another source".to_owned(), ToString::to_string)
}
