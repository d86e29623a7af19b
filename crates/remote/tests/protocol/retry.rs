//! When a request is made again.

use std::time::Duration;

use tofu_oci_http::HttpOptions;
use tofu_oci_remote::NoCredentials;
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
    let waits = bench.clock.0.lock().unwrap().clone();
    assert!(waits.len() == 1 && (7..=8).contains(&waits[0].as_secs()), "never shorter, and not all at once: {waits:?}");
    // The tests' clock says Fri, 15 Jan 2027 08:00:00 GMT.
    let (bench, _server, got) = asked(reply(503).header("retry-after", "Fri, 15 Jan 2027 08:01:30 GMT")).await;
    assert!(got.unwrap());
    let waits = bench.clock.0.lock().unwrap().clone();
    assert!(waits.len() == 1 && (90..=91).contains(&waits[0].as_secs()), "{waits:?}");
}

#[tokio::test]
async fn an_absurd_retry_after_is_an_error_and_not_a_wait() {
    let (bench, server, got) = asked(reply(429).header("retry-after", "86400")).await;
    check_error(got, &server, "HOST/x asks to wait 86400 s before trying again");
    assert!(bench.clock.0.lock().unwrap().is_empty());
    let options = HttpOptions { max_retry_after: Duration::from_secs(1), ..HttpOptions::default() };
    let server = Server::start(|_, _| reply(429).header("retry-after", "2"));
    let bench = bench_with(options, std::sync::Arc::new(NoCredentials));
    let got = bench.store(&server).tags().await;
    assert!(matches!(got, Err(StoreError::RateLimited { seconds: 2, .. })));
}

#[tokio::test]
async fn a_limit_of_requests_does_not_exhaust_the_attempts() {
    let server = Server::start(|_, nth| if nth < 20 { reply(429).header("retry-after", "1") } else { reply(200) });
    let bench = bench();
    assert!(bench.store(&server).exists(&blob(b"x")).await.unwrap());
    assert_eq!((server.requests().len(), bench.retries()), (21, 20));
}

#[tokio::test]
async fn a_registry_that_never_has_enough_ends_the_wait() {
    let server = Server::start(|_, _| reply(429).header("retry-after", "30"));
    let bench = bench();
    let got = bench.store(&server).exists(&blob(b"x")).await;
    check_error(got, &server, "HOST/x asks to wait 30 s before trying again");
    assert_eq!(server.requests().len(), 5, "four waits of 30 s are two minutes");
}

#[tokio::test]
async fn who_is_told_to_slow_down_holds_up_all_requests_to_that_host_and_no_others() {
    let server = Server::start(|_, nth| if nth == 0 { reply(429).header("retry-after", "60") } else { reply(200) });
    let other = Server::start(|_, _| reply(200));
    let bench = bench();
    assert!(bench.store(&server).exists(&blob(b"x")).await.unwrap());
    assert_eq!(bench.clock.0.lock().unwrap().len(), 1);
    assert!(bench.store(&other).exists(&blob(b"x")).await.unwrap());
    assert_eq!(bench.clock.0.lock().unwrap().len(), 1);
    // The tests' clock does not wait, so that the pause is not over yet.
    assert!(bench.store(&server).exists(&blob(b"x")).await.unwrap());
    let waits = bench.clock.0.lock().unwrap().clone();
    assert!(waits.len() == 2 && waits[1] > Duration::from_secs(30), "{waits:?}");
    assert_eq!(bench.retries(), 1);
}

#[tokio::test]
async fn a_registry_that_was_there_is_waited_for_and_one_that_never_was_is_not() {
    let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let host = listener.local_addr().unwrap().to_string();
    let bench = bench();
    let answering = std::thread::spawn(move || {
        // The first connection asks whether this is TLS.
        for _ in 0..2 {
            use std::io::{Read as _, Write as _};
            let (mut stream, _) = listener.accept().unwrap();
            let _ = stream.read(&mut [0; 1024]);
            let _ = stream.write_all(b"HTTP/1.1 200 OK\r\ncontent-length: 0\r\nconnection: close\r\n\r\n");
        }
    });
    let store = bench.client.store(format!("{host}/x").parse().unwrap());
    assert!(store.exists(&blob(b"x")).await.unwrap());
    answering.join().unwrap();
    let error = store.exists(&blob(b"x")).await.unwrap_err();
    assert!(matches!(error, StoreError::Unreachable { .. }), "{error}");
    assert_eq!(bench.retries(), 4, "it may be restarting");
}
