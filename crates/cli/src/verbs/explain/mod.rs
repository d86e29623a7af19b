//! `resolve --explain`: every method, what it answers, which one serves, and where `OpenTofu` would stop.

mod line;
mod text;

use std::path::{Path, PathBuf};

use tofu_oci_explain::providers::{self, LockedVersion, ProviderQuestion};
use tofu_oci_lockfile::{Guide, LOCK_FILE_NAME};
use tofu_oci_logins::Access;
use tofu_oci_source::MethodOpener;
use tofu_oci_types::{Constraints, Platform, ProviderAddr, TofuRelease};

use super::context::Context;
use crate::args::ResolveArgs;
use crate::connect::Connector;
use crate::diagnostic::Diagnostic;
use crate::environment::ReadConfig;
use crate::exit::Exit;
use crate::lookup::{self, Finder};

/// Explains where an address would come from. A faulty CLI configuration is an error after the explanation is printed.
pub(crate) async fn explain(
    context: &Context,
    args: &ResolveArgs,
    connector: Connector,
    address: &ProviderAddr,
    constraints: &Constraints,
) -> Result<(), Diagnostic> {
    if address.is_builtin() {
        return Err(Diagnostic::new(Exit::Fixable, format!("{address} is part of OpenTofu and Terraform themselves"))
            .code("built-in-provider")
            .hint("it comes from nowhere, and nothing needs to be installed"));
    }
    let platform = args.platform.clone().unwrap_or_else(Platform::current);
    let locked = if args.upgrade { None } else { locked(args.chdir.as_deref(), address, constraints)? };
    let question = ProviderQuestion { address, constraints, platform, locked };
    if args.lookup.from.is_some() {
        return explain_from(context, args, connector, &question).await;
    }
    let read = |release| lookup::configured(&ReadConfig::read_as(release, args.chdir.as_deref())?, &args.lookup, &[]);
    let latest = read(TofuRelease::V1_13)?;
    let refusal = lookup::refuse(&latest, connector.access());
    // After an error about credentials, this run might show the wrong ones.
    let ambient = matches!(connector.access(), Access::Ambient { .. });
    let doubtful = ambient && latest.reading.credential_errors().next().is_some();
    let connector = if doubtful { connector.anonymous() } else { connector };
    let opener = MethodOpener::new(&latest, connector.client()?, connector.host_tokens()?);
    let refused = refusal.is_err().then(|| latest.reading.errors().count());
    let explanation = providers::explain(&question, &latest, refused, &opener, read).await?;
    context
        .emit_all(|lines| line::add(lines, &question, &explanation), || text::page(&question, &latest, &explanation));
    refusal
}

/// What the lock file of the directory says of an address.
fn locked(
    chdir: Option<&Path>,
    address: &ProviderAddr,
    constraints: &Constraints,
) -> Result<Option<LockedVersion>, Diagnostic> {
    let path = chdir.map_or_else(|| PathBuf::from(LOCK_FILE_NAME), |dir| dir.join(LOCK_FILE_NAME));
    let guide = tofu_oci_lockfile::read(&path)?.file().guide(address);
    Ok(guide.map(|Guide { by, entry }| LockedVersion {
        admitted: constraints.admits(&entry.version),
        version: entry.version,
        by,
        path,
    }))
}

/// With `--from` there is one place, which `OpenTofu` does not know.
async fn explain_from(
    context: &Context,
    args: &ResolveArgs,
    connector: Connector,
    question: &ProviderQuestion<'_>,
) -> Result<(), Diagnostic> {
    let finder = Finder::new(&args.lookup, connector, args.chdir.as_deref(), &[])?;
    let found = finder.places_unasked(question.address)?;
    let place = found.into_iter().map(|found| found.place).collect::<Vec<_>>().join(", ");
    let source = finder.source(question.address)?;
    let explanation = providers::explain_place(question, place, &source).await;
    context.emit_all(|lines| line::add(lines, question, &explanation), || text::page_from(question, &explanation));
    Ok(())
}
