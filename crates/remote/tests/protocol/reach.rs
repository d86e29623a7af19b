//! Where a registry may send this program: as far away as itself or farther.

use std::io;
use std::net::IpAddr;
use std::sync::{Arc, Mutex};

use async_trait::async_trait;
use tofu_oci_http::{HttpOptions, NameService, Proxies};
use tofu_oci_remote::{NoCredentials, RemoteStore};
use tofu_oci_store::{BlobSender, ReadStore as _, Store as _, StoreError};
use tofu_oci_types::{Digest, Reference};

use crate::server::{Reply, Request, Server, reply};
use crate::support::{Bench, MANIFEST, bench_with, blob, manifest_reply, noise, read};

/// `far.test` is in the internet as well as here, so that it can be reached. `near.test` is here alone.
#[derive(Default)]
struct Names(Mutex<Vec<String>>);

#[async_trait]
impl NameService for Names {
    async fn addresses(&self, name: &str) -> io::Result<Vec<IpAddr>> {
        self.0.lock().unwrap().push(name.to_owned());
        let here = IpAddr::from([127, 0, 0, 1]);
        match name {
            "far.test" => Ok(vec![here, [93, 184, 216, 34].into()]),
            "near.test" | "proxy.test" | "localhost" => Ok(vec![here]),
            _ => Err(io::Error::new(io::ErrorKind::NotFound, "no such name")),
        }
    }
}

/// A client that speaks plain HTTP with all these, and may be led to `private`.
fn far_bench(private: &[&str]) -> Bench {
    let plain = ["far.test", "near.test", "127.0.0.1", "10.0.0.1", "169.254.169.254", "localhost"];
    let options = HttpOptions {
        names: Arc::new(Names::default()),
        plain_http: plain.map(str::to_owned).to_vec(),
        private_hosts: private.iter().map(ToString::to_string).collect(),
        proxies: Proxies::Direct,
        ..HttpOptions::default()
    };
    bench_with(options, Arc::new(NoCredentials))
}

fn port(server: &Server) -> String {
    server.host().rsplit_once(':').unwrap().1.to_owned()
}

fn far_store(bench: &Bench, server: &Server) -> RemoteStore {
    bench.client.store(format!("far.test:{}/x", port(server)).parse().unwrap())
}

/// What is asked of a registry, and how it ends.
#[derive(Clone, Copy, Debug)]
enum Asked {
    Blob,
    Manifest,
    Tag,
    Tags,
    Referrers,
    Exists,
    Push,
}

const READING: [Asked; 6] = [Asked::Blob, Asked::Manifest, Asked::Tag, Asked::Tags, Asked::Referrers, Asked::Exists];

async fn ask(store: &RemoteStore, asked: Asked) -> Result<(), StoreError> {
    let bytes = noise(1000);
    let (descriptor, digest) = (blob(&bytes), Digest::sha256(b"{}"));
    match asked {
        Asked::Blob => read(store, &descriptor).await.map(drop),
        Asked::Manifest => store.resolve(&Reference::Digest(digest)).await.map(drop),
        Asked::Tag => store.resolve(&Reference::Tag("1.0.0".parse().unwrap())).await.map(drop),
        Asked::Tags => store.tags().await.map(drop),
        Asked::Referrers => store.referrers(&digest).await.map(drop),
        Asked::Exists => store.exists(&descriptor).await.map(drop),
        Asked::Push => store.push(&descriptor, &bytes).await.map(drop),
    }
}

/// A registry that answers every request with this redirect.
fn sending_to(location: String) -> Server {
    Server::start(move |_, _| reply(307).header("location", location.clone()))
}

fn is_refused(got: &Result<(), StoreError>) -> bool {
    got.as_ref().is_err_and(|error| error.code() == "private-host" && matches!(error, StoreError::Forbidden { .. }))
}

#[tokio::test]
async fn no_redirect_of_a_registry_leads_to_this_machine_or_a_private_network() {
    let inside = Server::start(|_, _| reply(200).body("{}"));
    let port = port(&inside);
    for host in
        ["127.0.0.1", "127.1", "0x7f.1", "localhost", "[::ffff:127.0.0.1]", "near.test", "10.0.0.1", "169.254.169.254"]
    {
        let server = sending_to(format!("http://{host}:{port}/secret"));
        let bench = far_bench(&[]);
        for asked in READING {
            let got = ask(&far_store(&bench, &server), asked).await;
            assert!(is_refused(&got), "{asked:?} to {host}: {got:?}");
        }
        assert_eq!(bench.retries(), 0, "{host}");
    }
    assert_eq!(inside.lines(), [""; 0]);
    let server = sending_to(format!("http://127.0.0.1:{port}/secret"));
    let got = ask(&far_store(&far_bench(&[]), &server), Asked::Tags).await.unwrap_err().to_string();
    let got = got.replace(&port, "PORT").replace(&server.host().replace("127.0.0.1", "far.test"), "far.test:OWN");
    insta::assert_snapshot!(got, @"refused to follow far.test:OWN/x: it leads to 127.0.0.1:PORT, on this machine or in a private network, from a host elsewhere");
}

#[tokio::test]
async fn a_redirect_goes_on_where_the_user_allows_it_and_as_far_away() {
    let bytes = noise(1000);
    let served = bytes.clone();
    let inside = Server::start(move |_, _| reply(200).body(served.clone()));
    let port = port(&inside);
    for (host, private) in [
        ("127.0.0.1", vec!["127.0.0.1".to_owned()]),
        ("127.0.0.1", vec![format!("127.0.0.1:{port}")]),
        ("near.test", vec!["near.test".to_owned()]),
        ("far.test", Vec::new()),
    ] {
        let server = sending_to(format!("http://{host}:{port}/o"));
        let private: Vec<&str> = private.iter().map(String::as_str).collect();
        let got = ask(&far_store(&far_bench(&private), &server), Asked::Blob).await;
        got.unwrap_or_else(|error| panic!("{host}: {error}"));
    }
}

#[tokio::test]
async fn a_registry_of_this_machine_and_one_of_a_private_network_lead_to_their_object_stores() {
    let bytes = noise(1000);
    let served = bytes.clone();
    let inside = Server::start(move |_, _| reply(200).body(served.clone()));
    for host in ["127.0.0.1", "near.test", "localhost"] {
        let server = sending_to(format!("http://{host}:{}/o", port(&inside)));
        for registry in ["127.0.0.1", "near.test"] {
            let store = far_bench(&[]).client.store(format!("{registry}:{}/x", port(&server)).parse().unwrap());
            assert_eq!(read(&store, &blob(&bytes)).await.unwrap(), bytes, "{registry} leads to {host}");
        }
    }
}

#[tokio::test]
async fn a_connection_that_is_open_already_is_not_used_for_a_redirect_from_a_host_elsewhere() {
    let inside = Server::start(|_, _| reply(200).body(r#"{"name":"x","tags":["1.0.0"]}"#));
    let server = sending_to(format!("http://near.test:{}/v2/x/tags/list", port(&inside)));
    let bench = far_bench(&[]);
    let own = bench.client.store(format!("near.test:{}/x", port(&inside)).parse().unwrap());
    assert_eq!(own.tags().await.unwrap().len(), 1);
    let got = ask(&far_store(&bench, &server), Asked::Tags).await;
    assert!(is_refused(&got), "{got:?}");
    assert_eq!(own.tags().await.unwrap().len(), 1, "the user's own registry stays open to the user");
    assert_eq!(inside.lines().len(), 2);
}

#[tokio::test]
async fn an_upload_location_does_not_lead_to_this_machine() {
    let inside = Server::start(|_, _| reply(201));
    for host in ["127.0.0.1", "near.test"] {
        let location = format!("http://{host}:{}/u/1", port(&inside));
        let server = Server::start(move |request: &Request, _| -> Reply {
            match request.line().split(' ').next() {
                Some("POST") => reply(202).header("location", location.clone()),
                _ => reply(404),
            }
        });
        let got = ask(&far_store(&far_bench(&[]), &server), Asked::Push).await;
        assert!(is_refused(&got), "{host}: {got:?}");
        ask(&far_store(&far_bench(&[host]), &server), Asked::Push).await.unwrap();
    }
    assert_eq!(inside.lines().len(), 2, "each PUT was allowed");
}

#[tokio::test]
async fn a_host_that_a_registry_led_to_led_an_upload_back_to_this_machine() {
    for method in ["POST", "PUT"] {
        let inside = Server::start(|_, _| reply(201));
        let session = format!("http://near.test:{}/u/1", port(&inside));
        let outside = Server::start(move |_, _| -> Reply {
            // 307 for the `PUT` that is led here, which ends the session.
            reply(if method == "POST" { 202 } else { 307 }).header("location", session.clone())
        });
        let away = format!("http://far.test:{}/elsewhere", port(&outside));
        let server = Server::start(move |request: &Request, _| -> Reply {
            match request.line().split(' ').next() {
                Some(asked) if asked == method => reply(307).header("location", away.clone()),
                Some("POST") => reply(202).header("location", "/u/0"),
                _ => reply(404),
            }
        });
        let bench = far_bench(&[]);
        let store = bench.client.store(format!("near.test:{}/x", port(&server)).parse().unwrap());
        let got = ask(&store, Asked::Push).await;
        assert!(is_refused(&got), "{method}: {got:?}");
        assert_eq!((outside.lines().len(), inside.lines().len()), (1, 0), "{method}");
    }
}

#[tokio::test]
async fn a_token_server_is_no_nearer_than_its_registry() {
    let tokens = Server::start(|_, _| reply(200).body(r#"{"token":"abc"}"#));
    let answer = |host: &str, inner: &Server| {
        let line = format!(r#"Bearer realm="http://{host}:{}/token""#, port(inner));
        Server::start(move |request, _| match request.header("authorization") {
            None => reply(401).header("www-authenticate", line.clone()),
            Some(_) => manifest_reply(MANIFEST, b"{}"),
        })
    };
    let server = answer("near.test", &tokens);
    let got = ask(&far_store(&far_bench(&[]), &server), Asked::Manifest).await.unwrap_err();
    assert_eq!(got.credential_code().as_deref(), Some("realm-private-address"), "{got}");
    let elsewhere = sending_to(format!("http://near.test:{}/token", port(&tokens)));
    let server = answer("far.test", &elsewhere);
    let got = ask(&far_store(&far_bench(&[]), &server), Asked::Manifest).await.unwrap_err();
    assert_eq!(got.credential_code().as_deref(), Some("realm-private-address"), "{got}");
    assert_eq!(tokens.lines(), [""; 0]);
    let server = answer("near.test", &tokens);
    ask(&far_store(&far_bench(&["near.test"]), &server), Asked::Manifest).await.unwrap();
}

/// Over TLS, so that a client could go there.
#[tokio::test]
async fn clients_of_a_bridge_were_sent_to_this_machine() {
    let sender = async |registry: &str, location: &str, private: &[&str]| {
        let server = sending_to(location.to_owned());
        let bench = far_bench(private);
        let store = bench.client.store(format!("{registry}:{}/x", port(&server)).parse().unwrap());
        match store.blob_sender(&blob(b"x")).await {
            Ok(BlobSender::OtherHost(address)) => address.unwrap_or_else(|| "none".to_owned()),
            Ok(BlobSender::Store(_)) => "the store".to_owned(),
            Err(error) => error.code().to_owned(),
        }
    };
    for host in ["127.0.0.1", "0x7f.1", "[::ffff:10.0.0.1]", "near.test", "169.254.169.254", "localhost"] {
        let address = format!("https://{host}:1/x");
        assert_eq!(sender("far.test", &address, &[]).await, "private-host", "{host}");
        assert!(sender("near.test", &address, &[]).await.starts_with("https://"), "{host}");
    }
    assert_eq!(sender("far.test", "https://near.test:1/x", &["near.test"]).await, "https://near.test:1/x");
    assert_eq!(sender("far.test", "https://unknown.test/x", &[]).await, "https://unknown.test/x");
}

#[tokio::test]
async fn a_proxy_in_a_private_network_takes_redirects_as_any_request() {
    let bytes = noise(1000);
    let served = bytes.clone();
    // It answers for both hosts, as a proxy does for plain HTTP.
    let proxy = Server::start(move |request, _| match request.header("host") {
        Some("far.test") => reply(307).header("location", "http://store.test/o"),
        _ => reply(200).body(served.clone()),
    });
    let options = HttpOptions {
        names: Arc::new(Names::default()),
        plain_http: vec!["far.test".to_owned(), "store.test".to_owned()],
        proxies: Proxies::Fixed(format!("http://proxy.test:{}", port(&proxy))),
        ..HttpOptions::default()
    };
    let bench = bench_with(options, Arc::new(NoCredentials));
    let registry = bench.client.store("far.test/x".parse().unwrap());
    assert_eq!(read(&registry, &blob(&bytes)).await.unwrap(), bytes);
    assert_eq!(proxy.lines().len(), 2);
}
