//! Where `providers` says that modules come from.

use insta::assert_snapshot;

use crate::setup::Scene;

const CALLS: &str = r#"
module "own" {
  source = "./own"
}
module "mapped" {
  source  = "registry.example.com/acme/far/cloud//sub"
  version = "1.0.0"
}
module "registry" {
  source = "acme/near/cloud"
}
module "tagged" {
  source = "oci://ghcr.io/acme/network//dns?tag=1.4.0"
}
module "pinned" {
  source = "oci://ghcr.io/acme/network?digest=sha256:0000000000000000000000000000000000000000000000000000000000000000"
}
module "git" {
  source = "git::https://me:hunter2@git.example.com/x.git?ref=v1"
}
module "archive" {
  source = "https://files.example.com/x.zip"
}
module "absolute" {
  source = "/srv/modules/x"
}
module "wrong" {
  source = "acme/x/UPPER"
}
"#;

const MAPPING: &str = "\n[[module_mirror]]\ninclude = [\"registry.example.com/*/*/*\"]\nrepository_template = \"ghcr.io/acme/modules/${namespace}/${name}-${target_system}\"\n";

fn scene() -> Scene {
    let scene = Scene::new();
    scene.context.write("main.tf", CALLS);
    std::fs::create_dir(scene.path("own")).expect("a folder in the work folder");
    scene.context.write("own/main.tf", "module \"below\" {\n  source = \"acme/near/cloud\"\n}\n");
    scene
}

/// The modules of the output, and what the note says.
fn modules(said: &str) -> String {
    let (_, modules) = said.split_once("Modules:\n\n").expect("modules");
    let kept =
        |line: &&str| line.starts_with("module.") || line.starts_with("  place") || line.contains("does not map");
    modules.lines().filter(kept).map(|line| format!("{line}\n")).collect()
}

#[test]
fn each_call_has_its_place_and_the_rule_that_names_it() {
    let scene = scene();
    scene.context.write("modules.toml", MAPPING);
    let said = scene.run("providers").success();
    assert!(!said.text.contains("hunter2"), "{}", said.text);
    assert_snapshot!(modules(&said.text), @"
    module.own (./own), called at main.tf:3:12
      place: the folder own
    module.absolute (/srv/modules/x), called at main.tf:25:12
      place: the folder of its source
    module.archive (https://files.example.com/x.zip), called at main.tf:22:12
      place: the address of its source
    module.git (git::https://***@git.example.com/x.git?ref=v1), called at main.tf:19:12
      place: the git repository of its source
    module.mapped (registry.example.com/acme/far/cloud//sub), called at main.tf:6:13
      place: ghcr.io/acme/modules/acme/far-cloud, by modules.toml:2, ghcr.io/acme/modules/${namespace}/${name}-${target_system}
    module.own.module.below (acme/near/cloud), called at own/main.tf:2:12
      place: the registry registry.opentofu.org
    module.pinned (oci://ghcr.io/acme/network?digest=sha256:[DIGEST]), called at main.tf:16:12
      place: ghcr.io/acme/network, pinned to sha256:[DIGEST]
    module.registry (acme/near/cloud), called at main.tf:10:12
      place: the registry registry.opentofu.org
    module.tagged (oci://ghcr.io/acme/network//dns?tag=1.4.0), called at main.tf:13:12
      place: ghcr.io/acme/network, tag 1.4.0, not pinned by a digest
    module.wrong (acme/x/UPPER), called at main.tf:28:12
      place: unknown: `acme/x/UPPER` is not a module of a registry: the target system consists of up to 64 lower-case ASCII letters and digits
    note: modules.toml does not map 4 modules: module.archive, module.git, module.own.module.below and 1 more
    ");
}

#[test]
fn without_a_mapping_no_call_leaves_it() {
    let scene = scene();
    let said = scene.run("providers").success();
    assert!(said.text.contains("  place: the registry registry.example.com\n"), "{}", said.text);
    assert!(!said.text.contains("modules.toml"), "{}", said.text);
}

#[test]
fn another_file_may_have_the_mapping_and_a_mistake_in_it_is_an_error() {
    let scene = scene();
    scene.context.write("house.toml", MAPPING);
    let said = scene.run("providers --modules house.toml").success();
    assert!(said.text.contains(", by house.toml:2, ghcr.io/acme/modules/"), "{}", said.text);
    scene.context.write("house.toml", "module_mirrors = []\n");
    let said = scene.refuse("providers --modules house.toml");
    assert!(said.contains("unknown field `module_mirrors`"), "{said}");
}

#[test]
fn json_has_the_place_of_each_call_as_a_member() {
    let scene = scene();
    scene.context.write("modules.toml", MAPPING);
    let said = scene.run("providers --json").success();
    crate::json::check(&said);
    let lines = said.json();
    let of_modules =
        lines.iter().filter(|line| line["event"].as_str().is_some_and(|event| event.starts_with("module")));
    let places: Vec<String> = of_modules.map(|line| format!("{} {}\n", line["key"], line["comes_from"])).collect();
    assert_snapshot!(places.concat(), @r#"
    "" null
    "own" {"kind":"folder","place":null,"tag":null,"digest":null,"pinned":null,"mapped_by":null,"reason":null}
    "absolute" {"kind":"folder","place":null,"tag":null,"digest":null,"pinned":null,"mapped_by":null,"reason":null}
    "archive" {"kind":"other","place":null,"tag":null,"digest":null,"pinned":null,"mapped_by":null,"reason":null}
    "git" {"kind":"git","place":null,"tag":null,"digest":null,"pinned":null,"mapped_by":null,"reason":null}
    "mapped" {"kind":"mapped","place":"ghcr.io/acme/modules/acme/far-cloud","tag":null,"digest":null,"pinned":null,"mapped_by":{"file":"modules.toml","line":2,"template":"ghcr.io/acme/modules/${namespace}/${name}-${target_system}"},"reason":null}
    "own.below" {"kind":"registry","place":"registry.opentofu.org","tag":null,"digest":null,"pinned":null,"mapped_by":null,"reason":null}
    "pinned" {"kind":"oci","place":"ghcr.io/acme/network","tag":null,"digest":"sha256:0000000000000000000000000000000000000000000000000000000000000000","pinned":true,"mapped_by":null,"reason":null}
    "registry" {"kind":"registry","place":"registry.opentofu.org","tag":null,"digest":null,"pinned":null,"mapped_by":null,"reason":null}
    "tagged" {"kind":"oci","place":"ghcr.io/acme/network","tag":"1.4.0","digest":null,"pinned":false,"mapped_by":null,"reason":null}
    "wrong" {"kind":"unknown","place":null,"tag":null,"digest":null,"pinned":null,"mapped_by":null,"reason":"`acme/x/UPPER` is not a module of a registry: the target system consists of up to 64 lower-case ASCII letters and digits"}
    "#);
}
