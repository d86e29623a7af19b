//! `sign`, and what `push` and `pack` know of signing.

use std::path::PathBuf;

use clap::{Args, ValueEnum};
use tofu_oci_packer::{Forms, SumsMode};
use tofu_oci_types::{ProviderAddr, Version};

use super::names::{full_address, signature_note, strict_version};
use super::{OutputArgs, PredecessorArgs, RegistryAccess};

/// In which form a signature is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum SignFormat {
    /// A referrer with a Sigstore bundle, as cosign 3 writes it
    Bundle,
    /// A tag sha256-HEX.sig, as cosign 2 wrote it, for registries that take no referrers
    CosignTag,
    /// Both
    Both,
}

impl SignFormat {
    pub(crate) fn forms(self) -> Forms {
        match self {
            Self::Bundle => Forms::Bundle,
            Self::CosignTag => Forms::CosignTag,
            Self::Both => Forms::Both,
        }
    }
}

/// Whether the signed checksum file goes with the release.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum SumsChoice {
    /// Attach it if a signature is beside it
    Attach,
    /// Do not attach it
    Skip,
}

impl SumsChoice {
    pub(crate) fn mode(self) -> SumsMode {
        match self {
            Self::Attach => SumsMode::Attach,
            Self::Skip => SumsMode::Skip,
        }
    }
}

/// Who signs what is published.
#[derive(Debug, Args)]
pub(crate) struct SigningArgs {
    /// Sign it with this private key (PEM), or with the one in a variable: env://NAME
    ///
    /// The key is PKCS#8, SEC1, PKCS#1 or cosign's encrypted form. `push` writes the signature before the tag.
    #[arg(long, value_name = "KEY", help_heading = "Signing")]
    pub(crate) sign_key: Option<PathBuf>,
    /// How to write the signature
    #[arg(
        long,
        alias = "format",
        value_name = "FORMAT",
        default_value = "bundle",
        requires = "sign_key",
        hide_short_help = true,
        help_heading = "Signing"
    )]
    pub(crate) sign_format: SignFormat,
    /// Read the password of the key from standard input instead of COSIGN_PASSWORD
    ///
    /// tofu-oci drops one line break at its end.
    #[arg(long, requires = "sign_key", hide_short_help = true, help_heading = "Signing")]
    pub(crate) key_password_stdin: bool,
}

/// Who signs what is published, with a key or without.
#[derive(Debug, Args)]
pub(crate) struct SignerArgs {
    #[command(flatten)]
    pub(crate) key: SigningArgs,
    /// Sign it without a key, as the CI job of an identity token, by the program `cosign` on the PATH
    ///
    /// The token is that of GitHub Actions (`permissions: {id-token: write}`), or in SIGSTORE_ID_TOKEN, as GitLab CI puts
    /// it there. Each run adds a signature.
    #[arg(
        long,
        alias = "keyless",
        conflicts_with_all = ["sign_key", "sign_format", "key_password_stdin"],
        help_heading = "Signing"
    )]
    pub(crate) sign_keyless: bool,
}

/// What `push` and `pack` attach to a release.
#[derive(Debug, Args)]
pub(crate) struct Attach {
    #[command(flatten)]
    pub(crate) signer: SignerArgs,
    /// Whether to attach the signed SHA256SUMS of the folder
    ///
    /// With it go its OpenPGP signatures and the public keys beside it (*.asc, *.gpg, *.pgp).
    #[arg(long, value_name = "MODE", default_value = "attach", hide_short_help = true, help_heading = "Signing")]
    pub(crate) sums: SumsChoice,
}

#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  tofu-oci sign ghcr.io/acme/opentofu-provider-widget:1.4.0 --key cosign.key
  tofu-oci sign oci:widget-layout:1.4.0 --key release.pem
  tofu-oci sign ghcr.io/acme/opentofu-provider-widget:1.4.0 --keyless
  tofu-oci sign ghcr.io/acme/opentofu-provider-widget:1.4.0 --key qa.key --note 'tested: QA-218'
  tofu-oci sign registry.example.com/acme/widget@1.4.0 --from ghcr.io/acme/widget --key cosign.key
  cosign verify --key cosign.pub --insecure-ignore-tlog=true \\
    -a org.opentofu.provider.address=registry.example.com/acme/widget \\
    -a org.opentofu.provider.version=1.4.0 ghcr.io/acme/opentofu-provider-widget:1.4.0

The signature says: this index is that provider in that version. That of a module is about its
manifest alone. Existing signatures stay, whoever made them; signing again with the same key changes
nothing. `sign` takes the password of a key from COSIGN_PASSWORD or --key-password-stdin, or asks
for it on a terminal.")]
pub(crate) struct SignArgs {
    /// The release or module: REGISTRY/REPOSITORY:VERSION or oci:DIR:VERSION
    ///
    /// With --from also HOST/NAMESPACE/TYPE@VERSION. For a module also its source: 'oci://REPOSITORY?tag=VERSION'.
    #[arg(value_name = "TARGET")]
    pub(crate) target: String,
    /// The repository of an ADDR@VERSION: REGISTRY/REPOSITORY, oci:DIR, or a template
    #[arg(long, value_name = "REPOSITORY", env = "TOFU_OCI_FROM")]
    pub(crate) from: Option<String>,
    /// The private key (PEM), or the one in a variable: env://NAME
    ///
    /// The key is PKCS#8, SEC1, PKCS#1 or cosign's encrypted form.
    #[arg(long, alias = "sign-key", value_name = "KEY")]
    pub(crate) key: Option<PathBuf>,
    /// Sign without a key, as the CI job or person of an identity token, by the program `cosign` on the PATH
    ///
    /// The token is that of GitHub Actions (`permissions: {id-token: write}`), or in SIGSTORE_ID_TOKEN, as GitLab CI puts
    /// it there. Each run adds a signature.
    #[arg(long, alias = "sign-keyless", conflicts_with_all = ["key", "sign_format", "key_password_stdin"])]
    pub(crate) keyless: bool,
    /// Say this in the signature, such as why you approve the release: one line of at most 500 characters
    ///
    /// It is signed with the rest; `verify` and `show` print it. To every reader of the repository it is visible.
    #[arg(long, value_name = "TEXT", value_parser = signature_note)]
    pub(crate) note: Option<String>,
    /// How to write the signature
    #[arg(long, alias = "format", value_name = "FORMAT", default_value = "bundle")]
    pub(crate) sign_format: SignFormat,
    /// The version, if TARGET does not contain it
    #[arg(long, value_name = "V", value_parser = strict_version)]
    pub(crate) version: Option<Version>,
    /// The provider, HOST/NAMESPACE/TYPE, if the release does not name it or names another one
    #[arg(long, value_name = "ADDR", value_parser = full_address)]
    pub(crate) address: Option<ProviderAddr>,
    /// Sign even if the newest other version in the repository names another provider
    #[arg(long, hide_short_help = true)]
    pub(crate) rename: bool,
    #[command(flatten)]
    pub(crate) predecessors: PredecessorArgs,
    /// Read the password of the key from standard input instead of COSIGN_PASSWORD
    ///
    /// tofu-oci drops one line break at its end.
    #[arg(long, hide_short_help = true)]
    pub(crate) key_password_stdin: bool,
    #[command(flatten)]
    pub(crate) access: RegistryAccess,
    #[command(flatten)]
    pub(crate) output: OutputArgs,
}
