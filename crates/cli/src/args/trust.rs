//! Whose signatures count.

use std::path::PathBuf;

use clap::Args;

/// Arguments of every verb that verifies signatures.
#[derive(Clone, Debug, Default, Args)]
pub(crate) struct TrustArgs {
    /// The trust policy; see `tofu-oci help trust` [default: trust.toml beside the configuration]
    #[arg(long, value_name = "FILE", env = "TOFU_OCI_TRUST_POLICY", hide_short_help = true)]
    pub(crate) trust_policy: Option<PathBuf>,
}
