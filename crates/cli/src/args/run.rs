//! `run`.

use std::ffi::OsString;
use std::path::PathBuf;

use clap::Args;

use super::{ModuleMappingArgs, Network, TrustArgs};

#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  Terraform, by the oci_mirror blocks of your CLI configuration (~/.tofurc):
    tofu-oci run -- terraform init

  Without such a file, for the providers of one host:
    tofu-oci run --template 'ghcr.io/acme/${namespace}/${type}' \\
      --include 'registry.example.com/*/*' -- terraform init

  Any OpenTofu since 1.6, and other programs that start one of them:
    tofu-oci run -- tofu init -upgrade
    tofu-oci run -- terragrunt run --all plan

  In CI, with a file of its own; the exit code is that of the command:
    tofu-oci run --cli-config ci.tofurc -- terraform init -lockfile=readonly

For as long as the command runs, a server on this machine answers it as a network mirror, with
providers from OCI repositories. The command gets a copy of your CLI configuration in which each
oci_mirror is that server; everything else in it counts as before. Modules of registries that
modules.toml maps to repositories come from there too. Nothing stays behind.

After the command `run` adds the checksums of all platforms to the lock file, for releases that are
signed by a key of trust.toml. The -- may be omitted: the first word that is no option starts the
command. `providers lock` reads no mirror: use `tofu-oci lock`. Exit codes: that of the command; 128
+ N if signal N ended it; 127 if there is no such command, 126 if it cannot be started. See
`tofu-oci help running`.")]
pub(crate) struct RunArgs {
    /// The command and its arguments, after the options of `run`
    #[arg(value_name = "COMMAND", trailing_var_arg = true, required = true)]
    pub(crate) command: Vec<OsString>,
    /// Where providers are: REGISTRY/REPOSITORY with ${hostname}, ${namespace} and ${type}
    ///
    /// It comes before the methods of your CLI configuration, which then are for all other providers.
    #[arg(long, value_name = "TEMPLATE")]
    pub(crate) template: Option<String>,
    /// Which providers the template is for (repeatable) [default: all]
    ///
    /// HOST/NAMESPACE/TYPE, HOST/NAMESPACE/*, HOST/*/* or */*/*.
    #[arg(long, value_name = "PATTERN", requires = "template")]
    pub(crate) include: Vec<String>,
    /// Read this CLI configuration alone, in place of ~/.tofurc and the others
    ///
    /// Terraform refuses a file with an oci_mirror block, so that a file for `run` has a place of its own.
    #[arg(long, value_name = "FILE")]
    pub(crate) cli_config: Option<PathBuf>,
    /// Leave the lock file as the command leaves it
    #[arg(long)]
    pub(crate) no_lock: bool,
    #[command(flatten)]
    pub(crate) mapping: ModuleMappingArgs,
    #[command(flatten)]
    pub(crate) trust: TrustArgs,
    #[command(flatten)]
    pub(crate) network: Network,
}
