//! Connections that are made before a request needs them.

#![expect(clippy::unwrap_used, reason = "helpers of tests fail the test")]

use std::sync::Arc;

use reqwest::{Method, Request};
use tofu_oci_http::{AddressScope, HttpClient, HttpOptions, Progress};
use tofu_oci_testkit::{ClientCertificate, Fault, Registry, Round, Rounds, Rule};
use tofu_oci_types::NoReporter;
use url::Url;

fn client(registry: &Registry) -> Arc<HttpClient> {
    let ca_certificates = registry.ca_pem().map(|pem| pem.as_bytes().to_vec()).into_iter().collect();
    HttpClient::new(HttpOptions { ca_certificates, ..HttpOptions::default() }, Arc::new(NoReporter)).unwrap()
}

async fn get(client: &HttpClient, url: &Url) -> u16 {
    let request = Request::new(Method::GET, url.clone());
    client.execute(request, AddressScope::Machine, &Progress::default(), &mut client.attempts()).await.unwrap().status()
}

#[tokio::test]
async fn connections_are_made_without_a_request_and_used_by_the_next_ones() {
    for builder in [Registry::builder(), Registry::builder().tls(ClientCertificate::NotAsked)] {
        let registry = builder.start();
        let url = Url::parse(&format!("{}/v2/", registry.url())).unwrap();
        let client = client(&registry);
        // The first request is answered when there are four connections, the other three together.
        let rounds = Rounds::new([Round::of(1).with_connections(4), Round::of(3).with_connections(4)]);
        registry.fault(Rule::on("*", "*").then(Fault::InRounds(rounds.clone())));
        client.connect_ahead(&url, 4);
        assert_eq!(get(&client, &url).await, 200);
        let three = futures_util::future::join_all((0..3).map(|_| get(&client, &url))).await;
        assert_eq!(three, [200, 200, 200]);
        rounds.check();
        // The pool has idle connections now. Whatever is made ahead, nothing is sent.
        client.connect_ahead(&url, 2);
        assert_eq!(get(&client, &url).await, 200);
        assert_eq!(registry.requests().len(), 5);
    }
}

#[tokio::test]
async fn a_host_that_takes_no_connection_fails_the_request_and_nothing_else() {
    let url = Url::parse("http://127.0.0.1:1/").unwrap();
    let client = HttpClient::new(HttpOptions::default(), Arc::new(NoReporter)).unwrap();
    client.connect_ahead(&url, 3);
    let request = Request::new(Method::GET, url.clone());
    let error = client
        .execute(request, AddressScope::Machine, &Progress::default(), &mut client.attempts())
        .await
        .err()
        .unwrap();
    assert!(error.lasting, "{:?}", error.problem);
}
