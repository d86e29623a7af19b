//! `module mirror`.

use std::path::PathBuf;

use clap::Args;
use tofu_oci_mirror::MinAge;

use super::number::number;
use super::{ConfigTestsArgs, ModuleMappingArgs, OutputArgs, RegistryAccess, RenameArgs, SigningArgs, TrustArgs};

#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  What the newest version of a module, and the modules that it calls, would be; then without --plan:
    tofu-oci module mirror acme/net/aws --latest 1 --to 'ghcr.io/m/${name}-${target_system}' --plan
  A package in a repository, under the address that configurations will call:
    tofu-oci module mirror 'oci://ghcr.io/x/net?tag=1.4.0' --as r.example.com/a/net/aws --to oci:m
  Every night, what the [[module]] entries of a mirror.toml name:
    tofu-oci module mirror --rules mirror.toml
  From a bundle into the registry of a site without a network:
    tofu-oci module mirror --from bundle:modules.tar --to 'r.example.com/${name}-${target_system}'

What the destination has is never replaced. A module that fails is a line of the report, and the
others go on; the exit code is 1 then. See `tofu-oci help module-mirroring`.")]
#[expect(clippy::struct_excessive_bools, reason = "each is a switch of its own")]
pub(crate) struct ModuleMirrorArgs {
    /// Modules: HOST/NAMESPACE/NAME/SYSTEM[//SUB][@CONSTRAINT], or with --as one oci:// or git source
    ///
    /// `module mirror` takes every version that meets the constraint. It follows the calls of the module in the root of the
    /// package, or with //SUB of the one in that folder.
    ///
    /// Without SOURCE, --from-config and --from it takes the modules of --rules.
    #[arg(value_name = "SOURCE")]
    pub(crate) sources: Vec<String>,
    /// Take the registry modules that this configuration calls
    ///
    /// It also takes what its local modules call. Of each call it takes the newest version that its `version` admits.
    #[arg(long, value_name = "DIR", conflicts_with_all = ["sources", "latest", "address"])]
    pub(crate) from_config: Option<PathBuf>,
    #[command(flatten)]
    pub(crate) tests: ConfigTestsArgs,
    /// Take modules from this bundle and from nowhere else: bundle:FILE
    ///
    /// Without SOURCE and --from-config `module mirror` takes all modules of the bundle.
    #[arg(long, value_name = "PLACE", conflicts_with = "address")]
    pub(crate) from: Option<String>,
    /// The file whose [[module]] entries say what to take [default: mirror.toml]
    #[arg(long, value_name = "FILE", conflicts_with_all = ["sources", "from_config", "from", "latest", "address"])]
    pub(crate) rules: Option<PathBuf>,
    /// Where to: a template, oci:DIR or bundle:FILE [default: by modules.toml]
    ///
    /// A template contains ${namespace}, ${name} and ${target_system}, and ${hostname} if modules of several hosts are mirrored.
    /// oci:DIR takes an image layout for each module. bundle:FILE adds to a bundle.
    #[arg(long, value_name = "TEMPLATE")]
    pub(crate) to: Option<String>,
    #[command(flatten)]
    pub(crate) mapping: ModuleMappingArgs,
    /// The newest N of the versions that meet the constraint [default: all]
    #[arg(long, value_name = "N", value_parser = number::<u32, 1, 100000>)]
    pub(crate) latest: Option<u32>,
    /// The module that the source becomes: HOST/NAMESPACE/NAME/SYSTEM[@VERSION]
    ///
    /// Without @VERSION the tag or ref of the source must be a version, such as 1.4.0 or v1.4.0.
    #[arg(long = "as", value_name = "ADDRESS", conflicts_with = "latest")]
    pub(crate) address: Option<String>,
    /// Hold a version back until it has been seen so long, such as 7d or 36h
    ///
    /// The first sighting is kept beside the destination. 0 holds nothing back.
    #[arg(long, value_name = "AGE", conflicts_with = "address", hide_short_help = true)]
    pub(crate) min_age: Option<MinAge>,
    /// Report the modules that mirrored modules call; do not mirror them
    #[arg(long, hide_short_help = true)]
    pub(crate) no_nested: bool,
    /// Print what would be done, and the bytes; write nothing
    ///
    /// The packages are read, since they say which modules they call.
    #[arg(long)]
    pub(crate) plan: bool,
    /// Withdraw the mirrored versions that rules and calls no longer name
    ///
    /// It prunes only modules that you name in the command, the configuration or the file. A version that `module mirror` did not
    /// put there stays.
    #[arg(long, conflicts_with_all = ["from", "address"])]
    pub(crate) prune: bool,
    /// Let `gone = "withdraw"` take any number of versions, also the last
    ///
    /// Without it all versions of a module stay if its registry no longer lists more than half of the mirrored ones, or lists
    /// none: a broken answer looks like that.
    #[arg(long, hide_short_help = true)]
    pub(crate) allow_all_gone: bool,
    /// How many modules to move at a time, 1 to 32
    #[arg(long, value_name = "N", default_value_t = 4, value_parser = number::<u8, 1, 32>, allow_hyphen_values = true, hide_short_help = true)]
    pub(crate) jobs: u8,
    #[command(flatten)]
    pub(crate) signing: SigningArgs,
    #[command(flatten)]
    pub(crate) rename: RenameArgs,
    #[command(flatten)]
    pub(crate) trust: TrustArgs,
    #[command(flatten)]
    pub(crate) access: RegistryAccess,
    #[command(flatten)]
    pub(crate) output: OutputArgs,
}
