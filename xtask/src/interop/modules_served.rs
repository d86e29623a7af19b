//! Modules through `serve` and `run`: real terraform (and tofu) install them by version constraint.
//!
//! ```text
//! constraint   ~> 1.0 and //sub, with a token; nothing without it; a version that is added is chosen after -upgrade
//! oci          oci_locations: tofu fetches from the registry, terraform from the bridge
//! ran          run -- init, by modules.toml
//! pulled       from a scripted public registry, nested calls too; held by age and let in; sealed, with the registry gone
//! ```

use std::fs;
use std::path::Path;
use std::thread::sleep;
use std::time::Duration;

use tofu_oci_testkit::{Answer, Certificates, WebServer};
use tofu_oci_types::Digest;

use super::lab::{Lab, seen};
use super::terraform::TerraformProject;
use crate::failure::{ChoreFailure, ChoreResult};
use crate::paths;
use crate::process::{ProgramRun, find};
use crate::registry::Guard;
use crate::served::{ServedBridge, free_port};

/// The programs without which the sub-stage cannot run.
pub(super) const NEEDS: &[&str] = &["docker-registry", "terraform"];

/// Nothing answers under this name.
const HOST: &str = "registry.example.test";
const TOKEN: &str = "interop-token-0123456789abcdef0123456789abcdef";
const CALLS: &str = r#"module "network" {
  source  = "registry.example.test/acme/network/aws"
  version = "~> 1.0"
}

module "dns" {
  source  = "registry.example.test/acme/network/aws//dns"
  version = "~> 1.0"
}

output "says" {
  value = "module ${module.network.version}, ${module.dns.name}"
}
"#;

pub(super) fn run(lab: &Lab) -> ChoreResult {
    let registry = Guard::deletable_over_tls()?;
    let missing = || ChoreFailure::new("the registry speaks no TLS");
    let site = ModuleSite {
        lab,
        certificates: registry.certificates().ok_or_else(missing)?,
        authority: registry.ca_file().ok_or_else(missing)?,
        registry: &registry,
    };
    for client in clients() {
        constraint(&site, client)?;
        oci(&site, client)?;
        ran(&site, client)?;
        pulled(&site, client)?;
    }
    Ok(())
}

/// A registry, and what bridges and clients trust it by.
struct ModuleSite<'a> {
    lab: &'a Lab,
    registry: &'a Guard,
    certificates: &'a Certificates,
    authority: &'a Path,
}

impl<'a> ModuleSite<'a> {
    /// The repositories of a part of the stage.
    fn template(&self, name: &str) -> String {
        format!("{}/modules/{name}/${{namespace}}/${{name}}-${{target_system}}", self.registry.address())
    }

    fn push(&self, name: &str, version: &str) -> ChoreResult {
        let folder = self.lab.new_folder("module")?;
        paths::write(&folder.join("main.tf"), format!("output \"version\" {{\n  value = \"{version}\"\n}}\n"))?;
        paths::write(&folder.join("dns/main.tf"), "output \"name\" {\n  value = \"dns\"\n}\n")?;
        let repository = format!("{}/modules/{name}/acme/network-aws", self.registry.address());
        self.program().args(["module", "push"]).arg(folder).args([&repository, "--version", version]).success()?;
        Ok(())
    }

    fn program(&self) -> ProgramRun {
        self.lab.stranger(&[]).variable("TOFU_OCI_CA_FILE", self.authority)
    }

    fn bridge(&self, name: &str, port: u16, more: &str) -> ChoreResult<ServedBridge> {
        self.bridge_of(self.program(), (name, port), "", more)
    }

    /// The same with this program, and with lines on top.
    fn bridge_of(
        &self,
        program: ProgramRun,
        (name, port): (&str, u16),
        top: &str,
        more: &str,
    ) -> ChoreResult<ServedBridge> {
        let own = self.lab.new_folder("bridge")?;
        let settings = format!(
            "url = \"https://localhost:{port}/\"\n{top}\n[[module]]\ninclude = [\"{HOST}/*/*/*\"]\nfrom = \"{}\"\n{more}\n[cache]\ndir = \"{}\"\nmetadata = \"0s\"\n",
            self.template(name),
            own.join("cache").display()
        );
        ServedBridge::start(program, &own, port, Some(self.certificates), &settings)
    }

    fn project(&self, client: &'static str, configuration: &str) -> ChoreResult<TerraformProject<'a>> {
        let project = TerraformProject::new(self.lab, client)?.with_cli_configuration(configuration)?;
        paths::write(&project.directory().join("main.tf"), CALLS)?;
        Ok(project.with_certificates(self.authority))
    }
}

fn clients() -> Vec<&'static str> {
    ["terraform", "tofu"].into_iter().filter(|client| find(client).is_some()).collect()
}

fn host_block(port: u16) -> String {
    format!(
        "host \"{HOST}\" {{\n  services = {{\n    \"modules.v1\" = \"https://localhost:{port}/modules/{HOST}/\"\n  }}\n}}\n"
    )
}

/// The modules that the configuration says it has.
fn must_say(project: &TerraformProject<'_>, version: &str) -> ChoreResult {
    let apply = project.client(&["apply", "-auto-approve", "-input=false", "-no-color"])?;
    apply.success()?.must_show(&format!("module {version}, dns"))?;
    Ok(())
}

fn constraint(site: &ModuleSite<'_>, client: &'static str) -> ChoreResult {
    let (name, port) = (format!("served-{client}"), free_port()?);
    site.push(&name, "1.0.0")?;
    site.push(&name, "2.0.0")?;
    let token = Digest::sha256(TOKEN.as_bytes());
    let clients =
        format!("[[client]]\nname = \"ci\"\ntoken_sha256 = \"{}\"\nmodules = [\"{HOST}/acme/*/*\"]\n", token.encoded());
    let bridge = site.bridge(&name, port, &clients)?;
    let closed = site.project(client, &host_block(port))?;
    closed.init()?.refused()?.must_show("network")?;
    let credentials = format!("credentials \"{HOST}\" {{\n  token = \"{TOKEN}\"\n}}\n");
    let project = site.project(client, &(host_block(port) + &credentials))?;
    project.init()?.success()?;
    must_say(&project, "1.0.0")?;
    seen(&format!("modules: {client} by ~> 1.0 and //dns, with a token; refused without one"));
    site.push(&name, "1.1.0")?;
    project.init()?.success()?;
    must_say(&project, "1.0.0")?;
    project.client(&["get", "-update", "-no-color"])?.success()?;
    project.init()?.arg("-upgrade").success()?;
    must_say(&project, "1.1.0")?;
    seen(&format!("modules: {client} takes a version that was added, when it is asked to"));
    bridge.stop()
}

fn oci(site: &ModuleSite<'_>, client: &'static str) -> ChoreResult {
    let (name, port) = (format!("oci-{client}"), free_port()?);
    site.push(&name, "1.0.0")?;
    let bridge = site.bridge(&name, port, "oci_locations = true")?;
    let project = site.project(client, &host_block(port))?;
    project.init()?.success()?;
    must_say(&project, "1.0.0")?;
    let archives = bridge.log()?.matches("network-aws_1.0.0.zip").count();
    match (client, archives) {
        ("tofu", 0) | ("terraform", 1..) => {}
        _ => return Err(ChoreFailure::new(format!("{client} asked the bridge for {archives} archives"))),
    }
    seen(&format!("modules: with oci_locations {client} installs, and asks the bridge for {archives} archives"));
    bridge.stop()
}

fn ran(site: &ModuleSite<'_>, client: &'static str) -> ChoreResult {
    let name = format!("ran-{client}");
    site.push(&name, "1.0.0")?;
    let project = site.project(client, "")?;
    let mapping = format!(
        "[[module_mirror]]\ninclude = [\"{HOST}/*/*/*\"]\nrepository_template = \"{}\"\n",
        site.template(&name)
    );
    paths::write(&project.directory().join("modules.toml"), mapping)?;
    let run = site.program().args(["run", "--", client, "init", "-input=false", "-no-color"]);
    run.directory(project.directory()).variable("CHECKPOINT_DISABLE", "1").success()?.must_show("initialized")?;
    must_say(&project, "1.0.0")?;
    seen(&format!("modules: run -- {client} init, by modules.toml"));
    Ok(())
}

/// A registry of the public internet, whose archives are packed by hand.
struct PublicRegistry<'a> {
    site: &'a ModuleSite<'a>,
    web: WebServer,
}

impl PublicRegistry<'_> {
    /// Publishes the last of these versions of `acme/NAME/aws`, and lists them all.
    fn publish(&self, name: &str, versions: &[&str], files: &[(&str, &str)]) -> ChoreResult {
        let version = versions.last().copied().unwrap_or_default();
        let folder = self.site.lab.new_folder("public")?;
        for (file, text) in files {
            paths::write(&folder.join(file), text)?;
        }
        let zip = folder.join("module.zip");
        let listed: Vec<&str> = files.iter().map(|(file, _)| *file).collect();
        let python =
            "import sys,zipfile\nz=zipfile.ZipFile('module.zip','w')\n[z.write(f) for f in sys.argv[1:]]\nz.close()";
        self.site.lab.tool("python3")?.args(["-c", python]).args(&listed).directory(&folder).success()?;
        let base = format!("/v1/modules/acme/{name}/aws");
        self.web.page(&format!("/{name}-{version}.zip"), Answer::new(200).body(fs::read(zip)?));
        let located = Answer::new(204).header("X-Terraform-Get", format!("/{name}-{version}.zip"));
        self.web.page(&format!("{base}/{version}/download"), located);
        let versions: Vec<String> = versions.iter().map(|one| format!(r#"{{"version":"{one}"}}"#)).collect();
        let list = format!(r#"{{"modules":[{{"versions":[{}]}}]}}"#, versions.join(","));
        self.web.page(&format!("{base}/versions"), Answer::new(200).body(list));
        Ok(())
    }

    /// All that it has, with these versions of `network`; of the last alone it has the archive.
    fn publish_all(&self, versions: &[&str]) -> ChoreResult {
        self.web.clear();
        let version = versions.last().copied().unwrap_or_default();
        let main = format!("output \"version\" {{\n  value = \"{version}\"\n}}\n");
        let call = format!("module \"names\" {{\n  source = \"{HOST}/acme/names/aws\"\n  version = \"~> 0.1\"\n}}\n");
        let dns = call + "output \"name\" {\n  value = module.names.name\n}\n";
        self.publish("network", versions, &[("main.tf", &main), ("dns/main.tf", &dns)])?;
        self.publish("names", &["0.1.0"], &[("main.tf", "output \"name\" {\n  value = \"dns\"\n}\n")])
    }
}

fn pulled(site: &ModuleSite<'_>, client: &'static str) -> ChoreResult {
    let public = PublicRegistry { site, web: WebServer::with_certificates(site.certificates) };
    public.publish_all(&["1.0.0"])?;
    let name = format!("pulled-{client}");
    let upstream = site.lab.new_folder("cli")?.join("cli.tfrc");
    let services = format!("{{ \"modules.v1\" = \"{}/v1/modules/\" }}", public.web.origin());
    paths::write(&upstream, format!("host \"{HOST}\" {{\n  services = {services}\n}}\n"))?;
    // A project of its own: what it has installed before it keeps.
    let installs = |top: &str, rules: &str, version: &str| {
        let port = free_port()?;
        let program = site.program().variable("TF_CLI_CONFIG_FILE", &upstream);
        let bridge = site.bridge_of(program, (&name, port), top, &format!("upstream = [\"direct\"]\n{rules}"))?;
        let project = site.project(client, &host_block(port))?;
        project.init()?.success()?;
        must_say(&project, version)?;
        bridge.stop()
    };
    installs("", "", "1.0.0")?;
    seen(&format!("modules: {client} installs modules of a public registry through serve, nested ones too"));
    public.publish_all(&["1.0.0", "1.1.0"])?;
    installs("", "min_age = \"7d\"", "1.0.0")?;
    sleep(Duration::from_secs(2));
    installs("", "min_age = \"2s\"", "1.1.0")?;
    seen(&format!("modules: {client} gets a version that was held by its age when it is old enough"));
    drop(public);
    installs("sealed = true", "", "1.1.0")?;
    seen(&format!("modules: {client} installs from a sealed serve, with the public registry gone"));
    Ok(())
}
