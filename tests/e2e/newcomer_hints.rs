//! What errors tell a new user to do.
#![cfg(unix)]

use tofu_oci_testkit::{Fault, Rule};

use crate::setup::logins::basic;
use crate::setup::{Scene, WIDGET};

/// Demands that the answer to a line has these words, and none of `without`.
#[track_caller]
fn said(scene: &Scene, line: &str, code: i32, words: &[&str], without: &[&str]) {
    let said = scene.run(line);
    assert_eq!(said.code, Some(code), "{line}: {}", said.text);
    let text = said.text.split_whitespace().collect::<Vec<_>>().join(" ");
    for word in words {
        assert!(text.contains(word), "{line} lacks {word}:\n{}", said.text);
    }
    for word in without {
        assert!(!text.contains(word), "{line} has {word}:\n{}", said.text);
    }
}

#[test]
fn a_folder_that_takes_no_files_gave_no_hint_and_a_name_that_nobody_knows() {
    let mut scene = Scene::published();
    scene.context.write("file", "");
    let (other, ours) = ("a file lies where a folder is needed", ".tofu-oci-");
    let from = format!("{WIDGET} --from REGISTRY/acme/widget");
    said(&scene, &format!("mirror {from} --to static:file/mir"), 1, &[other], &[ours, ".first-seen.json"]);
    said(&scene, "serve --new-key file/key.asc", 1, &["error: the new key file/key.asc cannot be written", other], &[]);
    said(&scene, &format!("bundle create file/b.tar {from}"), 1, &[other], &[ours]);
    scene.context.env("TOFU_OCI_CACHE_DIR", scene.path("file/cache").to_str().expect("a text"));
    said(&scene, "cache prune", 1, &["is not used", "hint: set TOFU_OCI_CACHE_DIR to another folder"], &[]);
}

#[test]
fn a_host_with_a_port_was_promised_a_variable_that_no_shell_can_set() {
    let scene = Scene::new();
    let block = "no block `credentials \"r.example:8443\"` is there";
    said(&scene, "auth explain r.example:8443", 0, &[block], &["TF_TOKEN"]);
    said(&scene, "auth explain r.example", 0, &["TF_TOKEN_r_example is not set"], &[]);
}

#[test]
fn a_mirror_whose_registries_were_all_down_ended_as_if_the_user_could_fix_it() {
    let scene = Scene::new();
    let down = "'127.0.0.1:1/${namespace}/${type}'";
    for line in [
        format!("mirror acme/widget acme/gadget --from {down} --to oci:m"),
        format!("bundle create b.tar acme/widget --from {down}"),
        "module mirror oci://127.0.0.1:1/acme/net?tag=1.0.0 --as h.example/a/b/c --to oci:n".to_owned(),
    ] {
        said(&scene, &line, 3, &["cannot reach 127.0.0.1:[PORT]/acme/", "check the port"], &[]);
    }
}

#[test]
fn a_signature_that_no_key_could_check_was_said_to_be_damaged() {
    let scene = Scene::published();
    scene.key("p256.pem");
    scene.run("sign REGISTRY/acme/widget:1.4.0 --key p256.pem").success();
    let words = ["not checked: no key is known; name its publisher's with --key FILE", "was not checked; it names"];
    said(&scene, "show REGISTRY/acme/widget:1.4.0", 0, &words, &["damaged"]);
}

#[test]
fn the_layout_of_against_was_put_in_the_place_of_the_target() {
    let scene = Scene::published();
    scene.run("copy REGISTRY/acme/widget:1.4.0 oci:lay").success();
    let hint = "hint: name it so: --against oci:lay";
    said(&scene, "check REGISTRY/acme/widget --against lay", 2, &[hint], &["check oci:lay"]);
    said(&scene, "check lay", 2, &["hint: name it so: tofu-oci check oci:lay"], &[]);
}

#[test]
fn an_unsigned_module_was_to_be_signed_under_a_name_that_was_not_filled_in() {
    let scene = Scene::published();
    scene.context.write("net/main.tf", "");
    scene.run("module push net REGISTRY/acme/net --version 1.0.0").success();
    scene.key("p256.pub");
    let sign = "hint: its publisher signs it: tofu-oci sign [REGISTRY]/acme/net:1.0.0 --key KEY";
    said(&scene, "verify REGISTRY/acme/net:1.0.0 --key p256.pub", 1, &[sign], &["REPOSITORY:"]);
    scene.run(&format!("mirror {WIDGET} --from REGISTRY/acme/widget --to static:s")).success();
    let sign = "hint: its publisher signs it with `tofu-oci sign` in its repository; then fetch it again";
    said(&scene, &format!("verify {WIDGET}@1.4.0 --from static:s --key p256.pub"), 1, &[sign], &["REPOSITORY:"]);
}

#[test]
fn an_empty_folder_was_no_module_and_nothing_said_what_to_do() {
    let scene = Scene::new();
    std::fs::create_dir(scene.path("empty")).expect("a folder");
    let hint = "hint: name the folder with the module's .tf files, and see what .tofuignore leaves out";
    said(&scene, "module push empty REGISTRY/acme/net --version 1.0.0", 1, &[hint], &[]);
}

#[test]
fn verbs_without_json_told_to_pass_it_as_a_value() {
    let scene = Scene::new();
    for verb in ["run", "completions bash", "man d", "help json"] {
        let name = verb.split(' ').next().expect("a verb");
        let hint = format!("hint: `{name}` has no JSON output: leave --json out");
        said(&scene, &format!("{verb} --json"), 2, &[&hint], &["as a value"]);
    }
    let hint = "hint: `module` needs one of its verbs first: push, pull, lock, versions, mirror";
    said(&scene, "module --json", 2, &[hint], &[]);
    said(&scene, "--json", 2, &["hint: name a verb; `tofu-oci -h` lists them"], &[]);
    said(&scene, "mirror --nope", 2, &["unexpected argument `--nope`"], &["as a value"]);
}

#[test]
fn commands_in_hints_repeated_the_json_of_the_run() {
    let scene = Scene::new();
    scene.context.write("net/main.tf", "");
    std::fs::create_dir(scene.path("empty")).expect("a folder");
    said(
        &scene,
        "module push net REGISTRY/acme/net --json",
        2,
        &["acme/net --version 1.0.0"],
        &["--json --", "-- --json"],
    );
    said(&scene, "install --json --chdir empty", 2, &["tofu-oci install HOST/NAMESPACE/TYPE --chdir empty"], &[]);
    said(&scene, "copy --json --from REGISTRY/acme/w acme/widget oci:x", 2, &["write tofu-oci copy"], &["--json"]);
}

#[test]
fn the_page_of_a_code_needed_a_code_and_knew_of_logins_alone() {
    let scene = Scene::new();
    said(&scene, "help error", 0, &["Usage: tofu-oci help error CODE", "tofu-oci help errors"], &[]);
    for status in ["404", "429", "503"] {
        let words = ["404: check the name", "429 and 5xx: run the command again later"];
        said(&scene, &format!("help error registry-status:{status}"), 0, &words, &["needs a login"]);
    }
}

#[test]
fn a_mirror_that_was_refused_access_was_not_told_to_log_in() {
    let scene = Scene::with(basic());
    scene
        .context
        .write("main.tf", "terraform {\n  required_providers {\n    w = { source = \"acme/widget\" }\n  }\n}\n");
    let hint = "tofu-oci login [REGISTRY] --username USER";
    for line in ["mirror acme/widget --to oci:m", "bundle create b.tar acme/widget", "outdated"] {
        let said = scene.run(&format!("{line} --from REGISTRY/acme/widget"));
        assert!(said.text.contains(hint), "{line}: {}", said.text);
    }
    let line = "module mirror oci://REGISTRY/acme/net?tag=1.0.0 --as h.example/a/b/c --to oci:n";
    said(&scene, line, 1, &[hint], &[]);
}

#[test]
fn whoever_reads_from_a_repository_that_is_not_there_was_told_to_create_it() {
    let scene = Scene::published();
    scene.registry.fault(Rule::on("GET", "/v2/acme/widget/tags/list").then(Fault::status(404, "ODD")));
    said(&scene, "versions REGISTRY/acme/widget", 1, &["hint: check the name; "], &["create"]);
}

/// The lock file got a version that the next `init` refused, without a word.
#[test]
fn a_version_that_the_configuration_does_not_admit_was_locked_without_a_word() {
    let scene = Scene::published();
    let text = "terraform {\n  required_providers {\n    widget = {\n      source  = \"registry.example.com/acme/widget\"\n      version = \"~> 9.0\"\n    }\n  }\n}\n";
    std::fs::create_dir_all(scene.path("old")).expect("a folder");
    std::fs::write(scene.path("old/main.tf"), text).expect("a file");
    let said = scene.run(&format!("install {WIDGET} --from REGISTRY/acme/widget --chdir old")).success();
    assert!(said.stderr.contains("warning: the configuration requires registry.example.com/acme/widget ~> 9.0, which does not admit 1.4.0: `init` will refuse it\n"), "{}", said.text);
}
