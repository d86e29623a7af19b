//! An HTTPS server that is not ours: Python's, over a folder.

use std::fs;
use std::io::{BufRead as _, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};

use tofu_oci_testkit::Certificates;

use super::lab::Lab;
use crate::failure::{ChoreFailure, ChoreResult, Doing};
use crate::paths;
use crate::process::find;

/// The program. It goes to a temp folder before it runs.
const SCRIPT: &str = include_str!("https_server.py");

/// A running server; dropping it ends it.
pub(super) struct HttpsServer {
    child: Child,
    port: String,
    folder: PathBuf,
    log: PathBuf,
}

impl HttpsServer {
    /// Serves an empty folder on 127.0.0.1 and a free port, with a server certificate of this authority.
    pub(super) fn start(lab: &Lab, certificates: &Certificates) -> ChoreResult<Self> {
        let python = find("python3").ok_or_else(|| ChoreFailure::new("python3 is not on the PATH"))?;
        let own = lab.new_folder("https")?;
        let (folder, log) = (own.join("served"), own.join("log"));
        let (script, certificate, key) = (own.join("server.py"), own.join("server.pem"), own.join("server.key"));
        fs::create_dir(&folder)?;
        paths::write(&log, "")?;
        paths::write(&script, SCRIPT)?;
        paths::write(&certificate, certificates.server_pem())?;
        paths::write(&key, certificates.server_key_pem())?;
        let mut child = Command::new(python)
            .args([&script, &folder, &certificate, &key, &log])
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .doing(|| "starting python3".to_owned())?;
        let stdout = child.stdout.take();
        let mut server = Self { child, port: String::new(), folder, log };
        let first = stdout.and_then(|stdout| BufReader::new(stdout).lines().next()).transpose()?;
        server.port = first.ok_or_else(|| ChoreFailure::new("the HTTPS server of python3 does not start"))?;
        Ok(server)
    }

    /// `localhost:PORT`.
    pub(super) fn host(&self) -> String {
        format!("localhost:{}", self.port)
    }

    /// Serves a file at this path, with this content type.
    pub(super) fn serve(&self, path: &str, content_type: &str, content: impl AsRef<[u8]>) -> ChoreResult {
        paths::write(&self.folder.join(path), content)?;
        paths::write(&self.folder.join(format!("{path}.type")), content_type)
    }

    /// Serves nothing at this path any more.
    pub(super) fn remove(&self, path: &str) -> ChoreResult {
        Ok(fs::remove_file(self.folder.join(path))?)
    }

    /// What came in since the last call: `connection` for each connection, `GET /PATH STATUS` for each request.
    pub(super) fn take_log(&self) -> ChoreResult<Vec<String>> {
        let log = read(&self.log)?;
        // The server appends, so it goes on at the new end.
        fs::OpenOptions::new().write(true).open(&self.log)?.set_len(0)?;
        Ok(log)
    }
}

impl Drop for HttpsServer {
    fn drop(&mut self) {
        // It may have ended by itself.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

fn read(log: &Path) -> ChoreResult<Vec<String>> {
    let text = fs::read_to_string(log).doing(|| format!("reading {}", log.display()))?;
    Ok(text.lines().map(str::to_owned).collect())
}
