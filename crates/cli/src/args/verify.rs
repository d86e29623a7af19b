//! `verify`.

use std::path::PathBuf;

use clap::Args;

use super::{ModuleMappingArgs, OutputArgs, RegistryAccess, RenameArgs, TrustArgs, query::LookupArgs};

#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  Who has signed this release, by the keys of trust.toml:
    tofu-oci verify registry.example.com/acme/widget@1.4.0

  By a key at hand, whatever trust.toml says:
    tofu-oci verify registry.example.com/acme/widget@1.4.0 --key acme.pub --from ghcr.io/acme/widget

  Every release that the lock file names:
    tofu-oci verify

  A module, by the rules for modules, or by a key at hand; where it is, modules.toml may say:
    tofu-oci verify ghcr.io/acme/network:1.4.0 --key acme.pub
    tofu-oci verify registry.example.com/acme/network/aws@1.4.0

  Accept a tag that its publisher moved on purpose, or an unsigned release:
    tofu-oci verify registry.example.com/acme/widget@1.4.0 --accept

`verify` shows every signature that it finds, also those that do not count.
Exit codes: 0 enough of your keys have signed the release, or had signed this very index when it was
trusted before; 1 otherwise, even if the policy accepts the release unsigned.")]
pub(crate) struct VerifyArgs {
    /// The provider and one exact version, or where the release is [default: every locked release]
    ///
    /// Write HOST/NAMESPACE/TYPE@VERSION (without a version, the locked one), REGISTRY/REPOSITORY:VERSION or
    /// oci:DIR:VERSION; for a module also its source, oci://REPOSITORY?tag=TAG, or HOST/NAMESPACE/NAME/SYSTEM@CONSTRAINT.
    #[arg(value_name = "ADDR@VERSION|REPOSITORY:VERSION")]
    pub(crate) subject: Option<String>,
    /// Judge by this public key instead of the policy (repeatable)
    ///
    /// It is a PEM file, or what gpg exports. If you give several keys, one of them must have signed.
    #[arg(long, value_name = "FILE")]
    pub(crate) key: Vec<PathBuf>,
    /// Accept this release even if its tag has moved or it is not signed, and pin it
    ///
    /// The demands of trust.toml still hold.
    #[arg(long, requires = "subject")]
    pub(crate) accept: bool,
    /// Work in this directory: its trust.toml, its lock file, its pin file
    #[arg(long, value_name = "DIR")]
    pub(crate) chdir: Option<PathBuf>,
    #[command(flatten)]
    pub(crate) trust: TrustArgs,
    #[command(flatten)]
    pub(crate) rename: RenameArgs,
    #[command(flatten)]
    pub(crate) lookup: LookupArgs,
    #[command(flatten)]
    pub(crate) mapping: ModuleMappingArgs,
    #[command(flatten)]
    pub(crate) access: RegistryAccess,
    #[command(flatten)]
    pub(crate) output: OutputArgs,
}
