//! `mirror`.

use std::path::PathBuf;

use clap::Args;
use tofu_oci_mirror::MinAge;
use tofu_oci_types::Platform;

use super::number::number;
use super::{IdentityArgs, Network, OutputArgs, TrustArgs, query::LookupArgs};

/// Arguments of `mirror`.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  The newest three versions of a provider, each for every platform:
    tofu-oci mirror hashicorp/random --latest 3 --to 'ghcr.io/acme/${namespace}-${type}'

  What a configuration uses, with all its modules; its lock file chooses the versions:
    tofu-oci mirror --from-config infra --to 'ghcr.io/acme/${namespace}-${type}'

  By ./mirror.toml, every night; first what it would do:
    tofu-oci mirror --plan
    tofu-oci mirror

  Only what has been public for a week, signed with the key of the team:
    tofu-oci mirror --min-age 7d --sign-key cosign.key

  Take away what mirror.toml no longer names; first what that is:
    tofu-oci mirror --plan --prune
    tofu-oci mirror --prune

The zips, SHA256SUMS, its signatures and their keys go along unchanged, after they have been
verified. A release that fails is a line of the report, and the others go on; the exit code is 1
then. What is there already is not sent again. See `tofu-oci help mirroring`.")]
pub(crate) struct MirrorArgs {
    /// Providers, HOST/NAMESPACE/TYPE[@CONSTRAINT] [default: those of --rules]
    #[arg(value_name = "ADDR[@CONSTRAINT]")]
    pub(crate) providers: Vec<String>,
    /// Where to: a template for repositories, oci:DIR, static:DIR or bundle:FILE
    ///
    /// A template contains ${namespace} and ${type}, and ${hostname} if providers of several hosts are mirrored. oci:DIR
    /// takes an image layout for each provider, static:DIR a network mirror as plain files. bundle:FILE adds to a bundle.
    #[arg(long, value_name = "TEMPLATE")]
    pub(crate) to: Option<String>,
    /// Mirror what the configuration in this directory requires, in the versions of its lock file
    #[arg(long, value_name = "DIR", conflicts_with = "providers")]
    pub(crate) from_config: Option<PathBuf>,
    /// The file that says what to mirror [default: mirror.toml]
    #[arg(long, value_name = "FILE", conflicts_with_all = ["providers", "from_config", "latest", "platform"])]
    pub(crate) rules: Option<PathBuf>,
    #[command(flatten)]
    pub(crate) lookup: LookupArgs,
    /// The newest N of the versions that meet the constraints [default: all]
    #[arg(long, value_name = "N", value_parser = number::<u32, 1, 100000>)]
    pub(crate) latest: Option<u32>,
    /// A platform to mirror (repeatable) [default: all that each release has]
    #[arg(long, value_name = "OS_ARCH")]
    pub(crate) platform: Vec<Platform>,
    /// Hold a version back until it has been seen so long, such as 7d or 36h
    ///
    /// The first sighting is kept beside the destination. 0 holds nothing back.
    #[arg(long, value_name = "AGE")]
    pub(crate) min_age: Option<MinAge>,
    /// Print what would be done, and the bytes; change nothing
    #[arg(long)]
    pub(crate) plan: bool,
    /// Withdraw the mirrored versions that the rules no longer name
    ///
    /// A version that `mirror` did not put there stays.
    #[arg(long)]
    pub(crate) prune: bool,
    /// Print a trust.toml with the keys that the upstream releases are signed by, and mirror nothing
    #[arg(long, conflicts_with_all = ["plan", "prune", "sign_key"])]
    pub(crate) print_trust: bool,
    /// Sign what is mirrored, and notices, with this private key (PEM), or with the one in a variable: env://NAME
    #[arg(long, value_name = "KEY")]
    pub(crate) sign_key: Option<PathBuf>,
    /// Read the password of the key from standard input instead of COSIGN_PASSWORD
    ///
    /// tofu-oci drops one line break at its end.
    #[arg(long, requires = "sign_key", hide_short_help = true)]
    pub(crate) key_password_stdin: bool,
    /// How many releases to move at a time, and how many packages of each, 1 to 32
    #[arg(long, value_name = "N", default_value_t = 4, value_parser = number::<u8, 1, 32>, allow_hyphen_values = true, hide_short_help = true)]
    pub(crate) jobs: u8,
    #[command(flatten)]
    pub(crate) trust: TrustArgs,
    #[command(flatten)]
    pub(crate) network: Network,
    #[command(flatten)]
    pub(crate) identity: IdentityArgs,
    #[command(flatten)]
    pub(crate) output: OutputArgs,
}
