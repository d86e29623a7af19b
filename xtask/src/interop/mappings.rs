//! A provider is found by an `oci_mirror` block, by the magic suffix and by `oci-providers.v1`, each with a real
//! registry and a real HTTPS server.
//!
//! ```text
//! oci_mirror          a block of the file that TF_CLI_CONFIG_FILE names
//! the magic suffix    localhost.SUFFIX:PORT is the registry on localhost:PORT, by each way to choose the suffix
//! oci-providers.v1    a document of Python's HTTPS server; what it may not say is refused with its code
//! air-gapped          oci_mirror alone: the HTTPS server is never asked
//! tofu                real tofu, if it is installed, reads the same files: the same packages, locks and refusals
//! ```
//!
//! One private authority signs the registry's certificate and the HTTPS server's.

mod checks;
mod discovered;
mod opentofu;
mod origin;
mod user;

use super::https::HttpsServer;
use super::lab::{Lab, seen, text};
use super::registries::{ADDRESS, PLATFORM};
use crate::failure::{ChoreFailure, ChoreResult};
use crate::paths;
use crate::process::find;
use crate::registry::Guard;
use checks::{installed_from, nothing_in, oci_mirror_alone};
use user::MappingUser;

pub(super) fn run(lab: &Lab) -> ChoreResult {
    let registry = Guard::tls()?;
    let certificates = registry.certificates().ok_or_else(|| ChoreFailure::new("the registry has no certificates"))?;
    let server = HttpsServer::start(lab, certificates)?;
    let dist = text(&paths::testdata().join("dist"));
    let mirror = format!("{}/mirror/acme/widget", registry.address());
    lab.tofu_oci(&registry, &["push", &dist, &mirror, "--address", ADDRESS]).success()?;

    through_oci_mirror(lab, &registry, &mirror)?;
    seen("an oci_mirror block of TF_CLI_CONFIG_FILE: resolve, explain, install, install again");
    by_magic_suffix(lab, &registry, &dist)?;
    seen("the magic suffix, as it is and chosen by option, variable and tofu_oci block: the same four");
    discovered::run(lab, &registry, &server, &dist)?;
    air_gapped(lab, &registry, &server)?;
    seen("oci_mirror alone: refused for every other provider, and the HTTPS server sees no connection");
    if find("tofu").is_none() {
        println!("   NOT RUN: `tofu` is not on the PATH, so nothing is compared with it");
        return Ok(());
    }
    opentofu::run(lab, &registry, &server)
}

fn through_oci_mirror(lab: &Lab, registry: &Guard, repository: &str) -> ChoreResult {
    let user = MappingUser::new(lab, registry)?.with_cli_configuration(&oci_mirror_alone(registry))?;
    installed_from(&user, ADDRESS, repository, "oci_mirror at ")
}

fn by_magic_suffix(lab: &Lab, registry: &Guard, dist: &str) -> ChoreResult {
    let port = registry.address().rsplit_once(':').map_or("", |(_, port)| port);
    let repository = format!("localhost:{port}/acme/opentofu-provider-widget");
    // The push tells by itself which address leads there.
    let pushed = lab.tofu_oci(registry, &["push", dist, &repository]).success()?;
    let address = format!("localhost.oci.opentofu.org:{port}/acme/widget");
    pushed.must_show(&address)?;
    // Any author of a module writes addresses, so a registry of this machine must be allowed.
    MappingUser::new(lab, registry)?
        .run(&["resolve", &address])
        .refused_with(1)?
        .must_show("--private-host localhost")?;
    let user =
        || Ok::<_, ChoreFailure>(MappingUser::new(lab, registry)?.with_variable("TOFU_OCI_PRIVATE_HOST", "localhost"));
    installed_from(&user()?, &address, &repository, "suffix .oci.opentofu.org")?;

    let address = format!("localhost.oci.example.test:{port}/acme/widget");
    let rule = "suffix .oci.example.test";
    let by_option = user()?.with_argument("--magic-suffix=.oci.example.test");
    installed_from(&by_option, &address, &repository, rule)?;
    let by_variable = user()?.with_variable("TOFU_OCI_MAGIC_SUFFIX", "oci.example.test");
    installed_from(&by_variable, &address, &repository, rule)?;
    let block = "tofu_oci {\n  magic_suffix = \"oci.example.test\"\n}\n";
    let by_block = user()?.with_home_file(".tofurc", block)?;
    installed_from(&by_block, &address, &repository, rule)
}

/// A configuration with mirrors only asks no host except the mirrors.
fn air_gapped(lab: &Lab, registry: &Guard, server: &HttpsServer) -> ChoreResult {
    let block = oci_mirror_alone(registry);
    let user = MappingUser::new(lab, registry)?.with_cli_configuration(&block)?;
    server.take_log()?;
    installed_from(&user, ADDRESS, &format!("{}/mirror/acme/widget", registry.address()), "oci_mirror at ")?;
    let port = registry.address().rsplit_once(':').map_or("", |(_, port)| port);
    for address in [format!("{}/acme/widget", server.host()), format!("localhost.oci.opentofu.org:{port}/acme/widget")]
    {
        let project = user.project(&address)?;
        let install = user.run(&["install", "--chdir", &text(&project), "--platform", PLATFORM]);
        install.refused_with(1)?.must_show("no installation method")?;
        nothing_in(&project)?;
        user.run(&["resolve", &address]).refused_with(1)?;
    }
    // An error in the file opens no way out either.
    let broken =
        MappingUser::new(lab, registry)?.with_cli_configuration(&block.replace("include", "includes = 1\n include"))?;
    let project = broken.project(&format!("{}/acme/widget", server.host()))?;
    broken.run(&["install", "--chdir", &text(&project), "--platform", PLATFORM]).refused_with(2)?;
    nothing_in(&project)?;
    match server.take_log()?.as_slice() {
        [] => Ok(()),
        log => Err(ChoreFailure::new(format!("an air-gapped configuration asks the HTTPS server: {log:?}"))),
    }
}
