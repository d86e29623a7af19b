//! `versions`, `resolve`, and how an address becomes a repository.

use std::path::PathBuf;

use clap::Args;
use tofu_oci_types::Platform;

use super::{ModuleMappingArgs, OutputArgs, PredecessorArgs, RegistryAccess, TrustArgs, number::number};

/// How an address becomes a repository.
#[derive(Clone, Debug, Default, Args)]
pub(crate) struct LookupArgs {
    /// The repository, folder, bundle or mirror to look in
    ///
    /// REGISTRY/REPOSITORY and oci:DIR name a repository. A template of either contains ${hostname}, ${namespace} and
    /// ${type}, as in OpenTofu's `oci_mirror` blocks. static:DIR is a folder of packages (a filesystem mirror, or what
    /// `providers mirror` writes), bundle:FILE a bundle, and https://HOST/PATH/ a network mirror. Without this option and the variable
    /// TOFU_OCI_FROM the CLI configuration (~/.tofurc and the like) says where to look; see `tofu-oci help configuration`.
    #[arg(long, value_name = "PLACE", env = "TOFU_OCI_FROM", hide_env = true)]
    pub(crate) from: Option<String>,
    /// Look only in this folder of packages, as OpenTofu's -plugin-dir (repeatable)
    ///
    /// The folder takes the place of all installation methods of the CLI configuration. It is relative to the working
    /// directory, that of --chdir too.
    #[arg(long, value_name = "DIR", conflicts_with = "from", hide_short_help = true)]
    pub(crate) plugin_dir: Vec<PathBuf>,
    /// The reserved suffix of hosts that name a registry [default: oci.opentofu.org]
    ///
    /// With it, example.com.SUFFIX/foo/bar is the repository example.com/foo/opentofu-provider-bar. A block `tofu_oci`
    /// with `magic_suffix` in the CLI configuration changes the default.
    #[arg(long, value_name = "SUFFIX", env = "TOFU_OCI_MAGIC_SUFFIX", hide_short_help = true)]
    pub(crate) magic_suffix: Option<String>,
}

#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  tofu-oci versions ghcr.io/acme/opentofu-provider-widget
  tofu-oci versions oci:widget-layout
  tofu-oci versions registry.example.com/acme/widget --from 'ghcr.io/mirror/${namespace}/${type}'
  tofu-oci versions registry.example.com/acme/widget --provider      # by the CLI configuration
  tofu-oci versions ghcr.io.oci.opentofu.org/acme/widget

  With the time, the platforms and the signatures of the newest ten:
    tofu-oci versions ghcr.io/acme/opentofu-provider-widget --long --limit 10

Newest first. Versions that are no providers, such as container images, are left out with a note:
`versions` looks into the newest twenty, and into all if one of those is something else. The
argument is a provider address if --provider or --from is given, if its host ends in the magic
suffix, or if an `include` of the CLI configuration names its host. Otherwise it is a repository.")]
pub(crate) struct VersionsArgs {
    /// A provider address, or a repository (REGISTRY/REPOSITORY or oci:DIR)
    #[arg(value_name = "ADDR|REPOSITORY")]
    pub(crate) subject: String,
    #[command(flatten)]
    pub(crate) lookup: LookupArgs,
    /// Read the argument as a provider address, even if it could be a repository
    #[arg(long)]
    pub(crate) provider: bool,
    /// Look into each version and list its platforms too
    #[arg(long)]
    pub(crate) platforms: bool,
    /// Look into each version and list when it was made, its protocols, who signed it (by trust.toml) and its platforms
    #[arg(short, long, conflicts_with = "platforms")]
    pub(crate) long: bool,
    /// List the newest N versions only
    #[arg(long, value_name = "N", value_parser = number::<u16, 1, 65535>)]
    pub(crate) limit: Option<u16>,
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
  tofu-oci resolve ghcr.io.oci.opentofu.org/acme/widget
  tofu-oci resolve registry.example.com/acme/widget --from 'ghcr.io/mirror/${namespace}/${type}'
  tofu-oci resolve registry.example.com/acme/widget@'~> 1.4' --explain
  tofu-oci resolve registry.example.com/acme/network/aws@'~> 1.4' --explain      # a module
  tofu-oci resolve 'oci://ghcr.io/acme/network?tag=1.4.0'                        # a module

Of a provider, one place a line, in the order in which tofu-oci asks them. Without --explain,
`resolve` makes one request at most: it asks the host of the address for its services if the CLI
configuration leaves the host to `direct`, unless the host ends in the magic suffix. With --explain
it asks every place what it offers, and looks for the version in the lock file if there is one; the
exit code is 0 even if nothing would be installed.

Of a module, the version that `module pull` takes, its place and its digest. --explain says which
rule of modules.toml counts, what the place offers, and what holds newer versions back.")]
pub(crate) struct ResolveArgs {
    /// The provider, [HOST/]NAMESPACE/TYPE, or the module, HOST/NAMESPACE/NAME/SYSTEM; also with @CONSTRAINT
    ///
    /// A constraint is written as @'~> 1.4'. Without --explain it counts for modules alone. A module may also be an oci:// source, as in
    /// a configuration.
    #[arg(value_name = "ADDR")]
    pub(crate) subject: String,
    #[command(flatten)]
    pub(crate) lookup: LookupArgs,
    #[command(flatten)]
    pub(crate) mapping: ModuleMappingArgs,
    #[command(flatten)]
    pub(crate) predecessors: PredecessorArgs,
    /// Explain every method or rule: what it offers, and which one counts
    ///
    /// Of a provider the output says for each method whether it is for the address, what it offers, which one wins and why, and where
    /// OpenTofu would stop instead.
    #[arg(long)]
    pub(crate) explain: bool,
    /// The platform to explain for [default: this machine's]
    #[arg(long, value_name = "OS_ARCH", requires = "explain")]
    pub(crate) platform: Option<Platform>,
    /// Explain what an upgrade would do: the version in the lock file does not count
    #[arg(long, requires = "explain")]
    pub(crate) upgrade: bool,
    /// Read the CLI configuration, modules.toml, and with --explain the lock file, as `tofu -chdir=DIR` would
    #[arg(long, value_name = "DIR")]
    pub(crate) chdir: Option<PathBuf>,
    #[command(flatten)]
    pub(crate) access: RegistryAccess,
    #[command(flatten)]
    pub(crate) output: OutputArgs,
}
