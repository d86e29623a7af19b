//! Where requests may go, and what they may carry there.

use std::io::{Read as _, Write as _};
use std::net::{TcpListener, TcpStream};
use std::sync::{Arc, Mutex};

use tofu_oci_credentials::Credential;
use tofu_oci_http::{HttpLimits, HttpOptions, Proxies};
use tofu_oci_remote::NoCredentials;
use tofu_oci_store::{ReadStore as _, StoreError};
use tofu_oci_types::{Event, NetworkFault};

use crate::server::{Server, reply, stall};
use crate::support::{Bench, bench, bench_as, bench_with, blob, check_error, noise, read};

fn basic() -> Bench {
    bench_as(Credential::basic("user", "secret-word"))
}

const CHALLENGE: &str = r#"Basic realm="lab""#;

/// A registry that wants a password and sends blobs elsewhere.
fn redirecting(target: String) -> Server {
    Server::start(move |request, _| match request.header("authorization") {
        None => reply(401).header("www-authenticate", CHALLENGE),
        Some(_) => reply(307).header("location", target.clone()),
    })
}

#[tokio::test]
async fn authorization_is_dropped_at_a_redirect_to_another_port() {
    let bytes = noise(1000);
    let served = bytes.clone();
    let storage = Server::start(move |_, _| reply(200).body(served.clone()));
    let server = redirecting(format!("http://{}/o?X-Amz-Signature=abc", storage.host()));
    assert_eq!(read(&basic().store(&server), &blob(&bytes)).await.unwrap(), bytes);
    let asked = storage.requests();
    assert_eq!(asked[0].line(), "GET /o?X-Amz-Signature=abc");
    assert_eq!((asked[0].header("authorization"), asked[0].header("cookie")), (None, None));
}

#[tokio::test]
async fn authorization_stays_at_a_redirect_on_the_same_origin() {
    let bytes = noise(1000);
    let served = bytes.clone();
    let server = Server::start(move |request, _| match (request.header("authorization"), request.path()) {
        (None, _) => reply(401).header("www-authenticate", CHALLENGE),
        (_, "/elsewhere") => reply(200).body(served.clone()),
        _ => reply(301).header("location", "/elsewhere"),
    });
    assert_eq!(read(&basic().store(&server), &blob(&bytes)).await.unwrap(), bytes);
}

#[tokio::test]
async fn a_401_after_a_redirect_to_another_origin_gets_no_credentials() {
    let storage = Server::start(|_, _| reply(401).header("www-authenticate", CHALLENGE));
    let server = redirecting(format!("http://{}/o?sig=abc", storage.host()));
    let got = read(&basic().store(&server), &blob(b"x")).await;
    assert!(matches!(got, Err(StoreError::Rejected { status: 401, .. })), "{got:?}");
    assert_eq!(storage.requests().len(), 1);
    assert_eq!(storage.requests()[0].header("authorization"), None);
}

#[tokio::test]
async fn coming_back_from_another_origin_does_not_bring_the_credentials_back() {
    let other = Server::start(|request, _| {
        let home = request.target.split("home=").nth(1).unwrap_or_default();
        reply(307).header("location", format!("http://{home}/back"))
    });
    let away = format!("http://{}/away", other.host());
    let server = Server::start(move |request, _| match (request.path(), request.header("authorization")) {
        ("/back", _) => reply(200).body("x"),
        (_, None) => reply(401).header("www-authenticate", CHALLENGE),
        (_, Some(_)) => reply(307).header("location", format!("{away}?home={}", request.host())),
    });
    assert_eq!(read(&basic().store(&server), &blob(b"x")).await.unwrap(), "x");
    let asked = server.requests();
    assert!(asked[1].header("authorization").is_some());
    assert_eq!((asked[2].path(), asked[2].header("authorization")), ("/back", None));
}

#[tokio::test]
async fn a_registry_that_repeats_the_credentials_does_not_bring_them_into_errors_and_warnings() {
    let server = Server::start(|request, _| {
        let Some(shown) = request.header("authorization") else {
            return reply(401).header("www-authenticate", CHALLENGE);
        };
        let encoded = shown.trim_start_matches("Basic ");
        reply(418)
            .header("warning", format!(r#"299 - "{encoded} and secret-word""#))
            .error("DENIED", &format!("header was {shown}, {encoded}|secret-word"))
    });
    let bench = basic();
    let error = read(&bench.store(&server), &blob(b"x")).await.unwrap_err();
    let told = format!("{error} {error:?} {:?}", bench.events.0.lock().unwrap());
    assert!(
        told.contains("header was Basic [hidden], [hidden]|[hidden]") && told.contains("[hidden] and [hidden]"),
        "{told}"
    );
    assert!(!told.contains("secret-word") && !told.contains("dXNlcjpz"), "{told}");
}

#[tokio::test]
async fn queries_of_signed_addresses_stay_out_of_errors_and_events() {
    let storage =
        Server::start(|_, _| reply(500).error("X", "GET https://u:p@s3.test/o?X-Amz-Signature=topsecret failed"));
    let server = Server::start({
        let target = format!("http://{}/o?X-Amz-Signature=topsecret", storage.host());
        move |_, _| reply(307).header("location", target.clone())
    });
    let bench = bench();
    let error = read(&bench.store(&server), &blob(b"x")).await.unwrap_err();
    let told = format!("{error} {error:?} {:?}", bench.events.0.lock().unwrap());
    assert!(told.contains("500") && !told.contains("topsecret") && !told.contains("u:p"), "{told}");
}

#[tokio::test]
async fn more_than_ten_redirects_are_refused() {
    let server = Server::start(|_, nth| reply(307).header("location", format!("?{nth}")));
    let got = read(&bench().store(&server), &blob(b"x")).await;
    check_error(got, &server, "refused to follow HOST/x: it redirects more than 10 times");
    assert_eq!(server.requests().len(), 11);
}

#[tokio::test]
async fn ten_redirects_are_followed() {
    let server =
        Server::start(
            |_, nth| {
                if nth < 10 { reply(307).header("location", format!("?{nth}")) } else { reply(200).body("x") }
            },
        );
    assert_eq!(read(&bench().store(&server), &blob(b"x")).await.unwrap(), "x");
}

#[tokio::test]
async fn a_redirect_to_another_scheme_or_with_a_user_info_is_refused() {
    for target in ["file:///etc/passwd", "ftp://a.test/x", "http://user:pw@a.test/x"] {
        let server = Server::start(move |_, _| reply(307).header("location", target));
        let error = read(&bench().store(&server), &blob(b"x")).await.unwrap_err();
        assert!(matches!(error, StoreError::Forbidden { .. }), "{error}");
        assert!(!error.to_string().contains("pw"), "{error}");
    }
}

#[tokio::test]
async fn warnings_are_passed_on_once_and_stay_short() {
    let server = Server::start(|request, nth| {
        let long = "x".repeat(250);
        reply(404)
            .header("warning", r#"299 - "this registry closes \"soon\"""#)
            .header("warning", format!(r#"299 - "{nth} {} {long}""#, request.method))
            .header("warning", r#"110 - "stale""#)
    });
    let bench = bench();
    let store = bench.store(&server);
    for _ in 0..40 {
        assert!(!store.exists(&blob(b"x")).await.unwrap());
    }
    let events = bench.events.0.lock().unwrap();
    let texts: Vec<&String> = events
        .iter()
        .filter_map(|event| match event {
            Event::Message { code: "registry-warning", text, .. } => Some(text),
            _ => None,
        })
        .collect();
    assert_eq!(texts[0].replace(&server.host(), "HOST"), r#"HOST says: this registry closes "soon""#);
    assert!(texts.len() > 2 && texts.iter().map(|text| text.len()).sum::<usize>() <= 4096);
    assert!(texts.iter().filter(|text| text.contains("closes")).count() == 1);
}

#[tokio::test]
async fn an_error_body_is_read_up_to_its_limit_and_may_be_anything() {
    let server = Server::start(|_, _| reply(418).header("content-type", "text/html").body(vec![b'<'; 10 << 20]));
    let got = read(&bench().store(&server), &blob(b"x")).await;
    let digest = blob(b"x").digest;
    check_error(got, &server, &format!("HOST/x answered 418 to GET /v2/x/blobs/{digest}: i'm a teapot"));
}

#[tokio::test]
async fn nobody_there_is_said_at_once() {
    let server = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let repository = format!("{}/x", server.local_addr().unwrap());
    drop(server);
    let bench = bench();
    let error = bench.client.store(repository.parse().unwrap()).tags().await.unwrap_err();
    assert!(matches!(error, StoreError::Unreachable { .. }), "{error}");
    assert_eq!(bench.retries(), 0);
}

#[tokio::test]
async fn a_host_that_never_answers_is_given_up() {
    let idle = std::time::Duration::from_millis(50);
    let mut options = HttpOptions::default();
    options.limits = HttpLimits { first_byte: idle, ..options.limits };
    options.retry.attempts = 2;
    let server = Server::start(|_, _| stall());
    let bench = bench_with(options, Arc::new(NoCredentials));
    let got = bench.store(&server).tags().await;
    assert!(
        matches!(&got, Err(StoreError::Unreachable { problem, fault: NetworkFault::TimedOut, .. }) if problem.contains("timed out")),
        "{got:?}"
    );
    assert_eq!(bench.retries(), 1);
}

#[tokio::test]
async fn a_fixed_proxy_is_used_but_for_this_machine() {
    let proxy = Server::start(|_, _| reply(200));
    let options = HttpOptions {
        proxies: Proxies::Fixed(format!("http://{}", proxy.host())),
        plain_http: vec!["registry.test".to_owned()],
        ..HttpOptions::default()
    };
    let bench = bench_with(options, Arc::new(NoCredentials));
    assert!(bench.client.store("registry.test/x".parse().unwrap()).exists(&blob(b"x")).await.unwrap());
    let want = format!("HEAD http://registry.test/v2/x/blobs/{}", blob(b"x").digest);
    assert_eq!(proxy.lines(), [want]);
    let server = Server::start(|_, _| reply(200));
    assert!(bench.store(&server).exists(&blob(b"x")).await.unwrap());
    assert_eq!((proxy.requests().len(), server.requests().len()), (1, 1));
}

/// What a client says of a registry behind this proxy.
fn behind(proxy: &str) -> (Bench, tofu_oci_remote::RemoteStore) {
    let options = HttpOptions {
        proxies: Proxies::Fixed(proxy.to_owned()),
        plain_http: vec!["registry.test:80".to_owned()],
        ..HttpOptions::default()
    };
    let bench = bench_with(options, Arc::new(NoCredentials));
    let store = bench.client.store("registry.test:80/x".parse().unwrap());
    (bench, store)
}

#[tokio::test]
async fn a_proxy_that_wants_a_login_was_asked_five_times() {
    let proxy = Server::start(|_, _| reply(407).header("proxy-authenticate", "Basic"));
    let (bench, plain) = behind(&format!("http://{}", proxy.host()));
    for store in [plain, bench.client.store("registry.test:443/x".parse().unwrap())] {
        let got = store.tags().await;
        assert!(
            matches!(&got, Err(StoreError::Unreachable { problem, fault: NetworkFault::Proxy, .. }) if problem.contains("407")),
            "{got:?}"
        );
    }
    assert_eq!(bench.retries(), 0);
    assert_eq!(proxy.lines(), ["GET http://registry.test/v2/x/tags/list?n=1000", "CONNECT registry.test:443"]);
}

/// A SOCKS5 proxy without a login that leads to one server, whatever it is asked for; and what it was asked for.
fn socks_proxy(to: String) -> (String, Arc<Mutex<Vec<u8>>>) {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let (address, asked) = (format!("socks5h://{}", listener.local_addr().unwrap()), Arc::new(Mutex::new(Vec::new())));
    let log = Arc::clone(&asked);
    std::thread::spawn(move || {
        for mut client in listener.incoming().flatten() {
            let mut greeting = [0; 3];
            client.read_exact(&mut greeting).unwrap();
            client.write_all(&[5, 0]).unwrap();
            let mut head = [0; 5];
            client.read_exact(&mut head).unwrap();
            let mut name = vec![0; usize::from(head[4]) + 2];
            client.read_exact(&mut name).unwrap();
            log.lock().unwrap().extend_from_slice(&name);
            client.write_all(&[5, 0, 0, 1, 127, 0, 0, 1, 0, 80]).unwrap();
            let mut server = TcpStream::connect(&to).unwrap();
            let (mut back, mut from) = (client.try_clone().unwrap(), server.try_clone().unwrap());
            std::thread::spawn(move || std::io::copy(&mut from, &mut back));
            std::thread::spawn(move || std::io::copy(&mut client, &mut server));
        }
    });
    (address, asked)
}

#[tokio::test]
async fn a_socks_proxy_was_an_unsupported_scheme() {
    let server = Server::start(|_, _| reply(200).body(r#"{"name":"x","tags":["1.0.0"]}"#));
    let (address, asked) = socks_proxy(server.host());
    let (_bench, store) = behind(&address);
    assert_eq!(store.tags().await.unwrap().len(), 1);
    assert_eq!(*asked.lock().unwrap(), b"registry.test\0\x50", "the proxy looks the name up");
    assert_eq!(server.lines(), ["GET /v2/x/tags/list?n=1000"]);
}

#[tokio::test]
async fn a_signed_address_that_is_good_for_get_alone_shows_presence() {
    let storage = Server::start(|request, _| reply(if request.method == "HEAD" { 403 } else { 206 }));
    let target = format!("http://{}/o?sig=1", storage.host());
    let server = Server::start(move |_, _| reply(307).header("location", target.clone()));
    assert!(bench().store(&server).exists(&blob(b"x")).await.unwrap());
    assert_eq!(storage.requests()[1].header("range"), Some("bytes=0-0"));
}

#[tokio::test]
async fn the_password_of_a_proxy_is_not_printed() {
    let proxies = Proxies::Fixed("user:secret-word@a b".to_owned());
    assert_eq!(format!("{proxies:?}"), "Fixed(***)");
    let options = HttpOptions { proxies, ..HttpOptions::default() };
    let reporter = Arc::new(tofu_oci_types::NoReporter);
    let client = tofu_oci_remote::RegistryClient::new(options.into(), Arc::new(NoCredentials), reporter);
    let error = client.map(|_| ()).unwrap_err().to_string();
    assert_eq!(error, "the proxy is not usable: what was given is not an address");
}
