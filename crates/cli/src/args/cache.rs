//! `cache`.

use clap::{Args, Subcommand};
use tofu_oci_mirror::MinAge;
use tofu_oci_types::ByteSize;

use super::OutputArgs;

#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  tofu-oci cache info
  tofu-oci cache prune --unused-for 30d
  tofu-oci cache verify

`install` keeps unpacked packages in this cache, so that the next project needs neither a download
nor disk space for them. See `tofu-oci help caching`.")]
pub(crate) struct CacheArgs {
    #[command(subcommand)]
    pub(crate) verb: CacheVerb,
}

#[derive(Debug, Subcommand)]
pub(crate) enum CacheVerb {
    /// Show where the package cache is, and what is in it
    Info(CacheInfoArgs),
    /// Remove the packages that were used longest ago, by age or by size
    Prune(CachePruneArgs),
    /// Read every byte of the package cache, and remove what was changed
    Verify(CacheVerifyArgs),
}

impl CacheArgs {
    /// How its results are printed.
    pub(crate) fn output(&self) -> &OutputArgs {
        match &self.verb {
            CacheVerb::Info(CacheInfoArgs { output })
            | CacheVerb::Prune(CachePruneArgs { output, .. })
            | CacheVerb::Verify(CacheVerifyArgs { output }) => output,
        }
    }
}

#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  tofu-oci cache info
  tofu-oci cache info --json

It prints the folder, and each package with its size and the day on which a project last got it.")]
pub(crate) struct CacheInfoArgs {
    #[command(flatten)]
    pub(crate) output: OutputArgs,
}

#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  What no project got for 30 days:
    tofu-oci cache prune

  Only as much as makes the others fit into 20 GB; print it first:
    tofu-oci cache prune --max-size 20GB --dry-run

  Every package:
    tofu-oci cache prune --max-size 0

Projects keep what they have installed, and other runs of tofu-oci may work meanwhile. --unused-for
keeps packages whose files a project still shares by hard links: removing them would free nothing.
--max-size removes them too; the disk has more room after the project is gone.
See `tofu-oci help caching`.")]
pub(crate) struct CachePruneArgs {
    /// Remove packages that no project got for this time, such as 30d or 36h [default: 30d without --max-size]
    ///
    /// A time has a number with d, h, m or s, or several of them (1d12h); 0 is any time. Packages whose files a project shares by
    /// hard links stay.
    #[arg(long, value_name = "AGE")]
    pub(crate) unused_for: Option<MinAge>,
    /// Remove the least recently used packages until the others have at most so many bytes, such as 20GB
    ///
    /// A size is a whole number with B, KB, MB, GB, TB, KiB, MiB, GiB or TiB, or without a unit in bytes. Packages that projects
    /// share go, too.
    #[arg(long, value_name = "SIZE")]
    pub(crate) max_size: Option<ByteSize>,
    /// Print what would be removed; remove nothing
    #[arg(long)]
    pub(crate) dry_run: bool,
    #[command(flatten)]
    pub(crate) output: OutputArgs,
}

#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  tofu-oci cache verify
  tofu-oci cache verify --json

A package with a file that is missing or has other bytes is removed, so that the next `install`
fetches it anew. The exit code is then 1. `install` makes the same check itself for files whose size
or times have changed; this verb also finds what a broken disk has changed.")]
pub(crate) struct CacheVerifyArgs {
    #[command(flatten)]
    pub(crate) output: OutputArgs,
}
