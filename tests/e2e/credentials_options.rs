//! `--anonymous`, and `--username` with `--password-stdin`.

use std::io::Write as _;
use std::process::Stdio;

use insta::assert_snapshot;
use serde_json::json;

use crate::credentials::{basic, bearer};
use crate::setup::{Said, Scene, WIDGET};

const LOGIN: &str = "--username ada --password-stdin";

impl Scene {
    /// Runs the program with this standard input.
    fn run_with_input(&self, line: &str, input: &[u8]) -> Said {
        let (reader, mut writer) = std::io::pipe().expect("the system has a pipe left");
        // A password fits into the buffer of a pipe.
        writer.write_all(input).expect("the reading end is open");
        drop(writer);
        self.output(self.command(line).stdin(Stdio::from(reader)))
    }
}

#[test]
fn a_login_for_one_command() {
    for registry in [basic(), bearer()] {
        let mut scene = Scene::with(registry);
        scene.dist("dist", "1.4.0");
        // Neither is looked at.
        scene.helper("vault", "exit 1");
        scene.context.write_home(".docker/config.json", json!({"credsStore": "vault"}).to_string());
        scene.context.write_home(".dockercfg", "{");
        scene.home_file(".tofurc", "oci_credentials \"REGISTRY\" {\n}\n");
        let said = |line: &str| {
            let said = scene.run_with_input(&format!("{line} {LOGIN}"), b"secret\n").success();
            assert!(!said.stderr.contains("warning"), "{}", said.text);
        };
        said(&format!("push dist REGISTRY/acme/widget --address {WIDGET}"));
        said(&format!("versions {WIDGET} --from REGISTRY/acme/widget"));
        said(&format!("install {WIDGET} --from REGISTRY/acme/widget --platform linux_amd64"));
        said(&format!("install {WIDGET} --from 'REGISTRY/${{namespace}}/${{type}}' --platform linux_amd64 --into m"));
        said("copy REGISTRY/acme/widget oci:layout");
        said("copy REGISTRY/acme/widget REGISTRY/mirror/widget");
        said(&format!("resolve {WIDGET} --from REGISTRY/acme/widget --explain"));
        assert_eq!(scene.helper_calls(), Vec::<String>::new());
    }
}

#[test]
fn a_wrong_login_for_one_command() {
    let scene = Scene::with(basic());
    let said = scene.run_with_input(&format!("versions REGISTRY/acme/widget {LOGIN}"), b"wrong");
    assert_snapshot!(said.text, @"
    exit code: 1
    ----- stdout -----

    ----- stderr -----
    error: [REGISTRY]/acme/widget needs credentials: the given credentials are refused: authentication required (UNAUTHORIZED)
      cause: the credentials were those of --username ada

    hint: check the name, and what --password-stdin was given
    hint: `tofu-oci auth explain [REGISTRY]/acme/widget --username ada --password-stdin` shows every file, entry and helper, and what the registry answers
    ");
}

/// The error of a command whose options contradict each other.
#[track_caller]
fn check(line: &str, want: &str) {
    let scene = Scene::published();
    let said = scene.run_with_input(line, b"secret\n");
    assert_eq!(said.code, Some(2), "{}", said.text);
    assert!(said.stderr.contains(want), "{}", said.text);
    assert_eq!(scene.conversation(), Vec::<String>::new());
}

#[test]
fn a_login_is_for_the_one_registry_of_the_command() {
    let none = "--username is for one registry, and this command names none";
    check(&format!("install {WIDGET} {LOGIN}"), none);
    check(&format!("install {WIDGET} --from oci:layout {LOGIN}"), none);
    check(&format!("install {WIDGET} --from '${{hostname}}/${{namespace}}/${{type}}' {LOGIN}"), none);
    check(&format!("copy oci:a oci:b {LOGIN}"), none);
    check(&format!("push dist oci:layout --address {WIDGET} {LOGIN}"), none);
    check(&format!("versions {WIDGET} --provider {LOGIN}"), none);
    check(&format!("versions ghcr.io.oci.opentofu.org/acme/widget {LOGIN}"), none);
    check(&format!("copy REGISTRY/acme/widget other.example/acme/widget {LOGIN}"), "and other.example");
    check(&format!("resolve {WIDGET} --from REGISTRY/acme/widget {LOGIN}"), "without --explain no registry is asked");
    check(&format!("resolve {WIDGET} --from REGISTRY/acme/widget --anonymous"), "--anonymous has no meaning here");
}

#[test]
fn the_options_need_each_other() {
    check("versions REGISTRY/acme/widget --username ada", "--password-stdin");
    check("versions REGISTRY/acme/widget --password-stdin", "--username");
    check(&format!("versions REGISTRY/acme/widget --anonymous {LOGIN}"), "cannot be used with");
    check("versions REGISTRY/acme/widget --username '' --password-stdin", "a value is required");
    check(
        "versions REGISTRY/acme/widget --username a:b --password-stdin",
        "the name for --username has a colon, and cannot be sent",
    );
}

#[test]
fn standard_input_must_hold_a_password() {
    let scene = Scene::published();
    let said = scene.run_with_input(&format!("versions REGISTRY/acme/widget {LOGIN}"), b"\n");
    assert_snapshot!(said.text, @r#"
    exit code: 2
    ----- stdout -----

    ----- stderr -----
    error: there is no password on standard input

    hint: such as: printf %s "$PASSWORD" | tofu-oci … --username USER --password-stdin
    "#);
}

#[test]
fn nobody_is_shown_anything() {
    let mut scene = Scene::with(basic());
    scene.helper_with("vault", "ada", "secret");
    scene.context.write_home(".docker/config.json", json!({"credsStore": "vault"}).to_string());
    scene.context.write_home(".dockercfg", "{");
    scene.home_file(".tofurc", "oci_credentials {\n");
    assert_snapshot!(scene.refuse("copy REGISTRY/acme/widget oci:layout --anonymous"), @"
    exit code: 1
    ----- stdout -----

    ----- stderr -----
    error: [REGISTRY]/acme/widget needs credentials: authentication required (UNAUTHORIZED)
      cause: no credentials were shown, as --anonymous says

    hint: leave --anonymous out, so that the user's credentials are shown
    hint: `tofu-oci auth explain [REGISTRY]/acme/widget --anonymous` shows every file, entry and helper, and what the registry answers
    ");
    assert_eq!(scene.helper_calls(), Vec::<String>::new());
    assert!(scene.registry.requests().iter().all(|request| request.header("authorization").is_none()));
}

#[test]
fn nobody_is_shown_anything_for_a_bare_name() {
    let mut scene = Scene::with(basic());
    scene.helper_with("vault", "ada", "secret");
    scene.context.write_home(".docker/config.json", json!({"credsStore": "vault"}).to_string());
    scene.home_file(
        ".tofurc",
        "provider_installation {\n  oci_mirror {\n    repository_template = \"REGISTRY/${namespace}/${type}\"\n    \
         include = [\"registry.opentofu.org/*/*\"]\n  }\n}\n",
    );
    // An argument that does not look like a repository is looked up all the same.
    let said = scene.refuse("versions widget --anonymous");
    assert!(said.contains("[REGISTRY]/hashicorp/widget needs credentials"), "{said}");
    assert_eq!(scene.helper_calls(), Vec::<String>::new());
    assert!(scene.registry.requests().iter().all(|request| request.header("authorization").is_none()));
}

#[test]
fn a_user_name_without_a_password_is_a_question_at_a_terminal() {
    use crate::login_refused::{asked, at_a_terminal};
    let scene = Scene::with(basic());
    for line in ["versions REGISTRY/acme/widget --username ada", "auth explain REGISTRY/acme/widget --username ada"] {
        let (mut child, mut person, terminal) = at_a_terminal(&scene, line);
        let question = asked(&mut child);
        assert_eq!(question.replace(scene.registry.address(), "REGISTRY"), "Password of ada at REGISTRY: ", "{line}");
        let modes = rustix::termios::tcgetattr(&terminal).expect("a terminal");
        assert!(!modes.local_modes.contains(rustix::termios::LocalModes::ECHO), "{line}");
        person.write_all(b"wrong\n").expect("somebody types");
        let output = child.wait_with_output().expect("it ends");
        let said = String::from_utf8_lossy(&output.stderr);
        assert!(said.contains("that of --username") || said.contains("those of --username"), "{line}: {said}");
    }
}
