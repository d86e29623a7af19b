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
fn a_bundle_that_is_not_there_was_to_be_made_of_itself() {
    let load = "hint: what is in a bundle goes to repositories with: tofu-oci bundle load F [REGISTRY]/acme/q\n";
    refuse(&Scene::new(), "copy bundle:F REGISTRY/acme/q", &[load]);
}

#[test]
fn a_host_that_does_not_speak_tls_was_asked_five_times() {
    let said = Scene::published().refuse("install REGISTRY/acme/widget@1.4.0");
    assert!(!said.contains("attempt 2"), "{said}");
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

/// Demands that the answer to each line is this error, with this hint.
#[track_caller]
fn lead_on(scene: &Scene, answers: &[(&str, &str, &str)]) {
    for (line, error, hint) in answers {
        refuse(scene, line, &[&format!("error: {error}"), &format!("hint: {hint}\n")]);
    }
}

#[test]
fn arguments_in_another_order_were_answered_with_a_form() {
    let scene = Scene::published();
    let source = "'oci://REGISTRY/acme/network?tag=1.4.0'";
    let shown = "'oci://[REGISTRY]/acme/network?tag=1.4.0'";
    let (create, load) =
        ("`bundle create` takes the file first, and then", "`bundle load` takes the file first, and then");
    let pull = "`module pull` takes the source first, and then the folder\n";
    lead_on(
        &scene,
        &[
            (
                &format!("bundle create {WIDGET}@1.4.0 x.tar --from REGISTRY/acme/widget"),
                create,
                &format!("tofu-oci bundle create x.tar {WIDGET}@1.4.0 --from [REGISTRY]/acme/widget"),
            ),
            ("bundle load REGISTRY/a/b x.tar", load, "tofu-oci bundle load x.tar [REGISTRY]/a/b"),
            ("bundle load REGISTRY/a/b bundle:x.tar", load, "tofu-oci bundle load bundle:x.tar [REGISTRY]/a/b"),
            (&format!("module pull out {source}"), pull, &format!("tofu-oci module pull {shown} out")),
            (
                &format!("module pull ./out {source} --force"),
                pull,
                &format!("tofu-oci module pull {shown} ./out --force"),
            ),
            (
                "config snippet oci://REGISTRY/acme/widget",
                "`config snippet` needs the pattern of providers, and then the repository\n",
                "name the providers first: tofu-oci config snippet HOST/NAMESPACE/TYPE [REGISTRY]/acme/widget",
            ),
        ],
    );
}

#[test]
fn a_hint_dropped_the_file_or_the_version_that_was_typed() {
    let scene = Scene::published();
    let repository = "`[REGISTRY]/acme/opentofu-provider-widget";
    let create = "tofu-oci bundle create x.tar HOST/NAMESPACE/TYPE";
    let from = "--from [REGISTRY]/acme/opentofu-provider-widget";
    let bundle = format!("a bundle is made with: {create}@1.4.0 --from [REGISTRY]/acme/widget");
    let twice = format!("`install` takes the version with what it names: tofu-oci install {WIDGET}@1.4.0");
    lead_on(
        &scene,
        &[
            ("bundle create x.tar REGISTRY/acme/opentofu-provider-widget", repository, &format!("{create} {from}")),
            (
                "bundle create x.tar REGISTRY/acme/opentofu-provider-widget:1.4.0",
                repository,
                &format!("{create}@1.4.0 {from}"),
            ),
            (
                "mirror REGISTRY/acme/opentofu-provider-widget --to oci:out --latest 1",
                repository,
                &format!("tofu-oci mirror HOST/NAMESPACE/TYPE {from} --to oci:out --latest 1"),
            ),
            ("copy REGISTRY/acme/widget:1.4.0 x.tar", "`x.tar` is not a repository", &bundle),
            ("copy REGISTRY/acme/widget x.tar --version 1.4.0", "`x.tar` is not a repository", &bundle),
            ("copy REGISTRY/acme/widget:1.4.0 oci-archive:x.tar", "`oci-archive:x.tar` is not a", &bundle),
            (
                "install acme/widget@1.4.0 --from REGISTRY/acme/widget",
                "[REGISTRY]/acme/widget has 1.4.0 as registry.example.com/acme/widget, not as ",
                &format!("by its own address: tofu-oci install {WIDGET}@1.4.0 --from [REGISTRY]/acme/widget"),
            ),
            (&format!("install {WIDGET}@1.4.0 --version 1.4.0"), "unexpected argument `--version`\n", &twice),
            (&format!("install {WIDGET}@1.4.0 --version 1"), "unexpected argument `--version`\n", &twice),
            (
                "install --from oci:out:1.0.0",
                "`oci:out:1.0.0` names version 1.0.0, and a directory alone is wanted\n",
                "name the directory alone, oci:out, and the version after the address: ADDR@VERSION",
            ),
            (
                "config snippet 'registry.example.com/acme/*' 'oci://REGISTRY/acme/${type}'",
                "`oci://[REGISTRY]/acme/${type}` gives no repository address",
                "drop the scheme: '[REGISTRY]/acme/${type}'",
            ),
        ],
    );
}

#[test]
fn what_lies_on_the_disk_was_given_a_name_that_is_refused() {
    let scene = Scene::published();
    scene.run("copy REGISTRY/acme/widget oci:usb").success();
    scene.run(&format!("bundle create b.tar {WIDGET} --from REGISTRY/acme/widget")).success();
    scene.context.write("cfg/main.tf", "");
    let push = "dist holds no image layout; to publish what is in it: tofu-oci push dist";
    let publish = format!("{push} REGISTRY/REPOSITORY --address HOST/NAMESPACE/TYPE");
    let (no_repository, cannot) = ("`dist` is not a repository address: ", "cannot read ");
    lead_on(
        &scene,
        &[
            ("check dist", no_repository, &publish),
            ("versions dist", no_repository, &publish),
            ("copy dist REGISTRY/a/b", no_repository, &format!("{push} [REGISTRY]/a/b --address HOST/NAMESPACE/TYPE")),
            (
                "copy REGISTRY/acme/widget dist",
                no_repository,
                "dist holds other files: name another directory, oci:DIR",
            ),
            (
                "check cfg",
                "`cfg` is not a repository",
                "cfg is a configuration without a .terraform.lock.hcl, which `tofu-oci lock --chdir cfg` writes",
            ),
            ("copy oci://usb REGISTRY/a/b", "`oci://usb` is not a repository", "the directory is written oci:usb"),
            (
                &format!("pack dist static:o --address {WIDGET}"),
                "`static:o` does not",
                "`pack` writes an image layout: oci:o",
            ),
            ("serve --from b.tar", "`b.tar` is not a repository address", "a bundle is written bundle:b.tar"),
            ("install --from b.tar", "`b.tar` is not a repository address", "a bundle is written bundle:b.tar"),
            (
                "module mirror --from b.tar --to oci:x",
                "`b.tar` is named without `bundle:`",
                "write --from bundle:b.tar",
            ),
            (
                "bundle show usb",
                cannot,
                "it is a directory, and a file is read here; one with an image layout is written oci:usb",
            ),
            ("bundle show dist", cannot, "it is a directory, and a file is read here"),
            (
                "bundle load b.tar bundle:c.tar",
                "a bundle is not loaded into a bundle\n",
                "to put it into another one: tofu-oci mirror HOST/NAMESPACE/TYPE --from bundle:b.tar --to bundle:c.tar",
            ),
        ],
    );
}

#[test]
fn a_module_was_answered_as_a_provider() {
    let scene = Scene::new();
    let module = "registry.example.com/acme/network/aws";
    let two = format!("`{module}` names a module or a repository, and ");
    let (source, shown) = ("'oci://REGISTRY/a/net?tag=1.4.0'", "'oci://[REGISTRY]/a/net?tag=1.4.0'");
    let one = "`oci://[REGISTRY]/a/net?tag=1.4.0` names a repository, and ";
    let it_is = "if it is a module: tofu-oci module";
    lead_on(
        &scene,
        &[
            (&format!("install {module}"), &two, &format!("{it_is} pull {module} DIR")),
            (&format!("mirror {module} --to oci:out"), &two, &format!("{it_is} mirror {module} --to oci:out")),
            (&format!("install {source}"), one, &format!("{it_is} pull {shown} DIR")),
            (
                &format!("bundle create x.tar {source}"),
                one,
                &format!("{it_is} mirror {shown} --as HOST/NAMESPACE/NAME/SYSTEM --to bundle:x.tar"),
            ),
            (
                "module mirror oci://REGISTRY/a/net?tag=1.4.0 --as acme/network --to oci:out",
                "--as needs a module of a registry, and `acme/network` is not one\n",
                "write HOST/NAMESPACE/NAME/SYSTEM, such as registry.example.com/acme/network/aws",
            ),
        ],
    );
    let said = scene.refuse("module versions network");
    assert!(said.contains("error: `network` is neither a module in a repository nor one of a registry\n"), "{said}");
}

#[test]
fn an_answer_said_what_is_false_or_only_a_part_of_it() {
    let scene = Scene::published();
    scene.context.write("serve.toml", "listen = \"31712\"\n");
    let same = "`[REGISTRY]/acme/widget` sends two providers to one repository: ";
    let meant = "HOST/NAMESPACE/TYPE@1.4.0 --from [REGISTRY]/acme/widget --attempts 1";
    let other = "'oci://REGISTRY/acme/network?version=1.4.0'";
    lead_on(
        &scene,
        &[
            (
                "verify REGISTRY/acme/opentofu-provider-widget",
                "`[REGISTRY]/acme/opentofu-provider-widget` names no version\n",
                "`tofu-oci versions [REGISTRY]/acme/opentofu-provider-widget` lists what is there",
            ),
            ("serve --from REGISTRY/acme/widget", same, "name what it holds: --include HOST/NAMESPACE/TYPE"),
            (
                "install REGISTRY/acme/widget@1.4.0 --attempts 1",
                "[REGISTRY]/acme/widget: nothing can be installed",
                &format!("if this is a repository, and no provider's address: tofu-oci install {meant}"),
            ),
            (
                "versions REGISTRY/acme/widget --plain-http=false",
                "--plain-http cannot be `false`: it takes the host that it is for\n",
                "write HOST or HOST:PORT, such as registry.example.com:5000",
            ),
            (
                &format!("module pull {other} out"),
                "`oci://[REGISTRY]/acme/network?version=1.4.0` is not",
                "a repository is written 'oci://[REGISTRY]/acme/network?tag=1.4.0'",
            ),
            (
                &format!("install {WIDGET} --from REGISTRY/"),
                "`[REGISTRY]/` is not a repository address",
                "quote a template with ' for your shell: 'ghcr.io/acme/${type}'",
            ),
            (
                "verify cosign.pub REGISTRY/acme/widget:1.4.0",
                "unexpected argument `[REGISTRY]/acme/widget:1.4.0`\n",
                "a key is named with --key: tofu-oci verify [REGISTRY]/acme/widget:1.4.0 --key cosign.pub",
            ),
            (
                "verify oci:usb 1.4.0",
                "unexpected argument `1.4.0`\n",
                "`verify` takes the version with what it names: tofu-oci verify oci:usb:1.4.0",
            ),
            (
                "serve --check-config",
                "\"31712\" must be a list\n",
                "write an address, in brackets: [\"127.0.0.1:[PORT]\"]",
            ),
        ],
    );
    scene.context.write_home(".tofurc", "oci_mirror {\n  repository_template = \"x\"\n}\n");
    let said = scene.run("config check").text;
    assert!(said.contains("  = instead: write it into provider_installation { }\n"), "{said}");
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
