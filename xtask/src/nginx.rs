//! nginx over a folder, with TLS: a web server that knows nothing of providers.

use std::fs;
use std::net::TcpStream;
use std::path::{Path, PathBuf};
use std::process::Child;
use std::thread::sleep;
use std::time::{Duration, Instant};

use tofu_oci_testkit::Certificates;

use crate::failure::{ChoreFailure, ChoreResult, Doing};
use crate::paths;
use crate::process::{ProgramRun, find};
use crate::served::free_port;

/// How long it may take to begin.
const START: Duration = Duration::from_secs(10);

/// How many processes answer.
#[derive(Clone, Copy)]
pub(crate) enum NginxWorkers {
    /// The one that was started.
    One,
    /// One for each core.
    OnAllCores,
}

/// A running nginx; dropping it ends it.
pub(crate) struct Nginx {
    child: Child,
    port: u16,
    own: PathBuf,
    folder: PathBuf,
}

impl Nginx {
    /// Serves a folder as it is, on 127.0.0.1 and a free port. Its own files lie in `own`. A file without an ending is JSON.
    pub(crate) fn start(own: &Path, folder: &Path, certificates: &Certificates) -> ChoreResult<Self> {
        Self::start_with(own, folder, certificates, NginxWorkers::One)
    }

    /// The same with so many processes that answer.
    pub(crate) fn start_with(
        own: &Path,
        folder: &Path,
        certificates: &Certificates,
        workers: NginxWorkers,
    ) -> ChoreResult<Self> {
        let program = find("nginx").ok_or_else(|| ChoreFailure::new("nginx is not on the PATH"))?;
        paths::write(&own.join("server.pem"), certificates.server_pem())?;
        paths::write(&own.join("server.key"), certificates.server_key_pem())?;
        let port = free_port()?;
        let processes = match workers {
            NginxWorkers::One => "master_process off",
            // A worker of another user could not read the folder. For anyone but root the line has no effect.
            NginxWorkers::OnAllCores => "user root;\nworker_processes auto",
        };
        let configuration = format!(
            "daemon off;\n{processes};\npid nginx.pid;\nerror_log error.log;\nevents {{}}\nhttp {{\nkeepalive_requests 1000000;\n\
             types {{ application/json json; application/zip zip; }}\ndefault_type application/json;\n\
             log_format requests '$request_method $request_uri $status';\naccess_log access.log requests;\n\
             client_body_temp_path temp;\nproxy_temp_path temp;\nfastcgi_temp_path temp;\nuwsgi_temp_path temp;\nscgi_temp_path temp;\n\
             server {{\nlisten 127.0.0.1:{port} ssl;\nssl_certificate server.pem;\nssl_certificate_key server.key;\n\
             location /providers/ {{ alias {}/; }}\n}}\n}}\n",
            folder.display()
        );
        let file = own.join("nginx.conf");
        paths::write(&file, configuration)?;
        let run = ProgramRun::isolated(program, own).arg("-p").arg(own).arg("-c").arg(&file);
        let child = run.arg("-e").arg(own.join("error.log")).start(&own.join("output"))?;
        let server = Self { child, port, own: own.to_owned(), folder: folder.to_owned() };
        let begin = Instant::now();
        while TcpStream::connect(("127.0.0.1", port)).is_err() {
            if begin.elapsed() > START {
                let said = fs::read_to_string(own.join("error.log")).unwrap_or_default();
                return Err(ChoreFailure::new(format!("nginx does not start\n{said}")));
            }
            sleep(Duration::from_millis(20));
        }
        Ok(server)
    }

    /// The address of the folder.
    pub(crate) fn url(&self) -> String {
        format!("https://localhost:{}/providers/", self.port)
    }

    /// Serves a file at this path below the folder's address.
    pub(crate) fn serve(&self, path: &str, content: impl AsRef<[u8]>) -> ChoreResult {
        paths::write(&self.folder.join(path), content)
    }

    /// What came in since the last call: `GET /PATH STATUS` for each request.
    pub(crate) fn take_log(&self) -> ChoreResult<Vec<String>> {
        let log = self.own.join("access.log");
        let text = fs::read_to_string(&log).doing(|| format!("reading {}", log.display()))?;
        // nginx appends, so it goes on at the new end.
        fs::OpenOptions::new().write(true).open(&log)?.set_len(0)?;
        Ok(text.lines().map(str::to_owned).collect())
    }
}

impl Drop for Nginx {
    fn drop(&mut self) {
        // It may have ended by itself. A kill would leave its workers.
        let _ = ProgramRun::isolated("kill", &self.own).arg("-TERM").arg(self.child.id().to_string()).output();
        let _ = self.child.wait();
    }
}
