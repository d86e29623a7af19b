//! Clients that ask for more than they may see, and requests that would spoil what others get.

use http::header::{AUTHORIZATION, CACHE_CONTROL};
use insta::assert_snapshot;
use tofu_oci_types::Secret;

use super::modules::{NETWORK, OTHER, ZIP, below, locations};
use super::{Answer, Site, SiteOptions, ZAP};
use crate::{ClientRule, TokenDigest};

const ODD: &str = "registry.acme.example/acme/odd/aws";
const NOTHING: &str = "registry.acme.example/acme/nothing/aws";

fn client(name: &str, token: &str, modules: &[&str]) -> ClientRule {
    ClientRule {
        name: name.parse().unwrap(),
        token: TokenDigest::of(&Secret::new(token)),
        providers: vec!["registry.acme.example/acme/zap".parse().unwrap()],
        modules: modules.iter().map(|pattern| pattern.parse().unwrap()).collect(),
    }
}

/// With `ci`, who sees one module, and `ops`, who sees all.
async fn restricted() -> Site {
    let clients = vec![client("ci", "trumpet", &[NETWORK]), client("ops", "drum", &["*/*/*/*"])];
    Site::with(SiteOptions { clients, ..SiteOptions::default() }).await
}

async fn ask(site: &Site, path: &str, token: &str) -> Answer {
    site.ask("GET", path, &[(AUTHORIZATION.as_str(), &format!("Bearer {token}"))]).await
}

/// What can be asked about a version of a module: documents, the archive, and pages.
fn paths(address: &str) -> [String; 5] {
    let name = address.split('/').nth(2).unwrap();
    [
        format!("/modules/{address}/versions"),
        format!("/modules/{address}/1.0.0/download"),
        format!("/modules/{address}/1.0.0/{name}-aws_1.0.0.zip"),
        format!("/module/{address}"),
        format!("/module/{address}/1.0.0"),
    ]
}

/// The whole answer, with one name for both modules.
fn all_of(answer: &Answer, address: &str) -> String {
    let name = address.split('/').nth(2).unwrap();
    let headers = answer.headers.iter().filter(|(name, _)| *name != "content-length");
    let headers: Vec<String> = headers.map(|(name, value)| format!("{name}: {value:?}")).collect();
    format!("{}\n{}", headers.join("\n"), answer.shown()).replace(name, "NAME")
}

#[tokio::test]
async fn a_module_that_a_client_may_not_see_is_answered_as_one_that_does_not_exist() {
    let site = restricted().await;
    for (there, missing) in paths(ODD).iter().zip(paths(NOTHING)) {
        for token in ["trumpet", "wrong", ""] {
            let (one, other) = (ask(&site, there, token).await, ask(&site, &missing, token).await);
            let want = if token == "trumpet" { 403 } else { 401 };
            assert_eq!((one.status.as_u16(), other.status.as_u16()), (want, want), "{there}");
            assert_eq!(all_of(&one, ODD), all_of(&other, NOTHING), "{there}");
        }
    }
    assert_eq!(site.modules_asked(), 0, "no repository was asked, so that no time tells either");
    let start = ask(&site, "/", "trumpet").await;
    assert!(!start.text().contains("registry.terraform.io"), "{}", start.text());
    // What it may see and is missing is not found, as for everyone.
    assert_eq!(ask(&site, &paths(NETWORK)[0], "trumpet").await.status, 200);
    assert_eq!(ask(&site, &paths(NOTHING)[0], "drum").await.status, 404);
    let start = ask(&site, "/", "trumpet").await;
    assert!(start.text().contains("network") && !start.text().contains("odd"), "{}", start.text());
}

/// The path and the query that a link is read as.
fn unfolded(link: &str) -> (String, String) {
    let uri = crate::access::with_query(&below(link).parse().unwrap()).unwrap();
    (uri.path().to_owned(), uri.query().unwrap().to_owned())
}

#[tokio::test]
async fn the_link_of_an_archive_opens_nothing_else() {
    let site = restricted().await;
    let token = [("authorization", "Bearer trumpet")];
    let (link, _) = locations(&site, NETWORK, "1.0.0", &token).await;
    assert_eq!(site.get(below(&link)).await.body, ZIP);
    let (path, query) = unfolded(&link);
    let (path, query) = (path.as_str(), query.as_str());
    assert_eq!(site.get(&format!("{path}?{query}")).await.body, ZIP);
    let others = paths(NETWORK).into_iter().chain(paths(OTHER)).chain(paths(ODD)).filter(|other| other != path);
    let more = [
        format!("/modules/{NETWORK}/1.2.0+b.1/network-aws_1.2.0+b.1.zip"),
        format!("/mirror/{ZAP}/index.json"),
        format!("/registry/{ZAP}/versions"),
        "/".to_owned(),
    ];
    for other in others.chain(more) {
        let answer = site.get(&format!("{other}?{query}")).await;
        // A page asks for a login.
        assert!(matches!(answer.status.as_u16(), 401 | 403), "{other}: {}", answer.shown());
    }
    // The link of a client that sees another module, too, is for the one that it was made for.
    let (wide, _) = locations(&site, OTHER, "2.0.0", &[("authorization", "Bearer drum")]).await;
    let (_, wide) = unfolded(&wide);
    assert_snapshot!(site.get(&format!("{path}?{wide}")).await.shown(), @r#"403 {"errors":["this link is not valid here: it was changed, or the token that it was made for was removed; run the command again"]}"#);
    // Another client's name does not make it that client's.
    assert_eq!(site.get(&format!("{path}?{}", query.replace("client=ci", "client=ops"))).await.status, 403);
    // What a client may see no longer, its old links do not open.
    let clients = vec![client("ci", "trumpet", &[OTHER])];
    let later = Site::with(SiteOptions { clients, ..SiteOptions::default() }).await;
    assert_eq!(later.get(&format!("{path}?{query}")).await.status, 403);
}

#[tokio::test]
async fn answers_with_the_links_of_one_client_are_kept_for_no_other() {
    let site = restricted().await;
    let mut links = Vec::new();
    for token in ["trumpet", "drum", "trumpet"] {
        let answer = ask(&site, &paths(NETWORK)[1], token).await;
        assert_eq!(answer.header(CACHE_CONTROL.as_str()), "private, no-store");
        links.push(answer.header("x-terraform-get").to_owned());
    }
    assert!(links[0].contains("~ci~") && links[1].contains("~ops~"), "{links:?}");
    assert_eq!(links[0], links[2]);
}

/// Headers by which proxies, and those who poison their caches, name another host, path or method.
const FORWARDED: [(&str, &str); 10] = [
    ("host", "evil.example"),
    ("x-forwarded-host", "evil.example"),
    ("x-forwarded-proto", "http"),
    ("x-forwarded-prefix", "/evil"),
    ("x-forwarded-server", "evil.example"),
    ("forwarded", "host=evil.example;proto=http"),
    ("x-original-url", "/modules/evil.example/a/b/c/versions"),
    ("x-rewrite-url", "/modules/evil.example/a/b/c/versions"),
    ("x-http-method-override", "DELETE"),
    ("x-host", "evil.example"),
];

/// What a client takes from an answer.
fn taken(answer: &Answer) -> (String, String) {
    (answer.shown(), answer.header("x-terraform-get").to_owned())
}

#[tokio::test]
async fn no_header_query_or_request_line_changes_what_the_next_client_gets() {
    let (clean, paths) = (Site::new().await, paths(NETWORK));
    let mut want = Vec::new();
    for path in &paths {
        want.push(taken(&clean.get(path).await));
    }
    // The first request of a site fills what it keeps.
    for header in FORWARDED {
        let site = Site::new().await;
        for headers in [&[header][..], &[]] {
            for (path, want) in paths.iter().zip(&want) {
                assert_eq!(taken(&site.ask("GET", path, headers).await), *want, "{path} {header:?}");
            }
        }
    }
    let zeros = format!("?archive=tar.gz&checksum=sha256:{}", "0".repeat(64));
    for (before, after) in [
        ("", zeros.as_str()),
        ("", "?location=https://evil.example/a.zip"),
        ("", "?expires=1&client=x&signature=y"),
        ("http://evil.example", ""),
        ("http://evil.example", "?a=/../.."),
    ] {
        let site = Site::new().await;
        for (before, after) in [(before, after), ("", "")] {
            for (path, want) in paths.iter().zip(&want) {
                assert_eq!(taken(&site.get(&format!("{before}{path}{after}")).await), *want, "{before}{path}{after}");
            }
        }
    }
}

#[tokio::test]
async fn spellings_of_a_path_reach_no_repository() {
    let site = Site::new().await;
    let paths = [
        format!("//modules/{NETWORK}/versions"),
        format!("/modules//{NETWORK}/versions"),
        format!("/modules/{NETWORK}//versions"),
        format!("/modules/{NETWORK}/versions/"),
        format!("/modules/{NETWORK}/./versions"),
        format!("/modules/{NETWORK}/../aws/versions"),
        format!("/modules/{NETWORK}/%2e%2e/aws/versions"),
        format!("/modules/{NETWORK}%2fversions"),
        format!("/modules/{NETWORK}%2Fversions"),
        format!("/modules/{NETWORK}%5cversions"),
        format!("/modules/{NETWORK}/versions%00"),
        format!("/modules/{NETWORK}/versions%0d%0aX-Evil:%201"),
        format!("/modules/{NETWORK}/versions;x=1"),
        format!("/modules/{NETWORK}/versions.json"),
        format!("/Modules/{NETWORK}/versions"),
        format!("/modules/{NETWORK}/1.0.0/download/../../versions"),
        format!("/modules/{NETWORK}/1.0.0/network-aws_1.1.0.zip"),
        format!("/modules/{NETWORK}/1.0.0/%2e%2e%2fnetwork-aws_1.0.0.zip"),
        format!("/modules/{NETWORK}/1.0.0/network-aws_1.0.0.zip/"),
        format!("/module/{NETWORK}/../odd/aws"),
        format!("/module/{NETWORK}/%2e%2e"),
        format!("/module/{NETWORK}/1.0.0/"),
        "/modules/registry.acme.example/../../../../etc/passwd".to_owned(),
    ];
    for path in paths {
        let answer = site.get(&path).await;
        assert_eq!(answer.status.as_u16() / 100, 4, "{path}: {}", answer.shown());
    }
    assert_eq!(site.modules_asked(), 0);
}

#[tokio::test]
async fn an_index_under_the_tag_of_a_version_is_not_served() {
    let site = Site::new().await;
    let said = async |version: &str| site.get(&format!("/modules/{ODD}/{version}/download")).await.shown();
    assert_snapshot!(said("2.0.0").await, @r#"502 {"errors":["registry.acme.example/acme/odd/aws cannot be read: its repository has no module package under 2.0.0: this is a provider release, not a module package: expected an OCI image manifest and not an index"]}"#);
    assert_snapshot!(said("2.1.0").await, @r#"502 {"errors":["registry.acme.example/acme/odd/aws cannot be read: its repository has no module package under 2.1.0: this is a multi-platform container image, not a module package: expected an OCI image manifest and not an index"]}"#);
    let page = site.get(&format!("/module/{ODD}/2.0.0")).await;
    assert_eq!(page.status, 502, "{}", page.text());
}

/// The zip of [`NETWORK`] has the right bytes, but they are not an archive.
#[tokio::test]
async fn a_package_that_is_no_archive_was_fetched_anew_for_each_page() {
    let site = Site::new().await;
    let page = format!("/module/{NETWORK}/1.0.0");
    site.get(&page).await;
    let once = site.modules_asked();
    for answer in futures_util::future::join_all((0..50).map(|_| site.get(&page))).await {
        assert_eq!(answer.status, 200);
        assert!(answer.text().contains("The package could not be read"), "{}", answer.text());
    }
    assert_eq!(site.modules_asked(), once, "the first page has found it out");
}
