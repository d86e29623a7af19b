//! What the registry lacks is pulled through from an origin, verified by its signature, and kept.

use super::site::{BridgeSite, HOST, VERSIONS, clients, mirror_url, network_mirror};
use crate::failure::{ChoreFailure, ChoreResult};
use crate::interop::lab::seen;
use crate::nginx::Nginx;
use crate::paths;
use crate::served::free_port;
use crate::signed_origin::SignedOrigin;

pub(super) fn run(site: &BridgeSite<'_>) -> ChoreResult {
    let server = Nginx::start(&site.lab.new_folder("nginx")?, &site.lab.new_folder("origin")?, site.certificates)?;
    let address = format!("{HOST}/pulled/demo");
    let mut origin = SignedOrigin::new(&server, &address, &site.lab.new_folder("gnupg")?)?;
    origin.publish(VERSIONS[1], &site.releases[1])?;
    let configuration = site.lab.new_folder("cli")?.join("cli.tfrc");
    paths::write(&configuration, origin.host_block())?;
    let program = site.program().variable("TF_CLI_CONFIG_FILE", &configuration);
    let settings = |sealed: bool| {
        format!(
            "sealed = {sealed}\n[[provider]]\ninclude = [\"{HOST}/*/*\"]\nfrom = \"{}\"\nupstream = [\"direct\"]\n",
            site.template()
        )
    };

    let port = free_port()?;
    let sealed = site.bridge_of(program.clone(), port, &format!("https://localhost:{port}/"), &settings(true))?;
    site.project("terraform", &address, &network_mirror(&mirror_url(port)))?.init()?.refused()?;
    if !server.take_log()?.is_empty() {
        return Err(ChoreFailure::new("a sealed bridge asked its upstream"));
    }
    sealed.stop()?;

    let port = free_port()?;
    let bridge = site.bridge_of(program, port, &format!("https://localhost:{port}/"), &settings(false))?;
    for client in clients() {
        site.project(client, &address, &network_mirror(&mirror_url(port)))?.must_run(VERSIONS[1])?;
    }
    let listed = site.lab.tofu_oci(site.registry, &["versions", &site.repository("pulled")]).success()?;
    listed.must_show(VERSIONS[1])?;
    site.lab.tofu_oci(site.registry, &["check", &site.repository("pulled")]).success()?;
    let zips = server.take_log()?.into_iter().filter(|line| line.starts_with("GET") && line.contains(".zip"));
    seen(&format!(
        "upstream: a provider that the registry lacks is pulled through, kept and checked, with {} packages fetched; sealed: never asked",
        zips.count()
    ));
    bridge.stop()
}
