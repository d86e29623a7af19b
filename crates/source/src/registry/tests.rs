//! The registry of an [`Upstream`], good and bad.

mod bad;
mod signatures;

use std::collections::BTreeMap;
use std::time::{Duration, SystemTime};

use futures_util::TryStreamExt as _;
use insta::assert_snapshot;
use tofu_oci_http::{Clock, HttpClient, HttpOptions, Proxies, WebClient};
use tofu_oci_testkit::{Answer, Fault, Rule, Upstream, WebServer};
use tofu_oci_types::{Event, NoReporter, Platform, Reporter, Secret};

use super::*;
use crate::error::causes;
use crate::{Offer, Package, Search};

const WIDGET: &str = "registry.example.test/acme/widget";
const DOWNLOAD: &str = "/v1/providers/acme/widget/1.0.0/download/linux/amd64";

/// What registries of tests share: no token, all of OpenTofu's defaults, the time of the fixtures' keys.
pub(crate) fn access(web: WebClient) -> RegistryAccess {
    RegistryAccess {
        web,
        tokens: Arc::new(BTreeMap::new()),
        timeout: Duration::from_secs(10),
        demands: SignatureDemands::of_variables(|_| None),
        now: SystemTime::now(),
    }
}

struct NoWait;

#[async_trait]
impl Clock for NoWait {
    fn now(&self) -> SystemTime {
        SystemTime::now()
    }

    async fn sleep(&self, _: Duration) {}
}

/// What was reported.
#[derive(Default)]
struct Told(Mutex<Vec<String>>);

impl Reporter for Told {
    fn event(&self, event: &Event) {
        if let Event::Message { code, text, .. } = event {
            lock(&self.0).push(format!("{code}: {text}"));
        }
    }
}

/// An upstream with `acme/widget` 1.0.0 for two platforms.
struct World {
    upstream: Upstream,
    told: Arc<Told>,
}

impl World {
    fn start() -> Self {
        let upstream = Upstream::start();
        upstream.release("acme/widget", "1.0.0", &["linux_amd64", "darwin_arm64"]);
        Self { upstream, told: Arc::default() }
    }

    fn access(&self) -> RegistryAccess {
        let options = HttpOptions {
            ca_certificates: vec![self.upstream.ca_pem().as_bytes().to_vec()],
            proxies: Proxies::Direct,
            clock: Arc::new(NoWait),
            ..HttpOptions::default()
        };
        access(WebClient::new(HttpClient::new(options, Arc::clone(&self.told) as _).unwrap()))
    }

    fn source(&self, host: &str, access: RegistryAccess) -> RegistrySource {
        let base = format!("{}/v1/providers/", self.upstream.origin()).parse().unwrap();
        RegistrySource::new(host.parse().unwrap(), base, access)
    }

    /// The offer of version 1.0.0 for a platform.
    async fn offer(&self, platform: &str) -> Result<Offer, SourceError> {
        offer(&self.source("registry.example.test", self.access()), WIDGET, platform).await
    }

    /// Why there is no offer for `linux_amd64`, or what it warns of.
    async fn told(&self) -> String {
        match self.offer("linux_amd64").await {
            Ok(_) => lock(&self.told.0).join("\n").replace(self.upstream.address(), "HOST"),
            Err(error) => self.shown(&error),
        }
    }

    fn shown(&self, error: &SourceError) -> String {
        format!("{} ({})", causes(error), error.code()).replace(self.upstream.address(), "HOST")
    }

    /// The paths that were asked for.
    fn asked(&self) -> Vec<String> {
        let line = |line: String| line.trim_start_matches("GET ").replace("terraform-provider-widget_", "");
        self.upstream.conversation().into_iter().map(line).collect()
    }
}

async fn offer(source: &RegistrySource, address: &str, platform: &str) -> Result<Offer, SourceError> {
    let (address, platform): (ProviderAddr, Platform) = (address.parse().unwrap(), platform.parse().unwrap());
    source.release(&address, &"1.0.0".parse().unwrap()).await?.offer(&platform).await
}

#[tokio::test]
async fn a_registry_is_asked_as_opentofu_asks_it_and_each_document_once() {
    let world = World::start();
    let source = world.source("registry.example.test", world.access());
    let address = WIDGET.parse().unwrap();
    let listing = source.versions(&address).await.unwrap();
    assert_eq!(listing.versions, ["1.0.0".parse().unwrap()]);
    let release = source.release(&address, &"1.0.0".parse().unwrap()).await.unwrap();
    for platform in ["linux_amd64", "darwin_arm64"] {
        let offer = Arc::clone(&release).offer(&platform.parse().unwrap()).await.unwrap();
        assert_eq!(offer.identity(), &release.id().identity);
        assert_eq!(offer.signed.len(), 2);
        let (_, zh) = world.upstream.hashes("acme/widget", "1.0.0", platform);
        assert!(offer.signed.contains(&zh.parse().unwrap()));
        let Package::Zip(part) = &offer.package else { panic!("{offer:?}") };
        let opened = offer.release.open(part).await.unwrap();
        let bytes: Vec<_> = opened.stream.try_collect().await.unwrap();
        assert_eq!(bytes.concat(), world.upstream.zip("acme/widget", "1.0.0", platform));
        assert_eq!(offer.release.size(part).await.unwrap(), opened.size);
    }
    assert_eq!(release.platforms().await.unwrap(), ["darwin_arm64", "linux_amd64"].map(|text| text.parse().unwrap()));
    assert_eq!(release.evidence(Search::Likely).await.unwrap().len(), 1);
    let mut asked = world.asked();
    asked.retain(|line| !line.starts_with("HEAD"));
    // The two files of a signature are asked for side by side.
    asked[2..4].sort();
    assert_snapshot!(asked.join("\n"), @"
    /v1/providers/acme/widget/versions -> 200
    /v1/providers/acme/widget/1.0.0/download/linux/amd64 -> 200
    /files/acme/widget/1.0.0/1.0.0_SHA256SUMS -> 200
    /files/acme/widget/1.0.0/1.0.0_SHA256SUMS.sig -> 200
    /files/acme/widget/1.0.0/1.0.0_linux_amd64.zip -> 200
    /v1/providers/acme/widget/1.0.0/download/darwin/arm64 -> 200
    /files/acme/widget/1.0.0/1.0.0_darwin_arm64.zip -> 200
    ");
}

#[tokio::test]
async fn the_token_of_the_host_goes_to_documents_and_nowhere_else() {
    let world = World::start();
    world.upstream.fault(
        Rule::on("GET", "/v1/providers/acme/widget/versions")
            .then(Fault::Redirect { status: 302, prefix: "/moved".to_owned() }),
    );
    world.upstream.fault(
        Rule::on("GET", "/moved/*").then(Fault::Answer(Answer::new(200).body(r#"{"versions":[{"version":"1.0.0"}]}"#))),
    );
    let tokens = BTreeMap::from([("registry.example.test".parse().unwrap(), Secret::new("secret-word"))]);
    let access = RegistryAccess { tokens: Arc::new(tokens), ..world.access() };
    let source = world.source("registry.example.test", access);
    let offered = offer(&source, WIDGET, "linux_amd64").await.unwrap();
    let Package::Zip(part) = &offered.package else { panic!("{offered:?}") };
    offered.release.open(part).await.unwrap();
    let shown = |path: &str| {
        let requests = world.upstream.requests();
        let request = requests.iter().find(|one| one.line().contains(path)).unwrap_or_else(|| panic!("{path}"));
        request.header("authorization").map(ToOwned::to_owned)
    };
    for path in ["/widget/versions", "/moved", "/download/linux/amd64"] {
        assert_eq!(shown(path).as_deref(), Some("Bearer secret-word"), "{path}");
    }
    for path in ["SHA256SUMS", "SHA256SUMS.sig", "linux_amd64.zip"] {
        assert_eq!(shown(path), None, "{path}");
    }
}

#[tokio::test]
async fn a_token_is_shown_over_plain_http_to_hosts_that_the_user_names_for_it_alone() {
    for named in [Vec::new(), vec!["127.0.0.1".to_owned()]] {
        let server = WebServer::plain();
        let options = HttpOptions { proxies: Proxies::Direct, plain_http: named.clone(), ..HttpOptions::default() };
        let host: Hostname = "registry.example.test".parse().unwrap();
        let tokens = BTreeMap::from([(host.clone(), Secret::new("secret-word"))]);
        let web = WebClient::new(HttpClient::new(options, Arc::new(NoReporter)).unwrap());
        let access = RegistryAccess { tokens: Arc::new(tokens), ..access(web) };
        let source = RegistrySource::new(host, format!("{}/v1/", server.origin()).parse().unwrap(), access);
        source.versions(&WIDGET.parse().unwrap()).await.unwrap_err();
        let shown = server.requests()[0].header("authorization").is_some();
        assert_eq!(shown, !named.is_empty());
    }
}

#[tokio::test]
async fn packages_of_another_list_of_checksums_belong_to_another_release() {
    let world = World::start();
    world.upstream.release("acme/widget", "2.0.0", &["darwin_arm64"]);
    let source = world.source("registry.example.test", world.access());
    let release = source.release(&WIDGET.parse().unwrap(), &"1.0.0".parse().unwrap()).await.unwrap();
    // Its document for darwin names the files of 2.0.0.
    let moved = world.upstream.origin().to_owned() + "/v1/providers/acme/widget/2.0.0/download/darwin/arm64";
    world.upstream.fault(
        Rule::on("GET", "*/1.0.0/download/darwin/arm64")
            .then(Fault::Answer(Answer::new(302).header("Location", moved))),
    );
    let linux = Arc::clone(&release).offer(&"linux_amd64".parse().unwrap()).await.unwrap();
    let darwin = Arc::clone(&release).offer(&"darwin_arm64".parse().unwrap()).await.unwrap();
    assert_eq!(linux.identity(), &release.id().identity);
    assert_ne!(darwin.identity(), &release.id().identity);
    assert_eq!((linux.signed.len(), darwin.signed.len()), (2, 1));
    assert!(linux.signed.is_disjoint(&darwin.signed));
}

#[tokio::test]
async fn what_a_registry_lacks_gives_way() {
    let world = World::start();
    let source = world.source("registry.example.test", world.access());
    let other = "registry.example.test/acme/other".parse().unwrap();
    let unknown = source.versions(&other).await.unwrap_err();
    assert_eq!(unknown.code(), "registry-provider-not-known");
    assert_eq!(
        source.release(&other, &"1.0.0".parse().unwrap()).await.unwrap_err().code(),
        "registry-provider-not-known"
    );
    let missing = source.release(&WIDGET.parse().unwrap(), &"1.1.0".parse().unwrap()).await.unwrap_err();
    assert!(matches!(missing, SourceError::NotOffered { what: NotOffered::VersionMissing { .. }, .. }), "{missing:?}");
    assert_snapshot!(world.shown(&world.offer("windows_amd64").await.unwrap_err()), @"registry.example.test/acme/widget 1.0.0 has no package for windows_amd64 (platform-not-supported)");
}

/// Measured: `fail-direct-versions-404-then-oci`.
#[tokio::test]
async fn a_version_of_another_methods_list_is_found_in_a_registry_without_a_list() {
    let world = World::start();
    world.upstream.fault(Rule::on("GET", "*/versions").then(Fault::Answer(Answer::new(404))));
    let source = world.source("registry.example.test", world.access());
    assert!(source.versions(&WIDGET.parse().unwrap()).await.is_err());
    let offer = offer(&source, WIDGET, &Platform::current().to_string()).await;
    assert_eq!(offer.is_ok(), ["linux_amd64", "darwin_arm64"].contains(&Platform::current().to_string().as_str()));
}

#[tokio::test]
async fn warnings_of_the_list_are_shown_once_and_harmless() {
    let world = World::start();
    world.upstream.warn("acme/widget", &["moved to \u{1b}[2Jacme/gadget"]);
    let source = world.source("registry.example.test", world.access());
    let address = WIDGET.parse().unwrap();
    assert_eq!(source.versions(&address).await.unwrap().warnings, ["moved to \u{1b}[2Jacme/gadget"]);
    source.versions(&address).await.unwrap();
    assert_snapshot!(lock(&world.told.0).join("\n"), @r"registry-warning: registry.example.test says of registry.example.test/acme/widget: moved to \u{1b}[2Jacme/gadget");
}
