use std::fmt::Write as _;

use bytes::Bytes;
use serde_json::json;
use tofu_oci_store::{MemoryStore, Store};
use tofu_oci_testkit::{HookedStore, Inline, Referrer, StoreHook};
use tofu_oci_trust::SIGNATURE_ANNOTATION;
use tofu_oci_types::Tag;

use super::*;

mod faults;
mod limits;
mod requests;

const INDEX: &str = "application/vnd.oci.image.index.v1+json";
const BUNDLE: &str = "application/vnd.dev.sigstore.bundle.v0.3+json";
const SIMPLE_SIGNING: &str = "application/vnd.dev.cosign.simplesigning.v1+json";
const SUMS: &str = "application/vnd.opentofu.provider.shasums.v1";

async fn push(store: &dyn Store, descriptor: &Descriptor, bytes: &Bytes) {
    store.push(descriptor, bytes).await.unwrap();
}

pub(super) async fn push_referrer(store: &dyn Store, referrer: &Referrer) {
    for (descriptor, bytes) in referrer.blobs() {
        push(store, &descriptor, &bytes).await;
    }
    push(store, &referrer.descriptor(), &referrer.manifest()).await;
}

pub(super) fn sig_tag(index: &Descriptor) -> Tag {
    format!("sha256-{}.sig", index.digest.encoded()).parse().unwrap()
}

/// An index in an otherwise empty repository.
async fn indexed() -> (MemoryStore, Descriptor) {
    let store = MemoryStore::new("memory".parse().unwrap());
    let bytes = Bytes::from(json!({"schemaVersion": 2, "mediaType": INDEX, "manifests": []}).to_string());
    let index = Descriptor::of(INDEX, &bytes);
    push(&store, &index, &bytes).await;
    (store, index)
}

/// Every piece of evidence on a line, digests cut short.
pub(super) fn summary(found: &[Evidence]) -> String {
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    let mut lines = String::new();
    for evidence in found {
        let line = match evidence {
            Evidence::Bundle { bytes, .. } => format!("bundle {}", text(bytes)),
            Evidence::CosignTag { payload, signature, .. } => format!("cosign {} by {signature}", text(payload)),
            Evidence::Sums { sums, signatures, keys, .. } => {
                format!("sums {}, {} signatures, {} keys", text(sums), signatures.len(), keys.len())
            }
            Evidence::Notice { bytes, .. } => format!("notice {}", text(bytes)),
            Evidence::UnreadNotices { problem, .. } => format!("unread notices: {problem}"),
            Evidence::Unreadable { problem, .. } => format!("unreadable: {problem}"),
        };
        let _ = writeln!(lines, "{line}");
    }
    let cut = |word: &str| match word.split_once("sha256:") {
        Some((before, rest)) => format!("{before}sha256:…{}", rest.trim_start_matches(|c: char| c.is_ascii_hexdigit())),
        None => word.to_owned(),
    };
    lines.trim_end().split(' ').map(cut).collect::<Vec<_>>().join(" ")
}

/// Puts the referrer that is made for an index beside it, and returns a summary of what is found.
async fn check(make: impl Fn(&Descriptor) -> Referrer) -> String {
    let (store, index) = indexed().await;
    push_referrer(&store, &make(&index)).await;
    summary(&evidence(&store, &index, Search::Everywhere).await.unwrap())
}

#[tokio::test]
async fn what_is_known_is_read() {
    let bundle = |inline| move |index: &Descriptor| Referrer::bundle(index, b"{}", inline);
    assert_eq!(check(bundle(Inline::No)).await, "bundle {}");
    assert_eq!(check(bundle(Inline::Yes)).await, "bundle {}");
    assert_eq!(
        check(|index| Referrer::sums(index, b"aa  x.zip", b"sig", Inline::No)).await,
        "sums aa  x.zip, 1 signatures, 0 keys"
    );
    let more = |index: &Descriptor| {
        let sums = Referrer::sums(index, b"aa  x.zip", b"sig", Inline::Yes);
        sums.layer("application/pgp-signature", b"2", &[], Inline::No)
            .layer("application/pgp-keys", b"key", &[], Inline::No)
            .layer("text/html", b"else", &[], Inline::No)
    };
    assert_eq!(check(more).await, "sums aa  x.zip, 2 signatures, 1 keys");
    let cosign = |index: &Descriptor| {
        Referrer::new(index, "application/vnd.dev.cosign.artifact.sig.v1+json")
            .layer(SIMPLE_SIGNING, b"one", &[(SIGNATURE_ANNOTATION, "c2ln")], Inline::No)
            .layer(SIMPLE_SIGNING, b"two", &[(SIGNATURE_ANNOTATION, "Z2lz")], Inline::Yes)
    };
    insta::assert_snapshot!(check(cosign).await, @r"
    cosign one by c2ln
    cosign two by Z2lz
    ");
}

#[tokio::test]
async fn the_manifest_says_what_it_is_and_not_the_list() {
    let lied = |index: &Descriptor| Referrer::bundle(index, b"{}", Inline::No).listed_as(Some("application/spdx+json"));
    assert_eq!(check(lied).await, "bundle {}");
    let unsaid = |index: &Descriptor| Referrer::bundle(index, b"{}", Inline::No).member("artifactType", json!(null));
    assert_eq!(check(unsaid).await, "bundle {}");
    let older = |index: &Descriptor| {
        let old = "application/vnd.dev.sigstore.bundle+json;version=0.2";
        Referrer::new(index, old).layer(old, b"{}", &[], Inline::No)
    };
    assert_eq!(check(older).await, "bundle {}");
    let sbom = |index: &Descriptor| Referrer::new(index, "application/spdx+json").listed_as(Some(BUNDLE));
    assert_eq!(check(sbom).await, "");
    let attestation = |index: &Descriptor| {
        Referrer::new(index, "application/vnd.in-toto+json").layer(
            "application/vnd.in-toto+json",
            b"{}",
            &[],
            Inline::No,
        )
    };
    assert_eq!(check(attestation).await, "");
}

#[tokio::test]
async fn content_that_comes_along_counts_only_when_it_is_the_content() {
    for wrong in [json!("eHg="), json!("e30"), json!("not base64"), json!("")] {
        let other =
            |index: &Descriptor| Referrer::bundle(index, b"{}", Inline::Yes).layer_member("data", wrong.clone());
        assert_eq!(check(other).await, "bundle {}", "{wrong}");
    }
    let null = |index: &Descriptor| Referrer::bundle(index, b"{}", Inline::Yes).layer_member("data", json!(null));
    assert_eq!(check(null).await, "bundle {}");
    let number = |index: &Descriptor| Referrer::bundle(index, b"{}", Inline::Yes).layer_member("data", json!(1));
    insta::assert_snapshot!(check(number).await, @"unreadable: its member layers: invalid type: integer `1`, expected a string");
}

#[tokio::test]
async fn what_is_broken_spoils_nothing_else() {
    let (store, index) = indexed().await;
    let bundle = || Referrer::bundle(&index, b"{}", Inline::No);
    push_referrer(&store, &bundle().layer(BUNDLE, b"second", &[], Inline::No)).await;
    push_referrer(&store, &bundle().layer_member("digest", json!(Descriptor::of("", b"gone").digest))).await;
    push_referrer(&store, &bundle().layer_member("size", json!(3)).member("x", json!(1))).await;
    push_referrer(&store, &bundle().layer_member("size", json!(1024 * 1024 + 1))).await;
    push_referrer(&store, &bundle().layer_member("digest", json!("md5:abc"))).await;
    push_referrer(&store, &Referrer::new(&index, BUNDLE)).await;
    push_referrer(&store, &Referrer::new(&index, SUMS).layer("text/html", b"", &[], Inline::No)).await;
    let cosign = "application/vnd.dev.cosign.artifact.sig.v1+json";
    push_referrer(&store, &Referrer::new(&index, cosign)).await;
    let unsigned = Referrer::new(&index, cosign).layer(SIMPLE_SIGNING, b"one", &[], Inline::No);
    push_referrer(&store, &unsigned.layer(SIMPLE_SIGNING, b"two", &[(SIGNATURE_ANNOTATION, "c2ln")], Inline::No)).await;
    push_referrer(&store, &Referrer::bundle(&index, b"good", Inline::No)).await;
    let mut lines: Vec<String> =
        summary(&evidence(&store, &index, Search::Everywhere).await.unwrap()).lines().map(ToOwned::to_owned).collect();
    lines.sort();
    insta::assert_snapshot!(lines.join("\n"), @r"
    bundle good
    cosign two by c2ln
    unreadable: a bundle is one layer, and it has 0
    unreadable: a bundle is one layer, and it has 2
    unreadable: blob sha256:… of memory has the wrong size: expected 3 bytes, got 2
    unreadable: blob sha256:… of memory is larger than 1048576 bytes
    unreadable: it has no signature
    unreadable: it should have one layer of the type text/plain, and has 0
    unreadable: its layer sha256:… has no signature
    unreadable: memory has no blob md5:abc
    unreadable: memory has no blob sha256:…
    ");
}

/// Lists what it likes.
struct Lying(MemoryStore, Vec<Descriptor>);

#[async_trait::async_trait]
impl StoreHook for Lying {
    fn inner(&self) -> &dyn Store {
        &self.0
    }

    async fn referrers(&self, _: &Digest) -> Result<Vec<Descriptor>, StoreError> {
        Ok(self.1.clone())
    }
}

#[tokio::test]
async fn what_is_about_something_else_is_not_taken() {
    let (store, index) = indexed().await;
    let other = Descriptor::of(INDEX, b"other");
    let about = |subject: &Descriptor| Referrer::bundle(subject, b"{}", Inline::Yes);
    push_referrer(&store, &about(&other)).await;
    // A list is only a claim: this one names a referrer of something else, and a manifest without a subject.
    let bare = about(&other).member("subject", json!(null));
    push_referrer(&store, &bare).await;
    let listed = vec![about(&other).descriptor(), bare.descriptor(), index.clone()];
    let found = evidence(&HookedStore(Lying(store, listed)), &index, Search::Everywhere).await.unwrap();
    insta::assert_snapshot!(summary(&found), @r"
    unreadable: it is about sha256:…, not about this release
    unreadable: it does not say what it is about
    ");
}

#[tokio::test]
async fn a_member_that_is_there_twice_is_refused() {
    let (store, index) = indexed().await;
    let text = String::from_utf8(Referrer::bundle(&index, b"{}", Inline::Yes).manifest().to_vec()).unwrap();
    let bytes = Bytes::from(text.replacen('{', r#"{"artifactType":"application/spdx+json","#, 1));
    let twice = Descriptor::of("application/vnd.oci.image.manifest.v1+json", &bytes);
    push(&store, &twice, &bytes).await;
    let found = evidence(&HookedStore(Lying(store, vec![twice])), &index, Search::Everywhere).await.unwrap();
    insta::assert_snapshot!(summary(&found), @r#"unreadable: it is not a manifest: the member "artifactType" is there twice at line 1 column 129"#);
}

#[tokio::test]
async fn the_tag_that_cosign_writes_is_read() {
    let (store, index) = indexed().await;
    let two = Referrer::cosign_tag(b"one", "c2ln", Inline::No).layer(
        SIMPLE_SIGNING,
        b"two",
        &[(SIGNATURE_ANNOTATION, "Z2lz")],
        Inline::No,
    );
    push_referrer(&store, &two).await;
    store.tag(&two.descriptor(), &sig_tag(&index)).await.unwrap();
    for search in [Search::Likely, Search::Everywhere] {
        let found = evidence(&store, &index, search).await.unwrap();
        assert_eq!(summary(&found), "cosign one by c2ln\ncosign two by Z2lz", "{search:?}");
    }
    // A bundle is looked for first, and enough for the shorter search.
    push_referrer(&store, &Referrer::bundle(&index, b"{}", Inline::No)).await;
    assert_eq!(summary(&evidence(&store, &index, Search::Likely).await.unwrap()), "bundle {}");
    assert_eq!(evidence(&store, &index, Search::Everywhere).await.unwrap().len(), 3);
    // Under that tag lies something else.
    store.tag(&index, &sig_tag(&index)).await.unwrap();
    let found = evidence(&store, &index, Search::Everywhere).await.unwrap();
    insta::assert_snapshot!(summary(&found), @r"
    bundle {}
    unreadable: it has no signature
    ");
}

#[tokio::test]
async fn no_more_than_a_hundred_are_opened() {
    let (store, index) = indexed().await;
    for nth in 0..120 {
        let sbom =
            Referrer::new(&index, "application/spdx+json").member("annotations", json!({"nth": nth.to_string()}));
        push_referrer(&store, &sbom).await;
    }
    push_referrer(&store, &Referrer::bundle(&index, b"{}", Inline::No)).await;
    let found = evidence(&store, &index, Search::Everywhere).await.unwrap();
    insta::assert_snapshot!(summary(&found), @r"
    bundle {}
    unreadable: 121 manifests refer to it, and only 100 of them were opened
    ");
}
