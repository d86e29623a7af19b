//! `push`, `pack` and `copy`.

use std::path::PathBuf;

use clap::{Args, ValueEnum};
use tofu_oci_layout::PackageLayout;
use tofu_oci_types::{ProviderAddr, Version};

use super::duration::Timeout;
use super::names::{full_address, strict_version};
use super::number::number;
use super::{Attach, OutputArgs, PredecessorArgs, RegistryAccess};

/// What a release consists of and how it is written; shared by `push` and `pack`.
#[derive(Debug, Args)]
#[expect(clippy::struct_excessive_bools, reason = "each is a switch of the command line")]
pub(crate) struct ReleaseArgs {
    /// The release files: a `dist` folder of GoReleaser, a folder of zips or of OS_ARCH folders
    ///
    /// The zips are named terraform-provider-NAME_VERSION_OS_ARCH.zip. An OS_ARCH folder holds the files of the provider
    /// for that platform.
    #[arg(value_name = "DIST")]
    pub(crate) dist: PathBuf,
    /// The provider's source address, HOST/NAMESPACE/TYPE
    ///
    /// You may omit it in a push to REGISTRY/NAMESPACE/opentofu-provider-TYPE: then the RFC's magic suffix gives the
    /// address. The other versions in the repository must have the same address.
    #[arg(long, value_name = "ADDR", value_parser = full_address)]
    pub(crate) address: Option<ProviderAddr>,
    /// The version, if the input does not name one, or names several
    ///
    /// A prerelease that the files do not name makes them a preview of it; any other version must be that of the files.
    #[arg(long, value_name = "V", value_parser = strict_version)]
    pub(crate) version: Option<Version>,
    /// How the release is laid out: artifact, image or both
    ///
    /// artifact: what OpenTofu 1.10 and later installs. image: the RFC's labelled container images. both: one index with
    /// both.
    #[arg(long, value_name = "LAYOUT", default_value = "artifact")]
    pub(crate) layout: PackageLayout,
    /// Add to each zip the same package in fewer bytes, for those who install with tofu-oci
    ///
    /// Each leaf of the artifact layout gets a second layer: the files of the zip as tar in Zstandard. It takes time here (17 s
    /// for the 707 MB of the AWS provider, and up to 256 MiB of memory for each package that is packed at the same time)
    /// and room in the registry, which keeps both. tofu-oci installs from it if it can prove the content without the zip: by an
    /// `h1:` of the lock file or of a signed index. Everyone else, OpenTofu among them, takes the zip as before. The index
    /// carries the h1: checksums then, whatever --h1 says.
    #[arg(long)]
    pub(crate) small: bool,
    /// Whether to compute the h1: checksums that the index carries for lock files
    ///
    /// `skip` saves the time to inflate every package once, and does not look into the packages.
    #[arg(long, value_name = "MODE", default_value = "compute", hide_short_help = true)]
    pub(crate) h1: H1Choice,
    /// Publish the provider's documentation with it: its docs or website/docs folder
    ///
    /// The pages go into one referrer of the index, which `copy`, `mirror` and bundles take along: 8 MiB at most. `tofu-oci docs`
    /// and the pages of `serve` show them. A release that is there already gets what it lacks; other pages take the place of
    /// those that it has.
    #[arg(long, value_name = "DIR")]
    pub(crate) docs: Option<PathBuf>,
    #[command(flatten)]
    pub(crate) attach: Attach,
    /// Move the tag if it names another release already, and mark that release as withdrawn
    #[arg(long)]
    pub(crate) replace_tag: bool,
    #[command(flatten)]
    pub(crate) insist: Insist,
    #[command(flatten)]
    pub(crate) predecessors: PredecessorArgs,
    /// How many packages to read and send at a time, 1 to 32
    #[arg(long, value_name = "N", default_value_t = 4, hide_short_help = true, value_parser = number::<u8, 1, 32>, allow_hyphen_values = true)]
    pub(crate) jobs: u8,
    /// Accept platforms that Go does not know; otherwise they count as misspelt
    #[arg(long, hide_short_help = true)]
    pub(crate) any_platform: bool,
    /// Print what would be written and change nothing
    #[arg(long)]
    pub(crate) dry_run: bool,
}

/// What is published all the same.
#[derive(Debug, Args)]
pub(crate) struct Insist {
    /// Publish under --address even if the other versions in the repository name another provider
    #[arg(long, hide_short_help = true)]
    pub(crate) rename: bool,
    /// Publish packages even if the header of the program names another platform
    #[arg(long, hide_short_help = true)]
    pub(crate) skip_executable_check: bool,
}

/// Whether `h1:` checksums are computed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum H1Choice {
    /// Inflate and hash every package, on idle cores
    Compute,
    /// Omit them; whoever installs computes them
    Skip,
}

#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  tofu-oci push dist ghcr.io/acme/widget --address registry.example.com/acme/widget
  tofu-oci push build 127.0.0.1:5000/acme/widget --address example.com/acme/widget --version 1.4.0
  tofu-oci push dist oci:layout --address registry.example.com/acme/widget --layout both --dry-run
  tofu-oci push dist ghcr.io/acme/opentofu-provider-widget --sign-key cosign.key

`push` writes the version under its one canonical tag (1.4.0; a + becomes _). Pushing the same
release again changes nothing and ends with 0. Zips go byte for byte; folders become reproducible
archives. Blobs go first, then signatures, then the tag: an interrupted push leaves no half release,
and you can run it again.")]
pub(crate) struct PushArgs {
    #[command(flatten)]
    pub(crate) release: ReleaseArgs,
    /// Where to publish: REGISTRY/REPOSITORY, or oci:DIR for an OCI image layout directory
    #[arg(value_name = "DEST")]
    pub(crate) destination: String,
    #[command(flatten)]
    pub(crate) access: RegistryAccess,
    #[command(flatten)]
    pub(crate) output: OutputArgs,
}

#[derive(Debug, Args)]
#[command(after_help = "\
Example:
  tofu-oci pack dist oci:widget-layout --address registry.example.com/acme/widget
  tofu-oci copy oci:widget-layout ghcr.io/acme/opentofu-provider-widget

The directory is a plain OCI image layout that oras, crane and skopeo can read. `pack` creates it if
it is missing, and adds further versions to it.")]
pub(crate) struct PackArgs {
    #[command(flatten)]
    pub(crate) release: ReleaseArgs,
    /// The OCI image layout directory, written oci:DIR
    #[arg(value_name = "oci:DIR")]
    pub(crate) destination: String,
    /// How long to wait while another program has the directory locked, such as 90s or 2m
    #[arg(
        long,
        value_name = "DURATION",
        env = "TOFU_OCI_TIMEOUT",
        default_value = "2m",
        allow_hyphen_values = true,
        hide_short_help = true
    )]
    pub(crate) timeout: Timeout,
    #[command(flatten)]
    pub(crate) output: OutputArgs,
}

#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  tofu-oci copy oci:widget-layout ghcr.io/acme/opentofu-provider-widget
  tofu-oci copy ghcr.io/acme/opentofu-provider-widget 127.0.0.1:5000/mirror/widget --version 1.4.0
  tofu-oci copy ghcr.io/acme/opentofu-provider-widget oci:usb-stick --all

`copy` moves manifests and blobs byte for byte, with the signatures and other referrers that the
source lists and the tags sha256-HEX.sig, .att and .sbom of cosign, so every digest stays the same.
It does not send what the destination has already.")]
#[expect(clippy::struct_excessive_bools, reason = "each is a switch of the command line")]
pub(crate) struct CopyArgs {
    /// Where from: REGISTRY/REPOSITORY or oci:DIR
    #[arg(value_name = "SRC")]
    pub(crate) source: String,
    /// Where to: REGISTRY/REPOSITORY or oci:DIR
    #[arg(value_name = "DEST")]
    pub(crate) destination: String,
    /// The version to copy (repeatable); needed if the source has several
    #[arg(long = "version", value_name = "V", value_parser = strict_version, conflicts_with = "all")]
    pub(crate) versions: Vec<Version>,
    /// Copy every version, and what was withdrawn
    #[arg(long)]
    pub(crate) all: bool,
    /// Move a tag if it names another release already
    #[arg(long)]
    pub(crate) replace_tag: bool,
    /// Copy even if the versions in the destination name another provider
    #[arg(long, hide_short_help = true)]
    pub(crate) rename: bool,
    #[command(flatten)]
    pub(crate) predecessors: PredecessorArgs,
    /// How many blobs to copy at a time, 1 to 32
    #[arg(long, value_name = "N", default_value_t = 4, value_parser = number::<u8, 1, 32>, allow_hyphen_values = true)]
    pub(crate) jobs: u8,
    /// Print what would be copied and change nothing
    #[arg(long)]
    pub(crate) dry_run: bool,
    #[command(flatten)]
    pub(crate) access: RegistryAccess,
    #[command(flatten)]
    pub(crate) output: OutputArgs,
}
