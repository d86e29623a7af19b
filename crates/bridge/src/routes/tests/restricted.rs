//! Clients with tokens.

use insta::assert_snapshot;
use serde_json::Value;
use tofu_oci_types::Secret;
use url::{Position, Url};

use super::{Answer, Site, SiteOptions, ZAP};
use crate::{ClientRule, TokenDigest};

const TOKEN: &str = "tofuoci_0123456789";

async fn site() -> Site {
    let client = ClientRule {
        name: "ci".parse().unwrap(),
        token: TokenDigest::of(&Secret::new(TOKEN)),
        providers: vec!["registry.acme.example/acme/zap".parse().unwrap()],
        modules: Vec::new(),
    };
    Site::with(SiteOptions { clients: vec![client], ..SiteOptions::default() }).await
}

async fn ask(site: &Site, path: &str) -> Answer {
    site.ask("GET", path, &[("authorization", &format!("Bearer {TOKEN}"))]).await
}

#[tokio::test]
async fn without_a_token_the_answer_does_not_depend_on_what_exists() {
    let site = site().await;
    let zap = site.get(&format!("/mirror/{ZAP}/index.json")).await;
    assert_snapshot!(zap.shown(), @r#"401 {"errors":["this server needs a token: put it into a `credentials` block for this host, or into the URL of the mirror (https://ci:TOKEN@HOST/mirror/)"]}"#);
    assert!(zap.header("www-authenticate").starts_with("Bearer"));
    for path in ["/mirror/x.example/no/such/index.json", "/registry/x.example/no/such/versions"] {
        assert_eq!(site.get(path).await.shown(), zap.shown(), "{path}");
    }
    let wrong = site.ask("GET", &format!("/mirror/{ZAP}/index.json"), &[("authorization", "Bearer no")]).await;
    assert_snapshot!(wrong.shown(), @r#"401 {"errors":["this server does not know the token: it is wrong, or was removed from the configuration"]}"#);
    assert_eq!(site.asked(), [""; 0]);
}

#[tokio::test]
async fn a_provider_of_others_is_refused_whether_it_exists_or_not() {
    let site = site().await;
    let (pic, none) = ("registry.acme.example/acme/pic", "registry.acme.example/acme/none");
    let there = ask(&site, &format!("/mirror/{pic}/index.json")).await;
    let absent = ask(&site, &format!("/mirror/{none}/index.json")).await;
    assert_snapshot!(there.shown(), @r#"403 {"errors":["the client ci may not use registry.acme.example/acme/pic: no pattern of its `providers` matches"]}"#);
    assert_eq!(absent.shown(), there.shown().replace(pic, none));
    assert_eq!(site.asked(), [""; 0]);
}

#[tokio::test]
async fn archives_are_linked_for_one_client_and_one_path() {
    let site = site().await;
    let answer = ask(&site, &format!("/mirror/{ZAP}/1.0.0.json")).await;
    assert_eq!(answer.header("cache-control"), "private, no-store");
    let document: Value = serde_json::from_slice(&answer.body).unwrap();
    let link = document["archives"]["linux_amd64"]["url"].as_str().unwrap();
    assert_eq!(site.get(&format!("/mirror/{ZAP}/{link}")).await.status, 200);
    assert_eq!(site.get(&format!("/mirror/REGISTRY.acme.example:443/acme/zap/{link}")).await.status, 200);
    let other = link.replace("linux_amd64", "darwin_arm64");
    assert_snapshot!(site.get(&format!("/mirror/{ZAP}/{other}")).await.shown(), @r#"403 {"errors":["this link is not valid here: it was changed, or the token that it was made for was removed; run the command again"]}"#);
    assert_eq!(site.get(&format!("/mirror/{ZAP}/{}", link.rsplit('/').next().unwrap())).await.status, 401);
}

/// By the code of each client: Go's `ResolveReference` for Terraform and `OpenTofu`, and Terragrunt's provider cache (`models/helper.go`),
/// which before 1.1.4 joined the link as a path, so that a `?` became `%3F`.
#[tokio::test]
async fn a_link_survives_how_clients_join_it() {
    let site = site().await;
    let version = Url::parse(&format!("https://bridge.example/mirror/{ZAP}/1.0.0.json")).unwrap();
    let answer = ask(&site, version.path()).await;
    let document: Value = serde_json::from_slice(&answer.body).unwrap();
    let link = document["archives"]["linux_amd64"]["url"].as_str().unwrap();
    let provider = version.path().strip_suffix("/1.0.0.json").unwrap();
    let joined = |path: &str| {
        let mut url = version.clone();
        url.set_path(path);
        url
    };
    let of_query = crate::access::with_query(&format!("/mirror/{ZAP}/{link}").parse().unwrap()).unwrap();
    let of_query = of_query.to_string().rsplit('/').next().unwrap().to_owned();
    for (client, url, opens) in [
        ("terraform, tofu", version.join(link).unwrap(), 200),
        ("terragrunt", joined(&format!("{provider}/{link}")), 200),
        ("terraform, tofu, with a query", version.join(&of_query).unwrap(), 200),
        ("terragrunt 1.0.5, with a query", joined(&format!("{provider}/{of_query}")), 404),
    ] {
        assert_eq!(site.get(&url[Position::BeforePath..]).await.status, opens, "{client}: {url}");
    }
}

#[tokio::test]
async fn a_document_with_the_links_of_one_client_reaches_no_other_client() {
    let rule = |name: &str, token: &str| ClientRule {
        name: name.parse().unwrap(),
        token: TokenDigest::of(&Secret::new(token)),
        providers: vec!["registry.acme.example/acme/zap".parse().unwrap()],
        modules: Vec::new(),
    };
    let clients = vec![rule("ci", TOKEN), rule("laptop", "tofuoci_9876543210")];
    let site = Site::with(SiteOptions { clients, ..SiteOptions::default() }).await;
    for (name, token) in [("ci", TOKEN), ("laptop", "tofuoci_9876543210"), ("ci", TOKEN)] {
        let authorization = format!("Bearer {token}");
        let answer = site.ask("GET", &format!("/mirror/{ZAP}/1.0.0.json"), &[("authorization", &authorization)]).await;
        let document: Value = serde_json::from_slice(&answer.body).unwrap();
        let link = document["archives"]["linux_amd64"]["url"].as_str().unwrap();
        assert!(link.contains(&format!("~{name}~")), "{link}");
    }
}

#[tokio::test]
async fn the_discovery_document_names_repositories_to_those_who_may_see_something() {
    let site = site().await;
    let (path, host) = ("/.well-known/terraform.json", ("host", "registry.acme.example"));
    assert_snapshot!(site.ask("GET", path, &[host]).await.shown(), @r#"200 {"providers.v1":"/registry/registry.acme.example/","modules.v1":"/modules/registry.acme.example/"}"#);
    let token = format!("Bearer {TOKEN}");
    assert_snapshot!(site.ask("GET", path, &[host, ("authorization", &token)]).await.shown(), @r#"200 {"providers.v1":"/registry/registry.acme.example/","modules.v1":"/modules/registry.acme.example/","oci-providers.v1":"ghcr.io/acme/{namespace}-{type}"}"#);
}

#[tokio::test]
async fn a_client_with_rights_for_modules_alone_learned_where_the_repositories_of_providers_are() {
    let rule = |name: &str, providers: &[&str]| ClientRule {
        name: name.parse().unwrap(),
        token: TokenDigest::of(&Secret::new(name)),
        providers: providers.iter().map(|pattern| pattern.parse().unwrap()).collect(),
        modules: vec!["*/*/*/*".parse().unwrap()],
    };
    let clients = vec![
        rule("modules", &[]),
        rule("elsewhere", &["registry.terraform.io/*/*"]),
        rule("own", &["registry.terraform.io/*/*", "registry.acme.example/acme/zap"]),
        rule("all", &["*/*/*"]),
    ];
    let site = Site::with(SiteOptions { clients, ..SiteOptions::default() }).await;
    for (name, learns) in [("modules", false), ("elsewhere", false), ("own", true), ("all", true), ("nobody", false)] {
        let authorization = format!("Bearer {name}");
        let headers = [("host", "registry.acme.example"), ("authorization", authorization.as_str())];
        let said = site.ask("GET", "/.well-known/terraform.json", &headers).await.shown();
        assert_eq!(said.contains("oci-providers.v1"), learns, "{name}: {said}");
        // The registries are at the same paths for everyone.
        assert!(said.contains("\"providers.v1\"") && said.contains("\"modules.v1\""), "{name}: {said}");
    }
}

#[tokio::test]
async fn mix_ups_are_answered_without_a_token() {
    assert_eq!(site().await.get(&format!("/{ZAP}/index.json")).await.status, 400);
}
