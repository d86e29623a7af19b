//! A real registry:2: for people in the foreground, and for the other chores as long as they hold its [`Guard`].

mod guard;

use std::fs;
use std::path::PathBuf;

use clap::Subcommand;

use crate::failure::{Doing, Failure, Outcome};
use crate::paths;
use crate::process::{Run, find};

pub(crate) use guard::Guard;

/// Arguments of the chore.
#[derive(Debug, clap::Args)]
pub(crate) struct Arguments {
    #[command(subcommand)]
    action: Action,
}

#[derive(Debug, Subcommand)]
enum Action {
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
pub(crate) fn run(arguments: &Arguments) -> Outcome {
    match arguments.action {
        Action::Start { port, tls } => start(port, tls),
        Action::Stop { port } => stop(port),
    }
}

fn start(port: u16, tls: bool) -> Outcome {
    let program = find("docker-registry").ok_or_else(|| Failure::new(guard::MISSING))?;
    let folder = folder(port);
    fs::create_dir_all(&folder)?;
    let certificates = if tls { Some(guard::write_certificates(&folder)?) } else { None };
    let address = format!("127.0.0.1:{port}");
    let configuration = folder.join("config.yml");
    paths::write(&configuration, guard::configuration(&address, &folder.join("data"), certificates.as_ref()))?;
    println!("# registry:2 on {address}; Ctrl-C or `cargo xtask registry stop --port {port}` ends it");
    let more = certificates.map(|files| format!(" --ca-file {}", files.authority.display())).unwrap_or_default();
    println!("# tofu-oci push testdata/dist {address}/acme/widget --address registry.example.test/acme/widget{more}");
    let run = Run::isolated(program, &folder).arg("serve").arg(&configuration).variable("OTEL_TRACES_EXPORTER", "none");
    let mut child = run.start(&folder.join("log"))?;
    paths::write(&folder.join("pid"), child.id().to_string())?;
    let status = child.wait()?;
    fs::remove_file(folder.join("pid")).ok();
    if status.success() || status.code().is_none() {
        return Ok(());
    }
    let log = fs::read_to_string(folder.join("log")).unwrap_or_default();
    Err(Failure::new(format!("docker-registry ended\n{}", log.lines().last().unwrap_or_default())))
}

fn stop(port: u16) -> Outcome {
    let file = folder(port).join("pid");
    let pid = fs::read_to_string(&file).doing(|| format!("no registry was started on port {port}"))?;
    Run::isolated("kill", &folder(port)).arg(pid.trim()).success()?;
    println!("registry on port {port} stopped");
    Ok(())
}

fn folder(port: u16) -> PathBuf {
    paths::root().join("target/registry").join(port.to_string())
}
