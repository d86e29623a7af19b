//! The registries of a case: real ones, spoken to over HTTP, with the case's fault at the case's stage.

use std::cell::OnceCell;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Arc, Mutex};
use std::time::{Duration, SystemTime};

use async_trait::async_trait;
use serde_json::{Value, json};
use tofu_oci_remote::{ClientOptions, Clock, Limits, NoCredentials, Proxies, RegistryClient, RetryPolicy};
use tofu_oci_store::ReadStore;
use tofu_oci_testkit::{Answer, ClientCertificate, Fault, Registry, RequestHead, Rule};
use tofu_oci_types::{Digest, RepositoryRef};

use super::case::{Case, Offered};
use super::packages::{maker, package};

const INDEX: &str = "application/vnd.oci.image.index.v1+json";
const MANIFEST: &str = "application/vnd.oci.image.manifest.v1+json";
const PROVIDER: &str = "application/vnd.opentofu.provider";
const TARGET: &str = "application/vnd.opentofu.provider-target";

/// All hosts of this domain were registries in the measured world; every other one was closed, if not offered itself.
const DOMAIN: &str = ".example.test";
/// What can be broken about a release.
const DAMAGES: [&str; 12] = [
    "blob-corrupt",
    "blob-missing",
    "descriptor-type",
    "index-no-type",
    "index-type",
    "layer-type",
    "leaf-tagged",
    "leaf-type",
    "manifest-missing",
    "no-digest-header",
    "no-leaves",
    "no-platform",
];

/// No name server can know it: its first label is too long.
pub(super) const NOWHERE: &str = "a123456789b123456789c123456789d123456789e123456789f123456789g123456789.invalid";

/// The registries, each started when it is first asked.
pub(super) struct Registries {
    offers: BTreeMap<String, Offered>,
    provider_type: String,
    hosts: Mutex<BTreeMap<String, Host>>,
    client: Arc<RegistryClient>,
}

struct Host {
    registry: Registry,
    filled: BTreeSet<String>,
}

/// A clock that does not wait between attempts.
struct NoWaiting;

#[async_trait]
impl Clock for NoWaiting {
    fn now(&self) -> SystemTime {
        SystemTime::now()
    }

    async fn sleep(&self, _: Duration) {}
}

/// The clients of one thread of cases; it takes long to make one.
#[derive(Default)]
pub(super) struct Clients {
    patient: OnceCell<Arc<RegistryClient>>,
    impatient: OnceCell<Arc<RegistryClient>>,
}

impl Clients {
    fn patient(&self) -> &Arc<RegistryClient> {
        self.patient.get_or_init(|| client(Limits::default().first_byte))
    }

    fn impatient(&self) -> &Arc<RegistryClient> {
        self.impatient.get_or_init(|| client(Duration::from_millis(500)))
    }
}

/// A client that tries everything twice, without a pause, and hears nothing for so long at most.
fn client(idle: Duration) -> Arc<RegistryClient> {
    let options = ClientOptions {
        plain_http: vec!["127.0.0.1".to_owned(), NOWHERE.to_owned()],
        retry: RetryPolicy { attempts: 2, ..RetryPolicy::default() },
        limits: Limits { first_byte: idle, ..Limits::default() },
        max_retry_after: Duration::ZERO,
        proxies: Proxies::Direct,
        clock: Arc::new(NoWaiting),
        ..ClientOptions::default()
    };
    RegistryClient::new(options, Arc::new(NoCredentials), Arc::new(tofu_oci_types::NoReporter)).unwrap()
}

impl Registries {
    pub(super) fn of(case: &Case, clients: &Clients) -> Self {
        // Patience is only tried where somebody is silent on purpose.
        let silent = case.offers.values().any(|offer| offer.fails.as_deref() == Some("timeout"));
        let client = Arc::clone(if silent { clients.impatient() } else { clients.patient() });
        let offers = case.offers.iter().filter_map(|(name, offer)| Some((name.strip_prefix("oci:")?, offer)));
        Self {
            offers: offers.map(|(repository, offer)| (repository.to_owned(), offer.clone())).collect(),
            provider_type: case.provider.rsplit('/').next().unwrap().to_owned(),
            hosts: Mutex::default(),
            client,
        }
    }

    /// The repository, wherever its registry is here.
    pub(super) fn open(&self, repository: &RepositoryRef) -> Arc<dyn ReadStore> {
        let (host, name) = (repository.registry(), repository.name());
        let own = self.offers.get(&repository.to_string());
        let offered = own.or_else(|| self.offers.get("*"));
        let word = offered.and_then(|offer| offer.fails.as_deref()).unwrap_or_default();
        let address = match word {
            "dns" => NOWHERE.to_owned(),
            "refused" => closed(),
            "tls" => self.host(host, true, |host| host.registry.address().replace("127.0.0.1", "localhost")),
            _ if own.is_none() && !repository.registry_host().to_ascii_lowercase().ends_with(DOMAIN) => closed(),
            _ => self.host(host, false, |host| {
                if let Some(offer) = offered.filter(|_| host.filled.insert(name.to_owned())) {
                    fill(&host.registry, name, offer, &self.provider_type);
                }
                host.registry.address().to_owned()
            }),
        };
        Arc::new(self.client.store(RepositoryRef::from_opentofu(&format!("{address}/{name}")).unwrap()))
    }

    fn host<T>(&self, name: &str, tls: bool, with: impl FnOnce(&mut Host) -> T) -> T {
        let mut hosts = self.hosts.lock().unwrap();
        let start = || {
            let builder = Registry::builder();
            let builder = if tls { builder.tls(ClientCertificate::NotAsked) } else { builder };
            Host { registry: builder.start(), filled: BTreeSet::new() }
        };
        with(hosts.entry(name.to_owned()).or_insert_with(start))
    }
}

/// A port of this machine that nobody listens on.
fn closed() -> String {
    std::net::TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().to_string()
}

/// Puts an offer's releases into a repository, damaged as the case says.
fn fill(registry: &Registry, repository: &str, offer: &Offered, provider_type: &str) {
    let broken = offer.broken.as_deref().unwrap_or_default();
    offer.assert_known(repository, &["list", "tag", "manifest", "blob", "ping", "all"], &DAMAGES, &[]);
    let release = Release { registry, repository, offer, provider_type, broken };
    for version in &offer.versions {
        let digest = release.put(version);
        registry.put_tag(repository, &version.replace('+', "_"), &digest);
    }
    for tag in &offer.extra_tags {
        registry.put_tag(repository, tag, &release.put("1.0.0"));
    }
    for stage in ["list", "tag", "manifest", "blob", "ping"] {
        if let Some(word) = offer.failure(stage, "list") {
            let own = format!("/v2/{repository}/");
            registry.fault(Rule::when(move |head| is_stage(stage, &own, head)).then(fault(word, registry)));
            if word == "401-bearer" {
                // Whoever is refused gets no token either.
                registry.fault(Rule::on("*", "/token").then(Fault::Answer(Answer::new(401))));
            }
        }
    }
    if broken == "no-digest-header" {
        let rule = Rule::on("*", &format!("/v2/{repository}/manifests/*"));
        registry.fault(rule.then(Fault::DropHeader("Docker-Content-Digest".to_owned())));
    }
}

fn is_stage(stage: &str, own: &str, head: &RequestHead) -> bool {
    if stage == "ping" {
        return ["/v2/", "/v2"].contains(&head.path.as_str());
    }
    let Some(rest) = head.path.strip_prefix(own) else { return false };
    match stage {
        "list" => rest == "tags/list",
        "tag" => rest.starts_with("manifests/") && !rest.contains("sha256:"),
        "manifest" => rest.starts_with("manifests/sha256:"),
        _ => rest.starts_with("blobs/"),
    }
}

/// What a word of the cases means: a status, an error code, both in either order, or something else that goes wrong.
fn fault(word: &str, registry: &Registry) -> Fault {
    let json = |status, body: &'static str| {
        Fault::Answer(Answer::new(status).header("Content-Type", "application/json").body(body))
    };
    match word {
        "empty" => json(200, r#"{"name":"x","tags":[]}"#),
        "null-tags" => json(200, r#"{"name":"x","tags":null}"#),
        "broken-json" => json(200, r#"{"name":"x","tags":["#),
        "html" => Fault::Answer(Answer::new(200).header("Content-Type", "text/html").body("<html>hello</html>")),
        "reset" => Fault::Disconnect,
        "timeout" => Fault::Hang,
        "cut" => Fault::CutBody(5),
        "302" => Fault::Answer(Answer::new(302).header("Location", "/elsewhere")),
        "401-bearer" => {
            let challenge = format!(r#"Bearer realm="{}/token",service="registry""#, registry.url());
            Fault::Answer(Answer::new(401).header("WWW-Authenticate", challenge))
        }
        _ => {
            let (status, code): (Vec<&str>, Vec<&str>) = word.split('-').partition(|part| part.parse::<u16>().is_ok());
            let shouted = code.iter().all(|code| code.chars().all(|letter| !letter.is_ascii_lowercase()));
            assert!(code.len() < 2 && shouted, "a fault that nobody knows: {word}");
            let status = status.first().map_or(404, |status| status.parse().unwrap());
            match code.first() {
                Some(code) => Fault::status(status, code),
                None => Fault::Answer(Answer::new(status)),
            }
        }
    }
}

/// A release while it is put into a repository.
struct Release<'a> {
    registry: &'a Registry,
    repository: &'a str,
    offer: &'a Offered,
    provider_type: &'a str,
    broken: &'a str,
}

impl Release<'_> {
    /// Stores a version with all its platforms; the digest that its tag names.
    fn put(&self, version: &str) -> Digest {
        let leaves: Vec<(Digest, Value)> =
            self.offer.platforms(version).iter().map(|platform| self.leaf(version, platform)).collect();
        if self.broken == "leaf-tagged" {
            return leaves[0].0.clone();
        }
        let manifests: Vec<Value> = match self.broken {
            "no-leaves" => Vec::new(),
            _ => leaves.into_iter().map(|(_, entry)| entry).collect(),
        };
        let mut index =
            json!({"schemaVersion": 2, "mediaType": INDEX, "artifactType": PROVIDER, "manifests": manifests});
        match self.broken {
            "index-type" => index["artifactType"] = json!("application/vnd.example.other"),
            "index-no-type" => drop(index.as_object_mut().unwrap().remove("artifactType")),
            _ => {}
        }
        self.registry.put_manifest(self.repository, INDEX, index.to_string())
    }

    /// Stores a platform's manifest and package; the entry for the index.
    fn leaf(&self, version: &str, platform: &str) -> (Digest, Value) {
        let maker = maker("oci", self.offer.content.as_deref());
        let zip = package(&maker, self.provider_type, version, platform).zip.clone();
        let digest = self.registry.put_blob(self.repository, zip.clone());
        match self.broken {
            "blob-corrupt" => {
                let mut bytes = zip.to_vec();
                bytes[0] ^= 1;
                self.registry.put_blob_as(self.repository, &digest, bytes);
            }
            "blob-missing" => self.registry.remove(self.repository, &digest),
            _ => {}
        }
        let config = self.registry.put_blob(self.repository, "{}");
        let config = json!({"mediaType": "application/vnd.oci.empty.v1+json", "digest": config, "size": 2});
        let layer_type = if self.broken == "layer-type" { "application/zip" } else { "archive/zip" };
        let layers = json!([{"mediaType": layer_type, "digest": digest, "size": zip.len()}]);
        let body_type = if self.broken == "leaf-type" { "application/vnd.example.other" } else { TARGET };
        let manifest = json!({
            "schemaVersion": 2, "mediaType": MANIFEST, "artifactType": body_type, "config": config, "layers": layers,
        });
        let bytes = manifest.to_string();
        let size = bytes.len();
        let digest = self.registry.put_manifest(self.repository, MANIFEST, bytes);
        if self.broken == "manifest-missing" {
            self.registry.remove(self.repository, &digest);
        }
        let entry_type = if self.broken == "descriptor-type" { "application/vnd.example.other" } else { TARGET };
        let (os, architecture) = platform.split_once('_').unwrap();
        let mut entry = json!({
            "mediaType": MANIFEST, "digest": digest, "size": size, "artifactType": entry_type,
            "platform": {"os": os, "architecture": architecture},
        });
        if self.broken == "no-platform" {
            entry.as_object_mut().unwrap().remove("platform");
        }
        (digest, entry)
    }
}
