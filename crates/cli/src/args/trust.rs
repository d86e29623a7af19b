//! Whose signatures count.

use std::path::PathBuf;

use clap::Args;

/// Arguments of every verb that verifies signatures.
#[derive(Clone, Debug, Default, Args)]
#[command(next_help_heading = "Trust")]
pub(crate) struct TrustArgs {
    /// The trust policy, see docs/trust.md [default: trust.toml in the directory of the configuration, if there is
    /// one]
    #[arg(long, value_name = "FILE", env = "TOFU_OCI_TRUST_POLICY")]
    pub(crate) trust_policy: Option<PathBuf>,
}
