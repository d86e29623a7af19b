//! What terraform and OpenTofu were measured to need of a server (236 scripted scenarios), as a table of requests.

use serde_json::{Value, json};
use tofu_oci_testkit::{ReleaseFolder, ScratchOpenPgpKey};
use tofu_oci_types::Digest;

use super::learned::learned;
use super::{Serving, WIDGET_PATH, archive, served};
use crate::lock_all::{FROM, require};
use crate::setup::{Scene, WIDGET};

/// A request, and what its answer must be.
struct Lesson {
    /// What clients do with anything else.
    why: &'static str,
    method: &'static str,
    path: String,
    headers: &'static [(&'static str, &'static str)],
    must: fn(&super::Got) -> bool,
}

fn lesson(why: &'static str, method: &'static str, path: String, must: fn(&super::Got) -> bool) -> Lesson {
    Lesson { why, method, path, headers: &[], must }
}

fn is_json(got: &super::Got) -> bool {
    got.status == 200 && got.header("Content-Type") == "application/json"
}

fn lessons() -> Vec<Lesson> {
    let document = |name: &str| format!("{WIDGET_PATH}/{name}");
    let zip = archive("linux_amd64");
    vec![
        lesson("a mirror's JSON of another type is an error", "GET", document("index.json"), is_json),
        lesson("tofu with a lock file asks VERSION.json without index.json", "GET", document("1.4.0.json"), is_json),
        lesson(
            "index.json 404 is `no such provider`, and with `direct` beside that is asked",
            "GET",
            WIDGET_PATH.replace("widget", "gadget") + "/index.json",
            |got| got.status == 404,
        ),
        lesson("VERSION.json 404 is fatal; no archives goes on to `direct`", "GET", document("9.9.9.json"), |got| {
            is_json(got) && got.json() == json!({"archives": {}})
        }),
        lesson("an h1 in the list doubles the time of tofu and locks no more", "GET", document("1.4.0.json"), |got| {
            let hashes = |archive: &Value| archive["hashes"].as_array().cloned().unwrap_or_default();
            let archives = got.json()["archives"].as_object().cloned().unwrap_or_default();
            archives.len() == 2
                && archives.values().all(|archive| {
                    let listed = hashes(archive);
                    listed.len() == 1 && listed[0].as_str().is_some_and(|hash| hash.starts_with("zh:"))
                })
        }),
        lesson("Basic reaches archives by relative addresses alone", "GET", document("1.4.0.json"), |got| {
            let archives = got.json()["archives"].as_object().cloned().unwrap_or_default();
            archives.values().all(|archive| archive["url"].as_str().is_some_and(|url| !url.contains('/')))
        }),
        lesson("terraform sends HEAD before GET", "HEAD", zip.clone(), |got| {
            got.status == 200 && got.body.is_empty() && got.header("Content-Length").parse::<u64>().is_ok()
        }),
        Lesson {
            why: "an encoded archive is a damaged one",
            method: "GET",
            path: zip.clone(),
            headers: &[("Accept-Encoding", "gzip")],
            must: |got| got.status == 200 && got.header("Content-Encoding").is_empty() && got.body.starts_with(b"PK"),
        },
        Lesson {
            why: "tofu names its version in a header that terraform has, too",
            method: "GET",
            path: document("index.json"),
            headers: &[("User-Agent", "OpenTofu/1.12.6"), ("X-Terraform-Version", "1.12.6")],
            must: is_json,
        },
        lesson("a client that is given no Content-Length cannot tell a short archive", "GET", zip, |got| {
            got.is_whole && got.header("Content-Length") == got.body.len().to_string()
        }),
        lesson("an archive that is not there is fatal by its status", "GET", archive("plan9_amd64"), |got| {
            got.status == 404
        }),
        lesson("a URL without its slash loses its last segment", "GET", "/mirror".to_owned(), |got| {
            got.status == 404 && got.text().contains("/mirror/")
        }),
        lesson("a mirror taken for a registry", "GET", format!("{WIDGET_PATH}/versions"), |got| {
            (400..500).contains(&got.status) && got.text().contains("network_mirror")
        }),
    ]
}

#[test]
fn what_clients_were_measured_to_need_is_answered() {
    let (_scene, serving) = served();
    for Lesson { why, method, path, headers, must } in lessons() {
        let got = serving.send(method, &path, headers);
        assert!(must(&got), "{why}\n{method} {path}: {} {:?}\n{}", got.status, got.headers, got.text());
    }
}

#[test]
fn the_archives_of_a_mirror_are_the_published_zips() {
    let (scene, serving) = served();
    let listed = serving.json(&format!("{WIDGET_PATH}/1.4.0.json"));
    for platform in ["darwin_arm64", "linux_amd64"] {
        let zip = std::fs::read(scene.path(&format!("dist/terraform-provider-widget_1.4.0_{platform}.zip")));
        let zip = zip.expect("it was published");
        let got = serving.get(&archive(platform));
        assert_eq!(got.body, zip);
        let digest = Digest::sha256(&zip);
        assert_eq!(listed["archives"][platform]["hashes"], json!([format!("zh:{}", digest.encoded())]));
        assert_eq!(got.header("ETag"), format!("\"{digest}\""));
    }
}

#[test]
fn a_version_with_build_metadata_is_asked_with_a_raw_plus() {
    let scene = Scene::new();
    scene.publish("1.4.0+b.1");
    let serving = Serving::start(&scene, "", "");
    assert_eq!(serving.json(&format!("{WIDGET_PATH}/index.json")), json!({"versions": {"1.4.0+b.1": {}}}));
    let archives = serving.json(&format!("{WIDGET_PATH}/1.4.0+b.1.json"));
    let name = archives["archives"]["linux_amd64"]["url"].as_str().expect("an address").to_owned();
    assert_eq!(serving.get(&format!("{WIDGET_PATH}/{name}")).status, 200, "{name}");
}

#[test]
fn forty_requests_at_once_are_answered_by_one_question_to_the_registry() {
    let (scene, serving) = served();
    let port = serving.port;
    let asked: Vec<_> = (0..40)
        .map(|_| std::thread::spawn(move || super::send(port, "GET", &format!("{WIDGET_PATH}/index.json"), &[])))
        .collect();
    for one in asked {
        let got = one.join().expect("no client panics");
        assert_eq!(got.status, 200, "{}", got.text());
    }
    assert_eq!(scene.registry.requests_to("GET", "/v2/acme/widget/tags/list").len(), 1);
}

#[test]
fn the_registry_of_an_own_host_has_what_clients_verify() {
    let scene = Scene::published();
    scene.run("serve --new-key bridge.asc").success();
    let serving = Serving::start(&scene, "hosts = [\"registry.example.com\"]\nsigning_key = \"bridge.asc\"", "");
    let found = serving.send("GET", "/.well-known/terraform.json", &[("Host", "registry.example.com")]).json();
    let base = found["providers.v1"].as_str().expect("the service is there").to_owned();
    let (_, provider) = WIDGET.split_once('/').expect("an address has a host");

    let versions = serving.json(&format!("{base}{provider}/versions"));
    let first = &versions["versions"][0];
    assert_eq!((&first["version"], first["platforms"].as_array().map(Vec::len)), (&json!("1.4.0"), Some(2)));
    for (os, arch) in [("linux", "amd64"), ("darwin", "arm64")] {
        let document = serving.json(&format!("{base}{provider}/1.4.0/download/{os}/{arch}"));
        assert_eq!((&document["os"], &document["arch"]), (&json!(os), &json!(arch)), "clients refuse another platform");
        let follow = |member: &str| {
            let url = document[member].as_str().unwrap_or_else(|| panic!("{member} is missing in {document}"));
            let path = url.split_once("://").map_or(url, |(_, rest)| &rest[rest.find('/').expect("a path")..]);
            let got = serving.get(path);
            assert_eq!(got.status, 200, "{member}: {}", got.text());
            got.body
        };
        let (zip, sums) = (follow("download_url"), follow("shasums_url"));
        assert!(!follow("shasums_signature_url").is_empty());
        let digest = Digest::sha256(&zip);
        assert_eq!(document["shasum"], digest.encoded());
        let sums = String::from_utf8(sums).expect("checksums are text");
        let filename = document["filename"].as_str().expect("a name");
        assert!(sums.contains(&format!("{}  {filename}\n", digest.encoded())), "{sums}");
        assert_eq!(sums.lines().count(), 2, "the checksums of every platform end up in lock files\n{sums}");
        let key = document["signing_keys"]["gpg_public_keys"][0]["ascii_armor"].as_str().unwrap_or_default();
        assert!(key.starts_with("-----BEGIN PGP PUBLIC KEY BLOCK-----"), "{document}");
    }
}

/// What Dependabot and Terragrunt copy into lock files.
#[test]
fn the_download_document_has_the_checksums_of_every_platform() {
    let scene = Scene::published();
    scene.run("serve --new-key bridge.asc").success();
    let serving = Serving::start(&scene, "hosts = [\"registry.example.com\"]\nsigning_key = \"bridge.asc\"", "");
    let path = format!("/registry/{WIDGET}/1.4.0/download/linux/amd64");
    let packages = serving.json(&path)["packages"].clone();
    require(&scene, &[("widget", "~> 1.4")]);
    scene.run(&format!("lock {FROM}")).success();
    let lock = scene.context.read(".terraform.lock.hcl");
    assert_eq!(packages.as_object().map(serde_json::Map::len), Some(2), "{packages}");
    for platform in ["darwin_arm64", "linux_amd64"] {
        let zip = std::fs::read(scene.path(&format!("dist/terraform-provider-widget_1.4.0_{platform}.zip")));
        let zip = zip.expect("it was published");
        assert_eq!(packages[platform]["package_size"], zip.len());
        let hashes: Vec<&str> =
            packages[platform]["hashes"].as_array().into_iter().flatten().filter_map(|hash| hash.as_str()).collect();
        let [h1, zh] = hashes[..] else { panic!("an h1 and a zh: {hashes:?}") };
        assert_eq!(zh, format!("zh:{}", Digest::sha256(&zip).encoded()));
        assert!(h1.starts_with("h1:") && lock.contains(h1) && lock.contains(zh), "{hashes:?}\n{lock}");
    }
}

/// A list of checksums names zips: the index may name any `h1:` beside them.
#[test]
fn checksums_that_no_signature_covers_were_in_the_download_document() {
    let scene = Scene::new();
    let platforms = ["darwin_arm64", "linux_amd64"];
    ReleaseFolder::new("widget", "1.4.0", &platforms).write_goreleaser(&scene.path("dist"));
    let (sums, key) = ("dist/terraform-provider-widget_1.4.0_SHA256SUMS", ScratchOpenPgpKey::of(1));
    let signature = key.sign(&std::fs::read(scene.path(sums)).expect("it was written"));
    scene.context.write(&format!("{sums}.sig"), signature);
    scene.context.write("key.asc", key.armored());
    let rule = "[[key]]\nname = \"acme\"\nfile = \"key.asc\"\n[[rule]]\nproviders = [\"*/*/*\"]\nkeys = [\"acme\"]\nunnamed = \"allow\"\n";
    scene.context.write("trust.toml", rule);
    scene.run(&format!("push dist REGISTRY/acme/widget --address {WIDGET}")).success();
    scene.run("serve --new-key bridge.asc").success();
    let top = "hosts = [\"registry.example.com\"]\nsigning_key = \"bridge.asc\"\ntrust = \"trust.toml\"";
    let serving = Serving::start(&scene, top, "");
    let document = serving.json(&format!("/registry/{WIDGET}/1.4.0/download/linux/amd64"));
    assert!(document["shasum"].is_string(), "{document}");
    let hashes = document["packages"].to_string();
    assert!(!hashes.contains("h1:"), "{document}");
    // What the signed zips have is another matter.
    assert!(platforms.iter().all(|platform| serving.get(&archive(platform)).status == 200));
    assert_eq!(learned(&serving).as_object().map(serde_json::Map::len), Some(2));
}
