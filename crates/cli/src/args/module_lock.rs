//! `module lock`.

use std::path::PathBuf;

use clap::Args;

use super::{OutputArgs, RegistryAccess, TrustArgs};

#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  Pin each oci:// module of this configuration to its digest:
    tofu-oci module lock

  In CI: change nothing, and fail if a call is not pinned or its tag has moved:
    tofu-oci module lock --check

  Take the newest versions that the comments admit, and look at them first:
    tofu-oci module lock --upgrade --dry-run

A call that is pinned names the digest, and its comment the version. You may add a constraint to the
comment, which --upgrade heeds, and a comment of your own:
  source = \"oci://ghcr.io/acme/network?digest=sha256:…\" # 1.4.0 (~> 1.4) # ask Bob

`module lock` changes the source and the comment; everything else in the file stays. It writes
nothing unless it could look at all calls.")]
#[expect(clippy::struct_excessive_bools, reason = "each is an option of the command line")]
pub(crate) struct ModuleLockArgs {
    /// Folders with configurations; the local modules that they call belong to them [default: the current folder]
    ///
    /// Override files and files in JSON count too. Modules that `tofu init` has installed are left alone.
    #[arg(value_name = "DIR")]
    pub(crate) dirs: Vec<PathBuf>,
    /// Work in this directory: its configuration, its CLI configuration; each folder is below it
    #[arg(long, value_name = "DIR")]
    pub(crate) chdir: Option<PathBuf>,
    /// Take the newest release that the constraint in the comment admits; all releases, if it has none
    ///
    /// A call with a tag that is not a version, such as main, follows the tag.
    #[arg(long)]
    pub(crate) upgrade: bool,
    /// Accept what a tag names now, if it named another package when the call was pinned
    ///
    /// Without this option a version whose tag has moved is an error: its publisher has replaced it.
    #[arg(long)]
    pub(crate) accept_moved: bool,
    /// Change nothing; name each call that is not pinned or whose pin no longer holds, and exit with 1 if there is one
    #[arg(long, conflicts_with_all = ["upgrade", "accept_moved", "dry_run"])]
    pub(crate) check: bool,
    /// Print what would be written and change nothing
    #[arg(long)]
    pub(crate) dry_run: bool,
    #[command(flatten)]
    pub(crate) trust: TrustArgs,
    #[command(flatten)]
    pub(crate) access: RegistryAccess,
    #[command(flatten)]
    pub(crate) output: OutputArgs,
}
