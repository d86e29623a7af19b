//! A registry of modules, good and bad, by an in-process server.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex};
use std::time::SystemTime;

use async_trait::async_trait;
use futures_util::TryStreamExt as _;
use insta::assert_snapshot;
use tofu_oci_http::{Clock, HttpClient, HttpOptions, Proxies, WebClient};
use tofu_oci_testkit::{Answer, Certificates, WebServer};
use tofu_oci_types::{Digest, Event, Reporter, Secret};

use super::*;
use crate::error::causes;
use crate::memory::lock;
use crate::registry::tests::access;
use crate::{ArchiveForm, ModulePackage, PackageBytes, Part};

const NETWORK: &str = "registry.example.test/acme/network/aws";
const BASE: &str = "/v1/modules/acme/network/aws";

struct NoWait;

#[async_trait]
impl Clock for NoWait {
    fn now(&self) -> SystemTime {
        SystemTime::now()
    }

    async fn sleep(&self, _: std::time::Duration) {}
}

#[derive(Default)]
struct Told(Mutex<Vec<String>>);

impl Reporter for Told {
    fn event(&self, event: &Event) {
        if let Event::Message { code, text, .. } = event {
            lock(&self.0).push(format!("{code}: {text}"));
        }
    }
}

struct World {
    server: WebServer,
    told: Arc<Told>,
    web: WebClient,
}

impl World {
    fn start() -> Self {
        Self::with(&Certificates::for_names(&["*.example.test"]))
    }

    fn with(certificates: &Certificates) -> Self {
        let server = WebServer::with_certificates(certificates);
        let told: Arc<Told> = Arc::default();
        let options = HttpOptions {
            ca_certificates: vec![server.ca_pem().unwrap().as_bytes().to_vec()],
            proxies: Proxies::Direct,
            clock: Arc::new(NoWait),
            ..HttpOptions::default()
        };
        let web = WebClient::new(HttpClient::new(options, Arc::clone(&told) as _).unwrap());
        Self { server, told, web }
    }

    fn registry(&self) -> ModuleRegistry {
        let tokens = BTreeMap::from([("registry.example.test".parse().unwrap(), Secret::new("secret-word"))]);
        let access = RegistryAccess { tokens: Arc::new(tokens), ..access(self.web.clone()) };
        let base = format!("{}/v1/modules/", self.server.origin()).parse().unwrap();
        ModuleRegistry::new("registry.example.test".parse().unwrap(), base, access)
    }

    fn shown(&self, error: &ModuleError) -> String {
        format!("{} ({})", causes(error), error.code()).replace(self.server.address(), "HOST")
    }

    /// The version that a constraint chooses from the server's list, or the error.
    async fn chosen(&self, wanted: &str) -> String {
        let chosen = self.registry().choose(&address(), &wanted.parse().unwrap()).await;
        chosen.map_or_else(|error| self.shown(&error), |version| version.to_string())
    }

    /// What the answer to a download is read as, or the error.
    async fn located(&self, answer: Answer) -> String {
        self.server.clear();
        self.server.page(&format!("{BASE}/1.0.0/download"), answer);
        match self.registry().locate(&address(), &"1.0.0".parse().unwrap()).await {
            Ok(ModuleLocation::Oci(source)) => source.to_string(),
            Ok(ModuleLocation::Git(source, _)) => source.to_string(),
            Ok(ModuleLocation::Archive(archive)) => archive.url.to_string().replace(self.server.address(), "HOST"),
            Err(error) => self.shown(&error),
        }
    }
}

fn address() -> ModuleAddr {
    NETWORK.parse().unwrap()
}

fn list(versions: &[&str]) -> Answer {
    let versions: Vec<String> = versions.iter().map(|text| format!(r#"{{"version":"{text}"}}"#)).collect();
    Answer::new(200).body(format!(r#"{{"modules":[{{"versions":[{}]}}]}}"#, versions.join(",")))
}

#[tokio::test]
async fn the_newest_version_that_the_constraint_admits_is_chosen() {
    let world = World::start();
    world.server.page(&format!("{BASE}/versions"), list(&["1.0.0", "v1.2.0", "1.10.0", "2.0.0-rc.1", "nightly"]));
    assert_eq!(world.chosen("").await, "1.10.0");
    assert_eq!(world.chosen("~> 1.2.0").await, "1.2.0");
    assert_eq!(world.chosen("2.0.0-rc.1").await, "2.0.0-rc.1");
    assert_eq!(
        world.chosen(">= 2.0.0-rc.0").await,
        "registry.example.test/acme/network/aws has no version that meets `>= 2.0.0-rc.0` (no-matching-version)"
    );
    assert_eq!(
        world.chosen("3.0.0").await,
        "registry.example.test/acme/network/aws has no version 3.0.0 (no-matching-version)"
    );
    assert_snapshot!(lock(&world.told.0)[0], @"not-a-version: registry.example.test lists versions of registry.example.test/acme/network/aws that are none: nightly");
}

#[tokio::test]
async fn lists_that_are_none_are_one_clear_error() {
    let world = World::start();
    assert_snapshot!(world.chosen("").await, @"registry.example.test does not know the module registry.example.test/acme/network/aws (module-not-found)");
    for (answer, code) in [
        (Answer::new(200).body("<html>"), "bad-body"),
        (Answer::new(200).body(r#"{"modules":[]}"#), "bad-body"),
        (Answer::new(200).body(format!("{{\"x\":\"{}\"}}", "a".repeat(5 << 20))), "bad-body"),
        (Answer::new(401), "unauthorized"),
        (Answer::new(403), "unauthorized"),
        (Answer::new(500), "server-error"),
        (Answer::new(418), "bad-status"),
    ] {
        world.server.clear();
        world.server.page(&format!("{BASE}/versions"), answer);
        let told = world.chosen("").await;
        assert!(told.ends_with(&format!("({code})")), "{told}");
    }
}

#[tokio::test]
async fn the_location_of_the_body_counts_more_than_the_header() {
    let world = World::start();
    let (body, header) = (r#"{"location":"./body.zip"}"#, "/header.zip");
    let both = || Answer::new(200).header("X-Terraform-Get", header);
    assert_eq!(world.located(both().body(body)).await, format!("https://HOST{BASE}/1.0.0/body.zip"));
    assert_eq!(world.located(Answer::new(200).body(body)).await, format!("https://HOST{BASE}/1.0.0/body.zip"));
    for empty in ["{}", r#"{"location":""}"#, r#"{"location":null}"#, "", "<html>"] {
        assert_eq!(world.located(both().body(empty)).await, "https://HOST/header.zip", "{empty}");
    }
    assert_eq!(world.located(Answer::new(204).header("X-Terraform-Get", header)).await, "https://HOST/header.zip");
    assert_eq!(
        world.located(Answer::new(200).body(r#"{"location":"oci://127.0.0.1:5000/acme/network?tag=1.0.0"}"#)).await,
        "oci://127.0.0.1:5000/acme/network?tag=1.0.0"
    );
}

#[tokio::test]
async fn locations_that_are_not_fetched_are_one_clear_error() {
    let world = World::start();
    let mut told = Vec::new();
    for location in [
        "git::https://u:secret@x.example/a.git?ref=v1",
        "s3::https://s3.amazonaws.com/bucket/a.zip",
        "https://x.example/a?token=secret",
        "http://x.example/a.zip",
        "acme/network/aws",
    ] {
        told.push(world.located(Answer::new(204).header("X-Terraform-Get", location)).await);
    }
    told.push(world.located(Answer::new(204)).await);
    told.push(world.located(Answer::new(404)).await);
    assert_snapshot!(told.join("\n"), @"
    git::https://***@x.example/a.git?ref=v1
    the package of registry.example.test/acme/network/aws 1.0.0 cannot be fetched from where registry.example.test says: it is an S3 bucket, and a registry may name https archives, oci:// repositories and git repositories (module-location-kind)
    the package of registry.example.test/acme/network/aws 1.0.0 cannot be fetched from where registry.example.test says: neither the end of its path nor an argument archive= says that it is a .zip or .tar.gz archive (module-archive-form)
    the package of registry.example.test/acme/network/aws 1.0.0 cannot be fetched from where registry.example.test says: it leads from HTTPS to plain HTTP on x.example (module-location-invalid)
    the package of registry.example.test/acme/network/aws 1.0.0 cannot be fetched from where registry.example.test says: it is a module of a registry again (module-location-invalid)
    registry.example.test names no location for registry.example.test/acme/network/aws 1.0.0: the answer has neither a `location` nor a header X-Terraform-Get (module-location-missing)
    registry.example.test lists registry.example.test/acme/network/aws 1.0.0, and has no download of it (module-version-missing)
    ");
}

#[tokio::test]
async fn a_relative_location_was_taken_from_where_the_download_was_redirected_to() {
    let certificates = Certificates::for_names(&["*.example.test"]);
    let (world, elsewhere) = (World::with(&certificates), WebServer::with_certificates(&certificates));
    let download = format!("{BASE}/1.0.0/download");
    // In raw UTF-8, as some servers write it.
    let moved = format!("{}/über/there", elsewhere.origin());
    world.server.page(&download, Answer::new(302).header("Location", moved));
    elsewhere.page("/%C3%BCber/there", Answer::new(204).header("X-Terraform-Get", "./a.zip"));
    let located = world.registry().locate(&address(), &"1.0.0".parse().unwrap()).await.unwrap();
    let ModuleLocation::Archive(archive) = located else { panic!("an archive") };
    assert_eq!(archive.url.path(), download.replace("download", "a.zip"));
    assert_eq!(archive.url.port(), world.server.address().rsplit(':').next().and_then(|port| port.parse().ok()));
}

#[tokio::test]
async fn neither_the_token_nor_a_login_goes_to_the_host_that_an_archive_redirects_to() {
    let certificates = Certificates::for_names(&["*.example.test"]);
    let (world, elsewhere) = (World::with(&certificates), WebServer::with_certificates(&certificates));
    world.server.page(&format!("{BASE}/versions"), list(&["1.0.0"]));
    let location = format!("https://user:pass@{}/a.zip?sig=a%2Fb", world.server.address());
    world.server.page(&format!("{BASE}/1.0.0/download"), Answer::new(204).header("X-Terraform-Get", location));
    world.server.page("/a.zip", Answer::new(302).header("Location", format!("{}/b.zip", elsewhere.origin())));
    elsewhere.page("/b.zip", Answer::new(200).body("zip"));
    let registry = world.registry();
    registry.choose(&address(), &Constraints::any()).await.unwrap();
    let ModuleLocation::Archive(archive) = registry.locate(&address(), &"1.0.0".parse().unwrap()).await.unwrap() else {
        panic!("an archive")
    };
    let package = ModulePackage::of_archive(&archive, &world.web);
    assert_eq!((part(&package).1, package.manifest()), (ArchiveForm::Zip, None));
    let bytes: Vec<_> = package.open().await.unwrap().stream.try_collect().await.unwrap();
    assert_eq!(bytes.concat(), b"zip");
    let shown = |server: &WebServer| -> Vec<Option<String>> {
        server.requests().iter().map(|one| one.header("authorization").map(ToOwned::to_owned)).collect()
    };
    let (bearer, basic) = (Some("Bearer secret-word".to_owned()), Some("Basic dXNlcjpwYXNz".to_owned()));
    assert_eq!(shown(&world.server), [bearer.clone(), bearer, basic]);
    assert_eq!(shown(&elsewhere), [None]);
}

#[tokio::test]
async fn a_checksum_is_that_of_the_bytes() {
    let world = World::start();
    world.server.page("/a.zip", Answer::new(200).body("zip"));
    for (digest, is_right) in [(Digest::sha256(b"zip"), true), (Digest::sha256(b"other"), false)] {
        let located = world.located(Answer::new(204).header("X-Terraform-Get", format!("/a.zip?checksum={digest}")));
        assert_eq!(located.await, "https://HOST/a.zip");
        world.server.page("/a.zip", Answer::new(200).body("zip"));
        let location = world.registry().locate(&address(), &"1.0.0".parse().unwrap()).await.unwrap();
        let ModuleLocation::Archive(archive) = location else { panic!("an archive") };
        let package = ModulePackage::of_archive(&archive, &world.web);
        let stream = part(&package).0.checked(package.place(), package.open().await.unwrap().stream).unwrap();
        assert_eq!(stream.try_collect::<Vec<_>>().await.is_ok(), is_right);
    }
}

fn part(package: &ModulePackage) -> (&Part, ArchiveForm) {
    match package.bytes() {
        PackageBytes::Archive { part, form } => (part, *form),
        PackageBytes::Commit => panic!("it is an archive"),
    }
}
