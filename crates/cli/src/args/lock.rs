//! `lock`.

use std::path::PathBuf;

use clap::Args;
use tofu_oci_types::{Platform, ProviderAddr};

use super::{Identity, Network, Output, query::Lookup};
use crate::trust::TrustArgs;

/// Arguments of `lock`.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  All providers of this configuration, for every platform that they are released for:
    tofu-oci lock

  For three platforms, from a registry that mirrors everything:
    tofu-oci lock --from 'ghcr.io/acme/mirror/${namespace}/${type}' \\
      --platform linux_amd64 --platform linux_arm64 --platform darwin_arm64

  In CI: change nothing, and fail where the lock file is not what `tofu-oci lock` writes:
    tofu-oci lock --check

What a trusted signature covers is recorded without downloading anything. Every other package is
downloaded, verified as an installation would, recorded and thrown away. What the lock file has
already always wins: a release that is not the locked one is refused.")]
pub(crate) struct LockArgs {
    /// Providers to lock, HOST/NAMESPACE/TYPE. With none, all that the .tf and .tofu files require; the entries of others
    /// stay
    #[arg(value_name = "ADDR")]
    pub(crate) providers: Vec<ProviderAddr>,
    #[command(flatten)]
    pub(crate) lookup: Lookup,
    /// Work in this directory: its configuration, its lock file
    #[arg(long, value_name = "DIR")]
    pub(crate) chdir: Option<PathBuf>,
    /// A platform that the lock file must be complete for (repeatable) [default: all that each release offers]
    #[arg(long, value_name = "OS_ARCH")]
    pub(crate) platform: Vec<Platform>,
    /// Change nothing; show what would change, and exit with code 1 where something would
    #[arg(long)]
    pub(crate) check: bool,
    /// Choose the newest admitted versions, even when the lock file names others
    #[arg(long)]
    pub(crate) upgrade: bool,
    /// How many packages are downloaded at a time, 1 to 32; so many lie in the temporary folder. Small ones do not count
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u8).range(1..=32))]
    pub(crate) jobs: Option<u8>,
    #[command(flatten)]
    pub(crate) trust: TrustArgs,
    #[command(flatten)]
    pub(crate) network: Network,
    #[command(flatten)]
    pub(crate) identity: Identity,
    #[command(flatten)]
    pub(crate) output: Output,
}
