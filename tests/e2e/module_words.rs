//! What is said to those who mistake how modules are named, and what there is.

use insta::assert_snapshot;

use crate::setup::Scene;
use crate::words::refuse;

/// The error and its hints.
fn said(scene: &Scene, line: &str) -> String {
    let said = scene.run(line);
    let text = said.text.split("----- stderr -----\n").nth(1).unwrap_or_default();
    format!("{}: {}", said.code.unwrap_or(-1), text.trim_end())
}

#[test]
fn check_finds_out_itself_that_a_repository_holds_modules() {
    let scene = Scene::with_network();
    let module = scene.run("check --module REGISTRY/acme/network");
    assert_eq!(scene.run("check REGISTRY/acme/network").text, module.text);
    let one = scene.run("check REGISTRY/acme/network:1.4.0");
    assert!(one.stdout.contains("1 module looked at"), "{}", one.text);
    assert_snapshot!(said(&scene, "check REGISTRY/acme/network --platform linux_amd64"), @"
    2: error: --platform is for providers, and [REGISTRY]/acme/network holds modules

    hint: omit it
    ");
}

#[test]
fn a_repository_that_is_not_there_is_not_a_missing_tag() {
    let scene = Scene::with_network();
    assert_snapshot!(said(&scene, "module pull 'oci://REGISTRY/acme/netwrk?tag=1.4.0' out"), @"
    1: error: there is no repository [REGISTRY]/acme/netwrk

    hint: check the name; some registries also say this to those who may not read the repository
    ");
    assert_snapshot!(said(&scene, "module pull oci:nosuch:1.0.0 out"), @"
    1: error: there is no repository oci:nosuch

    hint: check the name; an OCI image layout directory holds a file named oci-layout, and `tofu-oci module push DIR oci:DIR --version V` makes one
    ");
}

#[test]
fn a_repository_in_another_form_is_answered_with_the_source() {
    let scene = Scene::with_network();
    assert_snapshot!(said(&scene, "module pull oci://REGISTRY/acme/network:1.4.0 out"), @"
    2: error: `oci://[REGISTRY]/acme/network:1.4.0` is not a module in an OCI repository: between oci:// and `?` there must be HOST[:PORT]/NAME, without a tag and a digest; a tag and a digest are arguments after `?`

    hint: a repository is written 'oci://[REGISTRY]/acme/network?tag=1.4.0'
    ");
}

#[test]
fn verbs_about_versions_take_the_source_of_a_module() {
    let scene = Scene::with_network();
    scene.key("p256.pem");
    scene.key("p256.pub");
    scene.run("sign 'oci://REGISTRY/acme/network?tag=1.4.0' --key p256.pem").success();
    scene.run("verify 'oci://REGISTRY/acme/network?tag=1.4.0' --key p256.pub").success();
    scene.run("deprecate 'oci://REGISTRY/acme/network?tag=1.4.0' --message 'use 1.5.0'").success();
    scene.run("withdraw 'oci://REGISTRY/acme/network?tag=1.4.0' --reason wrong").success();
    assert_eq!(scene.tags_of("acme/network"), ["1.5.0", "deprecated-1.4.0", "withdrawn-1.4.0"]);
    assert_snapshot!(said(&scene, "withdraw 'oci://REGISTRY/acme/network' --reason wrong"), @"
    2: error: `oci://[REGISTRY]/acme/network` names no version

    hint: write 'oci://[REGISTRY]/acme/network?tag=VERSION', such as 'oci://[REGISTRY]/acme/network?tag=1.4.0'
    hint: `tofu-oci module versions oci://[REGISTRY]/acme/network` lists what is there
    ");
    assert_snapshot!(said(&scene, "withdraw 'oci://REGISTRY/acme/network//dns?tag=1.5.0' --reason wrong"), @"
    2: error: `oci://[REGISTRY]/acme/network//dns?tag=1.5.0` names a folder, and `withdraw` is about whole packages

    hint: write [REGISTRY]/acme/network:VERSION, such as [REGISTRY]/acme/network:1.4.0
    hint: `tofu-oci module versions oci://[REGISTRY]/acme/network` lists what is there
    ");
    assert_snapshot!(said(&scene, "verify REGISTRY/acme/network --key p256.pub"), @"
    2: error: no version of [REGISTRY]/acme/network is named, and the lock file has none

    hint: if [REGISTRY]/acme/network is a repository: [REGISTRY]/acme/network:VERSION; `tofu-oci module versions oci://[REGISTRY]/acme/network` lists those of a module
    hint: if it is a provider, name a version: [REGISTRY]/acme/network@VERSION
    hint: `tofu-oci versions [REGISTRY]/acme/network --provider` lists those of the provider
    ");
}

#[test]
fn verify_takes_the_address_of_a_mapped_module() {
    let scene = Scene::with_network();
    scene.key("p256.pem");
    scene.key("p256.pub");
    scene.run("sign REGISTRY/acme/network:1.4.0 --key p256.pem").success();
    let rule = format!(
        "[[module_mirror]]\ninclude = [\"r.example.test/acme/network/aws\"]\nrepository_template = \"{}/${{namespace}}/${{name}}\"\n",
        scene.registry.address()
    );
    scene.context.write("modules.toml", rule);
    let verified = scene.run("verify r.example.test/acme/network/aws@1.4.0 --key p256.pub").success();
    assert!(verified.stdout.contains("signed by p256.pub"), "{}", verified.text);
    assert_snapshot!(said(&scene, "verify r.example.test/acme/network/aws@9.0.0 --key p256.pub"), @"
    1: error: r.example.test/acme/network/aws has no version 9.0.0
      cause: modules.toml:1 maps r.example.test/acme/network/aws to [REGISTRY]/acme/network

    hint: it has 1.5.0, 1.4.0
    ");
}

#[test]
fn a_prerelease_is_no_example_beside_releases() {
    let scene = Scene::with_network();
    scene.push_module("REGISTRY/acme/network", "1.6.0-rc1", "");
    assert_snapshot!(said(&scene, "module pull oci://REGISTRY/acme/network out"), @"
    1: error: [REGISTRY]/acme/network has no tag latest

    hint: it has the versions 1.6.0-rc1, 1.5.0, 1.4.0
    hint: name one in the source, such as ?tag=1.5.0
    ");
}

#[test]
fn a_file_where_a_folder_belongs_is_wrong_usage() {
    let scene = Scene::with_network();
    scene.context.write("main.tf", "# a file\n");
    assert_snapshot!(said(&scene, "module push main.tf REGISTRY/acme/network --version 2.0.0"), @"
    2: error: main.tf is not a folder

    hint: name the folder with the module's .tf files
    ");
    assert_snapshot!(said(&scene, "push main.tf REGISTRY/acme/widget --address registry.example.com/acme/widget"), @"
    2: error: main.tf is not a folder

    hint: name the folder that holds the release files, such as dist
    ");
    assert_snapshot!(said(&scene, "module pull 'oci://REGISTRY/acme/network?tag=1.4.0' main.tf"), @"2: error: main.tf is a file, and a module is a folder");
    assert_snapshot!(said(&scene, "module lock main.tf"), @"
    2: error: main.tf is a file, not a directory

    hint: name its directory: tofu-oci module lock .
    ");
}

#[test]
fn the_ignore_file_that_counts_is_named() {
    let scene = Scene::with_network();
    scene.context.write("broken/sub/main.tf", "module {\n");
    scene.context.write("broken/.terraformignore", "docs/\n");
    assert_snapshot!(said(&scene, "module push broken REGISTRY/acme/network --version 2.0.0"), @"
    1: error: OpenTofu could not read this module: sub/main.tf:1:10: the file does not parse: invalid block body; expected `}`, newline or identifier

    hint: correct the file, or leave its folder out: a line in .terraformignore
    hint: to publish it all the same, add --skip-checks
    ");
}

#[test]
fn module_mirror_says_what_it_needs() {
    let scene = Scene::new();
    assert_snapshot!(said(&scene, "module mirror"), @"
    2: error: `module mirror` needs the modules that it brings, and there is no mirror.toml here

    hint: name them: tofu-oci module mirror registry.example.com/acme/network/aws --latest 1 --to 'ghcr.io/acme/modules/${namespace}/${name}-${target_system}'
    hint: or take those of a configuration: tofu-oci module mirror --from-config DIR --to oci:modules
    hint: or those of a bundle: tofu-oci module mirror --from bundle:FILE --to oci:modules
    hint: or write [[module]] in a mirror.toml: tofu-oci help module-mirroring
    ");
    assert_snapshot!(said(&scene, "module mirror --from-config nosuch --to oci:m"), @"
    2: error: there is no directory nosuch

    hint: --from-config names the directory that holds the configuration and its lock file
    ");
}

#[test]
fn serve_refuses_modules_of_a_bundle_with_the_way_on() {
    assert_snapshot!(said(&Scene::new(), "serve --modules-from bundle:modules.tar"), @"
    2: error: modules are served out of repositories and image layouts, and `bundle:modules.tar` is not one

    hint: bring its modules into image layouts first: tofu-oci module mirror --from bundle:modules.tar --to oci:DIR; then serve oci:DIR
    ");
}

#[test]
fn a_list_in_the_mapping_needs_brackets() {
    let scene = Scene::new();
    scene.context.write("modules.toml", "[[module_mirror]]\ninclude = \"*/*/*/*\"\nrepository_template = \"oci:m\"\n");
    assert_snapshot!(said(&scene, "module versions r.example.test/a/b/c"), @r#"
    2: error: "*/*/*/*" must be a list
      --> modules.toml:2:11
      |
    2 | include = "*/*/*/*"
      |           ^^^^^^^^^

    hint: write it in brackets: ["*/*/*/*"]
    hint: every member of the file: tofu-oci help modules
    "#);
}

#[test]
fn what_is_not_deprecated_gets_no_notice() {
    let scene = Scene::with_network();
    scene.run("deprecate REGISTRY/acme/network:1.4.0 --message 'use 1.5.0'").success();
    scene.run("deprecate REGISTRY/acme/network:1.4.0 --undo").success();
    assert_snapshot!(scene.run("deprecate REGISTRY/acme/network:1.4.0 --undo").text, @"
    exit code: 0
    ----- stdout -----
    the module 1.4.0 at [REGISTRY]/acme/network:1.4.0 is not deprecated; nothing was changed
      manifest sha256:[DIGEST]

    ----- stderr -----
    ");
}

#[cfg(unix)]
#[test]
fn a_git_host_that_is_not_found_is_a_matter_of_the_network() {
    use std::os::unix::fs::PermissionsExt as _;
    let scene = Scene::new();
    // The real program is not asked.
    let git = scene.context.write(
        "bin/git",
        "#!/bin/sh\necho \"fatal: unable to access 'https://x.example.test/a.git/': Could not resolve host: x.example.test\" >&2\nexit 128\n",
    );
    std::fs::set_permissions(&git, std::fs::Permissions::from_mode(0o755)).expect("a file of this test");
    let mut command = scene.command("module pull git::https://x.example.test/a.git out");
    command.env("PATH", scene.path("bin"));
    let said = scene.output(&mut command);
    assert_eq!(said.code, Some(3), "{}", said.text);
    assert_snapshot!(said.stderr, @"
    error: no module can be fetched from git::https://x.example.test/a.git
      cause: git says: fatal: unable to access 'https://x.example.test/a.git/': Could not resolve host: x.example.test

    hint: check the host name and the network, and run the same command again
    hint: git goes through the proxy of its own settings: git config http.proxy, or HTTPS_PROXY
    ");
}

#[test]
fn module_versions_listed_every_version_although_one_was_named() {
    let scene = Scene::with_network();
    for name in ["REGISTRY/acme/network:9.9.9", "'oci://REGISTRY/acme/network?tag=9.9.9'"] {
        let words = ["error: [REGISTRY]/acme/network has no version 9.9.9\n", "hint: it has 1.5.0, 1.4.0\n"];
        refuse(&scene, &format!("module versions {name}"), &words);
    }
    assert_eq!(scene.run("module versions REGISTRY/acme/network:1.4.0").stdout, "1.4.0\n");
    // As modules, also where the version is missing.
    let said = scene.run("check REGISTRY/acme/network:9.9.9");
    assert!(said.stdout.contains("error[module-missing]"), "{}", said.text);
}

#[test]
fn a_repository_that_is_missing_read_as_a_missing_tag() {
    let scene = Scene::with_network();
    scene.context.write(
        "live/main.tf",
        "module \"m\" {\n  source = \"oci://REGISTRY/acme/absent?tag=1.4.0\"\n}\n"
            .replace("REGISTRY", scene.registry.address()),
    );
    for line in [
        "verify REGISTRY/acme/absent:1.4.0",
        "check --module REGISTRY/acme/absent:1.4.0",
        "check --module 'oci://REGISTRY/acme/absent?tag=1.4.0'",
        "module pull 'oci://REGISTRY/acme/absent?tag=1.4.0' out",
        "module lock live",
        "module mirror 'oci://REGISTRY/acme/absent?tag=1.4.0' --as a.example/b/c/d --to oci:out",
    ] {
        let said = scene.run(line).text;
        assert!(said.contains("there is no repository [REGISTRY]/acme/absent"), "{line}: {said}");
        assert!(!said.contains("has no tag 1.4.0"), "{line}: {said}");
    }
}
