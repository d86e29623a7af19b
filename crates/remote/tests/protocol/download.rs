//! Blobs on their way down.

use bytes::Bytes;
use tofu_oci_store::{ReadStore as _, StoreError};

use crate::server::{Reply, Request, Server, reply};
use crate::support::{bench, blob, noise, read, store};

const SIZE: usize = 300_000;

/// Serves the bytes, whole or from the start that is asked for.
fn part(request: &Request, bytes: &Bytes) -> Reply {
    let Some(start) = request.header("range").and_then(|range| range.strip_prefix("bytes=")?.strip_suffix('-')) else {
        return reply(200).header("etag", "\"v1\"").body(bytes.clone());
    };
    let start: usize = start.parse().unwrap();
    assert!(start < bytes.len(), "never asks beyond the end");
    reply(206)
        .header("content-range", format!("bytes {start}-{}/{}", bytes.len() - 1, bytes.len()))
        .body(bytes.slice(start..))
}

#[tokio::test]
async fn a_blob_comes_in_one_request() {
    let bytes = noise(SIZE);
    let served = bytes.clone();
    let server = Server::start(move |request, _| part(request, &served));
    assert_eq!(read(&store(&server), &blob(&bytes)).await.unwrap(), bytes);
    assert_eq!(server.requests().len(), 1);
}

#[tokio::test]
async fn an_empty_blob_comes() {
    let server = Server::start(|_, _| reply(200));
    assert_eq!(read(&store(&server), &blob(b"")).await.unwrap(), "");
}

#[tokio::test]
async fn a_broken_download_goes_on_where_it_broke() {
    let bytes = noise(SIZE);
    let served = bytes.clone();
    let server = Server::start(move |request, nth| {
        let answer = part(request, &served);
        if nth < 2 { answer.cut(70_000) } else { answer }
    });
    let bench = bench();
    assert_eq!(read(&bench.store(&server), &blob(&bytes)).await.unwrap(), bytes);
    let requests = server.requests();
    assert_eq!(requests[1].header("range"), Some("bytes=70000-"));
    assert_eq!(requests[1].header("if-range"), Some("\"v1\""));
    assert_eq!(requests[2].header("range"), Some("bytes=140000-"));
    assert_eq!(bench.retries(), 2);
}

#[tokio::test]
async fn a_registry_without_ranges_is_read_again_from_the_start() {
    let bytes = noise(SIZE);
    let served = bytes.clone();
    let server = Server::start(move |_, nth| {
        let answer = reply(200).body(served.clone());
        if nth == 0 { answer.cut(100_000) } else { answer }
    });
    assert_eq!(read(&store(&server), &blob(&bytes)).await.unwrap(), bytes);
    assert_eq!(server.requests().len(), 2);
}

#[tokio::test]
async fn a_part_that_begins_elsewhere_is_not_taken() {
    let bytes = noise(SIZE);
    let served = bytes.clone();
    let server = Server::start(move |request, nth| match (nth, request.header("range")) {
        (0, _) => reply(200).body(served.clone()).cut(100_000),
        (_, Some(_)) => reply(206).header("content-range", format!("bytes 0-{}/{SIZE}", SIZE - 1)).body(served.clone()),
        (_, None) => reply(200).body(served.clone()),
    });
    assert_eq!(read(&store(&server), &blob(&bytes)).await.unwrap(), bytes);
    assert_eq!(server.requests().len(), 3);
    assert_eq!(server.requests()[2].header("range"), None);
}

#[tokio::test]
async fn a_416_closes_the_connection_and_asks_for_the_whole() {
    let bytes = noise(SIZE);
    let served = bytes.clone();
    let server = Server::start(move |request, nth| match (nth, request.header("range")) {
        (0, _) => reply(200).body(served.clone()).cut(100_000),
        // As registry:2 answers: the length of the blob, and a body that is shorter.
        (_, Some(_)) => reply(416).header("content-length", SIZE.to_string()).body("out of range"),
        (_, None) => reply(200).body(served.clone()),
    });
    assert_eq!(read(&store(&server), &blob(&bytes)).await.unwrap(), bytes);
}

#[tokio::test]
async fn a_download_that_never_gets_on_ends() {
    let bytes = noise(SIZE);
    let served = bytes.clone();
    let server = Server::start(move |request, _| part(request, &served).cut(10));
    let bench = bench();
    let got = read(&bench.store(&server), &blob(&bytes)).await;
    assert!(matches!(got, Err(StoreError::Unreachable { .. })), "{got:?}");
    assert_eq!(server.requests().len(), 5);
}

#[tokio::test]
async fn a_blob_of_another_size_is_refused_before_it_is_read() {
    for length in [SIZE - 1, SIZE + 1] {
        let server = Server::start(move |_, _| reply(200).body(noise(length)));
        let got = store(&server).fetch(&blob(&noise(SIZE))).await.map(|_| ());
        assert!(matches!(got, Err(StoreError::SizeMismatch { .. })), "{got:?}");
    }
}

#[tokio::test]
async fn an_endless_blob_is_cut_at_its_size() {
    let chunk = || [format!("{:x}\r\n", SIZE / 2).into_bytes(), noise(SIZE / 2).to_vec(), b"\r\n".to_vec()].concat();
    let server = Server::start(move |_, _| {
        reply(200).header("transfer-encoding", "chunked").body([chunk(), chunk(), chunk(), chunk()].concat())
    });
    let got = read(&store(&server), &blob(&noise(SIZE))).await;
    assert!(matches!(got, Err(StoreError::SizeMismatch { .. } | StoreError::DigestMismatch { .. })), "{got:?}");
    assert_eq!(server.requests().len(), 1);
}

#[tokio::test]
async fn a_damaged_blob_is_refused() {
    let server = Server::start(|_, _| reply(200).body(vec![0; SIZE]));
    let got = read(&store(&server), &blob(&noise(SIZE))).await;
    assert!(matches!(got, Err(StoreError::DigestMismatch { .. })), "{got:?}");
}

#[tokio::test]
async fn descriptors_urls_are_not_followed() {
    let server = Server::start(|_, _| reply(404).error("BLOB_UNKNOWN", "no"));
    let got = read(&store(&server), &blob(b"x")).await;
    assert!(matches!(got, Err(StoreError::NotFound { .. })), "{got:?}");
    assert_eq!(server.requests().len(), 1);
}

#[tokio::test]
async fn presence_is_asked_by_head_and_by_one_byte_where_head_is_unknown() {
    let server = Server::start(|request, _| reply(if request.method == "HEAD" { 405 } else { 206 }));
    assert!(store(&server).exists(&blob(b"x")).await.unwrap());
    assert_eq!(server.requests()[1].header("range"), Some("bytes=0-0"));
    let server = Server::start(|_, _| reply(404));
    assert!(!store(&server).exists(&blob(b"x")).await.unwrap());
}
