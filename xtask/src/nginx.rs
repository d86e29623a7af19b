//! nginx: a web server over a folder that knows nothing of providers, with TLS; and a balancer before several bridges.

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
    /// What it serves; its own folder if that is nothing.
    folder: PathBuf,
}

impl Nginx {
    /// Hands requests on to these ports in turn, as plain HTTP. If one accepts no connection, the next one gets the request.
    pub(crate) fn before(own: &Path, ports: &[u16]) -> ChoreResult<Self> {
        let servers: Vec<String> =
            ports.iter().map(|port| format!("server 127.0.0.1:{port} max_fails=1 fail_timeout=1s;")).collect();
        let port = free_port()?;
        // Without a Connection header nginx keeps its connections to the bridges.
        let http = format!(
            "upstream bridges {{ {} keepalive 64; }}\nproxy_http_version 1.1;\nproxy_set_header Connection \"\";\n\
             proxy_set_header Host $http_host;\nserver {{\nlisten 127.0.0.1:{port};\nlocation / {{ proxy_pass http://bridges; }}\n}}\n",
            servers.join(" ")
        );
        fs::create_dir_all(own)?;
        Self::run(own, own, port, NginxWorkers::One, &http)
    }

    /// The port that it listens at.
    pub(crate) fn port(&self) -> u16 {
        self.port
    }

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
        paths::write(&own.join("server.pem"), certificates.server_pem())?;
        paths::write(&own.join("server.key"), certificates.server_key_pem())?;
        let port = free_port()?;
        let http = format!(
            "log_format requests '$request_method $request_uri $status';\naccess_log access.log requests;\n\
             server {{\nlisten 127.0.0.1:{port} ssl;\nssl_certificate server.pem;\nssl_certificate_key server.key;\n\
             location /providers/ {{ alias {}/; }}\n}}\n",
            folder.display()
        );
        Self::run(own, folder, port, workers, &http)
    }

    /// Starts it with these settings of its `http` block.
    fn run(own: &Path, folder: &Path, port: u16, workers: NginxWorkers, http: &str) -> ChoreResult<Self> {
        let program = find("nginx").ok_or_else(|| ChoreFailure::new("nginx is not on the PATH"))?;
        let processes = match workers {
            NginxWorkers::One => "master_process off",
            // A worker of another user could not read the folder. For anyone but root the line has no effect.
            NginxWorkers::OnAllCores => "user root;\nworker_processes auto",
        };
        let configuration = format!(
            "daemon off;\n{processes};\npid nginx.pid;\nerror_log error.log;\nevents {{}}\nhttp {{\nkeepalive_requests 1000000;\n\
             types {{ application/json json; application/zip zip; }}\ndefault_type application/json;\naccess_log off;\n\
             client_body_temp_path temp;\nproxy_temp_path temp;\nfastcgi_temp_path temp;\nuwsgi_temp_path temp;\nscgi_temp_path temp;\n\
             {http}}}\n"
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
