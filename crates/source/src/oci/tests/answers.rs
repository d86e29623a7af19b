//! What a registry's answers mean, through the real client.

use std::time::{Duration, SystemTime};

use futures_util::TryStreamExt as _;
use serde_json::{Value, json};
use tofu_oci_http::{Clock, HttpLimits, HttpOptions, RetryPolicy};
use tofu_oci_layout::PackageLayout;
use tofu_oci_remote::{NoCredentials, RegistryClient, RemoteStore};
use tofu_oci_testkit::{Answer, Auth, Bearer, ClientCertificate, Fault, Login, Registry, Rule};
use tofu_oci_types::{Digest, NoReporter};

use super::super::*;
use super::{ADDRESS, offered, release};

const REPOSITORY: &str = "m/acme/widget";
const LIST: &str = "/v2/*/tags/list";
const TAG: &str = "/v2/*/manifests/1.0.0";
const MANIFEST: &str = "/v2/*/manifests/sha256:*";
const BLOB: &str = "/v2/*/blobs/*";

/// Never waits.
struct NoWait;

#[async_trait]
impl Clock for NoWait {
    fn now(&self) -> SystemTime {
        SystemTime::UNIX_EPOCH
    }

    async fn sleep(&self, _: Duration) {}
}

pub(crate) fn client(options: HttpOptions) -> Arc<RegistryClient> {
    let options = HttpOptions { clock: Arc::new(NoWait), ..options };
    RegistryClient::new(options.into(), Arc::new(NoCredentials), Arc::new(NoReporter)).unwrap()
}

/// The versions, or the name of the error.
async fn listed(store: RemoteStore) -> String {
    let source = OciSource::new(Arc::new(store));
    match source.versions(&ADDRESS.parse().unwrap()).await {
        Ok(listing) => listing.versions.iter().map(ToString::to_string).collect::<Vec<_>>().join(" "),
        Err(error) => error.code().to_owned(),
    }
}

/// A registry with a client that is at home there: a client takes its time to be made.
struct Lab {
    registry: Registry,
    client: Arc<RegistryClient>,
}

impl Lab {
    async fn stocked() -> Self {
        let (registry, client) = (Registry::start(), client(HttpOptions::default()));
        let lab = Self { registry, client };
        release(&lab.store(), PackageLayout::Artifact, &["linux_amd64"]).await;
        lab
    }

    fn store(&self) -> RemoteStore {
        self.client.store(format!("{}/{REPOSITORY}", self.registry.address()).parse().unwrap())
    }

    async fn check_list(&self, answer: Answer, want: &str) {
        let text = format!("{answer:?}");
        self.registry.fault(Rule::on("GET", LIST).then(Fault::Answer(answer)));
        assert_eq!(listed(self.store()).await, want, "{text}");
        self.registry.clear_faults();
    }

    async fn check(&self, rule: Rule, want: &str) {
        let text = format!("{rule:?}");
        self.registry.fault(rule);
        assert_eq!(fetched(self.store()).await, want, "{text}");
        self.registry.clear_faults();
    }
}

fn tags(body: &str) -> Answer {
    Answer::new(200).header("Content-Type", "application/json").body(body.to_owned())
}

#[tokio::test]
async fn lists_that_say_that_there_is_no_such_provider() {
    let lab = Lab::stocked().await;
    let unknown = "provider-not-found";
    lab.check_list(Answer::new(404), unknown).await;
    lab.check_list(Answer::text(404, "<html>"), unknown).await;
    for status in [400, 403, 404, 405, 410] {
        lab.check_list(Answer::error(status, "NAME_UNKNOWN", "no"), unknown).await;
        lab.check_list(Answer::error(status, "NAME_INVALID", "no"), unknown).await;
    }
}

#[tokio::test]
async fn lists_without_versions_are_empty() {
    let lab = Lab::stocked().await;
    lab.check_list(tags(r#"{"name":"x","tags":[]}"#), "").await;
    lab.check_list(tags(r#"{"name":"x","tags":null}"#), "").await;
    lab.check_list(tags(r#"{"name":"x","tags":["latest","v1.0.0","2"]}"#), "").await;
    lab.check_list(tags(r#"{"name":"x","tags":["2","1.0.0"]}"#), "1.0.0").await;
}

#[tokio::test]
async fn lists_that_are_errors() {
    let lab = Lab::stocked().await;
    // An answer of something that is not the registry, which a proxy gave with the status 200.
    for other in ["{}", r#"{"errors":[]}"#, "null", "[]", r#"{"name":"x"}"#] {
        lab.check_list(tags(other), "bad-body").await;
    }
    for code in ["MANIFEST_UNKNOWN", "UNAUTHORIZED", "DENIED", "TOOMANYREQUESTS", "BLOB_UNKNOWN", "UNSUPPORTED"] {
        lab.check_list(Answer::error(404, code, "no"), "not-found-but-hard").await;
    }
    lab.check_list(Answer::error(401, "UNAUTHORIZED", "no"), "unauthorized").await;
    lab.check_list(Answer::error(401, "NAME_UNKNOWN", "no"), "unauthorized").await;
    lab.check_list(Answer::error(403, "DENIED", "no"), "denied").await;
    lab.check_list(Answer::new(403), "denied").await;
    lab.check_list(Answer::error(429, "TOOMANYREQUESTS", "no"), "too-many-requests").await;
    lab.check_list(Answer::new(429).header("Retry-After", "86400"), "too-many-requests").await;
    for status in [500, 502, 503, 504] {
        lab.check_list(Answer::new(status), "server-error").await;
    }
    for status in [201, 204, 302, 304, 410, 418] {
        lab.check_list(Answer::new(status), "bad-status").await;
    }
    for body in ["<html>", r#"{"tags":["1.0"#, r#"{"tags":"1.0.0"}"#, "[]", ""] {
        lab.check_list(tags(body), "bad-body").await;
    }
}

#[tokio::test]
async fn redirects_of_the_list_are_followed() {
    let lab = Lab::stocked().await;
    let to = |location: String| {
        let answer = Answer::new(302).header("Location", location);
        Rule::on("GET", LIST).once().then(Fault::Answer(answer))
    };
    lab.registry.fault(to(format!("{}/v2/{REPOSITORY}/tags/list?n=1", lab.registry.url())));
    assert_eq!(listed(lab.store()).await, "1.0.0");
    lab.registry.fault(to("/nowhere".to_owned()));
    assert_eq!(listed(lab.store()).await, "provider-not-found");
    let elsewhere = Registry::start();
    lab.registry.fault(to(format!("{}/nowhere", elsewhere.url())));
    assert_eq!(listed(lab.store()).await, "provider-not-found");
}

#[tokio::test]
async fn lists_that_break_off_or_never_come() {
    let lab = Lab::stocked().await;
    for fault in [Fault::Disconnect, Fault::CutBody(3)] {
        lab.registry.fault(Rule::on("GET", LIST).then(fault));
        assert_eq!(listed(lab.store()).await, "connection-lost");
        lab.registry.clear_faults();
    }
    lab.registry.fault(Rule::on("GET", LIST).then(Fault::Hang));
    let limits = HttpLimits { first_byte: Duration::from_millis(100), ..HttpLimits::default() };
    let hasty = Lab { client: client(HttpOptions { limits, ..once() }), ..lab };
    assert_eq!(listed(hasty.store()).await, "timeout");
}

/// There is no second request.
fn once() -> HttpOptions {
    HttpOptions { retry: RetryPolicy { attempts: 1, ..RetryPolicy::default() }, ..HttpOptions::default() }
}

#[tokio::test]
async fn hosts_that_cannot_be_reached() {
    let client = client(once());
    let at = |host: &str| client.store(format!("{host}/{REPOSITORY}").parse().unwrap());
    let secure = Registry::builder().tls(ClientCertificate::NotAsked).start();
    let address = secure.address().to_owned();
    assert_eq!(listed(at(&address)).await, "tls");
    drop(secure);
    assert_eq!(listed(at(&address)).await, "connection-refused");
    assert_eq!(listed(at("nobody.invalid")).await, "dns");
}

#[tokio::test]
async fn a_registry_that_wants_a_login_is_not_an_unknown_provider() {
    let registry = Registry::builder().auth(Auth::Bearer(Bearer::new(Login::new("user", "secret-word")))).start();
    let lab = Lab { registry, client: client(HttpOptions::default()) };
    assert_eq!(listed(lab.store()).await, "unauthorized");
}

/// What a fresh installation of 1.0.0 gets: its bytes, or the name of the error.
async fn fetched(store: RemoteStore) -> String {
    let source = OciSource::new(Arc::new(store));
    let offer = match offered(&source, "1.0.0", "linux_amd64").await {
        Ok(offer) => offer,
        Err(error) => return error.code().to_owned(),
    };
    let part = offer.package.parts().next().unwrap();
    let bytes = match offer.release.open(part).await {
        Ok(opened) => opened.stream.try_collect::<Vec<_>>().await.map_err(SourceError::from),
        Err(error) => Err(error),
    };
    bytes.map_or_else(|error| error.code().to_owned(), |pieces| String::from_utf8(pieces.concat()).unwrap())
}

#[tokio::test]
async fn answers_about_the_package() {
    let lab = Lab::stocked().await;
    let answer = |path, status, code| Rule::on("*", path).then(Fault::status(status, code));
    lab.check(Rule::on("GET", "/nothing"), "the package of linux_amd64").await;
    lab.check(answer(TAG, 404, "MANIFEST_UNKNOWN"), "tag-not-found").await;
    lab.check(answer(TAG, 404, "NAME_UNKNOWN"), "tag-not-found").await;
    lab.check(answer(TAG, 401, "UNAUTHORIZED"), "unauthorized").await;
    lab.check(answer(TAG, 403, "DENIED"), "denied").await;
    lab.check(answer(TAG, 500, "UNKNOWN"), "server-error").await;
    lab.check(answer(MANIFEST, 404, "MANIFEST_UNKNOWN"), "manifest-not-found").await;
    lab.check(answer(MANIFEST, 404, "NAME_UNKNOWN"), "manifest-not-found").await;
    lab.check(answer(BLOB, 404, "NAME_UNKNOWN"), "blob-not-found").await;
    lab.check(answer(MANIFEST, 500, "UNKNOWN"), "server-error").await;
    lab.check(answer(BLOB, 404, "BLOB_UNKNOWN"), "blob-not-found").await;
    lab.check(answer(BLOB, 403, "DENIED"), "denied").await;
    lab.check(answer(BLOB, 500, "UNKNOWN"), "server-error").await;
    lab.check(Rule::on("GET", BLOB).then(Fault::Disconnect), "connection-lost").await;
    lab.check(Rule::on("GET", BLOB).then(Fault::CorruptBody(0)), "blob-digest-mismatch").await;
    lab.check(Rule::on("GET", MANIFEST).then(Fault::CorruptBody(0)), "manifest-digest-mismatch").await;
    lab.check(Rule::on("GET", BLOB).then(Fault::status(503, "UNAVAILABLE")).times(1), "the package of linux_amd64")
        .await;
}

impl Lab {
    /// The name of the error after a change of the index that the tag names.
    async fn check_index(&self, change: impl Fn(&mut Value), want: &str) {
        let (media_type, bytes) = self.registry.manifest(REPOSITORY, "1.0.0").unwrap();
        let good = Digest::sha256(&bytes);
        let mut index: Value = serde_json::from_slice(&bytes).unwrap();
        change(&mut index);
        let digest = self.registry.put_manifest(REPOSITORY, &media_type, index.to_string());
        self.registry.put_tag(REPOSITORY, "1.0.0", &digest);
        assert_eq!(fetched(self.store()).await, want, "{index}");
        self.registry.put_tag(REPOSITORY, "1.0.0", &good);
    }
}

#[tokio::test]
async fn releases_that_are_none() {
    let lab = Lab::stocked().await;
    lab.check_index(|index| index["manifests"] = json!([]), "no-provider-manifest").await;
    lab.check_index(|index| index["artifactType"] = json!("application/x"), "artifact-type").await;
    lab.check_index(|index| drop(index.as_object_mut().unwrap().remove("artifactType")), "artifact-type").await;
    let no_platform = |index: &mut Value| drop(index["manifests"][0].as_object_mut().unwrap().remove("platform"));
    lab.check_index(no_platform, "descriptor-platform-missing").await;
    let other = |index: &mut Value| index["manifests"][0]["platform"]["os"] = json!("plan9");
    lab.check_index(other, "platform-not-supported").await;

    let (_, bytes) = lab.registry.manifest(REPOSITORY, "1.0.0").unwrap();
    let index: Value = serde_json::from_slice(&bytes).unwrap();
    let leaf: Digest = index["manifests"][0]["digest"].as_str().unwrap().parse().unwrap();
    lab.registry.put_tag(REPOSITORY, "1.0.0", &leaf);
    assert_eq!(fetched(lab.store()).await, "not-an-index");
}
