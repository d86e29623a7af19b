//! What an installation records, for every measured case.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::{Duration, SystemTime};

use serde_json::{Value, json};
use tofu_oci_http::{HttpClient, HttpOptions, Proxies, WebClient};
use tofu_oci_layout::PackageLayout;
use tofu_oci_lockfile::WriteOutcome;
use tofu_oci_source::{
    MirrorAccess, MirrorChecksums, NetworkMirrorSource, RegistryAccess, RegistrySource, SignatureDemands, Source,
};
use tofu_oci_testkit::{Answer, Fault, Rule, Upstream};
use tofu_oci_types::{Hostname, NoReporter};
use tofu_oci_vectors::Vectors;

use super::fixture::{PLATFORM, Workspace, store, with_causes};
use crate::{InstallOutcome, InstallRequest};

/// The host whose providers may be unsigned.
const PUBLIC: &str = "registry.opentofu.org";
const OTHER: &str = "registry.example.test";
const OTHER_PLATFORM: &str = "darwin_arm64";

#[test]
fn what_is_recorded() {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    Vectors::open("lock_hash_recording.json").each("cases", |case| {
        let local_and_matching = json!(["h1(local)", "each given h1/zh for that platform that matches the archive"]);
        runtime.block_on(async {
            match case["source"].as_str().unwrap() {
                "oci_mirror" => from_a_repository(case).await,
                "already installed and matches lock" => already_installed(case).await,
                "registry, host registry.opentofu.org, keys present, signature valid, no packages field" => {
                    assert_eq!(case["recorded"], json!(["h1(current, local)", "zh for every line of SHA256SUMS"]));
                    Web::new().records(PUBLIC, Web::registry, &[H1, ZH, OTHER_ZH]).await;
                }
                "same, with packages field (>=1.12)" => {
                    let want =
                        ["h1(local)", "zh for every line of SHA256SUMS", "every h1/zh in packages of every platform"];
                    assert_eq!(case["recorded"], json!(want));
                    Web::new().with_packages().records(PUBLIC, Web::registry, &[H1, OTHER_H1, ZH, OTHER_ZH]).await;
                }
                "registry, other host, keys valid" => {
                    let want = ["h1(local)", "zh of every line of SHA256SUMS; packages h1s are NOT recorded"];
                    assert_eq!(case["recorded"], json!(want));
                    Web::new().with_packages().records(OTHER, Web::registry, &[H1, ZH, OTHER_ZH]).await;
                }
                "registry, other host, no keys" => {
                    assert_eq!(case["recorded"], "install fails: signature required");
                    let web = Web::new();
                    web.upstream.name_keys(&[]);
                    let error = web.install(OTHER, &web.registry(OTHER)).await.unwrap_err();
                    assert!(error.contains("signature"), "{error}");
                }
                "network mirror, hashes given for the platform" => {
                    assert_eq!(case["recorded"], local_and_matching);
                    Web::new().records(OTHER, |web, _| web.mirror(MirrorChecksums::OfPlatform), &[H1, ZH]).await;
                }
                "network mirror, trust_all_hashes=true, provider on registry.opentofu.org" => {
                    assert_eq!(
                        case["recorded"],
                        json!(["h1(local)", "every h1/zh of every platform in the version document"])
                    );
                    let of_any = |web: &Web, _: &str| web.mirror(MirrorChecksums::OfAnyPlatform);
                    // No check has covered what a mirror lists for other platforms: it is not recorded here.
                    Web::new().records(PUBLIC, of_any, &[H1, ZH]).await;
                }
                "network mirror, trust_all_hashes=true, provider on another host" => {
                    assert_eq!(case["recorded"], json!(["h1(local)", "only locally verified ones"]));
                    Web::new().records(OTHER, |web, _| web.mirror(MirrorChecksums::OfAnyPlatform), &[H1, ZH]).await;
                }
                source => panic!("no test has been written for {source}"),
            }
        });
    });
}

/// A checksum of the package of a platform.
type Line = (&'static str, &'static str);

const H1: Line = ("h1", PLATFORM);
const ZH: Line = ("zh", PLATFORM);
const OTHER_H1: Line = ("h1", OTHER_PLATFORM);
const OTHER_ZH: Line = ("zh", OTHER_PLATFORM);

/// An upstream with one version for two platforms, and a client.
struct Web {
    upstream: Upstream,
    client: WebClient,
}

impl Web {
    fn new() -> Self {
        let upstream = Upstream::start();
        upstream.release("acme/widget", "1.0.0", &[PLATFORM, OTHER_PLATFORM]);
        let options = HttpOptions {
            ca_certificates: vec![upstream.ca_pem().as_bytes().to_vec()],
            proxies: Proxies::Direct,
            ..HttpOptions::default()
        };
        let client = WebClient::new(HttpClient::new(options, Arc::new(NoReporter)).unwrap());
        Self { upstream, client }
    }

    /// The same with `packages` in the download document.
    fn with_packages(self) -> Self {
        let path = "/v1/providers/acme/widget/1.0.0/download/linux/amd64";
        let mut document: Value = serde_json::from_slice(&self.upstream.page(path).body).unwrap();
        for platform in [PLATFORM, OTHER_PLATFORM] {
            let (h1, zh) = self.upstream.hashes("acme/widget", "1.0.0", platform);
            let size = self.upstream.zip("acme/widget", "1.0.0", platform).len();
            document["packages"][platform] = json!({"hashes": [h1, zh], "package_size": size});
        }
        self.upstream.fault(Rule::on("GET", path).then(Fault::Answer(Answer::json(&document))));
        self
    }

    fn registry(&self, host: &str) -> Arc<dyn Source> {
        let host: Hostname = host.parse().unwrap();
        let base = format!("{}/v1/providers/", self.upstream.origin()).parse().unwrap();
        let access = RegistryAccess {
            web: self.client.clone(),
            tokens: Arc::new(BTreeMap::new()),
            timeout: Duration::from_secs(10),
            demands: SignatureDemands::of_variables(|_| None),
            now: SystemTime::now(),
        };
        Arc::new(RegistrySource::new(host, base, access))
    }

    fn mirror(&self, checksums: MirrorChecksums) -> Arc<dyn Source> {
        let (web, downloads) = (self.client.clone(), self.client.clone());
        let (tokens, timeout) = (Arc::new(BTreeMap::new()), Duration::from_secs(10));
        let access = MirrorAccess { web, downloads, tokens, timeout, checksums };
        Arc::new(NetworkMirrorSource::new(&self.upstream.mirror_url(), access).unwrap())
    }

    /// Installs `acme/widget` of a host from a source: the lines of the lock file, or the error.
    async fn install(&self, host: &str, source: &Arc<dyn Source>) -> Result<Vec<String>, String> {
        let workspace = Workspace::new();
        let address = format!("{host}/acme/widget").parse().unwrap();
        let job = InstallRequest { address, ..workspace.job_from(Arc::clone(source)) };
        let address = job.address.clone();
        workspace.run(vec![job]).await.map_err(|error| with_causes(&error))?;
        Ok(workspace.locked_for(&address))
    }

    async fn records(&self, host: &str, source: impl Fn(&Self, &str) -> Arc<dyn Source>, lines: &[Line]) {
        let came = self.install(host, &source(self, host)).await.unwrap();
        let line = |(scheme, platform): &Line| {
            let (h1, zh) = self.upstream.hashes("acme/widget", "1.0.0", platform);
            if *scheme == "h1" { h1 } else { zh }
        };
        let mut wanted: Vec<String> = lines.iter().map(line).collect();
        wanted.sort();
        assert_eq!(came, wanted);
    }
}

/// The same two lines as `OpenTofu`, and the leaf's own.
async fn from_a_repository(case: &Value) {
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

async fn already_installed(case: &Value) {
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
    let (installed, written) = workspace.run(vec![job.clone()]).await.unwrap();
    // Other constraints alone change no file (measured with 1.12.6), and a repeated line does.
    assert_eq!((installed[0].outcome, written), (InstallOutcome::AlreadyInstalled, WriteOutcome::Unchanged));
    let text = std::fs::read_to_string(workspace.lock_path()).unwrap();
    std::fs::write(workspace.lock_path(), text.replace("\"x9:other\",", "\"x9:other\",\n    \"x9:other\",")).unwrap();
    let (installed, written) = workspace.run(vec![job]).await.unwrap();
    assert_eq!((installed[0].outcome, written), (InstallOutcome::AlreadyInstalled, WriteOutcome::Updated));
    assert_eq!(workspace.locked().len(), 4, "every line is there");
    let text = std::fs::read_to_string(workspace.lock_path()).unwrap();
    assert!(text.contains("constraints = \"~> 1.0\"") && text.contains("x9:other"), "{text}");
}
