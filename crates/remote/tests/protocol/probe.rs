//! Asking whether access would be given, and the account of it.

use std::sync::{Arc, Mutex};

use base64::Engine as _;
use base64::engine::general_purpose::{STANDARD, URL_SAFE_NO_PAD};
use tofu_oci_credentials::Credential;
use tofu_oci_remote::{
    AccessKind, ClientOptions, Exchange, ExchangeObserver, LoginCheck, NoCredentials, Probe, ShownCredential,
    TokenOutcome,
};
use tofu_oci_types::RepositoryRef;

use crate::server::{Server, reply};
use crate::support::{Bench, Fixed, bench, bench_as, bench_with};

#[derive(Default)]
struct Account(Mutex<Vec<Exchange>>);

impl ExchangeObserver for Account {
    fn saw(&self, exchange: &Exchange) {
        self.0.lock().unwrap().push(exchange.clone());
    }
}

fn watched(credential: Option<Credential>) -> (Bench, Arc<Account>) {
    let account = Arc::new(Account::default());
    let options = ClientOptions { observer: Some(account.clone()), ..ClientOptions::default() };
    let bench = match credential {
        Some(credential) => bench_with(options, Arc::new(Fixed(credential))),
        None => bench_with(options, Arc::new(NoCredentials)),
    };
    (bench, account)
}

fn user() -> Credential {
    Credential::basic("user", "password")
}

fn repository(server: &Server) -> RepositoryRef {
    format!("{}/acme/x", server.host()).parse().unwrap()
}

/// The account in lines, hosts replaced.
fn lines(account: &Account, hosts: &[(&Server, &str)]) -> Vec<String> {
    let shown = |shown: &ShownCredential| match shown {
        ShownCredential::Nothing => "nothing".to_owned(),
        ShownCredential::Basic { username } => format!("login of {username}"),
        other => format!("{other:?}"),
    };
    let line = |exchange: &Exchange| match exchange {
        Exchange::Registry { method, url, status, shown: what, challenges, error } => {
            let error = error.as_deref().unwrap_or("-");
            format!("{method} {url} ({}) -> {status} {challenges:?} {error}", shown(what))
        }
        Exchange::NoAnswer { method, url, shown: what, problem } => {
            format!("{method} {url} ({}) -> no answer: {problem}", shown(what))
        }
        Exchange::AuthScheme { scheme, realm, service } => format!("way {scheme} {realm:?} {service:?}"),
        Exchange::Refused { code, problem } => format!("refused {code}: {problem}"),
        Exchange::Redirected { from, to, shown_there } => format!("{from} -> {to} ({})", shown(shown_there)),
        Exchange::Token { method, server, service, scopes, shown: what, status, outcome, error: _ } => {
            let outcome = match outcome {
                TokenOutcome::Token { seconds, granted } => format!("token {seconds:?} {granted:?}"),
                TokenOutcome::Elsewhere { to } => format!("elsewhere: {to}"),
                TokenOutcome::None(reason) => format!("none: {reason}"),
            };
            format!("{method} {server} {service:?} {scopes:?} ({}) -> {status:?} {outcome}", shown(what))
        }
        other => format!("{other:?}"),
    };
    let hosts = |line: String| hosts.iter().fold(line, |line, (server, name)| line.replace(&server.host(), name));
    account.0.lock().unwrap().iter().map(|exchange| hosts(line(exchange))).collect()
}

/// A token server whose tokens say that they grant this.
fn tokens(actions: &'static str) -> Server {
    Server::start(move |_, _| {
        let claims = format!(r#"{{"access":[{{"type":"repository","name":"acme/x","actions":[{actions}]}}]}}"#);
        let token = format!("e30.{}.c2ln", URL_SAFE_NO_PAD.encode(claims));
        reply(200).body(format!(r#"{{"token":"{token}","expires_in":300}}"#))
    })
}

#[tokio::test]
async fn a_pull_that_is_given_is_told_in_every_step() {
    let tokens = tokens(r#""pull""#);
    let line = format!(r#"Bearer realm="http://{}/t?x=1",service="lab",scope="repository:acme/x:pull""#, tokens.host());
    let server = Server::start(move |request, _| match request.header("authorization") {
        Some(_) => reply(200).body(r#"{"tags":[]}"#),
        None => reply(401).header("www-authenticate", line.clone()).error("UNAUTHORIZED", "who\\nare you"),
    });
    let (bench, account) = watched(Some(user()));
    assert_eq!(bench.client.probe(&repository(&server), AccessKind::Pull).await.unwrap(), Probe::Granted);
    assert_eq!(server.lines()[0], "GET /v2/acme/x/tags/list?n=1");
    insta::assert_snapshot!(lines(&account, &[(&server, "HOST"), (&tokens, "AUTH")]).join("\n"), @r#"
    GET http://HOST/v2/acme/x/tags/list (nothing) -> 401 ["Bearer realm=\"http://AUTH/t?x=1\",service=\"lab\",scope=\"repository:acme/x:pull\""] UNAUTHORIZED: who are you
    way bearer Some("http://AUTH/t") Some("lab")
    GET http://AUTH/t Some("lab") ["repository:acme/x:pull"] (login of user) -> Some(200) token Some(300) Some(["repository:acme/x:pull"])
    GET http://HOST/v2/acme/x/tags/list (Token) -> 200 [] -
    "#);
}

#[tokio::test]
async fn a_push_opens_an_upload_and_gives_it_up() {
    let server = Server::start(|request, _| match request.method.as_str() {
        "POST" => reply(202).header("location", "/u/1?s=1"),
        "DELETE" => reply(204),
        _ => reply(500),
    });
    assert_eq!(bench().client.probe(&repository(&server), AccessKind::Push).await.unwrap(), Probe::Granted);
    assert_eq!(server.lines(), ["POST /v2/acme/x/blobs/uploads/", "DELETE /u/1?s=1"]);
}

#[tokio::test]
async fn no_right_to_delete_is_asked_for_a_session_that_is_given_up() {
    let tokens = tokens(r#""pull","push""#);
    let realm = format!("http://{}/t", tokens.host());
    let server = Server::start(move |request, _| match (request.method.as_str(), request.header("authorization")) {
        ("POST", Some(_)) => reply(202).header("location", "/u/1"),
        (method, _) => {
            let action = if method == "DELETE" { "delete" } else { "pull,push" };
            let line = format!(r#"Bearer realm="{realm}",scope="repository:acme/x:{action}""#);
            reply(401).header("www-authenticate", line)
        }
    });
    let client = bench_as(user()).client;
    assert_eq!(client.probe(&repository(&server), AccessKind::Push).await.unwrap(), Probe::Granted);
    let uploads = "POST /v2/acme/x/blobs/uploads/";
    assert_eq!(server.lines(), [uploads, uploads, "DELETE /u/1"]);
    assert!(server.requests()[2].header("authorization").is_some());
    assert_eq!(tokens.requests().len(), 1);
}

#[tokio::test]
async fn what_access_meets_is_told() {
    let check = async |want: AccessKind, status: u16, expected: Result<Probe, &str>| {
        let server = Server::start(move |request, _| match request.header("authorization") {
            Some(_) => reply(status).error("DENIED", "not you"),
            None => reply(401).header("www-authenticate", "Basic"),
        });
        let got = bench_as(user()).client.probe(&repository(&server), want).await;
        let got = got.map_err(|error| error.credential_code().unwrap());
        assert_eq!(got.as_ref().map_err(String::as_str), expected.as_ref().map_err(|code| *code), "{want:?} {status}");
    };
    check(AccessKind::Pull, 404, Ok(Probe::NoSuchRepository)).await;
    check(AccessKind::Pull, 401, Err("registry-status:401")).await;
    check(AccessKind::Pull, 403, Err("registry-status:403")).await;
    check(AccessKind::Push, 403, Err("registry-status:403")).await;
    check(AccessKind::Push, 404, Err("registry-status:404")).await;
    check(AccessKind::Push, 405, Err("registry-status:405")).await;
}

#[tokio::test]
async fn what_is_refused_is_told() {
    let realm = |realm: &str| format!(r#"Bearer realm="{realm}""#);
    for (line, credential, want) in [
        ("Basic".to_owned(), None, "no-credentials-for-basic"),
        ("Basic".to_owned(), Some(Credential::basic("user", "")), "incomplete-basic"),
        (realm("https://10.0.0.1/t"), None, "realm-private-address"),
        (realm("https://tokens.elsewhere.test/t"), Some(user()), "realm-other-site"),
    ] {
        let server = Server::start(move |_, _| reply(401).header("www-authenticate", line.clone()));
        let (bench, account) = watched(credential);
        let error = bench.client.probe(&repository(&server), AccessKind::Pull).await.unwrap_err();
        assert_eq!(error.credential_code().as_deref(), Some(want));
        let told = lines(&account, &[]);
        assert!(told.last().unwrap().starts_with(&format!("refused {want}: ")), "{told:#?}");
    }
}

#[tokio::test]
async fn redirects_are_told_with_what_is_shown_there() {
    let other = Server::start(|_, _| reply(200).body(r#"{"tags":[]}"#));
    let there = format!("http://{}/there?signature=abc", other.host());
    let server = Server::start(move |request, _| match (request.path(), request.header("authorization")) {
        (_, None) => reply(401).header("www-authenticate", "Basic"),
        ("/v2/acme/x/tags/list", _) => reply(307).header("location", "/here?signature=abc"),
        _ => reply(307).header("location", there.clone()),
    });
    let (bench, account) = watched(Some(user()));
    bench.client.probe(&repository(&server), AccessKind::Pull).await.unwrap();
    insta::assert_snapshot!(lines(&account, &[(&server, "HOST"), (&other, "OTHER")]).join("\n"), @r#"
    GET http://HOST/v2/acme/x/tags/list (nothing) -> 401 ["Basic"] -
    way basic None None
    GET http://HOST/v2/acme/x/tags/list (login of user) -> 307 [] -
    http://HOST/v2/acme/x/tags/list -> http://HOST/here (login of user)
    GET http://HOST/here (login of user) -> 307 [] -
    http://HOST/here -> http://OTHER/there (nothing)
    GET http://OTHER/there (nothing) -> 200 [] -
    "#);
}

/// A registry that lets in `user:password`.
fn private() -> Server {
    let good = format!("Basic {}", STANDARD.encode("user:password"));
    Server::start(move |request, _| match request.header("authorization") {
        Some(login) if login == good => reply(200).body("{}"),
        _ => reply(401).header("www-authenticate", "Basic realm=\"lab\"").error("UNAUTHORIZED", "no"),
    })
}

#[tokio::test]
async fn logins_are_checked_at_the_root() {
    let server = private();
    let client = bench().client;
    assert_eq!(client.check_login(&server.host(), &user()).await.unwrap(), LoginCheck::Accepted);
    assert_eq!(server.lines(), ["GET /v2/", "GET /v2/"]);
    let error = client.check_login(&server.host(), &Credential::basic("user", "guess")).await.unwrap_err();
    let want = "HOST needs credentials: the given credentials are refused: no (UNAUTHORIZED)";
    assert_eq!(error.to_string().replace(&server.host(), "HOST"), want);
    let open = Server::start(|_, _| reply(200));
    assert_eq!(client.check_login(&open.host(), &user()).await.unwrap(), LoginCheck::NotAsked);
    assert!(open.requests().iter().all(|request| request.header("authorization").is_none()));
}

#[tokio::test]
async fn logins_are_checked_by_the_token_server() {
    let good = format!("Basic {}", STANDARD.encode("user:password"));
    let tokens = Server::start(move |request, _| match request.header("authorization") {
        Some(login) if login == good => reply(200).body(r#"{"token":"t"}"#),
        Some(_) => reply(401),
        None => reply(200).body(r#"{"token":"anonymous"}"#),
    });
    let line = format!(r#"Bearer realm="http://{}/t",service="lab""#, tokens.host());
    let server = Server::start(move |request, _| match request.header("authorization") {
        Some("Bearer t") => reply(200),
        _ => reply(401).header("www-authenticate", line.clone()),
    });
    let client = bench().client;
    assert_eq!(client.check_login(&server.host(), &user()).await.unwrap(), LoginCheck::Accepted);
    assert_eq!(tokens.lines(), ["GET /t?service=lab"]);
    let error = client.check_login(&server.host(), &Credential::basic("user", "guess")).await.unwrap_err();
    assert_eq!(error.credential_code().as_deref(), Some("token-server-status:401"));
}

#[tokio::test]
async fn a_ping_is_one_bare_request_and_is_told() {
    let server = private();
    let (bench, account) = watched(Some(user()));
    let ping = bench.client.ping(&server.host()).await.unwrap();
    assert_eq!((ping.status, ping.challenges), (401, vec!["Basic realm=\"lab\"".to_owned()]));
    assert_eq!(server.requests().len(), 1);
    let want = "GET http://HOST/v2/ (nothing) -> 401 [\"Basic realm=\\\"lab\\\"\"] UNAUTHORIZED: no";
    assert_eq!(lines(&account, &[(&server, "HOST")]), [want]);
    let broken = Server::start(|_, _| reply(503));
    assert_eq!(bench.client.ping(&broken.host()).await.unwrap().status, 503);
    assert_eq!(broken.requests().len(), 1);
}

/// A registry whose token server redirects.
fn redirecting(to: String) -> (Server, Server) {
    let tokens = Server::start(move |request, _| match request.path() {
        "/t" => reply(307).header("location", to.clone()),
        _ => reply(200).body(r#"{"token":"t"}"#),
    });
    let line = format!(r#"Bearer realm="http://{}/t",service="lab""#, tokens.host());
    let server = Server::start(move |request, _| match request.header("authorization") {
        Some(_) => reply(200).body(r#"{"tags":[]}"#),
        None => reply(401).header("www-authenticate", line.clone()),
    });
    (server, tokens)
}

#[tokio::test]
async fn a_token_request_is_told_although_its_redirect_is_refused() {
    let other = Server::start(|_, _| reply(200));
    let (server, tokens) = redirecting(format!("http://{}/t2?secret=x", other.host()));
    let (bench, account) = watched(Some(user()));
    bench.client.probe(&repository(&server), AccessKind::Pull).await.unwrap_err();
    let told = lines(&account, &[(&server, "HOST"), (&tokens, "AUTH"), (&other, "OTHER")]);
    insta::assert_snapshot!(told[2..].join("\n"), @r#"
    GET http://AUTH/t Some("lab") ["repository:acme/x:pull"] (login of user) -> Some(307) elsewhere: http://OTHER/t2
    refused token-redirect: the token server redirects a login to another origin, OTHER
    "#);
    assert_eq!((tokens.requests().len(), other.requests().len()), (1, 0));
}

#[tokio::test]
async fn every_token_request_along_a_redirect_is_told() {
    let (server, tokens) = redirecting("/t2".to_owned());
    let (bench, account) = watched(Some(user()));
    bench.client.probe(&repository(&server), AccessKind::Pull).await.unwrap();
    let told = lines(&account, &[(&server, "HOST"), (&tokens, "AUTH")]);
    insta::assert_snapshot!(told[2..].join("\n"), @r#"
    GET http://AUTH/t Some("lab") ["repository:acme/x:pull"] (login of user) -> Some(307) elsewhere: http://AUTH/t2
    http://AUTH/t -> http://AUTH/t2 (login of user)
    GET http://AUTH/t2 Some("lab") ["repository:acme/x:pull"] (login of user) -> Some(200) token None None
    GET http://HOST/v2/acme/x/tags/list (Token) -> 200 [] -
    "#);
}

#[tokio::test]
async fn a_request_that_nobody_answers_is_told() {
    let (bench, account) = watched(Some(user()));
    let nobody: RepositoryRef = "127.0.0.1:1/acme/x".parse().unwrap();
    bench.client.probe(&nobody, AccessKind::Pull).await.unwrap_err();
    let told = lines(&account, &[]).join("\n");
    assert!(told.starts_with("GET https://127.0.0.1:1/v2/acme/x/tags/list (nothing) -> no answer: "), "{told}");
    let (bench, account) = watched(Some(user()));
    let line = r#"Bearer realm="http://127.0.0.1:1/t""#;
    let server = Server::start(move |_, _| reply(401).header("www-authenticate", line));
    bench.client.probe(&repository(&server), AccessKind::Pull).await.unwrap_err();
    let told = lines(&account, &[(&server, "HOST")]);
    let asked = "GET http://127.0.0.1:1/t None [\"repository:acme/x:pull\"] (login of user) -> None none: ";
    assert!(told[2].starts_with(asked), "{told:#?}");
    let lost = Server::start(|_, _| reply(307).header("location", "http://127.0.0.1:1/there?secret=x"));
    let (bench, account) = watched(None);
    bench.client.probe(&repository(&lost), AccessKind::Pull).await.unwrap_err();
    let told = lines(&account, &[]);
    let last = told.last().unwrap();
    assert!(last.starts_with("GET http://127.0.0.1:1/there (nothing) -> no answer: "), "{told:#?}");
}
