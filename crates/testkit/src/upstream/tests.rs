use serde_json::{Value, json};

use super::*;
use crate::fault::{Answer, RequestHead};

fn get_range(upstream: &Upstream, path: &str, range: &'static str) -> Answer {
    let headers = [(axum::http::header::RANGE, range.parse().unwrap())].into_iter().collect();
    let head = RequestHead { method: "GET".to_owned(), path: path.to_owned(), query: String::new(), headers };
    documents::answer(&upstream.releases(), &head)
}

fn document(upstream: &Upstream, path: &str) -> Value {
    serde_json::from_slice(&upstream.page(path).body).unwrap()
}

const DOWNLOAD: &str = "/v1/providers/acme/widget/1.0.0/download/linux/amd64";

#[test]
fn a_download_document_leads_to_bytes_that_its_sums_and_signature_cover() {
    let upstream = Upstream::start();
    upstream.release("acme/widget", "1.0.0", &["linux_amd64", "windows_amd64"]);
    let read = document(&upstream, DOWNLOAD);
    let of = |name: &str| upstream.page(read[name].as_str().unwrap()).body;
    let zip = upstream.zip("acme/widget", "1.0.0", "linux_amd64");
    assert_eq!(of("download_url"), zip);
    let line = format!("{}  {}\n", read["shasum"].as_str().unwrap(), read["filename"].as_str().unwrap());
    let sums = of("shasums_url");
    let text = String::from_utf8(sums.to_vec()).unwrap();
    assert!(text.contains(&line) && text.lines().count() == 2, "{text}");
    assert!(!of("shasums_signature_url").is_empty());
    let key = &read["signing_keys"]["gpg_public_keys"][0];
    assert_eq!(key["key_id"], ScratchOpenPgpKey::of(1).id());
    let mirrored = document(&upstream, "/mirror/any.test/acme/widget/1.0.0.json");
    let archive = &mirrored["archives"]["linux_amd64"];
    let (h1, zh) = upstream.hashes("acme/widget", "1.0.0", "linux_amd64");
    assert_eq!(archive["hashes"], json!([h1, zh]));
    let beside = format!("/mirror/any.test/acme/widget/{}", archive["url"].as_str().unwrap());
    assert_eq!(upstream.page(&beside).body, zip);
    let part = get_range(&upstream, &beside, "bytes=10-");
    assert_eq!((part.status, &part.body[..]), (206, &zip[10..]));
}

#[test]
fn releases_change_while_it_runs() {
    let upstream = Upstream::start();
    let listed = || document(&upstream, "/mirror/any.test/acme/widget/index.json")["versions"].clone();
    upstream.release("acme/widget", "1.0.0", &["linux_amd64"]);
    upstream.release("acme/widget", "1.1.0", &["linux_amd64"]);
    assert_eq!(listed(), json!({"1.0.0": {}, "1.1.0": {}}));
    assert_eq!(upstream.page("/mirror/any.test/%61cme/widget/1.0.0.json").status, 200);
    let before = upstream.zip("acme/widget", "1.1.0", "linux_amd64");
    upstream.withdraw("acme/widget", "1.0.0");
    assert_eq!(listed(), json!({"1.1.0": {}}));
    assert_eq!(upstream.page(DOWNLOAD).status, 404);
    let other = ProviderZip::new("widget", "1.1.0", "linux_amd64").executable("other");
    upstream.package("acme/widget", "1.1.0", &other);
    assert_ne!(upstream.zip("acme/widget", "1.1.0", "linux_amd64"), before);
    upstream.warn("acme/widget", &["moved"]);
    upstream.files_at("https://files.example.test");
    let versions = document(&upstream, "/v1/providers/acme/widget/versions");
    assert_eq!(versions["warnings"], json!(["moved"]));
    assert_eq!(versions["versions"][0]["platforms"], json!([{"os": "linux", "arch": "amd64"}]));
    let archives = document(&upstream, "/mirror/any.test/acme/widget/1.1.0.json");
    let url = archives["archives"]["linux_amd64"]["url"].as_str().unwrap().to_owned();
    assert!(url.starts_with("https://files.example.test/files/acme/widget/1.1.0/terraform-provider-"), "{url}");
}
