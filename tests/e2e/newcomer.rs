//! What a new user meets.
#![cfg(unix)]

use std::io::Write as _;

use insta::assert_snapshot;

use crate::login_refused::{asked, at_a_terminal};
use crate::setup::logins::{PASSWORD, basic};
use crate::setup::{Scene, WIDGET};

const STORE: &str = "{\"credsStore\": \"vault\"}";

#[test]
fn what_a_failing_helper_writes_is_not_repeated() {
    let mut scene = Scene::with(basic());
    scene.context.write_home(".docker/config.json", STORE);
    for script in ["echo 'ada:LEAKED-SECRET-4'; exit 2", "echo 'token=LEAKED rejected'; exit 2"] {
        scene.helper("vault", script);
        for verb in ["versions", "auth explain"] {
            for json in ["", "--json"] {
                let said = scene.run(&format!("{verb} REGISTRY/acme/widget {json}"));
                assert_eq!(said.code, Some(1), "{}", said.text);
                assert!(!said.text.contains("LEAKED"), "{}", said.text);
            }
        }
    }
    scene.helper("vault", &format!("echo 'bad password {PASSWORD}'; exit 1"));
    let said = scene.log_in("");
    let failed = "credential helper vault failed: exit status 1; what it wrote may hold a secret and is not repeated\n";
    assert!(said.text.contains(failed) && !said.text.contains(PASSWORD), "{}", said.text);
    scene.helper(
        "vault",
        "case $1 in get) echo '{\"Username\": \"ada\", \"Secret\": \"hunter\"}' ;; *) echo 'no hunter'; exit 1 ;; esac",
    );
    let said = scene.run("logout REGISTRY");
    assert!(said.text.contains(failed) && !said.text.contains("no hunter"), "{}", said.text);
    assert!(said.text.ends_with("| docker-credential-vault erase\n"), "{}", said.text);
}

#[test]
fn a_service_whose_home_is_dev_null_goes_on_with_warnings() {
    let mut scene = Scene::published();
    scene.context.env("HOME", "/dev/null");
    let said = scene.run("versions REGISTRY/acme/widget").success();
    assert_snapshot!(said.text, @"
    exit code: 0
    ----- stdout -----
    1.4.0

    ----- stderr -----
    warning: /dev/null/.tofurc cannot be opened: a part of its path is not a folder
      hint: set HOME to a folder, or name a file with TF_CLI_CONFIG_FILE
    warning: ~/.config/containers/auth.json: it is left out, since it cannot be read: a part of its path is not a folder; OpenTofu then reads no ambient file at all
    warning: ~/.docker/config.json: it is left out, since it cannot be read: a part of its path is not a folder; OpenTofu then reads no ambient file at all
    warning: ~/.dockercfg: it is left out, since it cannot be read: a part of its path is not a folder; OpenTofu then reads no ambient file at all
    ");
    let said = scene.run("auth explain REGISTRY/acme/widget").success();
    assert_eq!(said.text.matches(".tofurc").count(), 1, "{}", said.text);
    assert!(!said.text.contains("config-dropped") && !said.text.contains("syntax error"), "{}", said.text);
}

#[test]
fn a_wrong_block_of_credentials_is_in_nobodys_way_without_its_credentials() {
    let scene = Scene::with(basic());
    scene.dist("dist", "1.4.0");
    let login = "--username ada --password-stdin";
    scene.run_with(&format!("push dist REGISTRY/acme/widget --address {WIDGET} {login}"), PASSWORD).success();
    scene.context.write_home(".tofurc", "oci_credentials \"a.example\" {\n}\n");
    scene.run_with(&format!("versions REGISTRY/acme/widget {login}"), PASSWORD).success();
    let said = scene.run("versions REGISTRY/acme/widget --anonymous");
    assert!(said.code == Some(1) && !said.text.contains("oci_credentials holds"), "{}", said.text);
    assert_eq!(scene.run("versions REGISTRY/acme/widget").code, Some(2));
    // Whatever else is wrong is in the way: it says where providers are.
    scene.context.write_home(".tofurc", "provider_installation = {\n}\n");
    assert_eq!(scene.run("versions REGISTRY/acme/widget --anonymous").code, Some(2));
}

#[test]
fn a_misspelt_argument_is_told_before_what_it_leaves_incomplete() {
    let scene = Scene::published();
    scene.context.write_home(".tofurc", "oci_credentials \"a.example\" {\n  username = \"a\"\n  pasword = \"b\"\n}\n");
    let said = scene.run("copy REGISTRY/acme/widget oci:layout");
    assert_eq!(said.code, Some(2));
    let first = said.stderr.lines().next().unwrap_or_default();
    assert!(first.contains("pasword"), "{}", said.text);
}

#[test]
fn an_option_for_hosts_takes_nothing_else() {
    let scene = Scene::published();
    let said = scene.run("versions REGISTRY/acme/widget --token-host ada:SECRET@auth.example.com");
    assert_snapshot!(said.text, @"
    exit code: 2
    ----- stdout -----

    ----- stderr -----
    error: --token-host cannot be `auth.example.com`: it is the host alone, without a user

    hint: write auth.example.com
    ");
    for line in ["--token-host https://auth.example.com", "--plain-http a/b", "--plain-http '*'", "--token-host ''"] {
        let said = scene.run(&format!("versions REGISTRY/acme/widget {line}"));
        assert!(said.code == Some(2) && said.stderr.contains("\nhint: write "), "{}", said.text);
    }
    let mut scene = scene;
    scene.context.env("TOFU_OCI_PLAIN_HTTP", "a.example , b.example:5000");
    scene.run("versions REGISTRY/acme/widget").success();
}

#[test]
fn a_password_on_the_command_line_is_refused_and_not_repeated() {
    let scene = Scene::new();
    for line in ["-p SECRET", "-pSECRET", "--password SECRET", "--password=SECRET", "-p"] {
        let said = scene.run(&format!("login REGISTRY -u ada {line}"));
        assert_eq!(said.code, Some(2), "{}", said.text);
        assert!(!said.text.contains("SECRET") && said.text.contains("use --password-stdin"), "{}", said.text);
    }
}

#[test]
fn a_helper_that_an_interruption_ends_first_is_no_failure_of_the_helper() {
    let mut scene = Scene::with(basic());
    scene.context.write_home(".docker/config.json", STORE);
    for end in ["kill -INT $$", "exit 130"] {
        scene.helper("vault", &format!("(sleep 0.1; kill -INT $PPID) >/dev/null 2>&1 &\n{end}"));
        let said = scene.run("versions REGISTRY/acme/widget");
        assert_eq!(said.code, Some(130), "{}", said.text);
    }
}

#[test]
fn a_login_without_a_name_asks_on_a_terminal_as_docker_does() {
    let scene = Scene::with(basic());
    let (mut child, mut person, _terminal) = at_a_terminal(&scene, "login REGISTRY");
    let question = asked(&mut child).replace(scene.registry.address(), "REGISTRY");
    assert_eq!(question, "User name at REGISTRY: ");
    person.write_all(b"ada\n").expect("somebody types");
    let question = asked(&mut child).replace(scene.registry.address(), "REGISTRY");
    assert_eq!(question, "Password of ada at REGISTRY: ");
    person.write_all(format!("{PASSWORD}\n").as_bytes()).expect("somebody types");
    let output = child.wait_with_output().expect("it ends");
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    scene.run("login REGISTRY").success();
}

#[test]
fn a_registry_in_capital_letters_is_warned_of() {
    let scene = Scene::with(basic());
    let port = scene.registry.address().rsplit_once(':').expect("a port").1.to_owned();
    let line = format!("login LOCALHOST:{port} -u ada --password-stdin");
    let said = scene.run_with(&line, PASSWORD).success();
    assert!(said.stderr.contains("names of registries are compared byte for byte"), "{}", said.text);
}

#[test]
fn a_logout_says_what_stays_and_what_was_never_there() {
    let scene = Scene::with(basic());
    scene.log_in("").success();
    let entry = format!("{{\"auths\": {{\"{}/acme\": {{\"auth\": \"YWRhOmh1bnRlcjI=\"}}}}}}", scene.registry.address());
    scene.context.write_home(".config/containers/auth.json", entry);
    let said = scene.run("logout REGISTRY").success();
    assert_snapshot!(said.text, @r#"
    exit code: 0
    ----- stdout -----
    logged out of [REGISTRY]
      removed "[REGISTRY]" from ~/.docker/config.json

    ----- stderr -----
    note: auths "[REGISTRY]/acme" in ~/.config/containers/auth.json:1 stays: it is for the repositories that it names
    "#);
    let said = scene.run("logout REGISTRY --auth-file nowhere.json").success();
    assert!(said.stderr.contains("nowhere.json is not there"), "{}", said.text);
}

#[test]
fn a_public_key_that_everybody_may_read_is_not_called_a_private_key() {
    let scene = Scene::published();
    let public = concat!(env!("CARGO_MANIFEST_DIR"), "/../../testdata/trust/cosign/test-keys/p256.pub");
    scene.context.write("p256.pub", std::fs::read(public).expect("a public key"));
    let said = scene.refuse("sign REGISTRY/acme/widget:1.4.0 --key p256.pub");
    assert!(!said.contains("chmod"), "{said}");
}

#[test]
fn what_is_used_although_its_place_was_not_reached_says_why() {
    let mut scene = Scene::published();
    scene.run(&format!("install {WIDGET} --from REGISTRY/acme/widget --platform linux_amd64")).success();
    // With more than an `h1:` in the lock file the place is not asked at all.
    let lock = scene.context.read(".terraform.lock.hcl");
    let lines: Vec<&str> = lock.lines().filter(|line| !line.contains("\"zh:") && !line.contains("\"ch:")).collect();
    scene.context.write(".terraform.lock.hcl", lines.join("\n") + "\n");
    scene.context.env("HTTPS_PROXY", "http://127.0.0.1:1");
    for from in ["", "--from registry.example.com/acme/widget"] {
        let said = scene.run(&format!("install {WIDGET} {from} --platform linux_amd64 --attempts 1")).success();
        let used = "1.4.0 linux_amd64 is installed and locked, and stays as it is; registry.example.com";
        assert!(said.stderr.contains(used), "{}", said.text);
        assert!(
            said.stderr.contains("could not be asked: ") && said.stderr.contains("onnection refused"),
            "{}",
            said.text
        );
    }
}

#[test]
fn a_proxy_of_an_unknown_kind_was_tried_five_times() {
    let mut scene = Scene::new();
    scene.context.env("HTTPS_PROXY", "ftp://ada:hunter2@127.0.0.1:1");
    let said = scene.refuse("versions registry.example.com/acme/widget");
    assert!(said.contains("HTTPS_PROXY names a proxy of the kind ftp, which is not supported"), "{said}");
    assert!(!said.contains("hunter2") && !said.contains("attempt 2"), "{said}");
}

#[test]
fn a_proxy_that_does_not_answer_is_not_taken_for_the_registry() {
    let mut scene = Scene::published();
    scene.context.env("HTTPS_PROXY", "http://ada:hunter2@127.0.0.1:1");
    let said = scene.refuse("versions registry.example.com/acme/widget --attempts 1");
    assert!(
        said.contains("hint: HTTPS_PROXY names a proxy, and requests to registry.example.com go through it"),
        "{said}"
    );
    assert!(!said.contains("hunter2"), "{said}");
    assert!(!scene.refuse("versions 127.0.0.1:1/acme/widget --attempts 1").contains("HTTPS_PROXY"));
}

#[test]
fn a_certificate_that_cannot_be_used_is_named() {
    let scene = Scene::published();
    scene.context.write("bad.pem", "nothing");
    scene.context.write("key.pem", "nothing");
    let said = scene.refuse("versions REGISTRY/acme/widget --ca-file bad.pem");
    assert!(said.contains("error: bad.pem cannot be used: the file holds no PEM certificate"), "{said}");
    let said = scene.refuse("versions REGISTRY/acme/widget --client-cert bad.pem --client-key key.pem");
    assert!(said.contains("error: bad.pem with key.pem cannot be used: "), "{said}");
}

#[test]
fn the_help_of_providers_does_not_offer_an_option_that_it_refuses() {
    let scene = Scene::published();
    scene.refuse("providers --private-host registry.example.com");
    let said = scene.run("providers --help").success();
    assert!(!said.stdout.contains("--private-host") && said.stdout.contains("--magic-suffix"), "{}", said.text);
    assert!(scene.run("install --help").success().stdout.contains("--private-host"));
}

#[test]
fn a_wrong_password_that_was_asked_for_is_not_called_that_of_password_stdin() {
    let scene = Scene::with(basic());
    let (mut child, mut person, _terminal) = at_a_terminal(&scene, "versions REGISTRY/acme/widget --username ada");
    asked(&mut child);
    person.write_all(b"wrong\n").expect("somebody types");
    let said = child.wait_with_output().expect("it ends").stderr;
    let said = String::from_utf8_lossy(&said);
    assert!(said.contains("hint: check the name and the password\n"), "{said}");
}

#[test]
fn the_end_of_input_leaves_the_line_of_the_question() {
    let scene = Scene::with(basic());
    let (mut child, mut person, _terminal) = at_a_terminal(&scene, "login REGISTRY");
    asked(&mut child);
    person.write_all(&[4]).expect("somebody types");
    let said = child.wait_with_output().expect("it ends").stderr;
    let said = String::from_utf8_lossy(&said);
    assert!(said.starts_with("\nerror: "), "{said}");
}
