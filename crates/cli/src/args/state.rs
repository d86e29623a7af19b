//! `withdraw` and `deprecate`.

use std::path::PathBuf;

use clap::Args;
use tofu_oci_trust::NoticeReason;
use tofu_oci_types::{ProviderAddr, Version};

use super::names::{full_address, strict_version};
use super::{OutputArgs, RegistryAccess};

/// Which release changes its state, and who says so; shared by `withdraw` and `deprecate`.
#[derive(Debug, Args)]
pub(crate) struct StateArgs {
    /// The release or module: REGISTRY/REPOSITORY:VERSION or oci:DIR:VERSION; with --from also HOST/NAMESPACE/TYPE@VERSION
    ///
    /// For a module also its source: 'oci://REPOSITORY?tag=VERSION'.
    #[arg(value_name = "TARGET")]
    pub(crate) target: String,
    /// Take it back: the version is what it was before
    #[arg(long)]
    pub(crate) undo: bool,
    /// Sign the notice with this private key (PEM), or with the one in a variable: env://NAME
    ///
    /// The key is PKCS#8, SEC1, PKCS#1 or cosign's encrypted form. Whoever demands signatures of the release heeds only a
    /// notice that a trusted key has signed.
    #[arg(long, value_name = "KEY")]
    pub(crate) sign_key: Option<PathBuf>,
    /// Read the password of the key from standard input instead of COSIGN_PASSWORD
    ///
    /// tofu-oci drops one line break at its end.
    #[arg(long, requires = "sign_key")]
    pub(crate) key_password_stdin: bool,
    /// The repository of an ADDR@VERSION: REGISTRY/REPOSITORY, oci:DIR, or a template
    #[arg(long, value_name = "REPOSITORY", env = "TOFU_OCI_FROM")]
    pub(crate) from: Option<String>,
    /// The version, if TARGET does not contain it
    #[arg(long, value_name = "V", value_parser = strict_version)]
    pub(crate) version: Option<Version>,
    /// The provider, HOST/NAMESPACE/TYPE, if the release does not name it
    #[arg(long, value_name = "ADDR", value_parser = full_address)]
    pub(crate) address: Option<ProviderAddr>,
    /// Print what would be done and change nothing
    #[arg(long)]
    pub(crate) dry_run: bool,
    #[command(flatten)]
    pub(crate) access: RegistryAccess,
    #[command(flatten)]
    pub(crate) output: OutputArgs,
}

#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  tofu-oci withdraw ghcr.io/acme/opentofu-provider-widget:1.4.0 --reason 'deletes state; use 1.4.1'
  tofu-oci withdraw ghcr.io/acme/widget:1.4.0 --reason 'deletes state' --sign-key cosign.key
  tofu-oci withdraw oci:widget-layout:1.4.0 --reason 'deletes state' --dry-run
  tofu-oci withdraw ghcr.io/acme/opentofu-provider-widget:1.4.0 --undo

The version's tag goes, so that no client can choose the version any more. Its content stays under
the tag withdrawn-VERSION, with the reason beside it, and --undo brings it back. `lock` and `verify`
give the reason to whoever has the version locked, and so does `install` if it asks the registry;
`module pull` gives that of a module. The registry must let a tag or a manifest be deleted; otherwise nothing
is changed. A login needs the right to delete.")]
pub(crate) struct WithdrawArgs {
    /// Why, in one line of at most 1024 characters: what consumers read. Needed unless --undo is given
    #[arg(long, value_name = "TEXT", conflicts_with = "undo")]
    pub(crate) reason: Option<NoticeReason>,
    #[command(flatten)]
    pub(crate) state: StateArgs,
}

#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  tofu-oci deprecate ghcr.io/acme/opentofu-provider-widget:1.3.0 --message 'use 2.0.0'
  tofu-oci deprecate ghcr.io/acme/widget:1.3.0 --message 'use 2.0.0' --sign-key cosign.key
  tofu-oci deprecate ghcr.io/acme/opentofu-provider-widget:1.3.0 --undo

Clients can still choose the version; tofu-oci repeats the message as a warning. The notice lies
beside the release and under the tag deprecated-VERSION. Packages and digests stay as they are.")]
pub(crate) struct DeprecateArgs {
    /// What to use instead or to mind, in one line of at most 1024 characters. Needed unless --undo is given
    #[arg(long, value_name = "TEXT", conflicts_with = "undo")]
    pub(crate) message: Option<NoticeReason>,
    #[command(flatten)]
    pub(crate) state: StateArgs,
}
