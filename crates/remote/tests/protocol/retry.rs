//! When a request is made again.

use std::time::Duration;

use tofu_oci_remote::{ClientOptions, NoCredentials};
use tofu_oci_store::{ReadStore as _, StoreError};

use crate::server::{Reply, Server, hang_up, reply};
use crate::support::{Bench, bench, bench_with, blob, check_error};

/// Answers the first request with this, all later ones with 200.
async fn asked(first: Reply) -> (Bench, Server, Result<bool, StoreError>) {
    let server = Server::start(move |_, nth| if nth == 0 { first.clone() } else { reply(200) });
    let bench = bench();
    let got = bench.store(&server).exists(&blob(b"x")).await;
    (bench, server, got)
}

#[tokio::test]
async fn transient_answers_and_broken_connections_are_tried_again() {
    for first in [reply(408), reply(429), reply(500), reply(502), reply(503), reply(504), reply(522), hang_up()] {
        let (bench, server, got) = asked(first).await;
        assert!(got.unwrap());
        assert_eq!(server.requests().len(), 2);
        assert_eq!(bench.retries(), 1);
        assert!(bench.clock.0.lock().unwrap()[0] <= Duration::from_millis(500));
    }
}

#[tokio::test]
async fn lasting_answers_are_not_tried_again() {
    for status in [400, 401, 403, 416, 501] {
        let server = Server::start(move |_, _| reply(status));
        assert!(bench().store(&server).exists(&blob(b"x")).await.is_err());
        assert_eq!(server.requests().len(), 1, "{status}");
    }
}

#[tokio::test]
async fn five_attempts_are_made_and_no_more() {
    let server = Server::start(|_, _| reply(503).error("BUSY", "come back"));
    let bench = bench();
    let got = bench.store(&server).exists(&blob(b"x")).await;
    let digest = blob(b"x").digest;
    // The answer to a HEAD has no body.
    check_error(got, &server, &format!("HOST/x answered 503 to HEAD /v2/x/blobs/{digest}: service unavailable"));
    assert_eq!((server.requests().len(), bench.retries()), (5, 4));
    let waits = bench.clock.0.lock().unwrap().clone();
    for (wait, bound) in waits.iter().zip([500, 1000, 2000, 4000]) {
        assert!(*wait <= Duration::from_millis(bound));
    }
}

#[tokio::test]
async fn retry_after_is_kept_in_seconds_and_as_a_date() {
    let (bench, _server, got) = asked(reply(429).header("retry-after", "7")).await;
    assert!(got.unwrap());
    assert_eq!(*bench.clock.0.lock().unwrap(), [Duration::from_secs(7)]);
    // The tests' clock says Fri, 15 Jan 2027 08:00:00 GMT.
    let (bench, _server, got) = asked(reply(503).header("retry-after", "Fri, 15 Jan 2027 08:01:30 GMT")).await;
    assert!(got.unwrap());
    assert_eq!(*bench.clock.0.lock().unwrap(), [Duration::from_secs(90)]);
}

#[tokio::test]
async fn an_absurd_retry_after_is_an_error_and_not_a_wait() {
    let (bench, server, got) = asked(reply(429).header("retry-after", "86400")).await;
    check_error(got, &server, "HOST/x asks to wait 86400 s before trying again");
    assert!(bench.clock.0.lock().unwrap().is_empty());
    let options = ClientOptions { max_retry_after: Duration::from_secs(1), ..ClientOptions::default() };
    let server = Server::start(|_, _| reply(429).header("retry-after", "2"));
    let bench = bench_with(options, std::sync::Arc::new(NoCredentials));
    let got = bench.store(&server).tags().await;
    assert!(matches!(got, Err(StoreError::RateLimited { seconds: 2, .. })));
}
