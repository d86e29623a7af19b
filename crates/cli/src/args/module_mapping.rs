//! Where the modules of registries are kept.

use std::path::PathBuf;

use clap::Args;

/// Arguments of every verb that looks for modules of registries.
#[derive(Clone, Debug, Default, Args)]
pub(crate) struct ModuleMappingArgs {
    /// The mapping of modules; see `tofu-oci help modules` [default: modules.toml beside the configuration]
    #[arg(long = "modules", value_name = "FILE", env = "TOFU_OCI_MODULES", hide_short_help = true)]
    pub(crate) modules_file: Option<PathBuf>,
}
