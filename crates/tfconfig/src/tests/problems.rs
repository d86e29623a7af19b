//! Bad input: one clear error with its place; and findings, one a symptom.

use crate::providers_tree;

/// Writes the files (a name that ends in `/` is a folder) and says what comes out: the error, or the findings.
#[track_caller]
fn check(files: &[(&str, &[u8])]) -> String {
    check_in(files, None)
}

#[track_caller]
fn check_in(files: &[(&str, &[u8])], workspace: Option<&str>) -> String {
    let folder = super::folder(files);
    let shown = match providers_tree(&crate::ConfigFolder {
        workspace: workspace.map(str::to_owned),
        ..crate::ConfigFolder::new(folder.path())
    }) {
        Ok(tree) => {
            let line = |finding: &crate::ConfigFinding| {
                let mark = if finding.refused { "error" } else { "note" };
                format!("{}: {mark} {}: {}; {}", finding.declared, finding.code, finding.message, finding.instead)
            };
            let state = match &tree.state {
                crate::StateLook::Absent => None,
                other => Some(format!("{other:?}")),
            };
            tree.findings.iter().map(line).chain(state).collect::<Vec<_>>().join("\n")
        }
        Err(error) => format!("error: {error}"),
    };
    shown.replace(&format!("{}/", folder.path().display()), "").replace(&folder.path().display().to_string(), ".")
}

#[track_caller]
fn check_file(name: &str, text: &str) -> String {
    check(&[(name, text.as_bytes())])
}

/// The same inside `required_providers`, which begins on line 3.
#[track_caller]
fn check_entry(entry: &str) -> String {
    check_file("main.tf", &format!("terraform {{\n  required_providers {{\n    {entry}\n  }}\n}}\n"))
}

#[test]
fn texts_that_do_not_parse() {
    insta::assert_snapshot!(check_file("main.tf", "terraform {\n"), @"error: main.tf:1:13: the file does not parse: invalid block body; expected `}`, newline or identifier");
    insta::assert_snapshot!(check_file("main.tf.json", "{\n  \"terraform\": \n}"), @"error: main.tf.json:3:1: the file does not parse: expected value");
    insta::assert_snapshot!(check(&[("main.tf", b"# ok\noutput \"\xff\" {}\n")]), @"error: main.tf:2:9: the file does not parse: the text is not UTF-8");
    insta::assert_snapshot!(check(&[("readme.md", b"")]), @"error: there is no configuration in .");
}

#[test]
fn a_comment_in_another_encoding_made_a_file_unreadable() {
    let files: [(&str, &[u8]); 4] = [
        ("main.tf", b"# \xe9\nvariable \"x\" {} // \xe9\n/* \xe9 */\nmodule \"m\" {\n  source = \"./${var.x}\"\n}\n"),
        ("a.tf.json", b"{\"//\": \"\xe9\"}"),
        ("terraform.tfvars", b"# \xe9\nx = \"a\"\n"),
        ("a/main.tf", b""),
    ];
    insta::assert_snapshot!(check(&files), @"");
    let heredoc = b"# \xe9\noutput \"x\" {\n  value = <<E\n# \xe9\nE\n}\n";
    insta::assert_snapshot!(check(&[("main.tf", heredoc)]), @"error: main.tf:4:3: the file does not parse: the text is not UTF-8");
}

#[test]
fn entries_of_required_providers() {
    insta::assert_snapshot!(check_entry(r#"w = { source = "a/b/c/d" }"#), @"error: main.tf:3:20: `a/b/c/d` is not a provider address: it must read [HOST/]NAMESPACE/TYPE");
    insta::assert_snapshot!(check_entry(r#"w = { source = "acme/terraform-provider-w" }"#), @"error: main.tf:3:20: `acme/terraform-provider-w` is not a provider address: the type is written without its prefix; did you mean acme/w?");
    insta::assert_snapshot!(check_entry(r#"w = { version = "one" }"#), @"error: main.tf:3:21: `one` is not a version constraint: its parts are versions, with or without an operator, separated by commas");
    insta::assert_snapshot!(check_entry(r#"w = """#), @"error: main.tf:3:9: `` is not a version constraint: leave `version` out to admit every version");
    insta::assert_snapshot!(check_entry(r"w = { version = 1.5 }"), @"error: main.tf:3:21: `version` must be a string in quotes");
    insta::assert_snapshot!(check_entry(r"w = { source = var.x }"), @"error: main.tf:3:20: `source` must be a string in quotes");
    insta::assert_snapshot!(check_entry(r"w = null"), @"error: main.tf:3:5: the entry `w` must be an object with `source` and `version`");
    insta::assert_snapshot!(check_entry(r"w = true"), @"error: main.tf:3:9: `true` is not a version constraint: its parts are versions, with or without an operator, separated by commas");
    insta::assert_snapshot!(check_entry(r#"w = { region = "x" }"#), @"error: main.tf:3:11: the entry `w` cannot have `region`; it has `source`, `version` and `configuration_aliases`");
    insta::assert_snapshot!(check_entry(r"w = { configuration_aliases = [w.a, x.b] }"), @"error: main.tf:3:41: `configuration_aliases` of `w` is a list of names such as `w.west`");
    insta::assert_snapshot!(check_entry(r#"W = { source = "acme/w" }"#), @"error: main.tf:3:5: `W` is not a local name of a provider; write `w`");
    insta::assert_snapshot!(check_file("main.tf", "terraform {\n  required_providers {}\n  required_providers {}\n}\n"), @"error: main.tf:3:3: a module has one `required_providers` block; the first one stands at main.tf:2:3");
    insta::assert_snapshot!(check_file("main.tf", "required_providers {\n}\n"), @"error: main.tf:1:1: `required_providers` must stand in a `terraform` block");
    insta::assert_snapshot!(check_file("main.tf", "tofu {\n  required_providers {\n  }\n}\n"), @"error: main.tf:2:3: `required_providers` must stand in a `terraform` block");
    insta::assert_snapshot!(check_file("a.tf.json", r#"{"terraform": {"required_providers": [{"a": "1.0"}, {"b": "1.0"}]}}"#), @"error: a.tf.json:1:16: a module has one `required_providers` block; the first one stands at a.tf.json:1:16");
}

#[test]
fn references_to_configurations() {
    insta::assert_snapshot!(check_file("main.tf", "resource \"a_x\" \"y\" {\n  provider = aws[each.key]\n}\n"), @"error: main.tf:2:14: `provider` names provider configurations: `aws`, `aws.west` or `aws.west[each.key]`");
    insta::assert_snapshot!(check_file("main.tf", "resource \"a_x\" \"y\" {\n  provider = var.x.y.z\n}\n"), @"error: main.tf:2:14: `provider` names provider configurations: `aws`, `aws.west` or `aws.west[each.key]`");
    insta::assert_snapshot!(check_file("main.tf.json", r#"{"resource": {"a_x": {"y": {"provider": "${a.b}"}}}}"#), @"error: main.tf.json:1:41: `provider` names provider configurations: `aws`, `aws.west` or `aws.west[each.key]`");
    insta::assert_snapshot!(check_file("main.tf", "provider \"AWS\" {}\n"), @"error: main.tf:1:1: `AWS` is not a local name of a provider; write `aws`");
    insta::assert_snapshot!(check_file("main.tf", "provider \"aws\" {\n  version = var.x\n}\n"), @"error: main.tf:2:13: `version` must be a string in quotes");
    insta::assert_snapshot!(check_file("main.tf", "resource \"a_x\" \"y\" {\n  provider = a.b\n}\n"), @r#"main.tf:1:1: error missing-configuration: `a_x.y` uses the configuration `a.b`, which the module does not have; add a block `provider "a"` with `alias = "b"`"#);
    insta::assert_snapshot!(check_file("main.tf", "resource \"a_x\" \"y\" {\n  provider = a.b[each.key]\n}\nprovider \"a\" {\n  alias = \"b\"\n}\n"), @"main.tf:1:1: error instance-key-unexpected: `a.b` is one configuration, and has no instances to choose from; write `a.b` without the key, or give its provider block a `for_each`");
    insta::assert_snapshot!(check_file("main.tf", "resource \"a_x\" \"y\" {\n  provider = a.b\n}\nprovider \"a\" {\n  alias    = \"b\"\n  for_each = {}\n}\n"), @"main.tf:1:1: error instance-key-missing: `a.b` is several configurations (`for_each`); choose one: `a.b[each.key]`");
    insta::assert_snapshot!(check_file("main.tf", "provider \"a\" {}\nprovider \"a\" {}\n"), @"main.tf:2:1: error duplicate-block: the provider configuration `a` is there twice; the first one stands at main.tf:1:1; keep one of the two, or give one another name (`alias` in a provider block)");
    insta::assert_snapshot!(check_file("main.tf", "output \"x\" {\n  value = \"%{ for i in provider::zip::list() }${i}%{ endfor }\"\n}\n"), @"main.tf:2:24: error unknown-function-provider: `provider::zip::list` is a function of `zip`, which `required_providers` does not name; add an entry `zip` with its `source` to `required_providers` of this module");
}

#[test]
fn a_resource_of_the_null_provider_with_an_alias_is_no_null_value() {
    let text = "provider \"null\" {\n  alias = \"b\"\n}\nresource \"null_resource\" \"y\" {\n  provider = null.b\n}\n";
    insta::assert_snapshot!(check_file("main.tf", text), @"");
}

#[test]
fn modules_that_cannot_be_followed() {
    insta::assert_snapshot!(check_file("main.tf", "module \"m\" {\n  source = \"./none\"\n}\n"), @"error: main.tf:2:12: the module's folder `./none` is not there");
    insta::assert_snapshot!(check(&[
        ("main.tf", b"module \"a\" {\n  source = \"./a\"\n}\n"),
        ("a/main.tf", b"module \"b\" {\n  source = \"../b\"\n}\n"),
        ("b/main.tf", b"module \"a\" {\n  source = \"../a\"\n}\n"),
    ]), @"error: b/main.tf:2:12: the module calls itself: `a` calls `b` calls `a`");
    let twice = |next: &str| {
        format!("module \"x\" {{\n  source = \"../{next}\"\n}}\nmodule \"y\" {{\n  source = \"../{next}\"\n}}\n")
    };
    let names: Vec<String> = (0..14).map(|number| format!("m{number}/main.tf")).collect();
    let texts: Vec<String> = (0..14)
        .map(|number| if number == 13 { "# end\n".to_owned() } else { twice(&format!("m{}", number + 1)) })
        .collect();
    let root = twice("m0").replace("../", "./");
    let mut files: Vec<(&str, &[u8])> =
        names.iter().zip(&texts).map(|(name, text)| (name.as_str(), text.as_bytes())).collect();
    files.push(("main.tf", root.as_bytes()));
    insta::assert_snapshot!(check(&files), @"error: m10/main.tf:2:12: the configuration calls modules more than 5000 times");
    insta::assert_snapshot!(check(&[("main.tf", b"# ok\n"), (".terraform/modules/modules.json", b"{")]), @"error: .terraform/modules/modules.json:1:1: the file does not parse: EOF while parsing an object");
}

#[test]
fn modules_that_lie_thousands_of_levels_deep_end_in_an_error_and_not_the_stack() {
    let names: Vec<String> = (0..3000).map(|number| format!("m{number}/main.tf")).collect();
    let texts: Vec<String> =
        (1..=3000).map(|next| format!("module \"x\" {{\n  source = \"../m{next}\"\n}}\n")).collect();
    let mut files: Vec<(&str, &[u8])> =
        names.iter().zip(&texts).map(|(name, text)| (name.as_str(), text.as_bytes())).collect();
    files.push(("main.tf", b"module \"x\" {\n  source = \"./m0\"\n}\n"));
    insta::assert_snapshot!(check(&files), @"error: m99/main.tf:2:12: the configuration calls modules more than 100 levels deep");
}

#[test]
fn secrets_in_the_source_of_a_module_are_not_kept() {
    let folder = tempfile::tempdir().unwrap();
    let text = "module \"a\" {\n  source = \"git::https://ada:hunter2@x.test/a?ref=v1&token=hunter2\"\n}\n";
    std::fs::write(folder.path().join("main.tf"), text).unwrap();
    let tree = providers_tree(&crate::ConfigFolder::new(folder.path())).unwrap();
    insta::assert_snapshot!(tree.not_looked_into[0].source, @"git::https://***@x.test/a?ref=v1&token=***");
    assert!(!format!("{:?}", tree.root).contains("hunter2"));
}

#[cfg(unix)]
#[test]
fn a_module_that_links_to_a_device_is_not_read() {
    let folder = tempfile::tempdir().unwrap();
    std::os::unix::fs::symlink("/dev/zero", folder.path().join("main.tf")).unwrap();
    let error = providers_tree(&crate::ConfigFolder::new(folder.path())).unwrap_err().to_string();
    assert!(error.ends_with("main.tf:1:1: this is not a regular file"), "{error}");
}

#[test]
fn a_file_without_end_is_not_read_to_its_end() {
    let text = vec![b' '; 17 << 20];
    insta::assert_snapshot!(check(&[("main.tf", &text)]), @"error: main.tf:1:1: the file is larger than 16 MiB");
}

/// A root that passes `providers` to a module.
#[track_caller]
fn check_module(call: &str, module: &str) -> String {
    let root = format!("provider \"a\" {{\n  alias = \"w\"\n}}\nmodule \"m\" {{\n  source = \"./m\"\n  {call}\n}}\n");
    check(&[("main.tf", root.as_bytes()), ("m/main.tf", module.as_bytes())])
}

#[test]
fn what_a_module_is_given() {
    let demands = "terraform {\n  required_providers {\n    a = {\n      source = \"hashicorp/a\"\n      configuration_aliases = [a.w]\n    }\n  }\n}\n";
    insta::assert_snapshot!(check_module("", demands), @"main.tf:4:1: error missing-configuration: module `m` demands a configuration `a.w` of registry.opentofu.org/hashicorp/a; add `a.w = …` to `providers` in the module block");
    insta::assert_snapshot!(check_module("providers = { a.w = a.w }", demands), @"");
    insta::assert_snapshot!(check_module("providers = { a.w = a.nope }", demands), @"main.tf:6:17: error missing-configuration: `a.nope` is passed to module `m`, and there is no such configuration; add a provider block for `a.nope`, or pass another one");
    insta::assert_snapshot!(check_module("providers = { a.w = b }", demands), @"
    main.tf:6:17: note undeclared-provider: `b` is passed to module `m`, and nothing here declares it; add an entry `b` with its `source` to `required_providers`
    main.tf:6:17: error provider-differs: `b` is registry.opentofu.org/hashicorp/b, and `a.w` in module `m` is registry.opentofu.org/hashicorp/a; pass a configuration of registry.opentofu.org/hashicorp/a
    ");
    insta::assert_snapshot!(check_module("providers = { a.w = a.w, a.other = a.w, zap = a.w }", demands), @"
    main.tf:6:28: note unknown-configuration: module `m` does not know the configuration `a.other`; remove this entry, or add `configuration_aliases = [a.other]` in the module
    main.tf:6:43: note unknown-configuration: module `m` does not know the configuration `zap`; remove this entry, or add `zap` with its `source` to `required_providers` of the module
    main.tf:6:43: error provider-differs: `a.w` is registry.opentofu.org/hashicorp/a, and `zap` in module `m` is registry.opentofu.org/hashicorp/zap; pass a configuration of registry.opentofu.org/hashicorp/zap
    ");
    insta::assert_snapshot!(check_module("providers = { a = a.w }", "resource \"a_x\" \"y\" {}\n"), @"main.tf:6:17: note unknown-configuration: module `m` uses `a` and does not declare it; remove this entry, or add `a` with its `source` to `required_providers` of the module");
    insta::assert_snapshot!(check_module("providers = { a = a.w }", "provider \"a\" {\n  region = 1\n}\nresource \"a_x\" \"y\" {}\n"), @"main.tf:6:17: error configuration-not-replaceable: module `m` has a configuration `a` of its own; it takes no other; remove this entry, or the provider block in the module");
    insta::assert_snapshot!(check_module("for_each = {}", "provider \"a\" {\n  region = 1\n}\nresource \"a_x\" \"y\" {}\n"), @"main.tf:6:3: error provider-block-in-repeated-module: `for_each` cannot be used: module `m` has a provider block of its own (m/main.tf:1:1); move the provider block to the calling module and pass it with `providers`");
    insta::assert_snapshot!(check_module("providers = [a]", ""), @"error: main.tf:6:15: `providers` names provider configurations: `aws`, `aws.west` or `aws.west[each.key]`");
}

#[test]
fn overrides_of_what_is_not_there() {
    insta::assert_snapshot!(check(&[("main.tf", b"# ok\n"), ("override.tf", b"provider \"a\" {\n  alias = \"x\"\n}\nresource \"a_x\" \"y\" {}\nmodule \"m\" {}\nimport {\n  to = a_x.y\n  id = 1\n}\n")]), @"
    override.tf:1:1: error nothing-to-override: an override file changes the provider configuration `a.x`, which no other file has; check the name, or move the block into a file without `override` in its name
    override.tf:4:1: error nothing-to-override: an override file changes the block `a_x.y`, which no other file has; check the name, or move the block into a file without `override` in its name
    override.tf:5:1: error nothing-to-override: an override file changes the module `m`, which no other file has; check the name, or move the block into a file without `override` in its name
    override.tf:6:1: error import-in-override: an override file cannot hold an `import` block; move it into a file without `override` in its name
    ");
}

const STATE: &str = r#"{"version": 4, "resources": [
  {"mode": "managed", "type": "a_x", "name": "y", "provider": "provider[\"registry.opentofu.org/hashicorp/a\"]"}
]}"#;

#[track_caller]
fn check_state(text: &str) -> String {
    check(&[("main.tf", b"# ok\n"), ("terraform.tfstate", text.as_bytes())])
}

#[test]
fn states_that_cannot_be_read() {
    insta::assert_snapshot!(check_state("{"), @"error: terraform.tfstate:1:1: the file does not parse: EOF while parsing an object");
    insta::assert_snapshot!(check_state("[]"), @"error: terraform.tfstate:1:1: this is not a state file: it has no `version`");
    insta::assert_snapshot!(check_state("{\n  \"version\": 3\n}"), @"error: terraform.tfstate:2:14: the state file has version 3; version 4 is read, which OpenTofu and Terraform 0.12 and later write");
    insta::assert_snapshot!(check_state("{\"version\": \"4\"}"), @"error: terraform.tfstate:1:13: this is not a state file: its `version` is not a number");
    insta::assert_snapshot!(check_state(&STATE.replace("provider[", "provide[")), @r#"error: terraform.tfstate:2:63: this is not a state file: `provide["registry.opentofu.org/hashicorp/a"]` names no provider configuration"#);
    insta::assert_snapshot!(check_state(&STATE.replace("\"provider\"", "\"x\"")), @"error: terraform.tfstate:2:3: this is not a state file: this resource names no provider");
    insta::assert_snapshot!(check_state("{\"version\": 4, \"resources\": {}}"), @"error: terraform.tfstate:1:29: this is not a state file: its `resources` are not a list");
    insta::assert_snapshot!(check_state(""), @"");
    insta::assert_snapshot!(check_state("{\"serial\": 1, \"encrypted_data\": \"x\"}"), @r#"Encrypted { path: "terraform.tfstate" }"#);
    insta::assert_snapshot!(check(&[("main.tf", b"# ok\n"), ("terraform.tfstate/", b"")]), @"error: cannot read terraform.tfstate");
}

#[test]
fn a_workspace_leads_to_no_other_folder() {
    let outside: &[(&str, &[u8])] =
        &[("main.tf", b"# ok\n"), ("terraform.tfstate.d/", b""), ("x/terraform.tfstate", STATE.as_bytes())];
    insta::assert_snapshot!(check_in(outside, Some("../x")), @"error: `../x` cannot be the name of a workspace");
    insta::assert_snapshot!(check_in(outside, Some("..")), @"error: `..` cannot be the name of a workspace");
    let selected: &[(&str, &[u8])] = &[("main.tf", b"# ok\n"), (".terraform/environment", b"/etc")];
    insta::assert_snapshot!(check(selected), @"error: `/etc` cannot be the name of a workspace");
}

#[test]
fn the_state_is_where_backend_and_workspace_say() {
    let local = "terraform {\n  backend \"local\" {\n    path = \"there/x.tfstate\"\n  }\n}\n".as_bytes();
    insta::assert_snapshot!(check(&[("main.tf", local), ("there/x.tfstate", STATE.as_bytes())]), @r#"Read { path: "there/x.tfstate", providers: [StateProvider { address: registry.opentofu.org/hashicorp/a, modules: [""] }] }"#);
    let elsewhere = "terraform {\n  backend \"s3\" {}\n}\n".as_bytes();
    insta::assert_snapshot!(check(&[("main.tf", elsewhere), ("terraform.tfstate", STATE.as_bytes())]), @r#"Elsewhere { backend: "s3", declared: Declared { path: "main.tf", at: TextPosition { line: 2, column: 3 } } }"#);
    insta::assert_snapshot!(check(&[("main.tf", b"terraform {\n  cloud {}\n}\n")]), @r#"Elsewhere { backend: "cloud", declared: Declared { path: "main.tf", at: TextPosition { line: 2, column: 3 } } }"#);
    let selected: &[(&str, &[u8])] = &[
        ("main.tf", b"# ok\n"),
        (".terraform/environment", b"blue"),
        ("terraform.tfstate.d/blue/terraform.tfstate", STATE.as_bytes()),
    ];
    insta::assert_snapshot!(check(selected), @r#"Read { path: "terraform.tfstate.d/blue/terraform.tfstate", providers: [StateProvider { address: registry.opentofu.org/hashicorp/a, modules: [""] }] }"#);
    insta::assert_snapshot!(check_in(selected, Some("default")), @"");
}

#[test]
fn blocks_of_another_shape_are_named_with_their_place() {
    let text = r#"resource "a" {}
variable "x" { foo = 1 }
frob "x" {}
output "o" {}
module "m" {}
variable "1x" {}
variable "version" {}
locals "x" {}
variable "y" {
  type = strin
}
variable "z" {
  type    = number
  default = "many"
}
output "p" { value = 1 }
output "p" { value = 1 }
"#;
    insta::assert_snapshot!(check_file("main.tf", text), @r#"
    main.tf:1:1: error wrong-labels: a `resource` block has two labels (type and name); write `resource "TYPE" "NAME" {`
    main.tf:2:16: error no-such-argument: a `variable` block has no argument `foo`; check the name, or remove it
    main.tf:3:1: error no-such-block: a file has no block `frob`; check the name, or remove the block
    main.tf:4:1: error missing-argument: an `output` block must have `value`; add `value`
    main.tf:5:1: error missing-argument: a `module` block must have `source`; add `source`
    main.tf:6:1: error invalid-name: `1x` cannot be the name of a `variable` block; choose another name of letters, digits, `_` and `-` that begins with a letter or `_`
    main.tf:7:1: error invalid-name: `version` cannot be the name of a variable, since it means something else in a `module` block; choose another name of letters, digits, `_` and `-` that begins with a letter or `_`
    main.tf:8:1: error wrong-labels: a `locals` block has no label; write `locals {`
    main.tf:10:10: error invalid-type-constraint: `strin` is not a type; write a type such as `list(string)`
    main.tf:14:13: error invalid-value: the `default` is not of the `type` of the variable; change one of the two
    main.tf:17:1: error duplicate-block: the output `p` is there twice; the first one stands at main.tf:16:1; keep one of the two, or give one another name (`alias` in a provider block)
    "#);
    let json = r#"{
  "resource": {"a": {}},
  "locals": {"a": 1, "a": 2},
  "output": {"o": {}}
}"#;
    insta::assert_snapshot!(check_file("main.tf.json", json), @"
    main.tf.json:2:21: error wrong-labels: a `resource` block in JSON needs a label; write an object for each label, and one for the block
    main.tf.json:3:22: error duplicate-argument: a `locals` block has `a` twice; keep one of the two
    main.tf.json:4:14: error missing-argument: an `output` block must have `value`; add `value`
    main.tf.json:3:22: error duplicate-block: the local value `a` is there twice; the first one stands at main.tf.json:3:14; keep one of the two, or give one another name (`alias` in a provider block)
    ");
}
