//! Modules whose names lead elsewhere: in bundles, to options of git, and from a registry that is down.
#![cfg(unix)]

use serde_json::json;
use tofu_oci_testkit::{Answer, WebServer};

use crate::module_attacks::{ADDRESS, AT};
use crate::setup::Scene;

/// The name of a repository in a bundle is changed to another one of the same length.
#[test]
fn a_bundle_whose_modules_have_names_that_lead_elsewhere_writes_nothing_there() {
    let scene = Scene::new();
    scene.a_module(AT, "1.0.0", "");
    scene.run(&format!("module mirror oci://{AT}?tag=1.0.0 --as {ADDRESS} --to bundle:good.tar")).success();
    let good = std::fs::read(scene.path("good.tar")).expect("a bundle");
    let length = ADDRESS.len();
    for evil in ["../", "/etc/", "%2e%2e/", "a/../", "registry.example.test/acme/../aws/", "..\\\\"] {
        let mut name = evil.repeat(length.div_ceil(evil.len()));
        name.truncate(length);
        assert_eq!(name.len(), length);
        let text = good.windows(length);
        let places: Vec<usize> =
            text.enumerate().filter(|(_, window)| *window == ADDRESS.as_bytes()).map(|(at, _)| at).collect();
        assert!(!places.is_empty());
        let mut bytes = good.clone();
        for at in places {
            bytes[at..at + length].copy_from_slice(name.as_bytes());
        }
        scene.context.write("evil.tar", bytes);
        let before = crate::setup::state::tree(scene.path("").parent().expect("the folder of the scene"));
        scene.harmless("bundle show evil.tar");
        let to = "'oci:inner/mirror/${hostname}/${namespace}/${name}/${target_system}'";
        let mirrored = scene.run(&format!("module mirror --from bundle:evil.tar --to {to}"));
        let loaded = scene.run(&format!("bundle load evil.tar --modules-to {to}"));
        let mut after = crate::setup::state::tree(scene.path("").parent().expect("the folder of the scene"));
        after.retain(|name, _| !before.contains_key(name));
        assert!(
            after.keys().all(|name| name.starts_with("work/inner/")),
            "{evil}: {after:?}\n{}{}",
            mirrored.text,
            loaded.text
        );
    }
}

/// Whatever names a repository, no command of it is run and no option of it is read. The `git` of this test does nothing but say
/// that it was called.
#[test]
fn what_a_registry_or_a_user_writes_never_becomes_an_option_of_git() {
    let mut scene = Scene::new();
    scene.context.write("bin/git", "#!/bin/sh\nprintf '%s\\n' \"$*\" >> \"$HOME/called\"\nexit 1\n");
    let mut chmod = std::process::Command::new("chmod");
    assert!(chmod.arg("+x").arg(scene.path("bin/git")).status().expect("chmod").success());
    let path = format!("{}:{}", scene.path("bin").display(), std::env::var("PATH").expect("a PATH"));
    scene.context.env("PATH", path);
    let web = WebServer::start(&[]);
    scene.context.write("ca.pem", web.ca_pem().expect("it speaks TLS"));
    scene.context.env("TOFU_OCI_CA_FILE", "ca.pem");
    let services = format!("{{ \"modules.v1\" = \"{}/v1/\" }}", web.origin());
    scene.context.write_home(".tofurc", format!("host \"web.example.test\" {{\n  services = {services}\n}}\n"));
    let evil = [
        "git::ext::sh -c touch% owned",
        "ext::sh -c touch% owned",
        "git::fd::17/x",
        "git::ssh://-oProxyCommand=touch/owned",
        "git::ssh://git@-oProxyCommand=touch/owned",
        "git::ssh://-G@example.test/a.git",
        "git::ssh://git@-G/a.git",
        "git@-oProxyCommand=touch:owned",
        "git::git@-oProxyCommand=touch:owned",
        "git::--upload-pack=touch owned",
        "git::-u./owned",
        "git::https://-u.example.test/a.git",
        "git::https://example.test/a.git?ref=--upload-pack=touch%20owned",
        "git::https://example.test/a.git?ref=-u",
        "git::https://example.test/a%0a--upload-pack=x.git",
    ];
    let list: Vec<String> = (0..evil.len()).map(|minor| format!("{{\"version\":\"1.{minor}.0\"}}")).collect();
    web.page(
        "/v1/a/b/c/versions",
        Answer::new(200).body(format!("{{\"modules\":[{{\"versions\":[{}]}}]}}", list.join(","))),
    );
    for (minor, address) in evil.into_iter().enumerate() {
        let body = json!({ "location": address }).to_string();
        web.page(&format!("/v1/a/b/c/1.{minor}.0/download"), Answer::new(200).body(body));
        let named = scene.run(&format!("module pull web.example.test/a/b/c@1.{minor}.0 out"));
        let written = scene.output(scene.command("module pull").arg("--").arg(address).arg("out"));
        for said in [named, written] {
            assert!(matches!(said.code, Some(1 | 2)), "{address}: {}", said.text);
        }
        let called = std::fs::read_to_string(scene.context.home().join("called")).unwrap_or_default();
        assert_eq!(called, "", "{address}");
        assert!(!scene.path("out").exists() && !scene.path("owned").exists(), "{address}");
    }
}

#[test]
fn a_registry_that_is_down_takes_nothing_from_the_destination() {
    let mut scene = Scene::new();
    scene.a_module("oci:zip", "1.0.0", "");
    let zip = std::fs::read_dir(scene.path("zip/blobs/sha256")).expect("blobs").flatten();
    let zip = zip.map(|blob| std::fs::read(blob.path()).expect("a blob")).find(|bytes| bytes.starts_with(b"PK"));
    let web = WebServer::start(&[]);
    scene.context.write("ca.pem", web.ca_pem().expect("it speaks TLS"));
    scene.context.env("TOFU_OCI_CA_FILE", "ca.pem");
    let services = format!("{{ \"modules.v1\" = \"{}/v1/\" }}", web.origin());
    scene.context.write_home(".tofurc", format!("host \"web.example.test\" {{\n  services = {services}\n}}\n"));
    web.page("/v1/a/b/c/versions", Answer::new(200).body(r#"{"modules":[{"versions":[{"version":"1.0.0"}]}]}"#));
    web.page("/v1/a/b/c/1.0.0/download", Answer::new(204).header("X-Terraform-Get", "/b.zip"));
    web.page("/b.zip", Answer::new(200).body(zip.expect("a zip")));
    let mirror = "module mirror web.example.test/a/b/c --to 'REGISTRY/new/${name}' --attempts 1";
    scene.run(mirror).success();
    let there = scene.registry.tags("new/b");
    for answer in
        [Answer::new(503), Answer::new(404), Answer::new(200).body("rubbish"), Answer::json(&json!({ "modules": [] }))]
    {
        web.clear();
        web.page("*", answer);
        let said = scene.run(mirror);
        assert_eq!(scene.registry.tags("new/b"), there, "{}", said.text);
        assert_eq!(said.code, Some(0), "{}", said.text);
        assert!(said.stderr.contains("the destination has it, and it stays as it is"), "{}", said.text);
        assert!(said.stdout.contains("there already"), "{}", said.text);
    }
    let json = scene.run(&format!("{mirror} --json")).json();
    assert!(json.iter().any(|line| line["code"] == "module-source-unasked"), "{json:?}");
}
