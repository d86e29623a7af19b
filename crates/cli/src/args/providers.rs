//! `providers`.

use std::path::PathBuf;

use clap::Args;

use super::{ConfigTestsArgs, ModuleMappingArgs, OutputArgs, PredecessorArgs, query::LookupArgs};

#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  The providers of the configuration in this folder, module by module:
    tofu-oci providers

  Where each of them would be installed from:
    tofu-oci providers --chdir platform --from 'ghcr.io/acme/mirror/${namespace}/${type}'

  One JSON object for each module and provider, for scripts:
    tofu-oci providers --json | jq -r 'select(.event == \"provider\") | .address'

The tree is the one that `tofu providers` and `terraform providers` print. Below it are each
module's local names and which configuration it gets under each (a provider block, one that is
passed, an inherited one, or none) and where the module itself comes from (modules.toml says so for
modules of registries), then each provider's locked version and its place. `providers`
makes no request and writes nothing. It looks into modules from elsewhere if
`tofu get` or `terraform get` has fetched them. The exit code is 1 if OpenTofu would refuse the
configuration, and 2 if a file of it or of the CLI configuration cannot be read.")]
pub(crate) struct ProvidersArgs {
    /// Look at this directory: its configuration, its lock file, its state, its .terraform
    #[arg(long, value_name = "DIR")]
    pub(crate) chdir: Option<PathBuf>,
    #[command(flatten)]
    pub(crate) tests: ConfigTestsArgs,
    #[command(flatten)]
    pub(crate) lookup: LookupArgs,
    #[command(flatten)]
    pub(crate) mapping: ModuleMappingArgs,
    #[command(flatten)]
    pub(crate) predecessors: PredecessorArgs,
    #[command(flatten)]
    pub(crate) output: OutputArgs,
}
