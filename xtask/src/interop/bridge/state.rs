//! What publishers say of a release later.

use super::site::{BridgeSite, HOST, VERSIONS, clients, host_block, mirror_url, network_mirror};
use crate::failure::ChoreResult;
use crate::interop::lab::seen;
use crate::served::free_port;

const MESSAGE: &str = "use the provider of the new team";

pub(super) fn run(site: &BridgeSite<'_>) -> ChoreResult {
    let address = format!("{HOST}/state/demo");
    for version in VERSIONS {
        site.push(HOST, "state", version, "artifact")?;
    }
    let port = free_port()?;
    let bridge = site.bridge(port, &site.settings(&[HOST.to_owned()], "", ""))?;
    let index = format!("{}{address}/index.json", mirror_url(port));
    let ways = [network_mirror(&mirror_url(port)), host_block(port)];
    let change = |arguments: &[&str]| {
        let release = format!("{}:{}", site.repository("state"), VERSIONS[1]);
        site.lab.tofu_oci(site.registry, &[&[arguments[0], &release], &arguments[1..]].concat()).success()
    };
    site.until_shows(&index, VERSIONS[1])?;
    change(&["withdraw", "--reason", "it deletes state"])?;
    site.until_lacks(&index, VERSIONS[1])?;
    for client in clients() {
        for way in &ways {
            site.project(client, &address, way)?.must_run(VERSIONS[0])?;
        }
    }
    change(&["withdraw", "--undo"])?;
    site.until_shows(&index, VERSIONS[1])?;
    site.project("terraform", &address, &ways[0])?.must_run(VERSIONS[1])?;
    seen("state: a withdrawn version is not chosen, by either protocol, and again when it is back");

    change(&["deprecate", "--message", MESSAGE])?;
    let versions = format!("https://localhost:{port}/registry/{address}/versions");
    site.until_shows(&versions, MESSAGE)?;
    for client in clients() {
        let project = site.project(client, &address, &ways[1])?;
        project.init()?.success()?.must_show(MESSAGE)?;
        project.must_run(VERSIONS[1])?;
    }
    seen("state: the message of a deprecated version is shown by init");
    bridge.stop()
}
