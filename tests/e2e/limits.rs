//! How long the program waits for a registry, and what `--timeout` makes of that.

use insta::assert_snapshot;

use crate::setup::Scene;

#[test]
fn a_timeout_that_cannot_be_kept_is_wrong_usage() {
    let scene = Scene::new();
    assert_snapshot!(scene.refuse("versions REGISTRY/acme/widget --timeout 0"), @"
    exit code: 2
    ----- stdout -----

    ----- stderr -----
    error: invalid value '0' for '--timeout <DURATION>': it must be longer than zero; write a length of time such as [TIME] or 2m

    For more information, try '--help'.
    ");
    assert_snapshot!(scene.refuse("versions REGISTRY/acme/widget --timeout soon"), @"
    exit code: 2
    ----- stdout -----

    ----- stderr -----
    error: invalid value 'soon' for '--timeout <DURATION>': it is not a length of time; write seconds, or a number with ms, s, m or h, such as [TIME] or 2m

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
    assert_snapshot!(scene.refuse("versions REGISTRY/acme/widget"), @"
    exit code: 2
    ----- stdout -----

    ----- stderr -----
    error: invalid value '[TIME]' for '--timeout <DURATION>': it must be longer than zero; write a length of time such as [TIME] or 2m

    For more information, try '--help'.
    ");
    scene.run("versions REGISTRY/acme/widget --timeout 90").success();
    scene.context.env("TOFU_OCI_TIMEOUT", "");
    scene.run("versions REGISTRY/acme/widget").success();
}
