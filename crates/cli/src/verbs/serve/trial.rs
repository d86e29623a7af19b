//! A private certificate authority and its one certificate, for trying.

use std::fs::File;
use std::io::{self, Write as _};
use std::path::{Path, PathBuf};

use tofu_oci_bridge::{BaseUrl, BridgeConfig, IssuedCertificate, TlsFiles, is_certificate_for};
use tofu_oci_disk::{FileError, Scratch, make_private_folder};
use tofu_oci_types::Hostname;

use crate::diagnostic::Diagnostic;
use crate::exit::Exit;

/// What clients trust.
const AUTHORITY: &str = "ca.pem";
const CERTIFICATE: &str = "server.pem";
const KEY: &str = "server.key";

/// How long a certificate is good.
const DAYS: u32 = 365;

/// Most bytes of a certificate.
const LIMIT: u64 = 64 << 10;

/// The certificate and the key of such a folder.
pub(super) fn files(dir: &Path) -> TlsFiles {
    TlsFiles { certificate: dir.join(CERTIFICATE), key: dir.join(KEY) }
}

/// The certificate that clients have to trust. What the folder has is used again; else it is made, all of it or nothing.
pub(super) fn authority(dir: &Path, config: &BridgeConfig) -> Result<PathBuf, Diagnostic> {
    let (names, certificate) = (names(config), dir.join(CERTIFICATE));
    if !certificate.exists() {
        if dir.read_dir().is_ok_and(|mut files| files.next().is_some()) {
            let text = format!("the folder {} has other files, and no certificate of an earlier trial", dir.display());
            return Err(Diagnostic::usage(text).code("trial-tls-unwritable").hint("name a folder that is new"));
        }
        make(dir, &names).map_err(|error| {
            let refused = Diagnostic::of(Exit::Usage, &error).code("trial-tls-unwritable");
            refused.more_hints(FileError::hint(error.action, &error.path, &error.source))
        })?;
    }
    let bytes = tofu_oci_disk::read_file(&certificate, LIMIT).map_err(|error| {
        Diagnostic::usage(format!("the certificate {} cannot be read", certificate.display())).io_hint(
            "read",
            &certificate,
            &error,
        )
    })?;
    let authority = dir.join(AUTHORITY);
    if !authority.exists() {
        let text = format!("there is no {}, which clients have to trust", authority.display());
        let hint = format!("name another folder, or remove {}", dir.display());
        return Err(Diagnostic::usage(text).code("trial-tls-unwritable").hint(hint));
    }
    match names.iter().find(|name| !is_certificate_for(&bytes, name)) {
        Some(name) => Err(Diagnostic::usage(format!("the certificate {} is not for {name}", certificate.display()))
            .code("trial-tls-other-name")
            .hint(format!("name another folder, or remove {}; clients then trust the new {AUTHORITY}", dir.display()))),
        None => Ok(authority),
    }
}

/// What clients may call the server: this machine, its own hosts, the host of `url`, and the addresses at which it listens.
fn names(config: &BridgeConfig) -> Vec<String> {
    let mut names: Vec<String> = ["localhost", "127.0.0.1", "::1"].map(ToOwned::to_owned).to_vec();
    let authorities = config.hosts.iter().map(Hostname::as_str).chain(config.url.as_ref().map(BaseUrl::authority));
    names.extend(authorities.map(|authority| without_port(authority).to_owned()));
    let listens = config.listen.iter().map(|address| address.ip().to_canonical());
    names.extend(listens.filter(|ip| !ip.is_unspecified()).map(|ip| ip.to_string()));
    names.sort();
    names.dedup();
    names
}

fn without_port(authority: &str) -> &str {
    match authority.strip_prefix('[') {
        Some(address) => address.split(']').next().unwrap_or_default(),
        None => authority.split(':').next().unwrap_or_default(),
    }
}

/// Writes the three files into a folder beside, which then becomes the folder.
fn make(dir: &Path, names: &[String]) -> Result<(), FileError> {
    let parent = dir.parent().filter(|parent| !parent.as_os_str().is_empty()).unwrap_or(Path::new("."));
    make_private_folder(parent).map_err(FileError::at("write", parent))?;
    let scratch = Scratch::beside(parent).map_err(FileError::at("write", parent))?;
    let issued =
        IssuedCertificate::new("tofu-oci serve, for trying", names, DAYS).map_err(FileError::at("write", dir))?;
    let files = [(KEY, issued.key.as_str()), (AUTHORITY, &issued.authority), (CERTIFICATE, &issued.certificate)];
    for (name, text) in files {
        let path = scratch.path().join(name);
        write_new(&path, text).map_err(FileError::at("write", &path))?;
    }
    match std::fs::rename(scratch.path(), dir) {
        // Another run was faster.
        Err(_) if dir.join(CERTIFICATE).exists() => Ok(()),
        renamed => renamed.map_err(FileError::at("write", dir)),
    }
}

/// A file that only the user reads. Its folder is this run's own, and locked by it.
fn write_new(path: &Path, text: &str) -> io::Result<()> {
    let mut options = File::options();
    options.write(true).create_new(true);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    let mut file = options.open(path)?;
    file.write_all(text.as_bytes())?;
    file.sync_all()
}
