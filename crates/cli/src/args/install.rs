//! `install`.

use std::path::PathBuf;

use clap::{Args, ValueEnum};
use tofu_oci_installer::LockWrite;
use tofu_oci_types::Platform;

use super::{ConfigTestsArgs, OutputArgs, RegistryAccess, RenameArgs, TrustArgs, query::LookupArgs};

#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  What the configuration in this folder requires, from a registry that mirrors everything:
    tofu-oci install --from 'ghcr.io/acme/mirror/${namespace}/${type}'

  One provider into terraform.d/plugins, from which plain `terraform init` and `tofu init` install
  with no configuration and no network:
    tofu-oci install registry.example.com/acme/widget@'~> 1.4' --vendor --from ghcr.io/acme/widget

  In CI: install what the lock file says, and fail if it does not fit the configuration:
    tofu-oci install --locked

  Into a filesystem mirror; only print what would happen:
    tofu-oci install registry.example.com/acme/widget --into mirror --dry-run

`install` checks size, digest, archive structure, checksums and the lock file's hashes before a
package becomes visible. It leaves packages that are installed already as they are.")]
#[expect(clippy::struct_excessive_bools, reason = "each is a switch of its own")]
pub(crate) struct InstallArgs {
    /// Providers, HOST/NAMESPACE/TYPE[@CONSTRAINT] [default: what the .tf and .tofu files require]
    ///
    /// A constraint is written as in a configuration, such as @1.4.0 or @'~> 1.4'.
    #[arg(value_name = "ADDR[@CONSTRAINT]")]
    pub(crate) providers: Vec<String>,
    #[command(flatten)]
    pub(crate) lookup: LookupArgs,
    /// Work in this directory: its configuration, its lock file, its .terraform
    #[arg(long, value_name = "DIR")]
    pub(crate) chdir: Option<PathBuf>,
    #[command(flatten)]
    pub(crate) tests: ConfigTestsArgs,
    /// The platform to install for [default: this machine's]
    ///
    /// It is repeatable with --into and --vendor.
    #[arg(long, value_name = "OS_ARCH")]
    pub(crate) platform: Vec<Platform>,
    /// Install into a filesystem mirror at DIR instead of .terraform/providers
    #[arg(long, value_name = "DIR", conflicts_with = "vendor")]
    pub(crate) into: Option<PathBuf>,
    /// Keep packages as zip files in the filesystem mirror
    #[arg(long, requires = "into", conflicts_with = "vendor")]
    pub(crate) packed: bool,
    /// Install into terraform.d/plugins, where terraform looks by itself
    ///
    /// terraform and tofu look in that folder of the working directory without configuration.
    #[arg(long)]
    pub(crate) vendor: bool,
    /// Choose the newest admitted version, whatever the lock file names
    #[arg(long)]
    pub(crate) upgrade: bool,
    /// Change no lock file; exit with 1 if it does not fit the configuration
    ///
    /// If the lock file is missing, lacks a required provider or has one that is no longer required, `install` shows the
    /// difference and installs nothing. It does not change the pins either. Checksums that the lock file lacks are only a warning. What is installed and locked
    /// causes no request.
    #[arg(long, conflicts_with = "upgrade")]
    pub(crate) locked: bool,
    /// The same as --locked, in OpenTofu's words: --lockfile=readonly
    #[arg(long, value_name = "MODE", conflicts_with = "upgrade", hide_short_help = true)]
    pub(crate) lockfile: Option<LockFileMode>,
    /// Print what would be installed and what would be locked; write nothing
    ///
    /// It also prints from where, and how many bytes would be downloaded. It asks the registry as the installation would, and downloads no package.
    #[arg(long)]
    pub(crate) dry_run: bool,
    /// Use no package cache: fetch every package, and keep none for other projects
    ///
    /// The cache is in the folder that TOFU_OCI_CACHE_DIR names, else in the cache folder of your user. See `tofu-oci help caching`.
    #[arg(long, hide_short_help = true)]
    pub(crate) no_cache: bool,
    #[command(flatten)]
    pub(crate) rename: RenameArgs,
    #[command(flatten)]
    pub(crate) trust: TrustArgs,
    #[command(flatten)]
    pub(crate) access: RegistryAccess,
    #[command(flatten)]
    pub(crate) output: OutputArgs,
}

/// What OpenTofu's `-lockfile` knows.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum LockFileMode {
    Readonly,
}

impl InstallArgs {
    /// Whether the lock file and the pins may be written.
    pub(crate) fn write(&self) -> LockWrite {
        if self.locked || self.lockfile.is_some() { LockWrite::Compare } else { LockWrite::Write }
    }
}
