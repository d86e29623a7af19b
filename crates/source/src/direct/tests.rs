use std::collections::BTreeMap;
use std::sync::atomic::{AtomicUsize, Ordering};

use futures_util::TryStreamExt as _;
use insta::assert_snapshot;
use serde_json::Value;
use tofu_oci_http::{HttpClient, HttpOptions, Proxies, WebClient};
use tofu_oci_layout::PackageLayout;
use tofu_oci_remote::{NoCredentials, RegistryClient};
use tofu_oci_store::MemoryStore;
use tofu_oci_testkit::{Answer, Registry, Tunnel, WebServer};
use tofu_oci_types::NoReporter;

use super::*;
use crate::error::causes;
use crate::oci::tests::{ADDRESS, offered, release};
use crate::registry::tests::access;
use crate::{Chain, DiscoveryError, DiscoveryOptions, HttpDiscovery, InstallMethod, Link, Services};

/// Hosts that publish one document, and the number of requests to them.
struct Published {
    document: String,
    asked: AtomicUsize,
}

#[async_trait]
impl Discover for Published {
    async fn services(&self, host: &Hostname) -> Result<Services, DiscoveryError> {
        self.asked.fetch_add(1, Ordering::SeqCst);
        let values: BTreeMap<String, Value> = serde_json::from_str(&self.document).unwrap();
        Ok(Services::new(host.clone(), format!("https://{host}/x.json"), values))
    }

    fn admit(&self, _services: &Services, _registry: &str) -> Result<(), DiscoveryError> {
        Ok(())
    }

    fn admit_named(&self, _host: &Hostname, _repository: &RepositoryRef) -> Result<(), DiscoveryError> {
        Ok(())
    }
}

fn direct(address: &str, document: &str) -> (DirectSource, Arc<Published>, ProviderAddr) {
    let address: ProviderAddr = address.parse().unwrap();
    let published = Arc::new(Published { document: document.to_owned(), asked: AtomicUsize::new(0) });
    let nothing = |repository: &RepositoryRef| -> Result<Arc<dyn ReadStore>, StoreError> {
        Ok(Arc::new(MemoryStore::new(Place::Registry(repository.clone()))))
    };
    let discovery: Arc<dyn Discover> = Arc::clone(&published) as _;
    let (host, access) = (address.hostname().clone(), access(web(&[])));
    let source = DirectSource::new(host, MagicSuffix::default(), discovery, Arc::new(nothing), access);
    (source, published, address)
}

async fn place(address: &str, document: &str) -> String {
    let (source, _, address) = direct(address, document);
    shown(source.hosted(&address).await)
}

fn shown(hosted: Result<HostedPlace, SourceError>) -> String {
    match hosted {
        Ok(HostedPlace::Repository(place)) => format!("{} by {}", place.repository, place.rule),
        Ok(HostedPlace::Registry(base)) => format!("registry {base}"),
        Err(error) => format!("{} ({})", causes(&error), error.code()),
    }
}

/// A client that no test of this module lets ask.
fn web(allowed: &[&str]) -> WebClient {
    let private_hosts = allowed.iter().map(ToString::to_string).collect();
    let options = HttpOptions { private_hosts, ..HttpOptions::default() };
    WebClient::new(HttpClient::new(options, Arc::new(NoReporter)).unwrap())
}

const OCI: &str = r#"{"oci-providers.v1":"ghcr.io/x/{namespace}-{type}"}"#;
const BOTH: &str = r#"{"oci-providers.v1":"ghcr.io/x/{namespace}-{type}","providers.v1":"/v1/"}"#;
const REGISTRY: &str = r#"{"providers.v1":"/v1/","modules.v1":"/m/"}"#;

#[tokio::test]
async fn the_magic_suffix_comes_before_everything_and_asks_nobody() {
    let (source, published, address) = direct("example.com.oci.opentofu.org/foo/bar", OCI);
    let place = shown(source.hosted(&address).await);
    assert!(place.starts_with("example.com/foo/opentofu-provider-bar by "), "{place}");
    assert_eq!(published.asked.load(Ordering::SeqCst), 0);
}

/// Where the magic suffix leads, with these private hosts allowed.
async fn magic(host: &str, allowed: &[&str]) -> String {
    let web = web(allowed);
    let address: ProviderAddr = format!("{host}/x/y").parse().unwrap();
    let nothing =
        |repository: &RepositoryRef| -> Result<Arc<dyn ReadStore>, StoreError> { panic!("{repository} is opened") };
    let discovery = Arc::new(HttpDiscovery::new(web.clone(), DiscoveryOptions::default()));
    let host = address.hostname().clone();
    let source = DirectSource::new(host, MagicSuffix::default(), discovery, Arc::new(nothing), access(web));
    let place = shown(source.hosted(&address).await);
    place.split_once(" by ").map_or(place.clone(), |(repository, _)| repository.to_owned())
}

#[tokio::test]
async fn the_magic_suffix_leads_to_no_registry_of_this_machine_that_is_not_allowed() {
    assert_snapshot!(magic("169.254.169.254.oci.opentofu.org", &[]).await, @"nothing can be installed from 169.254.169.254.oci.opentofu.org: 169.254.169.254.oci.opentofu.org leads to the registry 169.254.169.254, which is on this machine or its link (private-host)");
    for registry in ["127.0.0.1", "localhost", "x.localhost", "2130706433"] {
        let said = magic(&format!("{registry}.oci.opentofu.org:5000"), &[]).await;
        assert!(said.ends_with("(private-host)"), "{registry}: {said}");
    }
    let allowed = magic("127.0.0.1.oci.opentofu.org:5000", &["127.0.0.1"]).await;
    assert_eq!(allowed, "127.0.0.1:5000/x/opentofu-provider-y");
    for registry in ["ghcr.io", "registry.corp.example", "10.0.0.1", "192.168.1.1"] {
        assert_eq!(
            magic(&format!("{registry}.oci.opentofu.org"), &[]).await,
            format!("{registry}/x/opentofu-provider-y")
        );
    }
}

#[tokio::test]
async fn oci_providers_win_where_both_are_published() {
    let want = "ghcr.io/x/foo-bar by the URI template `ghcr.io/x/{namespace}-{type}` of example.com";
    assert_eq!(place("example.com/foo/bar", OCI).await, want);
    assert_eq!(place("example.com/foo/bar", BOTH).await, want);
}

#[tokio::test]
async fn a_registry_is_where_its_service_says_without_an_added_slash() {
    assert_eq!(place("example.com/foo/bar", REGISTRY).await, "registry https://example.com/v1/");
    for (value, want) in [
        ("v1/#part", "https://example.com/.well-known/v1/"),
        ("/api", "https://example.com/api"),
        ("//other.example/v1/", "https://other.example/v1/"),
        ("http://plain.example:8080/v1/", "http://plain.example:8080/v1/"),
    ] {
        assert_eq!(
            place("example.com/foo/bar", &format!(r#"{{"providers.v1":"{value}"}}"#)).await,
            format!("registry {want}")
        );
    }
}

#[tokio::test]
async fn what_cannot_be_used_says_why() {
    assert_snapshot!(place("example.com/foo/bar", r#"{"providers.v2":"/v2/","providers.v9":"/"}"#).await, @"nothing can be installed from example.com: https://example.com/x.json names providers.v2, providers.v9, and providers.v1 is the version that is read (no-provider-service)");
    assert_snapshot!(place("example.com/foo/bar", r#"{"providers.v1":["/v1/"]}"#).await, @"nothing can be installed from example.com: the service providers.v1 in https://example.com/x.json is not usable: it is an array, and must be a string (invalid-service)");
    assert_snapshot!(place("example.com/foo/bar", r#"{"providers.v1":"https://user:secret@example.com/v1/"}"#).await, @"nothing can be installed from example.com: the service providers.v1 in https://example.com/x.json is not usable: it must have neither a user name nor a password (invalid-service)");
    assert_snapshot!(place("example.com/foo/bar", r#"{"providers.v1":"ftp://example.com/v1/"}"#).await, @"nothing can be installed from example.com: the service providers.v1 in https://example.com/x.json is not usable: it is an address of ftp, and must be of https or http (invalid-service)");
    let long = format!(r#"{{"providers.v1":"{}"}}"#, "../".repeat(20_000));
    assert_snapshot!(place("example.com/foo/bar", &long).await, @"nothing can be installed from example.com: the service providers.v1 in https://example.com/x.json is not usable: it names an address of more than 16 KiB (invalid-service)");
    assert_snapshot!(place("example.com/foo/bar", r#"{"modules.v1":"/m/"}"#).await, @"nothing can be installed from example.com: https://example.com/x.json names no service for providers (no-provider-service)");
    assert_snapshot!(place("example.com/foo/bar", r#"{"oci-providers.v1":7,"providers.v1":"/"}"#).await, @"nothing can be installed from example.com: the service oci-providers.v1 in https://example.com/x.json is not usable: it is a number, and must be a string (invalid-service)");
    assert_snapshot!(place("example.com/foo/ほげ", OCI).await, @"nothing can be installed from example.com: requested provider address example.com/foo/ほげ contains characters that are not valid in an OCI distribution repository name, so this provider cannot be installed from an OCI repository as ghcr.io/x/foo-ほげ (invalid-repository-address)");
    assert_snapshot!(place("oci.opentofu.org/foo/bar", OCI).await, @"nothing can be installed from oci.opentofu.org: oci.opentofu.org/foo/bar names no registry before .oci.opentofu.org (invalid-repository-address)");
}

/// A host whose document is on the web and names a registry on another host.
struct World {
    registry: Registry,
    web: WebServer,
    tunnel: Tunnel,
}

impl World {
    fn start() -> Self {
        let registry = Registry::start();
        let web = WebServer::start(&["registry.example.test"]);
        let document = format!(r#"{{"oci-providers.v1":"{}/mirror/{{namespace}}-{{type}}"}}"#, registry.address());
        let answer = Answer::new(200).header("Content-Type", "application/json; charset=utf-8").body(document);
        web.page("/.well-known/terraform.json", answer);
        let tunnel = Tunnel::start([("registry.example.test:443", web.address())]);
        Self { registry, web, tunnel }
    }

    fn client(&self, private_hosts: &[&str]) -> Arc<RegistryClient> {
        let options = HttpOptions {
            private_hosts: private_hosts.iter().map(ToString::to_string).collect(),
            proxies: Proxies::Fixed(self.tunnel.url()),
            ca_certificates: self.web.ca_pem().map(|pem| pem.as_bytes().to_vec()).into_iter().collect(),
            ..HttpOptions::default()
        };
        RegistryClient::new(options.into(), Arc::new(NoCredentials), Arc::new(NoReporter)).unwrap()
    }

    fn direct(&self, private_hosts: &[&str]) -> DirectSource {
        let client = self.client(private_hosts);
        let web = WebClient::new(Arc::clone(client.http()));
        let discovery = Arc::new(HttpDiscovery::new(web.clone(), DiscoveryOptions::default()));
        let open: OpenRepository = Arc::new(move |repository| Ok(Arc::new(client.store(repository.clone()))));
        let host = "registry.example.test".parse().unwrap();
        DirectSource::new(host, MagicSuffix::default(), discovery, open, access(web))
    }
}

#[tokio::test]
async fn a_host_projects_its_providers_onto_a_registry_elsewhere() {
    let world = World::start();
    let repository = format!("{}/mirror/acme-widget", world.registry.address());
    release(&world.client(&[]).store(repository.parse().unwrap()), PackageLayout::Artifact, &["linux_amd64"]).await;
    let link = Link {
        method: InstallMethod::Direct,
        label: "direct".to_owned(),
        source: Arc::new(world.direct(&[world.registry.address()])),
    };
    let chain = Chain::new(vec![link]);
    let listing = chain.versions(&ADDRESS.parse().unwrap()).await.unwrap();
    assert_eq!(listing.versions, ["1.0.0".parse().unwrap()]);
    let offer = offered(&chain, "1.0.0", "linux_amd64").await.unwrap();
    assert_eq!(offer.place().to_string(), repository);
    assert_eq!(offer.release.platforms().await.unwrap(), ["linux_amd64".parse().unwrap()]);
    assert!(!offer.release.hashes().await.unwrap().is_empty());
    let part = offer.package.parts().next().unwrap();
    let bytes: Vec<_> = offer.release.open(part).await.unwrap().stream.try_collect().await.unwrap();
    assert_eq!(bytes.concat(), b"the package of linux_amd64");
    assert_eq!(world.web.requests().len(), 1, "the document is asked for once");
}

#[tokio::test]
async fn a_provider_that_the_registry_lacks_gives_way_to_the_next_method() {
    let world = World::start();
    let address = ADDRESS.parse().unwrap();
    let direct = Link {
        method: InstallMethod::Direct,
        label: "direct".to_owned(),
        source: Arc::new(world.direct(&[world.registry.address()])),
    };
    let error = Chain::new(vec![direct.clone()]).versions(&address).await.unwrap_err();
    assert_eq!(error.code(), "registry-provider-not-known");

    let store = MemoryStore::new("memory".parse().unwrap());
    release(&store, PackageLayout::Artifact, &["linux_amd64"]).await;
    let source = Arc::new(OciSource::new(Arc::new(store)));
    let chain = Chain::new(vec![direct, Link { method: InstallMethod::Oci, label: "oci_mirror".to_owned(), source }]);
    assert_eq!(chain.versions(&address).await.unwrap().versions.len(), 1);
    assert_eq!(offered(&chain, "1.0.0", "linux_amd64").await.unwrap().place().to_string(), "memory");
}

/// The result for a document of `registry.example.test`, a host of the internet, that names this registry.
async fn led_to(registry: &str, allowed: &[&str]) -> String {
    let web = WebServer::start(&["registry.example.test"]);
    let document = format!(r#"{{"oci-providers.v1":"{registry}/x/{{namespace}}-{{type}}"}}"#);
    web.page("/.well-known/terraform.json", Answer::new(200).header("Content-Type", "application/json").body(document));
    let tunnel = Tunnel::start([("registry.example.test:443", web.address())]);
    let world = World { registry: Registry::start(), web, tunnel };
    let address: ProviderAddr = "registry.example.test/foo/bar".parse().unwrap();
    match world.direct(allowed).hosted(&address).await {
        Ok(HostedPlace::Repository(place)) => place.repository.to_string(),
        Ok(HostedPlace::Registry(base)) => base.to_string(),
        Err(error) => error.code().to_owned(),
    }
}

#[tokio::test]
async fn a_document_of_an_internet_host_does_not_lead_to_this_machine_or_a_private_network() {
    for registry in [
        "127.0.0.1",
        "127.0.0.1:5000",
        "127.1",
        "0x7f.1",
        "2130706433",
        "0.0.0.0:5000",
        "localhost:5000",
        "LOCALHOST",
        "x.localhost",
        "10.0.0.1",
        "172.16.0.1:5000",
        "192.168.1.1",
        "169.254.169.254",
        "100.64.0.1",
        "[::1]:5000",
        "[::ffff:127.0.0.1]",
        "[fd00::1]",
        "[fd00:ec2::254]",
        "[fe80::1]",
    ] {
        let got = led_to(registry, &[]).await;
        assert!(
            ["private-host", "invalid-service", "invalid-repository-address"].contains(&got.as_str()),
            "{registry}: {got}"
        );
    }
    for registry in ["127.0.0.1:5000", "localhost:5000", "10.0.0.1", "169.254.169.254", "100.64.0.1"] {
        assert_eq!(led_to(registry, &[]).await, "private-host", "{registry}");
        assert_eq!(led_to(registry, &["other.test", "10.0.0.2"]).await, "private-host", "{registry}");
        assert_eq!(led_to(registry, &[registry]).await, format!("{registry}/x/foo-bar"));
    }
    for registry in ["ghcr.io", "93.184.216.34", "registry.internal:5000"] {
        assert_eq!(led_to(registry, &[]).await, format!("{registry}/x/foo-bar"));
    }
}
