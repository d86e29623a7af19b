//! Signatures for a release in a store that watches.

mod notices;

use bytes::Bytes;
use insta::assert_snapshot;
use serde_json::Value;
use tofu_oci_layout::media_type;
use tofu_oci_source::{Search, evidence};
use tofu_oci_store::{DirStore, ReadStore, Store, fetch_bytes};
use tofu_oci_trust::{
    Evidence, PrivateKey, SIGNATURE_ANNOTATION, SIMPLE_SIGNING_TYPE, SignatureForm, open_bundle, open_cosign_tag,
};
use tofu_oci_types::{Descriptor, Predecessors, Reference};

use crate::testing::{EventLog, Folder, Push, Watching, key, tags};
use crate::{
    Attachment, AttachmentState, Forms, PackError, Rename, SignAddress, SignReport, SignRequest, Signer, Signing, sign,
};

const ANNOTATED: SignAddress = SignAddress::Annotated { otherwise: None };

/// A store with an unsigned release 1.4.0 of example.com/acme/zap.
async fn released() -> Watching {
    let store = Watching::new();
    release_into(&store).await;
    store.take();
    store
}

async fn release_into(store: &dyn Store) {
    let folder = Folder::new();
    folder.package("1.4.0", "linux_amd64").package("1.4.0", "darwin_arm64");
    Push::new(&folder, "1.4.0").run(store).await.unwrap();
}

/// The only caller of `sign` here.
async fn run(store: &dyn Store, key: &PrivateKey, forms: Forms, address: SignAddress) -> Result<SignReport, PackError> {
    run_at(store, "1.4.0", key, forms, address).await
}

async fn run_at(
    store: &dyn Store,
    version: &str,
    key: &PrivateKey,
    forms: Forms,
    address: SignAddress,
) -> Result<SignReport, PackError> {
    heard_at(store, version, key, forms, address, &EventLog::default()).await
}

async fn heard_at(
    store: &dyn Store,
    version: &str,
    key: &PrivateKey,
    forms: Forms,
    address: SignAddress,
    heard: &EventLog,
) -> Result<SignReport, PackError> {
    let version = version.parse().unwrap();
    let request = SignRequest {
        version: &version,
        address,
        rename: Rename::Refuse,
        predecessors: Predecessors::NONE,
        signer: Signer::Key(Signing { key, forms }),
        note: None,
    };
    sign(store, &request, heard).await
}

async fn tagged(store: &dyn ReadStore, tag: &str) -> Descriptor {
    store.resolve(&Reference::Tag(tag.parse().unwrap())).await.unwrap()
}

async fn json(store: &dyn ReadStore, descriptor: &Descriptor) -> Value {
    serde_json::from_slice(&fetch_bytes(store, descriptor, 1 << 20).await.unwrap()).unwrap()
}

/// How many good signatures of this key there are, as bundles and under the tag.
async fn signatures(store: &dyn ReadStore, key: &PrivateKey) -> (usize, usize) {
    let index = tagged(store, "1.4.0").await;
    let keys = [key.public().clone()];
    let mut found = (0, 0);
    for evidence in evidence(store, &index, Search::Everywhere).await.unwrap() {
        match evidence {
            Evidence::Bundle { bytes, .. } => found.0 += usize::from(open_bundle(&bytes, &keys).is_ok()),
            Evidence::CosignTag { payload, signature, .. } => {
                found.1 += usize::from(open_cosign_tag(&payload, &signature, &keys).is_ok());
            }
            other => panic!("{other:?}"),
        }
    }
    found
}

fn states(attachments: &[Attachment]) -> Vec<(SignatureForm, AttachmentState)> {
    attachments.iter().map(|attachment| (attachment.form, attachment.state)).collect()
}

const BOTH: [SignatureForm; 2] = [SignatureForm::Bundle, SignatureForm::CosignTag];

#[tokio::test]
async fn signing_again_with_the_same_key_changes_nothing() {
    let store = released().await;
    let first = run(&store, &key(1), Forms::Both, ANNOTATED).await.unwrap();
    assert!(!first.unchanged);
    assert_eq!(states(&first.attachments), BOTH.map(|form| (form, AttachmentState::Attached)));
    assert_eq!((first.key.clone(), first.of.to_string()), (Some(key(1).public().id()), "example.com/acme/zap".into()));
    assert_eq!(signatures(&store, &key(1)).await, (1, 1));
    store.take();
    let second = run(&store, &key(1), Forms::Both, ANNOTATED).await.unwrap();
    assert!(second.unchanged);
    assert_eq!(states(&second.attachments), BOTH.map(|form| (form, AttachmentState::Present)));
    assert!(store.take().is_empty());
    let manifests = |report: &SignReport| report.attachments.iter().map(|it| it.manifest.clone()).collect::<Vec<_>>();
    assert_eq!(manifests(&first), manifests(&second));
}

#[tokio::test]
async fn signatures_of_others_stay() {
    let dir = tempfile::tempdir().unwrap();
    let folder = DirStore::create(dir.path().join("layout")).unwrap();
    release_into(&folder).await;
    let watching = released().await;
    for store in [&folder as &dyn Store, &watching] {
        for number in [1, 2, 3] {
            run(store, &key(number), Forms::Both, ANNOTATED).await.unwrap();
        }
        for number in [1, 2, 3] {
            assert_eq!(signatures(store, &key(number)).await, (1, 1), "{}", store.place());
        }
        let index = tagged(store, "1.4.0").await;
        let image = json(store, &tagged(store, &format!("sha256-{}.sig", index.digest.encoded())).await).await;
        assert_eq!(image["layers"].as_array().unwrap().len(), 3);
        let config: Descriptor = serde_json::from_value(image["config"].clone()).unwrap();
        assert_eq!(json(store, &config).await["rootfs"]["diff_ids"].as_array().unwrap().len(), 3);
    }
}

#[tokio::test]
async fn equal_keys_give_equal_bytes() {
    let (first, second) = (released().await, released().await);
    for store in [&first, &second] {
        run(store, &key(1), Forms::Both, ANNOTATED).await.unwrap();
    }
    assert_eq!(first.inner.digests(), second.inner.digests());
}

#[tokio::test]
async fn a_referrer_is_what_cosign_writes_without_a_time() {
    let store = released().await;
    let report = run(&store, &key(1), Forms::Bundle, ANNOTATED).await.unwrap();
    let index = tagged(&store, "1.4.0").await;
    let [referrer] = store.referrers(&index.digest).await.unwrap().try_into().unwrap();
    assert_eq!(referrer.digest, report.attachments[0].manifest);
    let mut manifest = json(&store, &referrer).await;
    assert_eq!(manifest["subject"]["digest"], index.digest.as_str());
    let layer: Descriptor = serde_json::from_value(manifest["layers"][0].clone()).unwrap();
    let bundle = fetch_bytes(&store, &layer, 1 << 20).await.unwrap();
    let data = base64::Engine::encode(&base64::engine::general_purpose::STANDARD, &bundle);
    assert_eq!(manifest["layers"][0]["data"], data.as_str(), "a reader needs no request for the bundle");
    for (member, at) in [("subject", "/digest"), ("subject", "/size"), ("layers", "/0")] {
        *manifest[member].pointer_mut(at).unwrap() = Value::Null;
    }
    assert_snapshot!(serde_json::to_string_pretty(&manifest).unwrap(), @r#"
    {
      "schemaVersion": 2,
      "mediaType": "application/vnd.oci.image.manifest.v1+json",
      "artifactType": "application/vnd.dev.sigstore.bundle.v0.3+json",
      "config": {
        "mediaType": "application/vnd.oci.empty.v1+json",
        "digest": "sha256:44136fa355b3678a1146ad16f7e8649e94fb4fc21fe77e8310c060f61caaff8a",
        "size": 2,
        "data": "e30="
      },
      "layers": [
        null
      ],
      "subject": {
        "mediaType": "application/vnd.oci.image.index.v1+json",
        "digest": null,
        "size": null
      },
      "annotations": {
        "dev.sigstore.bundle.content": "dsse-envelope",
        "dev.sigstore.bundle.predicateType": "https://sigstore.dev/cosign/sign/v1"
      }
    }
    "#);
}

#[tokio::test]
async fn what_breaks_off_can_be_run_again() {
    let whole = released().await;
    run(&whole, &key(1), Forms::Both, ANNOTATED).await.unwrap();
    let steps = whole.take().len();
    for fail_at in 0..steps {
        let store = Watching { fail_at: Some(fail_at), ..released().await };
        let error = run(&store, &key(1), Forms::Both, ANNOTATED).await.expect_err("told to fail");
        assert!(matches!(error, PackError::Store(_)), "{error}");
        let store = Watching { inner: store.inner, ..Watching::new() };
        run(&store, &key(1), Forms::Both, ANNOTATED).await.unwrap();
        assert_eq!(signatures(&store, &key(1)).await, (1, 1));
        assert_eq!(store.inner.digests(), whole.inner.digests(), "step {fail_at}");
    }
}

/// Two people sign at once: the tag that one of them wrote is overwritten by the other, who has not seen it.
#[tokio::test]
async fn a_signature_that_was_overwritten_is_written_again() {
    let store = released().await;
    let index = tagged(&store, "1.4.0").await;
    let tag = format!("sha256-{}.sig", index.digest.encoded());
    run(&store, &key(1), Forms::CosignTag, ANNOTATED).await.unwrap();
    let theirs = tagged(&store, &tag).await;
    *store.meanwhile.lock().unwrap() = Some((theirs, tag.parse().unwrap()));
    let report = run(&store, &key(2), Forms::CosignTag, ANNOTATED).await.unwrap();
    assert_eq!(report.attachments[0].manifest, tagged(&store, &tag).await.digest);
    assert_eq!((signatures(&store, &key(1)).await, signatures(&store, &key(2)).await), ((0, 1), (0, 1)));
}

#[tokio::test]
async fn members_that_others_wrote_are_kept() {
    let store = released().await;
    let index = tagged(&store, "1.4.0").await;
    let tag = format!("sha256-{}.sig", index.digest.encoded());
    let config = Bytes::from_static(br#"{"rootfs":{"type":"layers","diff_ids":["sha256:00"]},"x":1}"#);
    let config_type = media_type::OCI_CONFIG;
    let config_descriptor = Descriptor::of(config_type, &config);
    store.inner.insert_unchecked(&config_descriptor, config);
    let layer = r#"{"mediaType":"text/x-other","digest":"sha256:44136fa355b3678a1146ad16f7e8649e94fb4fc21fe77e8310c060f61caaff8a","size":2,"urls":[],"y":[1]}"#;
    store.inner.insert_unchecked(&Descriptor::of("text/x-other", b"{}"), "{}".into());
    let manifest = Bytes::from(format!(
        r#"{{"z":1,"schemaVersion":2,"config":{},"layers":[{layer}]}}"#,
        serde_json::to_string(&config_descriptor).unwrap()
    ));
    let descriptor = Descriptor::of(media_type::OCI_MANIFEST, &manifest);
    store.inner.insert_unchecked(&descriptor, manifest);
    store.inner.tag(&descriptor, &tag.parse().unwrap()).await.unwrap();
    run(&store, &key(1), Forms::CosignTag, ANNOTATED).await.unwrap();
    let image = json(&store, &tagged(&store, &tag).await).await;
    assert_eq!((&image["z"], image["layers"][0].to_string().as_str()), (&Value::from(1), layer));
    let config: Descriptor = serde_json::from_value(image["config"].clone()).unwrap();
    let config = json(&store, &config).await;
    assert_eq!((&config["x"], config["rootfs"]["diff_ids"].as_array().unwrap().len()), (&Value::from(1), 2));
}

/// An image of so many signatures of others under the tag of the release.
async fn signed_by_others(store: &Watching, count: usize) -> String {
    let tag = format!("sha256-{}.sig", tagged(store, "1.4.0").await.digest.encoded());
    store.inner.insert_unchecked(&Descriptor::of(SIMPLE_SIGNING_TYPE, b"{}"), "{}".into());
    let layer = |nth: usize| {
        let mut layer = Descriptor::of(SIMPLE_SIGNING_TYPE, b"{}");
        layer.annotations.insert(SIGNATURE_ANNOTATION.to_owned(), format!("c2ln{nth}"));
        layer
    };
    let manifest = serde_json::json!({
        "schemaVersion": 2, "mediaType": media_type::OCI_MANIFEST, "config": Descriptor::of("text/plain", b"{}"),
        "layers": (0..count).map(layer).collect::<Vec<_>>(),
    });
    let manifest = Bytes::from(manifest.to_string());
    let descriptor = Descriptor::of(media_type::OCI_MANIFEST, &manifest);
    store.inner.insert_unchecked(&descriptor, manifest);
    store.inner.tag(&descriptor, &tag.parse().unwrap()).await.unwrap();
    tag
}

#[tokio::test]
async fn a_signature_that_nobody_would_read_is_not_written() {
    let store = released().await;
    let tag = signed_by_others(&store, 100).await;
    let error = run(&store, &key(1), Forms::CosignTag, ANNOTATED).await.expect_err("full").to_string();
    assert_snapshot!(error.replace(&tag, "TAG"), @"the tag TAG in memory holds 100 signatures; with 1 more it would have more than 100, and no more are read");
    assert!(store.take().is_empty(), "nothing is written");
    signed_by_others(&store, 99).await;
    run(&store, &key(1), Forms::CosignTag, ANNOTATED).await.unwrap();
    assert_eq!(signatures(&store, &key(1)).await, (0, 1));
    assert!(run(&store, &key(1), Forms::CosignTag, ANNOTATED).await.unwrap().unchanged);
}

/// Each of both is within its limit, and together they are more than a search takes.
#[tokio::test]
async fn a_signature_that_is_written_and_not_found_is_an_error() {
    let store = released().await;
    signed_by_others(&store, 99).await;
    run(&store, &key(2), Forms::Bundle, ANNOTATED).await.unwrap();
    let error = run(&store, &key(1), Forms::CosignTag, ANNOTATED).await.expect_err("the 101st piece");
    let PackError::Sign(error) = error else { panic!("{error}") };
    assert!(matches!(*error, crate::SignError::NotFound { form: SignatureForm::CosignTag, .. }), "{error}");
}

#[tokio::test]
async fn a_tag_that_is_no_image_of_signatures_is_left_alone() {
    let store = released().await;
    let index = tagged(&store, "1.4.0").await;
    let tag = format!("sha256-{}.sig", index.digest.encoded());
    store.inner.tag(&index, &tag.parse().unwrap()).await.unwrap();
    let error = run(&store, &key(1), Forms::CosignTag, ANNOTATED).await.expect_err("an index is there");
    let error = error.to_string().replace(index.digest.encoded(), "HEX");
    assert_snapshot!(error, @"the tag sha256-HEX.sig in memory holds no signatures: it is of the type application/vnd.oci.image.index.v1+json");
    assert!(store.take().is_empty());
}

#[tokio::test]
async fn a_store_that_lists_no_referrers_is_told_of() {
    let store = Watching { lists_referrers: false, ..released().await };
    let index = tagged(&store, "1.4.0").await;
    let error = run(&store, &key(1), Forms::Bundle, ANNOTATED).await.expect_err("not listed");
    let PackError::Sign(error) = error else { panic!("{error}") };
    assert!(matches!(*error, crate::SignError::NotListed { .. }), "{error}");
    assert!(error.to_string().ends_with(&format!("does not list it among the referrers of {}", index.digest)));
    // The other form needs no list.
    run(&store, &key(1), Forms::CosignTag, ANNOTATED).await.unwrap();
}

#[tokio::test]
async fn only_the_release_that_was_meant_is_signed() {
    let store = released().await;
    let told = async |version: &str, address: SignAddress| {
        let result = run_at(&store, version, &key(1), Forms::Both, address).await;
        assert!(store.take().is_empty(), "nothing is written");
        result.expect_err("refused").to_string()
    };
    let given = |text: &str| SignAddress::Given(text.parse().unwrap());
    assert_snapshot!(told("1.5.0", ANNOTATED).await, @"memory has no version 1.5.0");
    assert_snapshot!(told("1.4.0", given("example.com/acme/other")).await, @"the release 1.4.0 in memory says that it is example.com/acme/zap, which is another provider than example.com/acme/other");
    let index = tagged(&store, "1.4.0").await;
    store.inner.tag(&index, &"1.5.0".parse().unwrap()).await.unwrap();
    assert_snapshot!(told("1.5.0", ANNOTATED).await, @"the tag 1.5.0 in memory points at a release that says it is version 1.4.0");
    let leaf: Descriptor = serde_json::from_value(json(&store, &index).await["manifests"][0].clone()).unwrap();
    store.inner.tag(&leaf, &"1.6.0".parse().unwrap()).await.unwrap();
    assert_snapshot!(told("1.6.0", ANNOTATED).await, @"memory has no release under the tag 1.6.0");
    let empty = Bytes::from_static(br#"{"schemaVersion":2,"artifactType":"application/vnd.opentofu.provider","mediaType":"application/vnd.oci.image.index.v1+json","manifests":[]}"#);
    let descriptor = Descriptor::of(media_type::OCI_INDEX, &empty);
    store.inner.insert_unchecked(&descriptor, empty);
    store.inner.tag(&descriptor, &"1.7.0".parse().unwrap()).await.unwrap();
    assert_snapshot!(told("1.7.0", ANNOTATED).await, @"memory has no release under the tag 1.7.0");
    assert_eq!(tags(&store).await.len(), 4);
}

#[tokio::test]
async fn tags_that_cannot_be_listed_are_reported_since_no_address_was_compared() {
    let store = Watching { lists_tags: false, ..released().await };
    let heard = EventLog::default();
    heard_at(&store, "1.4.0", &key(1), Forms::Bundle, ANNOTATED, &heard).await.unwrap();
    assert_eq!(heard.codes(), ["tags-unknown"]);
}

#[tokio::test]
async fn the_address_is_given_or_annotated_or_that_of_the_repository() {
    let store = released().await;
    let mirror = SignAddress::Given("mirror.example.com/acme/zap".parse().unwrap());
    let report = run(&store, &key(1), Forms::Bundle, mirror.clone()).await.unwrap();
    assert_eq!(report.of.to_string(), "mirror.example.com/acme/zap");
    // The same key says something else now: both stay.
    let report = run(&store, &key(1), Forms::Bundle, ANNOTATED).await.unwrap();
    assert!(!report.unchanged);
    assert_eq!(signatures(&store, &key(1)).await, (2, 0));
    assert!(run(&store, &key(1), Forms::Bundle, mirror).await.unwrap().unchanged);

    let bare = serde_json::json!({
        "schemaVersion": 2, "mediaType": media_type::OCI_INDEX, "artifactType": "application/vnd.opentofu.provider",
        "manifests": json(&store, &tagged(&store, "1.4.0").await).await["manifests"],
    });
    let bare = Bytes::from(bare.to_string());
    let descriptor = Descriptor::of(media_type::OCI_INDEX, &bare);
    store.inner.insert_unchecked(&descriptor, bare);
    store.inner.tag(&descriptor, &"1.4.0".parse().unwrap()).await.unwrap();
    let error = run(&store, &key(1), Forms::Bundle, ANNOTATED).await.expect_err("nobody says");
    assert_snapshot!(error, @"nothing in memory says which provider the release 1.4.0 is of");
    let otherwise = SignAddress::Annotated { otherwise: Some("example.com/acme/zap".parse().unwrap()) };
    run(&store, &key(1), Forms::Bundle, otherwise).await.unwrap();
}
