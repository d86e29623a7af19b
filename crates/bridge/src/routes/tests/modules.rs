//! The module registry protocol over repositories in memory.

use std::collections::BTreeMap;
use std::ops::Range;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::time::Duration;

use async_trait::async_trait;
use bytes::Bytes;
use insta::assert_snapshot;
use serde_json::{Value, json};
use tofu_oci_fetch::RenamedReleases;
use tofu_oci_layout::{artifact_type, media_type};
use tofu_oci_mapper::MapError;
use tofu_oci_store::{ByteStream, MemoryStore, ReadStore, Store as _, StoreError};
use tofu_oci_testkit::ProviderZip;
use tofu_oci_trust::Policy;
use tofu_oci_types::{Descriptor, Digest, ModuleAddr, NetworkFault, Place, Reference, Tag};

use super::{Answer, Site, SiteOptions};
use crate::served_module::module_zip_name;
use crate::{ModuleLocations, OpenModules, ServedModulePlace};

pub(super) const NETWORK: &str = "registry.acme.example/acme/network/aws";
pub(super) const OTHER: &str = "registry.terraform.io/acme/network/aws";
pub(super) const ZIP: &[u8] = b"PK not really";

/// The repositories of modules.
pub(super) struct ModuleStores(BTreeMap<String, Arc<ModuleStore>>);

/// A repository that can be unreachable, and counts what it is asked.
pub(super) struct ModuleStore {
    inner: MemoryStore,
    down: AtomicBool,
    asked: AtomicUsize,
    /// Tags beside those of the repository.
    more: Vec<Tag>,
}

impl ModuleStore {
    fn new(repository: &str) -> Self {
        let inner = MemoryStore::new(Place::Registry(repository.parse().unwrap()));
        Self { inner, down: AtomicBool::new(false), asked: AtomicUsize::new(0), more: Vec::new() }
    }

    async fn publish(&self, tag: &str, changed: &Value) {
        let zip = Descriptor::of(media_type::ARCHIVE_ZIP, ZIP);
        let mut manifest = json!({ "schemaVersion": 2, "mediaType": media_type::OCI_MANIFEST,
            "artifactType": artifact_type::MODULE, "layers": [zip], "annotations": { "org.opentofu.module.version": tag } });
        for (name, value) in changed.as_object().unwrap() {
            manifest[name] = value.clone();
        }
        let bytes = Bytes::from(manifest.to_string());
        let descriptor = Descriptor::of(media_type::OCI_MANIFEST, &bytes);
        self.inner.insert_unchecked(&zip, Bytes::from_static(ZIP));
        self.inner.insert_unchecked(&descriptor, bytes);
        self.inner.tag(&descriptor, &tag.parse().unwrap()).await.unwrap();
    }

    /// An index in the place of a package.
    async fn publish_index(&self, tag: &str, artifact_type: &str) {
        let index = json!({ "schemaVersion": 2, "mediaType": media_type::OCI_INDEX, "artifactType": artifact_type, "manifests": [] });
        let bytes = Bytes::from(index.to_string());
        let descriptor = Descriptor::of(media_type::OCI_INDEX, &bytes);
        self.inner.insert_unchecked(&descriptor, bytes);
        self.inner.tag(&descriptor, &tag.parse().unwrap()).await.unwrap();
    }

    fn ask(&self) -> Result<(), StoreError> {
        self.asked.fetch_add(1, Ordering::SeqCst);
        if self.down.load(Ordering::SeqCst) {
            let (place, problem) = (self.place(), "connection refused".to_owned());
            return Err(StoreError::Unreachable { place, fault: NetworkFault::Refused, problem });
        }
        Ok(())
    }
}

#[async_trait]
impl ReadStore for ModuleStore {
    fn place(&self) -> Place {
        self.inner.place()
    }

    async fn resolve(&self, reference: &Reference) -> Result<Descriptor, StoreError> {
        self.ask()?;
        self.inner.resolve(reference).await
    }

    async fn tags(&self) -> Result<Vec<Tag>, StoreError> {
        self.ask()?;
        let mut tags = self.inner.tags().await?;
        tags.extend(self.more.iter().cloned());
        Ok(tags)
    }

    async fn exists(&self, descriptor: &Descriptor) -> Result<bool, StoreError> {
        self.inner.exists(descriptor).await
    }

    async fn fetch_unverified(&self, descriptor: &Descriptor) -> Result<ByteStream, StoreError> {
        self.ask()?;
        self.inner.fetch_unverified(descriptor).await
    }

    async fn fetch_range_unverified(&self, blob: &Descriptor, range: Range<u64>) -> Result<ByteStream, StoreError> {
        if blob.digest != Digest::sha256(&zip_of(".git/config")) {
            return Ok(Box::pin(self.fetch_unverified(blob).await?));
        }
        let [start, end] = [range.start, range.end].map(|at| usize::try_from(at).unwrap());
        let lie = Bytes::from(zip_of("xgit/config")).slice(start..end);
        Ok(Box::pin(futures_util::stream::once(async { Ok(lie) })))
    }

    async fn referrers(&self, subject: &Digest) -> Result<Vec<Descriptor>, StoreError> {
        self.inner.referrers(subject).await
    }
}

/// A zip of one file. Names of equal length give zips of equal length.
fn zip_of(name: &str) -> Vec<u8> {
    ProviderZip::new("zap", "1.0.0", "linux_amd64").without_executable().file(name, "x").build()
}

/// A repository that does not exist.
struct Missing(Place);

#[async_trait]
impl ReadStore for Missing {
    fn place(&self) -> Place {
        self.0.clone()
    }

    async fn resolve(&self, _: &Reference) -> Result<Descriptor, StoreError> {
        Err(StoreError::UnknownRepository { place: self.place() })
    }

    async fn tags(&self) -> Result<Vec<Tag>, StoreError> {
        Err(StoreError::UnknownRepository { place: self.place() })
    }

    async fn exists(&self, _: &Descriptor) -> Result<bool, StoreError> {
        Ok(false)
    }

    async fn fetch_unverified(&self, _: &Descriptor) -> Result<ByteStream, StoreError> {
        Err(StoreError::UnknownRepository { place: self.place() })
    }

    async fn referrers(&self, _: &Digest) -> Result<Vec<Descriptor>, StoreError> {
        Ok(Vec::new())
    }
}

impl ModuleStores {
    pub(super) async fn new() -> Self {
        let network = ModuleStore::new("ghcr.io/acme/network-aws");
        for tag in ["1.0.0", "1.1.0-rc.1", "1.2.0_b.1", "v1.3.0", "latest", "withdrawn-0.9.0"] {
            network.publish(tag, &json!({})).await;
        }
        let other = ModuleStore::new("ghcr.io/acme/network.zip");
        other.publish("2.0.0", &json!({})).await;
        let odd = ModuleStore::new("ghcr.io/acme/odd");
        odd.publish("1.0.0", &json!({ "artifactType": artifact_type::PROVIDER_TARGET })).await;
        let wrong = Descriptor::of(media_type::ARCHIVE_ZIP, b"something else");
        odd.inner.insert_unchecked(&wrong, Bytes::from_static(b"something ELSE"));
        odd.publish("1.1.0", &json!({ "layers": [wrong] })).await;
        let huge = Descriptor::new(media_type::ARCHIVE_ZIP, Digest::sha256(b"huge"), 1 << 40);
        odd.publish("1.2.0", &json!({ "layers": [huge] })).await;
        let git = zip_of(".git/config");
        let layer = Descriptor::of(media_type::ARCHIVE_ZIP, &git);
        odd.inner.insert_unchecked(&layer, git.into());
        odd.publish("1.3.0", &json!({ "layers": [layer] })).await;
        odd.publish_index("2.0.0", artifact_type::PROVIDER).await;
        odd.publish_index("2.1.0", artifact_type::MODULE).await;
        let mut many = ModuleStore::new("ghcr.io/acme/many");
        many.more = (0..100_000).map(|patch| format!("1.0.{patch}").parse().unwrap()).collect();
        let stores = [
            (NETWORK, network),
            (OTHER, other),
            ("registry.acme.example/acme/odd/aws", odd),
            ("registry.acme.example/acme/many/aws", many),
        ];
        Self(stores.into_iter().map(|(address, store)| (address.to_owned(), Arc::new(store))).collect())
    }

    pub(super) fn places(&self, locations: ModuleLocations) -> Vec<ServedModulePlace> {
        let stores = self.0.clone();
        let open: OpenModules = Arc::new(move |address: &ModuleAddr| -> Result<Arc<dyn ReadStore>, MapError> {
            Ok(match stores.get(&address.to_string()) {
                Some(store) => Arc::clone(store) as Arc<dyn ReadStore>,
                None => Arc::new(Missing("ghcr.io/acme/nothing".parse().unwrap())),
            })
        });
        let place = |include: &str, exclude: &[&str]| ServedModulePlace {
            include: vec![include.parse().unwrap()],
            exclude: exclude.iter().map(|pattern| pattern.parse().unwrap()).collect(),
            open: Arc::clone(&open),
            pull: None,
            locations,
            renamed: RenamedReleases::Refuse,
        };
        vec![
            place("registry.acme.example/*/*/*", &["registry.acme.example/secret/*/*"]),
            place("registry.terraform.io/acme/network/aws", &[]),
        ]
    }
}

impl Site {
    fn network(&self) -> &ModuleStore {
        &self.modules.0[NETWORK]
    }

    /// How often the repositories of modules were asked for anything, all together.
    pub(super) fn modules_asked(&self) -> usize {
        self.modules.0.values().map(|store| store.asked.load(Ordering::SeqCst)).sum()
    }
}

/// The location of a version, by header and by body.
pub(super) async fn locations(site: &Site, address: &str, version: &str, headers: &[(&str, &str)]) -> (String, String) {
    let answer = site.ask("GET", &format!("/modules/{address}/{version}/download"), headers).await;
    assert_eq!(answer.status, 200, "{}", answer.shown());
    let body: Value = serde_json::from_slice(&answer.body).unwrap();
    (answer.header("x-terraform-get").to_owned(), body["location"].as_str().unwrap().to_owned())
}

pub(super) fn below(url: &str) -> &str {
    url.strip_prefix("https://bridge.example").unwrap()
}

#[tokio::test]
async fn versions_are_the_canonical_tags_that_were_not_withdrawn() {
    let site = Site::new().await;
    let answer = site.get(&format!("/modules/{NETWORK}/versions")).await;
    assert_eq!(answer.header("content-type"), "application/json");
    assert_snapshot!(answer.shown(), @r#"200 {"modules":[{"versions":[{"version":"1.0.0"},{"version":"1.1.0-rc.1"},{"version":"1.2.0+b.1"}]}]}"#);
    assert_snapshot!(site.get("/modules/registry.terraform.io/acme/network/aws/versions").await.shown(), @r#"200 {"modules":[{"versions":[{"version":"2.0.0"}]}]}"#);
}

#[tokio::test]
async fn a_version_has_its_archive_in_the_header_and_in_the_body() {
    let site = Site::new().await;
    let (header, body) = locations(&site, NETWORK, "1.2.0+b.1", &[]).await;
    let sum = Digest::sha256(ZIP);
    assert_eq!(
        header,
        format!("https://bridge.example/modules/{NETWORK}/1.2.0+b.1/network-aws_1.2.0+b.1.zip?checksum={sum}")
    );
    assert_eq!(header, body);
    for method in ["GET", "HEAD"] {
        let archive = site.ask(method, below(&header), &[]).await;
        assert_eq!(archive.status, 200);
        assert_eq!(archive.header("content-type"), "application/zip");
        assert_eq!(archive.header("content-length"), ZIP.len().to_string());
        assert_eq!(archive.body, if method == "GET" { ZIP } else { b"" });
    }
    let part = site.ask("GET", below(&header), &[("range", "bytes=3-5")]).await;
    assert_eq!((part.status.as_u16(), part.body.as_slice()), (206, &ZIP[3..6]));
    let known = site.ask("GET", below(&header), &[("if-none-match", &format!("\"{sum}\""))]).await;
    assert_eq!(known.status, 304);
}

#[tokio::test]
async fn opentofu_is_sent_to_the_repository_if_it_can_use_its_name() {
    let site = Site::with(SiteOptions { locations: ModuleLocations::Oci, ..SiteOptions::default() }).await;
    let (header, body) = locations(&site, NETWORK, "1.0.0", &[]).await;
    let manifest = site.network().inner.resolve(&Reference::Tag("1.0.0".parse().unwrap())).await.unwrap().digest;
    assert_eq!(body, format!("oci://ghcr.io/acme/network-aws?digest={manifest}"));
    assert!(header.starts_with("https://bridge.example/modules/"), "{header}");
    // OpenTofu refuses a repository whose name ends as an archive does.
    let (header, body) = locations(&site, OTHER, "2.0.0", &[]).await;
    assert_eq!(header, body);
}

#[tokio::test]
async fn the_discovery_document_names_the_registry_of_modules() {
    let answer =
        Site::new().await.ask("GET", "/.well-known/terraform.json", &[("host", "registry.acme.example")]).await;
    assert_snapshot!(answer.shown(), @r#"200 {"providers.v1":"/registry/registry.acme.example/","modules.v1":"/modules/registry.acme.example/","oci-providers.v1":"ghcr.io/acme/{namespace}-{type}"}"#);
}

#[tokio::test]
async fn what_is_not_there_is_not_found() {
    let site = Site::new().await;
    let said = async |path: &str| site.get(&format!("/modules/{path}")).await.shown();
    assert_snapshot!(said("registry.acme.example/acme/nothing/aws/versions").await, @r#"404 {"errors":["registry.acme.example/acme/nothing/aws was not found in the place that it is served from"]}"#);
    assert_snapshot!(said("registry.acme.example/acme/nothing/aws/1.0.0/download").await, @r#"404 {"errors":["registry.acme.example/acme/nothing/aws was not found in the place that it is served from"]}"#);
    assert_snapshot!(said("registry.acme.example/secret/network/aws/versions").await, @r#"404 {"errors":["registry.acme.example/secret/network/aws is not served here: no `include` of the configuration matches it, or an `exclude` does"]}"#);
    assert_snapshot!(said("registry.terraform.io/acme/other/aws/versions").await, @r#"404 {"errors":["registry.terraform.io/acme/other/aws is not served here: no `include` of the configuration matches it, or an `exclude` does"]}"#);
    assert_snapshot!(said(&format!("{NETWORK}/1.0.1/download")).await, @r#"404 {"errors":["registry.acme.example/acme/network/aws 1.0.1 is not offered: the repository that it is served from has no tag for it"]}"#);
    assert_snapshot!(said(&format!("{NETWORK}/0.9.0/download")).await, @r#"404 {"errors":["registry.acme.example/acme/network/aws 0.9.0 was withdrawn"]}"#);
    assert_snapshot!(said(&format!("{NETWORK}/0.9.0/network-aws_0.9.0.zip")).await, @r#"404 {"errors":["registry.acme.example/acme/network/aws 0.9.0 was withdrawn"]}"#);
}

#[tokio::test]
async fn hostile_paths_reach_no_repository() {
    let site = Site::new().await;
    let said = async |path: &str| site.get(path).await.shown();
    assert_snapshot!(said(&format!("/modules/{NETWORK}/v1.0.0/download")).await, @r#"400 {"errors":["`v1.0.0` is not a version: it is written without a v before it"]}"#);
    assert_snapshot!(said(&format!("/modules/{NETWORK}/1.0/download")).await, @r#"400 {"errors":["`1.0` is not how the version is listed: write 1.0.0"]}"#);
    assert_snapshot!(said(&format!("/modules/{NETWORK}/1.2.0_b.1/download")).await, @r#"400 {"errors":["`1.2.0_b.1` is not a version: it has characters that a version cannot have"]}"#);
    assert_snapshot!(said(&format!("/modules/{NETWORK}/..%2f..%2fv2/download")).await, @r#"400 {"errors":["the path must not contain an encoded slash or a backslash"]}"#);
    assert_snapshot!(said(&format!("/modules/{NETWORK}/%2e%2e/download")).await, @r#"400 {"errors":["the path must not contain . or .. as a segment"]}"#);
    assert_snapshot!(said("/modules/registry.acme.example/acme/network/AWS/versions").await, @r#"400 {"errors":["`registry.acme.example/acme/network/AWS` is not a module of a registry: the target system consists of up to 64 lower-case ASCII letters and digits"]}"#);
    assert_snapshot!(said("/modules/github.com/acme/network/aws/versions").await, @r#"400 {"errors":["`github.com/acme/network/aws` is not a module of a registry: modules of github.com are fetched from its repositories and not from a registry"]}"#);
    assert_snapshot!(said("/modules/localhost/acme/network/aws/versions").await, @r#"400 {"errors":["`localhost/acme/network/aws` is not a module of a registry: the host must contain a dot"]}"#);
    assert_eq!(site.get(&format!("/modules/{NETWORK}/{}/download", "1".repeat(3000))).await.status, 414);
    assert_eq!(site.get(&format!("/modules/{NETWORK}/{}/download", "9".repeat(250))).await.status.as_u16() / 100, 4);
    assert_eq!(site.ask("POST", &format!("/modules/{NETWORK}/versions"), &[]).await.status, 405);
    assert_eq!(site.network().asked.load(Ordering::SeqCst), 0);
}

#[tokio::test]
async fn a_tag_that_is_no_module_and_a_package_that_is_too_large_are_not_served() {
    let site = Site::new().await;
    let said =
        async |path: &str| site.get(&format!("/modules/registry.acme.example/acme/odd/aws/{path}")).await.shown();
    assert_snapshot!(said("1.0.0/download").await, @r#"502 {"errors":["registry.acme.example/acme/odd/aws cannot be read: its repository has no module package under 1.0.0: this is a single platform's provider package, not a module package: expected artifactType application/vnd.opentofu.modulepkg"]}"#);
    assert_snapshot!(said("1.2.0/download").await, @r#"502 {"errors":["registry.acme.example/acme/odd/aws cannot be read: the archive has 1099511627776 bytes or more, and the limit is 2147483648"]}"#);
    // The bytes are wrong, and so few that the header has not gone.
    assert_snapshot!(said("1.1.0/network-aws_1.1.0.zip").await, @r#"400 {"errors":["the archive of a module is https://bridge.example/modules/HOST/NAMESPACE/NAME/SYSTEM/VERSION/NAME-SYSTEM_VERSION.zip, and `download` beside it names it"]}"#);
    assert_snapshot!(said("1.1.0/odd-aws_1.1.0.zip").await, @"502 registry.acme.example/acme/odd/aws cannot be read: its repository, or a host that it names, cannot be reached or gave something else, and the access log of the server says what");
}

/// `git status` in what a client unpacks would run what the repository says.
#[tokio::test]
async fn a_registry_that_answered_parts_otherwise_had_its_git_repository_served() {
    let site = Site::new().await;
    let archive = "/modules/registry.acme.example/acme/odd/aws/1.3.0/odd-aws_1.3.0.zip";
    assert_eq!(site.get("/modules/registry.acme.example/acme/odd/aws/1.3.0/download").await.status, 200, "it lies");
    let whole = site.get(archive).await.shown();
    assert_snapshot!(whole, @"409 registry.acme.example/acme/odd/aws 1.3.0 is not trusted: the package has `.git/config`, a part of a repository of version control, whose settings can run commands");
    assert_eq!(site.ask("GET", archive, &[("range", "bytes=0-9")]).await.shown(), whole);
}

#[tokio::test]
async fn a_hundred_thousand_tags_are_listed() {
    let answer = Site::new().await.get("/modules/registry.acme.example/acme/many/aws/versions").await;
    let body: Value = serde_json::from_slice(&answer.body).unwrap();
    assert_eq!(body["modules"][0]["versions"].as_array().unwrap().len(), 100_000);
}

#[tokio::test(start_paused = true)]
async fn a_registry_that_is_down_gets_the_old_answer() {
    let site = Site::with(SiteOptions { fresh: Duration::ZERO, ..SiteOptions::default() }).await;
    let (versions, download) = (format!("/modules/{NETWORK}/versions"), format!("/modules/{NETWORK}/1.0.0/download"));
    let before = (site.get(&versions).await.shown(), site.get(&download).await.shown());
    site.network().down.store(true, Ordering::SeqCst);
    assert_eq!((site.get(&versions).await.shown(), site.get(&download).await.shown()), before);
    assert_snapshot!(site.get(&format!("/modules/{NETWORK}/1.2.0+b.1/download")).await.shown(), @r#"502 {"errors":["registry.acme.example/acme/network/aws cannot be read: its repository, or a host that it names, cannot be reached or gave something else, and the access log of the server says what"]}"#);
}

#[tokio::test]
async fn equal_questions_are_put_once() {
    let site = Site::new().await;
    let versions = format!("/modules/{NETWORK}/versions");
    let answers: Vec<Answer> = futures_util::future::join_all((0..20).map(|_| site.get(&versions))).await;
    assert!(answers.iter().all(|answer| answer.status == 200));
    assert_eq!(site.network().asked.load(Ordering::SeqCst), 1);
}

#[tokio::test]
async fn a_module_that_the_policy_refuses_is_not_served() {
    let text = "[[rule]]\nmodules = [\"ghcr.io/acme/*\"]\nunsigned = \"refuse\"\n";
    let policy = Policy::parse(text).unwrap().resolve(|_| unreachable!("no key is a file")).unwrap();
    let site = Site::with(SiteOptions { policy, ..SiteOptions::default() }).await;
    assert_snapshot!(site.get(&format!("/modules/{NETWORK}/1.0.0/download")).await.shown(), @r#"409 {"errors":["registry.acme.example/acme/network/aws 1.0.0 is not trusted: it is not signed"]}"#);
    assert_snapshot!(site.get(&format!("/modules/{NETWORK}/versions")).await.shown(), @r#"200 {"modules":[{"versions":[{"version":"1.1.0-rc.1"},{"version":"1.2.0+b.1"}]}]}"#);
}

#[tokio::test]
async fn modules_that_are_named_or_were_asked_for_are_known() {
    let site = Site::new().await;
    let modules = site.bridge.catalog.modules();
    let shown = || modules.modules().iter().map(ToString::to_string).collect::<Vec<_>>();
    assert_eq!(shown(), [OTHER]);
    site.get(&format!("/modules/{NETWORK}/versions")).await;
    site.get("/modules/registry.acme.example/acme/nothing/aws/versions").await;
    assert_eq!(shown(), [NETWORK, OTHER]);
    let known = modules.known_versions(&NETWORK.parse().unwrap()).unwrap();
    assert_eq!(known.withdrawn.iter().map(ToString::to_string).collect::<Vec<_>>(), ["0.9.0"]);
    let module = modules.module(&NETWORK.parse().unwrap(), &"1.0.0".parse().unwrap()).await.unwrap();
    assert_eq!(module.manifest.package().digest, Digest::sha256(ZIP));
    assert_eq!(module_zip_name(&module.address, &module.version), "network-aws_1.0.0.zip");
}
