//! `check --module`.

use std::path::{Path, PathBuf};

use insta::assert_snapshot;
use serde_json::Value;

use crate::json;
use crate::setup::{Said, Scene};

/// The repositories that were put before the real program, each a folder.
fn testrepos() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../testdata/testrepos-modules")
}

/// Whether each release installs, and the reasons; one text if all agree.
#[track_caller]
fn predicted(said: &Said) -> String {
    let lines = said.json();
    let rows = lines.last().expect("it says something")["predictions"].as_array().expect("predictions").clone();
    let series: Vec<&str> = rows.iter().map(|one| one["opentofu"].as_str().expect("the series of releases")).collect();
    assert_eq!(series, ["1.10", "1.11", "1.12", "1.13"], "{}", said.text);
    let verdict = |one: &Value| {
        let word = if one["installs"] == true { "installs" } else { "refuses" };
        format!("{word} {}", one["because"].as_str().expect("a reason"))
    };
    let mut verdicts: Vec<String> = rows.iter().map(verdict).collect();
    verdicts.dedup();
    verdicts.join(", ")
}

#[test]
fn the_prediction_for_modules_is_what_opentofu_did() {
    let scene = Scene::new();
    let text = std::fs::read_to_string(testrepos().join("expected.json")).unwrap();
    let cases: Vec<Value> = serde_json::from_str(&text).unwrap();
    assert_eq!(cases.len(), 55);
    let root = testrepos();
    for case in &cases {
        let (name, text) = (case["case"].as_str().unwrap(), |member: &str| case[member].as_str().unwrap());
        let source = text("source").replace("HOST", "registry.example.test");
        let said = scene.run(&format!("check oci:{} --module --source {source} --json", root.display()));
        assert_eq!(predicted(&said), format!("{} {}", text("opentofu"), text("because")), "{name}");
        assert_eq!(said.code, Some(i32::from(text("opentofu") == "refuses")), "{name}: {}", said.text);
    }
}

#[test]
fn a_module_in_a_registry() {
    let scene = Scene::over_tls();
    for name in ["good", "zip-escaping-call", "zip-symlink-inside"] {
        scene.registry.put_layout(&format!("acme/{name}"), &testrepos().join(name));
    }
    let said = scene.run("check REGISTRY/acme/good --module --deep --json").success();
    assert_eq!(json::check(&said), ["finding", "checked", "predictions"]);
    assert_eq!(predicted(&said), "installs ok");
    let source = |name: &str, rest: &str| format!("check oci://REGISTRY/acme/{name}{rest} --module");
    assert_eq!(predicted(&scene.run(&format!("{} --json", source("none", "?tag=1.0.0")))), "refuses tag-not-found");
    let escaping = format!("{} --deep --json", source("zip-escaping-call", "?tag=1.0.0"));
    assert_eq!(predicted(&scene.run(&escaping)), "refuses call-escapes-package");
    let shallow = scene.run(&format!("{} --json", source("zip-escaping-call", "?tag=1.0.0"))).success();
    assert_eq!(predicted(&shallow), "installs ok");
    assert!(shallow.json().last().unwrap()["predictions"][0]["unread"] == true, "{}", shallow.text);
    assert_snapshot!(scene.run("check REGISTRY/acme/zip-symlink-inside:1.0.0 --module --deep").text, @r#"
    exit code: 0
    ----- stdout -----
    warning[module-link] package sha256:[DIGEST], entry `link.txt`
      what      it is a symbolic link, and becomes a file with the link's target as text
      why       OpenTofu writes a regular file with the link's target as its text.
      fix       pack the file itself
      spec      OpenTofu 1.12, go-getter decompress_zip.go (measured)

      oci://[REGISTRY]/acme/zip-symlink-inside?tag=1.0.0  OpenTofu 1.10 to 1.13  installs
    Terraform reads no oci:// source: this is about OpenTofu alone

    [REGISTRY]/acme/zip-symlink-inside: 1 warning; 1 module looked at

    ----- stderr -----
    "#);
}

#[test]
fn a_module_over_plain_http_is_not_installed() {
    let scene = Scene::new();
    scene.registry.put_layout("acme/good", &testrepos().join("good"));
    let said = scene.run("check REGISTRY/acme/good --module --deep --json").success();
    assert_eq!(predicted(&said), "refuses plain-http");
}

#[test]
fn options_that_mean_nothing_for_modules_are_refused() {
    let scene = Scene::new();
    for line in [
        "check REGISTRY/a/b --module --platform linux_amd64",
        "check REGISTRY/a/b --module --registry",
        "check REGISTRY/a/b --source oci://x.test/a",
        "check REGISTRY/a/b --module --source ./a",
        "check REGISTRY/a/b:1.0.0 --module --source oci://x.test/a",
        "check oci://x.test/a --module --version 1.0.0",
        "check .terraform.lock.hcl --module",
        "check REGISTRY/a/b --module --trust-policy x.toml",
        "check REGISTRY/a/b --module --from x.test/a",
    ] {
        assert_eq!(scene.run(line).code, Some(2), "{line}");
    }
}

#[test]
fn a_module_whose_registry_does_not_answer_is_not_judged() {
    let scene = Scene::over_tls();
    let said = scene.run("check oci://localhost:1/acme/good?tag=1.0.0 --module --json");
    assert_eq!(said.code, Some(3), "{}", said.text);
    assert!(said.stdout.contains("\"not-judged\""), "{}", said.text);
}
