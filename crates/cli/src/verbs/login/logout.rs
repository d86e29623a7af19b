//! `logout`.

use std::collections::BTreeSet;

use serde::Serialize;
use tofu_oci_credentials::docker_file;
use tofu_oci_credentials::{HelperAnswer, HelperName};
use tofu_oci_types::Event;

use super::helper_failed;
use super::registry::RegistryName;
use super::standing::Standing;
use super::target::{Keeper, Target};
use crate::args::LogoutArgs;
use crate::credentials::helper::{self, Erased, HelperFault};
use crate::diagnostic::Diagnostic;
use crate::page::Page;
use crate::printer;
use crate::report::json_line;
use crate::verbs::Context;

/// Removes what docker and `login` have stored for a registry.
pub(crate) async fn logout(context: &Context, args: &LogoutArgs) -> Result<(), Diagnostic> {
    let registry = RegistryName::parse(&args.registry)?;
    let target = Target::choose(args.auth_file.as_deref())?;
    let keys = registry.keys();
    if args.auth_file.is_some() && target.is_missing()? {
        let text = format!("{} is not there", target.shown());
        context.reporter.event(&Event::note("no-such-file", text));
    }
    let there = target.present(&keys)?;
    let mut removed = Vec::new();
    let mut failure = None;
    for (helper, server) in held(&target, &registry, &there)? {
        match erase(&helper, &server).await.map_err(|fault| helper_failed(fault, &target)) {
            Ok(Erased::Gone) => removed.push(Removed { from: helper.program(), key: server }),
            Ok(Erased::NotThere) => {}
            Err(diagnostic) => failure = failure.or(Some(diagnostic)),
        }
    }
    if !there.is_empty() {
        target.stage()?.write(|bytes| {
            let keys: Vec<&str> = keys.iter().map(String::as_str).collect();
            docker_file::remove(bytes.unwrap_or_default(), &keys)
        })?;
        removed.extend(there.into_iter().map(|key| Removed { from: target.shown().to_owned(), key }));
    }
    let standing = Standing::look(&registry).await?;
    match failure {
        // The helper may have a login: nobody knows.
        Some(diagnostic) if removed.is_empty() => Err(diagnostic),
        Some(diagnostic) => {
            print(context, &registry, &target, &removed, standing.used());
            Err(diagnostic.hint("the rest was removed all the same"))
        }
        None => {
            standing.warn_after_logout(context, &registry);
            standing.note_of_what_stays(context, &registry);
            print(context, &registry, &target, &removed, standing.used());
            Ok(())
        }
    }
}

/// Every helper that may hold a login of the registry, and the name that it may hold it under.
fn held(
    target: &Target,
    registry: &RegistryName,
    there: &[String],
) -> Result<BTreeSet<(HelperName, String)>, Diagnostic> {
    let docker = docker_file::server_key(registry.as_str());
    let mut held = BTreeSet::new();
    for server in there.iter().cloned().chain([docker.clone(), registry.url()]) {
        // Docker looks for the helper by the very key; tofu, by the host, and asks it for the URL.
        for key in [&docker, &server] {
            if let Keeper::Helper(helper) = target.keeper(key)? {
                held.insert((helper, server.clone()));
            }
        }
    }
    Ok(held)
}

/// Asks first: some helpers call it a failure to erase what they do not have.
async fn erase(helper: &HelperName, server: &str) -> Result<Erased, HelperFault> {
    match helper::run_get(helper, server).await? {
        HelperAnswer::NotFound | HelperAnswer::Empty => Ok(Erased::NotThere),
        HelperAnswer::Credential(_) => helper::run_erase(helper, server).await,
    }
}

#[derive(Serialize)]
struct Removed {
    from: String,
    key: String,
}

fn print(context: &Context, registry: &RegistryName, target: &Target, removed: &[Removed], still: Option<String>) {
    #[derive(Serialize)]
    struct Line<'a> {
        event: &'static str,
        registry: &'a str,
        removed: &'a [Removed],
        still: Option<String>,
    }
    if context.json {
        return json_line(&Line { event: "logout", registry: registry.as_str(), removed, still });
    }
    let mut page = Page::of(match removed {
        [] => format!("not logged in to {registry}: {} has no login for it", target.shown()),
        _ => format!("logged out of {registry}"),
    });
    for Removed { from, key } in removed {
        page.line(format_args!("  removed \"{key}\" from {from}"));
    }
    printer::stdout(&page);
}
