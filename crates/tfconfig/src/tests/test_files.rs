//! What only tests need. The trees were measured with `OpenTofu` 1.12.6, lines below each module sorted.

use std::path::PathBuf;

use crate::{ConfigFolder, configuration, outer_calls, providers_tree};

/// The tree of a configuration with these files, and everything that it requires; or the error.
#[track_caller]
fn check(tests: Option<&str>, files: &[(&str, &str)]) -> String {
    let dir = super::folder(files);
    let folder = ConfigFolder { tests: tests.map(PathBuf::from), ..ConfigFolder::new(dir.path()) };
    let shown = match (providers_tree(&folder), configuration(&folder)) {
        (Ok(tree), Ok(found)) => {
            let needs = found.requirements.iter().map(|one| format!("{} [{}]", one.address, one.constraints));
            let missing = found.missing_modules.iter().map(|one| format!("missing {} = {}", one.key, one.path));
            let findings = tree.findings.iter().map(|finding| finding.message.clone());
            let lines = needs.chain(missing).chain(findings).collect::<Vec<_>>().join("\n");
            format!("{}{lines}", tree.terraform_text().replace("\nProviders required by configuration:\n", ""))
        }
        (Err(error), _) | (_, Err(error)) => format!("error: {error}"),
    };
    shown.replace(&format!("{}/", dir.path().display()), "")
}

/// A module that requires this provider.
pub(super) fn requires(name: &str) -> String {
    format!(
        "terraform {{\n  required_providers {{\n    {name} = {{\n      source = \"example.test/acme/{name}\"\n    }}\n  }}\n}}\n"
    )
}

fn runs(name: &str, source: &str) -> String {
    format!("run \"{name}\" {{\n  module {{\n    source = \"{source}\"\n  }}\n}}\n")
}

#[test]
fn a_provider_that_a_module_of_a_test_needs_is_not_left_out() {
    let (main, setup, child) = (requires("widget"), requires("gadget"), requires("child"));
    let setup = format!("{setup}module \"c\" {{\n  source = \"./child\"\n}}\n");
    let files = [
        ("main.tf", main.as_str()),
        ("setup/main.tf", setup.as_str()),
        ("setup/child/main.tf", child.as_str()),
        ("tests/a.tftest.hcl", &runs("setup", "./setup")),
        ("b.tftest.json", r#"{"run": {"again": {"module": {"source": "./"}}}}"#),
        ("setup/tests/not.tftest.hcl", "provider \"not\" {}"),
        ("tests/deep/not.tftest.hcl", "provider \"not\" {}"),
        ("tests/.not.tftest.hcl", "provider \"not\" {}"),
    ];
    insta::assert_snapshot!(check(Some("tests"), &files), @"
    .
    ├── provider[example.test/acme/widget]
    ├── test.b.tftest.json
    │   └── run.again
    │       └── provider[example.test/acme/widget]
    └── test.tests.a
        └── run.setup
            ├── provider[example.test/acme/gadget]
            └── module.c
                └── provider[example.test/acme/child]

    example.test/acme/child []
    example.test/acme/gadget []
    example.test/acme/widget []
    ");
    insta::assert_snapshot!(check(None, &files), @"
    .
    └── provider[example.test/acme/widget]

    example.test/acme/widget []
    ");
}

#[test]
fn a_provider_block_of_a_test_counts_for_what_the_root_module_calls_so() {
    let main = "terraform {\n  required_providers {\n    z = {\n      source = \"example.test/acme/widget\"\n      version = \"1.0.0\"\n    }\n  }\n}\n";
    let test = "provider \"z\" {}\nprovider \"tp\" {\n  alias = \"x\"\n}\nprovider \"tp\" {\n  version = \"~> 2.0\"\n}\n\
        mock_provider \"mock\" {}\nrun \"r\" {\n  providers = {\n    z = tp.x\n  }\n}\n";
    insta::assert_snapshot!(check(Some("tests"), &[("main.tf", main), ("a.tftest.hcl", test)]), @"
    .
    ├── provider[example.test/acme/widget] 1.0.0
    └── test.a
        ├── provider[example.test/acme/widget]
        └── provider[registry.opentofu.org/hashicorp/tp] ~> 2.0

    example.test/acme/widget [1.0.0]
    registry.opentofu.org/hashicorp/tp [~> 2.0]
    `version` in a provider block is deprecated; it counts as `~> 2.0`
    ");
}

#[test]
fn tests_for_opentofu_alone_take_the_place_of_others() {
    let files = [
        ("main.tf", ""),
        ("td/a.tftest.hcl", "provider \"not\" {}"),
        ("td/a.tofutest.hcl", "provider \"a\" {}"),
        ("a.tftest.json", r#"{"provider": {"not": {}}}"#),
        ("a.tofutest.json", r#"{"provider": {"b": {}}}"#),
        ("tests/a.tftest.hcl", "provider \"not\" {}"),
    ];
    insta::assert_snapshot!(check(Some("td"), &files), @"
    .
    ├── test.a.tofutest.json
    │   └── provider[registry.opentofu.org/hashicorp/b]
    └── test.td.a.tofutest.hcl
        └── provider[registry.opentofu.org/hashicorp/a]

    registry.opentofu.org/hashicorp/a []
    registry.opentofu.org/hashicorp/b []
    ");
}

#[test]
fn a_test_that_cannot_be_followed_says_where() {
    let error = |test: &str| check(Some("tests"), &[("main.tf", ""), ("tests/a.tftest.hcl", test)]);
    insta::assert_snapshot!(error("run {"), @"error: tests/a.tftest.hcl:1:6: the file does not parse: invalid block body; expected `}`, newline or identifier");
    insta::assert_snapshot!(error(&runs("r", "./none")), @"error: tests/a.tftest.hcl:3:14: the module's folder `./none` is not there");
    insta::assert_snapshot!(error("run \"r\" {\n  module {\n    source = var.s\n  }\n}\n"), @"error: tests/a.tftest.hcl:3:14: `source` must be a string in quotes");
    insta::assert_snapshot!(error(&runs("r", "acme/network/aws")), @"
    .
    └── test.tests.a

    missing test.tests.a.r = test.tests.a.run.r
    ");
}

#[test]
fn the_source_of_a_run_that_is_an_expression_without_names_was_refused() {
    for source in ["\"./${\"setup\"}\"", "true ? \"./setup\" : \"./none\"", "(\"./setup\")"] {
        let test = format!("run \"r\" {{\n  module {{\n    source = {source}\n  }}\n}}\n");
        let files = [("main.tf", ""), ("setup/main.tf", "provider \"a\" {}"), ("a.tftest.hcl", &test)];
        assert!(check(Some("tests"), &files).contains("hashicorp/a"), "{source}");
    }
}

#[test]
fn a_file_in_the_place_of_the_folder_of_tests_was_passed_over() {
    let files = [("main.tf", ""), ("tests", "")];
    assert_eq!(check(Some("tests"), &files), "error: cannot read tests");
    assert_eq!(check(Some("none"), &files), check(None, &files));
}

#[test]
fn modules_from_elsewhere_that_tests_and_computed_folders_call_are_followed() {
    let dir = super::folder(&[
        ("main.tf", "locals {\n  x = \"./a\"\n}\nmodule \"m\" {\n  source = local.x\n}\n"),
        ("a/main.tf", "module \"n\" {\n  source = \"acme/in-a/aws\"\n}\n"),
        ("tests/t.tftest.hcl", &runs("r", "acme/in-test/aws")),
    ]);
    let calls = |tests: Option<&str>| {
        let folder = ConfigFolder { tests: tests.map(PathBuf::from), ..ConfigFolder::new(dir.path()) };
        outer_calls(&folder).unwrap().into_iter().map(|call| call.text).collect::<Vec<_>>().join(" ")
    };
    assert_eq!(calls(Some("tests")), "acme/in-a/aws acme/in-test/aws");
    assert_eq!(calls(None), "acme/in-a/aws");
}
