//! What an installation records, for every measured case.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::{Duration, SystemTime};

use serde_json::json;
use tofu_oci_http::{HttpClient, HttpOptions, Proxies, WebClient};
use tofu_oci_layout::PackageLayout;
use tofu_oci_lockfile::WriteOutcome;
use tofu_oci_source::{RegistryAccess, RegistrySource, SignatureDemands};
use tofu_oci_store::MemoryStore;
use tofu_oci_testkit::{Answer, Fault, OpenPgpKey, Rule, Upstream, Vectors};
use tofu_oci_types::NoReporter;

use super::fixture::{PLATFORM, Workspace, store, with_causes};
use crate::{InstallOutcome, InstallRequest};

/// Sources of the kinds that [`tofu_oci_source::NotRead`] refuses, so that nothing is recorded.
const NOT_READ: &[&str] = &[
    "network mirror, hashes given for the platform",
    "network mirror, trust_all_hashes=true, provider on registry.opentofu.org",
    "network mirror, trust_all_hashes=true, provider on another host",
];

#[test]
fn what_is_recorded() {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    Vectors::open("lock_hash_recording.json").each("cases", |case| match case["source"].as_str().unwrap() {
        "oci_mirror" => runtime.block_on(from_a_repository(case)),
        "already installed and matches lock" => runtime.block_on(already_installed(case)),
        "registry, host registry.opentofu.org, keys present, signature valid, no packages field" => {
            assert_eq!(case["recorded"], json!(["h1(current, local)", "zh for every line of SHA256SUMS"]));
            runtime.block_on(from_a_registry("registry.opentofu.org", Listed::Nothing, &ZIPS));
        }
        "same, with packages field (>=1.12)" => {
            let want = ["h1(local)", "zh for every line of SHA256SUMS", "every h1/zh in packages of every platform"];
            assert_eq!(case["recorded"], json!(want));
            let lines = [&ZIPS[..], &["h1 of darwin_arm64"]].concat();
            runtime.block_on(from_a_registry("registry.opentofu.org", Listed::Packages, &lines));
        }
        "registry, other host, keys valid" => {
            let want = ["h1(local)", "zh of every line of SHA256SUMS; packages h1s are NOT recorded"];
            assert_eq!(case["recorded"], json!(want));
            runtime.block_on(from_a_registry("registry.example.test", Listed::Packages, &ZIPS));
        }
        "registry, other host, no keys" => runtime.block_on(from_a_registry_without_keys(case)),
        source => assert!(NOT_READ.contains(&source), "no test has been written for {source}"),
    });
}

/// What the download document lists besides its own package.
#[derive(Clone, Copy)]
enum Listed {
    Nothing,
    Packages,
}

/// The lines of a lock file after an installation from a registry that lists no `h1:`.
const ZIPS: [&str; 3] = ["h1 of linux_amd64", "zh of darwin_arm64", "zh of linux_amd64"];

/// A request for `acme/widget` of a host, from the registry of an upstream.
fn request(workspace: &Workspace, upstream: &Upstream, host: &str) -> InstallRequest {
    let options = HttpOptions {
        ca_certificates: vec![upstream.ca_pem().as_bytes().to_vec()],
        proxies: Proxies::Direct,
        ..HttpOptions::default()
    };
    let access = RegistryAccess {
        web: WebClient::new(HttpClient::new(options, Arc::new(NoReporter)).unwrap()),
        tokens: Arc::new(BTreeMap::new()),
        timeout: Duration::from_secs(10),
        demands: SignatureDemands::of_variables(|_| None),
        now: SystemTime::now(),
    };
    let base = format!("{}/v1/providers/", upstream.origin()).parse().unwrap();
    let source = Arc::new(RegistrySource::new(host.parse().unwrap(), base, access));
    let address = format!("{host}/acme/widget").parse().unwrap();
    let store = Arc::new(MemoryStore::new("memory".parse().unwrap()));
    InstallRequest { address, source, ..workspace.job(store) }
}

async fn from_a_registry(host: &str, listed: Listed, lines: &[&str]) {
    let upstream = Upstream::start();
    let platforms = [PLATFORM, "darwin_arm64"];
    upstream.release("acme/widget", "1.0.0", &platforms);
    if let Listed::Packages = listed {
        upstream
            .fault(Rule::on("GET", "*/download/linux/amd64").then(Fault::Answer(with_packages(&upstream, &platforms))));
    }
    let workspace = Workspace::new();
    let request = request(&workspace, &upstream, host);
    let address = request.address.clone();
    workspace.run(vec![request]).await.unwrap();
    let lock = tofu_oci_lockfile::read(&workspace.lock_path()).unwrap();
    let hashes = &lock.file().get(&address).unwrap().hashes;
    let mut found: Vec<String> = hashes.iter().map(ToString::to_string).collect();
    for platform in platforms {
        let (h1, zh) = upstream.hashes("acme/widget", "1.0.0", platform);
        for line in &mut found {
            *line = line.replace(&h1, &format!("h1 of {platform}")).replace(&zh, &format!("zh of {platform}"));
        }
    }
    found.sort();
    let mut lines = lines.to_vec();
    lines.sort_unstable();
    assert_eq!(found, lines, "{host}");
}

/// The download document of an upstream, with the member `packages`.
fn with_packages(upstream: &Upstream, platforms: &[&str]) -> Answer {
    let package = |platform: &&str| {
        let (h1, zh) = upstream.hashes("acme/widget", "1.0.0", platform);
        let size = upstream.zip("acme/widget", "1.0.0", platform).len();
        ((*platform).to_owned(), json!({"hashes": [h1, zh], "package_size": size}))
    };
    let packages: serde_json::Map<String, serde_json::Value> = platforms.iter().map(package).collect();
    let (_, zh) = upstream.hashes("acme/widget", "1.0.0", PLATFORM);
    let folder = "/files/acme/widget/1.0.0/terraform-provider-widget_1.0.0_";
    Answer::json(&json!({
        "protocols": ["6.0"], "os": "linux", "arch": "amd64", "shasum": zh.trim_start_matches("zh:"),
        "filename": format!("terraform-provider-widget_1.0.0_{PLATFORM}.zip"),
        "download_url": format!("{folder}{PLATFORM}.zip"),
        "shasums_url": format!("{folder}SHA256SUMS"),
        "shasums_signature_url": format!("{folder}SHA256SUMS.sig"),
        "signing_keys": {"gpg_public_keys": [{"ascii_armor": OpenPgpKey::of(1).armored()}]},
        "packages": packages,
    }))
}

async fn from_a_registry_without_keys(case: &serde_json::Value) {
    assert_eq!(case["recorded"], "install fails: signature required");
    let upstream = Upstream::start();
    upstream.release("acme/widget", "1.0.0", &[PLATFORM]);
    upstream.name_keys(&[]);
    let workspace = Workspace::new();
    let error = workspace.run(vec![request(&workspace, &upstream, "registry.example.test")]).await.unwrap_err();
    assert!(with_causes(&error).contains("names no key"), "{error}");
    assert!(workspace.snapshot().is_empty());
}

/// The same two lines as `OpenTofu`, and the leaf's own.
async fn from_a_repository(case: &serde_json::Value) {
    assert_eq!(case["recorded"], json!(["h1(local)", "zh:<hex of blob sha256>"]));
    let (store, published) = store(PackageLayout::Artifact).await;
    let workspace = Workspace::new();
    workspace.install(store).await.unwrap();
    let own = &published[PLATFORM];
    let mut want = vec![own.h1.to_string(), own.zh.to_string()];
    want.extend(own.ch.values().map(ToString::to_string));
    want.sort();
    assert_eq!(workspace.locked(), want);
}

async fn already_installed(case: &serde_json::Value) {
    let want = "lock entry rewritten with all previous hashes incl. unknown schemes, new constraints";
    assert_eq!(case["recorded"], want);
    let (store, published) = store(PackageLayout::Artifact).await;
    let workspace = Workspace::new();
    workspace.install(store.clone()).await.unwrap();
    let (own, other) = (&published[PLATFORM], "x9:other".parse().unwrap());
    let ch = own.ch.values().next().unwrap();
    workspace.lock("1.0.0", &[&own.h1, &own.zh, ch, &other]);
    let mut job = workspace.job(store);
    job.constraints = "~> 1.0".parse().unwrap();
    let (installed, written) = workspace.run(vec![job]).await.unwrap();
    assert_eq!((installed[0].outcome, written), (InstallOutcome::AlreadyInstalled, WriteOutcome::Updated));
    assert_eq!(workspace.locked().len(), 4, "every line is there");
    let text = std::fs::read_to_string(workspace.lock_path()).unwrap();
    assert!(text.contains("constraints = \"~> 1.0\"") && text.contains("x9:other"), "{text}");
}
