//! Basic and Bearer as real registries do them.

use std::time::Duration;

use crate::wire::{Reply, send};
use tofu_oci_testkit::{Anonymous, Auth, Bearer, Login, Registry, Rights, TokenAddress};

fn registry(change: impl Fn(&mut Bearer)) -> Registry {
    let mut bearer = Bearer::new(Login::new("ann", "secret"));
    bearer.users.push(Login { rights: Rights::Pull, ..Login::new("reader", "secret") });
    change(&mut bearer);
    Registry::builder().auth(Auth::Bearer(bearer)).start()
}

fn ask(registry: &Registry, method: &str, target: &str, authorization: &str) -> Reply {
    let headers = [("Authorization", authorization)];
    let headers = if authorization.is_empty() { &[][..] } else { &headers[..] };
    send(registry.address(), method, target, headers, b"").unwrap()
}

/// The status of an upload's POST with the token that the endpoint gives this caller for this scope.
#[track_caller]
fn check(change: impl Fn(&mut Bearer), authorization: &str, scope: &str, want: (u16, &str)) {
    let registry = registry(change);
    let target = format!("http://{}/token?service=test-registry&scope={scope}", registry.token_address());
    let answer = ask(&registry, "GET", &target, authorization);
    if answer.status != 200 {
        assert_eq!((answer.status, "no token"), want);
        return;
    }
    let bearer = format!("Bearer {}", answer.json()["token"].as_str().unwrap());
    let reply = ask(&registry, "POST", "/v2/a/blobs/uploads/", &bearer);
    let challenge = reply.header("Www-Authenticate");
    assert!(reply.status == want.0 && challenge.contains(want.1), "{} {challenge}", reply.status);
    assert_eq!(registry.token_requests().len(), 1);
}

#[test]
fn grants_by_user_and_scope() {
    let (ann, reader) = (Login::new("ann", "secret").basic_header(), Login::new("reader", "secret").basic_header());
    let wrong = Login::new("ann", "wrong").basic_header();
    let both = "repository:a:pull,push";
    check(|_| {}, &ann, both, (202, ""));
    check(|bearer| bearer.address = TokenAddress::OwnListener, &ann, both, (202, ""));
    check(|_| {}, &ann, "repository:b:pull,push", (401, "error=\"insufficient_scope\""));
    check(|_| {}, &reader, both, (401, "error=\"insufficient_scope\""));
    check(|bearer| bearer.ttl = Duration::ZERO, &ann, both, (401, "error=\"invalid_token\""));
    check(|_| {}, &wrong, both, (401, "no token"));
    check(|_| {}, "", both, (401, "no token"));
    check(|bearer| bearer.anonymous = Anonymous::MayPull, "", both, (401, "error=\"insufficient_scope\""));
}

#[test]
fn challenges_like_registry_2() {
    let registry = registry(|_| {});
    let realm = format!("Bearer realm=\"{}/token\",service=\"test-registry\"", registry.url());
    let challenge = |method, target| ask(&registry, method, target, "").header("Www-Authenticate").to_owned();
    assert_eq!(challenge("GET", "/v2/"), realm);
    assert_eq!(challenge("GET", "/v2/a/b/tags/list"), format!("{realm},scope=\"repository:a/b:pull\""));
    let mount = challenge("POST", "/v2/a/blobs/uploads/?mount=x&from=b");
    assert_eq!(mount, format!("{realm},scope=\"repository:a:pull,push repository:b:pull\""));
}

#[test]
fn hands_out_tokens_for_refresh_tokens() {
    let registry = registry(|_| {});
    let form = |refresh: &str| {
        let body = format!("grant_type=refresh_token&refresh_token={refresh}&scope=repository%3Aa%3Apull%2Cpush");
        send(registry.address(), "POST", "/token", &[], body.as_bytes()).unwrap()
    };
    let answer = form(&registry.issue_refresh_token("ann"));
    let bearer = format!("Bearer {}", answer.json()["access_token"].as_str().unwrap());
    assert_eq!(ask(&registry, "POST", "/v2/a/blobs/uploads/", &bearer).status, 202);
    assert_eq!(form("wrong").status, 401);
}

#[test]
fn basic_takes_the_right_password_only() {
    let registry = Registry::builder().auth(Auth::Basic(Login::new("ann", "secret"))).start();
    assert_eq!(ask(&registry, "GET", "/v2/", "").header("Www-Authenticate"), "Basic realm=\"test\"");
    assert_eq!(ask(&registry, "GET", "/v2/", &Login::new("ann", "wrong").basic_header()).status, 401);
    assert_eq!(ask(&registry, "GET", "/v2/", &Login::new("ann", "secret").basic_header()).status, 200);
}
