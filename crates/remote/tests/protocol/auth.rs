//! Passwords and tokens.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use tofu_oci_credentials::Credential;
use tofu_oci_remote::CredentialFault;
use tofu_oci_store::{AccessFault, ReadStore as _, Store as _, StoreError};
use tofu_oci_types::Secret;

use crate::server::{Reply, Request, Server, reply};
use crate::support::{bench, bench_as, blob, check_error, noise, read};

fn user() -> Credential {
    Credential::basic("user", "pass")
}

fn basic_header() -> String {
    format!("Basic {}", STANDARD.encode("user:pass"))
}

/// A token server that gives `token-1`, `token-2`, … or what the closure says.
fn token_server() -> Server {
    let count = AtomicUsize::new(0);
    Server::start(move |_, _| {
        let number = count.fetch_add(1, Ordering::SeqCst) + 1;
        token(&format!(r#"{{"token":"token-{number}","expires_in":300}}"#))
    })
}

fn token(body: &str) -> Reply {
    reply(200).header("content-type", "application/json").body(body)
}

/// A registry that takes the tokens which `good` takes, and names this realm.
fn registry(realm: String, good: impl Fn(&Request, &str) -> bool + Send + Sync + 'static) -> Server {
    let new = blob(&noise(600_000)).digest.to_string();
    Server::start(move |request, _| {
        let token = request.header("authorization").and_then(|value| value.strip_prefix("Bearer "));
        if token.is_some_and(|token| good(request, token)) {
            return match request.method.as_str() {
                "HEAD" if request.path().ends_with(&new) => reply(404),
                "POST" => reply(202).header("location", "/u/1?s=1"),
                "PUT" => reply(201),
                _ => reply(200),
            };
        }
        let challenge = format!(
            r#"Bearer realm="{realm}",service="lab, registry",scope="repository:x:pull",error="invalid_token",odd=1"#
        );
        reply(401).header("www-authenticate", "Negotiate").header("www-authenticate", challenge)
    })
}

fn realm(tokens: &Server) -> String {
    format!("http://{}/token?own=1", tokens.host())
}

#[tokio::test]
async fn basic_is_sent_after_the_challenge_and_from_then_on() {
    let server = Server::start(|request, _| match request.header("authorization") {
        None => reply(401).header("www-authenticate", r#"BASIC realm="a, b""#),
        Some(_) => reply(200),
    });
    let bench = bench_as(user());
    let store = bench.store(&server);
    assert!(store.exists(&blob(b"x")).await.unwrap());
    assert!(store.exists(&blob(b"y")).await.unwrap());
    let shown: Vec<Option<String>> =
        server.requests().iter().map(|request| request.header("authorization").map(str::to_owned)).collect();
    assert_eq!(shown, [None, Some(basic_header()), Some(basic_header())]);
}

#[tokio::test]
async fn a_wrong_password_is_sent_once() {
    let server = Server::start(|_, _| reply(401).header("www-authenticate", "Basic").error("UNAUTHORIZED", "no"));
    let got = bench_as(user()).store(&server).tags().await;
    check_error(got, &server, "HOST/x needs credentials: the given credentials are refused: no (UNAUTHORIZED)");
    assert_eq!(server.requests().len(), 2);
}

#[tokio::test]
async fn a_password_that_was_good_and_is_refused_once_is_shown_once_more() {
    let seen = AtomicUsize::new(0);
    // The first request is bare, the second one good; the third one is refused for no reason.
    let server = Server::start(move |_, _| match seen.fetch_add(1, Ordering::SeqCst) {
        0 | 2 => reply(401).header("www-authenticate", "Basic"),
        _ => reply(200),
    });
    let bench = bench_as(user());
    let store = bench.store(&server);
    assert!(store.exists(&blob(b"x")).await.unwrap());
    assert!(store.exists(&blob(b"y")).await.unwrap());
    assert_eq!(server.requests().len(), 4);
}

#[tokio::test]
async fn a_password_that_was_good_and_is_refused_twice_is_refused_for_good() {
    let seen = AtomicUsize::new(0);
    let server = Server::start(move |_, _| match seen.fetch_add(1, Ordering::SeqCst) {
        1 => reply(200),
        _ => reply(401).header("www-authenticate", "Basic"),
    });
    let bench = bench_as(user());
    let store = bench.store(&server);
    assert!(store.exists(&blob(b"x")).await.unwrap());
    assert!(store.exists(&blob(b"y")).await.is_err());
    assert_eq!(server.requests().len(), 4);
}

#[tokio::test]
async fn credentials_are_not_volunteered() {
    let server = Server::start(|_, _| reply(200));
    assert!(bench_as(user()).store(&server).exists(&blob(b"x")).await.unwrap());
    assert_eq!(server.requests()[0].header("authorization"), None);
}

#[tokio::test]
async fn a_bearer_token_is_fetched_with_the_password_and_kept() {
    let tokens = token_server();
    let server = registry(realm(&tokens), |_, token| token == "token-1");
    let bench = bench_as(user());
    let store = bench.store(&server);
    for _ in 0..3 {
        assert!(store.exists(&blob(b"x")).await.unwrap());
    }
    assert_eq!(tokens.lines(), ["GET /token?own=1&service=lab%2C+registry&scope=repository%3Ax%3Apull"]);
    assert_eq!(tokens.requests()[0].header("authorization"), Some(&*basic_header()));
    assert_eq!(server.requests().len(), 4, "one 401 in a run");
}

#[tokio::test]
async fn an_anonymous_token_is_fetched_without_a_password() {
    let tokens = token_server();
    let server = registry(realm(&tokens), |_, token| token == "token-1");
    assert!(bench().store(&server).exists(&blob(b"x")).await.unwrap());
    assert_eq!(tokens.requests()[0].header("authorization"), None);
}

#[tokio::test]
async fn several_requests_wait_for_one_token() {
    let tokens = token_server();
    let server = registry(realm(&tokens), |_, token| token == "token-1");
    let bench = bench_as(user());
    let store = bench.store(&server);
    let x = blob(b"x");
    let all = futures_util::future::join_all((0..16).map(|_| store.exists(&x))).await;
    assert!(all.into_iter().all(Result::unwrap));
    assert_eq!(tokens.requests().len(), 1);
}

#[tokio::test]
async fn writes_and_mounts_ask_for_their_own_scopes() {
    let tokens = token_server();
    let server = registry(realm(&tokens), |request, token| (request.method == "GET") == (token == "token-1"));
    let store = bench_as(user()).store(&server);
    let _ = store.tags().await;
    store.push(&blob(b"x"), &bytes::Bytes::from("x")).await.unwrap();
    let from = format!("{}/y", server.host()).parse().unwrap();
    let _ = store.mount(&blob(b"y"), &from).await;
    let scopes: Vec<String> =
        tokens.lines().iter().map(|line| line.split_once("scope=").unwrap().1.to_owned()).collect();
    assert_eq!(scopes[0], "repository%3Ax%3Apull");
    assert_eq!(scopes[1], "repository%3Ax%3Apull%2Cpush");
    assert_eq!(scopes[2], "repository%3Ax%3Apull%2Cpush&scope=repository%3Ay%3Apull");
}

#[tokio::test]
async fn a_scope_that_the_registry_asks_for_in_addition_is_kept() {
    let tokens = token_server();
    let address = realm(&tokens);
    let server = Server::start(move |request, _| match request.header("authorization") {
        Some(_) => reply(200).body(r#"{"tags":[]}"#),
        None => reply(401)
            .header("www-authenticate", format!(r#"Bearer realm="{address}",scope="repository:x:metadata_read,pull""#)),
    });
    let store = bench_as(user()).store(&server);
    store.tags().await.unwrap();
    store.tags().await.unwrap();
    assert_eq!(tokens.lines(), ["GET /token?own=1&scope=repository%3Ax%3Ametadata_read%2Cpull"]);
}

#[tokio::test]
async fn a_token_that_the_registry_refuses_is_replaced_once() {
    let tokens = token_server();
    let server = registry(realm(&tokens), |_, token| token != "token-1");
    let store = bench_as(user()).store(&server);
    // The first answer gives token-1, which is refused: there is no third try in this request.
    assert!(matches!(store.exists(&blob(b"x")).await, Err(StoreError::Unauthorized { .. })));
    assert!(store.exists(&blob(b"x")).await.unwrap());
    assert_eq!(tokens.requests().len(), 2);
}

#[tokio::test]
async fn a_token_that_expires_between_post_and_put_is_replaced_and_the_body_sent_again() {
    let tokens = token_server();
    let server = registry(realm(&tokens), |request, token| (request.method == "PUT") == (token == "token-2"));
    let bytes = noise(600_000);
    let store = bench_as(user()).store(&server);
    store.push(&blob(&bytes), &bytes).await.unwrap();
    let puts: Vec<Request> = server.requests().into_iter().filter(|request| request.method == "PUT").collect();
    assert_eq!(puts.len(), 2);
    assert_eq!(puts[1].body, bytes);
}

#[tokio::test]
async fn access_token_and_a_missing_expiry_are_understood() {
    let tokens = Server::start(|_, _| token(r#"{"access_token":"a","unknown":{}}"#));
    let server = registry(realm(&tokens), |_, token| token == "a");
    let store = bench().store(&server);
    assert!(store.exists(&blob(b"x")).await.unwrap());
    assert!(store.exists(&blob(b"x")).await.unwrap());
    assert_eq!(tokens.requests().len(), 1, "a token without an expiry lives for a minute");
}

#[tokio::test]
async fn token_answers_that_are_none_are_said_so() {
    let check = async |answer: Reply, want: &str| {
        let tokens = Server::start(move |_, _| answer.clone());
        let server = registry(realm(&tokens), |_, _| false);
        let error = bench_as(user()).store(&server).tags().await.unwrap_err().to_string();
        let error = error.replace(&server.host(), "HOST").replace(&tokens.host(), "TOKENS");
        assert_eq!(error, want);
    };
    check(token("{}"), "no token for HOST/x: the token server TOKENS gave an empty token").await;
    let no_token = "no token for HOST/x: the token server TOKENS answered with something else than a token";
    check(token("<html>"), no_token).await;
    let refused = "HOST/x needs credentials: the token server TOKENS refused the credentials (status 401)";
    check(reply(401), refused).await;
    check(
        reply(200).body(vec![b' '; (1 << 20) + 1]),
        "no token for HOST/x: the token server TOKENS answered with more than 1048576 bytes",
    )
    .await;
    let later = reply(429).header("retry-after", "9999");
    check(later, "HOST/x asks to wait 9999 s before trying again").await;
}

#[tokio::test]
async fn an_identity_token_is_posted() {
    let tokens = Server::start(|_, _| token(r#"{"access_token":"a"}"#));
    let server = registry(realm(&tokens), |_, token| token == "a");
    let bench = bench_as(Credential::IdentityToken(Secret::new("re&fresh")));
    assert!(bench.store(&server).exists(&blob(b"x")).await.unwrap());
    let asked = &tokens.requests()[0];
    assert_eq!(asked.line(), "POST /token?own=1");
    assert_eq!(
        String::from_utf8_lossy(&asked.body),
        "grant_type=refresh_token&client_id=tofu-oci&service=lab%2C+registry&scope=repository%3Ax%3Apull\
         &refresh_token=re%26fresh"
    );
}

#[tokio::test]
async fn an_identity_token_falls_back_to_get_where_post_is_unknown() {
    for status in [404, 405] {
        let tokens = Server::start(
            move |request, _| if request.method == "POST" { reply(status) } else { token(r#"{"token":"a"}"#) },
        );
        let server = registry(realm(&tokens), |_, token| token == "a");
        let bench = bench_as(Credential::IdentityToken(Secret::new("refresh")));
        assert!(bench.store(&server).exists(&blob(b"x")).await.unwrap());
        let want = format!("Basic {}", STANDARD.encode("<token>:refresh"));
        assert_eq!(tokens.requests()[1].header("authorization"), Some(&*want));
    }
}

#[tokio::test]
async fn a_registry_token_is_used_as_it_is() {
    let tokens = token_server();
    let server = registry(realm(&tokens), |_, token| token == "mine");
    let bench = bench_as(Credential::RegistryToken(Secret::new("mine")));
    assert!(bench.store(&server).exists(&blob(b"x")).await.unwrap());
    assert!(tokens.requests().is_empty());
}

#[tokio::test]
async fn a_realm_that_breaks_the_rules_gets_nothing() {
    for bad in ["http://169.254.169.254/token", "http://user:pw@127.0.0.1/token", "ftp://127.0.0.1/token", "no address"]
    {
        let server = registry(bad.to_owned(), |_, _| false);
        let error = bench_as(user()).store(&server).tags().await.unwrap_err();
        assert!(matches!(error, StoreError::Forbidden { .. }), "{bad}: {error}");
        assert!(!error.to_string().contains("pw"), "{error}");
    }
}

#[tokio::test]
async fn a_token_server_of_another_site_is_told_no_password() {
    let server = registry("http://tokens.elsewhere.test/token".to_owned(), |_, _| false);
    let error = bench_as(user()).store(&server).tags().await.unwrap_err();
    assert!(matches!(error, StoreError::Forbidden { .. }), "{error}");
    assert!(error.to_string().contains("tokens.elsewhere.test belongs to another site"), "{error}");
}

#[tokio::test]
async fn a_realm_that_redirects_gives_no_password_to_another_origin() {
    let other = Server::start(|_, _| token(r#"{"token":"a"}"#));
    let target = format!("http://{}/t", other.host());
    let tokens = Server::start(move |_, _| reply(307).header("location", target.clone()));
    let server = registry(realm(&tokens), |_, token| token == "a");
    let error = bench_as(user()).store(&server).tags().await.unwrap_err();
    assert!(matches!(error, StoreError::Forbidden { fault: Some(AccessFault::TokenRedirect), .. }), "{error}");
    assert_eq!(tokens.requests()[0].header("authorization"), Some(&*basic_header()));
    assert!(other.requests().is_empty(), "nor is a token for nobody taken instead");
    // Who shows nothing may follow.
    assert!(bench().store(&server).exists(&blob(b"x")).await.unwrap());
    assert_eq!(other.requests()[0].header("authorization"), None);
    // A login by POST carries its secret in the body, and goes nowhere else.
    other.forget();
    let identity = bench_as(Credential::IdentityToken(Secret::new("refresh")));
    let got = identity.store(&server).tags().await;
    assert!(matches!(got, Err(StoreError::Forbidden { .. })));
    assert!(other.requests().is_empty());
    let tokens = Server::start(|_, _| reply(307).header("location", "http://169.254.169.254/t"));
    let server = registry(realm(&tokens), |_, _| false);
    assert!(matches!(bench().store(&server).tags().await, Err(StoreError::Forbidden { .. })));
}

#[tokio::test]
async fn tokens_are_not_used_for_another_registry() {
    let tokens = token_server();
    let first = registry(realm(&tokens), |_, token| token == "token-1");
    let second = registry(realm(&tokens), |_, token| token == "token-2");
    let bench = bench_as(user());
    assert!(bench.store(&first).exists(&blob(b"x")).await.unwrap());
    assert!(bench.store(&second).exists(&blob(b"x")).await.unwrap());
    assert_eq!(second.requests()[0].header("authorization"), None);
    assert_eq!(tokens.requests().len(), 2);
}

#[tokio::test]
async fn a_token_server_that_is_not_there_does_not_look_like_a_missing_repository() {
    let tokens = Server::start(|_, _| reply(404).error("NAME_UNKNOWN", "secret-word"));
    let server = registry(realm(&tokens), |_, _| false);
    let error = bench_as(user()).store(&server).tags().await.unwrap_err();
    assert!(!error.is_not_found());
    let told = error.to_string().replace(&tokens.host(), "TOKENS").replace(&server.host(), "HOST");
    assert_eq!(told, "no token for HOST/x: the token server TOKENS answered with status 404");
}

#[tokio::test]
async fn a_blob_is_sent_when_no_token_is_given_for_the_repository_to_mount_it_from() {
    let tokens = Server::start(|request, _| {
        let foreign = request.target.contains("repository%3Aother%3Apull");
        if foreign { reply(403) } else { token(r#"{"token":"a"}"#) }
    });
    let server = registry(realm(&tokens), |_, token| token == "a");
    let store = bench_as(user()).store(&server);
    let from = format!("{}/other", server.host()).parse().unwrap();
    assert!(!store.mount(&blob(b"x"), &from).await.unwrap());
    assert!(tokens.requests().iter().any(|request| request.target.contains("other")));
}

#[tokio::test]
async fn waiters_share_the_refusal_of_a_password() {
    let tokens = Server::start(|_, _| reply(401));
    let server = registry(realm(&tokens), |_, _| false);
    let bench = bench_as(user());
    let store = bench.store(&server);
    let x = blob(b"x");
    let all = futures_util::future::join_all((0..8).map(|_| store.exists(&x))).await;
    assert!(all.iter().all(|one| matches!(one, Err(StoreError::Unauthorized { .. }))));
    assert!(tokens.requests().len() < 8, "{}", tokens.requests().len());
}

#[tokio::test]
async fn a_helper_that_fails_is_an_error_and_nothing_is_sent() {
    struct Broken(Mutex<usize>);
    #[async_trait::async_trait]
    impl tofu_oci_remote::CredentialProvider for Broken {
        async fn credential(&self, _: &tofu_oci_types::RepositoryRef) -> Result<Option<Credential>, CredentialFault> {
            *self.0.lock().unwrap() += 1;
            let problem = "docker-credential-x is not there".to_owned();
            Err(CredentialFault { code: "helper-not-found".to_owned(), problem, hint: None })
        }
    }
    let server = Server::start(|_, _| reply(401).header("www-authenticate", "Basic"));
    let bench = crate::support::bench_with(tofu_oci_remote::ClientOptions::default(), Arc::new(Broken(Mutex::new(0))));
    let got = read(&bench.store(&server), &blob(b"x")).await;
    check_error(got, &server, "no credentials for HOST/x: docker-credential-x is not there");
    assert_eq!(server.requests().len(), 1);
}
