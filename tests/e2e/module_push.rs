//! `module push`.

use insta::assert_snapshot;
use serde_json::Value;

use crate::json::check;
use crate::setup::{Scene, State};

/// A scene with a module in the folder `network`, and things that do not belong into a package.
fn with_module() -> Scene {
    let scene = Scene::new();
    for (name, text) in [
        ("main.tf", "module \"vpc\" {\n  source = \"./modules/vpc\"\n}\n"),
        ("modules/vpc/main.tf", "variable \"cidr\" {}\n"),
        ("README.md", "# Network\n"),
        ("run.sh", "#!/bin/sh\n"),
        ("notes/draft.md", "later\n"),
        (".tofuignore", "notes/\n"),
        (".terraform/modules/modules.json", "{}"),
        ("terraform.tfstate", "{}"),
        ("prod.auto.tfvars", "password = \"hunter2\"\n"),
    ] {
        scene.context.write(&format!("network/{name}"), text);
    }
    scene
}

#[test]
fn a_module_is_published_and_what_stays_out_is_named() {
    let scene = with_module();
    let line = "module push network REGISTRY/acme/network --version 1.4.0";
    assert_snapshot!(scene.run(&format!("{line} --dry-run")).text, @r#"
    exit code: 0
    ----- stdout -----
    would push the module 1.4.0 to [REGISTRY]/acme/network:1.4.0
      manifest sha256:[DIGEST]
      zip sha256:[DIGEST], 5 files, 600 B
      left out .terraform/: working data of `tofu init`
      left out notes/: line 1 of the ignore file
      left out prod.auto.tfvars: values of variables, which may be secret
      left out terraform.tfstate: a state or plan, which holds secrets
      source = "oci://[REGISTRY]/acme/network?tag=1.4.0"
      would send 1.4 kB

    ----- stderr -----
    "#);
    assert!(scene.registry.tags("acme/network").is_empty());
    assert_snapshot!(scene.run(line).text, @r#"
    exit code: 0
    ----- stdout -----
    pushed the module 1.4.0 to [REGISTRY]/acme/network:1.4.0
      manifest sha256:[DIGEST]
      zip sha256:[DIGEST], 5 files, 600 B
      left out .terraform/: working data of `tofu init`
      left out notes/: line 1 of the ignore file
      left out prod.auto.tfvars: values of variables, which may be secret
      left out terraform.tfstate: a state or plan, which holds secrets
      source = "oci://[REGISTRY]/acme/network?tag=1.4.0"
      sent 1.4 kB (3 new, 0 present)

    ----- stderr -----
    module 1.4.0: pushed (600 B)
    "#);
    let (_, manifest) = scene.registry.manifest("acme/network", "1.4.0").expect("the tag is there");
    let manifest: Value = serde_json::from_slice(&manifest).expect("the manifest is JSON");
    assert_eq!(manifest["artifactType"], "application/vnd.opentofu.modulepkg");
    assert_eq!(manifest["layers"][0]["mediaType"], "archive/zip");
    scene.registry.clear_requests();
    assert_snapshot!(scene.run(line).text, @r#"
    exit code: 0
    ----- stdout -----
    the module 1.4.0 is at [REGISTRY]/acme/network:1.4.0 already; nothing was sent
      manifest sha256:[DIGEST]
      zip sha256:[DIGEST], 5 files, 600 B
      left out .terraform/: working data of `tofu init`
      left out notes/: line 1 of the ignore file
      left out prod.auto.tfvars: values of variables, which may be secret
      left out terraform.tfstate: a state or plan, which holds secrets
      source = "oci://[REGISTRY]/acme/network?tag=1.4.0"

    ----- stderr -----
    "#);
    assert!(scene.conversation().iter().all(|request| !request.starts_with('P')), "{:?}", scene.conversation());
}

#[test]
fn every_line_is_what_the_documentation_says() {
    let scene = with_module();
    scene.key("p256.pem");
    let line = "module push network REGISTRY/acme/network:1.4.0 --json --sign-key p256.pem --source https://example.com/x \
                --revision 0123 --licenses MPL-2.0 --annotation org.opencontainers.image.created=2026-03-01T12:00:00Z";
    assert_eq!(check(&scene.run(&format!("{line} --dry-run"))), ["module-push-plan"]);
    let said = scene.run(line).success();
    assert_eq!(check(&said).last().map(String::as_str), Some("module-pushed"));
    let report = &said.json().pop().expect("the report");
    assert_eq!(report["annotations"]["org.opencontainers.image.revision"], "0123");
    assert_eq!(report["left_out"][0]["reason"], "working-data");
    assert_eq!(report["attachments"][0]["state"], "attached");
    // The digest is the same at every place.
    let packed = scene.run(&line.replace("REGISTRY/acme/network:1.4.0", "oci:layout:1.4.0")).success();
    let packed = packed.json().pop().expect("the report");
    assert_eq!((&packed["manifest"], &packed["outcome"]), (&report["manifest"], &Value::from("packed")));
    assert_eq!(packed["source"], Value::Null);
}

#[test]
fn what_was_changed_is_refused_under_the_same_version() {
    let scene = with_module();
    let line = "module push network oci:layout --version 1.4.0";
    scene.run(line).success();
    scene.context.write("network/new.tf", "");
    assert_snapshot!(scene.refuse(line), @"
    exit code: 1
    ----- stdout -----

    ----- stderr -----
    error: oci:layout has a tag 1.4.0 already: it points at a module with other files

    hint: publish the change as a new version: others have this one already
    hint: to move the tag all the same, add --replace-tag
    ");
    assert!(scene.run(&format!("{line} --replace-tag")).success().stdout.contains("\n  replaced sha256:"));
}

#[test]
fn what_opentofu_could_not_install_is_refused() {
    let scene = with_module();
    scene.context.write("network/up.tf", "module \"up\" {\n  source = \"../other\"\n}\n");
    let before = State::of(&scene);
    let line = "module push network REGISTRY/acme/network --version 1.4.0";
    assert_snapshot!(scene.refuse(line), @"
    exit code: 1
    ----- stdout -----

    ----- stderr -----
    error: OpenTofu could not read this module: up.tf:2:12: the call of `../other` leads out of the package

    hint: push the folder above, so that the package has both, and call this one with //FOLDER
    hint: to publish it all the same, add --skip-checks
    ");
    assert_snapshot!(scene.refuse("module push network REGISTRY/acme/network.zip --version 1.4.0"), @"
    exit code: 1
    ----- stdout -----

    ----- stderr -----
    error: OpenTofu could not install a module from [REGISTRY]/acme/network.zip
      cause: `oci://[REGISTRY]/acme/network.zip?tag=1.4.0` is not a module in an OCI repository: the repository ends in .zip, which OpenTofu takes for an archive; add archive=false

    hint: name a repository of another name: with this one every call would need archive=false
    ");
    assert_snapshot!(scene.refuse("module push gone REGISTRY/acme/network --version 1.4.0"), @"
    exit code: 1
    ----- stdout -----

    ----- stderr -----
    error: gone does not exist

    hint: name the folder with the module's .tf files
    ");
    assert_snapshot!(scene.refuse("module push REGISTRY/acme/network network --version 1.4.0"), @"
    exit code: 2
    ----- stdout -----

    ----- stderr -----
    error: `module push` takes the folder first, and then where it goes

    hint: tofu-oci module push network [REGISTRY]/acme/network --version 1.4.0
    ");
    assert_snapshot!(scene.refuse("module push network REGISTRY/acme/network"), @"
    exit code: 2
    ----- stdout -----

    ----- stderr -----
    error: the version of the module is missing

    hint: add it: tofu-oci module push network [REGISTRY]/acme/network --version 1.0.0
    ");
    assert_snapshot!(scene.refuse(&format!("{line} --annotation org.opentofu.module.version=2.0.0")), @"
    exit code: 1
    ----- stdout -----

    ----- stderr -----
    error: the annotation org.opentofu.module.version is written by the push itself

    hint: omit it; --version and the files say what it holds
    ");
    #[cfg(unix)]
    {
        let outside = scene.path("network/outside");
        std::os::unix::fs::symlink("../../outside", &outside).expect("a link");
        std::fs::write(scene.path("../outside"), "x").expect("a file");
        assert_snapshot!(scene.refuse(line), @"
        exit code: 1
        ----- stdout -----

        ----- stderr -----
        error: network cannot be published
          cause: `outside` is a link to `../../outside`, which lies outside of the module's folder

        hint: put a copy of the file in its place, or leave it out: a line in .tofuignore
        ");
        std::fs::remove_file(outside).expect("the link is there");
        std::fs::remove_file(scene.path("../outside")).expect("the file is there");
    }
    assert_eq!(State::of(&scene), before);
    scene.run(&format!("{line} --skip-checks")).success();
}

#[test]
fn the_time_of_the_source_is_that_of_the_environment() {
    let scene = with_module();
    let line = "module push network oci:layout --version 1.4.0 --json";
    let said = scene.output(scene.command(line).env("SOURCE_DATE_EPOCH", "1772366400")).success();
    let created = &said.json().pop().expect("the report")["annotations"]["org.opencontainers.image.created"];
    assert_eq!(created, "2026-03-01T12:00:00Z");
    assert_snapshot!(scene.refuse_with(scene.command(line).env("SOURCE_DATE_EPOCH", "yesterday")), @r#"
    exit code: 2
    ----- stdout -----
    {"event":"error","code":"usage","text":"SOURCE_DATE_EPOCH is not a number of seconds since 1970","causes":[],"hints":["unset it, or set it to such a number: git log -1 --format=%ct"]}

    ----- stderr -----
    error: SOURCE_DATE_EPOCH is not a number of seconds since 1970

    hint: unset it, or set it to such a number: git log -1 --format=%ct
    "#);
}

#[test]
fn a_token_in_a_file_of_the_module_was_published() {
    let scene = Scene::new();
    let token = ["ghp", "_Q7wE2rT9yU4iO1pAs8Df3Gh6Jk5Lz0XcVbNm"].concat();
    scene.context.write("network/main.tf", format!("locals {{\n  token = \"{token}\"\n}}\n"));
    scene.context.write("network/tests/a.txt", format!("x {token}\n"));
    scene.context.write("network/ID_RSA.bak", "x");
    let line = "module push network REGISTRY/acme/network --version 1.4.0";
    assert_snapshot!(scene.run(line).text, @"
    exit code: 1
    ----- stdout -----

    ----- stderr -----
    error: network cannot be published
      cause: main.tf:2 holds a token of GitHub
      cause: tests/a.txt:1 holds a token of GitHub too

    hint: remove it from the file, or exclude the file: the line /main.tf in .tofuignore
    hint: to publish a file as it is, since it holds no secret, write the line !/main.tf
    ");
    let json = scene.run(&format!("{line} --json"));
    check(&json);
    assert!(json.text.contains("module-secrets") && !json.text.contains(&token[4..]), "{}", json.text);
    assert!(scene.registry.tags("acme/network").is_empty());
    scene.context.write("network/.tofuignore", "!/main.tf\n/tests/a.txt\n");
    let said = scene.run(line).success();
    assert!(said.text.contains("left out ID_RSA.bak: passwords, tokens or private keys"), "{}", said.text);
    scene.context.write("network/.tofuignore", "*a".repeat(30_000));
    let said = scene.run(line);
    assert_eq!(said.code, Some(1), "{}", said.text);
    assert!(said.text.contains("line 1 of .tofuignore is not a pattern"), "{}", said.text);
}
