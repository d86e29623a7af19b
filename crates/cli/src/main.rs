//! The tofu-oci program: the only crate that prints, reads the environment and the home directory, or exits.
//!
//! ```text
//! invocation  what hints advise      ->  a command with the options of this one
//! args      what people type          ->  one struct a verb
//! subject   ADDR@VERSION, REPOSITORY:VERSION  ->  what an argument names
//! lookup    an address              ->  the places it may come from, by --from or by the user's files
//! connect   names of ends             ->  stores (a registry, or an OCI image layout directory)
//! trust     trust.toml, the pins      ->  whose signatures count
//! verbs     one job each              ->  a report on stdout, or an error
//! report    events of a running job   ->  bars, lines, JSON lines, or nothing
//! completion  the script of a shell    ->  what can stand at the cursor
//! handbook  the pages of docs/         ->  what `help` prints
//! typed_logins passwords in addresses   ->  `***`, in whatever is printed
//! page      what people read          ->  lines in which foreign text is escaped
//! pager     a page longer than the terminal  ->  the program that shows it
//! document  what programs read        ->  JSON, SARIF, JUnit, with such characters escaped
//! mistake   wrong arguments           ->  better advice than clap's
//! diagnostic errors of every crate     ->  `error:`, `cause:`, `hint:` and an exit code
//! bug       a panic                   ->  its place, without its words
//! ```

mod args;
mod bug;
mod completion;
mod connect;
mod destination;
mod diagnostic;
mod document;
mod ends;
mod environment;
mod excerpt;
mod exit;
mod git_anonymous;
mod git_program;
mod handbook;
mod helper_program;
#[cfg(test)]
mod hostile;
mod identity;
mod invocation;
mod keyless;
mod log_filter;
mod lookup;
mod mistake;
mod modules;
mod package_cache;
mod page;
mod pager;
mod printer;
mod process_group;
mod program;
mod prompt;
mod proxies;
mod report;
mod signing_key;
mod subject;
mod terminal;
mod trust;
mod typed_logins;
mod verbs;

use tracing_subscriber::filter::LevelFilter;
use tracing_subscriber::layer::SubscriberExt as _;
use tracing_subscriber::util::SubscriberInitExt as _;

use args::Args;
use diagnostic::Diagnostic;
use exit::Exit;
use page::Page;

fn main() -> std::process::ExitCode {
    end(bug::told(run))
}

fn run() -> Exit {
    if process_group::guarded() || completion::answered() {
        return Exit::Done;
    }
    if let Some(choice) = args::color() {
        choice.write_global();
    }
    #[cfg(unix)]
    environment::without_empty_variables();
    if let Some(diagnostic) = mistake::typed_key() {
        diagnostic.print(args::ask_for_json());
        return diagnostic.exit();
    }
    let mut declared = args::command_of_call();
    let args = Args::read(&mut declared).or_else(|error| {
        // Help lists all verbs, and an error may name an argument that only another verb has.
        if error.kind() == clap::error::ErrorKind::DisplayVersion {
            return Err(error);
        }
        declared = args::command();
        Args::read(&mut declared)
    });
    let args = match args {
        Ok((args, matches)) => {
            invocation::remember(&declared, &matches);
            args
        }
        Err(error) => return mistake::end(&error, &declared),
    };
    if let Err(diagnostic) = start_tracing(args.global.verbose) {
        diagnostic.print(false);
        return diagnostic.exit();
    }
    // Chosen here once, for the whole process: a build with several providers in it would otherwise refuse to choose.
    let _ = rustls::crypto::ring::default_provider().install_default();
    let runtime = match tokio::runtime::Builder::new_multi_thread().enable_all().build() {
        Ok(runtime) => runtime,
        Err(error) => {
            let diagnostic = Diagnostic::new(Exit::Unexpected, format!("cannot start: {error}")).code("io");
            diagnostic.print(args::ask_for_json());
            return Exit::Unexpected;
        }
    };
    let exit = runtime.block_on(verbs::run(args));
    report::end();
    // Threads of an interrupted job remove their temporary folders now; one that hangs must not keep the program alive.
    runtime.shutdown_timeout(std::time::Duration::from_secs(3));
    exit
}

/// The exit code; what was done is worth less when its report is lost.
fn end(exit: Exit) -> std::process::ExitCode {
    if exit != Exit::Done || !printer::stdout_failed() {
        return exit.into();
    }
    let mut page = Page::of("error: standard output cannot be written");
    page.gap();
    page.line("hint: the work itself was done; run the same command again to see its result");
    printer::stderr(&page);
    Exit::Unexpected.into()
}

fn start_tracing(verbose: u8) -> Result<(), Diagnostic> {
    let asked = std::env::var("TOFU_OCI_LOG").ok().filter(|asked| !asked.is_empty());
    let filter = log_filter::log_filter(verbose, asked.as_deref())?;
    // Without colours: the lines are foreign text to a large part, and no escape sequence in them is obeyed.
    let lines = tracing_subscriber::fmt().with_max_level(LevelFilter::TRACE).with_writer(|| printer::TraceLines);
    let lines = lines.with_ansi(false).without_time().finish().with(filter);
    // A second subscriber cannot exist in this process; if it did, the first one stays.
    let _ = lines.try_init();
    Ok(())
}
