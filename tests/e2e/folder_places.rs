//! Folders of packages: filesystem mirrors, `--plugin-dir`, `--from static:DIR`; no network, no registry.

use std::fs;
use std::path::Path;

use crate::setup::{Said, Scene, WIDGET, copy};

const ZIP: &str = "terraform-provider-widget_1.4.0_linux_amd64.zip";
const PLACE: &str = ".terraform/providers/registry.example.com/acme/widget/1.4.0/linux_amd64";
const LOCK: &str = ".terraform.lock.hcl";

/// The folders `packed`, as `terraform providers mirror` writes it, and `unpacked`; the working directory requires widget.
fn folders() -> Scene {
    let scene = Scene::with_dist();
    scene.run(&format!("pack dist oci:lay --address {WIDGET}")).success();
    fs::create_dir_all(scene.path("else")).expect("a folder");
    for into in ["packed --packed", "unpacked"] {
        let platforms = "--platform linux_amd64 --platform darwin_arm64";
        scene.run(&format!("install {WIDGET} --from oci:lay --chdir else {platforms} --into {into}")).success();
    }
    let beside = |name: &str, text: &str| scene.context.write(&format!("packed/{WIDGET}/{name}"), text);
    beside("index.json", r#"{"versions":{"1.4.0":{},"9.9.9":{}}}"#);
    beside("1.4.0.json", "not json");
    scene.context.write(
        "main.tf",
        format!("terraform {{\n  required_providers {{\n    widget = {{ source = \"{WIDGET}\" }}\n  }}\n}}\n"),
    );
    scene
}

/// Runs `install` for `linux_amd64`.
fn install(scene: &Scene, place: &str) -> Said {
    scene.run(&format!("install --platform linux_amd64 {place}"))
}

/// The lines of the lock file, by their schemes.
fn schemes(scene: &Scene) -> Vec<String> {
    let lines = scene.context.read(LOCK);
    lines
        .lines()
        .filter_map(|line| line.trim().strip_prefix('"')?.split_once(':'))
        .map(|(scheme, _)| scheme.to_owned())
        .collect()
}

fn forget(scene: &Scene) {
    let _ = fs::remove_dir_all(scene.path(".terraform"));
    let _ = fs::remove_file(scene.path(LOCK));
}

#[track_caller]
fn refused(said: &Said, code: &str, scene: &Scene) {
    assert_ne!(said.code, Some(0), "{}", said.text);
    assert!(said.stdout.contains(&format!("\"code\":\"{code}\"")), "{code}: {}", said.text);
    assert!(!scene.path(PLACE).exists(), "nothing is installed");
}

#[test]
fn a_folder_is_installed_from_however_it_is_named() {
    let mut scene = folders();
    for folder in ["packed", "unpacked"] {
        let config = format!("provider_installation {{\n  filesystem_mirror {{\n    path = \"./{folder}\"\n  }}\n}}\n");
        let file = scene.context.write("rc.tfrc", config).display().to_string();
        for place in [format!("--plugin-dir {folder}"), format!("--from static:{folder}"), String::new()] {
            if place.is_empty() {
                scene.context.env("TF_CLI_CONFIG_FILE", &file);
            }
            install(&scene, &place).success();
            assert!(scene.path(PLACE).join("terraform-provider-widget_v1.4.0").exists(), "{folder} {place}");
            assert_eq!(scene.path(PLACE).is_symlink(), folder == "unpacked", "{folder} {place}");
            assert_eq!(schemes(&scene), ["h1"], "as OpenTofu records it");
            let again = install(&scene, &place).success();
            assert!(again.stdout.contains("already installed"), "{}", again.text);
            forget(&scene);
        }
    }
}

#[test]
fn names_that_are_nearly_right_were_passed_over_without_a_word() {
    let scene = folders();
    let moved = ZIP.replace("_1.4.0", "_v1.4.0");
    fs::rename(scene.path(&format!("packed/{WIDGET}/{ZIP}")), scene.path(&format!("packed/{moved}"))).expect("a zip");
    let said = scene.run(&format!("resolve {WIDGET} --explain --from static:packed --json"));
    let lines = said.json();
    assert_eq!(lines[0]["nearly"], serde_json::json!([moved]), "{}", said.text);
    let said = scene.run(&format!("resolve {WIDGET} --explain --from static:packed"));
    let text: Vec<&str> = said.stdout.split_whitespace().collect();
    assert!(text.contains(&moved.as_str()) && text.contains(&format!("{WIDGET}/{ZIP}").as_str()), "{}", said.text);
}

#[test]
fn a_package_whose_program_is_a_zip_was_installed_without_a_word() {
    let scene = folders();
    let place = format!("{WIDGET}/1.4.0/linux_amd64");
    fs::remove_dir_all(scene.path(&format!("unpacked/{place}"))).expect("a folder");
    fs::create_dir_all(scene.path(&format!("unpacked/{place}"))).expect("a folder");
    let to = scene.path(&format!("unpacked/{place}/{ZIP}"));
    fs::copy(scene.path(&format!("packed/{WIDGET}/{ZIP}")), to).expect("a zip");
    let said = install(&scene, "--from static:unpacked").success();
    assert!(said.stderr.contains("holds a zip archive in place of its program"), "{}", said.text);
}

#[test]
fn every_verb_that_reads_takes_a_folder() {
    let scene = folders();
    for line in [
        format!("versions {WIDGET} --from static:packed"),
        format!("show {WIDGET}@1.4.0 --from static:unpacked"),
        format!("resolve {WIDGET} --from static:packed"),
        format!("resolve {WIDGET} --plugin-dir packed --explain"),
        "providers --plugin-dir packed".to_owned(),
        "lock --from static:packed".to_owned(),
        "lock --check --from static:packed".to_owned(),
        "outdated --from static:packed".to_owned(),
    ] {
        scene.run(&line).success();
    }
    assert_eq!(schemes(&scene), ["h1", "h1"], "both platforms");
}

#[test]
fn a_lock_file_is_held_against_zips_and_folders() {
    let scene = folders();
    install(&scene, "--from oci:lay").success();
    let lock = scene.context.read(LOCK);
    let without =
        |scheme: &str| lock.lines().filter(|line| !line.contains(scheme)).collect::<Vec<_>>().join("\n") + "\n";
    let (no_h1, no_zh) = (without("\"h1:").replace("\"ch:", "\"x9:"), without("\"zh:"));
    for (text, place, fits) in [
        (&lock, "packed", true),
        (&lock, "unpacked", true),
        (&no_zh, "packed", true),
        (&no_zh, "unpacked", true),
        (&no_h1, "packed", true),
        // OpenTofu links it unchecked.
        (&no_h1, "unpacked", false),
    ] {
        forget(&scene);
        scene.context.write(LOCK, text);
        let said = install(&scene, &format!("--json --from static:{place}"));
        if fits {
            said.success();
        } else {
            refused(&said, "lock-mismatch", &scene);
            assert_eq!(&scene.context.read(LOCK), text);
        }
    }
    forget(&scene);
    scene.context.write(LOCK, no_h1.replace("zh:", "zh:0"));
    refused(&install(&scene, "--json --from static:packed"), "lock-mismatch", &scene);
}

#[cfg(unix)]
#[test]
fn odd_packages_are_refused_and_never_waited_for() {
    let scene = folders();
    let own = scene.path(&format!("packed/{WIDGET}/{ZIP}"));
    let json = "--json --from static:packed";
    fs::remove_file(&own).expect("the zip");
    assert!(std::process::Command::new("mkfifo").arg(&own).status().expect("mkfifo").success());
    refused(&install(&scene, json), "bad-zip", &scene);
    fs::remove_file(&own).expect("the pipe");
    fs::File::create(&own).and_then(|file| file.set_len(3 << 30)).expect("a file with a hole");
    let said = install(&scene, json);
    refused(&said, "bad-zip", &scene);
    assert!(said.stdout.contains("the limit is 2147483648"), "{}", said.text);
    fs::write(&own, "no zip").expect("a file");
    refused(&install(&scene, json), "bad-zip", &scene);
    fs::remove_file(&own).expect("the file");
    std::os::unix::fs::symlink("/dev/zero", &own).expect("a link");
    // No link leads out of a static tree.
    refused(&install(&scene, json), "fs-unreadable", &scene);
    let package = scene.path(&format!("unpacked/{WIDGET}/1.4.0/linux_amd64"));
    std::os::unix::fs::symlink("/etc", package.join("out")).expect("a link");
    refused(&install(&scene, "--json --from static:unpacked"), "fs-unreadable", &scene);
}

#[test]
fn what_is_installed_and_locked_does_without_a_folder_that_is_gone() {
    let scene = folders();
    install(&scene, "--from static:packed").success();
    fs::rename(scene.path("packed"), scene.path("gone")).expect("a rename");
    let said = install(&scene, "--from static:packed").success();
    assert!(said.stderr.contains("could not be asked"), "{}", said.text);
    forget(&scene);
    refused(&install(&scene, "--json --from static:packed"), "fs-dir-missing", &scene);
}

#[test]
fn a_layout_below_the_folder_is_that_of_the_address() {
    let scene = folders();
    copy(&scene.path("lay"), &scene.path(&format!("tree/{WIDGET}")));
    for line in [format!("versions {WIDGET} --from oci:tree"), format!("resolve {WIDGET} --from oci:tree")] {
        let said = scene.run(&line).success();
        assert!(said.text.contains(&format!("oci:tree/{WIDGET}")), "{}", said.text);
    }
    install(&scene, "--from oci:tree").success();
}

#[test]
fn places_that_are_only_read_are_refused_where_a_repository_belongs() {
    let scene = folders();
    for (line, want) in [
        ("copy static:packed oci:x".to_owned(), "write REGISTRY/REPOSITORY"),
        ("versions static:packed".to_owned(), "--from static:packed"),
        (format!("sign {WIDGET}@1.4.0 --from static:packed --key k"), "write REGISTRY/REPOSITORY"),
        (format!("install {WIDGET} --from static:"), "write it as static:DIR"),
        (format!("install {WIDGET} --from https://ghcr.io/acme/widget"), "drop the scheme"),
        (format!("install {WIDGET} --from static:packed --plugin-dir packed"), "cannot be used with"),
    ] {
        let said = scene.run(&line);
        assert_eq!(said.code, Some(2), "{}", said.text);
        assert!(said.stderr.contains(want), "{}", said.text);
    }
    assert!(!Path::new(&scene.path("x")).exists());
}

#[cfg(unix)]
#[test]
fn links_in_a_plugin_folder_hide_no_registry() {
    let scene = folders();
    let plugins = scene.path("terraform.d/plugins/registry.example.com");
    let place = |want: &str| {
        let said = scene.run("providers").success();
        assert!(said.stdout.contains(want), "{}", said.text);
    };
    fs::create_dir_all(&plugins).expect("a folder");
    std::os::unix::fs::symlink(scene.path("unpacked/registry.example.com/acme"), plugins.join("acme")).expect("a link");
    place("by filesystem_mirror (implicit), then direct (implicit)");
    fs::remove_file(plugins.join("acme")).expect("the link");
    copy(&scene.path("unpacked/registry.example.com/acme"), &plugins.join("acme"));
    place("by filesystem_mirror (implicit)\n");
}
