//! `outdated`.

use std::path::PathBuf;

use clap::Args;

use super::{ConfigTestsArgs, OutputArgs, PredecessorArgs, RegistryAccess, query::LookupArgs};

#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  The providers of the configuration in this folder that are behind:
    tofu-oci outdated

  Of another folder, from a registry that mirrors everything:
    tofu-oci outdated --chdir platform --from 'ghcr.io/acme/mirror/${namespace}/${type}'

  In CI: exit code 1 if a provider is behind:
    tofu-oci outdated --exit-code

For each provider: the locked version, the newest that the constraints of all modules admit
(`install --upgrade` moves to it), and the newest of all. If a constraint keeps you from the newest
one, its module and line are named. A pre-release counts only if a constraint names it.
`outdated` reads lists of versions and changes nothing. Without --exit-code it exits with 0,
whatever it finds.")]
pub(crate) struct OutdatedArgs {
    /// Look at this directory: its configuration and its lock file
    #[arg(long, value_name = "DIR")]
    pub(crate) chdir: Option<PathBuf>,
    #[command(flatten)]
    pub(crate) tests: ConfigTestsArgs,
    /// Exit with 1 if a provider is behind, not locked, withdrawn or deprecated, if its versions cannot be listed, or if a
    /// module is not installed
    #[arg(long)]
    pub(crate) exit_code: bool,
    #[command(flatten)]
    pub(crate) lookup: LookupArgs,
    #[command(flatten)]
    pub(crate) predecessors: PredecessorArgs,
    #[command(flatten)]
    pub(crate) access: RegistryAccess,
    #[command(flatten)]
    pub(crate) output: OutputArgs,
}
