//! Documents that break on their way down: manifests, lists, tokens.

use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use tofu_oci_http::{HttpLimits, HttpOptions};
use tofu_oci_remote::NoCredentials;
use tofu_oci_store::{ReadStore as _, StoreError};
use tofu_oci_types::{Digest, Event, Reference};

use crate::server::{Reply, Request, Server, reply, stall};
use crate::support::{Bench, INDEX, bench, bench_with, blob, index, manifest_reply, noise, read};

/// What is asked, and what becomes of it.
type Asking = fn(&Bench, &Server) -> futures_util::future::BoxFuture<'static, Result<String, StoreError>>;

fn tag() -> Reference {
    "1.0.0".parse().map(Reference::Tag).unwrap()
}

/// Every read of a document.
fn readings() -> Vec<(&'static str, Reply, Asking)> {
    let referrers = Bytes::from(format!(
        r#"{{"manifests":[{{"mediaType":"{INDEX}","digest":"{}","size":2}}]}}"#,
        Digest::sha256(b"{}")
    ));
    let list = reply(200).header("content-type", INDEX).body(referrers);
    vec![
        ("manifest", manifest_reply(INDEX, &index()), |bench, server| {
            let store = bench.store(server);
            Box::pin(async move { Ok(store.manifest(&tag()).await?.0.digest.to_string()) })
        }),
        ("unverified manifest", manifest_reply(INDEX, &index()), |bench, server| {
            let store = bench.store(server);
            Box::pin(async move { Ok(store.manifest_unverified(&tag(), 4096).await?.bytes.len().to_string()) })
        }),
        ("tags", reply(200).body(r#"{"name":"x","tags":["1.0.0"]}"#), |bench, server| {
            let store = bench.store(server);
            Box::pin(async move { Ok(format!("{:?}", store.tags().await?)) })
        }),
        ("referrers", list, |bench, server| {
            let store = bench.store(server);
            Box::pin(async move { Ok(format!("{:?}", store.referrers(&Digest::sha256(b"x")).await?)) })
        }),
    ]
}

/// A registry without a tag that stands in for the referrers API.
fn serve(answer: impl Fn(usize) -> Reply + Send + Sync + 'static) -> Server {
    Server::start(move |request, nth| if stands_in(request) { reply(404) } else { answer(nth) })
}

fn stands_in(request: &Request) -> bool {
    request.path().contains("/manifests/sha256-")
}

/// How many requests there were.
fn asked(server: &Server) -> usize {
    server.requests().iter().filter(|request| !stands_in(request)).count()
}

#[tokio::test]
async fn a_document_that_breaks_once_is_read_again() {
    for (what, whole, ask) in readings() {
        let served = whole.clone();
        let bench = bench();
        let want = ask(&bench, &serve(move |_| served.clone())).await.unwrap();
        for cut in [0, 1, 20] {
            let served = whole.clone();
            let server = serve(move |nth| if nth == 0 { served.clone().cut(cut) } else { served.clone() });
            let bench = self::bench();
            assert_eq!(ask(&bench, &server).await.unwrap(), want, "{what}, cut at {cut}");
            assert_eq!((asked(&server), bench.retries()), (2, 1), "{what}, cut at {cut}");
        }
    }
}

#[tokio::test]
async fn a_document_that_is_too_short_once_is_read_again() {
    for (what, whole, ask) in readings() {
        let server = serve(move |nth| if nth == 0 { whole.clone().shortened(10) } else { whole.clone() });
        let got = ask(&bench(), &server).await;
        assert!(got.is_ok(), "{what}: {got:?}");
        assert_eq!(asked(&server), 2, "{what}");
    }
}

#[tokio::test]
async fn a_document_that_always_breaks_ends_with_words_of_ours() {
    for (what, whole, ask) in readings() {
        let server = serve(move |_| whole.clone().cut(5));
        let bench = bench();
        let error = ask(&bench, &server).await.unwrap_err().to_string().replace(&server.host(), "HOST");
        assert_eq!(error, "cannot reach HOST/x: connection closed before the end of the answer", "{what}");
        assert_eq!(asked(&server), 5, "{what}");
    }
}

#[tokio::test]
async fn the_second_page_of_a_list_is_read_again_too() {
    let server = Server::start(|request, nth| match (request.target.contains("last="), nth) {
        (false, _) => reply(200).header("link", r#"</v2/x/tags/list?last=1>; rel="next""#).body(r#"{"tags":["1"]}"#),
        (true, 1) => reply(200).body(r#"{"tags":["2"]}"#).cut(3),
        (true, _) => reply(200).body(r#"{"tags":["2"]}"#),
    });
    assert_eq!(bench().store(&server).tags().await.unwrap().len(), 2);
    assert_eq!(server.requests().len(), 3);
}

#[tokio::test]
async fn an_answer_without_length_and_end_is_taken_when_it_is_complete() {
    for (what, whole, ask) in readings() {
        let server = serve(move |_| whole.clone().endless());
        let bench = bench();
        let got = ask(&bench, &server).await;
        assert!(got.is_ok(), "{what}: {got:?}");
        assert_eq!((asked(&server), bench.retries()), (1, 0), "{what}");
    }
    let bytes = noise(100_000);
    let served = bytes.clone();
    let server = Server::start(move |_, _| reply(200).body(served.clone()).endless());
    let bench = bench();
    assert_eq!(read(&bench.store(&server), &blob(&bytes)).await.unwrap(), bytes);
    assert_eq!((server.requests().len(), bench.retries()), (1, 0));
}

/// A client that has hardly any patience.
fn hasty() -> Bench {
    let options = HttpOptions { limits: HttpLimits::within(Duration::from_millis(400)), ..HttpOptions::default() };
    bench_with(options, Arc::new(NoCredentials))
}

#[tokio::test]
async fn a_trickle_below_the_floor_ends() {
    let server = Server::start(|_, _| reply(200).header("content-length", "100000").body("ab").endless());
    let got = read(&hasty().store(&server), &blob(&noise(100_000))).await;
    let Err(StoreError::Unreachable { problem, .. }) = got else { panic!("{got:?}") };
    assert!(problem.contains("timed out: ") && problem.contains("of 100000 bytes"), "{problem}");
    for (what, _, ask) in readings() {
        let server = Server::start(|_, _| {
            reply(200).header("content-type", INDEX).header("content-length", "1000").body("{").endless()
        });
        let error = ask(&hasty(), &server).await.unwrap_err().to_string();
        assert!(error.contains("timed out: "), "{what}: {error}");
    }
}

#[tokio::test]
async fn who_waits_says_for_whom() {
    let server = Server::start(|_, _| stall());
    let bench = hasty();
    let error = bench.store(&server).tags().await.unwrap_err().to_string();
    assert!(error.contains("timed out: no answer came for "), "{error}");
    let events = bench.events.0.lock().unwrap();
    let tries = 1 + events.iter().filter(|event| matches!(event, Event::Retrying { .. })).count();
    let waits: Vec<String> = events
        .iter()
        .filter_map(|event| match event {
            Event::Message { code: "waiting", text, .. } => Some(text.replace(&server.host(), "HOST")),
            _ => None,
        })
        .collect();
    assert!(!waits.is_empty() && waits.len() <= tries, "once a wait: {waits:?}");
    assert!(waits[0].starts_with("waiting for HOST: GET /v2/x/tags/list has got no further for "), "{waits:?}");
}
