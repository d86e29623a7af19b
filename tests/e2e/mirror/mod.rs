//! `mirror`: an upstream registry into repositories.

mod attestations;
mod changes;
mod faults;
mod holding;
mod notices;
mod other_address;
mod power_cut;
mod runs;
mod withdrawn_source;

use std::collections::BTreeMap;

use serde_json::Value;
use tofu_oci_testkit::{Behaviour, Deletion, Registry, RegistryBuilder, Upstream};

use crate::setup::{Said, Scene};

/// The host whose providers are mirrored.
const HOST: &str = "registry.example.test";
const PLATFORMS: [&str; 4] = ["darwin_arm64", "linux_amd64", "linux_arm64", "windows_amd64"];
/// Where to, as most tests write it.
const TO: &str = "--to 'REGISTRY/m/${namespace}/${type}'";

/// A registry to mirror to, and an upstream that is trusted and found.
struct Mirrored {
    scene: Scene,
    upstream: Upstream,
}

impl Mirrored {
    fn new() -> Self {
        let behaviour = Behaviour { deletion: Deletion::Tags, ..Behaviour::default() };
        Self::with(Registry::builder().behaviour(behaviour))
    }

    fn with(registry: RegistryBuilder) -> Self {
        let (mut scene, upstream) = (Scene::with(registry), Upstream::start());
        let authority = scene.context.write_home("upstream.pem", upstream.ca_pem());
        scene.context.env("TOFU_OCI_CA_FILE", authority.display().to_string());
        let config = upstream.host_block(HOST) + "provider_installation {\n  direct {}\n}\n";
        let config = scene.context.write_home("cli.tfrc", config);
        scene.context.env("TF_CLI_CONFIG_FILE", config.display().to_string());
        Self { scene, upstream }
    }

    /// With acme/zap 1.0.0 and 1.1.0 for two platforms.
    fn with_zap() -> Self {
        let mirrored = Self::new();
        for version in ["1.0.0", "1.1.0"] {
            mirrored.upstream.release("acme/zap", version, &PLATFORMS[..2]);
        }
        mirrored
    }

    /// Runs `mirror` with these arguments and the usual destination.
    fn mirror(&self, arguments: &str) -> Said {
        self.scene.run(&format!("mirror {arguments} {TO}"))
    }

    /// The tags of a repository, sorted, without those that list referrers.
    fn tags(&self, repository: &str) -> Vec<String> {
        let mut tags: Vec<String> = self.scene.registry.tags(repository).into_iter().map(|(tag, _)| tag).collect();
        tags.retain(|tag| !tag.starts_with("sha256-"));
        tags.sort();
        tags
    }

    /// The rules in `mirror.toml`.
    fn rules(&self, text: &str) {
        self.scene.context.write("mirror.toml", text.replace("HOST", HOST));
    }
}

/// What the report says: `TYPE VERSION` with the action.
fn actions(said: &Said) -> BTreeMap<String, String> {
    let text = |value: &Value| value.as_str().unwrap_or("-").to_owned();
    let lines = said.json().into_iter().filter(|line| line["event"] == "mirror" || line["event"] == "mirror-plan");
    let entry = |line: Value| {
        let provider = text(&line["address"]);
        let provider = provider.rsplit('/').next().unwrap_or_default().to_owned();
        (format!("{provider} {}", text(&line["version"])), text(&line["action"]))
    };
    lines.map(entry).collect()
}

/// The line with the counts.
fn summary(said: &Said) -> Value {
    said.json().into_iter().find(|line| line["event"] == "mirror-summary").expect("a summary")
}
