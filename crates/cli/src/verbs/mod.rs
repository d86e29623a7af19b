//! The verbs: each turns its arguments into one call of a job, and the report into output.

mod auth;
mod check;
mod config;
mod copy;
mod explain;
mod install;
mod lock;
mod locked;
mod login;
mod providers;
mod push;
mod resolve;
mod sign;
mod stop;
mod superfluous;
mod verify;
mod versions;

use std::path::{Path, PathBuf};
use std::sync::Arc;

use tofu_oci_disk::Waiter;
use tofu_oci_logins::Access;
use tofu_oci_types::{Place, Reporter, Tag};

use crate::args::{Args, AuthVerb, ConfigVerb, Global, HostParser, Network, OutputArgs, Verb};
use crate::connect::{Connector, ResolverSlot};
use crate::diagnostic::Diagnostic;
use crate::exit::Exit;
use crate::report;
use stop::Stop;

/// What every verb works with.
pub(crate) struct Context {
    /// The verb, for other programs that wait for this one.
    verb: &'static str,
    pub(crate) json: bool,
    pub(crate) quiet: bool,
    pub(crate) reporter: Arc<dyn Reporter>,
    /// What this run knows of credentials, once a registry is spoken to.
    pub(crate) resolver: ResolverSlot,
    /// For a verb that has to clean up before it ends.
    pub(crate) stop: Arc<Stop>,
}

impl Context {
    fn new(
        verb: &'static str,
        global: &Global,
        output: &OutputArgs,
        resolver: &ResolverSlot,
        stop: &Arc<Stop>,
    ) -> Self {
        let reporter = report::reporter(output.json, global.quiet);
        let (resolver, stop) = (Arc::clone(resolver), Arc::clone(stop));
        Self { verb, json: output.json, quiet: global.quiet, reporter, resolver, stop }
    }

    /// How this run waits for files that other programs work on.
    pub(crate) fn waiter(&self, network: &Network) -> Waiter {
        Waiter { program: format!("tofu-oci {}", self.verb), limit: network.timeout.0 }
    }

    /// What opens the ends that the arguments name.
    pub(crate) fn connector(&self, network: &Network, access: Access) -> Connector {
        let waiter = self.waiter(network);
        Connector::new(network, access, waiter, Arc::clone(&self.reporter), Arc::clone(&self.resolver))
    }
}

/// A tag of a place. `oci:DIR:TAG` would be taken for a directory of that name.
pub(crate) fn tagged(place: &Place, tag: &Tag) -> String {
    if matches!(place, Place::Layout(_)) { format!("{place} (tag {tag})") } else { format!("{place}:{tag}") }
}

/// Whether an option was given on the command line; what its variable says is meant for every command.
fn typed(given: Option<&str>, variable: &str) -> bool {
    given.is_some_and(|given| std::env::var(variable).ok().as_deref() != Some(given))
}

/// The same of a list of hosts. What the variable says is read as the option's values are.
fn typed_hosts(given: &[String], variable: &str) -> bool {
    let said = std::env::var(variable).unwrap_or_default();
    !given.is_empty() && !said.split(',').map(HostParser::host).eq(given.iter().cloned().map(Some))
}

/// `.terraform` of the directory, or what `TF_DATA_DIR` says, relative to the directory.
pub(crate) fn data_dir(dir: &Path) -> PathBuf {
    match std::env::var_os("TF_DATA_DIR").filter(|value| !value.is_empty()) {
        Some(data_dir) => dir.join(data_dir),
        None => dir.join(".terraform"),
    }
}

/// Runs the verb until it is done or the user interrupts it.
pub(crate) async fn run(args: Args) -> Exit {
    let Args { global, verb } = args;
    let json = match &verb {
        Verb::Push(args) => args.output.json,
        Verb::Pack(args) => args.output.json,
        Verb::Copy(args) => args.output.json,
        Verb::Sign(args) => args.output.json,
        Verb::Install(args) => args.output.json,
        Verb::Lock(args) => args.output.json,
        Verb::Verify(args) => args.output.json,
        Verb::Versions(args) => args.output.json,
        Verb::Resolve(args) => args.output.json,
        Verb::Check(args) => args.output().json,
        Verb::Providers(args) => args.output.json,
        Verb::Auth(args) => match &args.verb {
            AuthVerb::Explain(args) => args.output.json,
        },
        Verb::Login(args) => args.output.json,
        Verb::Logout(args) => args.output.json,
        Verb::Config(args) => matches!(&args.verb, ConfigVerb::Check(args) if args.output.json),
    };
    let (resolver, stop) = (ResolverSlot::default(), Arc::new(Stop::default()));
    // Dropping the job is what cleans up after it: temporary folders go, no tag is written.
    let ended = tokio::select! {
        // In this order: the job does not begin before an interruption can be heard.
        biased;
        hint = stop::interrupted(&stop) => Err(Diagnostic::new(Exit::Interrupted, "interrupted").hint(hint)),
        ended = job(&global, verb, &resolver, &stop) => ended,
    };
    match ended {
        Ok(exit) => exit,
        Err(diagnostic) => {
            let diagnostic = diagnostic.explain_credentials(resolver.get().map(AsRef::as_ref));
            diagnostic.print(json);
            diagnostic.exit()
        }
    }
}

async fn job(global: &Global, verb: Verb, resolver: &ResolverSlot, stop: &Arc<Stop>) -> Result<Exit, Diagnostic> {
    let name = verb.name();
    let context = |output: &OutputArgs| Context::new(name, global, output, resolver, stop);
    match verb {
        Verb::Push(args) => push::push(&context(&args.output), &args).await?,
        Verb::Pack(args) => push::pack(&context(&args.output), &args).await?,
        Verb::Copy(args) => copy::copy(&context(&args.output), &args).await?,
        Verb::Sign(args) => sign::sign(&context(&args.output), &args).await?,
        Verb::Install(args) => install::install(&context(&args.output), &args).await?,
        Verb::Lock(args) => lock::lock(&context(&args.output), &args).await?,
        Verb::Verify(args) => verify::verify(&context(&args.output), &args).await?,
        Verb::Versions(args) => versions::versions(&context(&args.output), &args).await?,
        Verb::Resolve(args) => resolve::resolve(&context(&args.output), &args).await?,
        // Findings are no failure, and have an exit code all the same.
        Verb::Check(args) => return check::check(&context(&args.output()), &args).await,
        Verb::Providers(args) => providers::providers(&context(&args.output), &args)?,
        Verb::Auth(args) => match args.verb {
            AuthVerb::Explain(args) => auth::explain(&context(&args.output), &args).await?,
        },
        Verb::Login(args) => login::login(&context(&args.output), &args).await?,
        Verb::Logout(args) => login::logout(&context(&args.output), &args).await?,
        Verb::Config(args) => match args.verb {
            ConfigVerb::Check(args) => return config::check(&context(&args.output), &args),
            ConfigVerb::Snippet(args) => config::snippet(&context(&OutputArgs { json: false }), &args)?,
        },
    }
    Ok(Exit::Done)
}
