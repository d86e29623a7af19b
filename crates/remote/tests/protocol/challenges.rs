//! Challenges as registries write them, and who is shown what.

use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::task::Poll;

use async_trait::async_trait;
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use tofu_oci_credentials::Credential;
use tofu_oci_http::HttpOptions;
use tofu_oci_remote::{ClientOptions, CredentialFault, CredentialProvider, NoCredentials};
use tofu_oci_store::{ReadStore as _, Store as _, StoreError};
use tofu_oci_types::{RepositoryRef, Secret};

use crate::server::{Reply, Server, reply, stall};
use crate::support::{bench, bench_as, bench_with, blob};

fn encoded(login: &str) -> String {
    format!("Basic {}", STANDARD.encode(login))
}

/// The first word of an `Authorization`.
fn scheme(shown: &str) -> String {
    shown.split(' ').next().unwrap_or_default().to_owned()
}

/// Lets it go on as far as it can for now.
async fn is_pending<T>(future: &mut (impl Future<Output = T> + Unpin)) -> bool {
    std::future::poll_fn(|context| Poll::Ready(Pin::new(&mut *future).poll(context).is_pending())).await
}

fn tokens() -> Server {
    Server::start(|_, _| reply(200).body(r#"{"token":"good"}"#))
}

/// A registry that answers 401 with these lines to whoever shows nothing, and 200 to everybody else.
fn registry(lines: Vec<String>) -> Server {
    Server::start(move |request, _| match request.header("authorization") {
        Some(_) => reply(200).body(r#"{"tags":[]}"#),
        None => lines.iter().fold(reply(401), |reply, line| reply.header("www-authenticate", line)),
    })
}

/// What the registry and the token server see of `user:word`, or the error's code.
async fn check(lines: &[&str], want: &str) {
    let tokens = tokens();
    let lines = lines.iter().map(|line| line.replace("TOKENS", &tokens.host())).collect();
    let server = registry(lines);
    let outcome = bench_as(Credential::basic("user", "word")).store(&server).tags().await;
    let shown = server.requests().last().and_then(|request| request.header("authorization").map(str::to_owned));
    let got = match outcome {
        Ok(_) if shown == Some(encoded("user:word")) => "basic".to_owned(),
        Ok(_) => {
            assert_eq!(shown.as_deref(), Some("Bearer good"));
            assert_eq!(tokens.requests()[0].header("authorization"), Some(&*encoded("user:word")));
            tokens.lines().join(" ").replace("%3A", ":").replace("%2C", ",")
        }
        Err(error) => {
            assert!(tokens.requests().is_empty(), "nothing is sent before the rules are checked");
            assert_eq!(server.requests().len(), 1);
            error.credential_code().unwrap()
        }
    };
    assert_eq!(got, want);
}

#[tokio::test]
async fn every_form_of_challenge() {
    let own = "GET /t?scope=repository:x:pull";
    check(&[r#"basic realm="x""#], "basic").await;
    check(&["Basic"], "basic").await;
    check(&["Basic realm=\"Zürich\""], "basic").await;
    check(&[r#"BEARER realm="http://TOKENS/t""#], own).await;
    check(&["Bearer realm=http://TOKENS/t,service=svc"], "GET /t?service=svc&scope=repository:x:pull").await;
    check(&[r#"Bearer realm="http://TOKENS/t?x=1&scope=old""#], "GET /t?x=1&scope=old&scope=repository:x:pull").await;
    check(&[r#"Bearer realm="http://TOKENS/t""#, "Basic"], own).await;
    check(&["Basic", r#"Bearer realm="http://TOKENS/t""#], "basic").await;
    check(&["Negotiate", "Basic"], "basic").await;
    check(&["Negotiate, Digest nonce=\"a, b\"", r#"Bearer realm="http://TOKENS/t""#], own).await;
    check(&[r#"Basic realm="x", Bearer realm="http://TOKENS/t""#], "basic").await;
    check(&[r#"Bearer realm="http://TOKENS/t", Basic realm="x""#], own).await;
    check(&["Negotiate"], "registry-status:401").await;
    check(&[], "registry-status:401").await;
    check(&[""], "registry-status:401").await;
}

#[tokio::test]
async fn scopes_of_challenges() {
    let bearer = |scope: &str| format!(r#"Bearer realm="http://TOKENS/t",scope="{scope}""#);
    let asked = |scopes: &[&str]| {
        scopes.iter().fold("GET /t".to_owned(), |line, scope| {
            format!("{line}{}scope={scope}", if line.contains('?') { '&' } else { '?' })
        })
    };
    let own = "repository:x:pull";
    check(&[&bearer(own)], &asked(&[own])).await;
    check(&[&bearer("")], &asked(&[own])).await;
    let wide = asked(&["registry:catalog:*", "repository:x:pull,push"]);
    check(&[&bearer("repository:x:pull,push registry:catalog:*")], &wide).await;
    check(&[&bearer("repository:other:pull")], &asked(&["repository:other:pull", own])).await;
    check(&[&bearer("rubbish")], &asked(&[own])).await;
    check(&[&bearer(&"repository:y:pull ".repeat(1000))], &asked(&[own])).await;
}

#[tokio::test]
async fn a_realm_that_may_not_be_asked_is_an_error_whoever_asks() {
    for (realm, code) in [
        ("ftp://127.0.0.1/t", "realm-scheme"),
        ("/token", "realm-scheme"),
        ("127.0.0.1:1/token", "realm-scheme"),
        ("", "realm-scheme"),
        ("https://10.1.2.3/token", "realm-private-address"),
        ("https://169.254.169.254/token", "realm-private-address"),
        ("https://[fe80::1]/token", "realm-private-address"),
        ("https://ru:rp@127.0.0.1/token", "realm-user-info"),
    ] {
        let line = format!(r#"Bearer realm="{realm}""#);
        for credential in
            [None, Some(Credential::basic("u", "word")), Some(Credential::RegistryToken(Secret::new("t")))]
        {
            let server = registry(vec![line.clone(), "Basic".to_owned()]);
            let bench = credential.map_or_else(bench, bench_as);
            let error = bench.store(&server).tags().await.unwrap_err();
            assert!(matches!(error, StoreError::Forbidden { .. }), "{realm}: {error}");
            assert_eq!(error.credential_code().as_deref(), Some(code), "{realm}");
            assert_eq!(server.requests().len(), 1, "{realm}: nothing was sent");
        }
    }
}

#[tokio::test]
async fn a_login_that_is_none_meets_basic_and_nothing_is_sent() {
    for (credential, code) in [
        (Credential::basic("user", ""), "incomplete-basic"),
        (Credential::basic("", "word"), "incomplete-basic"),
        (Credential::IdentityToken(Secret::new("refresh")), "incomplete-basic"),
        (Credential::RegistryToken(Secret::new("access")), "incomplete-basic"),
        (Credential::basic("", ""), "no-credentials-for-basic"),
    ] {
        let server = registry(vec!["Basic".to_owned()]);
        let error = bench_as(credential).store(&server).tags().await.unwrap_err();
        assert_eq!(error.credential_code().as_deref(), Some(code), "{error}");
        assert_eq!(server.requests().len(), 1);
    }
}

#[tokio::test]
async fn half_a_login_goes_to_the_token_server() {
    for (credential, want) in [
        (Credential::basic("user", ""), Some(encoded("user:"))),
        (Credential::basic("", "word"), Some(encoded(":word"))),
        (Credential::basic("", ""), None),
        (Credential::basic("<token>", "word"), Some(encoded("<token>:word"))),
    ] {
        let tokens = tokens();
        let server = registry(vec![format!(r#"Bearer realm="http://{}/t""#, tokens.host())]);
        bench_as(credential).store(&server).tags().await.unwrap();
        let asked = &tokens.requests()[0];
        assert_eq!((asked.method.as_str(), asked.header("authorization")), ("GET", want.as_deref()));
    }
}

/// A login for each repository; counts how often it is asked.
#[derive(Default)]
struct Counted(AtomicUsize);

#[async_trait]
impl CredentialProvider for Counted {
    async fn credential(&self, repository: &RepositoryRef) -> Result<Option<Credential>, CredentialFault> {
        self.0.fetch_add(1, Ordering::SeqCst);
        tokio::task::yield_now().await;
        match repository.name() {
            "bad" => {
                let problem = "it said nothing".to_owned();
                Err(CredentialFault { code: "helper-failed".to_owned(), problem, hint: Some("try it".to_owned()) })
            }
            name => Ok(Some(Credential::basic(name, "word"))),
        }
    }
}

fn repository(server: &Server, name: &str) -> RepositoryRef {
    format!("{}/{name}", server.host()).parse().unwrap()
}

#[tokio::test]
async fn a_login_is_shown_to_the_repository_that_asked_and_to_no_other() {
    let server = Server::start(|request, _| match (request.path(), request.header("authorization")) {
        ("/v2/open/tags/list", _) | (_, Some(_)) => reply(200).body(r#"{"tags":[]}"#),
        _ => reply(401).header("www-authenticate", "Basic"),
    });
    let provider = Arc::new(Counted::default());
    let bench = bench_with(ClientOptions::default(), provider.clone());
    for name in ["one", "two", "open", "one"] {
        bench.client.store(repository(&server, name)).tags().await.unwrap();
    }
    let shown: Vec<(String, Option<String>)> = server
        .requests()
        .iter()
        .map(|request| (request.path().to_owned(), request.header("authorization").map(str::to_owned)))
        .collect();
    let line = |name: &str, login: Option<&str>| (format!("/v2/{name}/tags/list"), login.map(encoded));
    let (one, two) = (Some("one:word"), Some("two:word"));
    let want = [
        line("one", None),
        line("one", one),
        line("two", None),
        line("two", two),
        line("open", None),
        line("one", one),
    ];
    assert_eq!(shown, want);
    assert_eq!(provider.0.load(Ordering::SeqCst), 2, "nobody asked for the open one's");
}

#[tokio::test]
async fn eight_requests_at_once_cost_one_lookup_and_one_token() {
    let tokens = tokens();
    let server = registry(vec![format!(r#"Bearer realm="http://{}/t""#, tokens.host())]);
    let provider = Arc::new(Counted::default());
    let bench = bench_with(ClientOptions::default(), provider.clone());
    let store = bench.client.store(repository(&server, "x"));
    let x = blob(b"x");
    let all = futures_util::future::join_all((0..8).map(|_| store.exists(&x))).await;
    assert!(all.into_iter().all(Result::unwrap));
    assert_eq!((provider.0.load(Ordering::SeqCst), tokens.requests().len()), (1, 1));
    assert!(server.lines().iter().all(|line| line.starts_with("HEAD /v2/x/")), "no ping");
}

#[tokio::test]
async fn a_lookup_that_fails_is_made_once_and_said_in_its_own_words() {
    let server = registry(vec!["Basic".to_owned()]);
    let provider = Arc::new(Counted::default());
    let bench = bench_with(ClientOptions::default(), provider.clone());
    let store = bench.client.store(repository(&server, "bad"));
    let x = blob(b"x");
    let all = futures_util::future::join_all((0..8).map(|_| store.exists(&x))).await;
    for one in all {
        let Err(StoreError::Credentials { code, problem, hint, .. }) = one else { panic!("{one:?}") };
        assert_eq!((&*code, &*problem, hint.as_deref()), ("helper-failed", "it said nothing", Some("try it")));
    }
    assert_eq!(provider.0.load(Ordering::SeqCst), 1);
}

#[tokio::test]
async fn nobody_is_asked_where_nothing_asks() {
    let server = Server::start(|_, _| reply(200).body(r#"{"tags":[]}"#));
    let provider = Arc::new(Counted::default());
    let bench = bench_with(ClientOptions::default(), provider.clone());
    bench.client.store(repository(&server, "bad")).tags().await.unwrap();
    assert_eq!(provider.0.load(Ordering::SeqCst), 0);
}

#[tokio::test]
async fn a_refused_access_token_is_refused_for_good() {
    let tokens = tokens();
    let line = format!(r#"Bearer realm="http://{}/t""#, tokens.host());
    let server = Server::start(move |_, _| reply(401).header("www-authenticate", line.clone()));
    let bench = bench_as(Credential::RegistryToken(Secret::new("access")));
    let error = bench.store(&server).tags().await.unwrap_err();
    assert_eq!(error.credential_code().as_deref(), Some("registry-status:401"));
    assert_eq!((server.requests().len(), tokens.requests().len()), (2, 0));
    let bench = bench_as(Credential::RegistryToken(Secret::new("acc\u{e9}ss\n")));
    let error = bench.store(&server).tags().await.unwrap_err();
    assert_eq!(error.credential_code().as_deref(), Some("token-unusable"));
}

#[tokio::test]
async fn a_registry_that_asks_for_password_and_token_in_turn_comes_to_an_end() {
    let tokens = tokens();
    let line = format!(r#"Bearer realm="http://{}/t""#, tokens.host());
    let count = AtomicUsize::new(0);
    let server = Server::start(move |request, _| {
        let count = count.fetch_add(1, Ordering::SeqCst);
        match request.header("authorization") {
            Some(shown) if shown.starts_with("Bearer") && count > 1 => reply(401).header("www-authenticate", "Basic"),
            Some(shown) if shown.starts_with("Bearer") => reply(200).body(r#"{"tags":[]}"#),
            // Far beyond what is borne, so that the test ends either way.
            _ if count > 50 => reply(200).body(r#"{"tags":[]}"#),
            _ => reply(401).header("www-authenticate", line.clone()),
        }
    });
    let store = bench_as(Credential::basic("user", "word")).store(&server);
    store.tags().await.unwrap();
    server.forget();
    let error = store.tags().await.unwrap_err();
    assert_eq!(error.credential_code().as_deref(), Some("registry-status:401"));
    let shown: Vec<String> =
        server.requests().iter().filter_map(|one| one.header("authorization").map(scheme)).collect();
    assert_eq!(shown, ["Bearer", "Basic"]);
    assert_eq!(tokens.requests().len(), 1);
}

#[tokio::test]
async fn a_request_that_waits_does_not_inherit_the_failure_of_an_earlier_attempt() {
    let count = Arc::new(AtomicUsize::new(0));
    let seen = Arc::clone(&count);
    let tokens = Server::start(move |_, _| match seen.fetch_add(1, Ordering::SeqCst) {
        0 => reply(403),
        1 => stall(),
        _ => reply(200).body(r#"{"token":"good"}"#),
    });
    let server = registry(vec![format!(r#"Bearer realm="http://{}/t""#, tokens.host())]);
    let store = bench_as(Credential::basic("user", "word")).store(&server);
    store.tags().await.unwrap_err();
    let mut given_up = Box::pin(store.tags());
    while count.load(Ordering::SeqCst) < 2 {
        assert!(is_pending(&mut given_up).await);
        tokio::task::yield_now().await;
    }
    let mut waiting = Box::pin(store.tags());
    assert!(is_pending(&mut waiting).await);
    drop(given_up);
    waiting.await.unwrap();
    assert_eq!(count.load(Ordering::SeqCst), 3);
}

#[tokio::test]
async fn forbidden_is_final_and_nothing_is_tried_without_credentials() {
    let refusal =
        |status: u16| -> Reply { reply(status).error(if status == 404 { "NAME_UNKNOWN" } else { "DENIED" }, "no") };
    for status in [403, 404, 429, 503] {
        let server = Server::start(move |request, _| match request.header("authorization") {
            None => reply(401).header("www-authenticate", "Basic"),
            Some(_) => refusal(status),
        });
        let retry = tofu_oci_http::RetryPolicy { attempts: 1, ..tofu_oci_http::RetryPolicy::default() };
        let options = HttpOptions { retry, ..HttpOptions::default() };
        let bench = bench_with(options, Arc::new(Counted::default()));
        let error = bench.client.store(repository(&server, "x")).tags().await.unwrap_err();
        match status {
            404 => assert!(error.is_not_found(), "{error}"),
            status => assert_eq!(error.credential_code(), Some(format!("registry-status:{status}"))),
        }
        let shown: Vec<bool> =
            server.requests().iter().map(|request| request.header("authorization").is_some()).collect();
        assert_eq!(shown, [false, true], "{status}");
    }
}

#[tokio::test]
async fn basic_without_a_login_says_what_is_missing() {
    let server = registry(vec!["Basic".to_owned()]);
    let bench = bench_with(ClientOptions::default(), Arc::new(NoCredentials));
    let error = bench.store(&server).tags().await.unwrap_err();
    assert_eq!(error.credential_code().as_deref(), Some("no-credentials-for-basic"));
}

#[tokio::test]
async fn a_push_asks_for_its_own_repository_and_for_the_one_it_mounts_from() {
    let tokens = tokens();
    let line = format!(r#"Bearer realm="http://{}/t""#, tokens.host());
    let server = Server::start(move |request, _| match (request.header("authorization"), &*request.method) {
        (None, _) => reply(401).header("www-authenticate", line.clone()),
        (_, "POST") => reply(202).header("location", "/u/1"),
        (_, "PUT") => reply(201),
        _ => reply(404),
    });
    let bench = bench_with(ClientOptions::default(), Arc::new(Counted::default()));
    let store = bench.client.store(repository(&server, "x"));
    let from = repository(&server, "y");
    assert!(!store.mount(&blob(b"x"), &from).await.unwrap());
    store.push(&blob(b"x"), &bytes::Bytes::from("x")).await.unwrap();
    let lines: Vec<String> = tokens.lines().iter().map(|line| line.replace("%3A", ":").replace("%2C", ",")).collect();
    let own = "GET /t?scope=repository:x:pull,push";
    assert_eq!(lines, [format!("{own}&scope=repository:y:pull"), own.to_owned()]);
    assert!(tokens.requests().iter().all(|request| request.header("authorization") == Some(&*encoded("x:word"))));
}
