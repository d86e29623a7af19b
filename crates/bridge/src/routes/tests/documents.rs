//! The documents of both protocols, as clients get them.

use std::time::Duration;

use insta::assert_snapshot;
use serde_json::Value;
use tofu_oci_types::{Digest, Scheme};

use super::{Answer, BROKEN, OTHER, PIC, Site, SiteOptions, ZAP, key};

/// Each document of a version.
fn document_paths() -> [String; 6] {
    [
        format!("/mirror/{ZAP}/index.json"),
        format!("/mirror/{ZAP}/1.0.0.json"),
        format!("/registry/{ZAP}/versions"),
        format!("/registry/{ZAP}/1.0.0/download/linux/amd64"),
        format!("/registry/{ZAP}/1.0.0/terraform-provider-zap_1.0.0_SHA256SUMS"),
        format!("/registry/{ZAP}/1.0.0/terraform-provider-zap_1.0.0_SHA256SUMS.sig"),
    ]
}

#[track_caller]
fn json(answer: &Answer) -> Value {
    assert_eq!(answer.header("content-type"), "application/json");
    assert_eq!(answer.header("content-length"), answer.body.len().to_string());
    serde_json::from_slice(&answer.body).unwrap()
}

#[tokio::test]
async fn index_json_lists_builds_and_prereleases_too() {
    let answer = Site::new().await.get(&format!("/mirror/{ZAP}/index.json")).await;
    assert_snapshot!(answer.shown(), @r#"200 {"versions":{"1.0.0":{},"1.1.0-rc.1":{},"1.2.0+b.1":{}}}"#);
    assert_eq!((answer.header("content-type"), answer.header("cache-control")), ("application/json", "no-cache"));
}

#[tokio::test]
async fn version_json_has_relative_urls_and_the_zip_checksum_alone() {
    let site = Site::new().await;
    assert_snapshot!(site.get(&format!("/mirror/{ZAP}/1.0.0.json")).await.shown(), @r#"200 {"archives":{"darwin_arm64":{"url":"terraform-provider-zap_1.0.0_darwin_arm64.zip","hashes":["zh:8f094a811d7b876c02cdc5dbeefd5313d74b3a5c2451360ae200abaa7a5d3dae"]},"linux_amd64":{"url":"terraform-provider-zap_1.0.0_linux_amd64.zip","hashes":["zh:1ecc49c649c4f18c43bd2390699e524f55fadbfcb71df2a110e279ad8d253f43"]}}}"#);
    assert_snapshot!(site.get(&format!("/mirror/{ZAP}/1.2.0+b.1.json")).await.shown(), @r#"200 {"archives":{"linux_amd64":{"url":"terraform-provider-zap_1.2.0+b.1_linux_amd64.zip","hashes":["zh:0bedbcbb77fcbafd241a9b9aca79abbdea8febf3069787ca15a8b7c09a3c4ee9"]}}}"#);
    let encoded = site.get(&format!("/mirror/{ZAP}/1.2.0%2Bb.1.json")).await;
    assert_eq!(encoded.shown(), site.get(&format!("/mirror/{ZAP}/1.2.0+b.1.json")).await.shown());
}

#[tokio::test(start_paused = true)]
async fn each_client_gets_the_document_that_the_one_before_it_got() {
    let site = Site::signed().await;
    let hits = || site.bridge.catalog.counts().hits();
    for path in document_paths() {
        // The first one learns what the document says.
        site.get(&path).await;
        let made = site.get(&path).await;
        let before = hits();
        let kept = site.get(&path).await;
        assert_eq!(hits(), before + 1, "{path}");
        assert_eq!((kept.status.as_u16(), &kept.headers, &kept.body), (200, &made.headers, &made.body), "{path}");
        assert_eq!(site.ask("HEAD", &path, &[]).await.headers, made.headers);
        assert_eq!(site.ask("POST", &path, &[]).await.status.as_u16(), 405);
    }
}

#[tokio::test(start_paused = true)]
async fn a_document_is_made_anew_if_more_is_known_meanwhile() {
    let path = format!("/registry/{ZAP}/versions");
    let made_anew = async |site: &Site| {
        let before = site.bridge.catalog.counts().hits();
        site.get(&path).await;
        // The list and three releases.
        site.bridge.catalog.counts().hits() - before == 4
    };
    let site = Site::new().await;
    site.get(&path).await;
    site.get(&path).await;
    assert!(!made_anew(&site).await);
    site.bridge.catalog.release(&ZAP.parse().unwrap(), &"9.9.9".parse().unwrap()).await.unwrap_err();
    assert!(made_anew(&site).await);
    let unkept = Site::with(SiteOptions { fresh: Duration::ZERO, ..SiteOptions::default() }).await;
    unkept.get(&path).await;
    let asked = unkept.asked().len();
    unkept.get(&path).await;
    assert!(unkept.asked().len() > asked);
}

#[tokio::test]
async fn checksums_are_listed_in_the_order_of_the_configuration() {
    let hashes = vec![Scheme::Zh, Scheme::H1];
    let site = Site::with(SiteOptions { hashes, ..SiteOptions::default() }).await;
    let document = json(&site.get(&format!("/mirror/{OTHER}/2.0.0.json")).await);
    let listed = document["archives"]["linux_amd64"]["hashes"].as_array().unwrap();
    let schemes: Vec<&str> = listed.iter().map(|hash| &hash.as_str().unwrap()[..3]).collect();
    assert_eq!(schemes, ["zh:", "h1:"]);
}

#[tokio::test]
async fn a_container_image_is_listed_with_the_claimed_checksum_of_its_files() {
    let document = json(&Site::new().await.get(&format!("/mirror/{PIC}/1.0.0.json")).await);
    let listed = document["archives"]["linux_amd64"]["hashes"].as_array().unwrap();
    assert_eq!(listed.len(), 1);
    assert!(listed[0].as_str().unwrap().starts_with("h1:"), "{document}");
}

#[tokio::test]
async fn what_is_absent_is_404_in_lists_and_empty_where_a_client_goes_on_to_the_next_method() {
    let site = Site::new().await;
    for path in ["registry.acme.example/acme/none", "registry.terraform.io/hashicorp/aws"] {
        assert_eq!(site.get(&format!("/mirror/{path}/index.json")).await.status, 404, "{path}");
        assert_eq!(site.get(&format!("/mirror/{path}/1.0.0.json")).await.shown(), r#"200 {"archives":{}}"#);
    }
    assert_snapshot!(site.get(&format!("/mirror/{ZAP}/9.9.9.json")).await.shown(), @r#"200 {"archives":{}}"#);
    assert_snapshot!(site.get("/mirror/registry.acme.example/acme/none/index.json").await.shown(), @r#"404 {"errors":["registry.acme.example/acme/none was not found in the place that it is served from"]}"#);
    assert_snapshot!(site.get("/mirror/registry.terraform.io/hashicorp/aws/index.json").await.shown(), @r#"404 {"errors":["registry.terraform.io/hashicorp/aws is not served here: no `include` of the configuration matches it, or an `exclude` does"]}"#);
    assert_snapshot!(site.get("/registry/registry.acme.example/acme/none/versions").await.shown(), @r#"404 {"errors":["registry.acme.example/acme/none was not found in the place that it is served from"]}"#);
}

#[tokio::test(start_paused = true)]
async fn a_place_that_fails_is_502_with_the_reason_and_never_404() {
    let site = Site::signed().await;
    assert_snapshot!(site.get(&format!("/mirror/{BROKEN}/index.json")).await.shown(), @r#"502 {"errors":["registry.acme.example/broken/zap cannot be read: the server cannot use one of its places, and its access log says which"]}"#);
    let routes = [
        format!("/mirror/{BROKEN}/1.0.0.json"),
        format!("/mirror/{BROKEN}/terraform-provider-zap_1.0.0_linux_amd64.zip"),
        format!("/registry/{BROKEN}/versions"),
        format!("/registry/{BROKEN}/1.0.0/download/linux/amd64"),
        format!("/registry/{BROKEN}/1.0.0/terraform-provider-zap_1.0.0_SHA256SUMS"),
        format!("/registry/{BROKEN}/1.0.0/terraform-provider-zap_1.0.0_SHA256SUMS.sig"),
    ];
    for route in routes {
        let answer = site.get(&route).await;
        assert_eq!(answer.status, 502, "{route}");
        assert_eq!(answer.header("cache-control"), "no-store", "{route}");
        let reason = answer.reason.unwrap_or_default();
        assert!(reason.ends_with("the tag x in ghcr.io/acme/broken is not the record of a mirror"), "{route} {reason}");
    }
    let page = site.get(&format!("/providers/{BROKEN}")).await;
    assert!(page.status == 502 && page.reason.is_some_and(|reason| reason.contains("cannot be read")));
}

#[tokio::test]
async fn an_archive_is_served_with_head_ranges_and_its_digest() {
    let site = Site::new().await;
    let path = format!("/mirror/{ZAP}/terraform-provider-zap_1.0.0_linux_amd64.zip");
    let answer = site.get(&path).await;
    let digest = Digest::sha256(&answer.body);
    assert_eq!((answer.status.as_u16(), answer.header("content-type")), (200, "application/zip"));
    assert_eq!(answer.header("etag"), format!("\"{digest}\""));
    assert_eq!(answer.header("content-encoding"), "");
    let head = site.ask("HEAD", &path, &[("accept-encoding", "gzip")]).await;
    assert_eq!((head.header("content-length"), head.body.len()), (answer.body.len().to_string().as_str(), 0));
    let part = site.ask("GET", &path, &[("range", "bytes=0-3")]).await;
    assert_eq!((part.status.as_u16(), &part.body[..]), (206, &b"PK\x03\x04"[..]));
    let listed = json(&site.get(&format!("/mirror/{ZAP}/1.0.0.json")).await);
    assert_eq!(listed["archives"]["linux_amd64"]["hashes"][0], format!("zh:{}", digest.encoded()));
    for (path, status) in [
        (format!("/mirror/{ZAP}/terraform-provider-zap_1.0.0_plan9_arm.zip"), 404),
        (format!("/mirror/{ZAP}/terraform-provider-zap_3.0.0_linux_amd64.zip"), 404),
        ("/mirror/registry.acme.example/acme/none/terraform-provider-none_1.0.0_linux_amd64.zip".to_owned(), 404),
    ] {
        assert_eq!(site.get(&path).await.status, status, "{path}");
    }
}

#[tokio::test]
async fn the_registry_lists_versions_with_protocols_and_platforms() {
    let site = Site::new().await;
    assert_snapshot!(site.get(&format!("/registry/{ZAP}/versions")).await.shown(), @r#"200 {"versions":[{"version":"1.0.0","protocols":["6.0"],"platforms":[{"os":"darwin","arch":"arm64"},{"os":"linux","arch":"amd64"}]},{"version":"1.1.0-rc.1","protocols":["6.0"],"platforms":[{"os":"linux","arch":"amd64"}]},{"version":"1.2.0+b.1","protocols":["6.0"],"platforms":[{"os":"linux","arch":"amd64"}]}]}"#);
}

#[tokio::test]
async fn the_download_document_names_files_that_verify() {
    let site = Site::signed().await;
    let document = json(&site.get(&format!("/registry/{ZAP}/1.0.0/download/linux/amd64")).await);
    let below = |name: &str| {
        let url = document[name].as_str().unwrap();
        url.strip_prefix("https://bridge.example").unwrap_or_else(|| panic!("{url} is not below the base")).to_owned()
    };
    let (archive, sums) = (site.get(&below("download_url")).await, site.get(&below("shasums_url")).await);
    let signature = site.get(&below("shasums_signature_url")).await;
    assert_eq!([archive.status, sums.status, signature.status], [200; 3]);
    let digest = Digest::sha256(&archive.body);
    assert_eq!(document["shasum"], digest.encoded());
    assert!(sums.text().contains(&format!("{}  {}", digest.encoded(), document["filename"].as_str().unwrap())));
    assert_eq!(sums.text().lines().count(), 2);
    assert_eq!(signature.body, key().sign(&sums.body));
    let armored = &document["signing_keys"]["gpg_public_keys"][0]["ascii_armor"];
    assert_eq!(armored.as_str(), Some(key().public()));
    let package = &document["packages"]["linux_amd64"];
    assert_eq!(package["package_size"], archive.body.len());
    assert_eq!(package["hashes"][1], format!("zh:{}", digest.encoded()));
    let shown = serde_json::to_string_pretty(&document).unwrap();
    let shown = shown.replace(&serde_json::to_string(armored).unwrap(), "ARMOR");
    assert_snapshot!(shown.replace(&key().key_id(), "KEY"), @r#"
    {
      "protocols": [
        "6.0"
      ],
      "os": "linux",
      "arch": "amd64",
      "filename": "terraform-provider-zap_1.0.0_linux_amd64.zip",
      "download_url": "https://bridge.example/mirror/registry.acme.example/acme/zap/terraform-provider-zap_1.0.0_linux_amd64.zip",
      "shasums_url": "https://bridge.example/registry/registry.acme.example/acme/zap/1.0.0/terraform-provider-zap_1.0.0_SHA256SUMS",
      "shasums_signature_url": "https://bridge.example/registry/registry.acme.example/acme/zap/1.0.0/terraform-provider-zap_1.0.0_SHA256SUMS.sig",
      "shasum": "1ecc49c649c4f18c43bd2390699e524f55fadbfcb71df2a110e279ad8d253f43",
      "signing_keys": {
        "gpg_public_keys": [
          {
            "key_id": "KEY",
            "ascii_armor": ARMOR
          }
        ]
      },
      "packages": {
        "darwin_arm64": {
          "hashes": [
            "h1:FmGNwhTPdpZigpE3VInc9npgu/vA89vMwAm2MqvL0f4=",
            "zh:8f094a811d7b876c02cdc5dbeefd5313d74b3a5c2451360ae200abaa7a5d3dae"
          ],
          "package_size": 315
        },
        "linux_amd64": {
          "hashes": [
            "h1:m/1k9uupLMXgDTpeZTaH0721mT15iy66/d0WgvYvmS8=",
            "zh:1ecc49c649c4f18c43bd2390699e524f55fadbfcb71df2a110e279ad8d253f43"
          ],
          "package_size": 314
        }
      }
    }
    "#);
}

#[tokio::test]
async fn a_package_that_is_not_there_is_404_in_the_registry() {
    let site = Site::signed().await;
    assert_snapshot!(site.get(&format!("/registry/{ZAP}/1.0.0/download/plan9/arm")).await.shown(), @r#"404 {"errors":["registry.acme.example/acme/zap 1.0.0 has no package for plan9_arm"]}"#);
    assert_snapshot!(site.get(&format!("/registry/{ZAP}/3.0.0/download/linux/amd64")).await.shown(), @r#"404 {"errors":["registry.acme.example/acme/zap 3.0.0 is not offered: the place that it is served from does not have it, or the server's rules (`min_age`, `allow`, `deny`) hold it back"]}"#);
}

#[tokio::test]
async fn without_a_key_the_answer_says_how_to_make_one() {
    let answer = Site::new().await.get(&format!("/registry/{ZAP}/1.0.0/download/linux/amd64")).await;
    assert_snapshot!(answer.shown(), @r#"409 {"errors":["the checksums of registry.acme.example/acme/zap 1.0.0 have no signature of its publisher, and this server has no key to sign them: its operator can make one with `tofu-oci serve --new-key FILE`, and name the file as `signing_key`"]}"#);
}

#[tokio::test]
async fn only_own_hosts_have_a_registry() {
    let site = Site::signed().await;
    assert_snapshot!(site.get(&format!("/registry/{OTHER}/versions")).await.shown(), @r#"404 {"errors":["this server is the provider registry of registry.acme.example, bücher.example:8443 only, and not of registry.terraform.io: to install such providers from here, write `url = \"https://bridge.example/mirror/\"` in a network_mirror block"]}"#);
    assert_eq!(site.asked(), [""; 0]);
}

#[tokio::test]
async fn each_own_host_has_its_discovery_document() {
    let site = Site::new().await;
    let path = "/.well-known/terraform.json";
    let asked = async |host: &str| site.ask("GET", path, &[("host", host)]).await;
    assert_snapshot!(asked("registry.acme.example").await.shown(), @r#"200 {"providers.v1":"/registry/registry.acme.example/","modules.v1":"/modules/registry.acme.example/","oci-providers.v1":"ghcr.io/acme/{namespace}-{type}"}"#);
    assert_eq!(asked("REGISTRY.acme.example:443").await.shown(), asked("registry.acme.example").await.shown());
    assert_snapshot!(asked("xn--bcher-kva.example:8443").await.shown(), @r#"200 {"providers.v1":"/registry/xn--bcher-kva.example:8443/","modules.v1":"/modules/xn--bcher-kva.example:8443/"}"#);
    assert_snapshot!(asked("xn--bcher-kva.example").await.shown(), @r#"404 {"errors":["this server is the provider registry of registry.acme.example, bücher.example:8443 only, and not of xn--bcher-kva.example: to install such providers from here, write `url = \"https://bridge.example/mirror/\"` in a network_mirror block"]}"#);
    assert_snapshot!(asked("evil.example\"</script>").await.shown(), @r#"404 {"errors":["this server is the provider registry of registry.acme.example, bücher.example:8443 only, and not of evil.example\"</script>: to install such providers from here, write `url = \"https://bridge.example/mirror/\"` in a network_mirror block"]}"#);
    assert_eq!(site.get(path).await.status, 404);
    assert_eq!(asked("registry.acme.example").await.header("content-type"), "application/json");
    // HTTP/2 has the host in the address; a proxy may say which host it was asked for.
    let h2 = site.get(&format!("https://registry.acme.example{path}")).await;
    let proxied =
        site.ask("GET", path, &[("host", "bridge:8080"), ("x-forwarded-host", "registry.acme.example")]).await;
    assert_eq!([h2.status, proxied.status], [200; 2]);
}

#[tokio::test]
async fn a_base_url_with_a_path_starts_every_route() {
    let site =
        Site::with(SiteOptions { base: "https://h.example/tofu", key: Some(key()), ..SiteOptions::default() }).await;
    let host = [("host", "registry.acme.example")];
    let found = site.ask("GET", "/.well-known/terraform.json", &host).await;
    assert_eq!(json(&found)["providers.v1"], "/tofu/registry/registry.acme.example/");
    let document = json(&site.get(&format!("/tofu/registry/{ZAP}/1.0.0/download/linux/amd64")).await);
    let archive = document["download_url"].as_str().unwrap();
    assert_eq!(site.get(archive.strip_prefix("https://h.example").unwrap()).await.status, 200);
    // A proxy may have cut the path off.
    assert_eq!(site.get(&format!("/mirror/{ZAP}/index.json")).await.status, 200);
}

#[tokio::test]
async fn head_is_get_without_the_body_on_every_route() {
    let site = Site::signed().await;
    let others = ["/v1/providers/acme/zap/versions", "/nothing"].map(str::to_owned);
    for path in document_paths().into_iter().chain(others) {
        let (get, head) = (site.get(&path).await, site.ask("HEAD", &path, &[]).await);
        assert_eq!(head.status, get.status, "{path}");
        for name in ["content-type", "content-length", "cache-control"] {
            assert_eq!(head.header(name), get.header(name), "{path} {name}");
        }
        assert_eq!(head.body.len(), 0, "{path}");
        assert_ne!(get.body.len(), 0, "{path}");
    }
}

#[tokio::test]
async fn other_methods_are_405_and_reach_no_place() {
    let site = Site::signed().await;
    for method in ["POST", "PUT", "DELETE", "PATCH", "OPTIONS", "TRACE", "CONNECT", "PROPFIND"] {
        for path in [format!("/mirror/{ZAP}/index.json"), "/.well-known/terraform.json".to_owned()] {
            let answer = site.ask(method, &path, &[]).await;
            assert_eq!((answer.status.as_u16(), answer.header("allow")), (405, "GET, HEAD"), "{method} {path}");
        }
    }
    assert_eq!(site.asked(), [""; 0]);
}
