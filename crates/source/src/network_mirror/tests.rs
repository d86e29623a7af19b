use std::collections::BTreeMap;
use std::sync::{Arc, Mutex};
use std::time::{Duration, SystemTime};

use async_trait::async_trait;
use futures_util::TryStreamExt as _;
use tofu_oci_http::{Clock, HttpClient, HttpOptions, Proxies, WebClient};
use tofu_oci_testkit::{Answer, Fault, MirrorHashes, Rule, Tunnel, Upstream, WebServer};
use tofu_oci_types::{Event, Hostname, PackageHash, Reporter, Secret};

use super::*;
use crate::error::causes;
use crate::{Chain, InstallMethod, Link, Locator, Offer, Package, Part};

mod archives;

const ADDRESS: &str = "registry.example.test/acme/widget";
const INDEX: &str = "/mirror/registry.example.test/acme/widget/index.json";
const VERSION: &str = "/mirror/registry.example.test/acme/widget/1.0.0.json";

/// Never waits.
struct NoWait;

#[async_trait]
impl Clock for NoWait {
    fn now(&self) -> SystemTime {
        SystemTime::UNIX_EPOCH
    }

    async fn sleep(&self, _time: Duration) {}
}

/// The texts of the notes.
#[derive(Default)]
struct Notes(Mutex<Vec<String>>);

impl Reporter for Notes {
    fn event(&self, event: &Event) {
        if let Event::Message { code, text, .. } = event {
            self.0.lock().unwrap().push(format!("{code}: {text}"));
        }
    }
}

/// How a mirror is asked here.
struct Bench {
    options: HttpOptions,
    tokens: BTreeMap<Hostname, Secret>,
    checksums: MirrorChecksums,
    notes: Arc<Notes>,
}

impl Bench {
    fn trusting(ca_pem: Option<&str>) -> Self {
        let options = HttpOptions {
            ca_certificates: ca_pem.map(|pem| pem.as_bytes().to_vec()).into_iter().collect(),
            proxies: Proxies::Direct,
            clock: Arc::new(NoWait),
            ..HttpOptions::default()
        };
        let (tokens, notes) = (BTreeMap::new(), Arc::new(Notes::default()));
        Self { options, tokens, checksums: MirrorChecksums::OfPlatform, notes }
    }

    fn mirror(&self, url: &str) -> NetworkMirrorSource {
        let notes: Arc<dyn Reporter> = Arc::clone(&self.notes) as _;
        let web = WebClient::new(HttpClient::new(self.options.clone(), notes).unwrap());
        let access = MirrorAccess {
            downloads: web.clone(),
            web,
            tokens: Arc::new(self.tokens.clone()),
            timeout: Duration::from_secs(10),
            checksums: self.checksums,
        };
        NetworkMirrorSource::new(url, access).unwrap()
    }
}

/// A mirror with 1.0.0 for two platforms.
fn upstream() -> Upstream {
    let upstream = Upstream::start();
    upstream.release("acme/widget", "1.0.0", &["linux_amd64", "darwin_arm64"]);
    upstream
}

fn of(upstream: &Upstream) -> NetworkMirrorSource {
    Bench::trusting(Some(upstream.ca_pem())).mirror(&upstream.mirror_url())
}

fn address() -> ProviderAddr {
    ADDRESS.parse().unwrap()
}

async fn offer(mirror: &NetworkMirrorSource, platform: &str) -> Result<Offer, SourceError> {
    mirror.release(&address(), &"1.0.0".parse().unwrap()).await?.offer(&platform.parse().unwrap()).await
}

fn part(offer: &Offer) -> &Part {
    let Package::Zip(part) = &offer.package else { panic!("{:?} is not a zip", offer.package) };
    part
}

fn url(offer: &Offer) -> &Url {
    let Locator::Url(url) = &part(offer).at else { panic!("{:?} is not on the web", part(offer)) };
    url
}

async fn bytes(offer: &Offer) -> Result<Vec<u8>, SourceError> {
    let stream = offer.release.open(part(offer)).await?.stream;
    Ok(stream.try_collect::<Vec<_>>().await?.concat())
}

/// Code and text of an error, without the address of the server.
fn said(error: &SourceError, address: &str) -> String {
    format!("{}: {}", error.code(), causes(error)).replace(address, "MIRROR")
}

fn json(body: &str) -> Answer {
    Answer::new(200).header("Content-Type", "application/json").body(body.to_owned())
}

#[tokio::test]
async fn a_mirror_lists_and_offers_what_its_documents_say() {
    let upstream = upstream();
    upstream.release("acme/widget", "1.2.0", &["linux_amd64"]);
    let mirror = of(&upstream);
    let listing = mirror.versions(&address()).await.unwrap();
    assert_eq!(listing.versions, ["1.0.0".parse().unwrap(), "1.2.0".parse().unwrap()]);
    let offer = offer(&mirror, "linux_amd64").await.unwrap();
    let (h1, zh) = upstream.hashes("acme/widget", "1.0.0", "linux_amd64");
    assert_eq!(offer.allowed, [h1.parse().unwrap(), zh.parse::<PackageHash>().unwrap()]);
    assert_eq!((part(&offer).size, &part(&offer).digest, offer.signed.len()), (None, &None, 0));
    assert_eq!(offer.release.platforms().await.unwrap().len(), 2);
    assert_eq!(offer.release.hashes().await.unwrap(), *offer.claims);
    assert!(offer.release.evidence(crate::Search::Everywhere).await.unwrap().is_empty());
    let zip = upstream.zip("acme/widget", "1.0.0", "linux_amd64");
    assert_eq!(offer.release.size(part(&offer)).await.unwrap(), Some(zip.len() as u64));
    assert_eq!(bytes(&offer).await.unwrap(), zip);
    mirror.versions(&address()).await.unwrap();
    self::offer(&mirror, "darwin_arm64").await.unwrap();
    let file = "/mirror/registry.example.test/acme/widget/terraform-provider-widget_1.0.0_linux_amd64.zip";
    let asked = [
        format!("GET {INDEX} -> 200"),
        format!("GET {VERSION} -> 200"),
        format!("HEAD {file} -> 200"),
        format!("GET {file} -> 200"),
    ];
    assert_eq!(upstream.conversation(), asked, "each document once");
    assert_eq!(upstream.requests()[0].header("accept"), Some("application/json"));
}

#[tokio::test]
async fn a_version_is_asked_for_without_an_index() {
    let upstream = upstream();
    offer(&of(&upstream), "linux_amd64").await.unwrap();
    assert_eq!(upstream.conversation(), [format!("GET {VERSION} -> 200")]);
}

/// What the mirror says if one of its documents is answered so, and how often it is asked for.
async fn check(path: &str, fault: Fault, want: &str, times: usize) {
    let upstream = upstream();
    upstream.fault(Rule::on("GET", path).then(fault));
    let mirror = of(&upstream);
    let got = if path == INDEX {
        mirror.versions(&address()).await.map(|listing| format!("{:?}", listing.versions))
    } else {
        offer(&mirror, "linux_amd64").await.map(|offer| format!("{:?}", offer.allowed))
    };
    let got = got.unwrap_or_else(|error| said(&error, upstream.address()));
    let asked = upstream.requests().iter().filter(|request| request.path == path).count();
    assert_eq!((got.as_str(), asked), (want, times));
}

#[tokio::test]
async fn documents_that_do_not_come_say_why() {
    let mirror = "nothing can be installed from the network mirror https://MIRROR/mirror/: https://MIRROR";
    let failed = |code: &str, path: &str, why: &str| format!("{code}: {mirror}{path}{why}");
    for path in [INDEX, VERSION] {
        for (status, code, times) in [
            (401, "unauthorized", 1),
            (403, "unauthorized", 1),
            (410, "bad-status", 1),
            (500, "server-error", 5),
            (503, "server-error", 5),
            (429, "too-many-requests", 5),
        ] {
            let (answer, why) = (Answer::text(status, "no"), format!(" answered {status}"));
            let why = if times == 5 { format!("{path} answered {status}") } else { format!("{path}{why}") };
            check(path, Fault::Answer(answer), &failed(code, "", &why), times).await;
        }
        let html = Answer::new(200).header("Content-Type", "text/html").body("<html>");
        let why = " is `text/html`, and must be application/json";
        check(path, Fault::Answer(html), &failed("bad-content-type", path, why), 1).await;
        let untyped = Answer::new(200).body("{}");
        let why = " does not say that it is application/json";
        check(path, Fault::Answer(untyped), &failed("bad-content-type", path, why), 1).await;
        let why = ": it is not strict JSON: EOF while parsing an object at line 1 column 1";
        check(path, Fault::Answer(json("{")), &failed("bad-body", path, why), 1).await;
        let large = json(&format!("{{\"x\":\"{}\"}}", "x".repeat(5 << 20)));
        let why = ": its answer is larger than 4194304 bytes";
        check(path, Fault::Answer(large), &failed("bad-body", path, why), 1).await;
        let why = ": connection closed before the answer came";
        check(path, Fault::Disconnect, &failed("connection-lost", path, why), 5).await;
        let plain = Fault::Redirect { status: 302, prefix: "http://127.0.0.1:1".to_owned() };
        let why = ": its redirect is not followed: it leads from HTTPS to plain HTTP on 127.0.0.1:1";
        check(path, plain, &failed("bad-redirect", path, why), 1).await;
    }
    let unknown = format!("provider-not-found: {ADDRESS} was not found in the network mirror https://MIRROR/mirror/");
    check(INDEX, Fault::Answer(Answer::text(404, "no")), &unknown, 1).await;
    let missing =
        format!("mirror-version-missing: {ADDRESS} 1.0.0 was not found in the network mirror https://MIRROR/mirror/");
    check(VERSION, Fault::Answer(Answer::text(404, "no")), &missing, 1).await;
    let long = Answer::text(429, "later").header("Retry-After", "3600");
    let why = ": it asks for a wait of 3600 s";
    check(INDEX, Fault::Answer(long), &failed("too-many-requests", INDEX, why), 1).await;
}

#[tokio::test]
async fn a_document_is_asked_for_again_after_a_passing_refusal() {
    for fault in [
        Fault::Disconnect,
        Fault::Answer(Answer::text(503, "no")),
        Fault::Answer(Answer::text(429, "later").header("Retry-After", "2")),
    ] {
        let upstream = upstream();
        upstream.fault(Rule::on("*", "*").times(2).then(fault));
        assert_eq!(of(&upstream).versions(&address()).await.unwrap().versions.len(), 1);
        assert_eq!(upstream.requests().len(), 3);
    }
}

#[tokio::test]
async fn rubbish_among_the_versions_is_passed_over_and_noted_once() {
    let upstream = upstream();
    upstream.fault(
        Rule::on("GET", INDEX).then(Fault::Answer(json(r#"{"versions":{"1.0.0":{},"v2":{},"a\u001b[31m":{}}}"#))),
    );
    let bench = Bench::trusting(Some(upstream.ca_pem()));
    let mirror = bench.mirror(&upstream.mirror_url());
    for _ in 0..2 {
        assert_eq!(mirror.versions(&address()).await.unwrap().versions.len(), 1);
    }
    let want = format!(
        "invalid-versions: the network mirror {} lists versions of {ADDRESS} that are not written as MAJOR.MINOR.PATCH, and \
         are left out: `a\\u{{1b}}[31m`, `v2`",
        upstream.mirror_url()
    );
    assert_eq!(*bench.notes.0.lock().unwrap(), [want]);
}

/// What a `VERSION.json` with this member for `linux_amd64` and this one for `darwin_arm64` demands of the former.
async fn demanded(checksums: MirrorChecksums, own: &str, other: &str) -> String {
    let server = WebServer::start(&[]);
    let document = format!(r#"{{"archives":{{"linux_amd64":{own},"darwin_arm64":{other}}}}}"#);
    server.page(VERSION, json(&document));
    let bench = Bench { checksums, ..Bench::trusting(server.ca_pem()) };
    match offer(&bench.mirror(&format!("{}/mirror/", server.origin())), "linux_amd64").await {
        Ok(offer) => {
            let allowed: Vec<&str> = offer.allowed.iter().map(PackageHash::as_str).collect();
            let digest = if part(&offer).digest.is_some() { " by digest" } else { "" };
            format!("[{}]{digest}", allowed.join(" ").replace(&"0".repeat(64), "00"))
        }
        Err(error) => {
            let text = said(&error, server.address());
            text.rsplit_once(".json: ").map_or(text.clone(), |(_, why)| format!("{}: {why}", error.code()))
        }
    }
}

#[tokio::test]
async fn one_of_the_known_checksums_must_match() {
    use MirrorChecksums::{OfAnyPlatform, OfPlatform};
    let zh = format!("zh:{}", "0".repeat(64));
    let member = |hashes: &str| format!(r#"{{"url":"a.zip","hashes":[{hashes}]}}"#);
    let both = member(&format!(r#""h1:a","{zh}","h1:a","h7:x""#));
    let sole = member(&format!(r#""{zh}","ch:sha256:x""#));
    let (none, unknown, bad) = (r#"{"url":"a.zip"}"#.to_owned(), member(r#""h7:x""#), member(r#""nonsense""#));
    let check = async |checksums, own: &str, other: &str, want: &str| {
        assert_eq!(demanded(checksums, own, other).await, want, "{checksums:?} {own} {other}");
    };
    check(OfPlatform, &both, &bad, "[h1:a zh:00]").await;
    check(OfPlatform, &sole, &both, "[zh:00] by digest").await;
    check(OfPlatform, &member(r#""zh:ABC""#), &none, "[zh:ABC]").await;
    check(OfPlatform, &none, &both, "[]").await;
    let schemes = "mirror-hash-schemes: h7:x has no checksum format that can be verified (h1: or zh:)";
    check(OfPlatform, &unknown, &both, schemes).await;
    let nonsense = "bad-body: `nonsense` is not a package checksum: it must read SCHEME:VALUE";
    check(OfPlatform, &bad, &both, nonsense).await;
    check(OfAnyPlatform, &sole, &member(r#""h1:b""#), "[h1:b zh:00]").await;
    check(OfAnyPlatform, &none, &both, "[h1:a zh:00]").await;
    check(OfAnyPlatform, &none, &none, "[]").await;
    check(OfAnyPlatform, &sole, &bad, nonsense).await;
    check(OfPlatform, r#"{"hashes":[]}"#, &both, "bad-body: the archive for linux_amd64 has no url").await;
}

#[tokio::test]
async fn a_version_without_the_platform_gives_way() {
    for body in [r#"{"archives":null}"#, r#"{"archives":{}}"#] {
        let server = WebServer::start(&[]);
        server.page(VERSION, json(body));
        let mirror = Bench::trusting(server.ca_pem()).mirror(&format!("{}/mirror/", server.origin()));
        let error = offer(&mirror, "linux_amd64").await.unwrap_err();
        assert_eq!(error.code(), "platform-not-supported", "{body}");
    }
}

#[tokio::test]
async fn a_version_that_the_mirror_lacks_ends_the_search() {
    let (empty, full) = (Upstream::start(), upstream());
    let link = |upstream: &Upstream, label: &str| Link {
        method: InstallMethod::NetworkMirror,
        label: label.to_owned(),
        source: Arc::new(of(upstream)),
    };
    let chain = Chain::new(vec![link(&empty, "first"), link(&full, "second")]);
    assert_eq!(chain.versions(&address()).await.unwrap().versions.len(), 1, "no index is no error");
    let release = chain.release(&address(), &"1.0.0".parse().unwrap()).await;
    let error = match release {
        Ok(release) => release.offer(&"linux_amd64".parse().unwrap()).await.unwrap_err(),
        Err(error) => error,
    };
    assert_eq!(error.code(), "mirror-version-missing");
    assert_eq!(full.conversation(), [format!("GET {INDEX} -> 200")]);
}

#[tokio::test]
async fn the_address_of_a_mirror_is_followed_as_by_opentofu() {
    let asked = async |base: &str, provider: &str, version: &str| {
        let server = WebServer::start(&[]);
        let mirror = Bench::trusting(server.ca_pem()).mirror(&format!("{}{base}", server.origin()));
        let error = mirror.release(&provider.parse().unwrap(), &version.parse().unwrap()).await.unwrap_err();
        match server.requests().first() {
            Some(request) => request.path.clone(),
            None => said(&error, server.address()),
        }
    };
    let file = "registry.example.test/acme/widget/1.0.0.json";
    assert_eq!(asked("/p/", ADDRESS, "1.0.0").await, format!("/p/{file}"));
    assert_eq!(asked("/p/?x=1#y", ADDRESS, "1.0.0").await, format!("/p/{file}"));
    assert_eq!(asked("/p", ADDRESS, "1.0.0").await, format!("/{file}"));
    assert_eq!(asked("", ADDRESS, "1.2.0+b.1").await, "/registry.example.test/acme/widget/1.2.0+b.1.json");
    assert_eq!(asked("/", "ほげ.test/acme/ほげ", "1.0.0").await, "/xn--18j4d.test/acme/%E3%81%BB%E3%81%92/1.0.0.json");
    assert_eq!(
        asked("/", "registry.example.test:8443/acme/widget", "1.0.0").await,
        "host-with-port: nothing can be installed from the network mirror https://MIRROR/: the protocol of network mirrors has no address for providers of registry.example.test:8443"
    );
}
