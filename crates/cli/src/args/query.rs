//! `versions`, `resolve`, and how an address becomes a repository.

use clap::Args;
use tofu_oci_types::ProviderAddr;

use super::{Network, Output};

/// How an address becomes a repository.
#[derive(Clone, Debug, Args)]
#[command(next_help_heading = "Where to look")]
pub(crate) struct Lookup {
    /// The repository to look in: REGISTRY/REPOSITORY, oci:DIR, or a template with ${hostname}, ${namespace} and
    /// ${type}, as in OpenTofu's `oci_mirror` blocks
    #[arg(long, value_name = "REPOSITORY", env = "TOFU_OCI_FROM")]
    pub(crate) from: Option<String>,
    /// The reserved suffix of hosts that name a registry: example.com.SUFFIX/foo/bar is
    /// example.com/foo/opentofu-provider-bar
    #[arg(long, value_name = "SUFFIX", env = "TOFU_OCI_MAGIC_SUFFIX", default_value = "oci.opentofu.org")]
    pub(crate) magic_suffix: String,
}

/// Arguments of `versions`.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  tofu-oci versions ghcr.io/acme/opentofu-provider-widget
  tofu-oci versions oci:widget-layout
  tofu-oci versions registry.example.com/acme/widget --from 'ghcr.io/mirror/${namespace}/${type}'
  tofu-oci versions ghcr.io.oci.opentofu.org/acme/widget

Newest first. With --from, or with a host that ends in the magic suffix, the argument is a provider
address; everything else is a repository.")]
pub(crate) struct VersionsArgs {
    /// A provider address, or a repository (REGISTRY/REPOSITORY or oci:DIR)
    #[arg(value_name = "ADDR|REPOSITORY")]
    pub(crate) subject: String,
    #[command(flatten)]
    pub(crate) lookup: Lookup,
    /// Look into each version and list its platforms too
    #[arg(long)]
    pub(crate) platforms: bool,
    #[command(flatten)]
    pub(crate) network: Network,
    #[command(flatten)]
    pub(crate) output: Output,
}

/// Arguments of `resolve`.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  tofu-oci resolve ghcr.io.oci.opentofu.org/acme/widget
  tofu-oci resolve registry.example.com/acme/widget --from 'ghcr.io/mirror/${namespace}/${type}'

No request is made.")]
pub(crate) struct ResolveArgs {
    /// The provider's source address, [HOST/]NAMESPACE/TYPE
    #[arg(value_name = "ADDR", value_parser = bare_address)]
    pub(crate) address: ProviderAddr,
    #[command(flatten)]
    pub(crate) lookup: Lookup,
    #[command(flatten)]
    pub(crate) output: Output,
}

/// An address alone: where it is does not depend on a version.
fn bare_address(text: &str) -> Result<ProviderAddr, String> {
    text.parse().map_err(|error| match text.split_once('@') {
        Some((address, _)) => format!("{error}; leave the constraint away: {address}"),
        None => format!("{error}"),
    })
}
