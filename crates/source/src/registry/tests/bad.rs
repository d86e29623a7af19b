//! What a registry may answer instead.

use serde_json::{Value, json};
use tofu_oci_testkit::{Length, ScratchOpenPgpKey};

use super::*;

/// What comes of a request for version 1.0.0 if this path meets this fault.
async fn met(path: &str, fault: Fault) -> String {
    let world = World::start();
    world.upstream.fault(Rule::on("GET", path).then(fault));
    world.told().await
}

fn page(body: &str) -> Fault {
    Fault::Answer(Answer::new(200).header("Content-Type", "text/html").body(body.to_owned()))
}

const DOCUMENTS: [&str; 4] = ["*/versions", "*/download/linux/amd64", "*_SHA256SUMS", "*_SHA256SUMS.sig"];

#[tokio::test]
async fn statuses_have_the_names_that_were_measured() {
    for (status, code) in [
        (401, "unauthorized"),
        (403, "unauthorized"),
        (410, "bad-status"),
        (429, "too-many-requests"),
        (500, "server-error"),
    ] {
        for path in DOCUMENTS {
            let said = met(path, Fault::Answer(Answer::new(status))).await;
            assert!(said.ends_with(&format!("({code})")), "{status} {path}: {said}");
            assert!(said.contains(&format!("answered {status}")), "{said}");
        }
    }
    let waits = Answer::new(429).header("Retry-After", "100000");
    assert_snapshot!(met("*/versions", Fault::Answer(waits)).await, @"nothing can be installed from registry.example.test: https://HOST/v1/providers/acme/widget/versions: it asks for a wait of 100000 s (too-many-requests)");
}

#[tokio::test]
async fn a_passing_fault_is_no_error() {
    let world = World::start();
    for fault in
        [Fault::Answer(Answer::new(429).header("Retry-After", "1")), Fault::Answer(Answer::new(503)), Fault::Disconnect]
    {
        for path in DOCUMENTS {
            world.upstream.fault(Rule::on("GET", path).then(fault.clone()).once());
        }
        assert_eq!(world.told().await, "");
    }
}

#[tokio::test]
async fn rubbish_in_the_list_refuses_all_of_it() {
    let said = [
        met("*/versions", page("<html>hello</html>")).await,
        met("*/versions", page(r#"{"versions":[{"version":"1.0.0"},{"version":"v2"}]}"#)).await,
        met("*/versions", page(r#"{"versions":[{}]}"#)).await,
        met("*/versions", page(r#"{"versions":"1.0.0"}"#)).await,
        met("*/versions", page("[]")).await,
        met("*/versions", Fault::Flood { bytes: 1 << 30, length: Length::Chunked }).await,
    ];
    assert_snapshot!(said.join("\n"), @r#"
    nothing can be installed from registry.example.test: https://HOST/v1/providers/acme/widget/versions: it is not JSON: expected value at line 1 column 1 (bad-body)
    nothing can be installed from registry.example.test: https://HOST/v1/providers/acme/widget/versions: its versions: `v2` is not a version: it is written without a v before it (bad-body)
    nothing can be installed from registry.example.test: https://HOST/v1/providers/acme/widget/versions: its versions: `` is not a version: it is empty (bad-body)
    nothing can be installed from registry.example.test: https://HOST/v1/providers/acme/widget/versions: it is malformed: invalid type: string "1.0.0", expected a sequence (bad-body)
    nothing can be installed from registry.example.test: https://HOST/v1/providers/acme/widget/versions: it is not a JSON object (bad-body)
    nothing can be installed from registry.example.test: https://HOST/v1/providers/acme/widget/versions: its answer is larger than 4194304 bytes (bad-body)
    "#);
}

/// A list with this much of everything.
fn list(versions: usize, platforms: usize, warnings: usize) -> String {
    let platforms: Vec<Value> = (0..platforms).map(|nth| json!({"os": format!("os{nth}"), "arch": "arm"})).collect();
    let version = |nth| json!({"version": format!("1.{nth}.0"), "platforms": platforms});
    let versions: Vec<Value> = (0..versions).map(version).collect();
    let warnings: Vec<String> = (0..warnings).map(|nth| format!("moved {nth}")).collect();
    json!({"versions": versions, "warnings": warnings}).to_string()
}

/// It was compared with all others: 80 000 versions took a minute, in which nothing else ran.
#[tokio::test]
async fn a_list_of_as_many_versions_as_fit_kept_a_run_busy_for_a_minute() {
    let read = VersionList::parse(list(MOST_VERSIONS, 0, 0).as_bytes()).unwrap();
    assert_eq!(read.versions.len(), MOST_VERSIONS);
    assert_snapshot!(met("*/versions", page(&list(MOST_VERSIONS + 1, 0, 0))).await, @"nothing can be installed from registry.example.test: https://HOST/v1/providers/acme/widget/versions: it lists 50001 versions, and at most 50000 are read (bad-body)");
}

#[tokio::test]
async fn a_version_with_thousands_of_platforms_was_asked_for_each_of_them() {
    let world = World::start();
    world.upstream.fault(Rule::on("GET", "*/versions").then(page(&list(1, MOST_PLATFORMS, 0))));
    assert!(world.told().await.ends_with("(platform-not-supported)"));
    assert_eq!(world.asked().into_iter().filter(|path| path.contains("/download/")).count(), 10);
    assert_snapshot!(met("*/versions", page(&list(1, MOST_PLATFORMS + 1, 0))).await, @"nothing can be installed from registry.example.test: https://HOST/v1/providers/acme/widget/versions: 1.0.0 has 1001 platforms, and at most 1000 are read (bad-body)");
}

#[tokio::test]
async fn every_warning_of_a_list_was_shown_however_many_there_were() {
    assert_eq!(met("*/versions", page(&list(1, 0, 100_000))).await.matches("registry-warning").count(), 10);
}

/// The download document with one member changed.
async fn changed(member: &str, value: Value) -> String {
    let world = World::start();
    let mut document = json!({
        "protocols": ["6.0"], "os": "linux", "arch": "amd64", "filename": "x.zip", "shasum": "a".repeat(64),
        "download_url": "/x.zip", "shasums_url": "/sums", "shasums_signature_url": "/sums.sig",
        "signing_keys": {"gpg_public_keys": []},
    });
    document[member] = value;
    world.upstream.fault(Rule::on("GET", DOWNLOAD).then(Fault::Answer(Answer::json(&document))));
    world.upstream.fault(Rule::on("GET", "/sums*").then(Fault::Answer(Answer::new(200))));
    let source = world.source("registry.opentofu.org", world.access());
    let error = offer(&source, "registry.opentofu.org/acme/widget", "linux_amd64").await.unwrap_err();
    world.shown(&error).split_once("/linux/amd64: ").map_or_else(|| world.shown(&error), |(_, said)| said.to_owned())
}

#[tokio::test]
async fn a_download_document_that_cannot_be_right_is_refused() {
    let packages = |hashes: &[&str], size: u64| json!({"linux_amd64": {"hashes": hashes, "package_size": size}});
    let zh = format!("zh:{}", "a".repeat(64));
    let said = [
        changed("protocols", json!(["9.0"])).await,
        changed("protocols", json!(["six"])).await,
        changed("os", json!("darwin")).await,
        changed("download_url", json!("ftp://x.test/x.zip")).await,
        changed("download_url", json!("https://[")).await,
        changed("download_url", json!("../".repeat(20_000))).await,
        changed("shasum", json!("abc")).await,
        changed("shasum", json!(1)).await,
        changed("packages", json!({"linux": {}})).await,
        changed("packages", json!({"darwin_arm64": {}})).await,
        changed("packages", packages(&[&zh], 0)).await,
        changed("packages", packages(&["h1:x"], 1)).await,
        changed("packages", packages(&[&zh, "zh:other"], 1)).await,
        changed("packages", packages(&["noscheme"], 1)).await,
        changed("filename", json!("y.zip")).await,
    ];
    assert_snapshot!(said.join("\n").replace(&"a".repeat(64), "OWN"), @"
    the package speaks the plugin protocols 9.0, and OpenTofu and Terraform speak 5 and 6; version 1.0.0 speaks one of these (protocol-not-supported)
    its protocols are not versions: `six` is not a version: it must read MAJOR.MINOR.PATCH (bad-body)
    it is about darwin_amd64, and linux_amd64 was asked for (bad-body)
    its download_url is an address of ftp, and must be of https or http (bad-body)
    it names an invalid address as its download_url (bad-body)
    it names an address of more than 16 KiB as its download_url (bad-body)
    its shasum is not a SHA-256 in 64 hexadecimal digits (bad-body)
    it is malformed: invalid type: integer `1`, expected a string (bad-body)
    its packages: `linux` is not a platform: it must read OS_ARCH, such as linux_amd64 (bad-body)
    its packages do not name linux_amd64 (checksum-list)
    its packages give linux_amd64 no size (checksum-list)
    its packages give linux_amd64 no zh: checksum (checksum-list)
    its packages give linux_amd64 zh:other, and its shasum is OWN (checksum-list)
    its packages: `noscheme` is not a package checksum: it must read SCHEME:VALUE (bad-body)
    nothing can be installed from registry.opentofu.org: https://HOST/sums: it does not name y.zip (checksum-list)
    ");
}

#[tokio::test]
async fn checksums_that_contradict_each_other_are_refused_before_the_package_is_asked_for() {
    let world = World::start();
    let line = format!("{}  terraform-provider-widget_1.0.0_linux_amd64.zip\n", "b".repeat(64));
    let page = |path: &str, body: Vec<u8>| {
        world.upstream.fault(Rule::on("GET", path).then(Fault::Answer(Answer::new(200).body(body))));
    };
    page("*_SHA256SUMS.sig", ScratchOpenPgpKey::of(1).sign(line.as_bytes()));
    page("*_SHA256SUMS", line.into_bytes());
    let (_, zh) = world.upstream.hashes("acme/widget", "1.0.0", "linux_amd64");
    let said = world.told().await.replace(zh.trim_start_matches("zh:"), "OWN").replace(&"b".repeat(64), "OTHER");
    assert_snapshot!(said, @"nothing can be installed from registry.example.test: https://HOST/files/acme/widget/1.0.0/terraform-provider-widget_1.0.0_SHA256SUMS: it gives terraform-provider-widget_1.0.0_linux_amd64.zip the checksum OTHER, and the registry OWN (checksum-list)");
    assert!(!world.asked().iter().any(|line| line.contains(".zip")));
}

#[tokio::test]
async fn redirects_do_not_lead_to_plain_http() {
    let plain = WebServer::plain();
    for path in DOCUMENTS {
        let to = format!("{}/x?secret=1", plain.origin());
        let said = met(path, Fault::Answer(Answer::new(302).header("Location", to))).await;
        assert!(said.ends_with("(bad-redirect)") && !said.contains("secret"), "{said}");
    }
    assert!(plain.requests().is_empty());
}

/// What comes of the package if its path meets this fault.
async fn opened(fault: Fault) -> String {
    let world = World::start();
    let offer = world.offer("linux_amd64").await.unwrap();
    world.upstream.fault(Rule::on("GET", "*.zip").then(fault));
    let Package::Zip(part) = &offer.package else { panic!("{offer:?}") };
    let opened = match offer.release.open(part).await {
        Ok(opened) => opened,
        Err(error) => return world.shown(&error),
    };
    let checked = part.checked(offer.place(), opened.stream).unwrap();
    match checked.try_collect::<Vec<_>>().await {
        Ok(_) => "all of it".to_owned(),
        Err(error) => world.shown(&error.into()),
    }
}

#[tokio::test]
async fn a_package_that_is_missing_damaged_or_cut_short_is_refused() {
    assert_snapshot!(opened(Fault::Answer(Answer::new(404))).await, @"nothing can be installed from registry.example.test: https://HOST/files/acme/widget/1.0.0/terraform-provider-widget_1.0.0_linux_amd64.zip: it answered 404 (archive-not-found)");
    assert_snapshot!(opened(Fault::Answer(Answer::new(401))).await, @"nothing can be installed from registry.example.test: https://HOST/files/acme/widget/1.0.0/terraform-provider-widget_1.0.0_linux_amd64.zip answered 401 (unauthorized)");
    for fault in [Fault::CorruptBody(40), Fault::ShortenBody(100)] {
        let said = opened(fault).await;
        assert!(said.contains("is damaged"), "{said}");
    }
    assert_snapshot!(opened(Fault::CutBody(100)).await, @"all of it");
}
