//! One configuration with many providers: tofu 1.12 asks for all of them at once.

use std::fmt::Write as _;

use super::site::{BridgeSite, HOST, clients, mirror_url, network_mirror};
use crate::failure::{ChoreFailure, ChoreResult};
use crate::interop::lab::{seen, text};
use crate::interop::provider_build::pack;
use crate::paths;
use crate::served::free_port;

const PROVIDERS: usize = 40;

pub(super) fn run(site: &BridgeSite<'_>) -> ChoreResult {
    let mut required = String::new();
    for number in 0..PROVIDERS {
        let name = format!("p{number:02}");
        let (dist, build) = (site.lab.new_folder(&name)?, site.lab.new_folder("build")?);
        let executable = build.join(format!("terraform-provider-{name}_v1.0.0"));
        paths::write(&executable, format!("#!/bin/sh\necho {name}\n"))?;
        pack(&executable, &dist.join(format!("terraform-provider-{name}_1.0.0_linux_amd64.zip")))?;
        let (repository, address) =
            (format!("{}/own/many/{name}", site.registry.address()), format!("{HOST}/many/{name}"));
        let push = ["push", &text(&dist), &repository, "--address", &address, "--h1", "skip"];
        site.lab.tofu_oci(site.registry, &push).success()?;
        writeln!(required, "    {name} = {{ source = \"{address}\" }}")?;
    }
    let port = free_port()?;
    let bridge = site.bridge(port, &site.settings(&[HOST.to_owned()], "", ""))?;
    for client in clients() {
        let project = site.project(client, &format!("{HOST}/many/p00"), &network_mirror(&mirror_url(port)))?;
        let main = format!("terraform {{\n  required_providers {{\n{required}  }}\n}}\n");
        paths::write(&project.directory().join("main.tf"), main)?;
        project.init()?.success()?;
        let locked = project.lock_file()?.matches("provider \"").count();
        if locked != PROVIDERS {
            return Err(ChoreFailure::new(format!("{client} has locked {locked} of {PROVIDERS} providers")));
        }
        seen(&format!("many: {client} installs {PROVIDERS} providers in one run"));
    }
    bridge.stop()
}
