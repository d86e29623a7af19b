mod foreign;
mod module_attacks;
mod modules;
mod restricted;

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::SystemTime;

use axum::body::Body;
use bytes::Bytes;
use futures_util::TryStreamExt as _;
use http::{HeaderMap, Method, Request, StatusCode, header};
use serde_json::{Value, json};
use tofu_oci_archive::Limits;
use tofu_oci_fetch::{RenamedReleases, Trust};
use tofu_oci_layout::{IndexFacts, LayerBlob, PackageLayout, PlatformHashes, PlatformPackage, plan_index, plan_leaves};
use tofu_oci_mirror::MirrorError;
use tofu_oci_source::{OciSource, Source};
use tofu_oci_store::{MemoryStore, ReadStore as _, Store as _, StoreError};
use tofu_oci_trust::{Pins, Policy};
use tofu_oci_types::{Descriptor, Digest, NoReporter, ProviderAddr, Reference, Scheme, Tag};
use tower::ServiceExt as _;

use crate::*;

const ADDRESS: &str = "registry.acme.example/acme/widget";
const OTHER: &str = "registry.terraform.io/hashicorp/random";

/// Puts a release with packages for these platforms into a repository; `annotations` replace those of its index.
async fn put(store: &MemoryStore, version: &str, platforms: &[&str], annotations: Value) {
    let mut leaves = Vec::new();
    let mut hashes = BTreeMap::new();
    for platform in platforms {
        let bytes = Bytes::from(format!("the package of {platform}"));
        let (digest, size) = (Digest::sha256(&bytes), bytes.len() as u64);
        let filename = format!("terraform-provider-widget_{version}_{platform}.zip");
        let package = PlatformPackage {
            platform: platform.parse().unwrap(),
            filename: filename.clone(),
            zip: Some((digest.clone(), size)),
            layer: Some(LayerBlob { digest: digest.clone(), size, diff_id: digest.clone() }),
            small: None,
        };
        for leaf in plan_leaves(&package, PackageLayout::Artifact).unwrap() {
            for blob in &leaf.blobs {
                store.insert_unchecked(blob, bytes.clone());
            }
            store.insert_unchecked(&leaf.config.descriptor, leaf.config.bytes.clone().into());
            store.insert_unchecked(&leaf.manifest.descriptor, leaf.manifest.bytes.clone().into());
            leaves.push(leaf);
        }
        let hash = PlatformHashes { h1: None, zh: None, size, filename };
        hashes.insert(platform.parse().unwrap(), hash);
    }
    let (address, version) = (ADDRESS.parse().unwrap(), version.parse().unwrap());
    let facts = IndexFacts { address, version, protocols: vec!["6.0".to_owned()], hashes };
    let index = plan_index(&leaves, &facts, PackageLayout::Artifact);
    let mut document: Value = serde_json::from_slice(&index.bytes).unwrap();
    for (name, text) in annotations.as_object().unwrap() {
        document["annotations"][name] = text.clone();
    }
    let bytes = Bytes::from(document.to_string());
    let descriptor = Descriptor::of(&index.descriptor.media_type, &bytes);
    store.insert_unchecked(&descriptor, bytes);
    store.tag(&descriptor, &tofu_oci_types::Tag::for_version(&facts.version).unwrap()).await.unwrap();
}

/// A repository with versions 1.0.0 and 1.1.0.
async fn repository() -> MemoryStore {
    let store = MemoryStore::new("memory".parse().unwrap());
    put(&store, "1.0.0", &["linux_amd64"], json!({})).await;
    let created = json!({"org.opencontainers.image.created": "2999-03-01T12:00:00Z"});
    put(&store, "1.1.0", &["darwin_arm64", "linux_amd64", "linux_arm64"], created).await;
    store
}

/// A bridge at `base` that serves one repository as one provider, and another provider whose place is broken.
fn bridge(base: &str, store: MemoryStore, clients: Vec<ClientRule>) -> Arc<Bridge> {
    let (address, other): (ProviderAddr, ProviderAddr) = (ADDRESS.parse().unwrap(), OTHER.parse().unwrap());
    let store = Arc::new(store);
    let open: OpenSource = Arc::new(move |_| Ok(Arc::new(OciSource::new(store.clone())) as Arc<dyn Source>));
    let broken: OpenSource = Arc::new(|_| {
        let error =
            StoreError::NotFound { place: "memory".parse().unwrap(), what: tofu_oci_store::StoreItem::Other("x") };
        Err(MirrorError::from(tofu_oci_source::SourceError::from(error)))
    });
    let place = |address: &ProviderAddr, open| ServedPlace {
        include: vec![tofu_oci_types::Pattern::exactly(address)],
        exclude: Vec::new(),
        offered: OfferedBy::Place(open),
        list: None,
        renamed: RenamedReleases::Refuse,
    };
    let places = vec![place(&address, open), place(&other, broken)];
    let policy = Policy::parse("").unwrap().resolve(|_| unreachable!("no key is a file")).unwrap();
    let trust = Trust {
        policy: Arc::new(policy),
        pins: Pins::default(),
        pins_path: PathBuf::from("pins"),
        now: SystemTime::now(),
        renamed: RenamedReleases::Refuse,
    };
    let options = PackageOptions {
        cache: std::env::temp_dir(),
        cache_bytes: 0,
        limits: Limits::default(),
        delivery: ZipDelivery::PassedOn,
        visibility: Visibility::Public,
    };
    Arc::new(Bridge {
        catalog: Catalog::new(places, CatalogOptions::new(trust, Arc::new(NoReporter))),
        packages: Packages::new(options),
        signer: SumsSigner::new(None),
        access: ClientAccess::new(clients, LinkOptions::default(), tofu_oci_types::Predecessors::default()),
        settings: BridgeSettings {
            base: base.parse().unwrap(),
            hosts: vec![OwnHost {
                hostname: "registry.acme.example".parse().unwrap(),
                repositories: None,
                services: vec![crate::HostService::Providers],
            }],
            gives_way: true,
            hashes: vec![Scheme::Zh],
        },
    })
}

async fn open_bridge() -> Arc<Bridge> {
    bridge("https://p.example/", repository().await, Vec::new())
}

/// One page, and how it was sent.
struct ShownPage {
    status: StatusCode,
    headers: HeaderMap,
    html: String,
}

async fn ask(bridge: &Arc<Bridge>, request: Request<Body>) -> ShownPage {
    let answer = router(Arc::clone(bridge)).oneshot(request).await.unwrap();
    let (parts, body) = answer.into_parts();
    let pieces: Vec<Bytes> = body.into_data_stream().try_collect().await.unwrap();
    let html = String::from_utf8(pieces.concat()).unwrap();
    ShownPage { status: parts.status, headers: parts.headers, html }
}

async fn get(bridge: &Arc<Bridge>, path: &str) -> ShownPage {
    ask(bridge, Request::get(path).body(Body::empty()).unwrap()).await
}

/// The text of what is between the tags of `main`, a line each.
fn text(seen: &ShownPage) -> String {
    let (_, rest) = seen.html.split_once("<main").unwrap();
    let (main, _) = rest.split_once("</main>").unwrap();
    let mut shown = String::new();
    for piece in main.split('<').skip(1) {
        let (_, words) = piece.split_once('>').unwrap();
        if !words.trim().is_empty() {
            shown.push_str(words.trim_end());
            shown.push('\n');
        }
    }
    shown
}

#[tokio::test]
async fn the_start_page_lists_what_is_served() {
    let seen = get(&open_bridge().await, "/").await;
    assert_eq!(seen.status, StatusCode::OK);
    insta::assert_snapshot!(text(&seen), @r#"
    Providers
    2 providers to install with Terraform or OpenTofu.
    registry.acme.example
    acme/
    widget
    registry.terraform.io
    hashicorp/
    random
    "#);
    assert!(seen.html.contains(r#"href="/providers/registry.acme.example/acme/widget""#), "{}", seen.html);
}

#[tokio::test]
async fn a_search_finds_each_word_in_the_address() {
    let bridge = open_bridge().await;
    let count = |seen: &ShownPage| seen.html.matches("<li>").count();
    for (query, found) in
        [("WIDGET", 1), ("acme+widget", 1), ("terraform.io", 1), ("", 2), ("acme+random", 0), ("%00", 0)]
    {
        let seen = get(&bridge, &format!("/?q={query}&page=1")).await;
        assert_eq!((seen.status, count(&seen)), (StatusCode::OK, found), "{query}");
    }
    let seen = get(&bridge, "/?q=%22%3E%3Cscript%3Ealert(1)%3C/script%3E").await;
    assert!(seen.html.contains("value=\"&quot;&gt;&lt;script&gt;alert(1)&lt;/script&gt;\""), "{}", seen.html);
    assert!(!seen.html.contains("<script"), "{}", seen.html);
}

#[tokio::test]
async fn the_page_of_a_provider_says_how_to_use_it() {
    let seen = get(&open_bridge().await, "/providers/registry.acme.example/acme/widget").await;
    assert_eq!(seen.status, StatusCode::OK);
    insta::assert_snapshot!(text(&seen), @r#"
    Providers
    acme/
    widget
    registry.acme.example/acme/widget
    Use it
    In the configuration, for Terraform and OpenTofu alike:
    terraform {
      required_providers {
        widget = {
          source  = &quot;registry.acme.example/acme/widget&quot;
          version = &quot;~&gt; 1.1&quot;
        }
      }
    }
    Nothing else is to be configured:
    registry.acme.example
     is the provider registry of this server.
    terraform init
     or
    tofu init
    Versions
    Versions, the newest first
    Version
    Published
    Platforms
    Protocols
    Signed by
    1.1.0
    2999-03-01
    darwin
     arm64
    ;
    linux
     amd64, arm64
    6.0
    unsigned
    1.0.0
    unknown
    linux
     amd64
    6.0
    unsigned
    "#);
}

#[tokio::test]
async fn the_page_of_a_version_has_its_packages() {
    let seen = get(&open_bridge().await, "/providers/registry.acme.example/acme/widget/1.0.0").await;
    assert_eq!(seen.status, StatusCode::OK);
    insta::assert_snapshot!(text(&seen), @r#"
    Providers
     /
    acme/widget
    widget 1.0.0
    registry.acme.example/acme/widget
    Plugin protocols
    6.0
    Signed
    No signature lies beside the release.
    Index
    sha256:243c3645c7cc50bdec57b3e2d8c903d44390d37d4e31cead0d9e0c62457bce6f
    Use it
    In the configuration, for Terraform and OpenTofu alike:
    terraform {
      required_providers {
        widget = {
          source  = &quot;registry.acme.example/acme/widget&quot;
          version = &quot;~&gt; 1.0.0&quot;
        }
      }
    }
    Nothing else is to be configured:
    registry.acme.example
     is the provider registry of this server.
    terraform init
     or
    tofu init
    Packages
    Packages by platform
    Platform
    Size
    Checksums
    Archive
    linux_amd64
    26 B
    zh:349e30996e9e71342e3ebf795bee1fa617540935d6968ecaac43effd1656c0cd
    ch:sha256:597ad9de1281da5536967d589ea4cc22c944f8fa3f497ae882e66060405404c4
    Download
    "#);
    let archive = "/mirror/registry.acme.example/acme/widget/terraform-provider-widget_1.0.0_linux_amd64.zip";
    assert!(seen.html.contains(&format!("href=\"{archive}\"")), "{}", seen.html);
}

#[tokio::test]
async fn a_page_that_is_not_there_says_so_and_has_the_search_box() {
    let bridge = open_bridge().await;
    for (path, status, words) in [
        ("/providers/registry.acme.example/acme/other", StatusCode::NOT_FOUND, "not served here"),
        ("/providers/registry.acme.example/acme/widget/9.9.9", StatusCode::NOT_FOUND, "not offered"),
        ("/providers/registry.terraform.io/hashicorp/random", StatusCode::BAD_GATEWAY, "does not answer"),
        ("/providers/registry.acme.example/acme", StatusCode::NOT_FOUND, "no such page"),
        ("/providers/registry.acme.example/acme/widget/x", StatusCode::NOT_FOUND, "no such page"),
        ("/providers/registry.acme.example/acme/versions", StatusCode::NOT_FOUND, "not served here"),
    ] {
        let seen = get(&bridge, path).await;
        assert_eq!(seen.status, status, "{path}");
        assert!(seen.html.contains(words) && seen.html.contains("type=\"search\""), "{path}: {}", seen.html);
    }
}

#[tokio::test]
async fn every_page_allows_no_script_and_no_other_host() {
    let bridge = open_bridge().await;
    for path in [
        "/",
        "/?q=x",
        "/style.css",
        "/icon.svg",
        "/providers/registry.acme.example/acme/widget",
        "/providers/registry.acme.example/acme/widget/1.0.0",
        "/providers/registry.acme.example/acme/other",
    ] {
        let seen = get(&bridge, path).await;
        let policy = &seen.headers[header::CONTENT_SECURITY_POLICY];
        assert_eq!(
            policy,
            "default-src 'none'; style-src 'self'; img-src 'self'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'"
        );
        assert_eq!(seen.headers[header::X_CONTENT_TYPE_OPTIONS], "nosniff");
        assert_eq!(seen.headers[header::REFERRER_POLICY], "no-referrer");
        assert!(!seen.html.contains("style=\"") && !seen.html.contains(" src=") && !seen.html.contains("href=\"http"));
    }
}

#[tokio::test]
async fn the_style_sheet_is_kept_for_ever_under_its_own_name() {
    let bridge = open_bridge().await;
    let html = get(&bridge, "/").await.html;
    let (_, rest) = html.split_once("rel=\"stylesheet\" href=\"").unwrap();
    let (path, _) = rest.split_once('"').unwrap();
    let seen = get(&bridge, path).await;
    assert_eq!(seen.status, StatusCode::OK);
    assert_eq!(seen.headers[header::CACHE_CONTROL], "public, max-age=31536000, immutable");
    assert!(seen.html.contains("prefers-color-scheme: dark"));
}

#[tokio::test]
async fn head_has_the_headers_and_no_page() {
    let bridge = open_bridge().await;
    let request = Request::builder().method(Method::HEAD).uri("/").body(Body::empty()).unwrap();
    let seen = ask(&bridge, request).await;
    assert_eq!((seen.status, seen.html.as_str()), (StatusCode::OK, ""));
    assert_eq!(seen.headers[header::CONTENT_TYPE], "text/html; charset=utf-8");
    let request = Request::post("/").body(Body::empty()).unwrap();
    assert_eq!(ask(&bridge, request).await.status, StatusCode::METHOD_NOT_ALLOWED);
}

#[tokio::test]
async fn a_base_url_with_a_path_begins_every_link() {
    let bridge = bridge("https://p.example/tofu/", repository().await, Vec::new());
    for path in ["/tofu/", "/tofu/providers/registry.acme.example/acme/widget/1.0.0"] {
        let seen = get(&bridge, path).await;
        assert_eq!(seen.status, StatusCode::OK, "{path}");
        let links = seen.html.split("href=\"").chain(seen.html.split("action=\""));
        let links: Vec<&str> = links.filter(|rest| rest.starts_with('/')).collect();
        assert!(links.len() > 3 && links.iter().all(|link| link.starts_with("/tofu/")), "{path}: {links:?}");
    }
}

#[tokio::test]
async fn a_withdrawn_version_is_in_the_table_alone() {
    let store = repository().await;
    put(&store, "1.2.0", &["linux_amd64"], json!({})).await;
    let version = "1.2.0".parse().unwrap();
    let tag = Tag::for_version(&version).unwrap();
    let (descriptor, _) = store.manifest(&Reference::Tag(tag.clone())).await.unwrap();
    store.tag(&descriptor, &Tag::withdrawn(&version).unwrap()).await.unwrap();
    store.untag(&tag, &descriptor.digest).await.unwrap();
    let bridge = bridge("https://p.example/", store, Vec::new());
    let seen = text(&get(&bridge, "/providers/registry.acme.example/acme/widget").await);
    assert!(seen.contains("\n1.2.0\nwithdrawn\nnot given\n1.1.0\n"), "{seen}");
    assert!(seen.contains("~&gt; 1.1&quot;"), "{seen}");
    assert!(text(&get(&bridge, "/").await).contains("2 versions"));
    let documents = "/mirror/registry.acme.example/acme/widget/index.json";
    assert!(!get(&bridge, documents).await.html.contains("1.2.0"));
}
