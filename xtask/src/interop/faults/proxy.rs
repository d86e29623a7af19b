//! The proxy in front of the registry.

use std::fs;
use std::io::{BufRead as _, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};

use crate::failure::{ChoreFailure, ChoreResult, Doing};
use crate::paths;
use crate::served::free_port;

/// A running proxy with one rule; dropping it ends it.
pub(super) struct Proxy {
    child: Child,
    address: String,
    log: PathBuf,
}

impl Proxy {
    /// Starts a proxy in front of `upstream` (`HOST:PORT`) whose log lies in `folder`.
    pub(super) fn start(upstream: &str, rule: &str, folder: &Path) -> ChoreResult<Self> {
        let (port, blobs) = (free_port()?, free_port()?);
        let (log, errors) = (folder.join("proxy.log"), folder.join("proxy.err"));
        let mut child = Command::new("python3")
            .arg(script())
            .args(["--port", &port.to_string(), "--upstream", &format!("http://{upstream}")])
            .args(["--blob-host-port", &blobs.to_string(), "--rule", rule, "--log"])
            .arg(&log)
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(fs::File::create(&errors)?)
            .spawn()
            .doing(|| "starting faultproxy.py".to_owned())?;
        let stdout = child.stdout.take();
        let proxy = Self { child, address: format!("127.0.0.1:{port}"), log };
        let first = stdout.and_then(|stdout| BufReader::new(stdout).lines().next()).transpose()?;
        if first.is_some() {
            return Ok(proxy);
        }
        let said = fs::read_to_string(&errors).unwrap_or_default();
        Err(ChoreFailure::new(format!("faultproxy.py does not start\n{said}")))
    }

    /// `127.0.0.1:PORT`.
    pub(super) fn address(&self) -> &str {
        &self.address
    }

    /// Whether the rule has met a request so far.
    pub(super) fn injected(&self) -> ChoreResult<bool> {
        let log = fs::read_to_string(&self.log).unwrap_or_default();
        for line in log.lines() {
            let request: serde_json::Value = serde_json::from_str(line)?;
            if !request["fault"].is_null() {
                return Ok(true);
            }
        }
        Ok(false)
    }
}

impl Drop for Proxy {
    fn drop(&mut self) {
        // It may have ended by itself.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// True if the proxy lies beside the checkout.
pub(in crate::interop) fn is_there() -> bool {
    script().is_file()
}

fn script() -> PathBuf {
    paths::root().join("../shared/tools/faultproxy.py")
}
