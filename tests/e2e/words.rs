//! Wrong inputs of people who try the program for the first time: each answer leads on.

use tofu_oci_testkit::{ProviderZip, ReleaseFolder};

use crate::module_lock::call;
use crate::setup::{Scene, WIDGET};

/// Demands that the input is refused, changes nothing, and that the answer has all of these words.
#[track_caller]
fn refuse(scene: &Scene, line: &str, words: &[&str]) {
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

#[test]
fn a_variable_that_names_the_configuration_failed_its_check() {
    let scene = Scene::new();
    let clean = "provider_installation {\n  direct {}\n}\n";
    scene.context.write_home(".tofurc", clean);
    scene.context.write("own.tfrc", clean);
    let said = scene.output(scene.command("config check").env("TF_CLI_CONFIG_FILE", "own.tfrc"));
    assert_eq!(said.code, Some(0), "{}", said.text);
    assert!(said.text.contains("note[file-passed-over]"), "{}", said.text);
}

#[test]
fn a_signed_withdrawal_was_called_undone_while_users_stayed_refused() {
    let scene = Scene::deleting();
    scene.publish("1.4.0");
    scene.key("p256.pem");
    scene.run("withdraw REGISTRY/acme/widget:1.4.0 --reason bad --sign-key p256.pem").success();
    let words = ["error: the withdrawn version 1.4.0 in ", "--sign-key KEY\n"];
    refuse(&scene, "withdraw REGISTRY/acme/widget:1.4.0 --undo", &words);
    refuse(&scene, "withdraw REGISTRY/acme/widget:1.4.0 --undo --dry-run", &words);
    scene.run("withdraw REGISTRY/acme/widget:1.4.0 --undo --sign-key p256.pem").success();
    scene.run("deprecate REGISTRY/acme/widget:1.4.0 --message old --sign-key p256.pem").success();
    refuse(&scene, "deprecate REGISTRY/acme/widget:1.4.0 --undo", &["the deprecated version 1.4.0 in "]);
    scene.run("deprecate REGISTRY/acme/widget:1.4.0 --undo --sign-key p256.pem").success();
    // Nobody heeds an unsigned one more than the next.
    scene.run("withdraw REGISTRY/acme/widget:1.4.0 --reason bad").success();
    scene.run("withdraw REGISTRY/acme/widget:1.4.0 --undo").success();
}

#[test]
fn a_small_layer_that_saves_nothing_was_published() {
    let scene = Scene::new();
    let dense = ProviderZip::new("widget", "1.4.0", "linux_amd64").random_file("data.bin", 300_000);
    ReleaseFolder::new("widget", "1.4.0", &[]).package(dense).write_zips(&scene.path("dist"));
    let said = scene.run(&format!("push dist REGISTRY/acme/widget --address {WIDGET} --small")).success();
    assert!(said.text.contains("no small layer: it would save "), "{}", said.text);
    assert!(!said.text.contains("small layer sha256"), "{}", said.text);
}
