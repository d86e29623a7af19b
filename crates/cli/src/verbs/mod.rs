//! The verbs: each turns its arguments into one call of a job, and the report into output.

mod attach;
mod auth;
mod bundle;
mod cache;
mod check;
mod completions;
mod config;
mod context;
mod copy;
mod docs;
mod explain;
mod help;
mod install;
mod lock;
mod locked;
mod login;
mod magic_address;
mod man;
mod mirror;
mod module;
mod outdated;
mod printed;
mod providers;
mod published;
mod push;
mod required;
mod resolve;
mod run;
mod serve;
mod show;
mod sign;
mod state;
mod stop;
mod superfluous;
mod trust_root;
mod typed;
mod verify;
mod version;
mod versions;

use std::cell::Cell;
use std::sync::Arc;

use crate::args::{Args, AuthVerb, BundleVerb, ConfigVerb, Global, OutputArgs, TrustVerb, TrustVerbArgs, Verb};
use crate::connect::ResolverSlot;
use crate::diagnostic::Diagnostic;
use crate::exit::Exit;
use context::Context;
use stop::Stop;

/// Runs the verb until it is done or the user interrupts it.
pub(crate) async fn run(args: Args) -> Exit {
    let Args { global, verb, .. } = args;
    let json = Cell::new(false);
    let (resolver, stop) = (ResolverSlot::default(), Arc::new(Stop::default()));
    // Dropping the job is what cleans up after it: temporary folders go, no tag is written.
    let ended = tokio::select! {
        // In this order: the job does not begin before an interruption can be heard.
        biased;
        hint = stop::interrupted(&stop) => Err(Diagnostic::new(Exit::Interrupted, "interrupted").hint(hint)),
        ended = job(&global, verb, &json, &resolver, &stop) => ended,
    };
    crate::printer::end_bars();
    match ended {
        Ok(exit) => exit,
        Err(diagnostic) => {
            let diagnostic = diagnostic.explain_credentials(resolver.get().map(AsRef::as_ref));
            diagnostic.print(json.get());
            diagnostic.exit()
        }
    }
}

/// Runs the verb, and notes whether it is asked for JSON lines.
async fn job(
    global: &Global,
    verb: Verb,
    json: &Cell<bool>,
    resolver: &ResolverSlot,
    stop: &Arc<Stop>,
) -> Result<Exit, Diagnostic> {
    let name = verb.name();
    let context = |output: &OutputArgs| {
        json.set(output.json);
        Context::new(name, global, output, resolver, stop)
    };
    match verb {
        Verb::Push(args) => push::push(&context(&args.output), &args).await?,
        Verb::Pack(args) => push::pack(&context(&args.output), &args).await?,
        Verb::Copy(args) => copy::copy(&context(&args.output), &args).await?,
        Verb::Mirror(args) => return mirror::mirror(&context(&args.carry.output), &args).await,
        Verb::Bundle(args) => match args.verb {
            BundleVerb::Create(args) => return bundle::create(&context(&args.carry.output), *args).await,
            BundleVerb::Load(args) => return bundle::load(&context(&args.output), &args).await,
            BundleVerb::Show(args) => bundle::show(&context(&args.output), &args).await?,
        },
        Verb::Module(args) => return module::module(&context(args.verb.output()), &args).await,
        Verb::Serve(args) => return serve::serve(&context(&args.output), &args).await,
        Verb::Run(args) => return run::run(&context(&OutputArgs { json: false }), &args).await,
        Verb::Sign(args) => sign::sign(&context(&args.output), &args).await?,
        Verb::Attach(args) => attach::attach(&context(&args.output), &args).await?,
        Verb::Withdraw(args) => state::withdraw(&context(&args.state.output), &args).await?,
        Verb::Deprecate(args) => state::deprecate(&context(&args.state.output), &args).await?,
        Verb::Install(args) => install::install(&context(&args.output), &args).await?,
        Verb::Cache(args) => return cache::cache(&context(args.output()), &args).await,
        Verb::Lock(args) => lock::lock(&context(&args.output), &args).await?,
        Verb::Verify(args) => verify::verify(&context(&args.output), &args).await?,
        Verb::Show(args) => show::show(&context(&args.output), &args).await?,
        Verb::Docs(args) => docs::docs(&context(args.output()), &args).await?,
        Verb::Versions(args) => versions::versions(&context(&args.output), &args).await?,
        Verb::Resolve(args) => resolve::resolve(&context(&args.output), &args).await?,
        Verb::Outdated(args) => return outdated::outdated(&context(&args.output), &args).await,
        // Findings are no failure, and have an exit code all the same.
        Verb::Check(args) => return check::check(&context(&args.output()), &args).await,
        Verb::Providers(args) => providers::providers(&context(&args.output), &args)?,
        Verb::Auth(args) => match args.verb {
            AuthVerb::Explain(args) => auth::explain(&context(&args.output), &args).await?,
        },
        Verb::Trust(TrustVerbArgs { verb: TrustVerb::Root(args) }) => {
            trust_root::run(&context(args.verb.output()), &args.verb).await?;
        }
        Verb::Login(args) => login::login(&context(&args.output), &args).await?,
        Verb::Logout(args) => login::logout(&context(&args.output), &args).await?,
        Verb::Config(args) => match args.verb {
            ConfigVerb::Check(args) => return config::check(&context(&args.output), &args),
            ConfigVerb::Add(args) => config::add(&context(&args.output), &args)?,
            ConfigVerb::Remove(args) => config::remove(&context(&args.output), &args)?,
            ConfigVerb::Snippet(args) => config::snippet(&context(&args.output), &args)?,
        },
        Verb::Completions(args) => completions::completions(&args)?,
        Verb::Man(args) => man::man(&args, global.quiet)?,
        Verb::Version(args) => version::version(&context(&args.output)),
        Verb::Help(args) => return help::help(&args),
    }
    Ok(Exit::Done)
}
