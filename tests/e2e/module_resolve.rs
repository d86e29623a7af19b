//! `resolve` of modules.

use insta::assert_snapshot;
use tofu_oci_testkit::Answer;

use crate::json::check;
use crate::module_pull::{BASE, NETWORK};
use crate::setup::Scene;

const MAPPING: &str = r#"
[[module_mirror]]
include = ["registry.example.test/acme/old/*"]
repository_template = "REGISTRY/old/${namespace}-${target_system}"

[[module_mirror]]
include = ["registry.example.test/acme/network/aws"]
repository_template = "REGISTRY/${namespace}/${name}"

[[module_mirror]]
include = ["registry.example.test/*/*/*"]
repository_template = "oci:modules"
"#;

/// The versions 1.4.0, 1.10.0, 2.0.0-rc.1 and, withdrawn, 1.11.0 of a module that the second rule maps.
fn mapped() -> Scene {
    let scene = Scene::deleting();
    for version in ["1.4.0", "1.10.0", "1.11.0", "2.0.0-rc.1", "2.0.0"] {
        scene.module(version, &[("main.tf", &format!("# {version}\n"))]);
    }
    scene.run("withdraw REGISTRY/acme/network:1.11.0 --reason 'opens port 22'").success();
    scene.context.write("modules.toml", MAPPING.replace("REGISTRY", scene.registry.address()));
    scene
}

#[test]
fn a_mapped_module_has_its_version_place_and_digest() {
    let scene = mapped();
    assert_snapshot!(scene.run(&format!("resolve '{NETWORK}@~> 1.4'")).text, @"
    exit code: 0
    ----- stdout -----
    registry.example.test/acme/network/aws 1.10.0
      place     [REGISTRY]/acme/network:1.10.0
      manifest  sha256:[DIGEST]
      rule      modules.toml:6, [REGISTRY]/${namespace}/${name}

    ----- stderr -----
    ");
    let said = scene.run(&format!("resolve '{NETWORK}@~> 1.4' --json")).success();
    assert_eq!(check(&said), ["module-resolved"]);
    let line = &said.json()[0];
    assert_eq!((&line["version"], &line["mapped_by"]["line"]), (&"1.10.0".into(), &6.into()));
    // The same as `module pull` takes.
    let pulled = scene.run(&format!("module pull '{NETWORK}@~> 1.4' out --json")).success().json().pop();
    assert_eq!(pulled.map(|pulled| pulled["manifest"].clone()), Some(line["manifest"].clone()));
}

#[test]
fn an_explanation_names_the_rule_and_what_holds_versions_back() {
    let scene = mapped();
    let said = scene.run(&format!("resolve '{NETWORK}@~> 1.4' --explain")).success();
    assert!(said.stdout.lines().all(|line| line.chars().count() <= 100), "{}", said.stdout);
    assert_snapshot!(said.text, @r#"
    exit code: 0
    ----- stdout -----
    registry.example.test/acme/network/aws, the newest release that meets ~> 1.4
    rules of modules.toml, in order: the first one that is for the module counts

     1  module_mirror  modules.toml:2
        matches   no, its include names other modules

     2  module_mirror  modules.toml:6
        matches   yes, by include "registry.example.test/acme/network/aws"
        template  [REGISTRY]/${namespace}/${name}
        place     [REGISTRY]/acme/network
        offers    2.0.0, 2.0.0-rc.1, 1.10.0, 1.4.0
        held      1.11.0 (opens port 22): withdrawn by its publisher
        held      2.0.0-rc.1: a prerelease is chosen by its exact version alone
        held      2.0.0: outside of the constraint

     3  module_mirror  modules.toml:10
        matches   by include "registry.example.test/*/*/*", but an earlier rule counts

    tofu-oci  takes 1.10.0: the newest release that meets ~> 1.4
              place     [REGISTRY]/acme/network:1.10.0
              manifest  sha256:[DIGEST]
    OpenTofu  and Terraform read no modules.toml: they ask the registry of registry.example.test, unless
              `tofu-oci run` starts them, or a `host` block names a bridge (`tofu-oci serve`)

    ----- stderr -----
    "#);
    let said = scene.run(&format!("resolve '{NETWORK}@~> 1.4' --explain --json")).success();
    assert_eq!(check(&said), ["module-rule", "module-rule", "module-rule", "module-offer", "module-choice"]);
    assert_snapshot!(said.text, @r#"
    exit code: 0
    ----- stdout -----
    {"event":"module-rule","source":"registry.example.test/acme/network/aws@~> 1.4","number":1,"at":"modules.toml:2","selected":false,"matches":"no, its include names other modules","template":"[REGISTRY]/old/${namespace}-${target_system}"}
    {"event":"module-rule","source":"registry.example.test/acme/network/aws@~> 1.4","number":2,"at":"modules.toml:6","selected":true,"matches":"yes, by include \"registry.example.test/acme/network/aws\"","template":"[REGISTRY]/${namespace}/${name}"}
    {"event":"module-rule","source":"registry.example.test/acme/network/aws@~> 1.4","number":3,"at":"modules.toml:10","selected":false,"matches":"by include \"registry.example.test/*/*/*\", but an earlier rule counts","template":"oci:modules/${hostname}/${namespace}/${name}/${target_system}"}
    {"event":"module-offer","source":"registry.example.test/acme/network/aws@~> 1.4","place":"[REGISTRY]/acme/network","registry":null,"versions":["2.0.0","2.0.0-rc.1","1.10.0","1.4.0"],"withdrawn":["1.11.0"],"code":null,"error":null}
    {"event":"module-choice","source":"registry.example.test/acme/network/aws@~> 1.4","constraints":"~> 1.4","outcome":"found","version":"1.10.0","tag":"1.10.0","place":"[REGISTRY]/acme/network","manifest":"sha256:[DIGEST]","archive":null,"checksum":null,"git":null,"folder":"","reason":"the newest release that meets ~> 1.4","held_back":[{"version":"2.0.0","cause":"constraint","reason":null,"writer":null},{"version":"2.0.0-rc.1","cause":"prerelease","reason":null,"writer":null},{"version":"1.11.0","cause":"withdrawn","reason":"opens port 22","writer":"publisher"}],"notice":null,"code":null,"error":null}

    ----- stderr -----
    "#);
}

#[test]
fn nothing_to_choose_is_explained_and_without_an_explanation_an_error() {
    let scene = mapped();
    assert_snapshot!(scene.run(&format!("resolve '{NETWORK}@> 3' --explain")).text, @r#"
    exit code: 0
    ----- stdout -----
    registry.example.test/acme/network/aws, the newest release that meets > 3.0.0
    rules of modules.toml, in order: the first one that is for the module counts

     1  module_mirror  modules.toml:2
        matches   no, its include names other modules

     2  module_mirror  modules.toml:6
        matches   yes, by include "registry.example.test/acme/network/aws"
        template  [REGISTRY]/${namespace}/${name}
        place     [REGISTRY]/acme/network
        offers    2.0.0, 2.0.0-rc.1, 1.10.0, 1.4.0
        held      1.11.0 (opens port 22): withdrawn by its publisher
        held      2.0.0-rc.1: a prerelease is chosen by its exact version alone
        held      2.0.0, 1.10.0, 1.4.0: outside of the constraint

     3  module_mirror  modules.toml:10
        matches   by include "registry.example.test/*/*/*", but an earlier rule counts

    tofu-oci  finds nothing, no-matching-version: no version that it offers meets > 3.0.0;
              registry.example.test/acme/network/aws has no version that meets `> 3.0.0`
    OpenTofu  and Terraform read no modules.toml: they ask the registry of registry.example.test, unless
              `tofu-oci run` starts them, or a `host` block names a bridge (`tofu-oci serve`)

    ----- stderr -----
    "#);
    assert_snapshot!(scene.run(&format!("resolve '{NETWORK}@> 3'")).text, @"
    exit code: 1
    ----- stdout -----

    ----- stderr -----
    error: registry.example.test/acme/network/aws has no version that meets `> 3.0.0`
      cause: modules.toml:6 maps registry.example.test/acme/network/aws to [REGISTRY]/acme/network

    hint: it has 2.0.0, 2.0.0-rc.1, 1.10.0, 1.4.0
    ");
    let folder = scene.run("resolve registry.example.test/acme/other/aws --explain").success();
    assert!(folder.stdout.contains("offers    error (module-not-found)"), "{}", folder.text);
}

#[test]
fn an_unmapped_module_comes_from_the_registry_of_its_host() {
    let mut scene = Scene::with_modules();
    let web = scene.module_registry();
    web.page(
        &format!("{BASE}/1.10.0/download"),
        Answer::new(204).header("X-Terraform-Get", "/network.zip?token=SECRET"),
    );
    assert_snapshot!(scene.run(&format!("resolve {NETWORK}")).text, @"
    exit code: 0
    ----- stdout -----
    registry.example.test/acme/network/aws 1.10.0
      place     https://127.0.0.1:[PORT]/network.zip
      registry  https://127.0.0.1:[PORT]/v1/modules/

    ----- stderr -----
    ");
    let before = web.requests().len();
    let explained = scene.run(&format!("resolve {NETWORK} --explain"));
    let lists = web.requests().iter().skip(before).filter(|request| request.path.ends_with("/versions")).count();
    assert_eq!(lists, 1, "the versions are listed once");
    assert_snapshot!(explained.text, @"
    exit code: 0
    ----- stdout -----
    registry.example.test/acme/network/aws, the newest release
    there is no modules.toml, so the registry of the host is asked

     -  registry
        place     https://127.0.0.1:[PORT]/v1/modules/, modules.v1 of the host
        offers    2.0.0-rc.1, 1.10.0, 1.4.0
        held      2.0.0-rc.1: a prerelease is chosen by its exact version alone

    tofu-oci  takes 1.10.0: the newest release
              place     https://127.0.0.1:[PORT]/network.zip
    OpenTofu  and Terraform ask the same registry

    ----- stderr -----
    ");
    assert!(!scene.run(&format!("resolve {NETWORK} --json")).success().text.contains("SECRET"));
    let block = "host \"plain.example.test\" {\n  services = {}\n}\n";
    scene.context.write_home(".tofurc", block);
    let said = scene.run("resolve plain.example.test/a/b/c --explain").success();
    assert!(said.stdout.contains("    offers    error (no-module-service): no module can be read"), "{}", said.text);
}

#[test]
fn a_source_names_its_repository_itself() {
    let scene = mapped();
    assert_snapshot!(scene.run("resolve 'oci://REGISTRY/acme/network//dns?tag=1.4.0'").text, @"
    exit code: 0
    ----- stdout -----
    oci://[REGISTRY]/acme/network//dns?tag=1.4.0
      version   1.4.0
      place     [REGISTRY]/acme/network:1.4.0
      manifest  sha256:[DIGEST]
      folder    dns

    ----- stderr -----
    ");
    assert_snapshot!(scene.run("resolve 'oci://REGISTRY/acme/network?tag=1.4.0' --explain").text, @"
    exit code: 0
    ----- stdout -----
    oci://[REGISTRY]/acme/network?tag=1.4.0
    the source names its repository itself: modules.toml is for modules of registries

     -  source
        place     [REGISTRY]/acme/network
        offers    2.0.0, 2.0.0-rc.1, 1.10.0, 1.4.0

    tofu-oci  takes 1.4.0: its source names the tag 1.4.0
              place     [REGISTRY]/acme/network:1.4.0
              manifest  sha256:[DIGEST]
    OpenTofu  1.10 and later takes the same package; Terraform reads no oci:// source

    ----- stderr -----
    ");
    assert_snapshot!(scene.run("resolve oci://REGISTRY/acme/network --explain").text, @"
    exit code: 0
    ----- stdout -----
    oci://[REGISTRY]/acme/network
    the source names its repository itself: modules.toml is for modules of registries

     -  source
        place     [REGISTRY]/acme/network
        offers    2.0.0, 2.0.0-rc.1, 1.10.0, 1.4.0

    tofu-oci  finds nothing, tag-not-found: its source names no tag, which means latest;
              [REGISTRY]/acme/network has no tag latest
    OpenTofu  1.10 and later asks the same repository; Terraform reads no oci:// source

    ----- stderr -----
    ");
    assert_snapshot!(scene.run("resolve oci://REGISTRY/acme/network").text, @"
    exit code: 1
    ----- stdout -----

    ----- stderr -----
    error: [REGISTRY]/acme/network has no tag latest

    hint: it has the versions 2.0.0, 2.0.0-rc.1, 1.10.0, 1.4.0
    hint: name one in the source, such as ?tag=2.0.0
    ");
}

#[test]
fn options_of_the_other_kind_are_refused() {
    let scene = mapped();
    for (line, want) in [
        ("resolve registry.example.test/acme/network/aws --upgrade --explain", "--upgrade is for providers"),
        ("resolve oci://REGISTRY/acme/network --from oci:x", "--from is for providers"),
        ("resolve acme/widget --modules modules.toml", "--modules is for modules"),
        ("resolve git::https://x.example/a.git", "is a git repository, and says itself where the module is"),
        ("resolve registry.example.test/acme/network/aws@v1", "`v1` is not a version constraint"),
        ("resolve oci:lay", "names a directory, and `resolve` takes a provider's address"),
    ] {
        let said = scene.run(line);
        assert!(said.code == Some(2) && said.stderr.contains(want), "{line}: {}", said.text);
    }
}

#[test]
fn a_repository_that_is_not_there_has_a_code_of_modules() {
    let scene = Scene::new();
    let code = |source: &str| {
        scene.run(&format!("module pull {source} out --json")).json().pop().expect("a line")["code"].clone()
    };
    assert_eq!(code(&format!("oci://REGISTRY/none?digest=sha256:{}", "0".repeat(64))), "module-not-found");
    // The vectors of OpenTofu name the tag.
    assert_eq!(code("oci://REGISTRY/none?tag=1.0.0"), "tag-not-found");
}
