//! Two approvals let a release in: each is a signature beside it, and the policy of the bridge counts them.

use std::path::{Path, PathBuf};

use serde_json::Value;

use super::site::{BridgeSite, HOST, VERSIONS, clients, mirror_url, network_mirror};
use crate::failure::{ChoreFailure, ChoreResult};
use crate::interop::lab::{seen, text};
use crate::interop::terraform::TerraformProject;
use crate::paths;
use crate::served::{ServedBridge, free_port};

/// The approvers, and the names of their keys among the fixtures.
const APPROVERS: [(&str, &str); 2] = [("qa", "p256"), ("security", "p384")];

pub(super) fn run(site: &BridgeSite<'_>) -> ChoreResult {
    for client in clients() {
        let released = PromotedRelease::new(site, client)?;
        let repositories = site.template();
        released.approve(APPROVERS[0])?;
        released.must_refuse(&repositories)?;
        let approval = released.approve(APPROVERS[1])?;
        released.must_install(&repositories)?;
        let (bundle, elsewhere) = released.bundled()?;
        released.take_back(&approval)?;
        released.must_refuse(&repositories)?;
        seen(&format!(
            "promoted: {client} is refused with one approval, installs with two, is refused when one is deleted"
        ));
        released.load(&bundle, &elsewhere)?;
        released.must_install(&elsewhere)?;
        seen(&format!(
            "promoted: {client} installs from a bridge that serves the folder to which a bundle brought both approvals"
        ));
    }
    Ok(())
}

/// A release without approvals, and a policy that asks for two approvals.
struct PromotedRelease<'a> {
    site: &'a BridgeSite<'a>,
    client: &'static str,
    namespace: String,
    /// The folder of `trust.toml`.
    policy: PathBuf,
}

impl<'a> PromotedRelease<'a> {
    fn new(site: &'a BridgeSite<'a>, client: &'static str) -> ChoreResult<Self> {
        let (namespace, policy) = (format!("promoted-{client}"), site.lab.new_folder("policy")?);
        site.push(HOST, &namespace, VERSIONS[0], "artifact")?;
        let key = |(name, file)| format!("[[key]]\nname = \"{name}\"\nfile = \"{}\"\n\n", key_file(file, "pub"));
        let rule = "[[rule]]\nproviders = [\"*/*/*\"]\nkeys = [\"qa\", \"security\"]\nthreshold = 2\n";
        paths::write(&policy.join("trust.toml"), APPROVERS.map(key).concat() + rule)?;
        Ok(Self { site, client, namespace, policy })
    }

    fn address(&self) -> String {
        format!("{HOST}/{}/demo", self.namespace)
    }

    /// Signs it; the digest of the referrer that holds the signature.
    fn approve(&self, (name, file): (&str, &str)) -> ChoreResult<String> {
        let target = format!("{}:{}", self.site.repository(&self.namespace), VERSIONS[0]);
        let sign = ["sign", &target, "--key", &key_file(file, "pem"), "--note", name, "--json"];
        let signed = self.site.lab.tofu_oci(self.site.registry, &sign).success()?;
        let lines = signed.stdout.lines().filter_map(|line| serde_json::from_str::<Value>(line).ok());
        let manifest = |line: Value| line["attachments"][0]["manifest"].as_str().map(str::to_owned);
        lines.filter_map(manifest).next_back().ok_or_else(|| signed.failure("no line names the referrer"))
    }

    /// Deletes a referrer by the registry's own means.
    fn take_back(&self, digest: &str) -> ChoreResult {
        let BridgeSite { lab, registry, authority, .. } = self.site;
        let url = format!("https://{}/v2/own/{}/demo/manifests/{digest}", registry.address(), self.namespace);
        let curl = lab.tool("curl")?.args(["--silent", "--show-error", "--fail", "--request", "DELETE", "--cacert"]);
        curl.arg(authority).arg(url).success()?;
        Ok(())
    }

    /// A bundle of what the policy admits now, and the folder that it is for.
    fn bundled(&self) -> ChoreResult<(PathBuf, String)> {
        let bundle = self.site.lab.new_folder("carried")?.join("release.tar");
        let from = self.site.repository(&self.namespace);
        let create = ["bundle", "create", &text(&bundle), &self.address(), "--from", &from];
        self.site.lab.tofu_oci(self.site.registry, &create).directory(&self.policy).success()?;
        Ok((bundle, format!("oci:{}", self.site.lab.new_folder("elsewhere")?.display())))
    }

    fn load(&self, bundle: &Path, to: &str) -> ChoreResult {
        self.site.lab.stranger(&["bundle", "load", &text(bundle), to]).directory(&self.policy).success()?;
        Ok(())
    }

    /// A new bridge, which remembers no judgement, and a new project.
    fn before(&self, from: &str) -> ChoreResult<(ServedBridge, TerraformProject<'a>)> {
        let (port, trust) = (free_port()?, self.policy.join("trust.toml"));
        let settings =
            format!("trust = \"{}\"\n[[provider]]\ninclude = [\"{HOST}/*/*\"]\nfrom = \"{from}\"\n", trust.display());
        let bridge = self.site.bridge(port, &settings)?;
        let project = self.site.project(self.client, &self.address(), &network_mirror(&mirror_url(port)))?;
        Ok((bridge, project))
    }

    fn must_install(&self, from: &str) -> ChoreResult {
        let (bridge, project) = self.before(from)?;
        project.must_run(VERSIONS[0])?;
        bridge.stop()
    }

    fn must_refuse(&self, from: &str) -> ChoreResult {
        let (bridge, project) = self.before(from)?;
        project.init()?.refused()?;
        let log = bridge.log()?;
        if !log.contains("\"status\":409") {
            return Err(ChoreFailure::new(format!("the bridge did not refuse the release\n{log}")));
        }
        bridge.stop()
    }
}

fn key_file(name: &str, ending: &str) -> String {
    text(&paths::testdata().join("trust/cosign/test-keys").join(format!("{name}.{ending}")))
}
