//! `lock ADDR@CONSTRAINT`, and the commands that hints advise.

use insta::assert_snapshot;

use crate::lock_all::{FROM, require, scene};
use crate::setup::{Scene, WIDGET};

const LOCK: &str = ".terraform.lock.hcl";

fn constraints(scene: &Scene) -> String {
    let text = scene.context.read(LOCK);
    text.lines().filter(|line| line.contains("version ") || line.contains("constraints")).collect::<Vec<_>>().join("\n")
}

#[test]
fn a_provider_is_locked_without_a_configuration() {
    let scene = Scene::published();
    scene.publish("1.5.0");
    assert_snapshot!(scene.run(&format!("lock '{WIDGET}@~> 1.4.0' {FROM}")).success().stdout.lines().last().unwrap_or_default(), @"lock file .terraform.lock.hcl created");
    assert_snapshot!(constraints(&scene), @r#"
    version     = "1.4.0"
    constraints = "~> 1.4.0"
    "#);
    // Nobody says anything else now: what is recorded stays.
    scene.run(&format!("lock {WIDGET} {FROM}")).success();
    assert_snapshot!(constraints(&scene), @r#"
    version     = "1.4.0"
    constraints = "~> 1.4.0"
    "#);
    assert_snapshot!(scene.refuse(&format!("lock {WIDGET}@1.5.0 {FROM}")), @"
    exit code: 1
    ----- stdout -----

    ----- stderr -----
    error: registry.example.com/acme/widget is locked at 1.4.0, which does not meet `1.5.0`

    hint: choose a new version with --upgrade, or change the constraint
    hint: the lock file is as it was
    ");
    scene.run(&format!("lock {WIDGET}@1.5.0 {FROM} --upgrade")).success();
    assert_snapshot!(constraints(&scene), @r#"
    version     = "1.5.0"
    constraints = "1.5.0"
    "#);
    assert_snapshot!(scene.refuse("lock"), @"
    exit code: 2
    ----- stdout -----

    ----- stderr -----
    error: there is no configuration in .

    hint: name the directory of the configuration: --chdir DIR
    hint: or name a provider: tofu-oci lock HOST/NAMESPACE/TYPE
    ");
    assert_snapshot!(scene.refuse(&format!("lock {WIDGET}@ {FROM}")), @"
    exit code: 2
    ----- stdout -----

    ----- stderr -----
    error: `registry.example.com/acme/widget@` names no version after the @

    hint: write @1.4.0, @'~> 1.4' or @'>= 1.2, < 2.0', quoted for your shell
    hint: for any version, omit the @: registry.example.com/acme/widget
    ");
}

#[test]
fn a_configuration_must_be_met_too_and_is_what_is_recorded() {
    let scene = scene();
    scene.publish("1.5.0");
    scene.publish("2.0.0");
    scene.run(&format!("lock {WIDGET}@1.4.0 {FROM}")).success();
    assert_snapshot!(constraints(&scene), @r#"
    version     = "1.4.0"
    constraints = "~> 1.4"
    "#);
    assert_snapshot!(scene.refuse(&format!("lock {WIDGET}@2.0.0 --upgrade {FROM}")), @"
    exit code: 1
    ----- stdout -----

    ----- stderr -----
    error: registry.example.com/acme/widget has no version that meets `~> 1.4, 2.0.0`
      cause: asked [REGISTRY]/acme/widget

    hint: it has 2.0.0, 1.5.0, 1.4.0
    hint: the lock file is as it was
    ");
}

#[test]
fn a_check_names_the_command_that_writes_with_all_its_options() {
    let scene = scene();
    let said = scene.run(&format!("lock {FROM} --check --chdir . --platform linux_amd64 --plain-http nobody.example"));
    assert_eq!(said.code, Some(1));
    assert_snapshot!(said.text.split_once("hint:").map_or("", |(_, hint)| hint), @" write it: tofu-oci lock --from '[REGISTRY]/${namespace}/${type}' --chdir . --platform linux_amd64 --plain-http nobody.example; look at the difference, and commit the file");
}

#[test]
fn hints_carry_the_options_that_were_given() {
    let scene = scene();
    let named = format!("{FROM} --plain-http nobody.example --timeout 90s");
    assert_snapshot!(scene.refuse(&format!("install registry.example.com/acme/gadget {named}")), @"
    exit code: 1
    ----- stdout -----

    ----- stderr -----
    error: there is no provider registry.example.com/acme/gadget at [REGISTRY]/acme/gadget

    hint: check the name; `tofu-oci resolve registry.example.com/acme/gadget --explain --from '[REGISTRY]/${namespace}/${type}' --plain-http nobody.example --timeout [TIME]` says where it is looked for
    ");
    scene.run(&format!("install {WIDGET} {named} --platform linux_amd64")).success();
    let text = scene.context.read(LOCK);
    let one_platform: Vec<&str> =
        text.lines().filter(|line| !line.contains("\"zh:") && !line.contains("\"ch:")).collect();
    scene.context.write(LOCK, one_platform.join("\n") + "\n");
    std::fs::remove_file(scene.path(".tofu-oci.pins.json")).expect("it was written");
    let said = scene.run(&format!("install {WIDGET} {named} --platform darwin_arm64 --into mirror"));
    assert_snapshot!(said.text.split_once("\nhint:").map_or("", |(_, hint)| hint), @"
     the lock file holds checksums of other platforms only; nothing vouches for darwin_arm64 yet
    hint: to lock it too: tofu-oci lock registry.example.com/acme/widget --platform darwin_arm64 --from '[REGISTRY]/${namespace}/${type}' --plain-http nobody.example --timeout [TIME]
    ");
}

#[test]
fn a_plugin_cache_that_is_not_there_is_refused_and_not_made_with_and_without_from() {
    let mut scene = scene();
    scene.context.env("TF_PLUGIN_CACHE_DIR", "/no/such/cache");
    assert_snapshot!(scene.refuse(&format!("install {WIDGET} {FROM}")), @"
    exit code: 2
    ----- stdout -----

    ----- stderr -----
    error: TF_PLUGIN_CACHE_DIR names /no/such/cache, which is not there

    hint: create the folder, mkdir -p /no/such/cache; or unset TF_PLUGIN_CACHE_DIR
    ");
    assert_snapshot!(scene.refuse(&format!("install {WIDGET}")), @"
    exit code: 2
    ----- stdout -----

    ----- stderr -----
    error: TF_PLUGIN_CACHE_DIR names /no/such/cache, which is not there (plugin-cache-dir)
      = instead: create the folder, mkdir -p /no/such/cache; or unset TF_PLUGIN_CACHE_DIR
      = OpenTofu 1.13: prints an error that names no line, and uses it all the same

    hint: `tofu-oci config check` says what each OpenTofu makes of these files
    ");
    scene.context.env("TF_PLUGIN_CACHE_DIR", "typo");
    assert_eq!(scene.run(&format!("install {WIDGET} {FROM}")).code, Some(2));
    assert!(!scene.path("typo").exists());
    std::fs::create_dir(scene.path("typo")).expect("the work folder is writable");
    scene.run(&format!("install {WIDGET} {FROM} --platform linux_amd64")).success();
    assert!(scene.path("typo/registry.example.com").is_dir());
}

#[test]
fn the_hint_to_lock_every_platform_did_not_work_if_the_configuration_says_otherwise() {
    let scene = Scene::published();
    let hint = |line: &str| {
        let said = scene.run(line).success();
        std::fs::remove_file(scene.path(LOCK)).expect("it was written");
        said.text.lines().find(|line| line.contains("hint: to lock")).unwrap_or_default().trim().to_owned()
    };
    let install = format!("install {WIDGET}@1.4.0 {FROM} --platform linux_amd64");
    require(&scene, &[("gadget", "~> 1.0")]);
    assert_snapshot!(hint(&install), @"hint: to lock every platform: let the configuration require registry.example.com/acme/widget 1.4.0, then tofu-oci lock registry.example.com/acme/widget --from '[REGISTRY]/${namespace}/${type}'");
    let said = scene.refuse(&format!("{install} --locked"));
    let want =
        "commit the file: let the configuration require registry.example.com/acme/widget 1.4.0, then tofu-oci lock ";
    assert!(said.contains(want), "{said}");
    require(&scene, &[("widget", "~> 2.0")]);
    assert_snapshot!(hint(&install), @"hint: to lock every platform: let the configuration require registry.example.com/acme/widget 1.4.0, then tofu-oci lock registry.example.com/acme/widget --from '[REGISTRY]/${namespace}/${type}'");
    require(&scene, &[("widget", "~> 1.4")]);
    assert_snapshot!(hint(&install), @"hint: to lock every platform: tofu-oci lock registry.example.com/acme/widget --from '[REGISTRY]/${namespace}/${type}'");
    scene.run(&format!("lock {WIDGET} {FROM}")).success();
}
