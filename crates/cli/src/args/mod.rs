//! The arguments of every verb, declared once: `-h`, `--help`, man pages and completion grow from them.
#![allow(
    rustdoc::broken_intra_doc_links,
    clippy::doc_markdown,
    reason = "the texts are help for a terminal, in which `HOST[:PORT]` is not a link and backticks are shown"
)]

mod attach;
mod auth;
mod bundle;
mod cache;
mod carry;
mod check;
mod common;
mod config;
mod docs;
mod duration;
mod help;
mod host;
mod identity;
mod install;
mod lock;
mod login;
mod mirror;
mod module;
mod module_lock;
mod module_mapping;
mod module_mirror;
mod module_pull;
mod names;
mod number;
mod order;
mod outdated;
mod providers;
mod publish;
mod query;
mod run;
mod screen;
mod serve;
mod show;
mod sign;
mod size;
mod state;
#[cfg(test)]
mod tests;
mod trust;
mod trust_root;
mod verify;

use std::ffi::OsString;
use std::sync::OnceLock;

use clap::builder::Resettable;
use clap::{Args as _, CommandFactory as _, FromArgMatches as _, Parser, Subcommand};

pub(crate) use attach::AttachArgs;
pub(crate) use auth::{AuthArgs, AuthExplainArgs, AuthVerb};
pub(crate) use bundle::{BundleArgs, BundleCreateArgs, BundleKind, BundleLoadArgs, BundleShowArgs, BundleVerb};
pub(crate) use cache::{CacheArgs, CachePruneArgs, CacheVerb};
pub(crate) use carry::CarryArgs;
pub(crate) use check::{CheckArgs, FailOn, FindingsFormat};
pub(crate) use common::{ConfigTestsArgs, Global, Network, OutputArgs, REGISTRY_ACCESS};
pub(crate) use config::{ConfigAddArgs, ConfigArgs, ConfigCheckArgs, ConfigRemoveArgs, ConfigSnippetArgs, ConfigVerb};
pub(crate) use docs::{DocsArgs, DocsDiffArgs, DocsVerb};
pub(crate) use duration::Timeout;
pub(crate) use help::{CompletionsArgs, HelpArgs, ManArgs, Shell, VersionArgs};
pub(crate) use identity::{IdentityArgs, RegistryAccess};
pub(crate) use install::InstallArgs;
pub(crate) use lock::LockArgs;
pub(crate) use login::{LoginArgs, LogoutArgs};
pub(crate) use mirror::MirrorArgs;
pub(crate) use module::{ModuleArgs, ModulePushArgs, ModuleVerb};
pub(crate) use module_lock::ModuleLockArgs;
pub(crate) use module_mapping::ModuleMappingArgs;
pub(crate) use module_mirror::ModuleMirrorArgs;
pub(crate) use module_pull::{ModulePullArgs, ModuleVersionsArgs};
pub(crate) use names::full_address;
pub(crate) use outdated::OutdatedArgs;
pub(crate) use providers::ProvidersArgs;
pub(crate) use publish::{CopyArgs, H1Choice, PackArgs, PushArgs, ReleaseArgs};
pub(crate) use query::{LookupArgs, ResolveArgs, VersionsArgs};
pub(crate) use run::RunArgs;
pub(crate) use screen::{GROUPS, examples};
pub(crate) use serve::ServeArgs;
pub(crate) use show::ShowArgs;
pub(crate) use sign::{Attach, SignArgs, SignerArgs, SigningArgs};
pub(crate) use state::{DeprecateArgs, StateArgs, WithdrawArgs};
pub(crate) use trust::{PredecessorArgs, RenameArgs, TrustArgs};
pub(crate) use trust_root::{TrustRootUpdateArgs, TrustRootVerb, TrustVerb, TrustVerbArgs};
pub(crate) use verify::VerifyArgs;

/// Keeps OpenTofu and Terraform providers in any OCI registry.
#[derive(Debug, Parser)]
#[command(
    name = "tofu-oci",
    version,
    subcommand_required = true,
    arg_required_else_help = true,
    disable_help_flag = true,
    disable_version_flag = true,
    disable_help_subcommand = true,
    max_term_width = 100,
    after_help = "\
Examples:
  tofu-oci push dist ghcr.io/acme/widget --address registry.example.com/acme/widget
  tofu-oci install registry.example.com/acme/widget --from ghcr.io/acme/widget

`push` publishes the output folder of GoReleaser; `install` gets it back. A directory can take the
place of the registry:

  tofu-oci pack dist oci:widget-layout --address registry.example.com/acme/widget
  tofu-oci install registry.example.com/acme/widget --from oci:widget-layout

Exit codes: 0 done; 1 you can fix it (not found, refused, does not match); 2 wrong usage or
configuration; 3 unexpected (network, machine); 130 interrupted."
)]
pub(crate) struct Args {
    #[command(flatten)]
    pub(crate) global: Global,
    /// Print the version
    #[arg(short = 'V', long, action = clap::ArgAction::Version, help_heading = "Output", hide_short_help = true)]
    _version: Option<bool>,
    #[command(subcommand)]
    pub(crate) verb: Verb,
}

impl Args {
    /// What was typed and what the environment says.
    pub(crate) fn read(declared: &mut clap::Command) -> Result<(Self, clap::ArgMatches), clap::Error> {
        let words = std::env::args_os().take(1).chain(words().iter().cloned());
        let matches = declared.try_get_matches_from_mut(words)?;
        Ok((Self::from_arg_matches(&matches)?, matches))
    }
}

/// The arguments of this run, without the program. Options of the verb that stand before it follow it here.
pub(crate) fn words() -> &'static [OsString] {
    static WORDS: OnceLock<Vec<OsString>> = OnceLock::new();
    WORDS.get_or_init(|| {
        let typed: Vec<OsString> = std::env::args_os().skip(1).collect();
        let named = with_verbs(&|name| typed.iter().any(|word| word == name));
        order::ordered(typed, &named, &std::cell::LazyCell::new(|| with_verbs(&|_| true)))
    })
}

/// The program with the arguments of these verbs. The others get theirs if they are called.
pub(crate) fn with_verbs(is_wanted: &dyn Fn(&str) -> bool) -> clap::Command {
    Args::command().mut_subcommands(|verb| {
        let name = verb.get_name();
        let Some((_, arguments)) = ARGUMENTS.iter().find(|(of, _)| *of == name && is_wanted(name)) else {
            return verb;
        };
        let about = verb.get_about().cloned();
        arguments(verb.defer(|verb| verb)).about(Resettable::from(about))
    })
}

/// The command, whatever the environment is.
pub(crate) fn declared() -> clap::Command {
    screen::examples_first(with_verbs(&|_| true), &|_| true)
}

/// The command that reads this run's arguments. An empty variable counts as unset, as scripts mean it.
///
/// Only the help of verbs that are named is drawn: all of it takes longer than the rest of a start.
pub(crate) fn command() -> clap::Command {
    let is_named = |verb: &clap::Command| {
        verb.get_name_and_visible_aliases().into_iter().any(|name| words().iter().any(|word| word == name))
    };
    unset_if_empty(screen::examples_first(with_verbs(&|_| true), &is_named))
}

/// The same for a run that needs no help: without texts of its own, and with the arguments of the verbs that are named.
pub(crate) fn command_of_call() -> clap::Command {
    unset_if_empty(with_verbs(&|name| words().iter().any(|word| word == name)))
}

fn unset_if_empty(declared: clap::Command) -> clap::Command {
    if std::env::vars_os().all(|(_, value)| !value.is_empty()) {
        return declared;
    }
    let is_empty = |arg: &clap::Arg| {
        arg.get_env().is_some_and(|name| std::env::var_os(name).is_some_and(|value| value.is_empty()))
    };
    let unset = |arg: clap::Arg| if is_empty(&arg) { arg.env(None::<&'static str>) } else { arg };
    each(declared, &unset)
}

/// The help topic with the options of registry access.
pub(crate) const REGISTRY_ACCESS_TOPIC: &str = "registry-access";

/// The options by which verbs reach a registry, as a command of their own.
pub(crate) fn registry_access() -> clap::Command {
    let command = clap::Command::new(REGISTRY_ACCESS_TOPIC).disable_help_flag(true).max_term_width(100);
    RegistryAccess::augment_args(command)
        .mut_args(|option| option.hide_env_values(true).help_heading("Options of every verb that reaches a registry"))
        .help_template("{all-args}{after-help}")
        .after_help(
            "An option counts more than its variable. Without --anonymous and --username tofu-oci uses the logins in \
             docker's and podman's files, their helpers and the CLI configuration.\n\n\
             More: tofu-oci help network, tofu-oci help credentials, tofu-oci help registries",
        )
}

/// Whether JSON lines are asked for, as far as arguments say that may be wrong elsewhere.
pub(crate) fn ask_for_json() -> bool {
    let typed: Vec<_> = words().iter().take_while(|word| *word != "--").collect();
    let format = typed.windows(2).any(|words| words[0] == "--format" && words[1] == "json");
    format || typed.iter().any(|word| *word == "--json" || *word == "--format=json")
}

/// When colours are used, as far as arguments say that may be wrong elsewhere; `None` if they do not say.
pub(crate) fn color() -> Option<anstream::ColorChoice> {
    let typed = words().iter().take_while(|word| *word != "--").filter_map(|word| word.to_str());
    let mut typed = typed.skip_while(|word| !word.starts_with("--color"));
    let word = typed.next()?;
    match word.strip_prefix("--color=").or_else(|| typed.next())? {
        "auto" => Some(anstream::ColorChoice::Auto),
        "always" => Some(anstream::ColorChoice::Always),
        "never" => Some(anstream::ColorChoice::Never),
        _ => None,
    }
}

/// The values of the variables of arguments.
pub(crate) fn variables() -> Vec<std::ffi::OsString> {
    fn gather(command: &clap::Command, found: &mut Vec<std::ffi::OsString>) {
        found.extend(command.get_arguments().filter_map(|arg| std::env::var_os(arg.get_env()?)));
        command.get_subcommands().for_each(|verb| gather(verb, found));
    }
    let mut found = Vec::new();
    gather(&with_verbs(&|_| true), &mut found);
    found.sort();
    found.dedup();
    found
}

/// The command with all arguments of all its verbs changed.
pub(crate) fn each(command: clap::Command, change: &dyn Fn(clap::Arg) -> clap::Arg) -> clap::Command {
    command.mut_subcommands(|verb| each(verb.mut_args(change), change))
}

impl Verb {
    /// Its name, as it is typed.
    pub(crate) fn name(&self) -> &'static str {
        match self {
            Self::Push(_) => "push",
            Self::Pack(_) => "pack",
            Self::Copy(_) => "copy",
            Self::Mirror(_) => "mirror",
            Self::Module(_) => "module",
            Self::Bundle(_) => "bundle",
            Self::Serve(_) => "serve",
            Self::Run(_) => "run",
            Self::Sign(_) => "sign",
            Self::Attach(_) => "attach",
            Self::Withdraw(_) => "withdraw",
            Self::Deprecate(_) => "deprecate",
            Self::Install(_) => "install",
            Self::Cache(_) => "cache",
            Self::Lock(_) => "lock",
            Self::Verify(_) => "verify",
            Self::Versions(_) => "versions",
            Self::Show(_) => "show",
            Self::Docs(_) => "docs",
            Self::Outdated(_) => "outdated",
            Self::Resolve(_) => "resolve",
            Self::Check(_) => "check",
            Self::Providers(_) => "providers",
            Self::Login(_) => "login",
            Self::Logout(_) => "logout",
            Self::Config(_) => "config",
            Self::Auth(_) => "auth",
            Self::Trust(_) => "trust",
            Self::Completions(_) => "completions",
            Self::Man(_) => "man",
            Self::Version(_) => "version",
            Self::Help(_) => "help",
        }
    }
}

/// A verb with its arguments.
type WithArguments = fn(clap::Command) -> clap::Command;

/// What adds the arguments of each verb. The program itself declares names alone ([`with_verbs`]).
const ARGUMENTS: [(&str, WithArguments); 32] = [
    ("push", PushArgs::augment_args),
    ("pack", PackArgs::augment_args),
    ("copy", CopyArgs::augment_args),
    ("mirror", MirrorArgs::augment_args),
    ("module", ModuleArgs::augment_args),
    ("bundle", BundleArgs::augment_args),
    ("serve", ServeArgs::augment_args),
    ("run", RunArgs::augment_args),
    ("sign", SignArgs::augment_args),
    ("attach", AttachArgs::augment_args),
    ("withdraw", WithdrawArgs::augment_args),
    ("deprecate", DeprecateArgs::augment_args),
    ("install", InstallArgs::augment_args),
    ("cache", CacheArgs::augment_args),
    ("lock", LockArgs::augment_args),
    ("verify", VerifyArgs::augment_args),
    ("versions", VersionsArgs::augment_args),
    ("show", ShowArgs::augment_args),
    ("docs", DocsArgs::augment_args),
    ("outdated", OutdatedArgs::augment_args),
    ("resolve", ResolveArgs::augment_args),
    ("check", CheckArgs::augment_args),
    ("providers", ProvidersArgs::augment_args),
    ("login", LoginArgs::augment_args),
    ("logout", LogoutArgs::augment_args),
    ("config", ConfigArgs::augment_args),
    ("auth", AuthArgs::augment_args),
    ("trust", TrustVerbArgs::augment_args),
    ("completions", CompletionsArgs::augment_args),
    ("man", ManArgs::augment_args),
    ("version", VersionArgs::augment_args),
    ("help", HelpArgs::augment_args),
];

/// The verbs.
#[derive(Debug, Subcommand)]
#[command(defer = true)]
pub(crate) enum Verb {
    /// Publish a provider's release files to an OCI repository
    Push(PushArgs),
    /// Write a provider's release files to an OCI image layout directory, without a registry
    Pack(PackArgs),
    /// Copy releases between repositories or directories, byte for byte
    Copy(CopyArgs),
    /// Keep the providers that you use in your own registry: verified, complete, up to date
    Mirror(Box<MirrorArgs>),
    /// Keep modules in OCI repositories
    Module(ModuleArgs),
    /// Carry releases in one file to a site without a network
    Bundle(BundleArgs),
    /// Serve providers and modules out of OCI repositories to Terraform and every OpenTofu
    Serve(Box<ServeArgs>),
    /// Run terraform, tofu or terragrunt with providers and modules from OCI repositories
    Run(Box<RunArgs>),
    /// Sign a release where it is, so that clients and cosign can verify it
    Sign(SignArgs),
    /// Put a Sigstore bundle, an SBOM or another file beside a release or module
    Attach(AttachArgs),
    /// Take a published version away, so that no client can choose it any more, and say why
    Withdraw(WithdrawArgs),
    /// Warn those who choose a published version
    Deprecate(DeprecateArgs),
    /// Install providers from OCI repositories, verified, and update the lock file
    Install(InstallArgs),
    /// Show, thin out or verify the packages that projects share
    Cache(CacheArgs),
    /// Bring the lock file up to date for all platforms
    Lock(LockArgs),
    /// Say who has signed a release, whether that is enough, and why or why not
    Verify(VerifyArgs),
    /// List the versions that a repository offers
    Versions(VersionsArgs),
    /// Show a release or module: its packages, checksums, time and signatures
    Show(ShowArgs),
    /// Print the documentation of a provider that lies beside its release
    Docs(Box<DocsArgs>),
    /// Show which providers of a configuration are behind, and what holds each back
    Outdated(OutdatedArgs),
    /// Say which repository a provider address belongs to, and by which rule
    Resolve(ResolveArgs),
    /// Say what is wrong with a repository, lock file or registry, and what OpenTofu will do
    Check(Box<CheckArgs>),
    /// Show which providers a configuration needs, module by module, and their places
    Providers(ProvidersArgs),
    /// Check a login with a registry, and store it where docker, podman and tofu find it
    Login(LoginArgs),
    /// Remove the login of a registry from docker's file or its helper
    Logout(LogoutArgs),
    /// Check the CLI configuration (.tofurc, .terraformrc), edit it, or print blocks for it
    Config(ConfigArgs),
    /// Explain which credentials are used for a repository, and why access works or fails
    Auth(AuthArgs),
    /// Show or renew what proves signatures by certificates
    Trust(TrustVerbArgs),
    /// Print the script that completes commands in bash, zsh, fish or PowerShell
    Completions(CompletionsArgs),
    /// Write man pages
    Man(ManArgs),
    /// Print the version of this program, its commit and how it was built
    Version(VersionArgs),
    /// Print a page about a topic, a verb, a rule or an error code
    Help(HelpArgs),
}
