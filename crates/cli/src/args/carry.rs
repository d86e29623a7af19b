//! What `mirror` and `bundle create` take, from where, and how.

use std::path::PathBuf;

use clap::Args;
use tofu_oci_types::Platform;

use super::number::number;
use super::{ConfigTestsArgs, OutputArgs, RegistryAccess, RenameArgs, TrustArgs, query::LookupArgs};

/// Releases that are carried to a destination.
#[derive(Debug, Args)]
pub(crate) struct CarryArgs {
    /// Providers, HOST/NAMESPACE/TYPE[@CONSTRAINT] [default: those of --rules]
    #[arg(value_name = "ADDR[@CONSTRAINT]")]
    pub(crate) providers: Vec<String>,
    /// Take what this configuration requires, in the versions of its lock file
    #[arg(long, value_name = "DIR", conflicts_with = "providers")]
    pub(crate) from_config: Option<PathBuf>,
    #[command(flatten)]
    pub(crate) tests: ConfigTestsArgs,
    /// The file that says what to take [default: mirror.toml]
    #[arg(long, value_name = "FILE", conflicts_with_all = ["providers", "from_config", "latest", "platform"])]
    pub(crate) rules: Option<PathBuf>,
    #[command(flatten)]
    pub(crate) lookup: LookupArgs,
    /// The newest N of the versions that meet the constraints [default: all]
    #[arg(long, value_name = "N", value_parser = number::<u32, 1, 100000>)]
    pub(crate) latest: Option<u32>,
    /// A platform to take (repeatable) [default: all that each release has]
    #[arg(long, value_name = "OS_ARCH")]
    pub(crate) platform: Vec<Platform>,
    /// Sign what is taken, and notices, with this private key: PEM, or env://NAME
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
    pub(crate) rename: RenameArgs,
    #[command(flatten)]
    pub(crate) trust: TrustArgs,
    #[command(flatten)]
    pub(crate) access: RegistryAccess,
    #[command(flatten)]
    pub(crate) output: OutputArgs,
}
