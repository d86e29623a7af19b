//! The checksums of a release, and their signature.

use std::fs;
use std::path::Path;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use serde_json::json;
use sha2::{Digest as _, Sha256};
use tofu_oci_trust::{BUNDLE_TYPE, PrivateKey};
use tofu_oci_types::Secret;

use crate::failure::{ChoreFailure, ChoreResult, Doing};
use crate::paths;
use crate::process::{ProgramRun, find};

/// The name of the file.
pub(super) const NAME: &str = "SHA256SUMS";

/// The lines of all files below a folder as `sha256sum` writes them. Older sums and signatures do not count.
pub(super) fn of_folder(folder: &Path) -> ChoreResult<String> {
    let mut lines = String::new();
    for file in paths::files_below(folder)? {
        let name = file.to_string_lossy().replace('\\', "/");
        if !name.starts_with(NAME) {
            lines += &format!("{}  {name}\n", hex(&Sha256::digest(fs::read(folder.join(&file))?)));
        }
    }
    Ok(lines)
}

/// Signs the file with the key in another one: a PEM key, as cosign has it, or one of minisign.
pub(super) fn sign(folder: &Path, key: &Path) -> ChoreResult<String> {
    let text = fs::read(key).doing(|| format!("reading {}", key.display()))?;
    let sums = folder.join(NAME);
    if text.starts_with(b"untrusted comment:") {
        let minisign = find("minisign").ok_or_else(|| ChoreFailure::new("minisign is not on the PATH"))?;
        let run = ProgramRun::inheriting(minisign).arg("-S").arg("-s").arg(key).arg("-m").arg(&sums);
        return if run.shown()? { Ok(format!("{NAME}.minisig")) } else { Err(ChoreFailure::new("minisign failed")) };
    }
    let password = Secret::new(std::env::var("COSIGN_PASSWORD").unwrap_or_default());
    let key = PrivateKey::from_pem(&text, Some(&password)).doing(|| format!("reading {}", key.display()))?;
    let name = format!("{NAME}.sigstore.json");
    paths::write(&folder.join(&name), bundle(&key, &fs::read(sums)?))?;
    Ok(name)
}

/// What `cosign verify-blob --bundle` reads.
///
/// Spec: Sigstore protobuf-specs, `sigstore_bundle.proto`, version 0.3.
fn bundle(key: &PrivateKey, message: &[u8]) -> String {
    let bundle = json!({
        "mediaType": BUNDLE_TYPE,
        "verificationMaterial": { "publicKey": { "hint": key.public().id().hint() } },
        "messageSignature": {
            "messageDigest": { "algorithm": "SHA2_256", "digest": STANDARD.encode(Sha256::digest(message)) },
            "signature": STANDARD.encode(key.sign(message)),
        },
    });
    format!("{bundle}\n")
}

/// Lower-case hexadecimal digits.
pub(super) fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sums_are_sorted_and_skip_themselves() {
        let folder = tempfile::tempdir().unwrap();
        for name in ["b", "image/a", "SHA256SUMS", "SHA256SUMS.minisig"] {
            paths::write(&folder.path().join(name), "").unwrap();
        }
        let empty = "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855";
        assert_eq!(of_folder(folder.path()).unwrap(), format!("{empty}  b\n{empty}  image/a\n"));
    }
}
