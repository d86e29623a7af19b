//! The network mirror protocol.

use super::site::{BridgeSite, HOST, VERSIONS, clients, mirror_url, network_mirror};
use crate::failure::{ChoreFailure, ChoreResult};
use crate::interop::lab::seen;
use crate::interop::terraform::ADDRESS;
use crate::served::free_port;

const PLATFORMS: [&str; 2] = ["-platform=linux_amd64", "-platform=darwin_arm64"];

pub(super) fn run(site: &BridgeSite<'_>) -> ChoreResult {
    site.push(HOST, "acme", VERSIONS[0], "artifact")?;
    let port = free_port()?;
    let bridge = site.bridge(port, &site.settings(&[HOST.to_owned()], "", ""))?;
    let (url, clients) = (mirror_url(port), clients());
    let configuration = network_mirror(&url);
    let mut projects = Vec::new();
    for client in &clients {
        let project = site.project(client, ADDRESS, &configuration)?;
        project.must_run(VERSIONS[0])?;
        projects.push(project);
    }
    seen(&format!("mirror: {} init and apply over TLS with a private authority", clients.join(", ")));

    site.push(HOST, "acme", VERSIONS[1], "artifact")?;
    site.until_shows(&format!("{url}{ADDRESS}/index.json"), VERSIONS[1])?;
    for project in &projects {
        project.init()?.arg("-upgrade").success()?;
        project.must_run(VERSIONS[1])?;
    }
    seen("mirror: a version that was added is chosen after the time to live");

    for client in &clients {
        let project = site.project(client, ADDRESS, &configuration)?;
        let net_mirror = format!("-net-mirror={url}");
        project.client(&[&["providers", "lock", net_mirror.as_str()][..], &PLATFORMS].concat())?.success()?;
        let locked = project.lock_file()?;
        if locked.matches("\"h1:").count() != PLATFORMS.len() {
            return Err(ChoreFailure::new(format!("{client} providers lock wrote\n{locked}")));
        }
        project.must_run(VERSIONS[1])?;
    }
    seen("mirror: providers lock -net-mirror for two platforms, and init by it");

    site.push(HOST, "image", VERSIONS[0], "image")?;
    for client in &clients {
        site.project(client, &format!("{HOST}/image/demo"), &configuration)?.must_run(VERSIONS[0])?;
    }
    seen("mirror: a release of container images is served as zips, and runs");
    bridge.stop()?;
    seen("serve ends by SIGTERM with exit code 0");
    Ok(())
}
