//! The recipes of the README and the guide, command by command.

use std::path::Path;

use crate::setup::{Scene, copy};

/// The registry of the guide.
const REGISTRY: &str = "127.0.0.1:5000";

fn root() -> std::path::PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

/// The commands of the guide and what it says that they print.
fn guide() -> Vec<(String, Vec<String>)> {
    let guide = std::fs::read_to_string(root().join("docs/start/guide.md")).expect("the guide");
    let mut steps: Vec<(String, Vec<String>)> = Vec::new();
    for block in guide.split("```console\n").skip(1) {
        for line in block.split("```").next().expect("the end of the block").lines() {
            match (line.strip_prefix("$ "), steps.last_mut()) {
                (Some(command), _) => steps.push((command.to_owned(), Vec::new())),
                (None, Some((_, output))) => output.push(line.to_owned()),
                (None, None) => panic!("output before the first command: {line}"),
            }
        }
    }
    steps
}

/// Whether the pieces between the `…` stand in the text, in their order.
fn shows(text: &str, wanted: &str) -> bool {
    let mut rest = text;
    wanted.split('…').map(str::trim).filter(|piece| !piece.is_empty()).all(|piece| match rest.split_once(piece) {
        Some((_, after)) => {
            rest = after;
            true
        }
        None => false,
    })
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
    for (command, output) in guide() {
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
        let wanted = output.join("\n").replace(REGISTRY, scene.registry.address()).replace("linux_amd64", "…");
        assert!(shows(&said.stdout, &wanted), "{command} prints\n{}\nand not\n{wanted}", said.stdout);
        shown += output.len();
    }
    assert!(shown > 20, "the guide shows {shown} lines");
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
    let readme = std::fs::read_to_string(root().join("README.md")).expect("the README");
    let mut verbs = std::collections::BTreeSet::new();
    for line in readme.lines().filter(|line| line.starts_with("$ tofu-oci ")) {
        let here = line.replace("ghcr.io/acme/", "REGISTRY/acme/").replace("registry.inside.example/", "REGISTRY/");
        let (command, file) = here.split_once(" >> ").map_or((here.as_str(), None), |(left, file)| (left, Some(file)));
        let mut program = scene.command(command.trim_start_matches("$ tofu-oci "));
        let said = scene.output(program.env("COSIGN_KEY", scene.context.read("p256.pem"))).success();
        if let Some(name) = file.and_then(|file| file.strip_prefix("~/")) {
            scene.context.write_home(name, said.stdout);
        }
        verbs.extend(line.split(' ').nth(2).map(ToOwned::to_owned));
    }
    let verbs: Vec<String> = verbs.into_iter().collect();
    assert_eq!(verbs, ["check", "config", "copy", "install", "lock", "module", "push", "verify"]);
}
