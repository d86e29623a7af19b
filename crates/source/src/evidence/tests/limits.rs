//! More evidence than a search may hold, in memory and in requests.

use std::sync::atomic::{AtomicUsize, Ordering};

use super::*;

const COSIGN: &str = "application/vnd.dev.cosign.artifact.sig.v1+json";

/// Counts the requested blobs.
struct Counting(MemoryStore, AtomicUsize);

#[async_trait::async_trait]
impl StoreHook for Counting {
    fn inner(&self) -> &dyn Store {
        &self.0
    }

    async fn fetch_unverified(&self, descriptor: &Descriptor) -> Result<tofu_oci_store::ByteStream, StoreError> {
        if !is_leaf(&descriptor.media_type) {
            self.1.fetch_add(1, Ordering::Relaxed);
        }
        self.0.fetch_unverified(descriptor).await
    }
}

/// Manifests with signatures over this payload, in these numbers.
async fn check(manifests: usize, layers: usize, payload: &[u8]) -> (usize, usize, String, usize) {
    let (store, index) = indexed().await;
    for nth in 0..manifests {
        let mut referrer = Referrer::new(&index, COSIGN).member("annotations", json!({"nth": nth.to_string()}));
        for layer in 0..layers {
            let signature = format!("{nth}-{layer}");
            referrer = referrer.layer(SIMPLE_SIGNING, payload, &[(SIGNATURE_ANNOTATION, &signature)], Inline::No);
        }
        push_referrer(&store, &referrer).await;
    }
    let store = HookedStore(Counting(store, AtomicUsize::new(0)));
    let mut found = evidence(&store, &index, Search::Everywhere).await.unwrap();
    let ending: Vec<Evidence> =
        found.iter().position(|piece| !convinces(piece)).map(|at| found.split_off(at)).unwrap_or_default();
    let bytes =
        found.iter().map(|piece| if let Evidence::CosignTag { payload, .. } = piece { payload.len() } else { 0 });
    let bytes = bytes.sum();
    (found.len(), bytes, summary(&ending), store.0.1.load(Ordering::Relaxed))
}

#[tokio::test]
async fn many_layers_that_name_one_large_blob_do_not_fill_the_memory() {
    let mib = vec![b'x'; 1024 * 1024];
    let (pieces, bytes, ending, requests) = check(3, 100, &mib).await;
    assert_eq!((pieces, bytes, requests), (32, 32 * 1024 * 1024, 1));
    insta::assert_snapshot!(ending, @"unreadable: there is more evidence than tofu-oci reads: the search ended at 100 pieces or 32 MiB");
}

#[tokio::test]
async fn many_small_pieces_end_at_a_hundred() {
    let (pieces, _, ending, requests) = check(7, 30, b"{}").await;
    assert_eq!((pieces, requests), (100, 1));
    insta::assert_snapshot!(ending, @"unreadable: there is more evidence than tofu-oci reads: the search ended at 100 pieces or 32 MiB");
    let (pieces, _, ending, _) = check(1, 100, b"{}").await;
    assert_eq!((pieces, ending.as_str()), (100, ""), "what fits is all there");
}

/// The writer ignored the limit: the first hundred are found.
#[tokio::test]
async fn a_manifest_with_too_many_layers_keeps_its_first_hundred() {
    let (store, index) = indexed().await;
    let mut image = Referrer::cosign_tag(b"one", "c2ln", Inline::No);
    for nth in 1..150 {
        let media_type = if nth < 100 { "text/plain" } else { SIMPLE_SIGNING };
        image = image.layer(media_type, nth.to_string().as_bytes(), &[(SIGNATURE_ANNOTATION, "Z2lz")], Inline::No);
    }
    push_referrer(&store, &image).await;
    store.tag(&image.descriptor(), &sig_tag(&index)).await.unwrap();
    let found = evidence(&store, &index, Search::Everywhere).await.unwrap();
    insta::assert_snapshot!(summary(&found), @r"
    cosign one by c2ln
    unreadable: it has 150 layers, and only the first 100 were read
    ");
}

/// A missing blob does not affect the next ones.
#[tokio::test]
async fn what_is_missing_is_not_counted_against_what_is_there() {
    let (store, index) = indexed().await;
    let mut image = Referrer::new(&index, COSIGN);
    for nth in 0..60_u64 {
        let gone = Descriptor::of("", &nth.to_be_bytes()).digest;
        image = image
            .layer(SIMPLE_SIGNING, b"gone", &[(SIGNATURE_ANNOTATION, "Z2lz")], Inline::No)
            .layer_member("digest", json!(gone))
            .layer_member("size", json!(1024 * 1024));
    }
    push_referrer(&store, &image.layer(SIMPLE_SIGNING, b"one", &[(SIGNATURE_ANNOTATION, "c2ln")], Inline::No)).await;
    let found = evidence(&store, &index, Search::Everywhere).await.unwrap();
    assert_eq!((found.len(), summary(&found[60..])), (61, "cosign one by c2ln".to_owned()));
}

#[tokio::test]
async fn too_many_notices_hide_none_behind_a_signature() {
    let (store, index) = indexed().await;
    for nth in 0..=MOST_OPENED {
        let junk = Referrer::new(&index, NOTICE_ARTIFACT_TYPE).member("annotations", json!({"nth": nth.to_string()}));
        push_referrer(&store, &junk).await;
    }
    let signature =
        Referrer::new(&index, COSIGN).layer(SIMPLE_SIGNING, b"x", &[(SIGNATURE_ANNOTATION, "c2ln")], Inline::Yes);
    push_referrer(&store, &signature).await;
    for search in [Search::Likely, Search::Everywhere] {
        let found = evidence(&store, &index, search).await.unwrap();
        let [Evidence::UnreadNotices { .. }, rest @ ..] = &found[..] else { panic!("{found:?}") };
        assert!(rest.iter().all(|piece| matches!(piece, Evidence::Unreadable { .. })), "{found:?}");
    }
}

#[tokio::test]
async fn notices_that_fill_the_memory_hide_none() {
    let (store, index) = indexed().await;
    for nth in 0..40_u32 {
        let mut large = vec![b' '; 1024 * 1024];
        large[..4].copy_from_slice(&nth.to_be_bytes());
        let junk = Referrer::new(&index, NOTICE_ARTIFACT_TYPE).layer("text/plain", &large, &[], Inline::No);
        push_referrer(&store, &junk).await;
    }
    let found = evidence(&store, &index, Search::Likely).await.unwrap();
    assert!(matches!(&found[..], [Evidence::UnreadNotices { .. }, ..]), "the first of {} pieces", found.len());
}
