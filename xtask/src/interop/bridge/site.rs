//! A platform team's registry with releases in it, and what its bridges and clients are made of.

use std::path::PathBuf;
use std::thread::sleep;
use std::time::{Duration, Instant};

use tofu_oci_testkit::Certificates;

use crate::failure::{ChoreFailure, ChoreResult};
use crate::interop::lab::{Lab, text};
use crate::interop::terraform::TerraformProject;
use crate::process::{ProgramRun, find};
use crate::registry::Guard;
use crate::served::ServedBridge;

/// The host of the providers. Nothing answers under this name: `host` blocks and mirrors lead to the bridge.
pub(super) const HOST: &str = "registry.example.test";
/// The versions of the provider, the older one first.
pub(super) const VERSIONS: [&str; 2] = ["1.0.0", "1.1.0"];
/// How long a bridge keeps metadata here.
const TIME_TO_LIVE: &str = "1s";
/// How long a change may take to be seen.
const PATIENCE: Duration = Duration::from_secs(15);

pub(super) struct BridgeSite<'a> {
    pub(super) lab: &'a Lab,
    pub(super) registry: &'a Guard,
    pub(super) certificates: &'a Certificates,
    pub(super) authority: PathBuf,
    /// A folder of release zips a version, in the order of `VERSIONS`.
    pub(super) releases: &'a [PathBuf; 2],
    /// The OpenPGP key that bridges sign with.
    key: PathBuf,
}

impl<'a> BridgeSite<'a> {
    pub(super) fn new(lab: &'a Lab, registry: &'a Guard, releases: &'a [PathBuf; 2]) -> ChoreResult<Self> {
        let missing = || ChoreFailure::new("the registry speaks no TLS");
        let certificates = registry.certificates().ok_or_else(missing)?;
        let authority = registry.ca_file().ok_or_else(missing)?.to_owned();
        let key = lab.new_folder("bridge-key")?.join("bridge-key.asc");
        lab.stranger(&["serve", "--new-key"]).arg(&key).success()?;
        lab.stranger(&["serve", "--new-key"]).arg(&key).refused()?;
        Ok(Self { lab, registry, certificates, authority, releases, key })
    }

    /// Where the releases of this site lie.
    pub(super) fn template(&self) -> String {
        format!("{}/own/${{namespace}}/${{type}}", self.registry.address())
    }

    pub(super) fn repository(&self, namespace: &str) -> String {
        format!("{}/own/{namespace}/demo", self.registry.address())
    }

    /// Publishes a version as `HOST/NAMESPACE/demo`.
    pub(super) fn push(&self, host: &str, namespace: &str, version: &str, layout: &str) -> ChoreResult {
        let nth = VERSIONS.iter().position(|known| *known == version);
        let nth = nth.ok_or_else(|| ChoreFailure::new(format!("{version} was not built")))?;
        let (folder, address) = (text(&self.releases[nth]), format!("{host}/{namespace}/demo"));
        let push = ["push", &folder, &self.repository(namespace), "--address", &address, "--layout", layout];
        self.lab.tofu_oci(self.registry, &push).success()?;
        Ok(())
    }

    /// The program, which trusts the registry.
    pub(super) fn program(&self) -> ProgramRun {
        self.lab.stranger(&[]).variable("TOFU_OCI_CA_FILE", &self.authority)
    }

    /// The lines of `serve.toml` that serve the providers of `hosts` out of the registry. `top` are lines of the document
    /// itself, `more` are tables.
    pub(super) fn settings(&self, hosts: &[String], top: &str, more: &str) -> String {
        let include: Vec<String> = hosts.iter().map(|host| format!("\"{host}/*/*\"")).collect();
        // All hosts share the repositories, each namespace published under one of them.
        let predecessors: Vec<String> = hosts.windows(2).map(|pair| format!("\"{}={}\"", pair[1], pair[0])).collect();
        let hosts: Vec<String> = hosts.iter().map(|host| format!("\"{host}\"")).collect();
        format!(
            "hosts = [{}]\npredecessors = [{}]\nsigning_key = \"{}\"\n{top}\n[[provider]]\ninclude = [{}]\nfrom = \"{}\"\n\n{more}\n",
            hosts.join(", "),
            predecessors.join(", "),
            self.key.display(),
            include.join(", "),
            self.template()
        )
    }

    /// A bridge with these settings, on `https://localhost:PORT/`.
    pub(super) fn bridge(&self, port: u16, settings: &str) -> ChoreResult<ServedBridge> {
        self.bridge_of(self.program(), port, &format!("https://localhost:{port}/"), settings)
    }

    /// The same for a program with more variables, and clients that know it by this URL.
    pub(super) fn bridge_of(
        &self,
        program: ProgramRun,
        port: u16,
        url: &str,
        settings: &str,
    ) -> ChoreResult<ServedBridge> {
        let own = self.lab.new_folder("bridge")?;
        let cache = own.join("cache");
        let settings = format!(
            "url = \"{url}\"\n{settings}\n[cache]\ndir = \"{}\"\nmetadata = \"{TIME_TO_LIVE}\"\n",
            cache.display()
        );
        ServedBridge::start(program, &own, port, Some(self.certificates), &settings)
    }

    /// A project of `client` that requires `HOST/NAMESPACE/demo`.
    pub(super) fn project(
        &self,
        client: &'static str,
        address: &str,
        configuration: &str,
    ) -> ChoreResult<TerraformProject<'a>> {
        let project = TerraformProject::new(self.lab, client)?.with_provider(address)?;
        Ok(project.with_cli_configuration(configuration)?.with_certificates(&self.authority))
    }

    /// The body of a document, whatever its status.
    pub(super) fn read(&self, url: &str) -> ChoreResult<Vec<u8>> {
        let curl = self.lab.tool("curl")?.args(["--silent", "--show-error", "--cacert"]);
        curl.arg(&self.authority).arg(url).bytes()
    }

    /// Waits until a document has this text.
    pub(super) fn until_shows(&self, url: &str, wanted: &str) -> ChoreResult {
        self.until(url, wanted, |text| text.contains(wanted))
    }

    /// Waits until a document lacks this text.
    pub(super) fn until_lacks(&self, url: &str, unwanted: &str) -> ChoreResult {
        self.until(url, unwanted, |text| !text.contains(unwanted))
    }

    fn until(&self, url: &str, what: &str, is_so: impl Fn(&str) -> bool) -> ChoreResult {
        let begin = Instant::now();
        loop {
            let body = String::from_utf8_lossy(&self.read(url)?).into_owned();
            if is_so(&body) {
                return Ok(());
            }
            if begin.elapsed() > PATIENCE {
                return Err(ChoreFailure::new(format!("{url}: `{what}` has not changed; it answers\n{body}")));
            }
            sleep(Duration::from_millis(100));
        }
    }
}

/// The clients that are on the PATH; terraform always.
pub(super) fn clients() -> Vec<&'static str> {
    ["terraform", "tofu"].into_iter().filter(|client| find(client).is_some()).collect()
}

/// The URL of a bridge's network mirror.
pub(super) fn mirror_url(port: u16) -> String {
    format!("https://localhost:{port}/mirror/")
}

/// A CLI configuration whose only method is the mirror of this URL.
pub(super) fn network_mirror(url: &str) -> String {
    format!("provider_installation {{\n  network_mirror {{\n    url = \"{url}\"\n  }}\n}}\n")
}

/// A CLI configuration that leads the provider host to a bridge's registry protocol.
pub(super) fn host_block(port: u16) -> String {
    format!(
        "host \"{HOST}\" {{\n  services = {{\n    \"providers.v1\" = \"https://localhost:{port}/registry/{HOST}/\"\n  }}\n}}\n"
    )
}
