//! Whose signatures count.

use std::path::PathBuf;

use clap::Args;
use tofu_oci_fetch::RenamedReleases;
use tofu_oci_types::{Predecessor, Predecessors};

/// Arguments of every verb that verifies signatures.
#[derive(Clone, Debug, Default, Args)]
pub(crate) struct TrustArgs {
    /// The trust policy; see `tofu-oci help trust-policy` [default: trust.toml beside the configuration]
    #[arg(long, value_name = "FILE", env = "TOFU_OCI_TRUST_POLICY", hide_short_help = true)]
    pub(crate) trust_policy: Option<PathBuf>,
    #[command(flatten)]
    pub(crate) predecessors: PredecessorArgs,
}

/// Arguments of every verb that compares addresses.
#[derive(Clone, Debug, Default, Args)]
pub(crate) struct PredecessorArgs {
    /// Treat HOST and PREDECESSOR as one host, such as registry.opentofu.org=registry.terraform.io (repeatable)
    ///
    /// It is for repositories that both share. It holds in both directions, for providers of one namespace and type and modules
    /// of one namespace, name and system.
    #[arg(
        long,
        value_name = "HOST=PREDECESSOR",
        env = "TOFU_OCI_PREDECESSOR",
        value_delimiter = ',',
        hide_short_help = true
    )]
    pub(crate) predecessor: Vec<Predecessor>,
}

impl PredecessorArgs {
    /// Which addresses count as one.
    pub(crate) fn all(&self) -> Predecessors {
        self.predecessor.iter().cloned().collect()
    }
}

/// Arguments of every verb that takes releases under an address.
#[derive(Clone, Copy, Debug, Default, Args)]
pub(crate) struct RenameArgs {
    /// Use a release that names another address under the address that you ask for
    #[arg(long, hide_short_help = true)]
    pub(crate) rename: bool,
}

impl RenameArgs {
    /// What becomes of releases that say another address; `otherwise` without the option.
    pub(crate) fn or(self, otherwise: RenamedReleases) -> RenamedReleases {
        if self.rename { RenamedReleases::Accept } else { otherwise }
    }
}
