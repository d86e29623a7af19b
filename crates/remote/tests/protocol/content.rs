//! Manifests: what is believed of them.

use tofu_oci_store::{Pushed, ReadStore as _, Store as _, StoreError};
use tofu_oci_types::{Descriptor, Digest, Reference};

use crate::server::{Reply, Server, reply};
use crate::support::{INDEX, MANIFEST, check_error, index, manifest_reply, read, store};

fn tag() -> Reference {
    Reference::Tag("1.0.0".parse().unwrap())
}

async fn resolved(answer: impl Fn(&str) -> Reply + Send + Sync + 'static) -> (Result<Descriptor, StoreError>, Server) {
    let server = Server::start(move |request, _| answer(&request.method));
    (store(&server).resolve(&tag()).await, server)
}

#[tokio::test]
async fn a_manifest_is_had_with_one_get() {
    let server = Server::start(|_, _| manifest_reply(INDEX, &index()));
    let (descriptor, bytes) = store(&server).manifest(&tag()).await.unwrap();
    assert_eq!((descriptor, bytes), (Descriptor::of(INDEX, &index()), index()));
    assert_eq!(server.lines(), ["GET /v2/x/manifests/1.0.0"]);
    let accept = server.requests()[0].header("accept").map(ToOwned::to_owned);
    assert!(accept.is_some_and(|accept| accept.contains(INDEX)));
}

#[tokio::test]
async fn a_tag_is_resolved_by_one_head_with_one_accept_header() {
    let (found, server) = resolved(|_| manifest_reply(INDEX, &index())).await;
    assert_eq!(found.unwrap(), Descriptor::of(INDEX, &index()));
    assert_eq!(server.lines(), ["HEAD /v2/x/manifests/1.0.0"]);
    let accept = server.requests()[0].header("accept").unwrap().to_owned();
    assert_eq!(accept.split(", ").count(), 4, "{accept}");
}

#[tokio::test]
async fn a_head_that_says_too_little_is_followed_by_a_get() {
    for status in [405, 404, 200] {
        let (found, server) = resolved(move |method| match method {
            "HEAD" => reply(status),
            _ => reply(200).header("content-type", format!("{INDEX}; charset=utf-8")).body(index()),
        })
        .await;
        assert_eq!(found.unwrap(), Descriptor::of(INDEX, &index()), "HEAD {status}");
        assert_eq!(server.lines(), ["HEAD /v2/x/manifests/1.0.0", "GET /v2/x/manifests/1.0.0"]);
    }
}

#[tokio::test]
async fn a_missing_content_type_is_made_good_by_the_body() {
    let (found, _server) = resolved(|method| reply(if method == "HEAD" { 405 } else { 200 }).body(index())).await;
    assert_eq!(found.unwrap().media_type, INDEX);
}

#[tokio::test]
async fn an_unknown_tag_and_an_unknown_repository_are_told_apart() {
    let (found, server) = resolved(|_| reply(404).error("MANIFEST_UNKNOWN", "no")).await;
    check_error(found, &server, "HOST/x has no tag 1.0.0");
    let (found, server) = resolved(|_| reply(404).error("NAME_UNKNOWN", "no")).await;
    check_error(found, &server, "there is no repository HOST/x");
    let (found, server) =
        resolved(|_| reply(404).header("content-type", "text/plain").body("404 page not found")).await;
    check_error(found, &server, "HOST/x has no tag 1.0.0");
}

#[tokio::test]
async fn a_form_that_is_not_accepted_is_no_missing_tag() {
    let message = "OCI index found, but accept header does not support OCI indexes";
    let (found, _server) = resolved(move |_| reply(404).error("MANIFEST_UNKNOWN", message)).await;
    assert!(matches!(found, Err(StoreError::Malformed { .. })), "{found:?}");
}

#[tokio::test]
async fn a_wrong_docker_content_digest_is_refused() {
    let wrong = Digest::sha256(b"other").to_string();
    let (found, _server) = resolved(move |method| match method {
        "HEAD" => reply(405),
        _ => reply(200).header("content-type", INDEX).header("docker-content-digest", wrong.clone()).body(index()),
    })
    .await;
    assert!(matches!(found, Err(StoreError::DigestMismatch { .. })), "{found:?}");
}

#[tokio::test]
async fn a_malformed_digest_never_reaches_a_path() {
    let (found, _server) = resolved(|_| {
        reply(200).header("content-type", INDEX).header("docker-content-digest", "sha256:../../etc").body(index())
    })
    .await;
    assert!(matches!(found, Err(StoreError::Malformed { .. })), "{found:?}");
}

async fn fetched(descriptor: Descriptor, answer: Reply) -> Result<bytes::Bytes, StoreError> {
    let server = Server::start(move |_, _| answer.clone());
    read(&store(&server), &descriptor).await
}

#[tokio::test]
async fn raw_bytes_are_kept() {
    let odd = bytes::Bytes::from_static(br#"{ "manifests" : [ ] , "odd":1, "odd":2 }"#);
    let descriptor = Descriptor::of(INDEX, &odd);
    assert_eq!(fetched(descriptor, manifest_reply(INDEX, &odd)).await.unwrap(), odd);
}

#[tokio::test]
async fn a_body_that_is_not_the_digests_is_refused() {
    let other = br#"{"manifests":[],"x":1}"#;
    let got = fetched(Descriptor::of(INDEX, &index()), reply(200).header("content-type", INDEX).body(*other)).await;
    assert!(matches!(got, Err(StoreError::DigestMismatch { .. })), "{got:?}");
}

#[tokio::test]
async fn a_size_that_is_not_the_descriptors_is_refused() {
    let mut descriptor = Descriptor::of(INDEX, &index());
    descriptor.size += 1;
    let got = fetched(descriptor, manifest_reply(INDEX, &index())).await;
    assert!(matches!(got, Err(StoreError::SizeMismatch { .. })), "{got:?}");
}

#[tokio::test]
async fn media_types_of_body_header_and_descriptor_must_agree() {
    let got = fetched(Descriptor::of(INDEX, &index()), manifest_reply(MANIFEST, &index())).await;
    assert!(matches!(got, Err(StoreError::Malformed { .. })), "{got:?}");
    let got = fetched(Descriptor::of(MANIFEST, &index()), manifest_reply(INDEX, &index())).await;
    assert!(matches!(got, Err(StoreError::Malformed { .. })), "{got:?}");
}

#[tokio::test]
async fn a_document_that_is_index_and_manifest_is_refused() {
    let both = br#"{"manifests":[],"layers":[],"config":{}}"#;
    let got = fetched(Descriptor::of(INDEX, both), manifest_reply(INDEX, both)).await;
    assert!(matches!(got, Err(StoreError::Malformed { .. })), "{got:?}");
}

#[tokio::test]
async fn a_manifest_of_100_mb_is_not_read() {
    let mut descriptor = Descriptor::of(INDEX, &index());
    descriptor.size = 100 << 20;
    let got = fetched(descriptor, reply(200).header("content-type", INDEX).body(vec![b' '; 100 << 20])).await;
    assert!(matches!(got, Err(StoreError::TooLarge { limit: 4_194_304, .. })), "{got:?}");
}

#[tokio::test]
async fn a_manifest_with_an_unknown_content_encoding_is_refused() {
    let answer = manifest_reply(INDEX, &index()).header("content-encoding", "br");
    let got = fetched(Descriptor::of(INDEX, &index()), answer).await;
    assert!(matches!(got, Err(StoreError::Malformed { .. })), "{got:?}");
}

#[tokio::test]
async fn an_index_with_too_many_entries_is_refused() {
    let many = format!(r#"{{"manifests":[{}0]}}"#, "0,".repeat(1000));
    let got = fetched(Descriptor::of(INDEX, many.as_bytes()), manifest_reply(INDEX, many.as_bytes())).await;
    assert!(matches!(got, Err(StoreError::Malformed { .. })), "{got:?}");
}

#[tokio::test]
async fn a_digest_of_an_unknown_algorithm_is_not_trusted() {
    let descriptor = Descriptor::new(INDEX, "blake3:aa".parse().unwrap(), index().len() as u64);
    let got = fetched(descriptor, reply(200).header("content-type", INDEX).body(index())).await;
    assert!(matches!(got, Err(StoreError::UnsupportedDigest { .. })), "{got:?}");
}

#[tokio::test]
async fn a_manifest_is_pushed_by_digest_and_tagged_with_the_same_bytes() {
    // No Location in any answer: some registries give none.
    let server = Server::start(|request, _| reply(if request.method == "PUT" { 201 } else { 404 }));
    let (store, bytes) = (store(&server), index());
    let descriptor = Descriptor::of(INDEX, &bytes);
    assert_eq!(store.push(&descriptor, &bytes).await.unwrap(), Pushed::Uploaded);
    store.tag(&descriptor, &"1.0.0".parse().unwrap()).await.unwrap();
    let path = format!("/v2/x/manifests/{}", descriptor.digest);
    let want = [format!("HEAD {path}"), format!("PUT {path}"), "PUT /v2/x/manifests/1.0.0".to_owned()];
    assert_eq!(server.lines(), want);
    let requests = server.requests();
    assert!(requests[1..].iter().all(|request| request.body == bytes && request.header("content-type") == Some(INDEX)));
}

#[tokio::test]
async fn a_manifest_that_is_there_is_not_sent() {
    let server = Server::start(|_, _| reply(200));
    let outcome = store(&server).push(&Descriptor::of(INDEX, &index()), &index()).await;
    assert_eq!(outcome.unwrap(), Pushed::Present);
    assert_eq!(server.requests().len(), 1);
}

#[tokio::test]
async fn a_manifest_that_is_not_the_descriptors_is_never_sent() {
    let server = Server::start(|_, _| reply(201));
    let outcome = store(&server).push(&Descriptor::of(INDEX, b"{}"), &index()).await;
    assert!(matches!(outcome, Err(StoreError::SizeMismatch { .. })));
    assert!(server.requests().is_empty());
}

#[tokio::test]
async fn a_manifest_stored_under_another_digest_is_an_error() {
    let server = Server::start(|request, _| match request.method.as_str() {
        "PUT" => reply(201).header("docker-content-digest", Digest::sha256(b"other").to_string()),
        _ => reply(404),
    });
    let outcome = store(&server).push(&Descriptor::of(INDEX, &index()), &index()).await;
    assert!(matches!(outcome, Err(StoreError::DigestMismatch { .. })));
}

/// A registry whose tags cannot be written twice, with the digest that the tag has.
fn immutable(tagged: &'static [u8]) -> Server {
    Server::start(move |request, _| match (request.method.as_str(), request.path()) {
        ("PUT", "/v2/x/manifests/1.0.0") => {
            let error = r#"{"code":"TAG_INVALID","message":"the tag is immutable","detail":"written on Monday"}"#;
            reply(400).header("content-type", "application/json").body(format!(r#"{{"errors":[{error}]}}"#))
        }
        ("PUT", _) => reply(201),
        ("HEAD" | "GET", "/v2/x/manifests/1.0.0") => manifest_reply(INDEX, tagged),
        _ => reply(404),
    })
}

const ONE: &[u8] = br#"{"schemaVersion":2,"mediaType":"application/vnd.oci.image.index.v1+json","manifests":[]}"#;
const OTHER: &[u8] = br#"{"schemaVersion":2,"mediaType":"application/vnd.oci.image.index.v1+json","manifests": []}"#;

#[tokio::test]
async fn an_immutable_tag_that_names_the_manifest_already_is_no_error() {
    let server = immutable(ONE);
    let (store, index) = (store(&server), Descriptor::of(INDEX, ONE));
    store.push(&index, &bytes::Bytes::from(ONE)).await.unwrap();
    store.tag(&index, &"1.0.0".parse().unwrap()).await.unwrap();
}

#[tokio::test]
async fn an_immutable_tag_that_names_another_manifest_is_an_error_with_the_registrys_words() {
    let server = immutable(OTHER);
    let (store, index) = (store(&server), Descriptor::of(INDEX, ONE));
    store.push(&index, &bytes::Bytes::from(ONE)).await.unwrap();
    let got = store.tag(&index, &"1.0.0".parse().unwrap()).await;
    let want =
        "HOST/x answered 400 to PUT /v2/x/manifests/1.0.0: the tag is immutable: written on Monday (TAG_INVALID)";
    check_error(got, &server, want);
}
