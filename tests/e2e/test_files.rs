//! What a configuration requires besides its plain files: what its tests need, and modules whose source is an expression.
//! Every verb that reads the configuration counts it, as `tofu init` does.

use insta::assert_snapshot;
use tofu_oci_testkit::ReleaseFolder;

use crate::lock_all::{FROM, require};
use crate::setup::{PLATFORMS, Scene, WIDGET};

const RUNS_SETUP: &str = "run \"setup\" {\n  module {\n    source = \"./setup\"\n  }\n}\n";

/// The configuration requires widget, and a module that a test runs requires gadget.
fn scene() -> Scene {
    let scene = Scene::published();
    ReleaseFolder::new("gadget", "1.0.0", &PLATFORMS).write_zips(&scene.path("dist-gadget"));
    scene.run("push dist-gadget REGISTRY/acme/gadget --address registry.example.com/acme/gadget").success();
    require(&scene, &[("gadget", "1.0.0")]);
    scene.context.write("setup/main.tf", scene.context.read("main.tf"));
    scene.context.write("tests/a.tftest.hcl", RUNS_SETUP);
    require(&scene, &[("widget", "~> 1.4")]);
    scene
}

fn locked(scene: &Scene) -> String {
    let lock = scene.context.read(".terraform.lock.hcl");
    lock.lines().filter_map(|line| line.strip_prefix("provider ")).collect::<Vec<_>>().join("\n")
}

#[test]
fn a_lock_file_with_the_providers_of_tests_is_not_refused_and_they_are_not_removed() {
    let scene = scene();
    let install = format!("install {FROM} --platform linux_amd64 --quiet");
    scene.run(&install).success();
    assert_snapshot!(locked(&scene), @r#"
    "registry.example.com/acme/gadget" {
    "registry.example.com/acme/widget" {
    "#);
    let lock = scene.context.read(".terraform.lock.hcl");
    assert_snapshot!(scene.run(&format!("{install} --locked")).text, @"
    exit code: 0
    ----- stdout -----
    already installed registry.example.com/acme/gadget 1.0.0 linux_amd64
      .terraform/providers/registry.example.com/acme/gadget/1.0.0/linux_amd64
    already installed registry.example.com/acme/widget 1.4.0 linux_amd64
      .terraform/providers/registry.example.com/acme/widget/1.4.0/linux_amd64
    lock file .terraform.lock.hcl unchanged

    ----- stderr -----
    ");
    scene.run(&install).success();
    assert_eq!(scene.context.read(".terraform.lock.hcl"), lock);
    scene.run(&format!("lock {FROM} --quiet")).success();
    assert_snapshot!(scene.run(&format!("lock {FROM} --check --quiet")).text, @"
    exit code: 0
    ----- stdout -----
    registry.example.com/acme/gadget 1.0.0 from [REGISTRY]/acme/gadget
      locked already: darwin_arm64, linux_amd64
    registry.example.com/acme/widget 1.4.0 from [REGISTRY]/acme/widget
      locked already: darwin_arm64, linux_amd64
    lock file .terraform.lock.hcl unchanged

    ----- stderr -----
    ");
}

#[test]
fn without_tests_a_lock_file_with_the_providers_of_tests_was_refused_and_they_were_removed() {
    let scene = scene();
    scene.run(&format!("lock {FROM} --quiet")).success();
    let lock = scene.context.read(".terraform.lock.hcl");
    let install = format!("install {FROM} --platform linux_amd64 --quiet --no-tests");
    assert_snapshot!(scene.run(&format!("{install} --locked")).text, @"
    exit code: 0
    ----- stdout -----
    installed registry.example.com/acme/widget 1.4.0 linux_amd64
      .terraform/providers/registry.example.com/acme/widget/1.4.0/linux_amd64
    lock file .terraform.lock.hcl unchanged

    ----- stderr -----
    ");
    scene.run(&install).success();
    scene.run(&format!("lock {FROM} --quiet --no-tests")).success();
    assert_eq!(scene.context.read(".terraform.lock.hcl"), lock);
    scene.run(&format!("lock {FROM} --quiet --no-tests --check")).success();
}

#[test]
fn a_folder_of_tests_with_a_slash_in_front_was_looked_for_outside_of_the_configuration() {
    let scene = scene();
    let outside = scene.path("tests").to_string_lossy().into_owned();
    let said = scene.run(&format!("providers {FROM} --test-directory {outside}")).success();
    assert!(!said.stdout.contains("gadget") && said.stderr.contains("there is no folder ./"), "{}", said.text);
    assert!(scene.run(&format!("providers {FROM} --test-directory /tests")).success().stdout.contains("gadget"));
}

#[test]
fn values_on_the_command_line_of_opentofu_were_passed_over_without_a_word() {
    let mut scene = scene();
    scene.context.env("TF_CLI_ARGS_init", "-upgrade '-var-file=prod.tfvars'");
    let lock = format!("lock {FROM} --quiet --no-tests");
    assert_eq!(scene.run(&lock).success().stderr, "");
    let main = "variable \"env\" {\n  default = \"setup\"\n}\nmodule \"m\" {\n  source = \"./${var.env}\"\n}\n";
    scene.context.write("main.tf", main);
    for verb in [
        lock.as_str(),
        "install --from REGISTRY/acme/gadget --quiet --platform linux_amd64",
        "providers --quiet",
        "module mirror --from-config . --to oci:there --quiet",
        "bundle create b.tar --from-config . --from REGISTRY/acme/gadget --quiet",
    ] {
        assert_eq!(scene.run(verb).success().stderr.matches("TF_CLI_ARGS_init").count(), 1, "{verb}");
    }
    assert_snapshot!(scene.run(&lock).stderr, @"
    warning: TF_CLI_ARGS_init sets variables, and tofu-oci does not read it; the source of a module depends on variables
      hint: set them as TF_VAR_NAME or in terraform.tfvars
    ");
    scene.context.env("TF_CLI_ARGS_init", "-upgrade");
    assert_eq!(scene.run(&lock).success().stderr, "");
}

#[test]
fn every_verb_that_reads_a_configuration_counts_its_tests() {
    let scene = scene();
    assert_snapshot!(scene.run("providers --from REGISTRY/acme/widget").text, @"
    exit code: 0
    ----- stdout -----
    Providers required by configuration:
    .
    ├── provider[registry.example.com/acme/widget] ~> 1.4
    └── test.tests.a
        └── run.setup
            └── provider[registry.example.com/acme/gadget] 1.0.0

    Modules:

    root module
      widget = registry.example.com/acme/widget ~> 1.4, required at main.tf:3:5
        widget: no provider block: it runs with an empty configuration

    test.tests.a (tests/a.tftest.hcl)
      needs no provider

    test.tests.a.run.setup (./setup), called at tests/a.tftest.hcl:3:14
      place: the folder setup
      gadget = registry.example.com/acme/gadget 1.0.0, required at setup/main.tf:3:5
        gadget: no provider block: it runs with an empty configuration

    Providers:

    registry.example.com/acme/gadget
      versions:      1.0.0
      local names:   gadget
      needed by:     the configuration
      locked:        no version
      place:         [REGISTRY]/acme/widget, by --from

    registry.example.com/acme/widget
      versions:      ~> 1.4
      local names:   widget
      needed by:     the configuration
      locked:        no version
      place:         [REGISTRY]/acme/widget, by --from

    ----- stderr -----
    ");
    for verb in ["outdated", "mirror --from-config . --to oci:there --plan", "bundle create b.tar --from-config ."] {
        let named = |options: &str| {
            let lines = scene.run(&format!("{verb} {FROM} --json {options}")).success().json();
            lines.iter().filter_map(|line| line["address"].as_str().map(str::to_owned)).collect::<Vec<_>>()
        };
        assert_eq!(named(""), ["registry.example.com/acme/gadget", WIDGET], "{verb}");
        assert_eq!(named("--no-tests"), [WIDGET], "{verb}");
    }
    let said = scene.run(&format!("providers {FROM} --json"));
    crate::json::check(&said);
    let lines = said.success().json();
    let paths: Vec<_> =
        lines.iter().filter(|line| line["event"] == "module").map(|line| line["path"].to_string()).collect();
    assert_eq!(paths.join(" "), r#""" "test.tests.a" "test.tests.a.run.setup""#);
}

#[test]
fn a_folder_of_tests_that_is_not_there_and_a_test_that_does_not_parse_are_named() {
    let scene = scene();
    let lock = format!("lock {FROM} --check --quiet");
    let said = scene.run(&format!("{lock} --test-directory checks"));
    assert!(said.stdout.contains("/acme/widget") && !said.stdout.contains("/acme/gadget"), "{}", said.text);
    assert_snapshot!(said.text.split_once("----- stderr -----\n").expect("both").1, @"
    warning: there is no folder ./checks with tests
      hint: --test-directory names it, seen from the folder of the configuration
    error: .terraform.lock.hcl is not what `tofu-oci lock` writes

    hint: write it: tofu-oci lock --from '[REGISTRY]/${namespace}/${type}' --test-directory checks; look at the difference, and commit the file
    ");
    scene.context.write("checks/b.tofutest.hcl", "run {");
    assert_snapshot!(scene.run(&format!("{lock} --test-directory checks")).text, @"
    exit code: 2
    ----- stdout -----

    ----- stderr -----
    error: ./checks/b.tofutest.hcl:1:6: the file does not parse: invalid block body; expected `}`, newline or identifier

    hint: correct the file
    hint: or leave out what only tests need: --no-tests
    ");
}

#[test]
fn a_module_with_a_computed_source_is_never_said_to_require_nothing() {
    let mut scene = scene();
    let main = "variable \"env\" {}\nmodule \"m\" {\n  source = \"./${var.env}\"\n}\n";
    scene.context.write("main.tf", main);
    let lock = format!("lock {FROM} --quiet --no-tests");
    assert_snapshot!(scene.run(&lock).text, @r#"
    exit code: 2
    ----- stdout -----

    ----- stderr -----
    warning: the source of module.m, "./${var.env}", is computed, so its providers are not known
      hint: run `tofu get` or `terraform get` first; TF_VAR_NAME sets a variable that the source needs
    error: what the configuration in . requires is not known: the source of module.m, "./${var.env}", is computed

    hint: run `tofu get` or `terraform get` first; TF_VAR_NAME sets a variable that the source needs
    hint: name a provider: tofu-oci lock HOST/NAMESPACE/TYPE --from '[REGISTRY]/${namespace}/${type}' --no-tests
    hint: or the directory of the configuration: --chdir DIR
    "#);
    assert_snapshot!(scene.run(&format!("mirror --from-config . {FROM} --to oci:there --plan --quiet --no-tests")).text, @r#"
    exit code: 2
    ----- stdout -----

    ----- stderr -----
    warning: the source of module.m, "./${var.env}", is computed, so its providers are not known
      hint: run `tofu get` or `terraform get` first; TF_VAR_NAME sets a variable that the source needs
    error: what the configuration in . requires is not known: the source of module.m, "./${var.env}", is computed

    hint: run `tofu get` or `terraform get` first; TF_VAR_NAME sets a variable that the source needs
    "#);
    scene.context.env("TF_VAR_env", "setup");
    scene.run(&lock).success();
    assert_snapshot!(locked(&scene), @r#""registry.example.com/acme/gadget" {"#);
}

#[test]
fn a_module_of_a_test_was_named_by_its_key() {
    let scene = Scene::new();
    let child = "terraform {\n  required_providers {\n    w = {\n      source = \"registry.example.com/acme/w\"\n    }\n  }\n}\n";
    scene.context.write("main.tf", "");
    scene.context.write("tests/a.tftest.hcl", RUNS_SETUP);
    scene
        .context
        .write("setup/main.tf", format!("{child}provider \"w\" {{}}\nmodule \"c\" {{\n  source = \"./child\"\n}}\n"));
    scene.context.write("setup/child/main.tf", child);
    let said = scene.run("providers").success();
    assert!(said.stdout.contains("w: inherited from test.tests.a.run.setup: "), "{}", said.text);
}
