//! `lock`.

use std::path::PathBuf;

use clap::Args;
use tofu_oci_types::Platform;

use super::number::number;
use super::{ConfigTestsArgs, OutputArgs, RegistryAccess, RenameArgs, TrustArgs, query::LookupArgs};

#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  All providers of this configuration, for every platform that they are released for:
    tofu-oci lock

  For three platforms, from a registry that mirrors everything:
    tofu-oci lock --from 'ghcr.io/acme/mirror/${namespace}/${type}' \\
      --platform linux_amd64 --platform linux_arm64 --platform darwin_arm64

  One provider, with no configuration at hand:
    tofu-oci lock registry.example.com/acme/widget@'~> 1.4' --from ghcr.io/acme/widget

  In CI: change nothing, and fail if `tofu-oci lock` would change more than what every init removes:
    tofu-oci lock --check

If a trusted signature covers a package, `lock` records it without a download. It downloads every
other package, verifies it as `install` would, records it and deletes it. The lock file always wins:
`lock` refuses a release that is not the locked one.")]
pub(crate) struct LockArgs {
    /// Providers, HOST/NAMESPACE/TYPE[@CONSTRAINT] [default: what the .tf and .tofu files require]
    ///
    /// A constraint is written as in a configuration, such as @1.4.0 or @'~> 1.4'. The providers need no configuration;
    /// if there is one, its constraints apply too. Entries of other providers stay.
    #[arg(value_name = "ADDR[@CONSTRAINT]")]
    pub(crate) providers: Vec<String>,
    #[command(flatten)]
    pub(crate) lookup: LookupArgs,
    /// Work in this directory: its configuration, its lock file
    #[arg(long, value_name = "DIR")]
    pub(crate) chdir: Option<PathBuf>,
    #[command(flatten)]
    pub(crate) tests: ConfigTestsArgs,
    /// A platform to record (repeatable) [default: all that each release offers]
    #[arg(long, value_name = "OS_ARCH")]
    pub(crate) platform: Vec<Platform>,
    /// Change nothing; show what would change, and exit with 1 if anything would
    ///
    /// If only `ch:` lines would change, which every init removes, the exit code is 0, unless trust.toml contains
    /// `manifest_checksums = "required"`.
    #[arg(long)]
    pub(crate) check: bool,
    /// Write no `ch:` lines, and remove those of the locked providers
    ///
    /// It is for teams whose every init removes them. `manifest_checksums = "off"` in trust.toml does it for good.
    #[arg(long)]
    pub(crate) no_ch: bool,
    /// Choose the newest admitted versions, whatever the lock file names
    #[arg(long)]
    pub(crate) upgrade: bool,
    /// How many packages to download at a time, 1 to 32
    ///
    /// Each needs room in the temporary folder. Small packages do not count.
    #[arg(long, value_name = "N", hide_short_help = true, value_parser = number::<u8, 1, 32>, allow_hyphen_values = true)]
    pub(crate) jobs: Option<u8>,
    #[command(flatten)]
    pub(crate) rename: RenameArgs,
    #[command(flatten)]
    pub(crate) trust: TrustArgs,
    #[command(flatten)]
    pub(crate) access: RegistryAccess,
    #[command(flatten)]
    pub(crate) output: OutputArgs,
}
