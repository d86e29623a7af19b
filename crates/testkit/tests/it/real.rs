//! registry:2 starts and answers in every mode. Without the program these tests have nothing to say, except in CI,
//! where its absence is a failure.

use crate::wire::{push_blob, send, send_tls};
use tofu_oci_testkit::{Auth, Bearer, Login, RealMode, RealRegistry, RealTransport};

fn start(mode: RealMode) -> Option<RealRegistry> {
    let may_be_missing = std::env::var_os("CI").is_none();
    assert!(RealRegistry::available() || may_be_missing, "docker-registry is not on the PATH");
    RealRegistry::available().then(|| RealRegistry::start(mode).unwrap())
}

fn login() -> Login {
    Login::new("ann", "secret")
}

#[test]
fn plain_and_read_only_over_the_same_content() {
    let folder = tempfile::tempdir().unwrap();
    let data = folder.path().join("data");
    let Some(registry) = start(RealMode { data: Some(data.clone()), ..RealMode::plain() }) else { return };
    assert_eq!(push_blob(registry.address(), "a", b"hello", &[]), 201);
    drop(registry);
    let Some(registry) = start(RealMode::read_only(&data)) else { return };
    let digest = tofu_oci_types::Digest::sha256(b"hello");
    assert_eq!(send(registry.address(), "GET", &format!("/v2/a/blobs/{digest}"), &[], b"").unwrap().text(), "hello");
    assert_eq!(send(registry.address(), "POST", "/v2/a/blobs/uploads/", &[], b"").unwrap().status, 405);
}

#[test]
fn deletes() {
    let Some(registry) = start(RealMode::deletable()) else { return };
    assert_eq!(push_blob(registry.address(), "a", b"hello", &[]), 201);
    let path = format!("/v2/a/blobs/{}", tofu_oci_types::Digest::sha256(b"hello"));
    assert_eq!(send(registry.address(), "DELETE", &path, &[], b"").unwrap().status, 202);
}

#[test]
fn speaks_tls() {
    let Some(registry) = start(RealMode::tls()) else { return };
    assert_eq!(send_tls(registry.address(), registry.ca_pem().unwrap(), None, "/v2/", &[]).unwrap().status, 200);
}

#[test]
fn checks_htpasswd() {
    let Some(registry) = start(RealMode::htpasswd(login())) else { return };
    let ask = |headers: &[(&str, &str)]| send(registry.address(), "GET", "/v2/", headers, b"").unwrap().status;
    assert_eq!(ask(&[("Authorization", &login().basic_header())]), 200);
    assert_eq!(ask(&[("Authorization", &Login::new("ann", "wrong").basic_header())]), 401);
    assert_eq!(ask(&[]), 401);
}

#[test]
fn believes_our_tokens() {
    let Some(registry) = start(RealMode::token(Bearer::new(login()))) else { return };
    let begun = send(registry.address(), "POST", "/v2/a/blobs/uploads/", &[], b"").unwrap();
    let challenge = begun.header("Www-Authenticate").to_owned();
    let realm = challenge.split('"').nth(1).unwrap();
    let target = format!("{realm}?service=test-registry&scope=repository:a:pull,push");
    // Several tokens, since the length of the numbers in a signature varies.
    for _ in 0..20 {
        let answer = send("", "GET", &target, &[("Authorization", &login().basic_header())], b"").unwrap();
        let bearer = format!("Bearer {}", answer.json()["token"].as_str().unwrap());
        assert_eq!(push_blob(registry.address(), "a", b"hello", &[("Authorization", &bearer)]), 201);
        let other =
            send(registry.address(), "POST", "/v2/b/blobs/uploads/", &[("Authorization", &bearer)], b"").unwrap();
        assert!(other.header("Www-Authenticate").contains("insufficient_scope"));
    }
    assert_eq!(registry.token_requests().len(), 20);
}

#[test]
fn token_server_speaks_tls_too() {
    let mode =
        RealMode { transport: RealTransport::Tls, auth: Auth::Bearer(Bearer::new(login())), ..RealMode::plain() };
    let Some(registry) = start(mode) else { return };
    let ca = registry.ca_pem().unwrap();
    let begun = send_tls(registry.address(), ca, None, "/v2/a/tags/list", &[]).unwrap();
    let realm = begun.header("Www-Authenticate").split('"').nth(1).unwrap().to_owned();
    assert!(realm.starts_with("https://"), "{realm}");
    let target = format!("{realm}?service=test-registry&scope=repository:a:pull");
    let answer = send_tls("", ca, None, &target, &[("Authorization", &login().basic_header())]).unwrap();
    let bearer = format!("Bearer {}", answer.json()["token"].as_str().unwrap());
    let tags = send_tls(registry.address(), ca, None, "/v2/a/tags/list", &[("Authorization", &bearer)]).unwrap();
    assert_eq!(tags.status, 404);
}

#[test]
fn one_that_was_stopped_starts_again_on_the_same_address_with_its_content() {
    let Some(registry) = start(RealMode::plain()) else { return };
    assert_eq!(push_blob(registry.address(), "a", b"hello", &[]), 201);
    registry.stop();
    let path = format!("/v2/a/blobs/{}", tofu_oci_types::Digest::sha256(b"hello"));
    assert!(std::net::TcpStream::connect(registry.address()).is_err());
    registry.start_again().unwrap();
    assert_eq!(send(registry.address(), "GET", &path, &[], b"").unwrap().text(), "hello");
}
