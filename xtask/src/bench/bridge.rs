//! The bridge beside nginx with the same files, beside the registry itself, and `run` beside a static mirror.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use tofu_oci_testkit::{Certificates, RealRegistry};

use super::loads::MeasuredLoads;
use super::measure::output;
use super::package::BenchPackage;
use crate::failure::{ChoreFailure, ChoreResult};
use crate::nginx::{Nginx, NginxWorkers};
use crate::paths;
use crate::process::{ProgramRun, find};
use crate::served::{ServedBridge, free_port};
use tofu_oci_testkit::RealTransport;

const HOST: &str = "registry.example.test";

/// The bridges in front of the registries of the bench, and nginx with the same documents and the same package, if the machine has it.
pub(super) struct BridgeBench {
    tls: (u16, ServedBridge),
    plain: (u16, ServedBridge),
    /// Over TLS too, with `cache.all`, and the registry of the host.
    kept: (u16, ServedBridge),
    nginx: Option<Nginx>,
    ca: PathBuf,
    /// `HOST/bench/TYPE/FILE` of the package.
    zip: String,
    /// Their paths at a bridge, and below the folder of nginx.
    documents: Vec<(String, String)>,
    main: String,
    template: String,
}

impl BridgeBench {
    /// Starts everything for a release that both registries have at `bench/TYPE`.
    pub(super) fn make(
        work: &Path,
        program: &Path,
        package: &BenchPackage,
        certificates: &Certificates,
        registries: [&RealRegistry; 2],
    ) -> ChoreResult<Self> {
        let folder = work.join("bridge");
        let ca = folder.join("ca.pem");
        paths::write(&ca, certificates.ca_pem())?;
        let bridge = |name: &str, registry: &RealRegistry, certificates: Option<&Certificates>, more: [&str; 2]| {
            let port = free_port()?;
            let url = match certificates {
                Some(_) => format!("https://localhost:{port}/"),
                None => format!("http://localhost:{port}/"),
            };
            let own = folder.join(name);
            let settings = format!(
                "url = \"{url}\"\n{}[[provider]]\ninclude = [\"{HOST}/*/*\"]\nfrom = \"{}/${{namespace}}/${{type}}\"\n\n\
                 [cache]\ndir = \"{}\"\nmetadata = \"1h\"\n{}",
                more[0],
                registry.address(),
                own.join("cache").display(),
                more[1]
            );
            let run = ProgramRun::isolated(program, &own).variable("TOFU_OCI_CA_FILE", &ca);
            ServedBridge::start(run, &own, port, certificates, &settings).map(|bridge| (port, bridge))
        };
        let key = folder.join("key.asc");
        fs::create_dir_all(&folder)?;
        ProgramRun::isolated(program, &folder).args(["serve", "--new-key"]).arg(&key).success()?;
        let registry = format!("hosts = [\"{HOST}\"]\nsigning_key = \"{}\"\n", key.display());
        let tls = bridge("tls", registries[0], Some(certificates), [""; 2])?;
        let plain = bridge("plain", registries[1], None, [""; 2])?;
        let kept = bridge("kept", registries[0], Some(certificates), [&registry, "all = true\n"])?;
        let base = package.address();
        let zip = package.zip();
        let name = zip.file_name().unwrap_or_default().to_string_lossy().into_owned();
        let version = &package.version;
        // A client of the mirror needs the first two there.
        let documents = vec![
            (format!("mirror/{base}/index.json"), format!("{base}/index.json")),
            (format!("mirror/{base}/{version}.json"), format!("{base}/{version}.json")),
            (format!("registry/{base}/versions"), format!("{base}/versions")),
            (format!("registry/{base}/{version}/download/linux/amd64"), format!("{base}/download")),
        ];
        let served = folder.join("served");
        for (document, file) in &documents {
            let body = output(&mut curl(&ca, &format!("https://localhost:{}/{document}", kept.0)))?;
            paths::write(&served.join(file), body)?;
        }
        fs::copy(&zip, served.join(&base).join(&name))?;
        fs::create_dir_all(folder.join("nginx"))?;
        let start = || Nginx::start_with(&folder.join("nginx"), &served, certificates, NginxWorkers::OnAllCores);
        let nginx = find("nginx").map(|_| start()).transpose()?;
        let main = format!(
            "terraform {{\n  required_providers {{\n    x = {{ source = \"{base}\", version = \"{}\" }}\n  }}\n}}\n",
            package.version
        );
        let template = format!("{}/${{namespace}}/${{type}}", registries[0].address());
        Ok(Self { tls, plain, kept, nginx, ca, zip: format!("{base}/{name}"), documents, main, template })
    }

    /// The package through the bridge, to nowhere.
    pub(super) fn download(&self, wire: RealTransport) -> Command {
        curl(&self.ca, &self.package_url(wire))
    }

    /// The same, verified on the disk of the bridge.
    pub(super) fn download_kept(&self) -> Command {
        curl(&self.ca, &self.kept_url())
    }

    /// The same from nginx.
    pub(super) fn download_from_nginx(&self) -> ChoreResult<Command> {
        Ok(curl(&self.ca, &format!("{}{}", self.nginx()?.url(), self.zip)))
    }

    fn nginx(&self) -> ChoreResult<&Nginx> {
        self.nginx.as_ref().ok_or_else(|| ChoreFailure::new("no nginx"))
    }

    fn kept_url(&self) -> String {
        format!("https://localhost:{}/mirror/{}", self.kept.0, self.zip)
    }

    fn package_url(&self, wire: RealTransport) -> String {
        match wire {
            RealTransport::Tls => format!("https://localhost:{}/mirror/{}", self.tls.0, self.zip),
            RealTransport::Plain => format!("http://localhost:{}/mirror/{}", self.plain.0, self.zip),
        }
    }

    /// `terraform init` from nginx.
    pub(super) fn init_from_nginx(&self, folder: &Path) -> ChoreResult<Command> {
        let method = format!("network_mirror {{\n    url = \"{}\"\n  }}", self.nginx()?.url());
        let mut command = Command::new(terraform()?);
        self.in_project(&mut command, folder, &method)?;
        command.env("SSL_CERT_FILE", &self.ca).args(["init", "-input=false", "-no-color"]);
        Ok(command)
    }

    /// `run -- terraform init` from the registry.
    pub(super) fn run_init(&self, mut command: Command, folder: &Path) -> ChoreResult<Command> {
        let method = format!(
            "oci_mirror {{\n    repository_template = \"{}\"\n    include = [\"{HOST}/*/*\"]\n  }}",
            self.template
        );
        self.in_project(&mut command, folder, &method)?;
        command.args(["run", "--"]).arg(terraform()?).args(["init", "-input=false", "-no-color"]);
        Ok(command)
    }

    fn in_project(&self, command: &mut Command, folder: &Path, method: &str) -> ChoreResult {
        paths::write(&folder.join("main.tf"), &self.main)?;
        paths::write(&folder.join("cli.tfrc"), format!("provider_installation {{\n  {method}\n}}\n"))?;
        command.current_dir(folder).env("TF_CLI_CONFIG_FILE", folder.join("cli.tfrc"));
        command.env("CHECKPOINT_DISABLE", "1").env("HOME", folder);
        Ok(())
    }

    /// What loads cost: metadata beside nginx if `wrk` is here, and the memory of many downloads at once.
    pub(super) fn loads(&self) -> ChoreResult<MeasuredLoads> {
        let mut loads = MeasuredLoads::default();
        if let (Some(wrk), Some(nginx)) = (find("wrk"), &self.nginx) {
            for (document, file) in &self.documents {
                let name = file.rsplit('/').next().unwrap_or_default();
                let urls = [format!("https://localhost:{}/{document}", self.kept.0), format!("{}{file}", nginx.url())];
                loads.add_metadata(&wrk, name, [&urls[0], &urls[1]])?;
            }
        } else {
            eprintln!("metadata of the bridge: NOT MEASURED, `wrk` or `nginx` is not on the PATH");
        }
        let streamed = self.package_url(RealTransport::Tls);
        loads.add_memory("streamed from the registry", &self.tls.1, &streamed, curl(&self.ca, &streamed))?;
        let kept = self.kept_url();
        loads.add_memory("from the disk of the bridge", &self.kept.1, &kept, curl(&self.ca, &kept))?;
        Ok(loads)
    }
}

/// A download to standard output of no more than a few lines, or to nowhere for a package.
fn curl(ca: &Path, url: &str) -> Command {
    let mut command = Command::new("curl");
    command.args(["--silent", "--show-error", "--fail", "--http1.1", "--cacert"]).arg(ca).arg(url);
    if Path::new(url).extension().is_some_and(|extension| extension == "zip") {
        command.args(["--output", "/dev/null"]);
    }
    command
}

fn terraform() -> ChoreResult<PathBuf> {
    find("terraform").ok_or_else(|| ChoreFailure::new("no terraform"))
}
