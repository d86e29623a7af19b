//! Sources of modules that are expressions. What becomes of each was measured with `tofu init` of 1.12.6.

use super::test_files::requires;
use crate::{ConfigFolder, configuration};

/// The folder `modules` has a module for each of `a` to `c`, which requires `acme/a` and so on. Says which are required,
/// which modules are unknown, or the error.
#[track_caller]
fn check(files: &[(&str, &str)], environment: &[(&str, &str)], want: &str) {
    let modules = ["a", "b", "c"].map(|name| (format!("modules/{name}/main.tf"), requires(name)));
    let modules = modules.each_ref().map(|(name, content)| (name.as_str(), content.as_str()));
    let dir = super::folder(modules.iter().chain(files));
    let pairs = environment.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned()));
    let folder =
        ConfigFolder { variables: pairs.collect(), tests: Some("tests".into()), ..ConfigFolder::new(dir.path()) };
    let got = match configuration(&folder) {
        Ok(found) => {
            let names = found.requirements.iter().map(|one| one.local_name.clone());
            let missing = found.missing_modules.iter();
            let missing = missing.map(|one| format!("{}{}", if one.is_computed { "?" } else { "!" }, one.key));
            names.chain(missing).collect::<Vec<_>>().join(" ")
        }
        Err(error) => error.to_string().replace(&format!("{}/", dir.path().display()), ""),
    };
    assert_eq!(got, want, "{files:?}");
}

/// A configuration that calls one module.
fn calls(source: &str) -> String {
    format!("module \"m\" {{\n  source = {source}\n}}\n")
}

/// A variable with these lines.
fn variable(name: &str, lines: &str) -> String {
    format!("variable \"{name}\" {{\n{lines}\n}}\n")
}

#[track_caller]
fn check_main(main: &str, want: &str) {
    check(&[("main.tf", main)], &[], want);
}

const BY_X: &str = "\"./modules/${var.x}\"";

#[test]
fn a_module_whose_source_has_a_variable_is_not_left_out() {
    let main = variable("x", "default = \"a\"") + &calls(BY_X);
    check_main(&main, "a");
    check_main(&(variable("x", "default = \"./modules/a\"") + &calls("var.x")), "a");
    check(&[("main.tf", &main), ("override.tf", &variable("x", "default = \"b\""))], &[], "b");
    check(&[("main.tf", &main)], &[("x", "b")], "b");
    check(&[("main.tf", &main), ("terraform.tfvars", "x = \"c\"")], &[("x", "b")], "c");
    let files =
        [("main.tf", main.as_str()), ("terraform.tfvars", "x = \"a\""), ("terraform.tfvars.json", "{\"x\":\"b\"}")];
    check(&files, &[], "b");
    check(&[files[0], files[2], ("z.auto.tfvars", "y = 1\nx = \"c\"")], &[], "c");
    check(&[files[0], ("b.auto.tfvars", "x = \"b\""), ("a.auto.tfvars", "x = \"c\"")], &[], "b");
    check(&[files[0], ("b.auto.tfvars", "x = \"b\""), ("b.auto.tfvars.json", "{\"x\":\"c\"}")], &[], "c");
    check(&[files[0], ("tofu.tfvars", "x = \"b\""), ("other.tfvars", "x = \"c\"")], &[], "a");
    check(&[files[0], (".h.auto.tfvars", "x = \"b\"")], &[], "b");
}

#[test]
fn values_have_the_type_of_their_variable() {
    let either = calls("var.p ? \"./modules/a\" : \"./modules/b\"");
    let main = variable("p", "type = bool\ndefault = false") + &either;
    check_main(&main, "b");
    check(&[("main.tf", &main)], &[("p", "true")], "a");
    let main =
        variable("o", "type = object({ n = string })\ndefault = { n = \"a\" }") + &calls("\"./modules/${var.o.n}\"");
    check_main(&main, "a");
    check(&[("main.tf", &main)], &[("o", "{ n = \"b\" }")], "b");
    let any = variable("o", "type = any") + &calls("\"./modules/${var.o}\"");
    check(&[("main.tf", &any)], &[("o", "\"b\"")], "b");
    check(&[("main.tf", &any)], &[("o", "b")], "?m");
    let number = variable("o", "type = number") + &calls("\"./modules/${var.o}\"");
    check(&[("main.tf", &number), ("modules/2/main.tf", "provider \"two\" {}")], &[("o", "2")], "two");
}

#[test]
fn locals_paths_and_the_workspace_are_known() {
    check_main(&format!("locals {{\n  x = \"./modules/${{local.y}}\"\n  y = \"a\"\n}}\n{}", calls("local.x")), "a");
    let map = "locals {\n  x = { prod = \"b\", dev = \"a\" }\n}\n".to_owned() + &variable("e", "default = \"prod\"");
    check_main(&(map + &calls("\"./modules/${local.x[var.e]}\"")), "b");
    let overridden = "locals {\n  x = \"a\"\n}\n".to_owned() + &calls("\"./modules/${local.x}\"");
    check(&[("main.tf", &overridden), ("override.tf", "locals {\n  x = \"b\"\n}\n")], &[], "b");
    check_main(&calls("\"${path.module}/modules/a\""), "a");
    check_main(&calls("\"${path.root}/modules/a\""), "a");
    for program in ["terraform", "tofu"] {
        let main = calls(&format!("\"./modules/${{{program}.workspace}}\""));
        check(&[("main.tf", &main), ("modules/default/main.tf", "provider \"d\" {}")], &[], "d");
    }
    let root = calls("\"./modules/e\"");
    let child = [
        ("main.tf", root.as_str()),
        ("modules/e/main.tf", &calls("\"./${path.module}/x\"")),
        ("modules/e/modules/e/x/main.tf", "provider \"x\" {}"),
    ];
    check(&child, &[], "x");
    check(
        &[child[0], ("modules/e/main.tf", &calls("\"${path.root}/x\"")), ("modules/e/x/main.tf", "provider \"y\" {}")],
        &[],
        "y",
    );
    check(&[child[0], ("modules/e/main.tf", &calls("\"${path.module}/x\""))], &[], "!m.m");
}

#[test]
fn what_a_call_sets_is_known_in_the_module() {
    let up = calls("\"../${var.y}\"");
    let module = variable("y", "default = \"a\"\nnullable = false") + &up;
    let with = |argument: &str| variable("x", "default = \"b\"") + &calls(&format!("\"./modules/e\"\n  {argument}"));
    check(&[("main.tf", &with("")), ("modules/e/main.tf", &module)], &[], "a");
    check(&[("main.tf", &with("y = var.x")), ("modules/e/main.tf", &module)], &[], "b");
    check(&[("main.tf", &with("y = null")), ("modules/e/main.tf", &module)], &[], "a");
    check(&[("main.tf", &with("y = terraform_data.t.id")), ("modules/e/main.tf", &module)], &[], "?m.m");
    let run = "run \"r\" {\n  variables {\n    y = var.x\n  }\n  module {\n    source = \"./modules/e\"\n  }\n}\n";
    let root = variable("x", "default = \"b\"");
    check(&[("main.tf", &root), ("t.tftest.hcl", run), ("modules/e/main.tf", &module)], &[], "b");
    let run = "variables {\n  y = \"b\"\n}\nrun \"r\" {\n  module {\n    source = \"./modules/e\"\n  }\n}\n";
    check(&[("main.tf", &root), ("t.tftest.hcl", run), ("modules/e/main.tf", &module)], &[], "a");
}

#[test]
fn expressions_in_json_are_known() {
    let main = r#"{"variable":{"x":{"default":"a"}},"module":{"m":{"source":"./modules/${var.x}"}}}"#;
    check(&[("main.tf.json", main)], &[], "a");
    let main = r#"{"locals":{"x":"./modules/${local.y[0].n}","y":[{"n":"b","q":"\"\n"}]},"module":{"m":{"source":"${local.x}"}}}"#;
    check(&[("main.tf.json", main)], &[], "b");
    let main = r#"{"module":{"m":{"source":"./modules/e","y":"b"}}}"#;
    let module = r#"{"variable":{"y":{}},"module":{"n":{"source":"../${var.y}"}}}"#;
    check(&[("main.tf.json", main), ("modules/e/main.tf.json", module)], &[], "b");
}

#[test]
fn texts_in_json_that_stand_for_themselves_were_taken_for_templates() {
    let (plain, doubled) = ("modules/${b}/main.tf", "modules/$${b}/main.tf");
    let (plain, doubled) = ((plain, "provider \"plain\" {}"), (doubled, "provider \"doubled\" {}"));
    let main = variable("x", "default = \"a\"") + &calls(BY_X);
    let given = |json: &str, want: &str| {
        check(&[("main.tf", &main), ("terraform.tfvars.json", json), plain, doubled], &[], want);
    };
    given(r#"{"x":"$${b}"}"#, "doubled");
    given(r#"{"x":"${b}"}"#, "plain");
    let default = |value: &str, source: &str, want: &str| {
        let json = format!(r#"{{"variable":{{"x":{{"default":{value}}}}}}}"#);
        check(&[("v.tf.json", &json), ("main.tf", &calls(source)), plain, doubled], &[], want);
    };
    default(r#""$${b}""#, BY_X, "doubled");
    default(r#""${b}""#, BY_X, "plain");
    default(r#"{"k":["${b}"]}"#, "\"./modules/${var.x.k[0]}\"", "plain");
    default(r#"{"${k}":"b"}"#, "\"./modules/${var.x[\"$${k}\"]}\"", "b");
}

#[test]
fn what_is_not_known_is_said_to_be_computed() {
    check_main(&(variable("x", "") + &calls(BY_X)), "?m");
    check_main(&calls(BY_X), "?m");
    for line in ["sensitive = true", "ephemeral = true", "const = false"] {
        check_main(&(variable("x", &format!("default = \"a\"\n{line}")) + &calls(BY_X)), "?m");
    }
    check_main("locals {\n  x = local.y\n  y = local.x\n}\nmodule \"m\" {\n  source = local.x\n}\n", "?m");
    check_main(&calls("\"./modules/${each.key}\""), "?m");
    // OpenTofu evaluates these.
    check_main(&calls("join(\"/\", [\".\", \"modules\", \"a\"])"), "?m");
    check_main(&calls("\"./modules/${[for x in [\"a\"] : x][0]}\""), "?m");
}

#[test]
fn a_file_of_values_that_does_not_parse_is_blamed_and_not_the_source() {
    let main = variable("x", "default = \"a\"") + &calls(BY_X);
    let files = [("main.tf", main.as_str()), ("terraform.tfvars", "x = ")];
    check(&files, &[], "terraform.tfvars:1:1: the file does not parse: unexpected token");
    check(&[("main.tf", &calls("\"./modules/a\"")), files[1]], &[], "a");
    check(&[("main.tf", &calls("\"./modules/${each.key}\"")), files[1]], &[], "?m");
}

#[test]
fn a_file_of_values_with_a_mark_in_front_was_not_read() {
    let main = variable("x", "default = \"a\"") + &calls(BY_X);
    check(&[("main.tf", &main), ("terraform.tfvars", "\u{feff}x = \"b\"")], &[], "b");
}

#[test]
fn an_attribute_that_a_type_makes_optional_was_computed() {
    let x = |of: &str, default: &str, source: &str| {
        let lines = format!("type = {of}\ndefault = {default}");
        check_main(&(variable("x", &lines) + &calls(source)), "b");
    };
    let (k, of) = ("\"./modules/${var.x.k}\"", "object({ k = optional(string, \"b\") })");
    x(of, "{}", k);
    x(of, "{ k = \"b\" }", k);
    x(of, "{ k = null }", k);
    x("object({ k = optional(string) })", "{}", "var.x.k == null ? \"./modules/b\" : \"./modules/a\"");
    x(&format!("list({of})"), "[{}]", "\"./modules/${var.x[0].k}\"");
    x(&format!("map({of})"), "{ n = {} }", "\"./modules/${var.x.n.k}\"");
    x(&format!("tuple([number, {of}])"), "[1, {}]", "\"./modules/${var.x[1].k}\"");
    x(&format!("object({{ n = optional({of}, {{}}) }})"), "{}", "\"./modules/${var.x.n.k}\"");
}

#[test]
fn values_that_grow_without_end_are_not_kept() {
    let mut locals = "  x0 = \"aaaaaaaaaaaaaaaa\"\n".to_owned();
    for nth in 1..60 {
        let before = nth - 1;
        locals.push_str(&format!("  x{nth} = [local.x{before}, local.x{before}]\n"));
    }
    check_main(&format!("locals {{\n{locals}}}\n{}", calls("\"./modules/${local.x59[0]}\"")), "?m");
    let list = format!("[{}]", ["{}"; 10].join(", "));
    let of = (0..12).fold("string".to_owned(), |of, _| format!("list(object({{ k = optional({of}, {list}) }}))"));
    let lines = format!("type = {of}\ndefault = {list}");
    check_main(&(variable("x", &lines) + &calls("\"./modules/${var.x[0].k[0].k}\"")), "?m");
}

#[test]
fn a_folder_without_a_configuration_is_a_module_that_requires_nothing() {
    check(&[("main.tf", &calls("\"./modules/e\"")), ("modules/e/README", "")], &[], "");
    let main = variable("x", "default = \"e\"") + &calls(BY_X);
    check(&[("main.tf", &main), ("modules/e/README", "")], &[], "");
    check_main(&main, "main.tf:5:12: the module's folder `./modules/e` is not there");
}
