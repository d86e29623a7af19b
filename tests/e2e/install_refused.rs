//! `install`: what is not offered, and wrong usage.

use insta::assert_snapshot;

use crate::setup::{Scene, State, WIDGET};

#[test]
fn what_is_not_offered_is_refused() {
    let scene = Scene::published();
    let install = |what: &str| scene.refuse(&format!("install {what} --from REGISTRY/acme/widget"));
    assert_snapshot!(install(&format!("{WIDGET} --platform windows_amd64")), @"
    exit code: 1
    ----- stdout -----

    ----- stderr -----
    error: registry.example.com/acme/widget 1.4.0 has no package for windows_amd64
      cause: asked [REGISTRY]/acme/widget

    hint: this release offers darwin_arm64, linux_amd64
    ");
    assert_snapshot!(install(&format!("'{WIDGET}@~> 2.0' --platform linux_amd64")), @"
    exit code: 1
    ----- stdout -----

    ----- stderr -----
    error: registry.example.com/acme/widget has no version that meets `~> 2.0`
      cause: asked [REGISTRY]/acme/widget

    hint: it has 1.4.0
    ");
    assert_snapshot!(install(&format!("{WIDGET}@1.3.0 --platform linux_amd64")), @"
    exit code: 1
    ----- stdout -----

    ----- stderr -----
    error: registry.example.com/acme/widget has no version that meets `1.3.0`
      cause: asked [REGISTRY]/acme/widget

    hint: it has 1.4.0
    ");
    let missing = format!("install {WIDGET} --from REGISTRY/acme/gadget --platform linux_amd64");
    assert_snapshot!(scene.refuse(&missing), @"
    exit code: 1
    ----- stdout -----

    ----- stderr -----
    error: there is no provider registry.example.com/acme/widget at [REGISTRY]/acme/gadget

    hint: check the name; `tofu-oci resolve registry.example.com/acme/widget --explain --from [REGISTRY]/acme/gadget --platform linux_amd64` says where it is looked for
    ");
    assert_snapshot!(scene.refuse(&format!("install {WIDGET} --platform linux_amd64")), @"
    exit code: 3
    ----- stdout -----

    ----- stderr -----
    error: registry.example.com/acme/widget: nothing can be installed from registry.example.com
      cause: https://registry.example.com/.well-known/terraform.json: failed to lookup address information: [REASON]
      cause: by direct (implicit)

    hint: say which repository holds the provider with --from REPOSITORY
    hint: or check the host name and the network; --ca-file FILE trusts a private certificate authority
    hint: for a host that is only a name, write an oci_mirror: see `tofu-oci config add --help`
    ");
}

#[test]
fn wrong_usage_of_install() {
    let scene = Scene::published();
    let from = "--from REGISTRY/acme/widget";
    assert_snapshot!(scene.refuse(&format!("install a/b/c/d {from}")), @"
    exit code: 2
    ----- stdout -----

    ----- stderr -----
    error: `a/b/c/d` is not a provider address: it must read [HOST/]NAMESPACE/TYPE

    hint: write HOST/NAMESPACE/TYPE, such as registry.example.com/acme/widget
    ");
    assert_snapshot!(scene.refuse(&format!("install '{WIDGET}@not a version' {from}")), @"
    exit code: 2
    ----- stdout -----

    ----- stderr -----
    error: `not a version` is not a version constraint: its parts are versions, with or without an operator, separated by commas

    hint: write @1.4.0, @'~> 1.4' or @'>= 1.2, < 2.0', quoted for your shell
    ");
    assert_snapshot!(scene.refuse(&format!("install {WIDGET}@v1.4.0 {from}")), @"
    exit code: 2
    ----- stdout -----

    ----- stderr -----
    error: `v1.4.0` is not a version constraint: versions are written without a v before them

    hint: write registry.example.com/acme/widget@1.4.0
    ");
    assert_snapshot!(scene.refuse(&format!("install {WIDGET} acme/gadget {from}")), @"
    exit code: 2
    ----- stdout -----

    ----- stderr -----
    error: registry.example.com/acme/widget and registry.opentofu.org/acme/gadget would both come from [REGISTRY]/acme/widget

    hint: give a template: --from 'REGISTRY/${namespace}/${type}'
    ");
    assert_snapshot!(scene.refuse(&format!("install {WIDGET} {from} --chdir missing")), @"
    exit code: 2
    ----- stdout -----

    ----- stderr -----
    error: there is no directory missing

    hint: --chdir names the directory that holds the configuration and its lock file
    ");
    assert_snapshot!(scene.refuse(&format!("install {WIDGET} {from} --platform linux_amd64 --platform darwin_arm64")), @"
    exit code: 2
    ----- stdout -----

    ----- stderr -----
    error: .terraform/providers is for one platform

    hint: install for several platforms with --vendor or --into DIR
    ");
    assert_snapshot!(scene.refuse(&format!("install {from}")), @"
    exit code: 2
    ----- stdout -----

    ----- stderr -----
    error: there is no configuration in .

    hint: name the directory of the configuration: --chdir DIR
    hint: or name a provider: tofu-oci install HOST/NAMESPACE/TYPE --from [REGISTRY]/acme/widget
    ");
    scene.context.write("main.tf", "terraform {\n  required_providers {\n    widget = {\n");
    assert_snapshot!(scene.refuse(&format!("install {from}")), @"
    exit code: 2
    ----- stdout -----

    ----- stderr -----
    error: ./main.tf:3:5: the file does not parse: invalid block body; expected `}`, newline or identifier

    hint: correct the file, or name the providers on the command line instead
    ");
}

#[test]
fn the_repository_of_another_provider_is_said_to_be_one() {
    let scene = Scene::published();
    let line = "install registry.example.com/acme/other@1.4.0 --from REGISTRY/acme/widget --platform linux_amd64";
    assert_snapshot!(scene.refuse(line), @"
    exit code: 1
    ----- stdout -----

    ----- stderr -----
    note: [REGISTRY]/acme/widget has 1.4.0 as registry.example.com/acme/widget, not as registry.example.com/acme/other
      hint: check the address and the place
    error: the package of registry.example.com/acme/other 1.4.0 for linux_amd64 cannot be installed
      cause: the package has no executable `terraform-provider-other`
      cause: it came from [REGISTRY]/acme/widget

    hint: [REGISTRY]/acme/widget holds the provider widget; check the address and the place
    hint: nothing of it was installed
    ");
}

#[test]
fn a_mirror_under_another_address_is_installed_with_a_note() {
    let scene = Scene::published();
    let line = "install registry.example.net/mirror/widget --from REGISTRY/acme/widget --into mirror \
                --platform linux_amd64 --platform darwin_arm64";
    let said = scene.run(line).success();
    assert_eq!(said.stderr.matches("note: ").count(), 1, "{}", said.text);
    let line = "install registry.example.net/mirror/widget --from REGISTRY/acme/widget --platform linux_amd64";
    std::fs::remove_file(scene.path(".terraform.lock.hcl")).expect("it was written");
    assert_snapshot!(scene.run(line).text, @"
    exit code: 0
    ----- stdout -----
    installed registry.example.net/mirror/widget 1.4.0 linux_amd64
      .terraform/providers/registry.example.net/mirror/widget/1.4.0/linux_amd64
      published as registry.example.com/acme/widget
    lock file .terraform.lock.hcl created

    ----- stderr -----
    note: [REGISTRY]/acme/widget has 1.4.0 as registry.example.com/acme/widget, not as registry.example.net/mirror/widget
      hint: right for a mirror; otherwise check the address and the place
    registry.example.net/mirror/widget 1.4.0 linux_amd64: installed (323 B)
    note: the lock file has registry.example.net/mirror/widget 1.4.0 for linux_amd64 only; the release has darwin_arm64, too
      hint: to lock every platform: tofu-oci lock registry.example.net/mirror/widget --from [REGISTRY]/acme/widget
    ");
}

#[test]
fn one_of_two_providers_that_fails_leaves_the_lock_file_alone() {
    let scene = Scene::published();
    let line = format!(
        "install {WIDGET} registry.example.com/acme/gadget --from 'REGISTRY/${{namespace}}/${{type}}' \
         --platform linux_amd64"
    );
    let said = scene.run(&line);
    assert_snapshot!(said.text, @"
    exit code: 1
    ----- stdout -----

    ----- stderr -----
    registry.example.com/acme/widget 1.4.0 linux_amd64: installed (323 B)
    error: there is no provider registry.example.com/acme/gadget at [REGISTRY]/acme/gadget

    hint: check the name; `tofu-oci resolve registry.example.com/acme/gadget --explain --from '[REGISTRY]/${namespace}/${type}' --platform linux_amd64` says where it is looked for
    hint: packages that were complete stay; the lock file is as it was
    ");
    assert!(!scene.path(".terraform.lock.hcl").exists());
    assert_eq!(State::of(&scene).temp(), Vec::<&str>::new());
}

#[test]
fn where_prereleases_alone_are_the_hint_says_how_one_is_installed() {
    let scene = Scene::new();
    scene.publish("1.0.0-rc.1");
    let said = scene.run(&format!("install {WIDGET} --from REGISTRY/acme/widget"));
    assert_eq!(said.code, Some(1), "{}", said.text);
    let hint = format!("hint: a prerelease is installed only by its exact version: {WIDGET}@1.0.0-rc.1, or version");
    assert!(said.stderr.contains(&hint), "{}", said.text);
    scene.run(&format!("install {WIDGET}@1.0.0-rc.1 --from REGISTRY/acme/widget")).success();
}

#[test]
fn a_trust_rule_is_not_gone_around_under_another_address() {
    let scene = Scene::published();
    scene.trust("");
    let line = "install registry.example.net/mirror/widget --from REGISTRY/acme/widget --platform linux_amd64";
    assert_snapshot!(scene.refuse(line), @"
    exit code: 1
    ----- stdout -----

    ----- stderr -----
    error: [REGISTRY]/acme/widget has 1.4.0 as registry.example.com/acme/widget, not as registry.example.net/mirror/widget

    hint: by its own address: tofu-oci install registry.example.com/acme/widget --from [REGISTRY]/acme/widget --platform linux_amd64
    hint: check the address and the repository
    hint: if it is meant to be renamed, add --rename
    ");
    let said = scene.run(&format!("{line} --rename")).success();
    assert!(said.stderr.contains("not as registry.example.net/mirror/widget"), "{}", said.text);
    let pins: serde_json::Value = serde_json::from_str(&scene.context.read(".tofu-oci.pins.json")).expect("JSON");
    assert_eq!(pins["providers"][0]["published_as"], WIDGET);
}

/// `verify` offered `--predecessor` where only the host was forgotten.
#[test]
fn an_address_without_its_host_is_answered_with_the_host_first() {
    let scene = Scene::published();
    for verb in ["verify acme/widget@1.4.0", "install acme/widget@1.4.0", "lock acme/widget"] {
        let said = scene.refuse(&format!("{verb} --from REGISTRY/acme/widget"));
        let hint = said.lines().find(|line| line.starts_with("hint: ")).unwrap_or_default();
        let own = verb.replacen("acme", "registry.example.com/acme", 1);
        assert_eq!(hint, format!("hint: by its own address: tofu-oci {own} --from [REGISTRY]/acme/widget"), "{said}");
    }
}

#[test]
fn a_predecessor_is_installed_without_a_note_although_a_rule_is_for_one_of_both() {
    let scene = Scene::published();
    scene.trust("unsigned = \"allow\"");
    let line = "install registry.example.net/acme/widget --from REGISTRY/acme/widget --platform linux_amd64";
    assert_eq!(scene.run(line).code, Some(1));
    let said = scene.run(&format!("{line} --predecessor registry.example.net=registry.example.com")).success();
    assert!(!said.stderr.contains("not as"), "{}", said.text);
}

#[test]
fn a_signature_for_the_predecessor_counts() {
    let scene = Scene::published();
    scene.trust("");
    scene.sign("acme/widget", "registry.example.net/acme/widget", "1.4.0");
    let line = format!("install {WIDGET} --from REGISTRY/acme/widget --platform linux_amd64");
    let said = scene.run(&line);
    assert!(said.code == Some(1) && said.stderr.contains("is not trusted"), "{}", said.text);
    scene.run(&format!("{line} --predecessor registry.example.com=registry.example.net")).success();
}

/// The release says the address under the other host, and only that one has a rule.
const PREDECESSOR: &str = "--predecessor registry.example.net=registry.example.com";

#[test]
fn a_trust_rule_is_not_gone_around_under_the_host_of_a_predecessor() {
    let scene = Scene::published();
    scene.trust("");
    let from = format!("registry.example.net/acme/widget@1.4.0 --from REGISTRY/acme/widget {PREDECESSOR}");
    let lines = [
        format!("install {from} --platform linux_amd64"),
        format!("lock {from}"),
        format!("mirror {from} --to oci:mirrored"),
        format!("bundle create b.tar {from}"),
        format!("verify {from}"),
        format!("verify {from} --accept"),
    ];
    for line in &lines {
        let said = scene.run(line);
        assert_eq!(said.code, Some(1), "{line}\n{}", said.text);
        let refused = "registry.example.com/acme/widget 1.4.0 is not trusted: it is not signed";
        assert!(said.text.contains(refused), "{line}\n{}", said.text);
        assert!(!scene.path(".tofu-oci.pins.json").exists(), "{line} remembered what it refuses");
    }
    scene.sign("acme/widget", WIDGET, "1.4.0");
    for line in &lines[..4] {
        scene.run(line).success();
    }
}

#[test]
fn two_hosts_of_one_repository_were_refused_in_spite_of_predecessors() {
    let scene = Scene::published();
    let both = format!("{WIDGET} registry.example.net/acme/widget");
    let from = "--from 'REGISTRY/${namespace}/${type}' --platform linux_amd64";
    assert_snapshot!(scene.refuse(&format!("install {both} {from}")), @"
    exit code: 2
    ----- stdout -----

    ----- stderr -----
    error: registry.example.com/acme/widget and registry.example.net/acme/widget would both come from [REGISTRY]/acme/widget

    hint: give a template: --from 'REGISTRY/${hostname}/${namespace}/${type}'
    hint: if the hosts share the repository: --predecessor registry.example.net=registry.example.com
    ");
    for verb in ["install", "lock"] {
        scene.run(&format!("{verb} {both} {from} {PREDECESSOR}")).success();
    }
    let mirror = "provider_installation {\n  oci_mirror {\n    repository_template = \"REGISTRY/${namespace}/${type}\"\n    include = [\"registry.example.com/*/*\"]\n  }\n  oci_mirror {\n    repository_template = \"REGISTRY/${namespace}/${type}\"\n    include = [\"registry.example.net/*/*\"]\n  }\n}\n";
    scene.home_file(".tofurc", mirror);
    let said = scene.run(&format!("install {both} --platform linux_amd64"));
    assert!(said.code == Some(2) && said.stderr.contains("--predecessor"), "{}", said.text);
    scene.run(&format!("install {both} --platform linux_amd64 {PREDECESSOR}")).success();
}
