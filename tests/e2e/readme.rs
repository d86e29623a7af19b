//! The recipes of the README, the guide and the tutorial, command by command.

use std::path::Path;

use tofu_oci_testkit::{PageStep, page_steps, shows};

#[cfg(unix)]
use crate::serve::Serving;
use crate::setup::{Scene, copy};

/// The registry of the guide and the tutorial.
const REGISTRY: &str = "127.0.0.1:5000";

fn root() -> std::path::PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

fn page(name: &str) -> String {
    std::fs::read_to_string(root().join(name)).expect("a page")
}

#[test]
fn the_guide_prints_what_it_says() {
    let scene = Scene::over_tls();
    for folder in ["dist", "dist-next", "configurations/platform"] {
        copy(&root().join("testdata").join(folder), &scene.path("testdata").join(folder));
    }
    let mirror = std::fs::read_to_string(root().join("testdata/configurations/local-mirror.tfrc")).expect("a file");
    let path = scene.path("testdata/configurations/local-mirror.tfrc");
    std::fs::write(&path, mirror.replace(REGISTRY, scene.registry.address())).expect("a file in the work folder");
    let mut shown = 0;
    for step in page_steps(&page("docs/start/guide.md")) {
        let PageStep::Command { line: command, printed } = step else { continue };
        let Some(line) = command.strip_prefix("tofu-oci ") else {
            // The scene has a registry with TLS, trusts it, and names the file.
            let prepared = [
                "cargo xtask registry start --tls --port 5000",
                "export SSL_CERT_FILE=$PWD/target/registry/5000/ca.pem",
                "export TF_CLI_CONFIG_FILE=$PWD/testdata/configurations/local-mirror.tfrc",
            ];
            assert!(prepared.contains(&command.as_str()), "{command}");
            continue;
        };
        let mut program = scene.command(&line.replace(REGISTRY, "REGISTRY"));
        let said = scene.output(program.env("TF_CLI_CONFIG_FILE", &path)).success();
        let wanted = printed.replace(REGISTRY, scene.registry.address()).replace("linux_amd64", "…");
        assert!(shows(&said.stdout, &wanted), "{command} prints\n{}\nand not\n{wanted}", said.stdout);
        shown += printed.lines().count();
    }
    assert!(shown > 20, "the guide shows {shown} lines");
}

/// What the tutorial does with `tofu` and `terraform`, the stage of real clients does.
#[cfg(unix)]
#[test]
fn the_tutorial_prints_what_it_says() {
    let scene = Scene::over_tls();
    for folder in ["dist", "dist-next", "trust/cosign/test-keys"] {
        copy(&root().join("testdata").join(folder), &scene.path("testdata").join(folder));
    }
    let (mut config, mut serving, mut shown) = (None, None, 0);
    for step in page_steps(&page("docs/start/tutorial.md")) {
        let (line, printed) = match step {
            PageStep::File { path, text } => {
                scene.context.write(&path, text);
                continue;
            }
            PageStep::Command { line, printed } => (line, printed),
        };
        let wanted = printed.replace(REGISTRY, scene.registry.address());
        let mut words = line.split([' ', '=']);
        let said = match (words.next(), words.next()) {
            (Some("cargo" | "tofu"), _) | (Some("export"), Some("SSL_CERT_FILE")) | (Some("tofu-oci"), Some("run")) => {
                continue;
            }
            (Some("export"), Some("TF_CLI_CONFIG_FILE")) => {
                config = line.split_once("$PWD/").map(|(_, path)| scene.path(path));
                continue;
            }
            (Some("tofu-oci"), Some("serve")) => {
                let line = line.trim_start_matches("tofu-oci ").trim_end_matches(" &").replace(REGISTRY, "REGISTRY");
                serving = Some(Serving::spawn(scene.command(&format!("{line} --listen 127.0.0.1:0"))));
                continue;
            }
            (Some("curl"), _) => {
                let (_, path) = line.split_once(":8080").expect("the address of `serve`");
                serving.as_ref().expect("it was started").get(path).text()
            }
            (Some("kill"), _) => {
                serving = None;
                continue;
            }
            (Some("tofu-oci"), _) => {
                let (command, file) =
                    line.split_once(" > ").map_or((line.as_str(), None), |(left, file)| (left, Some(file)));
                let mut program = scene.command(&command.trim_start_matches("tofu-oci ").replace(REGISTRY, "REGISTRY"));
                if let Some(config) = &config {
                    program.env("TF_CLI_CONFIG_FILE", config);
                }
                let said = scene.output(&mut program);
                assert_eq!(said.code, Some(i32::from(printed.starts_with("error: "))), "{line}: {}", said.text);
                if let Some(file) = file {
                    scene.context.write(file, &said.stdout);
                }
                if said.code == Some(0) { said.stdout } else { said.stderr }
            }
            _ => {
                let output =
                    std::process::Command::new("sh").args(["-c", &line]).current_dir(scene.context.work()).output();
                let output = output.expect("a shell is there");
                assert!(output.status.success(), "{line}");
                String::from_utf8(output.stdout).expect("text")
            }
        };
        assert!(shows(&said, &wanted), "{line} prints\n{said}\nand not\n{wanted}");
        shown += wanted.lines().count();
    }
    assert!(serving.is_none() && shown > 50, "the tutorial shows {shown} lines");
}

/// The configuration that the recipes install for.
const MAIN: &str = r#"terraform {
  required_providers {
    widget = {
      source = "registry.example.com/acme/widget"
    }
  }
}
"#;

#[test]
fn the_recipes_of_the_readme_work_one_after_the_other() {
    let scene = Scene::over_tls();
    scene.dist("dist", "1.4.0");
    scene.context.write("main.tf", MAIN);
    scene.context.write("network/main.tf", "");
    scene.key("p256.pem");
    let public = root().join("testdata/trust/cosign/test-keys/p256.pub");
    std::fs::copy(public, scene.path("cosign.pub")).expect("a file in the work folder");
    let readme = page("README.md");
    let mut verbs = std::collections::BTreeSet::new();
    for line in readme.lines().filter(|line| line.starts_with("$ tofu-oci ")) {
        let here = line.replace("ghcr.io/acme/", "REGISTRY/acme/").replace("registry.inside.example/", "REGISTRY/");
        let mut program = scene.command(here.trim_start_matches("$ tofu-oci "));
        scene.output(program.env("COSIGN_KEY", scene.context.read("p256.pem"))).success();
        verbs.extend(line.split(' ').nth(2).map(ToOwned::to_owned));
    }
    let verbs: Vec<String> = verbs.into_iter().collect();
    assert_eq!(verbs, ["check", "config", "copy", "install", "lock", "module", "push", "verify"]);
}
