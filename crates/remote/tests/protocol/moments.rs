//! A registry that denies for a moment what it has, because somebody else writes it again.

use bytes::Bytes;
use serde_json::json;
use tofu_oci_store::{Pushed, ReadStore as _, Store as _, StoreError};
use tofu_oci_types::Descriptor;

use crate::server::{Reply, Request, Server, reply};
use crate::support::{MANIFEST, ZIP, bench, blob, check_error, manifest_reply};

fn manifest() -> (Descriptor, Bytes) {
    let part = |media_type: &str, text: &str| json!(Descriptor::of(media_type, text.as_bytes()));
    let manifest = json!({
        "schemaVersion": 2, "mediaType": MANIFEST,
        "config": part("application/vnd.oci.empty.v1+json", "{}"), "layers": [part(ZIP, "zip")],
    });
    let bytes = Bytes::from(manifest.to_string());
    (Descriptor::of(MANIFEST, &bytes), bytes)
}

fn puts(server: &Server) -> usize {
    server.requests().iter().filter(|request| request.method == "PUT").count()
}

/// A registry that has all blobs but those named, and answers so to the first `PUT`s.
fn denying(answer: Reply, times: usize, lacks: Option<&'static [u8]>) -> Server {
    let denied = std::sync::atomic::AtomicUsize::new(0);
    Server::start(move |request: &Request, _| match request.method.as_str() {
        "HEAD" if request.path().contains("/manifests/") => reply(404),
        "HEAD" => {
            let is_missing = lacks.is_some_and(|bytes| request.path().ends_with(blob(bytes).digest.as_str()));
            reply(if is_missing { 404 } else { 200 })
        }
        // Whether a write is allowed at all.
        "PUT" if request.body.is_empty() => reply(201),
        "PUT" if denied.fetch_add(1, std::sync::atomic::Ordering::SeqCst) < times => answer.clone(),
        _ => reply(201),
    })
}

/// Ten pushes of one release at once: 26 of 30 failed so.
#[tokio::test]
async fn a_manifest_is_taken_in_the_end_though_others_rewrite_its_links() {
    let answers = [
        reply(400).error("DIGEST_INVALID", "provided digest did not match uploaded content"),
        reply(400).error("MANIFEST_BLOB_UNKNOWN", "blob unknown to registry"),
        reply(404).error("BLOB_UNKNOWN", "blob unknown to registry"),
        reply(500).error("UNKNOWN", "invalid checksum digest format"),
    ];
    for answer in answers {
        let (server, bench, (descriptor, bytes)) = (denying(answer, 6, None), bench(), manifest());
        let pushed = bench.store(&server).push(&descriptor, &bytes).await;
        assert_eq!(pushed.unwrap(), Pushed::Uploaded);
        assert_eq!(puts(&server), 7);
        assert!(bench.retries() > 0, "who watches is told");
    }
}

#[tokio::test]
async fn a_manifest_that_names_what_is_not_there_is_refused_at_once() {
    let answer = reply(400).error("MANIFEST_BLOB_UNKNOWN", "blob unknown to registry");
    let (server, bench, (descriptor, bytes)) = (denying(answer, 99, Some(b"zip")), bench(), manifest());
    let pushed = bench.store(&server).push(&descriptor, &bytes).await;
    let want = format!(
        "HOST/x answered 400 to PUT /v2/x/manifests/{}: blob unknown to registry (MANIFEST_BLOB_UNKNOWN)",
        descriptor.digest
    );
    check_error(pushed, &server, &want);
    assert_eq!((puts(&server), bench.retries()), (1, 0));
}

#[tokio::test]
async fn a_refusal_that_lasts_or_is_about_something_else_stays_an_error() {
    let lasting = reply(400).error("DIGEST_INVALID", "provided digest did not match uploaded content");
    for (answer, want) in
        [(lasting, 11), (reply(400).error("MANIFEST_INVALID", "manifest invalid"), 1), (reply(403), 1)]
    {
        let (server, bench, (descriptor, bytes)) = (denying(answer, 99, None), bench(), manifest());
        let pushed = bench.store(&server).push(&descriptor, &bytes).await;
        let is_error = matches!(
            pushed,
            Err(StoreError::Disturbed { .. } | StoreError::Rejected { .. } | StoreError::Denied { .. })
        );
        assert!(is_error, "{pushed:?}");
        assert_eq!(puts(&server), want);
    }
}

#[tokio::test]
async fn who_is_denied_to_the_end_what_is_there_is_not_told_that_the_source_is_damaged() {
    let lasting = reply(400).error("DIGEST_INVALID", "provided digest did not match uploaded content");
    let (server, bench, (descriptor, bytes)) = (denying(lasting, 99, None), bench(), manifest());
    let pushed = bench.store(&server).push(&descriptor, &bytes).await;
    assert!(pushed.as_ref().is_err_and(StoreError::is_transient), "the same command may succeed");
    let want = format!(
        "HOST/x answered 400 to PUT /v2/x/manifests/{} although it has everything that this needs: provided digest did not match uploaded content (DIGEST_INVALID)",
        descriptor.digest
    );
    check_error(pushed, &server, &want);
}

#[tokio::test]
async fn a_manifest_that_was_written_and_is_denied_is_looked_for_again() {
    let (descriptor, bytes) = manifest();
    let served = bytes.clone();
    let server = Server::start(move |request, nth| match (request.method.as_str(), nth) {
        ("PUT", _) => reply(201),
        ("HEAD" | "GET", 0..=3) => reply(404),
        _ => manifest_reply(MANIFEST, &served),
    });
    let bench = bench();
    let store = bench.store(&server);
    store.push(&descriptor, &bytes).await.unwrap();
    assert!(store.exists(&descriptor).await.unwrap());
    assert_eq!(bench.retries(), 3);
    let other = Descriptor::of(MANIFEST, b"other");
    let elsewhere = Server::start(|_, _| reply(404));
    assert!(!bench.store(&elsewhere).exists(&other).await.unwrap());
    assert_eq!(elsewhere.requests().len(), 1, "what somebody else should have written is simply not there");
}
