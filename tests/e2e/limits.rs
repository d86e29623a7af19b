//! How long the program waits for a registry, and what `--timeout` makes of that.

use insta::assert_snapshot;
use tofu_oci_testkit::{Fault, Rule};

use crate::setup::Scene;

/// The program's unfiltered error about wrong usage: its lengths of time are under test.
#[track_caller]
fn refused(scene: &Scene, line: &str) -> String {
    let said = scene.run(line);
    assert_eq!((said.code, said.stdout.as_str()), (Some(2), ""), "{}", said.text);
    said.stderr
}

#[test]
fn a_timeout_that_cannot_be_kept_is_wrong_usage() {
    let scene = Scene::new();
    assert_snapshot!(refused(&scene, "versions REGISTRY/acme/widget --timeout 0"), @"
    error: invalid value '0' for '--timeout <DURATION>': it must be longer than zero; write a length of time such as 90s or 2m

    For more information, try '--help'.
    ");
    assert_snapshot!(refused(&scene, "versions REGISTRY/acme/widget --timeout soon"), @"
    error: invalid value 'soon' for '--timeout <DURATION>': it is not a length of time; write seconds, or a number with ms, s, m or h, such as 90s or 2m

    For more information, try '--help'.
    ");
    for timeout in ["-1s", "2min", "25h", "''"] {
        let said = scene.run(&format!("versions REGISTRY/acme/widget --timeout={timeout}"));
        assert_eq!(said.code, Some(2), "{}", said.text);
    }
}

#[test]
fn a_timeout_may_come_from_the_environment() {
    let mut scene = Scene::published();
    scene.context.env("TOFU_OCI_TIMEOUT", "0s");
    assert_snapshot!(refused(&scene, "versions REGISTRY/acme/widget"), @"
    error: invalid value '0s' for '--timeout <DURATION>': it must be longer than zero; write a length of time such as 90s or 2m

    hint: the variable TOFU_OCI_TIMEOUT says so: change it, or unset it
    ");
    // The registry's address has a 0 too.
    scene.context.env("TOFU_OCI_TIMEOUT", "0");
    assert!(refused(&scene, "versions REGISTRY/acme/widget").contains("the variable TOFU_OCI_TIMEOUT says so"));
    scene.run("versions REGISTRY/acme/widget --timeout 90").success();
    scene.context.env("TOFU_OCI_TIMEOUT", "");
    scene.run("versions REGISTRY/acme/widget").success();
}

#[test]
fn a_silent_registry_is_named_and_given_up() {
    let scene = Scene::published();
    scene.registry.fault(Rule::on("GET", "*").then(Fault::Hang));
    let said = scene.run("versions REGISTRY/acme/widget --timeout 800ms");
    assert_eq!(said.code, Some(3), "{}", said.text);
    let host = scene.registry.address();
    for words in [
        &format!("note: waiting for {host}: GET /v2/acme/widget/tags/list has got no further for "),
        // On a busy machine the connection may be what took too long.
        &format!("error: cannot reach {host}/acme/widget: timed out: no "),
        "or allow it more time with --timeout 1600ms\n",
    ] {
        assert!(said.stderr.contains(words), "no `{words}` in {}", said.text);
    }
    let quiet = scene.run("versions REGISTRY/acme/widget --timeout 800ms --quiet");
    assert!(quiet.code == Some(3) && !quiet.stderr.contains("waiting"), "{}", quiet.text);
    let json = scene.run("versions REGISTRY/acme/widget --timeout 800ms --json");
    assert!(json.json().iter().any(|event| event["code"] == "waiting"), "{}", json.text);
}

#[cfg(unix)]
#[test]
fn a_credential_helper_that_hangs_is_ended_in_time() {
    use std::os::unix::fs::PermissionsExt as _;
    let mut scene = Scene::published();
    let helper = scene.context.write("bin/docker-credential-stuck", "#!/bin/sh\nexec sleep 60\n");
    std::fs::set_permissions(&helper, std::fs::Permissions::from_mode(0o755)).expect("it is ours");
    let path = std::env::var("PATH").unwrap_or_default();
    scene.context.env("PATH", format!("{}:{path}", scene.path("bin").display()));
    scene.context.write_home(".docker/config.json", r#"{"credsStore": "stuck"}"#);
    for line in ["login REGISTRY", "logout REGISTRY"] {
        let began = std::time::Instant::now();
        let said = scene.run(&format!("{line} --timeout 700ms"));
        assert!(said.text.contains("gave no answer in 0.7 s"), "{line}: {}", said.text);
        assert!(began.elapsed() < std::time::Duration::from_secs(25), "{line}");
    }
}

#[test]
fn a_mistake_in_the_arguments_is_a_line_of_json_too() {
    let scene = Scene::new();
    let said = scene.run("versions REGISTRY/acme/widget --json --timeout soon");
    let [error] = &said.json()[..] else { panic!("{}", said.text) };
    assert_eq!((said.code, &error["event"], &error["code"]), (Some(2), &"error".into(), &"usage".into()));
    assert!(scene.run("versions REGISTRY/acme/widget --timeout soon").stdout.is_empty());
}
