//! `module`.

use std::path::PathBuf;

use clap::{Args, Subcommand};
use tofu_oci_types::Version;

use super::names::strict_version;
use super::{IdentityArgs, Network, OutputArgs};

/// Arguments of `module`.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  tofu-oci module push network ghcr.io/acme/network --version 1.4.0

A module is one package in an OCI repository, which OpenTofu 1.10 and later install:
  source = \"oci://ghcr.io/acme/network?tag=1.4.0\"")]
pub(crate) struct ModuleArgs {
    #[command(subcommand)]
    pub(crate) verb: ModuleVerb,
}

/// The verbs of `module`.
#[derive(Debug, Subcommand)]
pub(crate) enum ModuleVerb {
    /// Publish a folder with a module to an OCI repository
    Push(Box<ModulePushArgs>),
}

/// Arguments of `module push`.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  tofu-oci module push network ghcr.io/acme/network --version 1.4.0
  tofu-oci module push . 127.0.0.1:5000/acme/network:1.4.0 --dry-run
  tofu-oci module push network oci:layout --version 1.4.0

`module push` writes the version under its one canonical tag (1.4.0; a + becomes _). The same files
give the same bytes on every machine: pushing them again changes nothing and ends with 0.")]
pub(crate) struct ModulePushArgs {
    /// The folder with the module
    #[arg(value_name = "DIR")]
    pub(crate) dir: PathBuf,
    /// Where to publish: REGISTRY/REPOSITORY, or oci:DIR for an OCI image layout directory
    #[arg(value_name = "REPOSITORY")]
    pub(crate) destination: String,
    /// The version, if REPOSITORY does not contain it
    #[arg(long, value_name = "V", value_parser = strict_version)]
    pub(crate) version: Option<Version>,
    /// Move the tag if it names another module already
    #[arg(long)]
    pub(crate) replace_tag: bool,
    /// Print what would be written and change nothing
    #[arg(long)]
    pub(crate) dry_run: bool,
    #[command(flatten)]
    pub(crate) network: Network,
    #[command(flatten)]
    pub(crate) identity: IdentityArgs,
    #[command(flatten)]
    pub(crate) output: OutputArgs,
}
