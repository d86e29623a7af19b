//! `attach`.

use std::path::PathBuf;

use clap::Args;
use tofu_oci_packer::AttachType;
use tofu_oci_types::{ProviderAddr, Version};

use super::names::{full_address, strict_version};
use super::{OutputArgs, RegistryAccess};

#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  tofu-oci attach widget.sigstore.json ghcr.io/acme/opentofu-provider-widget:1.4.0
  tofu-oci attach sbom.spdx.json ghcr.io/acme/opentofu-provider-widget:1.4.0
  tofu-oci attach *.sigstore.json ghcr.io/acme/opentofu-provider-widget:1.4.0
  tofu-oci attach scan.sarif oci:widget-layout:1.4.0 --type application/sarif+json
  gh attestation download terraform-provider-widget_1.4.0_linux_amd64.zip --repo acme/widget
  tofu-oci attach sha256:*.jsonl ghcr.io/acme/opentofu-provider-widget:1.4.0

A Sigstore bundle must be about this release: its index (of a module: its manifest), a leaf or a
zip. `attach` does not ask who made it; `verify` and `install` do. A file with one bundle in each
line becomes several referrers. `copy`, `mirror` and bundles take along what is attached. Attaching
the same content again changes nothing.")]
pub(crate) struct AttachArgs {
    /// The files: Sigstore bundles, attestations, bills of materials, or any other; each at most 16 MiB
    #[arg(value_name = "FILE", required = true, num_args = 1..)]
    pub(crate) files: Vec<PathBuf>,
    /// The release or module: REGISTRY/REPOSITORY:VERSION or oci:DIR:VERSION
    ///
    /// With --from also HOST/NAMESPACE/TYPE@VERSION. For a module also its source: 'oci://REPOSITORY?tag=VERSION'.
    #[arg(value_name = "TARGET", required = true)]
    pub(crate) target: String,
    /// What each file is: bundle, spdx, cyclonedx or a media type; needed if the file does not say
    ///
    /// tofu-oci recognises Sigstore bundles, and SPDX and CycloneDX in JSON.
    #[arg(long = "type", value_name = "TYPE")]
    pub(crate) file_type: Option<AttachType>,
    /// The repository of an ADDR@VERSION: REGISTRY/REPOSITORY, oci:DIR, or a template
    #[arg(long, value_name = "REPOSITORY", env = "TOFU_OCI_FROM")]
    pub(crate) from: Option<String>,
    /// The version, if TARGET does not contain it
    #[arg(long, value_name = "V", value_parser = strict_version)]
    pub(crate) version: Option<Version>,
    /// The provider, HOST/NAMESPACE/TYPE, if the release does not name it
    #[arg(long, value_name = "ADDR", value_parser = full_address)]
    pub(crate) address: Option<ProviderAddr>,
    /// Print what would be attached and change nothing
    #[arg(long)]
    pub(crate) dry_run: bool,
    #[command(flatten)]
    pub(crate) access: RegistryAccess,
    #[command(flatten)]
    pub(crate) output: OutputArgs,
}
