//! `config check` on one file for each of its findings, and on those of the documents.

use insta::assert_snapshot;

use crate::config_check::CLEAN;
use crate::setup::Scene;

/// Rules that need more than one file of the CLI configuration; each has a test below.
const WITH_MORE: [&str; 8] = [
    "cli-config-missing",
    "cli-config-unreadable",
    "file-passed-over",
    "terraform-reads-it-too",
    "implicit-folders",
    "magic-host",
    "provider-not-covered",
    "lock-h1-only",
];

/// Rule, level and line.
type Found = (String, String, Option<u64>);

/// The exit code of `config check --json`, and what it finds.
fn found(scene: &Scene, line: &str) -> (Option<i32>, Vec<Found>) {
    let said = scene.run(line);
    let findings = said.json().into_iter().filter(|line| line["event"] == "finding");
    let text = |value: &serde_json::Value| value.as_str().unwrap_or_default().to_owned();
    let found = findings.map(|line| (text(&line["rule"]), text(&line["level"]), line["line"].as_u64()));
    (said.code, found.collect())
}

/// `testdata/cli-config/RULE.tfrc` is a file with that fault. What comes along with it is a consequence of it.
#[test]
fn there_is_a_file_for_each_finding() {
    let folder = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../../testdata/cli-config");
    let mut seen = Vec::new();
    for entry in std::fs::read_dir(folder).expect("the folder is there") {
        let path = entry.expect("an entry").path();
        let name = path.file_stem().and_then(|name| name.to_str()).expect("a name").to_owned();
        let scene = Scene::new();
        scene.home_file(".tofurc", &std::fs::read_to_string(&path).expect("a text"));
        let (code, found) = found(&scene, "config check --json");
        if name == "clean" {
            assert_eq!((code, found), (Some(0), Vec::new()));
            continue;
        }
        let of_rule = found.iter().find(|(rule, ..)| rule.split(':').next() == Some(name.as_str()));
        let (_, _, line) = of_rule.unwrap_or_else(|| panic!("{name} is not found, but {found:?}"));
        assert!(line.is_some(), "{name} has no line");
        let is_wrong = found.iter().any(|(_, level, _)| level != "note");
        assert_eq!(code, Some(i32::from(is_wrong)), "{name}: {found:?}");
        seen.push(name);
    }
    for rule in tofu_oci_checker::cli_config::RULES {
        let id = rule.id.split(':').next().unwrap_or_default();
        let is_seen = seen.iter().any(|name| name == id) || WITH_MORE.contains(&id);
        assert!(is_seen, "there is no file for {id}");
    }
}

#[test]
fn the_documented_configurations_have_no_findings() {
    let page = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/concepts/configuration.md");
    let text = std::fs::read_to_string(page).expect("a text");
    let mut checked = 0;
    for block in text.split("```hcl\n").skip(1).filter_map(|rest| rest.split("```").next()) {
        if !block.contains("provider_installation") && !block.contains("tofu_oci {") {
            continue;
        }
        let scene = Scene::new();
        scene.home_file(".tofurc", block);
        assert_eq!(found(&scene, "config check --json"), (Some(0), Vec::new()), "{block}");
        checked += 1;
    }
    assert!(checked >= 2, "{checked}");
}

#[test]
fn a_file_that_a_variable_names_and_that_is_not_there() {
    let scene = Scene::new();
    scene.home_file(".tofurc", CLEAN);
    let mut command = scene.command("config check");
    assert_snapshot!(scene.output(command.env("TF_CLI_CONFIG_FILE", "nowhere.tfrc")).text, @"
    exit code: 1
    ----- stdout -----
    error[cli-config-missing] TF_CLI_CONFIG_FILE names [WORK]/nowhere.tfrc, which is not there
     --> [WORK]/nowhere.tfrc
      = what happens: 1.10 and later: warns, and goes on without this file
                      1.10 and later: no provider_installation is left: OpenTofu takes the local plugin folders, and downloads every other provider from its own registry, with exit code 0
      = instead: name a file that is there, or unset TF_CLI_CONFIG_FILE to have the usual files read

    warning[file-passed-over] this file is not read
     --> [HOME]/.tofurc
      = what happens: nothing in it counts: TF_CLI_CONFIG_FILE names another file
      = instead: write what is needed into the file that is read, or remove this one

    1 error, 1 warning; 0 files read

    ----- stderr -----
    ");
    std::fs::create_dir(scene.path("folder.tfrc")).expect("a folder");
    let mut command = scene.command("config check");
    assert_snapshot!(scene.output(command.env("TF_CLI_CONFIG_FILE", "folder.tfrc")).text, @"
    exit code: 1
    ----- stdout -----
    error[cli-config-unreadable] [WORK]/folder.tfrc cannot be read: it is a folder
     --> [WORK]/folder.tfrc
      = what happens: 1.10 and later: prints an error that names no line, and goes on without this file
                      1.10 and later: no provider_installation is left: OpenTofu takes the local plugin folders, and downloads every other provider from its own registry, with exit code 0
      = instead: name a readable file here

    note[file-passed-over] this file is not read
     --> [HOME]/.tofurc
      = what happens: nothing in it counts: TF_CLI_CONFIG_FILE names another file
      = instead: write what is needed into the file that is read, or remove this one

    1 error, 1 note; 0 files read

    ----- stderr -----
    ");
}

#[test]
fn a_mirror_in_a_file_that_terraform_reads_too() {
    let scene = Scene::new();
    scene.home_file(".terraformrc", CLEAN);
    assert_snapshot!(scene.run("config check").text, @"
    exit code: 1
    ----- stdout -----
    warning[terraform-reads-it-too] Terraform reads this file too, and knows no oci_mirror
      --> [HOME]/.terraformrc:2:3
      |
    2 |   oci_mirror {
      |   ^^^^^^^^^^
      = what happens: every Terraform command prints `Unknown provider installation method`, and goes on with the other methods; OpenTofu reads it well
      = instead: write it to ~/.tofurc, which OpenTofu reads first and Terraform does not read

    1 warning; 1 file read

    ----- stderr -----
    ");
}

#[test]
fn folders_that_cut_providers_off() {
    let scene = Scene::new();
    let folder = "terraform.d/plugins/registry.example.com/acme/widget/1.0.0/linux_amd64";
    std::fs::create_dir_all(scene.path(folder)).expect("a folder");
    assert_snapshot!(scene.run("config check").text, @"
    exit code: 0
    ----- stdout -----
    note[implicit-folders] there is no provider_installation, and providers lie in [WORK]/terraform.d/plugins
      = what happens: registry.example.com/acme/widget come from these folders only, in the versions and for the platforms that lie there: their registries are not asked
      = instead: write a provider_installation with a filesystem_mirror and direct to say what is meant

    1 note; 0 files read

    ----- stderr -----
    ");
}

#[test]
fn a_configuration_and_its_lock_file() {
    let scene = Scene::new();
    scene.home_file(".tofurc", CLEAN);
    std::fs::create_dir(scene.path("root")).expect("a folder");
    let write = |name: &str, text: &str| std::fs::write(scene.path(name), text).expect("a file");
    let lock = "provider \"registry.example.com/acme/widget\" {\n  version = \"1.0.0\"\n  hashes = [\n    \"h1:47DEQpj8HBSa+/TImW+5JCeuQeRkm5NMpJWZG3hSuFU=\",\n  ]\n}\n";
    write("root/.terraform.lock.hcl", lock);
    let source = |name: &str, source: &str| format!("    {name} = {{ source = \"{source}\" }}\n");
    let required = [
        source("widget", "registry.example.com/acme/widget"),
        source("other", "registry.example.com/other/widget"),
        source("magic", "ghcr.io.oci.opentofu.org/acme/widget"),
    ];
    write("root/main.tf", &format!("terraform {{\n  required_providers {{\n{}  }}\n}}\n", required.concat()));
    let narrow = CLEAN.replacen("/*/*", "/acme/*", 1);
    scene.home_file(".tofurc", &narrow);
    assert_snapshot!(scene.run("config check --chdir root").text, @r#"
    exit code: 1
    ----- stdout -----
    error[provider-not-covered] no method is for registry.example.com/other/widget, which the configuration requires
      --> [HOME]/.tofurc:1:1
      |
    1 | provider_installation {
      | ^^^^^^^^^^^^^^^^^^^^^
      = what happens: init says that it was not found in any of the search locations; no registry is asked
      = instead: write "registry.example.com/other/widget" into the include of a method that has it, or out of its exclude

    error[lock-h1-only] registry.example.com/acme/widget 1.0.0 is locked with h1: alone, and comes from an oci_mirror
      --> root/.terraform.lock.hcl:1:10
      |
    1 | provider "registry.example.com/acme/widget" {
      |          ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^
      = what happens: init refuses the package of oci_mirror at [HOME]/.tofurc:2, identical or not, unless the plugin cache holds it: an oci_mirror is compared by zh: only
      = instead: write the missing zh: into the entry: run `tofu-oci install` here, which verifies h1: and adds it, or remove the entry of registry.example.com/acme/widget and run init again

    note[magic-host] only tofu-oci finds ghcr.io.oci.opentofu.org/acme/widget in a registry by its host
      = what happens: OpenTofu asks the host itself, and init aborts
      = instead: write an oci_mirror for it too: `tofu-oci config add` writes one

    2 errors, 1 note; 1 file read

    ----- stderr -----
    "#);
    scene.home_file(".tofurc", CLEAN);
    write(
        "root/.terraform.lock.hcl",
        &lock.replace(
            "    \"h1",
            "    \"zh:e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855\",\n    \"h1",
        ),
    );
    write("root/main.tf", &format!("terraform {{\n  required_providers {{\n{}  }}\n}}\n", required[..2].concat()));
    assert_snapshot!(scene.run("config check --chdir root").text, @"
    exit code: 0
    ----- stdout -----
    no findings; 1 file read

    ----- stderr -----
    ");
}

#[test]
fn a_variable_that_names_the_configuration_failed_its_check() {
    let scene = Scene::new();
    let clean = "provider_installation {\n  direct {}\n}\n";
    scene.context.write_home(".tofurc", clean);
    scene.context.write("own.tfrc", clean);
    let said = scene.output(scene.command("config check").env("TF_CLI_CONFIG_FILE", "own.tfrc"));
    assert_eq!(said.code, Some(0), "{}", said.text);
    assert!(said.text.contains("note[file-passed-over]"), "{}", said.text);
}
