//! What the user trusts: `trust.toml`, its keys and the pin file, read before any request is made.

use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::SystemTime;

use tofu_oci_fetch::{RenamedReleases, Trust, pin_file};
use tofu_oci_lockfile::LOCK_FILE_NAME;
use tofu_oci_trust::{KeyMaterial, NamedKey, Policy, PolicyError};

use crate::args::TrustArgs;
use crate::diagnostic::{Diagnostic, settings_fault, settings_text};

/// The name of the policy in the directory of the configuration.
const POLICY_FILE: &str = "trust.toml";

/// The most that is read of a policy or a key, in bytes.
const LIMIT: u64 = 1 << 20;

/// The policy file of a directory, or `None` if there is none.
pub(crate) fn policy_file(args: &TrustArgs, dir: &Path) -> Option<PathBuf> {
    // A broken link counts as a file that cannot be read, not as a missing policy.
    let default = || Some(beneath(dir, POLICY_FILE)).filter(|path| path.symlink_metadata().is_ok());
    args.trust_policy.clone().or_else(default)
}

/// A file of the directory, without the `./` of the current one.
fn beneath(dir: &Path, name: &str) -> PathBuf {
    if dir == Path::new(".") { PathBuf::from(name) } else { dir.join(name) }
}

/// The policy and the pins of a directory. Releases that say another address are refused, unless the verb decides otherwise.
pub(crate) fn load(args: &TrustArgs, dir: &Path) -> Result<Trust, Diagnostic> {
    let pins_path = pin_file::beside(&beneath(dir, LOCK_FILE_NAME));
    let pins = pin_file::read(&pins_path)?;
    let policy = match policy_file(args, dir) {
        Some(path) => policy(&path)?,
        None => Policy::default(),
    };
    let policy = Arc::new(policy.with_predecessors(args.predecessors.all()));
    Ok(Trust { policy, pins, pins_path, now: SystemTime::now(), renamed: RenamedReleases::Refuse })
}

fn policy(path: &Path) -> Result<Policy, Diagnostic> {
    let hint = "trust.toml is looked for beside the configuration; --trust-policy names another file";
    let text = settings_text(path, "the trust policy", "policy-unreadable", hint)?;
    let folder = path.parent().unwrap_or(Path::new(""));
    let file = Policy::parse(&text).and_then(|file| file.resolve(|key| read(&folder.join(key))));
    file.map(|policy| policy.read_from(path)).map_err(|error| broken(path, &text, &error))
}

/// The fault with its line, shown as errors of the CLI configuration are.
fn broken(path: &Path, text: &str, error: &PolicyError) -> Diagnostic {
    let causes = std::iter::successors(std::error::Error::source(&error.problem), |cause| cause.source());
    let said = error.to_string();
    // Some faults say what is below them.
    let causes = causes.map(ToString::to_string).filter(|cause| !said.contains(cause.as_str()));
    settings_fault(path, text, error.span.as_ref(), &said)
        .code("policy-invalid")
        .more_causes(causes)
        .more_hints(error.problem.instead())
        .hint("every member of the file: tofu-oci help trust-policy")
}

fn read(path: &Path) -> io::Result<Vec<u8>> {
    tofu_oci_disk::read_file(path, LIMIT)
}

/// The keys of the files on the command line, each named after its file.
pub(crate) fn keys(files: &[PathBuf]) -> Result<Vec<NamedKey>, Diagnostic> {
    let key = |path: &PathBuf| {
        let shown = path.display();
        let bytes = read(path).map_err(|error| {
            Diagnostic::usage(format!("the key file {shown} cannot be read"))
                .cause(error.to_string())
                .code("key-file")
                .hint("--key names a file with a public key, such as cosign.pub")
        })?;
        let material = KeyMaterial::parse(&bytes).map_err(|error| {
            Diagnostic::usage(format!("{shown}: {error}"))
                .code("key-file")
                .hint("--key takes a public key: PEM (openssl pkey -pubout, cosign.pub), or gpg --export --armor")
        })?;
        Ok(NamedKey { name: path.display().to_string(), material })
    };
    files.iter().map(key).collect()
}
