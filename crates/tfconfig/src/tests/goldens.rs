//! The configurations of `testdata/configurations`, and what real programs make of each.
//!
//! `providers.txt` was measured with `tofu providers` of `OpenTofu` 1.12.6; the lines below each module are sorted, since
//! the program prints them in an order that changes. Where it refuses the configuration, the file holds the titles of
//! its errors. `cargo xtask interop providers` compares the same files with real `terraform`.

use std::path::{Path, PathBuf};

use crate::{ConfigFinding, ConfigFolder, ProviderTree, providers_tree};

fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../testdata/configurations")
}

/// Its folders, one a configuration, sorted.
fn folders() -> Vec<PathBuf> {
    let entries = std::fs::read_dir(folder()).unwrap().map(|entry| entry.unwrap().path());
    let mut folders: Vec<PathBuf> = entries.filter(|path| path.is_dir()).collect();
    folders.sort();
    folders
}

fn tree(dir: &Path) -> ProviderTree {
    providers_tree(&ConfigFolder { tests: Some("tests".into()), ..ConfigFolder::new(dir) }).unwrap()
}

/// The titles that `OpenTofu` gives to what it finds when it loads a configuration.
fn title(finding: &ConfigFinding) -> Option<&'static str> {
    (finding.code == "configuration-not-replaceable").then_some("Cannot override provider configuration")
}

#[test]
fn every_configuration_gives_the_tree_that_opentofu_prints() {
    let mut count = 0;
    for dir in folders() {
        let golden = std::fs::read_to_string(dir.join("providers.txt")).unwrap();
        let tree = tree(&dir);
        let titles: Vec<_> = tree.findings.iter().filter_map(title).map(|title| format!("error: {title}\n")).collect();
        let got = if titles.is_empty() { tree.terraform_text() } else { titles.concat() };
        assert_eq!(got, golden, "{}", dir.display());
        count += 1;
    }
    assert_eq!(count, 21);
}

#[test]
fn what_opentofu_complains_about_is_found_at_its_place() {
    let root = folder();
    let mut lines = Vec::new();
    for dir in folders() {
        for finding in tree(&dir).findings {
            let place = finding.declared.to_string().replace(&format!("{}/", root.display()), "");
            let mark = if finding.refused { "error" } else { "note" };
            lines.push(format!(
                "{place}: {mark} {}: {}",
                finding.code,
                finding.message.replace(&format!("{}/", root.display()), "")
            ));
        }
    }
    insta::assert_snapshot!(lines.join("\n"), @"
    implied-providers/main.tf:21:1: error missing-configuration: `import to azurerm_thing.kept` uses the configuration `azure.west`, which the module does not have
    json/main.tf.json:15:45: note deprecated-version: `version` in a provider block is deprecated; it counts as `1.5.0`
    module-providers/main.tf:4:3: note deprecated-version: `version` in a provider block is deprecated; it counts as `0.124.0`
    module-providers-alias/main.tf:4:3: note deprecated-version: `version` in a provider block is deprecated; it counts as `0.124.0`
    module-providers-alias-versions/main.tf:4:3: note deprecated-version: `version` in a provider block is deprecated; it counts as `0.124.0`
    module-providers-alias-versions/mod/mod.tf:2:3: note deprecated-version: `version` in a provider block is deprecated; it counts as `>= 0.1.0`
    module-providers-alias-versions/main.tf:10:5: error configuration-not-replaceable: module `my_mod` has a configuration `aws.foo` of its own; it takes no other
    module-providers-versions/main.tf:4:3: note deprecated-version: `version` in a provider block is deprecated; it counts as `0.124.0`
    module-providers-versions/mod/mod.tf:2:3: note deprecated-version: `version` in a provider block is deprecated; it counts as `>= 0.1.0`
    module-providers-versions/main.tf:10:5: error configuration-not-replaceable: module `my_mod` has a configuration `aws` of its own; it takes no other
    override-files/main_override.tf:12:3: note deprecated-version: `version` in a provider block is deprecated; it counts as `< 2.0.0`
    override-files/override.tf.json:1:24: note deprecated-version: `version` in a provider block is deprecated; it counts as `0.1.0`
    provider-functions/main.tf:19:41: note missing-configuration: `provider::aws::us::arn_parse` names the configuration `aws.us`, which the module does not have
    provider-names-own-block/main.tf:18:5: error configuration-not-replaceable: module `my_mod` has a configuration `modaws` of its own; it takes no other
    provider-versions/main.tf:4:3: note deprecated-version: `version` in a provider block is deprecated; it counts as `0.124.0`
    ");
}

/// The configurations of every module: how it gets each, and the block at the end of the way.
fn configurations(name: &str) -> String {
    let root = folder().join(name);
    let tree = tree(&root);
    let mut lines = Vec::new();
    let mut open = vec![&tree.root];
    while let Some(node) = open.pop() {
        for config in &node.configurations {
            let local = crate::facts::config_name(&config.local_name, config.alias.as_deref());
            let block = config.block.as_ref().map(|block| block.declared.to_string());
            let origin = format!("{:?}", config.origin);
            let line =
                format!("{}: {local} = {origin} -> {}", node.key, block.unwrap_or_else(|| "no block".to_owned()));
            lines.push(line.replace(&format!("{}/", root.display()), ""));
        }
        open.extend(node.children.iter().rev());
    }
    lines.join("\n")
}

#[test]
fn each_module_gets_its_configurations() {
    insta::assert_snapshot!(configurations("platform"), @r#"
    : cloud = Own -> main.tf:17:1
    : cloud.south = Own -> main.tf:21:1
    : secrets = Empty -> no block
    : widget = Own -> main.tf:26:1
    app: cloud = Passed { from: "cloud", at: Declared { path: "main.tf", at: TextPosition { line: 43, column: 5 } } } -> main.tf:17:1
    app: cloud.replica = Passed { from: "cloud.south", at: Declared { path: "main.tf", at: TextPosition { line: 44, column: 5 } } } -> main.tf:21:1
    app: zone = Passed { from: "widget", at: Declared { path: "main.tf", at: TextPosition { line: 45, column: 5 } } } -> main.tf:26:1
    app.database: cloud = Passed { from: "cloud.replica", at: Declared { path: "modules/app/main.tf", at: TextPosition { line: 33, column: 5 } } } -> main.tf:21:1
    app.database: random = Empty -> no block
    logs: cloud = Inherited { from: "" } -> main.tf:17:1
    network: cloud = Inherited { from: "" } -> main.tf:17:1
    "#);
    insta::assert_snapshot!(configurations("multiple-aliases"), @r#"
    : awsname = Empty -> no block
    : awsname.default = Own -> main.tf:10:1
    my_mod: modaws.bar = Passed { from: "awsname", at: Declared { path: "main.tf", at: TextPosition { line: 19, column: 5 } } } -> no block
    my_mod: modaws.foo = Passed { from: "awsname.default", at: Declared { path: "main.tf", at: TextPosition { line: 18, column: 5 } } } -> main.tf:10:1
    "#);
    insta::assert_snapshot!(configurations("module-providers-alias"), @r#"
    : aws.default = Own -> main.tf:1:1
    my_mod: aws.foo = Passed { from: "aws.default", at: Declared { path: "main.tf", at: TextPosition { line: 10, column: 5 } } } -> main.tf:1:1
    "#);
    insta::assert_snapshot!(configurations("state-instance-keys"), @": aws.by_region = Own -> main.tofu:1:1");
}
