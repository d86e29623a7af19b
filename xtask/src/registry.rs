//! A real registry:2: for people in the foreground, and for the other chores as long as they hold its [`Guard`].

mod guard;

use std::fs;
use std::path::{Path, PathBuf};

use clap::Subcommand;
use tofu_oci_testkit::Certificates;

use crate::failure::{ChoreFailure, ChoreResult, Doing};
use crate::paths;
use crate::process::{ProgramRun, find};

pub(crate) use guard::Guard;

/// The message if no registry is installed.
const MISSING: &str = "there is no `docker-registry` on the PATH (Debian and Ubuntu: apt-get install docker-registry)";

/// Arguments of the chore.
#[derive(Debug, clap::Args)]
pub(crate) struct RegistryArgs {
    #[command(subcommand)]
    action: RegistryAction,
}

#[derive(Debug, Subcommand)]
enum RegistryAction {
    /// Run a registry on 127.0.0.1 until Ctrl-C; what is pushed stays in target/registry/
    Start {
        /// Port on 127.0.0.1
        #[arg(long, default_value_t = 5000)]
        port: u16,
        /// Speak TLS with a certificate of a private authority, whose file is printed for --ca-file
        #[arg(long)]
        tls: bool,
    },
    /// Stop the registry that `start` runs on a port
    Stop {
        /// Port on 127.0.0.1
        #[arg(long, default_value_t = 5000)]
        port: u16,
    },
}

/// Runs or stops a registry.
pub(crate) fn run(arguments: &RegistryArgs) -> ChoreResult {
    match arguments.action {
        RegistryAction::Start { port, tls } => start(port, tls),
        RegistryAction::Stop { port } => stop(port),
    }
}

fn start(port: u16, tls: bool) -> ChoreResult {
    let program = find("docker-registry").ok_or_else(|| ChoreFailure::new(MISSING))?;
    let folder = folder(port);
    fs::create_dir_all(&folder)?;
    let address = format!("127.0.0.1:{port}");
    let tls_part = if tls { tls_configuration(&folder)? } else { String::new() };
    let data = folder.join("data");
    let configuration = format!(
        "version: 0.1\nlog: {{level: warn}}\nstorage:\n  filesystem: {{rootdirectory: '{}'}}\n  delete: {{enabled: true}}\n\
         http:\n  addr: {address}\n{tls_part}",
        data.display()
    );
    paths::write(&folder.join("config.yml"), configuration)?;
    println!("# registry:2 on {address}; Ctrl-C or `cargo xtask registry stop --port {port}` ends it");
    let trust = if tls { format!(" --ca-file {}", folder.join("ca.pem").display()) } else { String::new() };
    println!("# tofu-oci push testdata/dist {address}/acme/widget --address registry.example.test/acme/widget{trust}");
    if tls {
        println!("# export SSL_CERT_FILE={}   (OpenTofu and tofu-oci trust it then)", folder.join("ca.pem").display());
    }
    let run = ProgramRun::isolated(program, &folder).arg("serve").arg(folder.join("config.yml"));
    let mut child = run.start(&folder.join("log"))?;
    paths::write(&folder.join("pid"), child.id().to_string())?;
    let status = child.wait()?;
    fs::remove_file(folder.join("pid")).ok();
    if status.success() || status.code().is_none() {
        return Ok(());
    }
    let log = fs::read_to_string(folder.join("log")).unwrap_or_default();
    Err(ChoreFailure::new(format!("docker-registry ended\n{}", log.lines().last().unwrap_or_default())))
}

/// Writes the certificates of a new authority; the lines of the configuration that name them.
fn tls_configuration(folder: &Path) -> ChoreResult<String> {
    let certificates = Certificates::generate();
    let (server, key) = (folder.join("server.pem"), folder.join("server.key"));
    paths::write(&folder.join("ca.pem"), certificates.ca_pem())?;
    paths::write(&server, certificates.server_pem())?;
    paths::write(&key, certificates.server_key_pem())?;
    Ok(format!("  tls: {{certificate: '{}', key: '{}'}}\n", server.display(), key.display()))
}

fn stop(port: u16) -> ChoreResult {
    let file = folder(port).join("pid");
    let pid = fs::read_to_string(&file).doing(|| format!("no registry was started on port {port}"))?;
    ProgramRun::isolated("kill", &folder(port)).arg(pid.trim()).success()?;
    println!("registry on port {port} stopped");
    Ok(())
}

fn folder(port: u16) -> PathBuf {
    paths::root().join("target/registry").join(port.to_string())
}
