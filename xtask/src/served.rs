//! `tofu-oci serve` as a running program: for the interop stage, the benchmark and the soak.

use std::fs;
use std::net::{TcpListener, TcpStream};
use std::ops::Range;
use std::path::{Path, PathBuf};
use std::process::{self, Child};
use std::sync::atomic::{AtomicU32, Ordering};
use std::thread::sleep;
use std::time::{Duration, Instant};

use tofu_oci_testkit::Certificates;

use crate::failure::{ChoreFailure, ChoreResult, Doing};
use crate::paths;
use crate::process::{ProgramRun, status_bytes};

/// How long it may take to begin, and to end after SIGTERM.
const PATIENCE: Duration = Duration::from_secs(20);

/// The ports that are given to programs. Linux gives an outgoing connection a port from 32768 on, so that none of them takes
/// one of these before the program listens.
const PORTS: Range<u16> = 20_000..32_000;

/// A port of 127.0.0.1 on which nothing listens, another one at each call of this process: a configuration names its own address.
pub(crate) fn free_port() -> ChoreResult<u16> {
    static GIVEN: AtomicU32 = AtomicU32::new(0);
    // Processes that started one after the other begin far apart.
    let first = process::id().wrapping_mul(97);
    for _ in PORTS {
        let number = first.wrapping_add(GIVEN.fetch_add(1, Ordering::Relaxed)) % u32::from(PORTS.end - PORTS.start);
        let port = PORTS.start + u16::try_from(number).expect("the range has 16 bits");
        if TcpListener::bind(("127.0.0.1", port)).is_ok() {
            return Ok(port);
        }
    }
    Err(ChoreFailure::new(format!("no port from {} to {} is free", PORTS.start, PORTS.end - 1)))
}

/// A running bridge; dropping it kills it.
pub(crate) struct ServedBridge {
    child: Child,
    own: PathBuf,
}

impl ServedBridge {
    /// Starts `program`, which has no arguments yet, with the settings of `serve.toml` in `settings`, and waits until it
    /// listens. Its own files lie in `own`. Over TLS if there are certificates, and else over plain HTTP.
    pub(crate) fn start(
        program: ProgramRun,
        own: &Path,
        port: u16,
        certificates: Option<&Certificates>,
        settings: &str,
    ) -> ChoreResult<Self> {
        let mut text = format!("listen = [\"127.0.0.1:{port}\"]\n{settings}\n");
        if let Some(certificates) = certificates {
            paths::write(&own.join("server.pem"), certificates.server_pem())?;
            paths::write(&own.join("server.key"), certificates.server_key_pem())?;
            text += "[tls]\ncertificate = \"server.pem\"\nkey = \"server.key\"\n";
        }
        paths::write(&own.join("serve.toml"), text)?;
        Self::start_again(program, own, port)
    }

    /// Starts it with the files that an earlier one left in `own`.
    pub(crate) fn start_again(program: ProgramRun, own: &Path, port: u16) -> ChoreResult<Self> {
        let run = program.args(["serve", "--config"]).arg(own.join("serve.toml"));
        let child = run.start(&own.join("log"))?;
        let mut bridge = Self { child, own: own.to_owned() };
        let begin = Instant::now();
        while TcpStream::connect(("127.0.0.1", port)).is_err() {
            if begin.elapsed() > PATIENCE || bridge.child.try_wait()?.is_some() {
                return Err(ChoreFailure::new(format!("`{}` does not start\n{}", run.line(), bridge.log()?)));
            }
            sleep(Duration::from_millis(10));
        }
        Ok(bridge)
    }

    /// What it has printed so far, the access log among it.
    pub(crate) fn log(&self) -> ChoreResult<String> {
        let file = self.own.join("log");
        fs::read_to_string(&file).doing(|| format!("reading {}", file.display()))
    }

    /// Resident memory in bytes: now, and at most so far.
    pub(crate) fn memory(&self) -> (u64, u64) {
        let status = format!("/proc/{}/status", self.child.id());
        (status_bytes(&status, "VmRSS:"), status_bytes(&status, "VmHWM:"))
    }

    /// Ends it by SIGTERM; a failure if it does not end well.
    pub(crate) fn stop(mut self) -> ChoreResult {
        ProgramRun::isolated("kill", &self.own).arg("-TERM").arg(self.child.id().to_string()).success()?;
        let begin = Instant::now();
        loop {
            match self.child.try_wait()? {
                Some(status) if status.success() => return Ok(()),
                Some(status) => {
                    return Err(ChoreFailure::new(format!("serve ended with {status} after SIGTERM\n{}", self.log()?)));
                }
                None if begin.elapsed() > PATIENCE => {
                    return Err(ChoreFailure::new(format!("serve does not end after SIGTERM\n{}", self.log()?)));
                }
                None => sleep(Duration::from_millis(10)),
            }
        }
    }
}

impl Drop for ServedBridge {
    fn drop(&mut self) {
        // It may have ended already.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}
