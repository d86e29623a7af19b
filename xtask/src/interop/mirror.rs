//! A signed origin is mirrored into registry:2, a folder behind nginx and a bundle, with runs killed at 20 moments;
//! terraform (and tofu) run what comes out.
//!
//! ```text
//! origin    nginx and a GnuPG key publish testdata/provider: two versions, three platforms
//! direct    install takes it from the origin, and writes the lock file that terraform writes
//! registry  mirror into registry:2; a second run sends nothing; terraform runs what install --vendor puts in place
//! killed    mirror killed at 20 moments: no half release, and the next run completes
//! static    mirror into a folder, served by nginx; terraform (and tofu) install from it; a version that the rules no longer name is gone
//! read      what `terraform providers mirror` writes is a source
//! bundle    one file, carried through a folder, loaded into another registry and installed from
//! ```

use std::fs;
use std::path::{Path, PathBuf};
use std::thread::sleep;
use std::time::Duration;

use super::lab::{Lab, seen, text};
use super::provider_build::release;
use super::terraform::{ADDRESS, TerraformProject};
use crate::failure::{ChoreFailure, ChoreResult};
use crate::nginx::Nginx;
use crate::paths;
use crate::process::{Printed, ProgramRun, find};
use crate::registry::Guard;
use crate::signed_origin::SignedOrigin;

/// The programs without which the sub-stage cannot run.
pub(super) const NEEDS: &[&str] = &["docker-registry", "gpg", "go", "terraform", "nginx"];

const VERSIONS: [&str; 2] = ["1.0.0", "1.1.0"];
const LOCK_FILE: &str = ".terraform.lock.hcl";

pub(super) fn run(lab: &Lab) -> ChoreResult {
    let registry = Guard::deletable_over_tls()?;
    let certificates = registry.certificates().ok_or_else(|| ChoreFailure::new("the registry has no certificates"))?;
    let server = Nginx::start(&lab.new_folder("nginx")?, &lab.new_folder("origin")?, certificates)?;
    let mut origin = SignedOrigin::new(&server, ADDRESS, &lab.new_folder("gnupg")?)?;
    for version in VERSIONS {
        origin.publish(version, &release(lab, version)?)?;
    }
    let site = MirrorSite::new(lab, &registry, &origin)?;
    direct(&site)?;
    into_registry(&site, &server)?;
    killed(&site)?;
    static_tree(&site, certificates)?;
    what_terraform_mirrors(&site)?;
    bundle(&site)
}

/// A platform team: its registry, and a CLI configuration that leads to the origin.
struct MirrorSite<'a> {
    lab: &'a Lab,
    registry: &'a Guard,
    authority: PathBuf,
    host_block: String,
    configuration: PathBuf,
}

impl<'a> MirrorSite<'a> {
    fn new(lab: &'a Lab, registry: &'a Guard, origin: &SignedOrigin<'_>) -> ChoreResult<Self> {
        let authority = registry.ca_file().ok_or_else(|| ChoreFailure::new("the registry speaks no TLS"))?.to_owned();
        let configuration = lab.new_folder("cli")?.join("cli.tfrc");
        let host_block = origin.host_block();
        paths::write(&configuration, &host_block)?;
        Ok(Self { lab, registry, authority, host_block, configuration })
    }

    fn program(&self, arguments: &[&str]) -> ProgramRun {
        self.lab.tofu_oci(self.registry, arguments).variable("TF_CLI_CONFIG_FILE", &self.configuration)
    }

    /// A template of this site's registry.
    fn template(&self, path: &str) -> String {
        format!("{}/{path}/${{namespace}}/${{type}}", self.registry.address())
    }

    fn repository(&self, path: &str) -> String {
        format!("{}/{path}/acme/demo", self.registry.address())
    }

    fn project(&self, client: &'static str, configuration: &str) -> ChoreResult<TerraformProject<'a>> {
        Ok(TerraformProject::new(self.lab, client)?
            .with_cli_configuration(configuration)?
            .with_certificates(&self.authority))
    }

    /// `install --vendor` from a place, and real terraform runs it.
    fn must_run(&self, from: &str, version: &str) -> ChoreResult {
        let project = self.project("terraform", "")?;
        let (wanted, directory) = (format!("{ADDRESS}@{version}"), text(project.directory()));
        self.program(&["install", &wanted, "--from", from, "--chdir", &directory, "--vendor"]).success()?;
        project.must_run(version)
    }
}

/// Straight from the origin: the package runs, and the lock file has what terraform's has.
fn direct(site: &MirrorSite<'_>) -> ChoreResult {
    let theirs = site.project("terraform", &site.host_block)?;
    theirs.must_run("1.1.0")?;
    let ours = site.project("terraform", &site.host_block)?;
    let directory = text(ours.directory());
    site.program(&["install", ADDRESS, "--chdir", &directory, "--vendor"]).success()?;
    let (ours_text, theirs_text) = (lock_file(ours.directory())?, lock_file(theirs.directory())?);
    let hashes =
        |text: &str| text.lines().filter(|line| line.trim().starts_with('"')).map(str::to_owned).collect::<Vec<_>>();
    if hashes(&ours_text) != hashes(&theirs_text) {
        return Err(ChoreFailure::new(format!("the lock files differ\n{ours_text}\n{theirs_text}")));
    }
    ours.must_run("1.1.0")?;
    seen("install from a signed origin: the checksums of terraform's own lock file, and terraform runs it");
    Ok(())
}

fn lock_file(directory: &Path) -> ChoreResult<String> {
    Ok(fs::read_to_string(directory.join(LOCK_FILE))?)
}

fn into_registry(site: &MirrorSite<'_>, server: &Nginx) -> ChoreResult {
    let (template, repository) = (site.template("mirror"), site.repository("mirror"));
    let planned = site.program(&["mirror", ADDRESS, "--to", &template, "--plan"]).success()?;
    planned.must_show("1.1.0")?;
    site.program(&["versions", &repository]).refused()?;
    site.program(&["mirror", ADDRESS, "--to", &template]).success()?;
    server.take_log()?;
    site.program(&["mirror", ADDRESS, "--to", &template]).success()?;
    let again: Vec<String> = server.take_log()?;
    if again.len() > 1 + VERSIONS.len() || again.iter().any(|line| line.contains(".zip")) {
        return Err(ChoreFailure::new(format!("a second run asked the origin for\n{}", again.join("\n"))));
    }
    site.program(&["check", &repository]).success()?;
    for version in VERSIONS {
        site.must_run(&repository, version)?;
    }
    seen(&format!(
        "mirror into registry:2; the second run sent {} requests to the origin; check is clean; terraform runs both versions",
        again.len()
    ));
    Ok(())
}

/// A run that is killed leaves whole releases, and the next one completes.
fn killed(site: &MirrorSite<'_>) -> ChoreResult {
    for nth in 0..20_u64 {
        let (template, repository) =
            (site.template(&format!("killed-{nth}")), site.repository(&format!("killed-{nth}")));
        let log = site.lab.new_folder("killed")?.join("log");
        let mut child = site.program(&["mirror", ADDRESS, "--to", &template]).start(&log)?;
        // Moments over the whole run, each at another one; the order is that of no clock.
        sleep(Duration::from_millis(10 + (nth * 7919) % 400));
        child.kill()?;
        child.wait()?;
        let listed = site.program(&["versions", &repository]).output()?;
        if VERSIONS.iter().any(|version| listed.stdout.contains(version)) {
            site.program(&["check", &repository]).success()?;
        }
        site.program(&["mirror", ADDRESS, "--to", &template]).success()?;
        site.program(&["check", &repository]).success()?;
        for version in VERSIONS {
            site.program(&["versions", &repository]).success()?.must_show(version)?;
        }
    }
    seen("mirror killed at 20 moments: whole releases only, the next run completes, check is clean");
    Ok(())
}

fn static_tree(site: &MirrorSite<'_>, certificates: &tofu_oci_testkit::Certificates) -> ChoreResult {
    let folder = site.lab.new_folder("static")?;
    let destination = format!("static:{}", folder.display());
    site.program(&["mirror", ADDRESS, "--to", &destination]).success()?;
    let nginx = Nginx::start(&site.lab.new_folder("nginx")?, &folder, certificates)?;
    let mirror = format!("provider_installation {{\n  network_mirror {{\n    url = \"{}\"\n  }}\n}}\n", nginx.url());
    let clients: Vec<&'static str> =
        ["terraform", "tofu"].into_iter().filter(|client| find(client).is_some()).collect();
    for client in &clients {
        site.project(client, &mirror)?.must_run("1.1.0")?;
    }
    let directory = text(&site.lab.new_folder("network")?);
    let from = nginx.url();
    site.program(&["install", ADDRESS, "--from", &from, "--chdir", &directory]).success()?;
    seen(&format!("a static tree behind nginx: {} and install --from take it from there", clients.join(", ")));
    site.must_run(&destination, "1.0.0")?;
    seen("the same tree as a folder: install --from static:DIR");
    Ok(())
}

/// The folder that real terraform writes.
fn what_terraform_mirrors(site: &MirrorSite<'_>) -> ChoreResult {
    let project = site.project("terraform", &site.host_block)?;
    let folder = site.lab.new_folder("terraform-mirror")?;
    let run =
        site.lab.tool("terraform")?.args(["providers", "mirror", "-platform=linux_amd64", "-platform=darwin_arm64"]);
    let run = run.arg(&folder).directory(project.directory()).variable("TF_CLI_CONFIG_FILE", &site.configuration);
    run.variable("SSL_CERT_FILE", &site.authority).variable("CHECKPOINT_DISABLE", "1").success()?;
    let from = format!("static:{}", folder.display());
    site.must_run(&from, "1.1.0")?;
    let template = site.template("from-terraform");
    let carried: Printed = site.program(&["mirror", ADDRESS, "--from", &from, "--to", &template]).success()?;
    carried.must_show("1.1.0")?;
    site.must_run(&site.repository("from-terraform"), "1.1.0")?;
    seen("what `terraform providers mirror` wrote: installed from, and mirrored into registry:2");
    Ok(())
}

fn bundle(site: &MirrorSite<'_>) -> ChoreResult {
    let file = site.lab.new_folder("carried")?.join("providers.tar");
    let name = text(&file);
    site.program(&["bundle", "create", &name, ADDRESS]).success()?;
    let first = fs::read(&file)?;
    fs::remove_file(&file)?;
    site.program(&["bundle", "create", &name, ADDRESS]).success()?;
    if fs::read(&file)? != first {
        return Err(ChoreFailure::new("two bundles of the same releases have other bytes"));
    }
    site.lab.stranger(&["bundle", "show", &name]).success()?.must_show("1.1.0")?;
    site.must_run(&format!("bundle:{name}"), "1.1.0")?;
    let elsewhere = Guard::tls()?;
    let template = format!("{}/inside/${{namespace}}/${{type}}", elsewhere.address());
    site.lab.tofu_oci(&elsewhere, &["bundle", "load", &name, &template]).success()?;
    let repository = format!("{}/inside/acme/demo", elsewhere.address());
    site.lab.tofu_oci(&elsewhere, &["check", &repository]).success()?;
    let project = site.project("terraform", "")?;
    let directory = text(project.directory());
    let install = ["install", ADDRESS, "--from", &repository, "--chdir", &directory, "--vendor"];
    site.lab.tofu_oci(&elsewhere, &install).success()?;
    project.must_run("1.1.0")?;
    seen("a bundle: the same bytes twice, read in place, loaded into another registry, run by terraform");
    Ok(())
}
