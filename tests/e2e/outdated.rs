//! `outdated`: which providers are behind, what moves when, and what holds them back.

use insta::assert_snapshot;

use crate::credentials::basic;
use crate::json::check;
use crate::lock_all::{FROM, require};
use crate::setup::{Scene, WIDGET};
use crate::words::refuse;

/// Widget 1.4.0 is locked, and the configuration requires these versions of it.
fn locked(scene: &Scene, constraint: &str) {
    require(scene, &[("widget", "1.4.0")]);
    scene.run(&format!("install {FROM} --platform linux_amd64")).success();
    require(scene, &[("widget", constraint)]);
}

#[test]
fn an_upgrade_and_what_holds_the_newest_back_are_named() {
    let scene = Scene::published();
    scene.publish("1.5.0");
    scene.publish("2.0.0");
    scene.publish("3.0.0-rc.1");
    locked(&scene, ">= 1.4");
    std::fs::create_dir_all(scene.path("mod")).expect("a folder");
    let module = "terraform {\n  required_providers {\n    widget = {\n      \
                  source = \"registry.example.com/acme/widget\"\n      version = \"< 2.0\"\n    }\n  }\n}\n";
    scene.context.write("mod/main.tf", module);
    let main = scene.context.read("main.tf");
    scene.context.write("main.tf", main + "module \"m\" {\n  source = \"./mod\"\n}\n");
    scene.registry.clear_requests();
    assert_snapshot!(scene.run(&format!("outdated {FROM}")).text, @"
    exit code: 0
    ----- stdout -----
    provider                          locked  admitted  newest
    registry.example.com/acme/widget  1.4.0   1.5.0     2.0.0

    registry.example.com/acme/widget
      from      [REGISTRY]/acme/widget
      upgrade   1.4.0 to 1.5.0: tofu-oci install --upgrade --from '[REGISTRY]/${namespace}/${type}'
      held      2.0.0 is not admitted by `< 2.0.0` of module.m (mod/main.tf:3:5)

    ----- stderr -----
    ");
    assert_snapshot!(scene.conversation().join("\n"), @"
    GET /v2/acme/widget/tags/list -> 200
    GET /v2/acme/widget/manifests/1.5.0 -> 200
    ");
    let said = scene.run(&format!("outdated {FROM} --json"));
    assert_eq!(check(&said), ["outdated"]);
    assert_snapshot!(said.text, @r#"
    exit code: 0
    ----- stdout -----
    {"event":"outdated","address":"registry.example.com/acme/widget","constraints":">= 1.4.0, < 2.0.0","locked":"1.4.0","locked_is_offered":true,"notice":null,"admitted":"1.5.0","newest":"2.0.0","state":"upgrade","held_back_by":[{"module":"m","constraints":"< 2.0.0","path":"./mod/main.tf","line":3,"column":5}],"place":"[REGISTRY]/acme/widget","code":null,"reason":null,"causes":[],"hints":[]}

    ----- stderr -----
    "#);
    // What it advises moves the version, and afterwards the module alone keeps it.
    scene.run(&format!("install --upgrade {FROM} --platform linux_amd64")).success();
    assert_snapshot!(scene.run(&format!("outdated {FROM}")).text, @"
    exit code: 0
    ----- stdout -----
    provider                          locked  admitted  newest
    registry.example.com/acme/widget  1.5.0   1.5.0     2.0.0

    registry.example.com/acme/widget
      from      [REGISTRY]/acme/widget
      held      2.0.0 is not admitted by `< 2.0.0` of module.m (mod/main.tf:3:5)

    ----- stderr -----
    ");
}

#[test]
fn what_is_up_to_date_is_said_once() {
    let scene = Scene::published();
    locked(&scene, "~> 1.4");
    assert_snapshot!(scene.run(&format!("outdated {FROM} --exit-code")).text, @"
    exit code: 0
    ----- stdout -----
    the provider is up to date

    ----- stderr -----
    ");
    scene.publish("1.5.0");
    assert_eq!(scene.run(&format!("outdated {FROM}")).code, Some(0));
    assert_eq!(scene.run(&format!("outdated {FROM} --exit-code")).code, Some(1));
    let said = scene.run(&format!("outdated {FROM} --exit-code --json"));
    assert_eq!((said.code, said.stderr.as_str()), (Some(1), ""));
}

#[test]
fn without_a_lock_file_the_versions_that_would_be_locked_are_shown() {
    let scene = Scene::published();
    require(&scene, &[("widget", "~> 1.0")]);
    assert_snapshot!(scene.run(&format!("outdated {FROM}")).text, @"
    exit code: 0
    ----- stdout -----
    provider                          locked  admitted  newest
    registry.example.com/acme/widget  -       1.4.0     1.4.0

    registry.example.com/acme/widget
      from      [REGISTRY]/acme/widget
      upgrade   no version is locked; 1.4.0 would be: tofu-oci install --from
                '[REGISTRY]/${namespace}/${type}'

    ----- stderr -----
    ");
    assert!(!scene.path(".terraform.lock.hcl").exists());
}

#[test]
fn a_provider_that_no_place_offers_does_not_hide_the_others() {
    let scene = Scene::published();
    scene.publish("1.5.0");
    locked(&scene, "~> 1.4");
    require(&scene, &[("gone", "~> 1.0"), ("widget", "~> 1.4")]);
    assert_snapshot!(scene.run(&format!("outdated {FROM}")).text, @"
    exit code: 0
    ----- stdout -----
    provider                          locked  admitted  newest
    registry.example.com/acme/gone    -       -         -
    registry.example.com/acme/widget  1.4.0   1.5.0     1.5.0

    registry.example.com/acme/gone
      unknown   there is no provider registry.example.com/acme/gone at [REGISTRY]/acme/gone
      hint      check the name; `tofu-oci resolve registry.example.com/acme/gone --explain --from
                '[REGISTRY]/${namespace}/${type}'` says where it is looked for

    registry.example.com/acme/widget
      from      [REGISTRY]/acme/widget
      upgrade   1.4.0 to 1.5.0: tofu-oci install --upgrade --from '[REGISTRY]/${namespace}/${type}'

    ----- stderr -----
    ");
    let said = scene.run(&format!("outdated {FROM} --json"));
    assert_eq!(check(&said), ["outdated", "outdated"]);
    assert_eq!(said.json()[0]["state"], serde_json::Value::Null);
}

#[test]
fn a_constraint_that_nothing_meets_and_a_version_that_is_gone_are_named() {
    let scene = Scene::published();
    locked(&scene, "~> 7.0");
    assert_snapshot!(scene.run(&format!("outdated {FROM}")).text, @"
    exit code: 0
    ----- stdout -----
    provider                          locked  admitted  newest
    registry.example.com/acme/widget  1.4.0   -         1.4.0

    registry.example.com/acme/widget
      from      [REGISTRY]/acme/widget
      upgrade   no version that is offered meets `~> 7.0`
      held      1.4.0 is not admitted by `~> 7.0` of the root module (main.tf:3:5)

    ----- stderr -----
    ");
    let lock = scene.context.read(".terraform.lock.hcl").replace("1.4.0", "1.9.0");
    scene.context.write(".terraform.lock.hcl", lock);
    require(&scene, &[("widget", "~> 1.0")]);
    assert_snapshot!(scene.run(&format!("outdated {FROM}")).text, @"
    exit code: 0
    ----- stdout -----
    provider                          locked  admitted  newest
    registry.example.com/acme/widget  1.9.0   1.4.0     1.4.0

    registry.example.com/acme/widget
      from      [REGISTRY]/acme/widget
      gone      1.9.0 is locked and not offered any more: a machine that lacks the package fails
      upgrade   1.9.0 back to 1.4.0, the newest that is offered and admitted: tofu-oci install --upgrade
                --from '[REGISTRY]/${namespace}/${type}'

    ----- stderr -----
    ");
}

#[test]
fn the_notice_about_the_locked_version_is_shown_with_its_reason() {
    let scene = Scene::published();
    locked(&scene, "~> 1.4");
    scene.deprecated("1.4.0", "use 1.5.0");
    assert_snapshot!(scene.run(&format!("outdated {FROM}")).text, @"
    exit code: 0
    ----- stdout -----
    provider                          locked  admitted  newest
    registry.example.com/acme/widget  1.4.0   1.4.0     1.4.0

    registry.example.com/acme/widget
      from      [REGISTRY]/acme/widget
      notice    1.4.0 is deprecated by its publisher: use 1.5.0

    ----- stderr -----
    ");
    assert_eq!(check(&scene.run(&format!("outdated {FROM} --json"))), ["outdated"]);
    let lock = scene.context.read(".terraform.lock.hcl").replace("1.4.0", "1.3.0");
    scene.context.write(".terraform.lock.hcl", lock);
    scene.withdrawn("1.3.0", "it deletes data");
    let said = scene.run(&format!("outdated {FROM} --exit-code"));
    assert_eq!(said.code, Some(1));
    assert_snapshot!(said.text, @"
    exit code: 1
    ----- stdout -----
    provider                          locked  admitted  newest
    registry.example.com/acme/widget  1.3.0   1.4.0     1.4.0

    registry.example.com/acme/widget
      from      [REGISTRY]/acme/widget
      notice    1.3.0 was withdrawn by its publisher: it deletes data
      upgrade   1.3.0 to 1.4.0: tofu-oci install --upgrade --from '[REGISTRY]/${namespace}/${type}'

    ----- stderr -----
    ");
}

#[test]
fn the_version_that_would_be_chosen_is_looked_into() {
    let scene = Scene::published();
    locked(&scene, ">= 1.4");
    let image = scene.registry.put_manifest("acme/widget", "application/vnd.oci.image.manifest.v1+json", "{}");
    scene.registry.put_tag("acme/widget", "2.0.0", &image);
    assert_snapshot!(scene.run(&format!("outdated {FROM}")).text, @"
    exit code: 0
    ----- stdout -----
    provider                          locked  admitted  newest
    registry.example.com/acme/widget  1.4.0   2.0.0     2.0.0

    registry.example.com/acme/widget
      from      [REGISTRY]/acme/widget
      broken    2.0.0 would be chosen and cannot be installed: this is a single manifest, not a provider
                release: expected an image index with a package for each platform

    ----- stderr -----
    ");
}

#[test]
fn of_two_methods_the_one_that_serves_is_named() {
    let scene = Scene::published_over_tls();
    locked(&scene, ">= 1.4");
    scene.dist("dist-1.4.1", "1.4.1");
    for place in ["acme", "other"] {
        scene.run(&format!("push dist-1.4.1 REGISTRY/{place}/widget --address {WIDGET}")).success();
    }
    scene.home_file(".tofurc", crate::cli_config::TWO_MIRRORS);
    assert_snapshot!(scene.run("outdated").text, @"
    exit code: 0
    ----- stdout -----
    provider                          locked  admitted  newest
    registry.example.com/acme/widget  1.4.0   1.4.1     1.4.1

    registry.example.com/acme/widget
      from      [REGISTRY]/acme/widget
      upgrade   1.4.0 to 1.4.1: tofu-oci install --upgrade

    ----- stderr -----
    ");
}

#[test]
fn a_private_registry_is_asked_with_the_login_of_the_user() {
    let scene = Scene::with(basic());
    scene.context.write_home(".docker/config.json", scene.auths().to_string());
    scene.publish("1.4.0");
    locked(&scene, "~> 1.4");
    assert_eq!(scene.run(&format!("outdated {FROM} --exit-code")).code, Some(0));
    let said = scene.run(&format!("outdated {FROM} --anonymous --json"));
    assert_eq!((said.code, &said.json()[0]["state"]), (Some(0), &serde_json::Value::Null));
}

#[test]
fn a_folder_without_a_configuration_is_refused() {
    let scene = Scene::new();
    assert_snapshot!(scene.refuse("outdated"), @"
    exit code: 2
    ----- stdout -----

    ----- stderr -----
    error: there is no configuration in .

    hint: name the directory of the configuration: --chdir DIR
    ");
    assert_snapshot!(scene.refuse("outdated --chdir nowhere"), @"
    exit code: 2
    ----- stdout -----

    ----- stderr -----
    error: there is no directory nowhere

    hint: --chdir names the directory that holds the configuration and its lock file
    ");
}

#[test]
fn a_configuration_whose_modules_are_not_installed_was_called_up_to_date() {
    let scene = Scene::published();
    let module =
        |name: &str| format!("module \"{name}\" {{\n  source = \"oci://r.example.test/acme/network?tag=1.4.0\"\n}}\n");
    scene.context.write("far/main.tf", module("n"));
    let words = ["error: what the configuration in far requires is not known: module.n (", "first\n"];
    refuse(&scene, "outdated --chdir far", &words);
    refuse(&scene, "outdated --chdir far --exit-code", &words);
    refuse(&scene, "bundle create b.tar --from-config far", &words);
    // What is known is printed, and says no more than that.
    locked(&scene, ">= 1.4");
    let main = scene.context.read("main.tf");
    scene.context.write("main.tf", main + &module("n"));
    let said = scene.run(&format!("outdated {FROM} --exit-code"));
    assert_eq!(
        (said.code, &*said.stdout),
        (Some(1), "the one provider that is known is up to date\n"),
        "{}",
        said.text
    );
}

#[test]
fn why_a_host_gives_no_answer_was_hidden() {
    let scene = Scene::new();
    require(&scene, &[("gone", "~> 1.0")]);
    let said = scene.run("outdated").success();
    for want in [
        "  unknown   nothing can be installed from registry.example.com\n",
        "  cause     https://registry.example.com/.well-known/terraform.json: failed to lookup",
    ] {
        assert!(said.stdout.contains(want), "{}", said.text);
    }
    assert_eq!(scene.run("outdated --json").json()[0]["causes"].as_array().map(Vec::len), Some(2));
}
