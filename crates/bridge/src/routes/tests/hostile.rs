//! Requests that no client sends.

use insta::assert_snapshot;
use proptest::prelude::*;
use proptest::test_runner::TestRunner;
use tofu_oci_types::Pattern;

use super::{SERVED, Site, ZAP};
use crate::paths::route::Route;

/// Each is refused before a place is asked.
#[tokio::test]
async fn paths_are_refused_by_a_sentence() {
    let site = Site::new().await;
    let mut report = String::new();
    for path in [
        "/mirror/registry.acme.example/acme%2fzap/index.json",
        "/mirror/registry.acme.example/acme/../../etc/index.json",
        "/mirror/registry.acme.example/%2e%2e/zap/index.json",
        "/mirror/registry.acme.example/acme%5czap/x/index.json",
        "/mirror/registry.acme.example//zap/index.json",
        "/mirror/registry.acme.example/a%0d%0ab/zap/index.json",
        "/mirror/registry.acme.example/a%00/zap/index.json",
        "/mirror/registry.acme.example/%ff/zap/index.json",
        "/mirror/registry.acme.example/%zz/zap/index.json",
        "/mirror/registry.acme.example/b%C3%BCcher/zap/index.json",
        "/mirror/registry.acme.example/acme/b%C3%BCcher/index.json",
        "/mirror/registry.acme.example/acme/%25zap/index.json",
        "/mirror/registry.acme.example/acme/terraform-provider-zap/index.json",
        "/mirror/registry.acme.example./acme/zap/index.json",
        "/mirror/127.1/acme/zap/index.json",
        "/mirror/a@b/acme/zap/index.json",
        "/mirror/h%3Ax/acme/zap/index.json",
        "/mirror/registry.acme.example/acme/zap/v1.0.0.json",
        "/mirror/registry.acme.example/acme/zap/1.0.json",
        "/mirror/registry.acme.example/acme/zap/latest.json",
        "/mirror/registry.acme.example/acme/zap/1.0.0%20.json",
        "/mirror/registry.acme.example/acme/zap/18446744073709551616.0.0.json",
        "/mirror/registry.acme.example/acme/zap/terraform-provider-zap_1.0.0_linux.zip",
        "/mirror/registry.acme.example/acme/zap/terraform-provider-zap_1.0.0_linux_amd64_v2.zip",
        "/mirror/registry.acme.example/acme/zap/terraform-provider-zap_v1.0.0_linux_amd64.zip",
        "/registry/registry.acme.example/acme/zap/1.0.0/download/linux/amd64%20",
        "/registry/registry.acme.example/acme/zap/1.0.0/download/linux_x/amd64",
        "/registry/registry.acme.example/acme/zap/1.0.0/terraform-provider-zap_1.0.1_SHA256SUMS",
    ] {
        let answer = site.ask("GET", path, &[("accept", "text/plain")]).await;
        report += &format!("{path}\n    {}", answer.shown());
    }
    for path in [format!("/mirror/{}", "a".repeat(256)), format!("/{}", "a/".repeat(1100))] {
        report += &site.ask("GET", &path, &[("accept", "text/plain")]).await.shown();
    }
    assert_snapshot!(report, @r#"
    /mirror/registry.acme.example/acme%2fzap/index.json
        400 the path must not contain an encoded slash or a backslash
    /mirror/registry.acme.example/acme/../../etc/index.json
        400 the path must not contain . or .. as a segment
    /mirror/registry.acme.example/%2e%2e/zap/index.json
        400 the path must not contain . or .. as a segment
    /mirror/registry.acme.example/acme%5czap/x/index.json
        400 the path must not contain an encoded slash or a backslash
    /mirror/registry.acme.example//zap/index.json
        400 the path has two slashes in a row; write one
    /mirror/registry.acme.example/a%0d%0ab/zap/index.json
        400 the path must not contain control characters or invisible ones
    /mirror/registry.acme.example/a%00/zap/index.json
        400 the path must not contain control characters or invisible ones
    /mirror/registry.acme.example/%ff/zap/index.json
        400 the path must be UTF-8
    /mirror/registry.acme.example/%zz/zap/index.json
        400 each % of the path must be followed by two hexadecimal digits
    /mirror/registry.acme.example/b%C3%BCcher/zap/index.json
        400 `bücher` is not ASCII: the RFC of OCI provider installation allows only ASCII in namespaces and types, because names of repositories are ASCII
    /mirror/registry.acme.example/acme/b%C3%BCcher/index.json
        400 `bücher` is not ASCII: the RFC of OCI provider installation allows only ASCII in namespaces and types, because names of repositories are ASCII
    /mirror/registry.acme.example/acme/%25zap/index.json
        400 `registry.acme.example/acme/%zap` is not a provider address: the type may contain only letters, digits, and dashes between them
    /mirror/registry.acme.example/acme/terraform-provider-zap/index.json
        400 `registry.acme.example/acme/terraform-provider-zap` is not a provider address: the type is written without its prefix; did you mean registry.acme.example/acme/zap?
    /mirror/registry.acme.example./acme/zap/index.json
        400 `registry.acme.example.` is not a hostname: it ends with a dot; write it without the dot
    /mirror/127.1/acme/zap/index.json
        400 `127.1` is not a hostname: an IPv4 address is four decimal numbers from 0 to 255 without leading zeros
    /mirror/a@b/acme/zap/index.json
        400 `a@b` is not a hostname: it may contain only letters, digits, dots, and dashes between them
    /mirror/h%3Ax/acme/zap/index.json
        400 `h:x` is not a hostname: after the colon there must be a port number
    /mirror/registry.acme.example/acme/zap/v1.0.0.json
        400 `v1.0.0` is not a version: it is written without a v before it
    /mirror/registry.acme.example/acme/zap/1.0.json
        400 `1.0` is not how the version is listed: write 1.0.0
    /mirror/registry.acme.example/acme/zap/latest.json
        400 `latest` is not a version: it must read MAJOR.MINOR.PATCH
    /mirror/registry.acme.example/acme/zap/1.0.0%20.json
        400 `1.0.0 ` is not a version: there is a blank after it
    /mirror/registry.acme.example/acme/zap/18446744073709551616.0.0.json
        400 `18446744073709551616.0.0` is not a version: one of its numbers is above 18446744073709551615
    /mirror/registry.acme.example/acme/zap/terraform-provider-zap_1.0.0_linux.zip
        400 `linux` is not a platform: it must read OS_ARCH, such as linux_amd64
    /mirror/registry.acme.example/acme/zap/terraform-provider-zap_1.0.0_linux_amd64_v2.zip
        400 `linux_amd64_v2` is not a platform: it must read OS_ARCH, such as linux_amd64
    /mirror/registry.acme.example/acme/zap/terraform-provider-zap_v1.0.0_linux_amd64.zip
        400 `v1.0.0` is not a version: it is written without a v before it
    /registry/registry.acme.example/acme/zap/1.0.0/download/linux/amd64%20
        400 `linux_amd64 ` is not a platform: it must read OS_ARCH, such as linux_amd64
    /registry/registry.acme.example/acme/zap/1.0.0/download/linux_x/amd64
        400 `linux_x_amd64` is not a platform: it must read OS_ARCH, such as linux_amd64
    /registry/registry.acme.example/acme/zap/1.0.0/terraform-provider-zap_1.0.1_SHA256SUMS
        404 there is nothing at this address: to install providers from here, write `url = "https://bridge.example/mirror/"` in a network_mirror block, with the slash at its end
    414 a segment of the path has at most 255 bytes
    414 the path of a request has at most 2048 bytes
    "#);
    assert_eq!(site.asked(), [""; 0]);
}

#[tokio::test]
async fn spellings_of_one_host_have_one_answer() {
    let site = Site::new().await;
    let want = site.get(&format!("/mirror/{ZAP}/index.json")).await.shown();
    for host in ["REGISTRY.Acme.Example", "registry.acme.example:443", "registry.acme.example%3A443"] {
        assert_eq!(site.get(&format!("/mirror/{host}/acme/zap/index.json")).await.shown(), want, "{host}");
        assert_eq!(site.get(&format!("/mirror/{host}/ACME/Zap/index.json")).await.shown(), want, "{host}");
    }
    // Another port is another host.
    assert_eq!(site.get("/mirror/registry.acme.example:8443/acme/zap/index.json").await.status, 404);
}

#[tokio::test]
async fn a_query_changes_nothing() {
    let site = Site::new().await;
    let want = site.get(&format!("/mirror/{ZAP}/index.json")).await.shown();
    for query in ["?", "?x=%2f..%2f", "?expires=1&client=x&signature=y", "?url=http://evil.example/"] {
        assert_eq!(site.get(&format!("/mirror/{ZAP}/index.json{query}")).await.shown(), want, "{query}");
    }
}

#[tokio::test]
async fn a_host_in_the_request_line_leads_nowhere_else() {
    let site = Site::new().await;
    assert_eq!(site.get(&format!("http://evil.example/mirror/{ZAP}/index.json")).await.status, 200);
    assert_eq!(site.get("http://evil.example/mirror/evil.example/a/b/index.json").await.status, 404);
    assert_eq!(site.asked(), [ZAP]);
}

/// Paths near real ones: real segments, spellings of them, and nonsense.
fn paths() -> impl Strategy<Value = String> {
    let segment = prop_oneof![
        4 => prop::sample::select(vec![
            "mirror", "registry", "registry.acme.example", "registry.terraform.io", "evil.example", "acme", "hashicorp",
            "zap", "aws", "index.json", "versions", "1.0.0", "1.0.0.json", "download", "linux", "amd64", ".well-known",
            "terraform.json", "terraform-provider-zap_1.0.0_linux_amd64.zip", "terraform-provider-zap_1.0.0_SHA256SUMS",
            "127.0.0.1:5000", "localhost", "..", "%2e%2e", "acme%2fzap", "v2", "", "ghcr.io", "169.254.169.254",
        ]).prop_map(str::to_owned),
        1 => "[!-~]{0,12}".prop_map(|text| text.replace(['?', '#', '/'], "")),
        1 => "(%[0-9a-f]{2}){1,6}",
    ];
    let of = |texts: &[&'static str]| prop::sample::select(texts.to_vec());
    let routed = (
        of(&["mirror", "registry"]),
        of(&["registry.acme.example", "Registry.acme.example:443", "registry.terraform.io", "evil.example", "ghcr.io"]),
        of(&["acme", "ACME", "hashicorp", "broken"]),
        of(&["zap", "aws", "%7aap", "x"]),
        of(&["index.json", "1.0.0.json", "versions", "1.0.0/download/linux/amd64", "9.9.9.json", "v1.json"]),
    );
    prop_oneof![
        2 => routed.prop_map(|(first, host, namespace, kind, file)| format!("/{first}/{host}/{namespace}/{kind}/{file}")),
        1 => prop::collection::vec(segment, 0..9).prop_map(|segments| format!("/{}", segments.join("/"))),
    ]
}

#[test]
fn a_place_is_asked_only_for_what_the_configuration_serves() {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_time().start_paused(true).build().unwrap();
    let site = runtime.block_on(Site::new());
    let served: Vec<Pattern> = SERVED.iter().map(|pattern| pattern.parse().unwrap()).collect();
    let headers = prop::sample::select(vec!["", "registry.acme.example", "evil.example", "a b", "\u{e9}"]);
    let config = ProptestConfig { failure_persistence: None, ..ProptestConfig::default() };
    TestRunner::new(config)
        .run(&(paths(), headers), |(path, host)| {
            // Some texts are refused before they are a request.
            let Ok(uri) = path.parse::<http::Uri>() else { return Ok(()) };
            let answer = runtime.block_on(site.ask("GET", &uri.to_string(), &[("host", host)]));
            prop_assert!(answer.status.as_u16() < 500 || path.contains("broken"), "{path}: {}", answer.status);
            let asked = site.asked.lock().unwrap().clone();
            for address in asked {
                prop_assert!(served.iter().any(|pattern| pattern.matches(&address)), "{path} asked for {address}");
            }
            Ok(())
        })
        .unwrap();
    assert!(!site.asked().is_empty(), "no path reached a place");
}

#[test]
fn a_link_to_a_host_that_is_too_long_in_punycode_led_nowhere() {
    let host = ["юю"; 50].join(".");
    for path in ["modules/{}/acme/network/aws/versions", "mirror/{}/acme/zap/index.json"] {
        let fault = Route::parse(&format!("/{}", path.replace("{}", &host))).unwrap_err();
        assert_eq!(fault.status(), http::StatusCode::URI_TOO_LONG, "{path}");
    }
}
