//! `module lock`: what is refused, what two runs at once leave, and what it costs.

use insta::assert_snapshot;
use tofu_oci_testkit::{Fault, Rule};

use crate::module_lock::call;
use crate::setup::Scene;
use crate::words::refuse;

#[test]
fn what_is_not_a_module_or_not_trusted_is_refused() {
    let scene = Scene::with_networks();
    scene.publish("1.4.0");
    scene.configuration("main.tf", &call("x", "oci://REGISTRY/acme/widget?tag=1.4.0", ""));
    assert_snapshot!(scene.lock("").text, @r#"
    exit code: 1
    ----- stdout -----

    ----- stderr -----
    error: [REGISTRY]/acme/widget has no module package under 1.4.0
      --> live/main.tf:2:12
      |
    2 |   source = "oci://[REGISTRY]/acme/widget?tag=1.4.0"
      |            ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^
      cause: this is a provider release, not a module package: expected an OCI image manifest and not an index

    hint: for what it is: tofu-oci versions [REGISTRY]/acme/widget
    hint: to install it: tofu-oci install HOST/NAMESPACE/TYPE --from [REGISTRY]/acme/widget
    hint: no file was changed
    "#);
    scene.configuration("main.tf", &call("x", "oci://REGISTRY/acme/network?tag=1.4.0", ""));
    let rule = format!("[[rule]]\nmodules = [\"{}/acme/*\"]\nunsigned = \"refuse\"\n", scene.registry.address());
    scene.context.write("live/trust.toml", rule);
    assert_snapshot!(scene.lock("").text, @r#"
    exit code: 1
    ----- stdout -----

    ----- stderr -----
    error: the module from [REGISTRY]/acme/network is not trusted: it is not signed
      --> live/main.tf:2:12
      |
    2 |   source = "oci://[REGISTRY]/acme/network?tag=1.4.0"
      |            ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^
      cause: live/trust.toml:1, the rule for [REGISTRY]/acme/*, refuses unsigned modules and names no keys

    hint: its publisher signs it: tofu-oci sign [REGISTRY]/acme/network:1.4.0 --key KEY
    hint: no file was changed
    "#);
    assert_snapshot!(scene.lock("--check").text, @"
    exit code: 1
    ----- stdout -----
    live/main.tf:2:12: module.x: the module from [REGISTRY]/acme/network is not trusted: it is not signed (unsigned)

    ----- stderr -----
    error: a call of a module is not as `tofu-oci module lock` leaves them

    hint: `tofu-oci module lock live` says what to do about each call
    ");
}

#[test]
fn equal_calls_cost_one_question_and_no_download() {
    let scene = Scene::with_networks();
    let text: String =
        (0..20).map(|nth| call(&format!("m{nth}"), "oci://REGISTRY/acme/network?tag=1.4.0", "")).collect();
    scene.configuration("main.tf", &text);
    scene.registry.clear_requests();
    scene.lock("").success();
    assert_snapshot!(scene.conversation().join("\n"), @"
    GET /v2/acme/network/manifests/1.4.0 -> 200
    GET /v2/acme/network/referrers/sha256:[DIGEST] -> 404
    GET /v2/acme/network/manifests/sha256-[DIGEST] -> 404
    GET /v2/acme/network/tags/list -> 200
    ");
    scene.registry.clear_requests();
    scene.lock("--check").success();
    assert_snapshot!(scene.conversation().join("\n"), @"
    HEAD /v2/acme/network/manifests/1.4.0 -> 200
    GET /v2/acme/network/manifests/sha256:[DIGEST] -> 200
    GET /v2/acme/network/referrers/sha256:[DIGEST] -> 404
    GET /v2/acme/network/manifests/sha256-[DIGEST] -> 404
    GET /v2/acme/network/tags/list -> 200
    ");
}

#[test]
fn a_registry_that_fails_is_no_problem_of_the_configuration() {
    let scene = Scene::with_networks();
    scene.configuration("main.tf", &call("x", "oci://REGISTRY/acme/network?tag=1.4.0", ""));
    scene.registry.fault(Rule::on("*", "*").then(Fault::status(503, "UNAVAILABLE")));
    let said = scene.lock("--check --attempts 1");
    assert_snapshot!(said.text, @r#"
    exit code: 3
    ----- stdout -----

    ----- stderr -----
    error: [REGISTRY]/acme/network answered 503 to GET /v2/acme/network/manifests/1.4.0: injected (UNAVAILABLE)
      --> live/main.tf:2:12
      |
    2 |   source = "oci://[REGISTRY]/acme/network?tag=1.4.0"
      |            ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^

    hint: the registry has a problem of its own; run the same command again later
    "#);
}

#[test]
fn several_folders_share_a_module() {
    let scene = Scene::with_networks();
    for root in ["a", "b"] {
        scene.context.write(&format!("{root}/main.tf"), call("shared", "../live", ""));
    }
    scene.configuration("main.tf", &call("x", "oci://REGISTRY/acme/network?tag=1.4.0", ""));
    assert_snapshot!(scene.run("module lock a b").text, @"
    exit code: 0
    ----- stdout -----
    live/main.tf:2:12: module.x: pinned to 1.4.0 of [REGISTRY]/acme/network
      manifest sha256:[DIGEST]
    wrote live/main.tf: 1 of 1 calls changed

    ----- stderr -----
    ");
    assert_snapshot!(scene.run("module lock a b none").text, @"
    exit code: 2
    ----- stdout -----

    ----- stderr -----
    error: there is no configuration in none

    hint: name the folder of the configuration: tofu-oci module lock DIR
    ");
}

#[test]
fn a_file_that_does_not_parse_is_named() {
    let scene = Scene::new();
    scene.configuration("main.tf", "module \"x\" {\n  source = \n}\n");
    assert_snapshot!(scene.lock("").text, @r#"
    exit code: 2
    ----- stdout -----

    ----- stderr -----
    error: live/main.tf:2:12: the file does not parse: invalid expression; expected `"`, `[`, `{`, `-`, `!`, `(`, `_`, `<`, letter or digit

    hint: correct the file
    "#);
    scene.configuration("main.tf", "module \"x\" {\n  source = \"./gone\"\n}\n");
    assert_snapshot!(scene.lock("").text, @"
    exit code: 2
    ----- stdout -----

    ----- stderr -----
    error: live/main.tf:2:12: the module's folder `./gone` is not there

    hint: check the module's `source`, or put its folder there
    ");
    scene.configuration("main.tf", "");
    assert_snapshot!(scene.lock("").text, @"
    exit code: 0
    ----- stdout -----
    no module comes from an OCI repository; nothing was changed

    ----- stderr -----
    ");
}

#[test]
fn two_runs_at_once_leave_one_whole_file() {
    let scene = Scene::with_networks();
    let text: String =
        (0..50).map(|nth| call(&format!("m{nth}"), "oci://REGISTRY/acme/network?tag=1.4.0", " # ask Bob")).collect();
    scene.configuration("main.tf", &text);
    let runs = [scene.command("module lock live"), scene.command("module lock live")];
    let runs = runs.map(|mut run| run.stdout(std::process::Stdio::null()).spawn().expect("it starts"));
    for mut run in runs {
        assert_eq!(run.wait().expect("it ends").code(), Some(0));
    }
    let source = format!("oci://REGISTRY/acme/network?digest={}", scene.digest_of("1.4.0"));
    let want: String = (0..50).map(|nth| call(&format!("m{nth}"), &source, " # 1.4.0 # ask Bob")).collect();
    assert_eq!(scene.context.read("live/main.tf").replace(scene.registry.address(), "REGISTRY"), want);
    assert_eq!(std::fs::read_dir(scene.path("live")).expect("the folder").count(), 1, "nothing is left");
}

#[test]
fn a_password_in_a_source_is_not_shown() {
    let scene = Scene::with_networks();
    scene.configuration("main.tf", &call("x", "oci://bob:hunter2@REGISTRY/acme/network?tag=1.4.0", ""));
    let dry = scene.lock("--dry-run").success();
    let check = scene.lock("--check --json");
    scene.lock("").success();
    scene.configuration("main.tf", &call("x", "oci://bob:hunter2@REGISTRY/acme/network?tag=9.0.0", ""));
    let missing = scene.lock("");
    scene.configuration("main.tf", &call("x", "oci://bob:hunter2@REGISTRY/acme/network?tag=9.0.0&x=1", ""));
    let wrong = scene.lock("");
    for said in [dry, check, missing, wrong] {
        assert!(!said.text.contains("hunter2"), "{}", said.text);
    }
}

#[test]
fn a_source_that_opentofu_refuses_was_not_corrected() {
    let scene = Scene::with_networks();
    let whole = "hint: a repository is written 'oci://[REGISTRY]/acme/network?tag=1.4.0'\n";
    let folder = "hint: a repository is written 'oci://[REGISTRY]/acme/network//sub?tag=1.4.0'\n";
    for (arguments, want) in [("version=1.4.0", whole), ("ref=1.4.0", whole), ("tag=1.4.0//sub", folder)] {
        scene.configuration("main.tf", &call("x", &format!("oci://REGISTRY/acme/network?{arguments}"), ""));
        refuse(&scene, "module lock live", &[want]);
    }
}
