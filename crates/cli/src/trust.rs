//! What the user trusts: `trust.toml` and the pin file, read.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::SystemTime;

use clap::Args;
use tofu_oci_installer::{Trust, pin_file};
use tofu_oci_lockfile::LOCK_FILE_NAME;
use tofu_oci_trust::{Policy, PolicyError};

use crate::complaint::Complaint;

/// The name of the policy in the directory of the configuration.
const POLICY_FILE: &str = "trust.toml";

/// Whose signatures count.
#[derive(Clone, Debug, Default, Args)]
#[command(next_help_heading = "Trust")]
pub(crate) struct TrustArgs {
    /// The trust policy [default: trust.toml in the directory of the configuration, where there is one]
    #[arg(long, value_name = "FILE", env = "TOFU_OCI_TRUST_POLICY")]
    pub(crate) trust_policy: Option<PathBuf>,
}

/// The policy and the pins of a directory.
///
/// # Errors
/// When one of them cannot be read; exit code 2.
pub(crate) fn load(args: &TrustArgs, dir: &Path) -> Result<Trust, Complaint> {
    let pins_path = pin_file::beside(&dir.join(LOCK_FILE_NAME));
    let pins = pin_file::read(&pins_path).map_err(tofu_oci_installer::InstallError::from)?;
    let policy = match &args.trust_policy {
        Some(path) => policy(path)?,
        None => match dir.join(POLICY_FILE) {
            path if path.exists() => policy(&path)?,
            _ => Policy::default(),
        },
    };
    Ok(Trust { policy: Arc::new(policy), pins, pins_path, now: SystemTime::now() })
}

fn policy(path: &Path) -> Result<Policy, Complaint> {
    let text = std::fs::read_to_string(path)
        .map_err(|error| Complaint::usage(format!("cannot read {}", path.display())).cause(error.to_string()))?;
    let folder = path.parent().unwrap_or(Path::new(""));
    let broken = |error: PolicyError| {
        let line = error.span.map_or(1, |span| text[..span.start].matches('\n').count() + 1);
        Complaint::usage(format!("{}:{line}: {}", path.display(), error.problem))
    };
    Policy::parse(&text).and_then(|file| file.resolve(|key| std::fs::read(folder.join(key)))).map_err(broken)
}
