//! Wrong inputs of people who try the program for the first time: each answer leads on.

use crate::module_lock::call;
use crate::setup::{Scene, WIDGET};

/// Demands that the input is refused, changes nothing, and that the answer has all of these words.
#[track_caller]
pub(crate) fn refuse(scene: &Scene, line: &str, words: &[&str]) {
    let said = scene.refuse(line);
    for word in words {
        assert!(said.contains(word), "{line} lacks {word}:\n{said}");
    }
}

#[test]
fn a_short_address_installed_and_locked_a_provider_of_the_public_registry() {
    let scene = Scene::published();
    let other = "error: [REGISTRY]/acme/widget has 1.4.0 as registry.example.com/acme/widget, not as ";
    for verb in ["install", "lock"] {
        let own = format!("hint: by its own address: tofu-oci {verb} {WIDGET} --from [REGISTRY]/acme/widget");
        refuse(&scene, &format!("{verb} widget --from REGISTRY/acme/widget"), &[other, &own]);
        refuse(&scene, &format!("{verb} acme/widget --from REGISTRY/acme/widget"), &[other, &own]);
    }
    refuse(&scene, "verify widget@1.4.0 --from REGISTRY/acme/widget", &[other]);
    assert!(!scene.path(".terraform.lock.hcl").exists());
    // Whoever writes it in full means it.
    scene.run("install registry.opentofu.org/acme/widget --from REGISTRY/acme/widget --platform linux_amd64").success();
    scene.run("install acme/widget --rename --from REGISTRY/acme/widget --platform linux_amd64").success();
}

#[test]
fn the_folder_above_the_release_files_was_called_an_unknown_platform() {
    let scene = Scene::with_dist();
    let words = ["error: the release files are not in ., but in dist\n", "hint: name that folder: dist\n"];
    refuse(&scene, &format!("push . REGISTRY/acme/widget --address {WIDGET}"), &words);
    refuse(&scene, &format!("pack . oci:layout --address {WIDGET}"), &words);
}

#[test]
fn a_file_in_the_place_of_its_directory_was_called_missing() {
    let scene = Scene::new();
    scene.context.write("cfg/main.tf", "");
    let (chdir, from) = ("--chdir", "--from-config");
    for (verb, option) in [
        ("install", chdir),
        ("providers", chdir),
        ("config check", chdir),
        ("mirror --to oci:x", from),
        ("bundle create b.tar", from),
        ("module mirror --to oci:x", from),
    ] {
        let hint = format!("hint: name its directory: {option} cfg\n");
        let words = ["error: cfg/main.tf is a file, not a directory\n", &hint];
        refuse(&scene, &format!("{verb} {option} cfg/main.tf"), &words);
    }
}

#[test]
fn rules_and_settings_that_are_not_there_had_no_hint() {
    let scene = Scene::new();
    for (line, file, option) in [("mirror --to oci:x", "mirror.toml", "--rules"), ("serve", "serve.toml", "--config")] {
        let hint = format!("hint: {file} is looked for in the current directory; {option} names another file\n");
        refuse(&scene, &format!("{line} {option} none.toml"), &["none.toml cannot be read\n", &hint]);
    }
}

#[test]
fn a_version_that_is_not_there_was_answered_without_those_that_are() {
    let scene = Scene::published();
    scene.publish("1.5.0");
    for line in ["check REGISTRY/acme/widget:9.9.9", "check REGISTRY/acme/widget --version 9.9.9"] {
        let said = scene.run(line);
        assert!(said.stdout.contains("reads as version 9.9.9; it has 1.5.0, 1.4.0\n"), "{}", said.text);
    }
    refuse(&scene, "verify REGISTRY/acme/widget:9.9.9", &["hint: it has 1.5.0, 1.4.0\n"]);
    let mirror = format!("mirror {WIDGET}@9.9.9 --from REGISTRY/acme/widget --to oci:out");
    let said = scene.run(&mirror);
    assert!(said.text.contains("no listed version meets 9.9.9; it has 1.5.0, 1.4.0"), "{}", said.text);
}

#[test]
fn a_repository_as_module_blocks_write_it_is_taken_by_every_verb() {
    let scene = Scene::published();
    for line in ["show", "versions", "check", "auth explain", "deprecate --dry-run --message x"] {
        let [plain, source] = ["REGISTRY/acme/widget:1.4.0", "oci://REGISTRY/acme/widget?tag=1.4.0"];
        assert_eq!(scene.run(&format!("{line} {source}")).text, scene.run(&format!("{line} {plain}")).text, "{line}");
    }
    let verified = scene.run("verify REGISTRY/acme/widget:1.4.0");
    assert_eq!(scene.run("verify 'oci://REGISTRY/acme/widget?tag=1.4.0'").text, verified.text);
    scene.run(&format!("install {WIDGET} --from oci://REGISTRY/acme/widget --platform linux_amd64")).success();
    scene.run(&format!("push dist oci://REGISTRY/acme/other --address {WIDGET}")).success();
    scene.run("copy oci://REGISTRY/acme/widget oci://REGISTRY/acme/copied:1.4.0").success();
    let scene = Scene::with_network();
    scene.run("module pull REGISTRY/acme/network:1.4.0 out").success();
    scene.run("module versions REGISTRY/acme/network").success();
}

#[test]
fn a_provider_was_called_a_container_image_by_verbs_of_modules() {
    let scene = Scene::published();
    let words = ["this is a provider release, not a module package", "--from [REGISTRY]/acme/widget\n"];
    refuse(&scene, "module pull 'oci://REGISTRY/acme/widget?tag=1.4.0' out", &words);
    refuse(&scene, "resolve 'oci://REGISTRY/acme/widget?tag=1.4.0'", &words);
}

#[test]
fn module_lock_hid_why_a_version_was_withdrawn() {
    let scene = Scene::with_network();
    scene.run("withdraw REGISTRY/acme/network:1.4.0 --reason 'leaks keys'").success();
    scene.context.write(
        "live/main.tf",
        call("x", "oci://REGISTRY/acme/network?tag=1.4.0", "").replace("REGISTRY", scene.registry.address()),
    );
    let words = ["error: version 1.4.0 was withdrawn from [REGISTRY]/acme/network\n", "cause: leaks keys\n"];
    refuse(&scene, "module lock live", &words);
}
