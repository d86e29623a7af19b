//! Token servers: what they answer, where they send us, and refresh tokens.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use tofu_oci_credentials::Credential;
use tofu_oci_http::{HttpOptions, RetryPolicy};
use tofu_oci_remote::ClientOptions;
use tofu_oci_store::{ReadStore, StoreError};
use tofu_oci_types::Secret;

use crate::server::{Reply, Request, Server, reply};
use crate::support::{Bench, Fixed, bench, bench_with};

/// A registry that takes every token.
fn registry(tokens: &Server) -> Server {
    let line = format!(r#"Bearer realm="http://{}/t",service="lab""#, tokens.host());
    Server::start(move |request, _| match request.header("authorization") {
        Some(_) => reply(200).body(r#"{"tags":[]}"#),
        None => reply(401).header("www-authenticate", line.clone()),
    })
}

fn once(credential: Credential) -> Bench {
    let retry = RetryPolicy { attempts: 1, ..RetryPolicy::default() };
    bench_with(HttpOptions { retry, ..HttpOptions::default() }, Arc::new(Fixed(credential)))
}

fn user() -> Credential {
    Credential::basic("user", "word")
}

/// The token that the registry sees, or the error's code.
async fn outcome(bench: &Bench, server: &Server) -> String {
    match bench.store(server).tags().await {
        Ok(_) => server.requests().pop().unwrap().header("authorization").unwrap().to_owned(),
        Err(error) => error.credential_code().unwrap_or_else(|| format!("no code: {error}")),
    }
}

async fn check(answer: Reply, want: &str) {
    let tokens = Server::start(move |_, _| answer.clone());
    let server = registry(&tokens);
    assert_eq!(outcome(&once(user()), &server).await, want);
    assert_eq!(tokens.requests().len(), 1);
}

#[tokio::test]
async fn answers_of_token_servers() {
    let good = |body: &str| reply(200).body(body);
    check(good(r#"{"access_token":"a"}"#), "Bearer a").await;
    check(good(r#"{"token":"t","access_token":"a"}"#), "Bearer a").await;
    check(good(r#"{"token":"t","expires_in":"soon"}"#), "Bearer t").await;
    check(good(r#"{"token":"t","expires_in":-1.5}"#), "Bearer t").await;
    check(good(r#"{"token":""}"#), "token-empty").await;
    check(good("{}"), "token-empty").await;
    check(good(r#"{"token":"a\nb"}"#), "token-empty").await;
    check(good("hello"), "token-not-json").await;
    check(good("[]"), "token-not-json").await;
    check(good(&" ".repeat((1 << 20) + 1)), "token-not-json").await;
}

#[tokio::test]
async fn a_status_of_a_token_server_is_final_unless_it_is_200() {
    for status in [201, 204, 400, 401, 403, 404, 405, 429, 500, 503] {
        let answer = reply(status).body(if status == 204 { "" } else { r#"{"token":"t"}"# });
        check(answer, &format!("token-server-status:{status}")).await;
    }
}

#[tokio::test]
async fn a_token_server_that_is_busy_is_asked_again_as_the_options_say() {
    let tokens = Server::start(|_, before| if before < 2 { reply(503) } else { reply(200).body(r#"{"token":"t"}"#) });
    let server = registry(&tokens);
    let bench = bench_with(ClientOptions::default(), Arc::new(Fixed(user())));
    assert_eq!(outcome(&bench, &server).await, "Bearer t");
    assert_eq!((tokens.requests().len(), bench.retries()), (3, 2));
}

#[tokio::test]
async fn who_shows_a_login_is_sent_on_within_the_origin_alone() {
    let elsewhere = Server::start(|_, _| reply(200).body(r#"{"token":"stolen"}"#));
    let other = elsewhere.host();
    let target = |location: &str| location.replace("OTHER", &other);
    for (location, want) in [
        ("/t2", "Bearer t"),
        ("http://OTHER/t2", "token-redirect"),
        ("//OTHER/t2", "token-redirect"),
        ("https://127.0.0.1/t2", "token-redirect"),
        ("http://10.1.2.3/t2", "token-redirect"),
        ("ftp://OTHER/t2", "token-redirect"),
    ] {
        let to = target(location);
        let tokens = Server::start(move |request, _| match request.path() {
            "/t2" => reply(200).body(r#"{"token":"t"}"#),
            _ => reply(307).header("location", to.clone()),
        });
        let server = registry(&tokens);
        for credential in [user(), Credential::IdentityToken(Secret::new("refresh"))] {
            assert_eq!(outcome(&once(credential), &server).await, want, "{location}");
        }
    }
    assert!(elsewhere.requests().is_empty());
}

#[tokio::test]
async fn who_shows_nothing_is_sent_on_by_the_rules_of_realms() {
    let elsewhere = Server::start(|_, _| reply(200).body(r#"{"token":"t"}"#));
    let there = format!("http://{}/t2", elsewhere.host());
    for (location, want) in [
        (there.as_str(), "Bearer t"),
        ("http://10.1.2.3/t2", "realm-private-address"),
        ("http://u:p@127.0.0.1/t2", "realm-user-info"),
        ("ftp://127.0.0.1/t2", "realm-scheme"),
    ] {
        let to = location.to_owned();
        let tokens = Server::start(move |_, _| reply(302).header("location", to.clone()));
        let server = registry(&tokens);
        assert_eq!(outcome(&bench(), &server).await, want, "{location}");
    }
    let around = Server::start(|_, _| reply(302).header("location", "/t"));
    let error = bench().store(&registry(&around)).tags().await.unwrap_err();
    assert!(matches!(error, StoreError::Forbidden { .. }), "{error}");
    assert_eq!(around.requests().len(), 11);
}

fn form(request: &Request) -> String {
    String::from_utf8(request.body.clone()).unwrap()
}

/// A token server that takes each refresh token once, and gives the next one with every answer.
fn rotating() -> Server {
    let given = AtomicUsize::new(0);
    Server::start(move |request, _| {
        let length: usize = request.header("content-length").unwrap_or("0").parse().unwrap();
        if request.body.len() < length {
            // The body has not been read yet.
            return reply(200);
        }
        let number = given.load(Ordering::SeqCst);
        if !form(request).ends_with(&format!("refresh_token=refresh-{number}")) {
            return reply(401);
        }
        given.store(number + 1, Ordering::SeqCst);
        let next = number + 1;
        reply(200)
            .body(format!(r#"{{"access_token":"token-{number}","refresh_token":"refresh-{next}","expires_in":300}}"#))
    })
}

#[tokio::test]
async fn a_refresh_token_that_the_server_replaces_serves_on() {
    let tokens = rotating();
    let server = registry(&tokens);
    let bench = once(Credential::IdentityToken(Secret::new("refresh-0")));
    let names = ["a", "b", "c", "d"].map(|name| format!("{}/{name}", server.host()).parse().unwrap());
    // All at once: they take turns, since each answer kills the token before it.
    let stores = names.map(|name| bench.client.store(name));
    let all = futures_util::future::join_all(stores.iter().map(ReadStore::tags)).await;
    assert!(all.iter().all(Result::is_ok), "{all:?}");
    assert_eq!(tokens.requests().len(), 4);
}

#[tokio::test]
async fn a_refresh_token_whose_access_token_died_buys_another_one() {
    let tokens = rotating();
    let line = format!(r#"Bearer realm="http://{}/t""#, tokens.host());
    let server = Server::start(move |request, _| match request.header("authorization") {
        Some("Bearer token-1") => reply(200).body(r#"{"tags":[]}"#),
        Some("Bearer token-0") if request.path().ends_with("list") => reply(200).body(r#"{"tags":[]}"#),
        _ => reply(401).header("www-authenticate", line.clone()),
    });
    let bench = once(Credential::IdentityToken(Secret::new("refresh-0")));
    let store = bench.store(&server);
    store.tags().await.unwrap();
    assert!(store.exists(&crate::support::blob(b"x")).await.unwrap());
    assert_eq!(tokens.requests().len(), 2);
}

#[tokio::test]
async fn a_server_without_the_form_is_asked_without_it_from_then_on() {
    for status in [404, 405] {
        let tokens = Server::start(move |request, _| match request.method.as_str() {
            "POST" => reply(status),
            _ => reply(200).body(r#"{"token":"t","expires_in":300}"#),
        });
        let server = registry(&tokens);
        let bench = once(Credential::IdentityToken(Secret::new("refresh")));
        for name in ["a", "b"] {
            bench.client.store(format!("{}/{name}", server.host()).parse().unwrap()).tags().await.unwrap();
        }
        let methods: Vec<String> = tokens.requests().iter().map(|request| request.method.clone()).collect();
        assert_eq!(methods, ["POST", "GET", "GET"]);
    }
}

#[tokio::test]
async fn a_refused_refresh_token_is_not_shown_in_another_way() {
    let tokens = Server::start(|_, _| reply(401));
    let server = registry(&tokens);
    let bench = once(Credential::IdentityToken(Secret::new("refresh")));
    assert_eq!(outcome(&bench, &server).await, "token-server-status:401");
    assert_eq!(tokens.requests().len(), 1);
}

#[tokio::test]
async fn a_refresh_token_stays_with_its_site() {
    let server = Server::start(|_, _| {
        reply(401).header("www-authenticate", r#"Bearer realm="https://tokens.elsewhere.test/t""#)
    });
    for credential in [user(), Credential::IdentityToken(Secret::new("refresh"))] {
        assert_eq!(outcome(&once(credential), &server).await, "realm-other-site");
    }
}

#[tokio::test]
async fn a_token_server_that_redirects_to_an_address_of_many_kilobytes_kept_a_run_busy() {
    let location = format!("/{}", "../".repeat(20_000));
    let tokens = Server::start(move |_, _| reply(307).header("location", location.clone()));
    let server = registry(&tokens);
    let error = bench().store(&server).tags().await.unwrap_err().to_string();
    assert!(error.ends_with("the token server redirects: it names an address of more than 16 KiB"), "{error}");
    assert_eq!(tokens.requests().len(), 1);
}

#[tokio::test]
async fn a_tokens_answer_that_breaks_once_is_read_again() {
    for login in [user(), Credential::IdentityToken(Secret::new("refresh"))] {
        let tokens = Server::start(|_, nth| {
            let answer = reply(200).body(r#"{"token":"t"}"#);
            if nth == 0 { answer.cut(4) } else { answer }
        });
        let server = registry(&tokens);
        let bench = bench_with(ClientOptions::default(), Arc::new(Fixed(login)));
        assert_eq!(outcome(&bench, &server).await, "Bearer t");
        assert_eq!((tokens.requests().len(), bench.retries()), (2, 1));
    }
    let tokens = Server::start(|_, _| reply(200).body(r#"{"token":"t"}"#).cut(4));
    let server = registry(&tokens);
    let bench = bench_with(ClientOptions::default(), Arc::new(Fixed(user())));
    let error = bench.store(&server).tags().await.unwrap_err();
    assert!(matches!(&error, StoreError::Unreachable { .. }), "{error}");
    assert_eq!(tokens.requests().len(), 5);
}
