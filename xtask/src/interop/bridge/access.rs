//! Who may ask, by token; and several instances behind one name.

use tofu_oci_types::Digest;

use super::balancer::Balancer;
use super::site::{BridgeSite, HOST, VERSIONS, clients, host_block, mirror_url, network_mirror};
use crate::failure::{ChoreFailure, ChoreResult};
use crate::interop::lab::seen;
use crate::interop::terraform::ADDRESS;
use crate::served::{ServedBridge, free_port};

const TOKEN: &str = "interop-token-0123456789abcdef0123456789abcdef";
const WRONG: &str = "interop-wrong-0123456789abcdef0123456789abcdef";

pub(super) fn run(site: &BridgeSite<'_>) -> ChoreResult {
    let port = free_port()?;
    let settings = settings(site);
    let bridge = site.bridge(port, &settings)?;
    let credentials = |token: &str| format!("credentials \"localhost:{port}\" {{\n  token = \"{token}\"\n}}\n");
    let through = |user: &str| network_mirror(&mirror_url(port).replace("https://", &format!("https://{user}")));
    for client in clients() {
        let allowed = credentials(TOKEN) + &through("");
        site.project(client, ADDRESS, &allowed)?.must_run(VERSIONS[1])?;
        site.project(client, ADDRESS, &through(&format!("ci:{TOKEN}@")))?.must_run(VERSIONS[1])?;
        let own_host = host_block(port) + &format!("credentials \"{HOST}\" {{\n  token = \"{TOKEN}\"\n}}\n");
        site.project(client, ADDRESS, &own_host)?.must_run(VERSIONS[1])?;
        seen(&format!("access: {client} with a token, by both protocols, and with Basic in the mirror's URL"));
        for (what, configuration, address) in [
            ("a wrong token", credentials(WRONG) + &through(""), ADDRESS.to_owned()),
            ("no token", through(""), ADDRESS.to_owned()),
            ("another one's provider", allowed, format!("{HOST}/image/demo")),
        ] {
            let project = site.project(client, &address, &configuration)?;
            project.init()?.refused()?;
            nothing_installed(&project, what)?;
        }
        let wrong = site.project(client, ADDRESS, &(credentials(WRONG) + &through("")))?;
        wrong.init()?.refused()?.must_show("rejected the given")?;
        seen(&format!(
            "access: {client} with a wrong token, without one, and for what the client may not see: refused"
        ));
    }
    keeps_secrets(&bridge)?;
    bridge.stop()?;
    two_instances(site, &settings)
}

fn settings(site: &BridgeSite<'_>) -> String {
    let digest = Digest::sha256(TOKEN.as_bytes());
    let client = format!(
        "[[client]]\nname = \"ci\"\ntoken_sha256 = \"{}\"\nproviders = [\"{HOST}/acme/*\"]\n",
        digest.encoded()
    );
    site.settings(&[HOST.to_owned()], "", &client)
}

fn keeps_secrets(bridge: &ServedBridge) -> ChoreResult {
    let log = bridge.log()?;
    if let Some(line) = log.lines().find(|line| [TOKEN, WRONG, "/~"].iter().any(|secret| line.contains(secret))) {
        return Err(ChoreFailure::new(format!("the log shows a secret\n{line}")));
    }
    if !log.contains("\"ci\"") {
        return Err(ChoreFailure::new(format!("the access log does not name the client\n{log}")));
    }
    seen("access: the log names the client, and shows neither tokens nor signed links");
    Ok(())
}

/// Two instances share the key and the configuration, and nothing else: what one signs, the other honours.
fn two_instances(site: &BridgeSite<'_>, settings: &str) -> ChoreResult {
    let ports = [free_port()?, free_port()?];
    let balancer = Balancer::start(ports)?;
    let url = format!("https://localhost:{}/", balancer.port());
    let bridges = [
        site.bridge_of(site.program(), ports[0], &url, settings)?,
        site.bridge_of(site.program(), ports[1], &url, settings)?,
    ];
    let configuration =
        host_block(balancer.port()) + &format!("credentials \"{HOST}\" {{\n  token = \"{TOKEN}\"\n}}\n");
    for client in clients() {
        site.project(client, ADDRESS, &configuration)?.must_run(VERSIONS[1])?;
    }
    for bridge in &bridges {
        if !bridge.log()?.contains("/acme/demo/") {
            return Err(ChoreFailure::new("one of two instances was never asked"));
        }
    }
    seen("access: two instances behind one name: signatures and signed links of the one hold at the other");
    bridges.into_iter().try_for_each(ServedBridge::stop)
}

fn nothing_installed(project: &crate::interop::terraform::TerraformProject<'_>, what: &str) -> ChoreResult {
    match project.executable_below(".terraform/providers") {
        Ok(found) => Err(ChoreFailure::new(format!("{what}: {} is there", found.display()))),
        Err(_) => Ok(()),
    }
}
