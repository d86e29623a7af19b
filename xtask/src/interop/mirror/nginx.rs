//! nginx over a folder, with TLS: a web server that knows nothing of providers.

use std::net::TcpListener;
use std::path::Path;
use std::process::Child;
use std::thread::sleep;
use std::time::{Duration, Instant};

use tofu_oci_testkit::Certificates;

use crate::failure::{ChoreFailure, ChoreResult};
use crate::interop::lab::Lab;
use crate::paths;

/// How long it may take to begin.
const START: Duration = Duration::from_secs(10);

/// A running nginx; dropping it ends it.
pub(super) struct Nginx {
    child: Child,
    port: u16,
}

impl Nginx {
    /// Serves a folder as it is, on 127.0.0.1 and a free port.
    pub(super) fn start(lab: &Lab, folder: &Path, certificates: &Certificates) -> ChoreResult<Self> {
        let own = lab.new_folder("nginx")?;
        paths::write(&own.join("server.pem"), certificates.server_pem())?;
        paths::write(&own.join("server.key"), certificates.server_key_pem())?;
        // nginx takes no port 0, so a port that was free a moment ago is asked for.
        let port = TcpListener::bind("127.0.0.1:0")?.local_addr()?.port();
        let configuration = format!(
            "daemon off;\nmaster_process off;\npid nginx.pid;\nerror_log error.log;\nevents {{}}\nhttp {{\n\
             types {{ application/json json; application/zip zip; }}\naccess_log access.log;\n\
             client_body_temp_path temp;\nproxy_temp_path temp;\nfastcgi_temp_path temp;\nuwsgi_temp_path temp;\nscgi_temp_path temp;\n\
             server {{\nlisten 127.0.0.1:{port} ssl;\nssl_certificate server.pem;\nssl_certificate_key server.key;\n\
             location /providers/ {{ alias {}/; }}\n}}\n}}\n",
            folder.display()
        );
        let file = own.join("nginx.conf");
        paths::write(&file, configuration)?;
        let log = own.join("output");
        let run = lab.tool("nginx")?.arg("-p").arg(&own).arg("-c").arg(&file).arg("-e").arg(own.join("error.log"));
        let server = Self { child: run.start(&log)?, port };
        let begin = Instant::now();
        while std::net::TcpStream::connect(("127.0.0.1", port)).is_err() {
            if begin.elapsed() > START {
                let said = std::fs::read_to_string(own.join("error.log")).unwrap_or_default();
                return Err(ChoreFailure::new(format!("nginx does not start\n{said}")));
            }
            sleep(Duration::from_millis(20));
        }
        Ok(server)
    }

    /// The address of the folder.
    pub(super) fn url(&self) -> String {
        format!("https://localhost:{}/providers/", self.port)
    }
}

impl Drop for Nginx {
    fn drop(&mut self) {
        // It may have ended by itself.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}
