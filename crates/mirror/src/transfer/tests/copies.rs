//! Releases that lie in a repository.

use super::*;
use tofu_oci_packer::Forms;
use tofu_oci_trust::PrivateKey;

/// The P-256 key whose private number is the byte 1, 32 times over.
const KEY: &str = "-----BEGIN PRIVATE KEY-----
MEECAQAwEwYHKoZIzj0CAQYIKoZIzj0DAQcEJzAlAgEBBCABAQEBAQEBAQEBAQEB
AQEBAQEBAQEBAQEBAQEBAQEBAQ==
-----END PRIVATE KEY-----
";

fn key() -> PrivateKey {
    PrivateKey::from_pem(KEY.as_bytes(), None).unwrap()
}

#[tokio::test]
async fn a_release_in_a_repository_is_copied_byte_for_byte() {
    let (origin, carried) = (Carried::new(), Carried::new());
    origin.carry(&Arc::new(OfferedRelease::new("1.4.0", BOTH).signed())).await.unwrap();
    let done = carried.carry_signed(origin.release("1.4.0").await, None).await.unwrap();
    assert_eq!(carried.registry.tags("zap"), origin.registry.tags("zap"));
    assert!(!done.unchanged);
    let evidence = carried.release("1.4.0").await.evidence(tofu_oci_source::Search::Everywhere).await.unwrap();
    assert!(matches!(&evidence[..], [Evidence::Sums { .. }]), "{evidence:?}");
    carried.requests();
    assert!(carried.carry_signed(origin.release("1.4.0").await, None).await.unwrap().unchanged);
    assert_eq!(carried.requests(), ["HEAD /v2/zap/manifests/1.4.0"]);
}

#[tokio::test]
async fn the_signature_is_there_before_the_tag() {
    let (origin, key) = (Carried::new(), key());
    origin.carry(&Arc::new(OfferedRelease::new("1.4.0", &["linux_amd64"]))).await.unwrap();
    let signing = Some(Signing { key: &key, forms: Forms::Bundle });
    let from: [Arc<dyn Release>; 2] =
        [origin.release("1.4.0").await, Arc::new(OfferedRelease::new("1.4.0", &["linux_amd64"]))];
    for release in from {
        let carried = Carried::new();
        let done = carried.carry_signed(Arc::clone(&release), signing).await.unwrap();
        let writes: Vec<String> = carried.requests().into_iter().filter(|request| request.starts_with("PUT")).collect();
        assert_eq!(writes.last().map(String::as_str), Some("PUT /v2/zap/manifests/1.4.0"), "{writes:?}");
        let evidence = carried.release("1.4.0").await.evidence(tofu_oci_source::Search::Everywhere).await.unwrap();
        assert!(matches!(&evidence[..], [Evidence::Bundle { .. }]), "{evidence:?}");
        assert!(!done.unchanged);
        assert!(carried.carry_signed(release, signing).await.unwrap().unchanged);
    }
}

#[tokio::test]
async fn an_unsigned_release_that_is_there_gets_the_signature_that_it_lacks() {
    let (carried, key) = (Carried::new(), key());
    let release = || Arc::new(OfferedRelease::new("1.4.0", &["linux_amd64"]));
    let before = carried.carry(&release()).await.unwrap();
    let signing = Some(Signing { key: &key, forms: Forms::Bundle });
    let signed = carried.carry_signed(release(), signing).await.unwrap();
    assert_eq!((signed.index, signed.unchanged), (before.index, false));
}

#[tokio::test]
async fn a_repository_that_was_published_anew_is_not_followed() {
    let (origin, carried) = (Carried::new(), Carried::new().replacing());
    origin.carry(&Arc::new(OfferedRelease::new("1.4.0", &["linux_amd64"]))).await.unwrap();
    carried.carry_signed(origin.release("1.4.0").await, None).await.unwrap();
    let anew = Carried::new();
    let other = tofu_oci_testkit::ProviderZip::new("zap", "1.4.0", "linux_amd64").file("NEW", "x").build();
    let other = OfferedRelease::new("1.4.0", &["linux_amd64"])
        .with("linux_amd64", |package| *package = OfferedPackage::of(other));
    anew.carry(&Arc::new(other)).await.unwrap();
    let error = carried.carry_signed(anew.release("1.4.0").await, None).await.unwrap_err();
    assert_eq!(error.code(), "upstream-changed", "{}", told(&error));
}

#[tokio::test]
async fn a_repository_with_more_platforms_is_followed_if_the_tag_may_move() {
    let (origin, more) = (Carried::new(), Carried::new());
    origin.carry(&Arc::new(OfferedRelease::new("1.4.0", &["linux_amd64"]))).await.unwrap();
    more.carry(&Arc::new(OfferedRelease::new("1.4.0", BOTH))).await.unwrap();
    let carried = Carried::new();
    carried.carry_signed(origin.release("1.4.0").await, None).await.unwrap();
    let error = carried.carry_signed(more.release("1.4.0").await, None).await.unwrap_err();
    assert_eq!(error.code(), "fewer-platforms", "{}", told(&error));
    let carried = carried.replacing();
    carried.carry_signed(more.release("1.4.0").await, None).await.unwrap();
    assert_eq!(carried.release("1.4.0").await.platforms().await.unwrap().len(), 2);
}

#[tokio::test]
async fn a_version_that_the_destination_has_withdrawn_is_not_copied() {
    let (origin, carried) = (Carried::new(), Carried::new());
    origin.carry(&Arc::new(OfferedRelease::new("1.4.0", &["linux_amd64"]))).await.unwrap();
    carried.registry.put_tag("zap", "withdrawn-1.4.0", &Digest::sha256(b"{}"));
    carried.registry.put_manifest("zap", "application/vnd.oci.image.index.v1+json", "{}");
    let error = carried.carry_signed(origin.release("1.4.0").await, None).await.unwrap_err();
    assert_eq!(error.code(), "withdrawn", "{}", told(&error));
}
