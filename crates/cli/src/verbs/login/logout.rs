//! `logout`.

use serde::Serialize;
use tofu_oci_logins::{CurrentLogin, LoginFile, RegistryName, RemovedLogin, remove};
use tofu_oci_types::Event;

use super::events;
use crate::args::LogoutArgs;
use crate::connect::user_credentials;
use crate::diagnostic::Diagnostic;
use crate::environment::ReadConfig;
use crate::helper_program::RealMachine;
use crate::page::Page;
use crate::verbs::context::Context;

/// Removes what docker and `login` have stored for a registry.
pub(crate) async fn logout(context: &Context, args: &LogoutArgs) -> Result<(), Diagnostic> {
    let registry = RegistryName::parse(&args.registry)?;
    let machine = RealMachine(args.timeout);
    let config = ReadConfig::read(None)?;
    let file = LoginFile::choose(&machine, &config.environment, args.auth_file.as_deref())?;
    if args.auth_file.is_some() && file.is_missing()? {
        let text = format!("{} is not there", file.shown());
        context.reporter.event(&Event::note("no-such-file", text));
    }
    let removal = remove(&machine, &file, &registry).await?;
    let current = CurrentLogin::look(user_credentials(&config, args.timeout), &registry).await;
    let used = current.used().map(|origin| origin.to_string());
    match removal.failure.map(|fault| Diagnostic::helper(fault, file.shown())) {
        // The helper may still have a login.
        Some(diagnostic) if removal.removed.is_empty() => Err(diagnostic),
        Some(diagnostic) => {
            print(context, &registry, &file, &removal.removed, used);
            Err(diagnostic.hint("the rest was removed all the same"))
        }
        None => {
            events::warn_after_logout(context, &registry, current.after_logout());
            let stays = |origin: &_| format!("{origin} stays: it is for the repositories that it names");
            events::note_own_logins(context, &current, stays);
            print(context, &registry, &file, &removal.removed, used);
            Ok(())
        }
    }
}

#[derive(Serialize)]
#[serde(tag = "event", rename = "logout")]
struct LogoutReport<'a> {
    registry: &'a str,
    removed: &'a [RemovedLogin],
    still: Option<String>,
}

fn print(
    context: &Context,
    registry: &RegistryName,
    file: &LoginFile,
    removed: &[RemovedLogin],
    still: Option<String>,
) {
    context.emit(&LogoutReport { registry: registry.as_str(), removed, still }, || {
        let mut page = Page::of(match removed {
            [] => format!("not logged in to {registry}: {} has no login for it", file.shown()),
            _ => format!("logged out of {registry}"),
        });
        for RemovedLogin { from, key } in removed {
            page.line(format_args!("  removed \"{key}\" from {from}"));
        }
        page
    });
}
