//! Where archives lie, who gets which secret, and how they come.

use super::*;

/// Where a mirror's archive with this address leads, if `VERSION.json` is at `mirror.example.test`.
async fn led_to(archive: &str, hashes: &str, plain: &[&str]) -> String {
    let server = WebServer::start(&["mirror.example.test"]);
    server
        .page(VERSION, json(&format!(r#"{{"archives":{{"linux_amd64":{{"url":"{archive}","hashes":[{hashes}]}}}}}}"#)));
    let tunnel = Tunnel::start([("mirror.example.test:443", server.address())]);
    let mut bench = Bench::trusting(server.ca_pem());
    bench.options.proxies = Proxies::Fixed(tunnel.url());
    bench.options.plain_http = plain.iter().map(ToString::to_string).collect();
    match offer(&bench.mirror("https://ada:pw@mirror.example.test/mirror/"), "linux_amd64").await {
        Ok(offer) => url(&offer).to_string(),
        Err(error) => said(&error, server.address()).rsplit_once(".json").unwrap().1.to_owned(),
    }
}

#[tokio::test]
async fn an_archive_lies_where_the_document_says_and_no_nearer() {
    let folder = "https://ada:pw@mirror.example.test/mirror/registry.example.test/acme/widget";
    assert_eq!(led_to("a%20b.zip?x=1", "", &[]).await, format!("{folder}/a%20b.zip?x=1"));
    assert_eq!(
        led_to("../x.zip", "", &[]).await,
        "https://ada:pw@mirror.example.test/mirror/registry.example.test/acme/x.zip"
    );
    assert_eq!(led_to("/x.zip", "", &[]).await, "https://ada:pw@mirror.example.test/x.zip");
    // The user info goes along only if the address is relative.
    let same = "https://mirror.example.test/x.zip";
    assert_eq!(led_to(same, "", &[]).await, same);
    let other = "https://cdn.example.test/x.zip?sig=1";
    assert_eq!(led_to(other, "", &[]).await, other);
    let why = ": the address of the archive is not used";
    assert_eq!(
        led_to("https://u:p@cdn.example.test/x.zip", "", &[]).await,
        format!("{why}: it names an address on cdn.example.test with a user info")
    );
    assert_eq!(led_to("file:///etc/passwd", "", &[]).await, format!("{why}: it names an address of the scheme file"));
    assert_eq!(
        led_to("https://127.0.0.1/x.zip", "", &[]).await,
        " leads to 127.0.0.1, which is on this machine or in a private network"
    );
    assert_eq!(
        led_to("https://10.0.0.1/x.zip", "", &[]).await,
        " leads to 10.0.0.1, which is on this machine or in a private network"
    );
    // Plain HTTP: if a checksum says which bytes come, and the user names the host.
    let (plain, zh) = ("http://cdn.example.test/x.zip", format!(r#""zh:{}""#, "0".repeat(64)));
    let refused = format!("{why}: it leads from HTTPS to plain HTTP on cdn.example.test");
    assert_eq!(led_to(plain, "", &["cdn.example.test"]).await, refused);
    assert_eq!(led_to(plain, &zh, &[]).await, refused);
    assert_eq!(led_to(plain, &zh, &["cdn.example.test"]).await, plain);
}

#[tokio::test]
async fn relative_archives_lie_beside_the_document_that_answered() {
    let (upstream, front) = (upstream(), WebServer::start(&[]));
    let certificates = [upstream.ca_pem(), front.ca_pem().unwrap()].map(|pem| pem.as_bytes().to_vec());
    front.fault(Rule::on("*", "*").then(Fault::Redirect { status: 302, prefix: upstream.origin().to_owned() }));
    let mut bench = Bench::trusting(None);
    bench.options.ca_certificates = certificates.to_vec();
    bench.tokens.insert(front.address().parse().unwrap(), Secret::new("token-of-front"));
    let mirror = bench.mirror(&format!("https://ada:pw@{}/mirror/", front.address()));
    let offer = offer(&mirror, "linux_amd64").await.unwrap();
    assert!(url(&offer).as_str().starts_with(&upstream.mirror_url()), "{}", url(&offer));
    bytes(&offer).await.unwrap();
    assert_eq!(front.requests()[0].header("authorization"), Some("Bearer token-of-front"));
    assert!(upstream.requests().iter().all(|request| request.header("authorization").is_none()));
}

#[tokio::test]
async fn documents_get_the_token_of_the_host_and_archives_never() {
    let upstream = upstream();
    let mut bench = Bench::trusting(Some(upstream.ca_pem()));
    bench.tokens.insert(upstream.address().parse().unwrap(), Secret::new("token-of-mirror"));
    let mirror = bench.mirror(&upstream.mirror_url());
    mirror.versions(&address()).await.unwrap();
    bytes(&offer(&mirror, "linux_amd64").await.unwrap()).await.unwrap();
    let requests = upstream.requests();
    let sent: Vec<_> = requests.iter().map(|request| request.header("authorization")).collect();
    assert_eq!(sent, [Some("Bearer token-of-mirror"), Some("Bearer token-of-mirror"), None]);
}

#[tokio::test]
async fn user_info_is_sent_as_basic_and_shown_nowhere() {
    let upstream = upstream();
    let bench = Bench::trusting(Some(upstream.ca_pem()));
    let with = |user_info: &str| upstream.mirror_url().replace("https://", &format!("https://{user_info}@"));
    let mirror = bench.mirror(&with("ada:hunter2"));
    mirror.versions(&address()).await.unwrap();
    bytes(&offer(&mirror, "linux_amd64").await.unwrap()).await.unwrap();
    for request in upstream.requests() {
        assert_eq!(request.header("authorization"), Some("Basic YWRhOmh1bnRlcjI="), "{}", request.line());
    }
    upstream.fault(Rule::on("GET", "*.zip").then(Fault::Answer(Answer::text(403, "no"))));
    let denied = offer(&mirror, "linux_amd64").await.unwrap();
    for text in [
        said(&bytes(&denied).await.unwrap_err(), upstream.address()),
        format!("{denied:?} {}", part(&denied)),
        mirror.place().to_string(),
    ] {
        assert!(!text.contains("hunter2") && !text.contains("ada"), "{text}");
    }
}

#[tokio::test]
async fn archives_that_do_not_come_say_why() {
    let check = async |fault: Fault, code: &str, times: usize| {
        let upstream = upstream();
        upstream.fault(Rule::on("GET", "*.zip").then(fault));
        let offer = offer(&of(&upstream), "linux_amd64").await.unwrap();
        let error = bytes(&offer).await.unwrap_err();
        assert_eq!((error.code(), upstream.requests().len() - 1), (code, times), "{}", causes(&error));
    };
    for (status, code, times) in [
        (404, "archive-not-found", 1),
        (401, "unauthorized", 1),
        (410, "archive-not-found", 1),
        (500, "server-error", 5),
        (501, "server-error", 1),
        (429, "too-many-requests", 5),
    ] {
        check(Fault::Answer(Answer::text(status, "no")), code, times).await;
    }
    check(Fault::Disconnect, "connection-lost", 5).await;
    // Each resumption breaks again before much has come.
    check(Fault::CutBody(10), "connection-lost", 5).await;
}

#[tokio::test]
async fn a_truncated_archive_is_resumed() {
    let upstream = upstream();
    upstream.list_hashes(MirrorHashes::H1);
    upstream.fault(Rule::on("GET", "*.zip").once().then(Fault::CutBody(100)));
    let offer = offer(&of(&upstream), "linux_amd64").await.unwrap();
    assert_eq!(bytes(&offer).await.unwrap(), upstream.zip("acme/widget", "1.0.0", "linux_amd64"));
    let requests = upstream.requests();
    assert_eq!(requests.last().unwrap().header("range"), Some("bytes=100-"));
    assert!(requests.last().unwrap().header("if-range").is_some());
}
