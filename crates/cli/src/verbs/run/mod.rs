//! `run`: a command that gets providers and modules out of OCI repositories, through a bridge that lives as long as the command.
//!
//! ```text
//! the CLI configuration, --template --methods--> the same methods, each oci_mirror with a bridge of its own
//!        --bridges--> servers on 127.0.0.1 --rewrite--> a configuration in which they are network mirrors
//!        --lock_file--> checksums of this platform, if a signature covers them
//!        --command--> exit code
//!        --lock_file--> checksums of all platforms, if a signature covers them; --watched--> what went wrong
//! ```

mod bridges;
mod command;
mod lock_file;
mod methods;
mod modules;
mod shared;
mod variables;
mod watched;
mod watched_source;

use std::sync::Arc;

use tofu_oci_disk::{Purpose, Scratch};
use tofu_oci_fetch::{RenamedReleases, Trust};
use tofu_oci_logins::Access;
use tofu_oci_mapper::config::{RewrittenParts, rewrite};
use tofu_oci_source::MethodOpener;

use super::context::Context;
use super::install::working_dir;
use crate::args::{LookupArgs, RunArgs};
use crate::connect::Connector;
use crate::diagnostic::Diagnostic;
use crate::environment::ReadConfig;
use crate::exit::Exit;
use crate::lookup::{configured, refuse};

use bridges::Bridges;
use lock_file::LockedByCommand;
use methods::BridgedMethods;
use modules::{BridgedModules, HostServices};
use shared::{chdir, not_prepared, not_written};
use watched::Watched;

/// Runs the command, and completes its lock file.
pub(crate) async fn run(context: &Context, args: &RunArgs) -> Result<Exit, Diagnostic> {
    variables::supported()?;
    let dir = working_dir(chdir(args).as_deref())?;
    let read = ReadConfig::of_file(args.cli_config.as_deref(), chdir(args).as_deref())?;
    let access = Access::Ambient { chdir: None };
    let watched = Arc::new(Watched::default());
    let (waiter, resolver) = (context.waiter(&args.network), Arc::clone(&context.resolver));
    let connector =
        Connector::new(&args.network, access, waiter, Arc::clone(&watched) as _, resolver).with_config(read.clone());
    let mut configured = configured(&read, &LookupArgs::default(), &[])?;
    refuse(&configured, connector.access())?;
    configured.methods = methods::with_template(args, configured.methods)?;
    methods::note_shared_repository(context, args, &configured.methods);
    configured.methods = methods::as_read_by(&args.command, configured.methods);
    let configured = Arc::new(configured);
    let methods = BridgedMethods::of(&configured);
    let mirrors = crate::modules::load(&args.mapping, &args.trust.predecessors, &dir)?;
    BridgedModules::note(context, &mirrors);
    let modules = BridgedModules::of(mirrors);
    if methods.is_empty() && modules.is_none() {
        return Err(methods::nothing_to_bridge(&read, args));
    }
    methods::note_passed_over(context, args, &read);
    let trust = Trust { renamed: RenamedReleases::ByPolicy, ..crate::trust::load(&args.trust, &dir)? };
    let opener = Arc::new(MethodOpener::new(&configured, connector.client()?, connector.host_tokens()?));
    let scratch = Scratch::temporary(&std::env::temp_dir(), Purpose::Run).map_err(|error| not_prepared(&error))?;
    let sources = methods.sources(&configured, &opener);
    let place = modules.as_ref().map(|modules| modules.place(&connector, &watched)).transpose()?;
    let bridges = Bridges::start(&methods, &sources, place, &trust, &watched, scratch.path()).await?;
    let methods = BridgedMethods::written(&configured, bridges.urls());
    let hosts = match (&modules, bridges.modules_url()) {
        (Some(modules), Some(base)) => modules.services(context, &read, &configured, &opener, base).await,
        _ => HostServices::new(),
    };
    let replacement = RewrittenParts { methods, hosts, tokens: bridges.tokens() };
    let text = rewrite(&read.reading, &read.environment, &replacement).map_err(not_written)?;
    let variables =
        variables::prepare(scratch.path(), &text, bridges.authority()).map_err(|error| not_prepared(&error))?;
    let lock = LockedByCommand::before(context, args, &dir, trust, sources).await?;
    let exit = command::run(&args.command, &variables, &context.stop).await?;
    watched.notes().iter().for_each(|note| context.reporter.event(note));
    match exit {
        Exit::Done => lock.complete(&watched).await?,
        _ => lock.explain(&bridges, &watched).await,
    }
    Ok(exit)
}
