//! A client of the protocol of Sigstore's conformance suite, through the code that judges releases.
//!
//! Spec: sigstore/sigstore-conformance, `docs/cli_protocol.md`.

use std::fs;
use std::path::PathBuf;
use std::time::SystemTime;

use clap::{Args, Subcommand};
use tofu_oci_trust::prove_file;
use tofu_oci_types::Digest;

use crate::failure::{ChoreFailure, ChoreResult};

/// Arguments of the chore.
#[derive(Debug, Args)]
pub(crate) struct SigstoreClientArgs {
    #[command(subcommand)]
    verb: ClientVerb,
}

#[derive(Debug, Subcommand)]
enum ClientVerb {
    /// Verify a bundle about a file or digest
    VerifyBundle(VerifyBundleArgs),
}

#[derive(Debug, Args)]
struct VerifyBundleArgs {
    #[arg(long)]
    staging: bool,
    #[arg(long)]
    bundle: PathBuf,
    #[arg(long)]
    certificate_identity: Option<String>,
    #[arg(long)]
    certificate_oidc_issuer: Option<String>,
    #[arg(long)]
    key: Option<PathBuf>,
    #[arg(long)]
    trusted_root: Option<PathBuf>,
    file_or_digest: String,
}

/// Succeeds if the bundle proves that this identity has signed the file.
pub(crate) fn run(arguments: &SigstoreClientArgs) -> ChoreResult {
    let ClientVerb::VerifyBundle(arguments) = &arguments.verb;
    let read = |path: &PathBuf| {
        fs::read(path).map_err(|error| ChoreFailure::new(format!("{} cannot be read: {error}", path.display())))
    };
    if arguments.staging || arguments.key.is_some() {
        return Err(ChoreFailure::new(
            "releases are not proven by the staging instance, and keys have a reader of their own",
        ));
    }
    let (bundle, root) = (read(&arguments.bundle)?, arguments.trusted_root.as_ref().map(read).transpose()?);
    let file = match arguments.file_or_digest.parse::<Digest>() {
        Ok(digest) => digest,
        Err(_) => Digest::sha256(&read(&PathBuf::from(&arguments.file_or_digest))?),
    };
    let found = prove_file(&bundle, &file, root.as_deref(), SystemTime::now()).map_err(ChoreFailure::new)?;
    if Some(&found.subject) != arguments.certificate_identity.as_ref()
        || found.issuer != arguments.certificate_oidc_issuer
    {
        return Err(ChoreFailure::new(format!("it is by {found}")));
    }
    Ok(())
}
