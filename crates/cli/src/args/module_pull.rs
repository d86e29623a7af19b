//! `module pull` and `module versions`.

use std::path::PathBuf;

use clap::Args;

use super::number::number;
use super::{ModuleMappingArgs, OutputArgs, PredecessorArgs, RegistryAccess, TrustArgs};

#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  tofu-oci module pull 'oci://ghcr.io/acme/network?tag=1.4.0' network
  tofu-oci module pull 'oci://ghcr.io/acme/network//dns?tag=1.4.0' dns
  tofu-oci module pull registry.example.com/acme/network/aws@'~> 1.4' network
  tofu-oci module pull 'git::https://example.com/network.git//dns?ref=v1.4.0' dns
  tofu-oci module pull oci:layout:1.4.0 network

DIR gets the files of the module; with //SUB those of that folder alone. They are unpacked beside DIR
and renamed into place when all of them are there and verified. If DIR has the same files already,
nothing changes; if it has others, `module pull` refuses it without --force. A module in an OCI
repository is judged by the rules for `modules` in trust.toml before it is downloaded.")]
pub(crate) struct ModulePullArgs {
    /// The module: oci://REPOSITORY[//SUB][?tag=TAG|?digest=DIGEST], HOST/NAMESPACE/NAME/SYSTEM[@CONSTRAINT],
    /// git::URL[//SUB][?ref=REF] or oci:DIR[:VERSION]
    ///
    /// The first form is that of `source` in a configuration; without a tag it means the tag latest. The second is a module of
    /// a registry (modules.v1 of its host): the newest version that the constraint admits, and a prerelease only by its exact
    /// version; modules.toml may say in which repository it is kept. git::URL is a git repository, fetched by the program git; ref is a
    /// tag, a branch or a commit. oci:DIR is an OCI image layout directory, which takes //SUB, ?tag= and ?digest= too.
    #[arg(value_name = "SOURCE")]
    pub(crate) source: String,
    /// The folder that becomes the module; it is created
    #[arg(value_name = "DIR")]
    pub(crate) dir: PathBuf,
    /// Replace everything that is in DIR
    ///
    /// A symbolic link, a folder with a .git in it and the current folder are never replaced.
    #[arg(long)]
    pub(crate) force: bool,
    #[command(flatten)]
    pub(crate) mapping: ModuleMappingArgs,
    #[command(flatten)]
    pub(crate) trust: TrustArgs,
    #[command(flatten)]
    pub(crate) access: RegistryAccess,
    #[command(flatten)]
    pub(crate) output: OutputArgs,
}

#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  tofu-oci module versions oci://ghcr.io/acme/network
  tofu-oci module versions registry.example.com/acme/network/aws
  tofu-oci module versions registry.example.com/acme/network/aws@'~> 1.4' --limit 3
  tofu-oci module versions oci:layout

Newest first. The versions of a repository are its tags that are written as a version in full, such
as 1.4.0; a note names the other tags, which a source can name too (?tag=main).")]
pub(crate) struct ModuleVersionsArgs {
    /// The module: oci://REPOSITORY, HOST/NAMESPACE/NAME/SYSTEM[@CONSTRAINT] or oci:DIR
    #[arg(value_name = "SOURCE")]
    pub(crate) source: String,
    /// List the newest N versions only
    #[arg(long, value_name = "N", value_parser = number::<u16, 1, 65535>)]
    pub(crate) limit: Option<u16>,
    #[command(flatten)]
    pub(crate) mapping: ModuleMappingArgs,
    #[command(flatten)]
    pub(crate) predecessors: PredecessorArgs,
    #[command(flatten)]
    pub(crate) access: RegistryAccess,
    #[command(flatten)]
    pub(crate) output: OutputArgs,
}
