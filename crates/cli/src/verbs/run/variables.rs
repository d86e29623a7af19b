//! What the command finds in its environment, and the files that its variables name.

use std::ffi::OsString;
use std::fs;
use std::io::{self, Write as _};
use std::path::Path;

use super::shared::CONFIG;
use crate::diagnostic::Diagnostic;

/// The folder of the certificate, in the folder of the run.
const AUTHORITY: &str = "authority";

/// Where programs in Go look for certificates besides their one file, on Linux and the BSDs.
///
/// Spec: Go 1.24, crypto/x509, `certDirectories`.
const CERTIFICATES: [&str; 4] =
    ["/etc/ssl/certs", "/etc/pki/tls/certs", "/usr/local/share/certs", "/etc/openssl/certs"];

/// Refuses systems on which the clients believe the certificates of the system alone.
pub(super) fn supported() -> Result<(), Diagnostic> {
    if !cfg!(any(windows, target_vendor = "apple")) {
        return Ok(());
    }
    Err(Diagnostic::usage("on macOS and Windows terraform and tofu trust the certificates of the system alone")
        .code("run-unsupported")
        .cause("so they would refuse the certificate that `run` makes for its server")
        .hint("install the providers first: tofu-oci install; or let one `tofu-oci serve` with a certificate serve all machines"))
}

/// Writes the files, readable by this user alone, and names them.
///
/// The certificate is added to those of the machine: `SSL_CERT_FILE` stays what it is. Go asks no proxy for this machine.
pub(super) fn prepare(scratch: &Path, config: &str, authority: &str) -> io::Result<Vec<(&'static str, OsString)>> {
    let folder = scratch.join(AUTHORITY);
    fs::create_dir(&folder)?;
    fs::write(folder.join("ca.pem"), authority)?;
    let path = scratch.join(CONFIG);
    let mut options = fs::OpenOptions::new();
    options.write(true).create_new(true);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    options.open(&path)?.write_all(config.as_bytes())?;
    let mut folders = folder.into_os_string();
    match std::env::var_os("SSL_CERT_DIR").filter(|value| !value.is_empty()) {
        Some(users) => {
            folders.push(":");
            folders.push(users);
        }
        None => {
            for usual in CERTIFICATES.iter().filter(|path| Path::new(path).is_dir()) {
                folders.push(":");
                folders.push(usual);
            }
        }
    }
    Ok(vec![("TF_CLI_CONFIG_FILE", path.into_os_string()), ("SSL_CERT_DIR", folders)])
}
