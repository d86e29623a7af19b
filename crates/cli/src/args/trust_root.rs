//! `trust`: what signatures by certificates are proven by.

use std::path::PathBuf;

use clap::{Args, Subcommand};

use super::{OutputArgs, RegistryAccess, TrustArgs};

#[derive(Debug, Args)]
#[command(
    subcommand_required = true,
    arg_required_else_help = true,
    after_help = "\
Examples:
  tofu-oci trust root show
  tofu-oci trust root update https://tuf-repo-cdn.sigstore.dev --output sigstore-root.json"
)]
pub(crate) struct TrustVerbArgs {
    #[command(subcommand)]
    pub(crate) verb: TrustVerb,
}

#[derive(Debug, Subcommand)]
pub(crate) enum TrustVerb {
    /// Show, verify or renew the roots that prove signatures by certificates
    Root(TrustRootArgs),
}

#[derive(Debug, Args)]
#[command(
    subcommand_required = true,
    arg_required_else_help = true,
    after_help = "\
Examples:
  tofu-oci trust root show
  tofu-oci trust root update https://tuf-repo-cdn.sigstore.dev --output sigstore-root.json"
)]
pub(crate) struct TrustRootArgs {
    #[command(subcommand)]
    pub(crate) verb: TrustRootVerb,
}

#[derive(Debug, Subcommand)]
pub(crate) enum TrustRootVerb {
    /// Print the built-in roots and those that trust.toml names
    Show(TrustRootShowArgs),
    /// Say whether a file is a trusted_root.json that tofu-oci can use
    Verify(TrustRootVerifyArgs),
    /// Write the newest trusted_root.json of Sigstore's public instance, verified by the rules of TUF
    Update(Box<TrustRootUpdateArgs>),
}

impl TrustRootVerb {
    /// How its results are printed.
    pub(crate) fn output(&self) -> &OutputArgs {
        match self {
            Self::Show(TrustRootShowArgs { output, .. }) | Self::Verify(TrustRootVerifyArgs { output, .. }) => output,
            Self::Update(args) => &args.output,
        }
    }
}

#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  tofu-oci trust root show
  tofu-oci trust root show --trust-policy trust.toml --json

It makes no request.")]
pub(crate) struct TrustRootShowArgs {
    #[command(flatten)]
    pub(crate) trust: TrustArgs,
    #[command(flatten)]
    pub(crate) output: OutputArgs,
}

#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  tofu-oci trust root verify trusted_root.json

It makes no request. A file that can be used need not be one to trust: whoever writes it decides
whose certificates count.")]
pub(crate) struct TrustRootVerifyArgs {
    /// The trusted_root.json
    #[arg(value_name = "FILE")]
    pub(crate) file: PathBuf,
    #[command(flatten)]
    pub(crate) output: OutputArgs,
}

#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  tofu-oci trust root update https://tuf-repo-cdn.sigstore.dev --output sigstore-root.json
  tofu-oci trust root update tuf-copy --output sigstore-root.json   # a folder, for an air gap

It begins with the built-in root of TUF, and follows newer ones. Signatures, versions,
expiry, lengths and hashes must be right; then it writes the file as a whole. Name the file as
`root` of an [[identity]] in trust.toml. FILE.tuf beside it keeps the versions and keys that proved
it, so that an older copy of the repository is refused later, and so is another instance; keep both
files together. A folder has the files as the web server does, or as the git repository
sigstore/root-signing does.")]
pub(crate) struct TrustRootUpdateArgs {
    /// The folder or the https:// address of the TUF repository
    #[arg(value_name = "DIR|URL")]
    pub(crate) from: String,
    /// Begin with this root of TUF, of a Sigstore instance of your own; its root.json
    #[arg(long, value_name = "FILE")]
    pub(crate) tuf_root: Option<PathBuf>,
    /// The file to write
    #[arg(long = "output", value_name = "FILE")]
    pub(crate) target: PathBuf,
    #[command(flatten)]
    pub(crate) access: RegistryAccess,
    #[command(flatten)]
    pub(crate) output: OutputArgs,
}
