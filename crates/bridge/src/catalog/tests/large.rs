//! Releases with very many platforms.

use serde_json::{Value, json};
use tofu_oci_fetch::RenamedReleases;
use tofu_oci_packer::PackageLayout;
use tofu_oci_source::{OciSource, Source};
use tofu_oci_testkit::{Fault, Gate, Registry, Rule};
use tofu_oci_types::{Digest, Platform};

use super::*;
use crate::packages::tests::Bench;
use crate::{OfferedBy, OpenSource};

const INDEX: &str = "application/vnd.oci.image.index.v1+json";
const MANIFEST: &str = "application/vnd.oci.image.manifest.v1+json";
const LEAVES: &str = "/v2/zap/manifests/*";

fn described(media_type: &str, bytes: &[u8]) -> Value {
    json!({"mediaType": media_type, "digest": Digest::sha256(bytes), "size": bytes.len()})
}

/// The bytes of an index with so many leaves; each leaf is in the registry.
fn index(registry: &Registry, leaves: usize) -> String {
    let (zip, config) = (described("archive/zip", b"zip"), described("application/vnd.oci.empty.v1+json", b"{}"));
    let artifact = "application/vnd.opentofu.provider-target";
    let entry = |number: usize| {
        let leaf = json!({
            "schemaVersion": 2, "mediaType": MANIFEST, "artifactType": artifact, "config": config, "layers": [zip],
            "annotations": {"number": number.to_string()},
        });
        let leaf = leaf.to_string();
        let mut entry = described(MANIFEST, leaf.as_bytes());
        entry["artifactType"] = artifact.into();
        entry["platform"] = json!({"os": "linux", "architecture": format!("a{number}")});
        registry.put_manifest("zap", MANIFEST, leaf);
        entry
    };
    let entries: Vec<Value> = (0..leaves).map(entry).collect();
    let artifact = "application/vnd.opentofu.provider";
    json!({"schemaVersion": 2, "mediaType": INDEX, "artifactType": artifact, "manifests": entries}).to_string()
}

/// A registry with a release of so many platforms: `acme/zap` 2.0.0.
async fn large(leaves: usize) -> Bench {
    let bench = Bench::prepared(Registry::start(), PackageLayout::Artifact, |_| {}).await;
    let digest = bench.registry.put_manifest("zap", INDEX, index(&bench.registry, leaves));
    bench.registry.put_tag("zap", "2.0.0", &digest);
    bench.registry.clear_requests();
    bench
}

async fn served(bench: &Bench) -> Result<Arc<ServedRelease>, Refusal> {
    let store: Arc<dyn tofu_oci_store::ReadStore> = Arc::new(bench.store());
    let open: OpenSource = Arc::new(move |_| Ok(Arc::new(OciSource::new(Arc::clone(&store))) as Arc<dyn Source>));
    let place = ServedPlace {
        include: vec![ALL.parse().unwrap()],
        exclude: Vec::new(),
        offered: OfferedBy::Place(open),
        list: None,
        renamed: RenamedReleases::Refuse,
    };
    // However slow the machine is, it is the number of requests that counts.
    let options = CatalogOptions { patience: Duration::from_mins(10), ..options().0 };
    let catalog = Catalog::new(vec![place], options);
    catalog.release(&"example.com/acme/zap".parse().unwrap(), &"2.0.0".parse().unwrap()).await
}

#[tokio::test]
async fn a_release_of_a_thousand_platforms_costs_a_request_each_and_one_list_of_checksums() {
    let bench = large(1000).await;
    let release = served(&bench).await.unwrap();
    assert_eq!(release.packages.len(), 1000);
    assert_eq!(bench.registry.requests_to("GET", LEAVES).len(), 1001);
    let mut claims = release.packages.values().map(|package| &package.offer.claims);
    let first = claims.next().unwrap();
    assert_eq!(first.len(), 1000);
    assert!(claims.all(|other| Arc::ptr_eq(first, other)), "each package has a list of its own");
}

#[tokio::test]
async fn a_release_of_too_many_platforms_says_how_many_are_read() {
    let refusal = served(&large(1001).await).await.unwrap_err();
    let Refusal::Upstream { code: "bad-body", detail: Some(reason), .. } = &refusal else { panic!("{refusal:?}") };
    assert!(reason.ends_with("manifest of tag 2.0.0: it has 1001 entries, more than 1000"), "{reason}");
    // Other places have no index.
    let place = Scripted::new("example.com/x", &["1.0.0"]);
    *place.platforms.lock().unwrap() = 1001;
    let refusal = release(&catalog(&place), "1.0.0").await.unwrap_err();
    let Refusal::Upstream { code: "unusable", reason, .. } = &refusal else { panic!("{refusal:?}") };
    assert!(reason.ends_with("it has 1001 packages: at most 1000 are served"), "{reason}");
    assert_eq!(place.asked().2, 0, "no package is looked at");
}

/// Whether manifests are asked for before the first one has come.
async fn are_asked_for_together<T>(bench: &Bench, work: impl Future<Output = T>) -> T {
    let gate = Gate::closed();
    bench.registry.fault(Rule::on("GET", LEAVES).then(Fault::Hold(gate.clone())));
    let opening = async {
        let arrived = tokio::time::timeout(Duration::from_mins(1), gate.arrived(8)).await;
        gate.open();
        arrived.expect("manifests are asked for one after the other");
    };
    tokio::join!(work, opening).0
}

#[tokio::test]
async fn the_checksums_of_all_platforms_are_not_read_one_after_the_other() {
    let bench = large(20).await;
    let release = OciSource::new(Arc::new(bench.store()));
    let release = release.release(&"example.com/acme/zap".parse().unwrap(), &"2.0.0".parse().unwrap()).await.unwrap();
    let hashes = are_asked_for_together(&bench, release.hashes()).await.unwrap();
    assert!(hashes.len() == 20 && hashes.values().all(|of_one| of_one.len() == 2), "ch: and zh: of each: {hashes:?}");
}

#[tokio::test]
async fn nested_indexes_are_not_read_one_after_the_other() {
    let bench = large(1).await;
    let entry = |number: usize| {
        let image = json!({"mediaType": MANIFEST, "digest": Digest::sha256(b"image"), "size": number});
        let nested = json!({"schemaVersion": 2, "mediaType": INDEX, "manifests": [image]}).to_string();
        bench.registry.put_manifest("zap", INDEX, nested.clone());
        let mut entry = described(INDEX, nested.as_bytes());
        entry["platform"] = json!({"os": "linux", "architecture": format!("a{number}")});
        entry
    };
    let entries: Vec<Value> = (1..=20).map(entry).collect();
    let outer = json!({"schemaVersion": 2, "mediaType": INDEX, "manifests": entries}).to_string();
    let digest = bench.registry.put_manifest("zap", INDEX, outer);
    bench.registry.put_tag("zap", "3.0.0", &digest);
    let release = OciSource::new(Arc::new(bench.store()));
    let release = release.release(&"example.com/acme/zap".parse().unwrap(), &"3.0.0".parse().unwrap()).await.unwrap();
    let platforms: Vec<Platform> = are_asked_for_together(&bench, release.platforms()).await.unwrap();
    assert_eq!(platforms.len(), 20);
    let claims = &release.describe().await.unwrap().claims;
    assert!(claims.values().all(|of_one| of_one.len() == 1), "{claims:?}");
}
