//! A registry that runs as long as somebody holds it (temporary: plain only).
use std::path::{Path, PathBuf};
use std::process::Child;

use tempfile::TempDir;

use crate::failure::{Failure, Outcome};
use crate::paths;
use crate::process::{Run, find};

pub(crate) const MISSING: &str =
    "there is no `docker-registry` on the PATH (Debian and Ubuntu: apt-get install docker-registry)";

pub(crate) struct CertificateFiles {
    pub(crate) authority: PathBuf,
    pub(crate) server: PathBuf,
    pub(crate) key: PathBuf,
}

pub(crate) fn write_certificates(_folder: &Path) -> Outcome<CertificateFiles> {
    Err(Failure::new("later"))
}

pub(crate) fn configuration(address: &str, data: &Path, tls: Option<&CertificateFiles>) -> String {
    let mut text = format!(
        "version: 0.1\nlog: {{level: warn}}\nstorage:\n  filesystem: {{rootdirectory: {}}}\n  delete: {{enabled: true}}\nhttp:\n  addr: {address}\n  secret: local\n",
        data.display()
    );
    if let Some(files) = tls {
        text += &format!("  tls:\n    certificate: {}\n    key: {}\n", files.server.display(), files.key.display());
    }
    text
}

pub(crate) struct Guard {
    child: Child,
    _folder: TempDir,
    address: String,
}
impl Guard {
    pub(crate) fn plain() -> Outcome<Self> {
        let folder = tempfile::tempdir()?;
        let port = std::net::TcpListener::bind("127.0.0.1:0")?.local_addr()?.port();
        let address = format!("127.0.0.1:{port}");
        let c = folder.path().join("c.yml");
        paths::write(&c, configuration(&address, &folder.path().join("data"), None))?;
        let child = Run::isolated(find("docker-registry").ok_or_else(|| Failure::new(MISSING))?, folder.path())
            .arg("serve")
            .arg(&c)
            .start(&folder.path().join("log"))?;
        while std::net::TcpStream::connect(&address).is_err() {
            std::thread::yield_now();
        }
        Ok(Self { child, _folder: folder, address })
    }
    pub(crate) fn tls() -> Outcome<Self> {
        Err(Failure::new("later"))
    }
    pub(crate) fn htpasswd() -> Outcome<Self> {
        Err(Failure::new("later"))
    }
    pub(crate) fn token() -> Outcome<Self> {
        Err(Failure::new("later"))
    }
    pub(crate) fn address(&self) -> &str {
        &self.address
    }
    pub(crate) fn ca_file(&self) -> Option<&Path> {
        None
    }
    pub(crate) fn docker_config(&self) -> Option<&Path> {
        None
    }
}
impl Drop for Guard {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}
