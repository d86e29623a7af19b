//! Parts of blobs, and where a registry sends their readers.

use std::ops::Range;

use bytes::Bytes;
use futures_util::TryStreamExt as _;
use tofu_oci_credentials::Credential;
use tofu_oci_store::{BlobSender, ReadStore, StoreError};

use crate::server::{Reply, Request, Server, reply};
use crate::support::{bench_as, blob, noise, store};

const SIZE: usize = 300_000;

async fn read_part(store: &dyn ReadStore, bytes: &[u8], part: Range<u64>) -> Result<Bytes, StoreError> {
    let stream = store.fetch_range_unverified(&blob(bytes), part).await?;
    Ok(Bytes::from(stream.try_collect::<Vec<_>>().await?.concat()))
}

/// The part that is asked for.
fn part(request: &Request, bytes: &Bytes) -> Reply {
    let asked = request.header("range").and_then(|range| range.strip_prefix("bytes=")?.split_once('-'));
    let (first, last) = asked.map(|(first, last)| (first.parse().unwrap(), last.parse().unwrap())).unwrap();
    answer(bytes, first, last)
}

fn answer(bytes: &Bytes, first: usize, last: usize) -> Reply {
    let range = format!("bytes {first}-{last}/{}", bytes.len());
    reply(206).header("content-range", range).body(bytes.slice(first..=last))
}

fn ranges(server: &Server) -> Vec<String> {
    server.requests().iter().map(|request| request.header("range").unwrap_or("-").to_owned()).collect()
}

#[tokio::test]
async fn a_part_comes_in_one_request_and_goes_on_after_a_break() {
    let bytes = noise(SIZE);
    let served = bytes.clone();
    let server = Server::start(move |request, nth| {
        let answer = part(request, &served);
        if nth == 1 { answer.cut(90_000) } else { answer }
    });
    let store = store(&server);
    assert_eq!(read_part(&store, &bytes, 7..8).await.unwrap(), bytes[7..8]);
    assert_eq!(read_part(&store, &bytes, 100..200_000).await.unwrap(), bytes[100..200_000]);
    assert_eq!(ranges(&server), ["bytes=7-7", "bytes=100-199999", "bytes=90100-199999"]);
}

#[tokio::test]
async fn a_part_ends_where_it_was_to_end_whatever_the_registry_sends() {
    let bytes = noise(SIZE);
    for (nth, want) in [
        vec!["bytes=100-199999"],
        vec!["bytes=100-199999"],
        vec!["bytes=100-199999", "-"],
        vec!["bytes=100-199999", "-"],
    ]
    .into_iter()
    .enumerate()
    {
        let served = bytes.clone();
        let server = Server::start(move |request, _| match (nth, request.header("range")) {
            // Longer than asked for; the whole; another part; "beyond the end".
            (1, _) | (_, None) => reply(200).body(served.clone()),
            (0, _) => answer(&served, 100, SIZE - 1),
            (2, _) => answer(&served, 0, 199_999),
            _ => reply(416),
        });
        assert_eq!(read_part(&store(&server), &bytes, 100..200_000).await.unwrap(), bytes[100..200_000]);
        assert_eq!(ranges(&server), want);
    }
}

#[tokio::test]
async fn all_bytes_are_no_part() {
    let bytes = noise(SIZE);
    let served = bytes.clone();
    let server = Server::start(move |_, _| reply(200).body(served.clone()));
    assert_eq!(read_part(&store(&server), &bytes, 0..SIZE as u64).await.unwrap(), bytes);
    assert_eq!(ranges(&server), ["-"]);
}

#[tokio::test]
async fn readers_are_sent_to_other_hosts_over_tls_without_what_was_shown() {
    for (location, want) in [
        ("https://objects.test/x?signature=1", Some("https://objects.test/x?signature=1")),
        ("https://objects.test/x?of=dXNlcjpodW50ZXIy", None),
        ("https://objects.test/x?of=hunter2", None),
        ("http://127.0.0.1:9/x", None),
    ] {
        let server = Server::start(move |request, _| match request.header("authorization") {
            None => reply(401).header("www-authenticate", "Basic realm=\"a\""),
            Some(_) => reply(307).header("location", location),
        });
        let bench = bench_as(Credential::basic("user", "hunter2"));
        let sender = bench.store(&server).blob_sender(&blob(b"x")).await.unwrap();
        let BlobSender::OtherHost(found) = sender else { panic!("{location} is on another host") };
        assert_eq!(found.as_deref(), want, "{location}");
        assert_eq!(server.requests().len(), 2, "the other host is not asked");
    }
    let server = Server::start(|_, _| reply(307).header("location", "https://user@objects.test/x"));
    assert!(store(&server).blob_sender(&blob(b"x")).await.is_err());
    let far = format!("https://objects.test/{}", "x".repeat(20_000));
    let server = Server::start(move |_, _| reply(307).header("location", far.clone()));
    let error = store(&server).blob_sender(&blob(b"x")).await.err().unwrap().to_string();
    assert!(error.ends_with("it names an address of more than 16 KiB"), "{error}");
}

async fn sent(store: &impl ReadStore, bytes: &[u8]) -> Result<Vec<u8>, StoreError> {
    let BlobSender::Store(mut stream) = store.blob_sender(&blob(bytes)).await? else { panic!("the store sends it") };
    let mut read = Vec::new();
    while let Some(piece) = stream.try_next().await? {
        read.extend_from_slice(&piece);
    }
    Ok(read)
}

#[tokio::test]
async fn a_registry_that_sends_blobs_itself_sends_its_readers_nowhere() {
    let server = Server::start(|request, nth| match (nth, request.target.as_str()) {
        (0, _) => reply(200).body("x"),
        (_, path) if path.starts_with("/v2/") => reply(307).header("location", "/elsewhere"),
        _ => reply(200).body("x"),
    });
    let store = store(&server);
    assert_eq!(sent(&store, b"x").await.unwrap(), b"x");
    assert_eq!(sent(&store, b"x").await.unwrap(), b"x");
    assert_eq!(ranges(&server), ["-", "-", "-"]);
    assert_eq!(sent(&store, b"y").await.unwrap_err().code(), "blob-digest-mismatch");
}

#[tokio::test]
async fn a_registry_that_breaks_off_sent_its_reader_to_another_host_for_the_rest() {
    let bytes = noise(SIZE);
    let (served, elsewhere) = (bytes.clone(), Server::start(|_, _| reply(206).body("anything")));
    let location = format!("http://{}/x", elsewhere.host());
    let server = Server::start(move |_, nth| match nth {
        0 => reply(200).body(served.clone()).cut(100_000),
        _ => reply(307).header("location", location.clone()),
    });
    assert!(sent(&store(&server), &bytes).await.is_err());
    assert_eq!(elsewhere.lines(), [""; 0]);
}
