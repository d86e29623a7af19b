//! What people type.
#![allow(
    rustdoc::broken_intra_doc_links,
    reason = "the texts are help for a terminal, in which `HOST[:PORT]` is not a link"
)]

mod auth;
mod check;
mod common;
mod config;
mod duration;
mod host;
mod identity;
mod install;
mod lock;
mod login;
mod names;
mod providers;
mod publish;
mod query;
mod sign;
#[cfg(test)]
mod tests;
mod trust;
mod verify;

use clap::{CommandFactory as _, FromArgMatches as _, Parser, Subcommand};

pub(crate) use auth::{AuthArgs, AuthExplainArgs, AuthVerb};
pub(crate) use check::{CheckArgs, FailOn, FindingsFormat};
pub(crate) use common::{Global, Network, OutputArgs};
pub(crate) use config::{ConfigArgs, ConfigCheckArgs, ConfigSnippetArgs, ConfigVerb};
pub(crate) use duration::Timeout;
pub(crate) use host::HostParser;
pub(crate) use identity::IdentityArgs;
pub(crate) use install::InstallArgs;
pub(crate) use lock::LockArgs;
pub(crate) use login::{LoginArgs, LogoutArgs};
pub(crate) use providers::ProvidersArgs;
pub(crate) use publish::{CopyArgs, H1Choice, PackArgs, PushArgs, ReleaseArgs};
pub(crate) use query::{LookupArgs, ResolveArgs, VersionsArgs};
pub(crate) use sign::{Attach, SignArgs};
pub(crate) use trust::TrustArgs;
pub(crate) use verify::VerifyArgs;

/// Keeps OpenTofu and Terraform providers in any OCI registry.
#[derive(Debug, Parser)]
#[command(
    name = "tofu-oci",
    version,
    subcommand_required = true,
    arg_required_else_help = true,
    max_term_width = 100,
    after_help = "\
Examples:
  Publish a GoReleaser dist folder, then install it back:
    tofu-oci push dist ghcr.io/acme/widget --address registry.example.com/acme/widget
    tofu-oci install registry.example.com/acme/widget --from ghcr.io/acme/widget

  The same with no registry at all, in a directory:
    tofu-oci pack dist oci:widget-layout --address registry.example.com/acme/widget
    tofu-oci install registry.example.com/acme/widget --from oci:widget-layout

Exit codes: 0 done; 1 you can fix it (not found, refused, does not match); 2 wrong usage or
configuration; 3 unexpected (network, machine); 130 interrupted."
)]
pub(crate) struct Args {
    #[command(flatten)]
    pub(crate) global: Global,
    #[command(subcommand)]
    pub(crate) verb: Verb,
}

impl Args {
    /// What was typed and what the environment says.
    pub(crate) fn read(declared: &clap::Command) -> Result<(Self, clap::ArgMatches), clap::Error> {
        let matches = declared.clone().try_get_matches()?;
        Ok((Self::from_arg_matches(&matches)?, matches))
    }
}

/// The declared command. An empty variable counts as unset, as scripts mean it.
pub(crate) fn command() -> clap::Command {
    let is_empty = |arg: &clap::Arg| {
        arg.get_env().is_some_and(|name| std::env::var_os(name).is_some_and(|value| value.is_empty()))
    };
    let unset = |arg: clap::Arg| if is_empty(&arg) { arg.env(None::<&'static str>) } else { arg };
    each(Args::command(), &unset)
}

/// Whether JSON lines are asked for, as far as arguments say that may be wrong elsewhere.
pub(crate) fn ask_for_json() -> bool {
    let typed: Vec<_> = std::env::args_os().skip(1).take_while(|word| word != "--").collect();
    let format = typed.windows(2).any(|words| words[0] == "--format" && words[1] == "json");
    format || typed.iter().any(|word| word == "--json" || word == "--format=json")
}

/// The values of the variables of arguments.
pub(crate) fn variables() -> Vec<std::ffi::OsString> {
    fn gather(command: &clap::Command, found: &mut Vec<std::ffi::OsString>) {
        found.extend(command.get_arguments().filter_map(|arg| std::env::var_os(arg.get_env()?)));
        command.get_subcommands().for_each(|verb| gather(verb, found));
    }
    let mut found = Vec::new();
    gather(&Args::command(), &mut found);
    found.sort();
    found.dedup();
    found
}

/// The command with all arguments of all its verbs changed.
fn each(command: clap::Command, change: &dyn Fn(clap::Arg) -> clap::Arg) -> clap::Command {
    let verbs: Vec<String> = command.get_subcommands().map(|verb| verb.get_name().to_owned()).collect();
    verbs
        .into_iter()
        .fold(command, |command, verb| command.mut_subcommand(verb, |verb| each(verb.mut_args(change), change)))
}

impl Verb {
    /// Its name, as it is typed.
    pub(crate) fn name(&self) -> &'static str {
        match self {
            Self::Push(_) => "push",
            Self::Pack(_) => "pack",
            Self::Copy(_) => "copy",
            Self::Sign(_) => "sign",
            Self::Install(_) => "install",
            Self::Lock(_) => "lock",
            Self::Verify(_) => "verify",
            Self::Versions(_) => "versions",
            Self::Resolve(_) => "resolve",
            Self::Check(_) => "check",
            Self::Providers(_) => "providers",
            Self::Login(_) => "login",
            Self::Logout(_) => "logout",
            Self::Config(_) => "config",
            Self::Auth(_) => "auth",
        }
    }
}

/// The verbs.
#[derive(Debug, Subcommand)]
pub(crate) enum Verb {
    /// Publish a provider's release files to an OCI repository
    Push(PushArgs),
    /// Write a provider's release files to an OCI image layout directory, without a registry
    Pack(PackArgs),
    /// Copy releases between repositories or directories, byte for byte
    Copy(CopyArgs),
    /// Sign a release where it is, so that clients and cosign can verify it
    Sign(SignArgs),
    /// Install providers from OCI repositories, verified, and update the lock file
    Install(InstallArgs),
    /// Bring the lock file up to date for all platforms
    Lock(LockArgs),
    /// Say who has signed a release, whether that is enough, and why or why not
    Verify(VerifyArgs),
    /// List the versions that a repository offers
    Versions(VersionsArgs),
    /// Say which repository a provider address belongs to, and by which rule
    Resolve(ResolveArgs),
    /// Say what is wrong with a repository, a lock file or a registry, and what OpenTofu makes of it
    Check(Box<CheckArgs>),
    /// Show which providers a configuration needs, module by module, and where each comes from
    Providers(ProvidersArgs),
    /// Check a login with a registry, and store it where docker, podman and tofu find it
    Login(LoginArgs),
    /// Remove the login of a registry from docker's file or its helper
    Logout(LogoutArgs),
    /// Check the CLI configuration (.tofurc, .terraformrc), or print blocks for it
    Config(ConfigArgs),
    /// Explain which credentials are used for a repository, and why access works or fails
    Auth(AuthArgs),
}
