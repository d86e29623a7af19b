//! A registry that is down, and one whose storage is damaged.

use std::fs;
use std::path::PathBuf;
use std::thread::sleep;
use std::time::Duration;

use tofu_oci_types::{Digest, Platform};

use super::site::{BridgeSite, HOST, VERSIONS, clients, host_block, mirror_url, network_mirror};
use crate::failure::{ChoreFailure, ChoreResult};
use crate::interop::lab::{Lab, seen};
use crate::interop::terraform::ADDRESS;
use crate::registry::Guard;
use crate::served::free_port;

/// One byte of a package is another one in the registry's storage.
pub(super) fn damaged(site: &BridgeSite<'_>) -> ChoreResult {
    let port = free_port()?;
    let bridge = site.bridge(port, &site.settings(&[HOST.to_owned()], "", ""))?;
    let zip = format!("terraform-provider-demo_{}_{}.zip", VERSIONS[1], Platform::current());
    let blob = site.registry.blob(&Digest::sha256(&fs::read(site.releases[1].join(zip))?));
    flip_a_byte(&blob)?;
    let ways = [network_mirror(&mirror_url(port)), host_block(port)];
    for client in clients() {
        for way in &ways {
            let project = site.project(client, ADDRESS, way)?;
            project.init()?.refused()?;
            if let Ok(found) = project.executable_below(".terraform/providers") {
                return Err(ChoreFailure::new(format!("{client} installed {}", found.display())));
            }
            if project.directory().join(".terraform.lock.hcl").exists() {
                return Err(ChoreFailure::new(format!("{client} locked a damaged package")));
            }
        }
    }
    flip_a_byte(&blob)?;
    for way in &ways {
        site.project("terraform", ADDRESS, way)?.must_run(VERSIONS[1])?;
    }
    seen("faults: a damaged blob is refused by both protocols and nothing is installed; fixed, it installs");
    bridge.stop()
}

fn flip_a_byte(file: &PathBuf) -> ChoreResult {
    let mut bytes = fs::read(file)?;
    let middle = bytes.len() / 2;
    bytes[middle] ^= 1;
    Ok(fs::write(file, bytes)?)
}

/// The registry goes after the bridge has seen its releases.
pub(super) fn down(lab: &Lab, releases: &[PathBuf; 2]) -> ChoreResult {
    let registry = Guard::tls()?;
    let site = BridgeSite::new(lab, &registry, releases)?;
    site.push(HOST, "acme", VERSIONS[0], "artifact")?;
    site.push(HOST, "image", VERSIONS[0], "image")?;
    let port = free_port()?;
    let bridge = site.bridge(port, &site.settings(&[HOST.to_owned()], "", ""))?;
    let configuration = network_mirror(&mirror_url(port));
    let image = format!("{HOST}/image/demo");
    let project = |client, address: &str| site.project(client, address, &configuration);
    let mut installed = Vec::new();
    for client in clients() {
        project(client, &image)?.must_run(VERSIONS[0])?;
        let here = project(client, ADDRESS)?;
        here.must_run(VERSIONS[0])?;
        installed.push(here);
    }
    registry.stop();
    // Longer than metadata is kept: what is served from here on is stale.
    sleep(Duration::from_millis(1500));
    for client in clients() {
        project(client, &image)?.must_run(VERSIONS[0])?;
    }
    for here in installed {
        here.init()?.arg("-upgrade").success()?;
        here.must_run(VERSIONS[0])?;
    }
    let unknown = project("terraform", &format!("{HOST}/never/demo"))?;
    let said = unknown.init()?.refused()?.must_show("502")?;
    if said.all().contains("not found in any of the search locations") {
        return Err(said.failure("a registry that is down is said to lack the provider"));
    }
    seen("faults: with the registry down, what was seen is served from the cache; what was not is a 502, not a 404");
    bridge.stop()
}
