//! `check` of lock files.

use insta::assert_snapshot;

use crate::json;
use crate::setup::{Said, Scene, WIDGET};
use crate::words::refuse;

const LOCK: &str = ".terraform.lock.hcl";

fn file(hashes: &[&str]) -> String {
    let hashes: String = hashes.iter().map(|hash| format!("    \"{hash}\",\n")).collect();
    format!(
        "# This file is maintained automatically by \"tofu init\".\n# Manual edits may be lost in future updates.\n\n\
         provider \"{WIDGET}\" {{\n  version = \"1.4.0\"\n  hashes = [\n{hashes}  ]\n}}\n"
    )
}

fn rules(said: &Said) -> Vec<String> {
    let lines = said.json();
    let findings = lines.iter().filter(|line| line["event"] == "finding");
    findings
        .map(|line| {
            format!("{} {}", line["rule"].as_str().unwrap_or_default(), line["place"].as_str().unwrap_or_default())
        })
        .collect()
}

#[test]
fn lines_that_protect_nobody_are_an_error() {
    let scene = Scene::new();
    let ch = format!("ch:sha256:{}", "0".repeat(64));
    scene.context.write(LOCK, file(&[&ch]));
    assert_snapshot!(scene.run("check .terraform.lock.hcl").text, @r#"
    exit code: 1
    ----- stdout -----
    error[lock-ch-only] .terraform.lock.hcl:4 (1.4.0)
      what      registry.example.com/acme/widget 1.4.0 has ch: lines alone
      why       OpenTofu knows h1: and zh: alone. With none of them it verifies nothing, and installs
                any package.
      fix       run `tofu-oci lock`, which adds h1: and zh:
      spec      OpenTofu 1.12, internal/getproviders/hash.go, PreferredHashes; OpenTofu 1.12,
                internal/providercache/installer.go

    .terraform.lock.hcl: 1 error; 1 provider looked at

    ----- stderr -----
    "#);
    let said = scene.run("check . --json");
    assert_eq!(json::check(&said), ["finding", "checked"]);
    assert_eq!((said.code, rules(&said)), (Some(1), vec!["lock-ch-only .terraform.lock.hcl:4".to_owned()]));
    assert_eq!(scene.registry.requests().len(), 0);
}

#[test]
fn what_init_would_rewrite_is_shown_as_a_diff() {
    let scene = Scene::published();
    scene.run(&format!("install {WIDGET} --from REGISTRY/acme/widget --platform linux_amd64")).success();
    scene.run("check .terraform.lock.hcl").success();
    let text = scene.context.read(LOCK).replace("  hashes = [", "  hashes  = [");
    scene.context.write(LOCK, &text);
    let said = scene.run("check .terraform.lock.hcl --json --fail-on warning");
    assert_eq!(said.code, Some(1));
    assert_eq!(json::check(&said), ["finding", "finding", "checked"]);
    assert!(rules(&said)[1].starts_with("lock-one-platform "), "{}", said.text);
    assert!(said.json()[0]["diff"].as_str().unwrap().contains("\n-  hashes  = [\n+  hashes = [\n"), "{}", said.text);
    assert_eq!(scene.run("check .terraform.lock.hcl").code, Some(0), "a warning fails nothing by itself");
    scene.context.write("broken.hcl", "provider \"x\" {\n");
    let said = scene.run("check broken.hcl --json");
    assert_eq!((said.code, rules(&said)), (Some(1), vec!["lock-syntax broken.hcl:1:16".to_owned()]));
    assert_eq!(scene.run("check missing.hcl").code, Some(2));
    std::fs::write(scene.path("binary.hcl"), b"\xff\xfe").unwrap();
    assert_eq!(scene.run("check binary.hcl").code, Some(2));
}

#[test]
fn platforms_that_no_line_covers() {
    let scene = Scene::published();
    scene.run(&format!("install {WIDGET} --from REGISTRY/acme/widget --platform linux_amd64")).success();
    let line = "check .terraform.lock.hcl --from REGISTRY/acme/widget --platform linux_amd64";
    scene.run(line).success();
    assert_snapshot!(scene.run(&format!("{line} --platform darwin_arm64")).text, @r#"
    exit code: 1
    ----- stdout -----
    error[lock-platform] .terraform.lock.hcl (1.4.0, darwin_arm64)
      what      registry.example.com/acme/widget 1.4.0: darwin_arm64: no line covers it
      why       init on that platform fails: no checksum of the package is among the lines.
      fix       run `tofu-oci lock --platform OS_ARCH`
      spec      OpenTofu 1.12, internal/providercache/installer.go

    .terraform.lock.hcl: 1 error; 1 provider looked at

    ----- stderr -----
    "#);
    let said = scene.run(&format!("{line} --platform windows_amd64 --json"));
    assert_eq!((said.code, rules(&said)), (Some(1), vec!["lock-platform-not-offered .terraform.lock.hcl".to_owned()]));
    // A version that is gone, and a repository that cannot be asked.
    let said = scene.run("check .terraform.lock.hcl --from REGISTRY/acme/nothing --platform linux_amd64 --json");
    assert_eq!((said.code, rules(&said)), (Some(1), vec!["lock-version-gone .terraform.lock.hcl".to_owned()]));
    let said = scene.run("check .terraform.lock.hcl --from oci:nowhere --platform linux_amd64 --json");
    assert_eq!((said.code, rules(&said)), (Some(1), vec!["lock-not-asked .terraform.lock.hcl".to_owned()]));
}

#[test]
fn options_of_repositories_are_refused() {
    let scene = Scene::new();
    scene.context.write(LOCK, file(&["h1:x"]));
    for option in [
        "--version 1.0.0",
        "--deep",
        "--against REGISTRY/x",
        "--address example.com/a/b",
        "--registry",
        "--trust-policy x.toml",
        "--from REGISTRY/x",
        "--magic-suffix x.test",
        "--platform linux_amd64 --offline",
    ] {
        assert_eq!(scene.run(&format!("check .terraform.lock.hcl {option}")).code, Some(2), "{option}");
    }
}

#[test]
fn a_file_of_a_configuration_was_read_as_a_lock_file() {
    let scene = Scene::new();
    scene.context.write("live/main.tf", "terraform {}\n");
    let said = "error: live/main.tf is a file of a configuration, not a lock file\n";
    let absent = "hint: its lock file would be live/.terraform.lock.hcl, and is not there\n";
    refuse(&scene, "check live/main.tf", &[said, absent]);
    scene.context.write("live/.terraform.lock.hcl", file(&[]));
    refuse(
        &scene,
        "check live/main.tf --offline",
        &[said, "hint: tofu-oci check live/.terraform.lock.hcl --offline\n"],
    );
}

#[test]
fn a_file_that_other_verbs_read_was_read_as_a_broken_lock_file() {
    let scene = Scene::new();
    for (name, reader) in [
        ("trust.toml", "`tofu-oci verify` judges a release by it"),
        (".tofu-oci.pins.json", "`tofu-oci verify` judges a release by it"),
        ("mirror.toml", "`tofu-oci mirror --plan` reads it"),
        ("other.json", "a lock file is named by its path"),
    ] {
        scene.context.write(name, "x");
        refuse(&scene, &format!("check {name}"), &[&format!("error: {name} is not a lock file\n"), reader]);
    }
}
