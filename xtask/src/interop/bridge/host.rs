//! The provider registry protocol of the bridge's own hostnames: what clients demand a signature for.

use super::site::{BridgeSite, HOST, VERSIONS, clients, host_block};
use crate::failure::{ChoreFailure, ChoreResult};
use crate::interop::lab::seen;
use crate::interop::terraform::ADDRESS;
use crate::nginx::Nginx;
use crate::served::free_port;
use crate::signed_origin::SignedOrigin;

/// Of `testdata/provider`.
const PLATFORMS: usize = 3;

pub(super) fn run(site: &BridgeSite<'_>) -> ChoreResult {
    let port = free_port()?;
    let ported = format!("localhost:{port}");
    site.push(&ported, "ported", VERSIONS[0], "artifact")?;
    let bridge = site.bridge(port, &site.settings(&[HOST.to_owned(), ported.clone()], "", ""))?;
    for client in clients() {
        let project = site.project(client, ADDRESS, &host_block(port))?;
        project.init()?.success()?.must_show("key ID")?;
        project.must_run(VERSIONS[1])?;
        let locked = project.lock_file()?;
        if locked.matches("\"zh:").count() != PLATFORMS {
            return Err(ChoreFailure::new(format!("{client} has not recorded every platform\n{locked}")));
        }
        project.client(&["providers", "lock", "-platform=darwin_arm64"])?.success()?;
        let mirrored = site.lab.new_folder("mirrored")?;
        project.client(&["providers", "mirror", "-platform=linux_arm64"])?.arg(&mirrored).success()?;
        seen(&format!("host: {client} verifies the bridge's own signature, and locks all platforms by it"));
        site.project(client, &format!("{ported}/ported/demo"), "")?.must_run(VERSIONS[0])?;
        seen(&format!("host: {client} finds the registry by service discovery"));
    }
    added(site, port)?;
    published_signature(site, port)?;
    bridge.stop()
}

/// A version that was added is chosen after the time to live.
fn added(site: &BridgeSite<'_>, port: u16) -> ChoreResult {
    let address = format!("{HOST}/added/demo");
    let project = site.project("terraform", &address, &host_block(port))?;
    site.push(HOST, "added", VERSIONS[0], "both")?;
    project.must_run(VERSIONS[0])?;
    site.push(HOST, "added", VERSIONS[1], "both")?;
    site.until_shows(&format!("https://localhost:{port}/registry/{HOST}/added/demo/versions"), VERSIONS[1])?;
    project.init()?.arg("-upgrade").success()?;
    project.must_run(VERSIONS[1])?;
    seen("host: a version that was added is chosen after the time to live");
    Ok(())
}

/// A release that its publisher signed keeps that signature.
fn published_signature(site: &BridgeSite<'_>, port: u16) -> ChoreResult {
    let server = Nginx::start(&site.lab.new_folder("nginx")?, &site.lab.new_folder("origin")?, site.certificates)?;
    let address = format!("{HOST}/signed/demo");
    let mut origin = SignedOrigin::new(&server, &address, &site.lab.new_folder("gnupg")?)?;
    origin.publish(VERSIONS[0], &site.releases[0])?;
    let configuration = site.lab.new_folder("cli")?.join("cli.tfrc");
    crate::paths::write(&configuration, origin.host_block())?;
    let mirror = site.program().args(["mirror", &address, "--to", &site.template()]);
    mirror.variable("TF_CLI_CONFIG_FILE", &configuration).success()?;
    let sums = format!("terraform-provider-demo_{}_SHA256SUMS", VERSIONS[0]);
    for name in [sums.clone(), format!("{sums}.sig")] {
        let bridged = format!("https://localhost:{port}/registry/{address}/{}/{name}", VERSIONS[0]);
        if site.read(&bridged)? != site.read(&format!("{}files/{name}", server.url()))? {
            return Err(ChoreFailure::new(format!("{bridged} is not what the publisher signed")));
        }
    }
    for client in clients() {
        site.project(client, &address, &host_block(port))?.must_run(VERSIONS[0])?;
    }
    seen("host: a mirrored release is served with its publisher's checksums, signature and key");
    Ok(())
}
