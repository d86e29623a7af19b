//! The routes over repositories in memory.

mod documents;
mod hostile;
mod mix_ups;
mod module_attacks;
mod module_clients;
mod modules;
mod openapi;
mod restricted;

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex};
use std::time::{Duration, SystemTime};

use axum::Router;
use axum::body::{Body, to_bytes};
use http::{HeaderMap, Request, StatusCode};
use tofu_oci_archive::Limits;
use tofu_oci_fetch::{RenamedReleases, Trust};
use tofu_oci_mirror::MirrorError;
use tofu_oci_packer::{
    ExecutableCheck, H1Mode, PackageLayout, Publication, PushRequest, Rename, ReplaceTag, SumsMode, push, read_dist,
};
use tofu_oci_source::{NotOffered, OciSource, Source, SourceError};
use tofu_oci_store::MemoryStore;
use tofu_oci_testkit::ReleaseFolder;
use tofu_oci_trust::{OpenPgpSecretKey, Pins, Policy};
use tofu_oci_types::{NoReporter, Place, Predecessors, ProviderAddr, Scheme, Version};
use tower::ServiceExt as _;

use self::modules::ModuleStores;
use super::router;
use crate::{
    Bridge, BridgeSettings, Catalog, CatalogOptions, ClientAccess, ClientRule, FailureReason, HostService, LinkOptions,
    ModuleLocations, OfferedBy, OpenSource, OwnHost, PackageOptions, Packages, ServedPlace, SumsSigner, Visibility,
    ZipDelivery,
};

/// Providers of the bridge's own host, of another host, and one whose place fails.
const ZAP: &str = "registry.acme.example/acme/zap";
const PIC: &str = "registry.acme.example/acme/pic";
const OTHER: &str = "registry.terraform.io/acme/zap";
const BROKEN: &str = "registry.acme.example/broken/zap";

/// What the places of a site include: two with releases, and one that fails.
const SERVED: [&str; 3] =
    ["registry.acme.example/acme/*", "registry.terraform.io/acme/*", "registry.acme.example/broken/*"];

/// The routes, and which addresses their places were asked for.
struct Site {
    router: Router,
    bridge: Arc<Bridge>,
    asked: Arc<Mutex<Vec<ProviderAddr>>>,
    modules: ModuleStores,
    _cache: tempfile::TempDir,
}

/// What differs between the sites of tests.
struct SiteOptions {
    base: &'static str,
    hashes: Vec<Scheme>,
    key: Option<OpenPgpSecretKey>,
    clients: Vec<ClientRule>,
    locations: ModuleLocations,
    policy: Policy,
    fresh: Duration,
}

impl Default for SiteOptions {
    fn default() -> Self {
        Self {
            base: "https://bridge.example/",
            hashes: vec![Scheme::Zh],
            key: None,
            clients: Vec::new(),
            locations: ModuleLocations::Archives,
            policy: Policy::default(),
            fresh: Duration::from_mins(1),
        }
    }
}

/// An answer.
struct Answer {
    status: StatusCode,
    headers: HeaderMap,
    /// What the log says of a failure.
    reason: Option<String>,
    body: Vec<u8>,
}

impl Answer {
    fn header(&self, name: &str) -> &str {
        self.headers.get(name).map_or("", |value| value.to_str().unwrap())
    }

    fn text(&self) -> &str {
        std::str::from_utf8(&self.body).unwrap()
    }

    /// Status and body.
    fn shown(&self) -> String {
        format!("{} {}", self.status.as_u16(), self.text())
    }
}

impl Site {
    async fn new() -> Self {
        Self::with(SiteOptions::default()).await
    }

    async fn signed() -> Self {
        Self::with(SiteOptions { key: Some(key()), ..SiteOptions::default() }).await
    }

    async fn with(options: SiteOptions) -> Self {
        let (asked, cache) = (Arc::default(), tempfile::tempdir().unwrap());
        let trust = Trust {
            policy: Arc::new(options.policy),
            pins: Pins::default(),
            pins_path: "pins".into(),
            now: SystemTime::UNIX_EPOCH,
            renamed: RenamedReleases::Refuse,
        };
        let modules = ModuleStores::new().await;
        let catalog = CatalogOptions { fresh: options.fresh, ..CatalogOptions::new(trust, Arc::new(NoReporter)) };
        let packages = PackageOptions {
            cache: cache.path().to_owned(),
            cache_bytes: 1 << 30,
            limits: Limits::default(),
            delivery: ZipDelivery::PassedOn,
            visibility: Visibility::Public,
        };
        let own = |host: &str, template: Option<&str>| OwnHost {
            hostname: host.parse().unwrap(),
            repositories: template.map(|text| text.parse().unwrap()),
            services: vec![HostService::Providers, HostService::Modules],
        };
        let bridge = Arc::new(Bridge {
            catalog: Catalog::new(places(&asked).await, catalog).with_modules(modules.places(options.locations)),
            packages: Packages::new(packages),
            signer: SumsSigner::new(options.key),
            access: ClientAccess::new(options.clients, LinkOptions::default(), tofu_oci_types::Predecessors::default()),
            settings: BridgeSettings {
                base: options.base.parse().unwrap(),
                hosts: vec![
                    own("registry.acme.example", Some("ghcr.io/acme/{namespace}-{type}")),
                    own("b\u{fc}cher.example:8443", None),
                ],
                gives_way: true,
                hashes: options.hashes,
            },
        });
        Self { router: router(Arc::clone(&bridge)), bridge, asked, modules, _cache: cache }
    }

    async fn ask(&self, method: &str, uri: &str, headers: &[(&str, &str)]) -> Answer {
        let mut request = Request::builder().method(method).uri(uri);
        for (name, value) in headers {
            request = request.header(*name, *value);
        }
        let response = self.router.clone().oneshot(request.body(Body::empty()).unwrap()).await.unwrap();
        let (parts, body) = response.into_parts();
        let body = to_bytes(body, usize::MAX).await.unwrap().to_vec();
        let reason = parts.extensions.get::<FailureReason>().map(|FailureReason(reason)| reason.clone());
        Answer { status: parts.status, headers: parts.headers, reason, body }
    }

    async fn get(&self, uri: &str) -> Answer {
        self.ask("GET", uri, &[]).await
    }

    /// The addresses that places were asked for.
    fn asked(&self) -> Vec<String> {
        self.asked.lock().unwrap().iter().map(ToString::to_string).collect()
    }
}

fn key() -> OpenPgpSecretKey {
    let file = include_bytes!("../../../../../testdata/trust/gpg-secret/ed25519.asc");
    OpenPgpSecretKey::parse(file, None, SystemTime::UNIX_EPOCH + Duration::from_hours(490_000)).unwrap()
}

/// Repositories in memory for the providers with releases, and a place that fails.
async fn places(asked: &Arc<Mutex<Vec<ProviderAddr>>>) -> Vec<ServedPlace> {
    let mut stores = BTreeMap::new();
    for (address, version, platforms, layout) in [
        (ZAP, "1.0.0", &["linux_amd64", "darwin_arm64"][..], PackageLayout::Artifact),
        (ZAP, "1.1.0-rc.1", &["linux_amd64"], PackageLayout::Artifact),
        (ZAP, "1.2.0+b.1", &["linux_amd64"], PackageLayout::Artifact),
        (PIC, "1.0.0", &["linux_amd64"], PackageLayout::Image),
        (OTHER, "2.0.0", &["linux_amd64"], PackageLayout::Artifact),
    ] {
        let store = stores.entry(address.parse::<ProviderAddr>().unwrap()).or_insert_with(store);
        publish(store, address, version, platforms, layout).await;
    }
    let log = Arc::clone(asked);
    let open: OpenSource = Arc::new(move |address| {
        log.lock().unwrap().push(address.clone());
        let Some(store) = stores.get(address) else {
            let (address, place) = (address.clone(), Place::Registry("ghcr.io/acme/x".parse().unwrap()));
            return Err(SourceError::NotOffered { address, place, what: NotOffered::UnknownProvider }.into());
        };
        Ok(Arc::new(OciSource::new(Arc::clone(store) as _)) as Arc<dyn Source>)
    });
    let log = Arc::clone(asked);
    let fail: OpenSource = Arc::new(move |address| {
        log.lock().unwrap().push(address.clone());
        Err(MirrorError::NotSightings { place: "ghcr.io/acme/broken".parse().unwrap(), tag: "x".parse().unwrap() })
    });
    let place = |include: &str, open| ServedPlace {
        include: vec![include.parse().unwrap()],
        exclude: Vec::new(),
        offered: OfferedBy::Place(open),
        list: None,
        renamed: RenamedReleases::Refuse,
    };
    let offers = [Arc::clone(&open), open, fail];
    SERVED.iter().zip(offers).map(|(include, open)| place(include, open)).collect()
}

fn store() -> Arc<MemoryStore> {
    Arc::new(MemoryStore::new(Place::Registry("ghcr.io/acme/x".parse().unwrap())))
}

async fn publish(store: &MemoryStore, address: &str, version: &str, platforms: &[&str], layout: PackageLayout) {
    let (folder, work) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    let (address, version): (ProviderAddr, Version) = (address.parse().unwrap(), version.parse().unwrap());
    ReleaseFolder::new(address.provider_type(), &version.to_string(), platforms).write_goreleaser(folder.path());
    let publication = Publication {
        address: &address,
        version: &version,
        layout,
        jobs: 1,
        replace: ReplaceTag::Refuse,
        rename: Rename::Allow,
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
        sums: SumsMode::Skip,
        memo_dir: None,
        work_dir: work.path().to_owned(),
    };
    push(&request, store, &NoReporter).await.unwrap();
}
