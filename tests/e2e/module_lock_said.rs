//! `module lock`: what it says of comments, doubled sources and withdrawn versions.

use insta::assert_snapshot;
use tofu_oci_testkit::{Behaviour, Deletion};

use crate::setup::Scene;

/// A registry with two versions of a module.
fn scene() -> Scene {
    let scene = Scene::new();
    for version in ["1.4.0", "1.5.0"] {
        scene.context.write("network/main.tf", format!("# {version}\n"));
        scene.run(&format!("module push network REGISTRY/acme/network --version {version}")).success();
    }
    scene
}

fn write(scene: &Scene, name: &str, text: &str) {
    scene.context.write(name, text.replace("REGISTRY", scene.registry.address()));
}

#[test]
fn a_comment_that_was_meant_for_a_version_is_named() {
    let scene = scene();
    let call = |name: &str, comment: &str| {
        format!("module \"{name}\" {{\n  source = \"oci://REGISTRY/acme/network?tag=1.4.0\" # {comment}\n}}\n")
    };
    let calls = call("open", "1.4.0 (<1.4.2") + &call("letter", "v1.4.0") + &call("own", "ask Bob");
    write(&scene, "main.tf", &calls);
    assert_snapshot!(scene.run("module lock --dry-run").text.replace(scene.registry.address(), "REGISTRY"), @"
    exit code: 0
    ----- stdout -----
    main.tf:2:12: module.open: pinned to 1.4.0 of [REGISTRY]/acme/network
      - oci://[REGISTRY]/acme/network?tag=1.4.0
      + oci://[REGISTRY]/acme/network?digest=sha256:[DIGEST] # 1.4.0
    main.tf:5:12: module.letter: pinned to 1.4.0 of [REGISTRY]/acme/network
      - oci://[REGISTRY]/acme/network?tag=1.4.0
      + oci://[REGISTRY]/acme/network?digest=sha256:[DIGEST] # 1.4.0
    main.tf:8:12: module.own: pinned to 1.4.0 of [REGISTRY]/acme/network
      - oci://[REGISTRY]/acme/network?tag=1.4.0
      + oci://[REGISTRY]/acme/network?digest=sha256:[DIGEST] # 1.4.0
    would write main.tf: 3 of 3 calls changed

    ----- stderr -----
    warning: main.tf:2:12: module.open: the comment `1.4.0 (<1.4.2` is not a version with a constraint, so it stays as it is
      hint: a comment that names one reads: # 1.4.0 (~> 1.4)
    warning: main.tf:5:12: module.letter: the comment `v1.4.0` is not a version with a constraint, so it stays as it is
      hint: a comment that names one reads: # 1.4.0 (~> 1.4)
    ");
}

#[test]
fn a_source_that_stands_there_twice_in_json_is_refused() {
    let scene = scene();
    let text = "{\"module\": {\"m\": {\n  \"source\": \"oci://REGISTRY/acme/network?tag=1.4.0\",\n  \"source\": \"oci://REGISTRY/acme/network?tag=1.5.0\"\n}}}\n";
    write(&scene, "main.tf.json", text);
    assert_snapshot!(scene.run("module lock").text, @"
    exit code: 2
    ----- stdout -----

    ----- stderr -----
    error: main.tf.json:3:3: the module `m` has a `source` twice; keep one of the two

    hint: correct the file
    ");
    assert!(!scene.context.read("main.tf.json").contains("digest="));
}

#[test]
fn an_upgrade_that_steps_back_from_a_withdrawn_version_says_why() {
    let scene = scene();
    write(&scene, "main.tf", "module \"m\" {\n  source = \"oci://REGISTRY/acme/network?tag=1.5.0\"\n}\n");
    scene.run("module lock").success();
    scene.registry.set_behaviour(Behaviour { deletion: Deletion::Enabled, ..Behaviour::default() });
    scene.run("withdraw REGISTRY/acme/network:1.5.0 --reason 'opens port 22'").success();
    assert_snapshot!(scene.run("module lock --upgrade").text, @"
    exit code: 0
    ----- stdout -----
    main.tf:2:12: module.m: 1.5.0 -> 1.4.0 of [REGISTRY]/acme/network
      manifest sha256:[DIGEST]
    wrote main.tf: 1 of 1 calls changed

    ----- stderr -----
    warning: main.tf:2:12: module.m: 1.5.0 was withdrawn, so another version takes its place: opens port 22
    ");
}

#[cfg(unix)]
#[test]
fn a_folder_whose_name_is_not_utf8_is_locked() {
    use std::os::unix::ffi::OsStrExt as _;
    let scene = scene();
    let folder = std::path::Path::new(std::ffi::OsStr::from_bytes(b"net\xff"));
    let path = scene.path("").join(folder);
    std::fs::create_dir(&path).expect("a folder");
    std::fs::write(path.join("main.tf"), "# no calls\n").expect("a file");
    let said = scene.output(scene.command("module lock").arg(folder));
    assert!(!said.text.contains("UTF-8") && said.code == Some(0), "{}", said.text);
}

#[test]
fn the_folder_was_refused_as_chdir() {
    let scene = scene();
    write(&scene, "live/main.tf", "module \"m\" {\n  source = \"oci://REGISTRY/acme/network?tag=1.4.0\"\n}\n");
    for line in [
        "module lock --chdir live --dry-run",
        "--chdir live module lock --dry-run",
        "module lock --chdir . live --dry-run",
    ] {
        let said = scene.run(line).success();
        assert!(said.stdout.starts_with("live/main.tf:2:12: module.m: pinned to 1.4.0"), "{line}: {}", said.text);
    }
    let said = scene.run("module lock --chdir none");
    assert_eq!((said.code, said.stdout.as_str()), (Some(2), ""), "{}", said.text);
}

#[test]
fn a_repository_that_is_not_there_had_the_code_of_a_provider() {
    let scene = scene();
    write(&scene, "main.tf", "module \"m\" {\n  source = \"oci://REGISTRY/acme/none?tag=1.4.0\"\n}\n");
    let said = scene.run("module lock --check --json");
    assert!(said.stdout.contains("\"code\":\"module-not-found\""), "{}", said.text);
    assert!(!said.stdout.contains("provider-not-found"), "{}", said.text);
    let said = scene.run("module lock --json");
    assert_eq!(said.json().last().expect("an error")["code"], "module-not-found", "{}", said.text);
}
