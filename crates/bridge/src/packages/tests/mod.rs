//! Zips over a socket, out of a registry that misbehaves.

mod full;
mod keeping;
mod learning;
mod leaving;
mod redirecting;
mod streaming;

use std::net::SocketAddr;
use std::path::Path;
use std::sync::Arc;
use std::time::{Duration, SystemTime};

use async_trait::async_trait;
use axum::Router;
use axum::response::Response;
use bytes::Bytes;
use http::{HeaderMap, Method};
use tofu_oci_archive::Limits;
use tofu_oci_http::Clock;
use tofu_oci_packer::{
    ExecutableCheck, H1Mode, PackageLayout, Publication, PushRequest, Rename, ReplaceTag, SumsMode, push, read_dist,
};
use tofu_oci_remote::{ClientOptions, NoCredentials, RegistryClient, RemoteStore};
use tofu_oci_source::{OciSource, Source};
use tofu_oci_store::{ReadStore, Store};
use tofu_oci_testkit::{ProviderZip, Registry, ReleaseFolder};
use tofu_oci_types::{Descriptor, Digest, NoReporter, Predecessors, ProviderAddr};
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};

use super::work::{LayerContents, ZipLayer};
use super::{PackageOptions, PackageZip, Packages, Visibility, ZipBytes, ZipDelivery};
use crate::ServedPackage;

pub(super) const BLOBS: &str = "/v2/zap/blobs/*";
const ADDRESS: &str = "example.com/acme/zap";

/// A clock that never waits.
struct NoWait;

#[async_trait]
impl Clock for NoWait {
    fn now(&self) -> SystemTime {
        SystemTime::UNIX_EPOCH + Duration::from_hours(500_000)
    }

    async fn sleep(&self, _: Duration) {}
}

/// The provider's zip for Linux: 300 kB that cannot be compressed.
pub(super) fn linux() -> ProviderZip {
    ProviderZip::new("zap", "1.0.0", "linux_amd64").random_file("data", 300_000)
}

/// A registry with one release, and what serves it.
pub(crate) struct Bench {
    pub(crate) registry: Registry,
    pub(super) cache: tempfile::TempDir,
    options: ClientOptions,
}

impl Bench {
    pub(super) async fn new(layout: PackageLayout) -> Self {
        Self::of(Registry::start(), layout).await
    }

    pub(super) async fn of(registry: Registry, layout: PackageLayout) -> Self {
        Self::prepared(registry, layout, |_| {}).await
    }

    /// The same with more files in the folder that is published.
    pub(crate) async fn prepared(registry: Registry, layout: PackageLayout, more: impl Fn(&Path)) -> Self {
        let mut options = ClientOptions::default();
        options.http.clock = Arc::new(NoWait);
        options.http.ca_certificates = registry.ca_pem().map(|pem| pem.as_bytes().to_vec()).into_iter().collect();
        let bench = Self { registry, cache: tempfile::tempdir().unwrap(), options };
        publish(&bench.store(), layout, more).await;
        bench.registry.clear_requests();
        bench
    }

    /// The repository, by a client that has learned nothing.
    pub(crate) fn store(&self) -> RemoteStore {
        let client = RegistryClient::new(self.options.clone(), Arc::new(NoCredentials), Arc::new(NoReporter)).unwrap();
        client.store(format!("{}/zap", self.registry.address()).parse().unwrap())
    }

    pub(super) fn packages(&self, delivery: ZipDelivery) -> Arc<Packages> {
        Arc::new(Packages::new(PackageOptions { delivery, ..options(self.cache.path()) }))
    }

    pub(super) async fn package(&self, platform: &str) -> ServedPackage {
        package(&OciSource::new(Arc::new(self.store())), platform).await
    }

    /// The address of the package for Linux, passed on.
    pub(super) async fn serve(&self) -> Site {
        let package = self.package("linux_amd64").await;
        self.registry.clear_requests();
        serve(self.packages(ZipDelivery::PassedOn), package).await
    }

    /// The requests for blobs since the last call: their `Range`, or `-`.
    pub(super) fn ranges(&self) -> Vec<String> {
        let requests = self.registry.requests_to("GET", BLOBS);
        self.registry.clear_requests();
        requests.iter().map(|request| request.header("range").unwrap_or("-").to_owned()).collect()
    }
}

pub(crate) fn options(cache: &Path) -> PackageOptions {
    PackageOptions {
        cache: cache.to_owned(),
        cache_bytes: 1 << 30,
        limits: Limits::default(),
        delivery: ZipDelivery::PassedOn,
        visibility: Visibility::Public,
    }
}

pub(super) async fn package(source: &dyn Source, platform: &str) -> ServedPackage {
    let release = source.release(&ADDRESS.parse().unwrap(), &"1.0.0".parse().unwrap()).await.unwrap();
    let offer = release.offer(&platform.parse().unwrap()).await.unwrap();
    ServedPackage { offer, hashes: Vec::new() }
}

/// The zip that a layer of a repository is.
pub(super) fn layer_zip(store: impl ReadStore + 'static, blob: Descriptor, holds: LayerContents) -> PackageZip {
    let (digest, size, place) = (blob.digest.clone(), blob.size, store.place());
    let address = ADDRESS.parse::<ProviderAddr>().unwrap().into();
    let bytes = ZipBytes::Layer(ZipLayer { store: Arc::new(store), blob: Box::new(blob), holds });
    let name = "terraform-provider-zap_1.0.0_linux_amd64.zip".to_owned();
    PackageZip { digest, size, name, address, place, claims: None, bytes }
}

/// What a GET of a zip is answered with.
pub(super) async fn answered(packages: &Packages, zip: &PackageZip, range: Option<&str>) -> (u16, Bytes) {
    let range = range.map(|range| (http::header::RANGE, range.parse().unwrap()));
    let answer = packages.answer(&Method::GET, &range.into_iter().collect(), zip).await;
    let status = answer.status().as_u16();
    (status, axum::body::to_bytes(answer.into_body(), usize::MAX).await.unwrap_or_default())
}

async fn publish(store: &dyn Store, layout: PackageLayout, more: impl Fn(&Path)) {
    let (folder, work) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    ReleaseFolder::new("zap", "1.0.0", &["darwin_arm64"]).package(linux()).write_zips(folder.path());
    more(folder.path());
    let (address, version) = (ADDRESS.parse().unwrap(), "1.0.0".parse().unwrap());
    let publication = Publication {
        address: &address,
        version: &version,
        layout,
        jobs: 2,
        replace: ReplaceTag::Refuse,
        rename: Rename::Refuse,
        predecessors: Predecessors::NONE,
        signer: None,
    };
    let request = PushRequest {
        dist: &read_dist(folder.path()).unwrap(),
        publication,
        h1: H1Mode::Compute,
        small: tofu_oci_packer::SmallLayers::Omit,
        executables: ExecutableCheck::Skip,
        docs: None,
        sums: SumsMode::Attach,
        memo_dir: None,
        work_dir: work.path().to_owned(),
    };
    push(&request, store, &NoReporter).await.unwrap();
}

/// One zip behind a socket.
pub(super) struct Site {
    pub(super) address: SocketAddr,
    client: reqwest::Client,
}

pub(super) async fn serve(packages: Arc<Packages>, package: ServedPackage) -> Site {
    let answer = move |method: Method, headers: HeaderMap| {
        let (packages, package) = (Arc::clone(&packages), package.clone());
        async move {
            let zip = packages.zip(&package).await.unwrap();
            let answer: Response = packages.answer(&method, &headers, &zip).await;
            answer
        }
    };
    let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap();
    let router = Router::new().fallback(answer);
    tokio::spawn(async move {
        loop {
            let (socket, _) = listener.accept().await.unwrap();
            let service = hyper_util::service::TowerToHyperService::new(router.clone());
            let connection = hyper::server::conn::http1::Builder::new();
            tokio::spawn(connection.serve_connection(hyper_util::rt::TokioIo::new(socket), service));
        }
    });
    let client = reqwest::Client::builder()
        .redirect(reqwest::redirect::Policy::none())
        .no_proxy()
        .pool_max_idle_per_host(0)
        .build()
        .unwrap();
    Site { address, client }
}

impl Site {
    pub(super) async fn ask(&self, method: Method, headers: &[(&str, &str)]) -> reqwest::Response {
        let request = self.client.request(method, format!("http://{}/zip", self.address));
        headers.iter().fold(request, |request, (name, value)| request.header(*name, *value)).send().await.unwrap()
    }

    pub(super) async fn get(&self, headers: &[(&str, &str)]) -> reqwest::Response {
        self.ask(Method::GET, headers).await
    }

    /// The zip, or why a client does not take it for complete.
    pub(super) async fn try_zip(&self) -> reqwest::Result<Bytes> {
        self.client.get(format!("http://{}/zip", self.address)).send().await?.error_for_status()?.bytes().await
    }

    /// The bytes of a body that came before the connection ended, as they were on the wire.
    pub(super) async fn what_came(&self) -> Vec<u8> {
        let mut socket = tokio::net::TcpStream::connect(self.address).await.unwrap();
        socket.write_all(b"GET /zip HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n").await.unwrap();
        let mut came = Vec::new();
        let _ = socket.read_to_end(&mut came).await;
        let body = came.windows(4).position(|end| end == b"\r\n\r\n").map_or(came.len(), |end| end + 4);
        came.split_off(body)
    }

    /// The whole zip.
    pub(super) async fn zip(&self) -> Vec<u8> {
        let answer = self.get(&[]).await;
        assert_eq!(answer.status(), 200);
        answer.bytes().await.unwrap().to_vec()
    }
}

/// The headers that clients go by, in one line; `?` for one that is missing.
pub(super) fn head(answer: &reqwest::Response) -> String {
    let names = ["content-length", "content-range", "etag", "accept-ranges", "content-type", "cache-control"];
    let values = names.map(|name| answer.headers().get(name).map_or("?", |value| value.to_str().unwrap()).to_owned());
    format!("{} {}", answer.status().as_u16(), values.join(" | "))
}

pub(super) fn digest(bytes: &[u8]) -> String {
    Digest::sha256(bytes).to_string()
}
