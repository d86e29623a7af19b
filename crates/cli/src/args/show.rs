//! `show`.

use std::path::PathBuf;

use clap::Args;
use tofu_oci_types::Platform;

use super::{OutputArgs, RegistryAccess, TrustArgs, query::LookupArgs};

#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  A release by its address, found as `install` finds it:
    tofu-oci show registry.example.com/acme/widget@1.4.0

  What lies in a repository, or in a directory:
    tofu-oci show ghcr.io/acme/opentofu-provider-widget:1.4.0
    tofu-oci show oci:widget-layout:1.4.0

  A module, and what lies beside it:
    tofu-oci show ghcr.io/acme/network:1.0.0

  The newest release, and all checksums of one platform of it:
    tofu-oci show ghcr.io/acme/opentofu-provider-widget --platform linux_amd64

  Who signed it, by a key at hand:
    tofu-oci show registry.example.com/acme/widget@1.4.0 --key acme.pub

Without a version, `show` takes the newest one that `install` would choose. It judges signatures by
trust.toml and the pins of this folder, or by --key, and downloads no package. Checksums are as the
release claims them. `verify` decides by its exit code, `check` reports what is wrong with a
release.")]
pub(crate) struct ShowArgs {
    /// One release or module: ADDR@VERSION (or @CONSTRAINT), REPOSITORY:VERSION or oci:DIR:VERSION
    #[arg(value_name = "ADDR@VERSION|REPOSITORY:VERSION")]
    pub(crate) subject: String,
    /// Show this platform's package alone, with all its checksums
    #[arg(long, value_name = "OS_ARCH")]
    pub(crate) platform: Option<Platform>,
    /// Judge by this public key instead of the policy (repeatable)
    ///
    /// It is a PEM file, or what gpg exports. If you give several keys, one of them must have signed.
    #[arg(long, value_name = "FILE")]
    pub(crate) key: Vec<PathBuf>,
    /// Work in this directory: its trust.toml and its pin file
    #[arg(long, value_name = "DIR")]
    pub(crate) chdir: Option<PathBuf>,
    #[command(flatten)]
    pub(crate) trust: TrustArgs,
    #[command(flatten)]
    pub(crate) lookup: LookupArgs,
    #[command(flatten)]
    pub(crate) access: RegistryAccess,
    #[command(flatten)]
    pub(crate) output: OutputArgs,
}
