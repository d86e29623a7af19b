use crate::*;

/// Writes `name: content` files into a folder and prints what the configuration requires.
#[track_caller]
fn check(files: &[(&str, &str)]) -> String {
    let folder = super::folder(files);
    let root = folder.path().display().to_string();
    match configuration(&ConfigFolder::new(folder.path())) {
        Ok(configuration) => {
            let line = |requirement: &Requirement| {
                format!("{} = {} [{}]", requirement.local_name, requirement.address, requirement.constraints)
            };
            let missing = |module: &MissingModule| format!("missing module {} ({})", module.key, module.source);
            let lines = configuration.requirements.iter().map(line);
            lines.chain(configuration.missing_modules.iter().map(missing)).collect::<Vec<_>>().join("\n")
        }
        Err(error) => format!("error: {error}").replace(&root, "DIR"),
    }
}

const WIDGET: &str = r#"
terraform {
  required_providers {
    widget = {
      source  = "registry.example.test/acme/widget"
      version = "1.0.0"
    }
  }
}
"#;

#[test]
fn required_providers_of_the_folder() {
    insta::assert_snapshot!(check(&[("main.tf", WIDGET)]), @"widget = registry.example.test/acme/widget [1.0.0]");
    insta::assert_snapshot!(check(&[]), @"error: there is no configuration in DIR");
}

#[test]
fn tofu_files_shadow_tf_files() {
    let other = WIDGET.replace("acme", "other");
    insta::assert_snapshot!(check(&[("main.tf", WIDGET), ("main.tofu", &other)]), @"widget = registry.example.test/other/widget [1.0.0]");
}

#[test]
fn json_says_the_same() {
    let json = r#"{"terraform": [{"required_providers": {"widget": {"source": "registry.example.test/acme/widget",
        "version": "1.0.0"}, "old": "2.0.0"}}],
        "resource": {"zap_x": {"a": {}, "b": {"provider": "widget.west"}}}, "provider": {"null": {}},
        "module": {"m": {"source": "./m"}}}"#;
    insta::assert_snapshot!(check(&[("main.tf.json", json), ("m/a.tf", "resource \"in_m\" \"x\" {}")]), @r"
widget = registry.example.test/acme/widget [1.0.0]
in = registry.opentofu.org/hashicorp/in []
null = registry.opentofu.org/hashicorp/null []
old = registry.opentofu.org/hashicorp/old [2.0.0]
zap = registry.opentofu.org/hashicorp/zap []
");
}

#[test]
fn implied_providers() {
    let text = r#"
        resource "aws_instance" "a" {}
        resource "google_x" "b" { provider = beta.west }
        data "terraform_remote_state" "c" {}
        ephemeral "vault_secret" "d" {}
        provider "random" { version = "3.0.0" }
        resource "widget_x" "e" {}
    "#;
    insta::assert_snapshot!(check(&[("main.tf", WIDGET), ("other.tf", text)]), @r"
widget = registry.example.test/acme/widget [1.0.0]
aws = registry.opentofu.org/hashicorp/aws []
beta = registry.opentofu.org/hashicorp/beta []
random = registry.opentofu.org/hashicorp/random [3.0.0]
vault = registry.opentofu.org/hashicorp/vault []
");
}

#[test]
fn overrides_replace_entries() {
    insta::assert_snapshot!(check(&[("main.tf", WIDGET), ("main_override.tf", &WIDGET.replace("1.0.0", "2.0.0"))]), @"widget = registry.example.test/acme/widget [2.0.0]");
}

#[test]
fn the_built_in_provider_is_left_out() {
    let text = |version: &str| {
        format!(
            "terraform {{\n  required_providers {{\n    terraform = {{\n      source = \
             \"terraform.io/builtin/terraform\"\n{version}    }}\n  }}\n}}\n"
        )
    };
    insta::assert_snapshot!(check(&[("main.tf", &text(""))]), @"");
    insta::assert_snapshot!(check(&[("main.tf", &text("version = \"1.0.0\"\n"))]), @"error: DIR/main.tf:3:5: `terraform` is built into the program: it has no version and no other source");
}

#[test]
fn modules_add_their_constraints() {
    let child = WIDGET;
    let manifest = r#"{"Modules": [{"Key": "", "Source": "", "Dir": "."},
        {"Key": "far", "Source": "registry.example.test/a/b/c", "Dir": ".terraform/modules/far"}]}"#;
    let root = r#"
        module "child" { source = "./child" }
        module "again" { source = "./child" }
        module "far" { source = "a/b/c" }
        module "farther" { source = "a/b/d" }
    "#;
    insta::assert_snapshot!(check(&[
        ("main.tf", root),
        ("child/main.tf", child),
        (".terraform/modules/modules.json", manifest),
        (".terraform/modules/far/main.tf", "resource \"far_thing\" \"x\" {}\n"),
    ]), @r"
widget = registry.example.test/acme/widget [1.0.0]
far = registry.opentofu.org/hashicorp/far []
missing module farther (a/b/d)
");
}

#[test]
fn errors_say_where() {
    for (name, text) in [
        ("main.tf", "terraform {\n"),
        ("main.tf", "terraform {\n  required_providers {\n    w = { source = \"a/b/c/d\" }\n  }\n}\n"),
        ("main.tf", "terraform {\n  required_providers {\n    w = { version = \"one\" }\n  }\n}\n"),
        ("main.tf", "terraform {\n  required_providers {\n    w = { source = var.x }\n  }\n}\n"),
        ("main.tf", "terraform {\n  required_providers {\n    w = var.x\n  }\n}\n"),
        ("main.tf", "module \"m\" {\n  source = \"./none\"\n}\n"),
        ("main.tf.json", "{\n  \"terraform\": \n}"),
        ("main.tf.json", "{\n  \"terraform\": {\"required_providers\": {\"w\": {\"source\": \"a/b/c/d\"}}}\n}"),
    ] {
        let answer = check(&[(name, text)]);
        assert!(answer.starts_with("error: DIR/main.tf"), "{answer}");
    }
    insta::assert_snapshot!(check(&[("a.tf", WIDGET), ("b.tf", WIDGET)]), @"error: DIR/b.tf:3:3: a module has one `required_providers` block; the first one stands at DIR/a.tf:3:3");
    insta::assert_snapshot!(check(&[("a.tf", "module \"m\" {\n  source = \"./none\"\n}\n")]), @"error: DIR/a.tf:2:12: the module's folder `./none` is not there");
}
