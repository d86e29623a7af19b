//! What is warned of where access is right all the same: broken files and entries that were left out.

use insta::assert_snapshot;
use serde_json::json;

use crate::credentials::basic;
use crate::setup::Scene;

/// A registry with widget in it, which asks for a password; the password is in `~/.dockercfg`.
fn scene() -> Scene {
    let scene = Scene::with(basic());
    scene.dist("dist", "1.4.0");
    scene.context.write_home(".dockercfg", scene.auths().to_string());
    scene.run(&format!("push dist REGISTRY/acme/widget --address {}", crate::setup::WIDGET)).success();
    scene
}

/// What is said beside the version.
#[track_caller]
fn told(scene: &Scene) -> String {
    let said = scene.run("versions REGISTRY/acme/widget").success();
    assert_eq!(said.stdout, "1.4.0\n", "{}", said.text);
    said.text.split_once("----- stderr -----\n").map(|(_, text)| text.to_owned()).unwrap_or_default()
}

#[test]
fn a_broken_file_is_left_out_and_the_others_stay() {
    let scene = scene();
    assert_eq!(told(&scene), "");
    scene.context.write_home(".docker/config.json", "{\n  \"auths\": {\n    \"x\": oops hunter2\n");
    assert_snapshot!(told(&scene), @"
    warning: ~/.docker/config.json:3: it is left out: it is not JSON: this is no value at column 10; OpenTofu then reads no ambient file at all
    ");
    for text in ["", "[]", "{} {}", "{\"auths\": []}", "{\"credsStore\": 1}", "\u{feff}{}"] {
        scene.context.write_home(".docker/config.json", text);
        let said = told(&scene);
        assert!(said.starts_with("warning: ~/.docker/config.json"), "{text:?}: {said}");
        assert!(said.contains("OpenTofu then reads no ambient file at all"), "{text:?}: {said}");
    }
    for text in ["{}", "null", "{\"auths\": null}", "{\"auths\": {\"x.example\": null}}"] {
        scene.context.write_home(".docker/config.json", text);
        assert_eq!(told(&scene), "", "{text}");
    }
}

#[test]
fn a_broken_entry_is_left_out_and_the_others_stay() {
    let scene = scene();
    let file = json!({"auths": {"x.example": {"auth": "hunter2!"}, "y.example": "hunter2"}});
    scene.context.write_home(".docker/config.json", serde_json::to_string_pretty(&file).expect("plain"));
    assert_snapshot!(told(&scene), @"
    warning: ~/.docker/config.json:3: its entry for x.example is left out: its `auth` is not base64; OpenTofu then reads no ambient file at all
    warning: ~/.docker/config.json:6: its entry for y.example is left out: it is not an object; OpenTofu then reads no ambient file at all
    ");
}

#[test]
fn a_file_that_cannot_be_read_is_left_out_and_the_others_stay() {
    let scene = scene();
    let home = scene.context.home();
    let docker = home.join(".docker");
    scene.context.write_home(".docker", "a file");
    assert_snapshot!(told(&scene), @"
    warning: ~/.docker/config.json: it is left out, since it cannot be read: a part of its path is not a folder; OpenTofu then reads no ambient file at all
    ");
    std::fs::remove_file(&docker).expect("it is ours");
    std::fs::create_dir_all(docker.join("config.json")).expect("a folder");
    assert_snapshot!(told(&scene), @"
    warning: ~/.docker/config.json: it is left out, since it cannot be read: it is a folder; OpenTofu then reads no ambient file at all
    ");
    std::fs::remove_dir(docker.join("config.json")).expect("it is ours");
    std::os::unix::fs::symlink("config.json", docker.join("config.json")).expect("a link");
    assert_snapshot!(told(&scene), @"
    warning: ~/.docker/config.json: it is left out, since it cannot be read: too many levels of symbolic links; OpenTofu then reads no ambient file at all
    ");
    std::fs::remove_file(docker.join("config.json")).expect("it is ours");
    // A link to nowhere is not a file.
    std::os::unix::fs::symlink("nowhere", docker.join("config.json")).expect("a link");
    assert_eq!(told(&scene), "");
}

#[test]
fn a_variable_that_names_no_file_is_told_of() {
    let mut scene = scene();
    scene.context.env("REGISTRY_AUTH_FILE", "/nonexistent/auth.json");
    assert_snapshot!(told(&scene), @"
    warning: /nonexistent/auth.json: $REGISTRY_AUTH_FILE names it, and there is no such file
    ");
}

#[test]
fn warnings_are_told_once_a_run_and_not_without_need() {
    let scene = scene();
    scene.context.write_home(".docker/config.json", "{");
    let said = scene.run("copy REGISTRY/acme/widget REGISTRY/mirror/widget").success();
    assert_eq!(said.stderr.matches("warning:").count(), 1, "{}", said.text);
    let said = scene.run("copy oci:nothing oci:other");
    assert_eq!(said.stderr.matches("warning:").count(), 0, "{}", said.text);
}
