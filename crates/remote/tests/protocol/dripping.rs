//! Transfers that get on by a little at a time.

use std::sync::Arc;

use tofu_oci_remote::{ChunkMode, ClientOptions, NoCredentials};
use tofu_oci_store::{Store as _, StoreError};

use crate::server::{Server, reply};
use crate::support::{bench, bench_with, blob, check_error, noise, read};

#[tokio::test]
async fn a_registry_that_keeps_a_byte_of_each_chunk_is_given_up() {
    let server = Server::start(|request, nth| match request.method.as_str() {
        "POST" => reply(202).header("location", "/u/1"),
        // Then the test has failed.
        "PATCH" if nth > 100 => reply(403),
        "PATCH" => reply(202).header("location", "/u/1").header("range", format!("0-{nth}")),
        "DELETE" => reply(204),
        _ => reply(404),
    });
    let options = ClientOptions { chunk: ChunkMode::Always, ..ClientOptions::default() };
    let bytes = noise(200_000);
    let store = bench_with(options, Arc::new(NoCredentials)).store(&server);
    let got = store.push(&blob(&bytes), &bytes).await;
    let want = "HOST/x is not usable: a chunked upload does not get on: 11 times in a row it kept less than 65536 bytes of \
        a chunk";
    check_error(got, &server, want);
    assert_eq!(server.requests().last().unwrap().method, "DELETE");
}

/// What has come is sent once more with each answer: without an end to that, a blob of 2 GiB would come 16,000 times.
#[tokio::test]
async fn a_registry_without_ranges_that_breaks_again_and_again_is_given_up() {
    const SIZE: usize = 8_000_000;
    let bytes = noise(SIZE);
    let served = bytes.clone();
    let server = Server::start(move |_, nth| reply(200).body(served.clone()).cut(70_000 * (nth + 1)));
    let got = read(&bench().store(&server), &blob(&bytes)).await.map(|bytes| bytes.len());
    assert!(matches!(got, Err(StoreError::Unreachable { .. })), "{got:?}");
    // 70,000 bytes count as progress until 16 times as many come with them.
    assert_eq!(server.requests().len(), 17 + 4);
}
