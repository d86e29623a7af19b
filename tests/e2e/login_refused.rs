//! Logins that are not stored: nothing is written, no secret is sent to the wrong place, and the error names the reason.
#![cfg(unix)]

use std::io::Read as _;
use std::process::{Child, Stdio};

use insta::assert_snapshot;
use tofu_oci_testkit::{Auth, Bearer, Fault, Login, Registry, Rule, TokenAddress};

use crate::login::started;
use crate::setup::Scene;
use crate::setup::logins::{PASSWORD, basic, bearer};

/// Runs a login that must fail and write nothing.
#[track_caller]
fn refused(scene: &Scene, line: &str, input: &str) -> String {
    let before: Vec<(String, Option<String>)> =
        scene.home_files().into_iter().map(|name| (name.clone(), scene.home_text(&name))).collect();
    let said = scene.run_with(line, input);
    assert_ne!(said.code, Some(0), "{}", said.text);
    let after: Vec<(String, Option<String>)> =
        scene.home_files().into_iter().map(|name| (name.clone(), scene.home_text(&name))).collect();
    assert_eq!(after, before, "something was written\n{}", said.text);
    said.text
}

const LINE: &str = "login REGISTRY --username ada --password-stdin";

#[test]
fn a_wrong_password() {
    for (registry, scheme) in [(basic(), "Basic"), (bearer(), "Bearer")] {
        let scene = Scene::with(registry);
        let text = refused(&scene, LINE, "hunter2");
        let text = text.replace("the token server", "the registry");
        assert!(text.starts_with("exit code: 1\n"), "{scheme}: {text}");
        assert!(text.contains("error: [REGISTRY] refuses the login of ada\n  cause: "), "{scheme}: {text}");
    }
    let scene = Scene::with(basic());
    assert_snapshot!(refused(&scene, LINE, "hunter2"), @"
    exit code: 1
    ----- stdout -----

    ----- stderr -----
    error: [REGISTRY] refuses the login of ada
      cause: the given credentials are refused: authentication required (UNAUTHORIZED)

    hint: check the name and the password; many registries want an access token in the password's place
    hint: nothing was stored
    ");
}

#[test]
fn a_registry_that_cannot_be_reached_or_fails() {
    let scene = Scene::with(basic());
    let text = refused(&scene, "login registry.invalid --username ada --password-stdin --attempts 1", PASSWORD);
    assert_snapshot!(text, @"
    exit code: 3
    ----- stdout -----

    ----- stderr -----
    error: cannot reach registry.invalid: failed to lookup address information: [REASON]

    hint: check the host name and the network
    hint: nothing was stored
    ");
    scene.registry.fault(Rule::on("GET", "/v2/").then(Fault::status(503, "UNAVAILABLE")));
    assert_snapshot!(refused(&scene, &format!("{LINE} --attempts 1"), PASSWORD), @"
    exit code: 3
    ----- stdout -----

    ----- stderr -----
    error: [REGISTRY] answered 503 to GET /v2/: injected (UNAVAILABLE)

    hint: the registry has a problem of its own; run the same command again later
    hint: nothing was stored
    ");
}

#[test]
fn a_realm_without_tls() {
    let given = TokenAddress::Given("http://tokens.example/token".to_owned());
    let auth = Auth::Bearer(Bearer { address: given, ..Bearer::new(Login::new("ada", PASSWORD)) });
    let scene = Scene::with(Registry::builder().auth(auth).tls(tofu_oci_testkit::ClientCertificate::NotAsked));
    scene.context.write("ca.pem", scene.registry.ca_pem().expect("it speaks TLS"));
    assert_snapshot!(refused(&scene, &format!("{LINE} --ca-file ca.pem"), PASSWORD), @"
    exit code: 1
    ----- stdout -----

    ----- stderr -----
    error: refused to follow [REGISTRY]: the token server tokens.example would be asked over plain HTTP

    hint: the password would be sent in the clear: ask the registry's operator; if that server is the right one, allow it with --token-host HOST and --plain-http HOST
    hint: nothing was stored
    ");
}

#[test]
fn a_malformed_file_is_told_before_anything_is_asked_and_left_as_it_is() {
    let scene = Scene::with(basic());
    for text in ["{\n  \"auths\": {},\n  \"credsStore\": \"x\",\n}", "[]", "{\"auths\": []}", "{} x"] {
        scene.context.write_home(".docker/config.json", text);
        let said = refused(&scene, LINE, PASSWORD);
        assert!(said.starts_with("exit code: 2\n"), "{said}");
        let logout = refused(&scene, "logout REGISTRY", "");
        assert!(logout.starts_with("exit code: 2\n"), "{logout}");
        assert_eq!(scene.home_text(".docker/config.json").as_deref(), Some(text));
    }
    assert_eq!(scene.conversation(), Vec::<String>::new());
    scene.context.write_home(".docker/config.json", "{\n  \"auths\": {},\n}");
    assert_snapshot!(refused(&scene, LINE, PASSWORD), @"
    exit code: 2
    ----- stdout -----

    ----- stderr -----
    error: ~/.docker/config.json:3: it is not JSON: there is a comma too many at column 1

    hint: nothing was changed: correct the file, or name another one with --auth-file FILE
    ");
    // Docker takes an empty file for one without entries.
    for text in ["", "\n", "null"] {
        scene.context.write_home(".docker/config.json", text);
        scene.log_in("").success();
        scene.run("login REGISTRY").success();
    }
}

#[test]
fn a_file_that_cannot_be_written() {
    let mut scene = Scene::with(basic());
    std::fs::create_dir_all(scene.context.home().join(".docker/config.json")).expect("home is ours");
    assert_snapshot!(refused(&scene, LINE, PASSWORD), @"
    exit code: 1
    ----- stdout -----

    ----- stderr -----
    error: cannot use ~/.docker/config.json
      cause: is a directory

    hint: a file lies where a folder is needed, or a folder where a file is; choose another place
    hint: another file is named by --auth-file FILE, another folder by DOCKER_CONFIG=DIR
    ");
    scene.context.env("DOCKER_CONFIG", "/dev/null");
    assert_snapshot!(refused(&scene, LINE, PASSWORD), @"
    exit code: 1
    ----- stdout -----

    ----- stderr -----
    error: cannot use /dev/null/config.json
      cause: Not a directory (os error [N])

    hint: a file lies where a folder is needed, or a folder where a file is; choose another place
    hint: another file is named by --auth-file FILE, another folder by DOCKER_CONFIG=DIR
    ");
    assert_eq!(scene.conversation(), Vec::<String>::new());
    // No folder can be made here, not even by root.
    scene.context.env("DOCKER_CONFIG", "/proc/self/docker");
    assert_snapshot!(refused(&scene, LINE, PASSWORD), @"
    exit code: 1
    ----- stdout -----

    ----- stderr -----
    error: cannot write /proc/self/docker/config.json
      cause: No such file or directory (os error [N])

    hint: check the path; its parent folders must be there
    hint: another file is named by --auth-file FILE, another folder by DOCKER_CONFIG=DIR
    ");
}

#[test]
fn a_full_disk() {
    let scene = Scene::with(basic());
    let config = format!("{{\"psFormat\": \"{}\"}}", "x".repeat(1 << 20));
    scene.context.write_home(".docker/config.json", &config);
    std::fs::write(scene.path("password"), PASSWORD).expect("work is ours");
    let program = scene.command(LINE);
    let mut command = scene.context.command("sh");
    command.args(["-c", "trap '' XFSZ; ulimit -f 1024 2>/dev/null; exec \"$0\" \"$@\" < password"]);
    command.arg(program.get_program()).args(program.get_args());
    assert_snapshot!(scene.output(&mut command).text, @"
    exit code: 1
    ----- stdout -----

    ----- stderr -----
    error: cannot write ~/.docker/config.json
      cause: File too large (os error [N])

    hint: free some space and run the same command again; nothing half-done was kept
    hint: another file is named by --auth-file FILE, another folder by DOCKER_CONFIG=DIR
    ");
    assert_eq!(scene.home_text(".docker/config.json").as_deref(), Some(config.as_str()));
    assert_eq!(scene.home_files(), [".docker", ".docker/config.json"]);
}

#[test]
fn wrong_usage() {
    let scene = Scene::with(basic());
    let said = |line: &str, input: &str| refused(&scene, line, input);
    assert_snapshot!(said("login https://REGISTRY/v2/ -u ada --password-stdin", PASSWORD), @"
    exit code: 2
    ----- stdout -----

    ----- stderr -----
    error: `https://[REGISTRY]/v2/` is not a registry: it is written without a scheme such as https://

    hint: name the registry alone: [REGISTRY]
    ");
    assert_snapshot!(said("login REGISTRY/acme/widget", ""), @"
    exit code: 2
    ----- stdout -----

    ----- stderr -----
    error: `[REGISTRY]/acme/widget` is not a registry: it is the host alone, without a path

    hint: name the registry alone: [REGISTRY]
    ");
    assert_snapshot!(said("logout 'ada:hunter2@REGISTRY'", ""), @"
    exit code: 2
    ----- stdout -----

    ----- stderr -----
    error: `[REGISTRY]` is not a registry: it is the host alone; --username names the account

    hint: name the registry alone: [REGISTRY]
    ");
    assert_snapshot!(said(LINE, "\n"), @r#"
    exit code: 2
    ----- stdout -----

    ----- stderr -----
    error: there is no password on standard input

    hint: such as: printf %s "$PASSWORD" | tofu-oci … --username USER --password-stdin
    "#);
    assert_snapshot!(said("login REGISTRY --username ada", PASSWORD), @"
    exit code: 2
    ----- stdout -----

    ----- stderr -----
    error: the password cannot be asked for: standard input is not a terminal

    hint: give it on standard input, with --password-stdin
    ");
    assert_snapshot!(said("login REGISTRY --password-stdin", PASSWORD), @"
    exit code: 2
    ----- stdout -----

    ----- stderr -----
    error: the following required arguments were not provided:
      --username <NAME>

    Usage: tofu-oci login --username <NAME> --password-stdin <REGISTRY>

    For more information, try '--help'.
    ");
    assert_snapshot!(said("login REGISTRY --username a:b --password-stdin", PASSWORD), @r#"
    exit code: 2
    ----- stdout -----

    ----- stderr -----
    error: the name for --username has a colon, and cannot be sent

    hint: a password comes by standard input: printf %s "$PASSWORD" | tofu-oci VERB … --password-stdin
    "#);
    assert_snapshot!(said("login REGISTRY --username ada --password x", PASSWORD), @r#"
    exit code: 2
    ----- stdout -----

    ----- stderr -----
    error: there is no option for the password itself: others on the machine can read it

    hint: use --password-stdin, such as: printf %s "$PASSWORD" | tofu-oci login REGISTRY --username NAME --password-stdin
    "#);
    assert_snapshot!(said("login REGISTRY --auth-file x.json", ""), @"
    exit code: 2
    ----- stdout -----

    ----- stderr -----
    error: the following required arguments were not provided:
      --username <NAME>

    Usage: tofu-oci login --username <NAME> --auth-file <FILE> <REGISTRY>

    For more information, try '--help'.
    ");
    assert_eq!(scene.conversation(), Vec::<String>::new());
}

/// A command with a terminal as its standard input, and the other end of that terminal.
pub(crate) fn at_a_terminal(scene: &Scene, line: &str) -> (Child, std::fs::File, std::fs::File) {
    use rustix::pty::{OpenptFlags, grantpt, openpt, ptsname, unlockpt};
    let person = openpt(OpenptFlags::RDWR | OpenptFlags::NOCTTY).expect("a terminal can be made");
    grantpt(&person).and_then(|()| unlockpt(&person)).expect("it is ours");
    let name = ptsname(&person, Vec::new()).expect("it has a name").into_string().expect("of plain letters");
    let open = || std::fs::File::options().read(true).write(true).open(&name).expect("it is there");
    let mut command = scene.command(line);
    let child = command.stdin(open()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().expect("it starts");
    (child, person.into(), open())
}

/// Reads what a program says until it asks.
pub(crate) fn asked(child: &mut Child) -> String {
    let mut said = Vec::new();
    let mut letter = [0];
    let stderr = child.stderr.as_mut().expect("a pipe");
    while !said.ends_with(b": ") && stderr.read(&mut letter).expect("a pipe") == 1 {
        said.push(letter[0]);
    }
    String::from_utf8(said).expect("plain text")
}

fn echoes(terminal: &std::fs::File) -> bool {
    let modes = rustix::termios::tcgetattr(terminal).expect("a terminal");
    modes.local_modes.contains(rustix::termios::LocalModes::ECHO)
}

#[test]
pub(crate) fn at_a_terminal_the_password_is_asked_for_and_not_shown() {
    use std::io::Write as _;
    let scene = Scene::with(basic());
    let (mut child, mut person, terminal) = at_a_terminal(&scene, "login REGISTRY --username ada");
    let question = asked(&mut child);
    assert_eq!(question.replace(scene.registry.address(), "REGISTRY"), "Password of ada at REGISTRY: ");
    assert!(!echoes(&terminal));
    person.write_all(format!("{PASSWORD}\n").as_bytes()).expect("somebody types");
    let output = child.wait_with_output().expect("it ends");
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    assert!(echoes(&terminal), "the terminal was left without echo");
    scene.run("login REGISTRY").success();
    let mut shown = [0; 256];
    let length = person.read(&mut shown).expect("a terminal");
    assert!(!String::from_utf8_lossy(&shown[..length]).contains("horse"), "the terminal showed it");
}

#[test]
fn a_terminal_gets_its_echo_back_when_the_question_is_interrupted() {
    let scene = Scene::with(basic());
    let (mut child, _person, terminal) = at_a_terminal(&scene, "login REGISTRY --username ada");
    asked(&mut child);
    let status = std::process::Command::new("sh").args(["-c", "kill -INT \"$0\"", &child.id().to_string()]).status();
    assert!(status.expect("a shell is there").success());
    assert_eq!(child.wait().expect("it ends").code(), Some(130));
    assert!(echoes(&terminal), "the terminal was left without echo");
    assert_eq!(scene.home_files(), Vec::<String>::new());
}

#[test]
fn a_killed_login_leaves_the_file_whole() {
    let scene = Scene::with(basic());
    scene.log_in("").success();
    let before = scene.home_text(".docker/config.json").expect("it is there");
    for _ in 0..5 {
        let mut child = started(&mut scene.command(LINE), PASSWORD);
        child.kill().expect("it is ours");
        child.wait().expect("it ends");
        assert_eq!(scene.home_text(".docker/config.json").as_ref(), Some(&before));
    }
}

/// Every message repeated the word, which may be the password.
#[test]
fn a_word_too_many_is_not_shown_by_verbs_that_take_a_password() {
    let scene = Scene::new();
    for line in [
        "login ghcr.io hunter2",
        "login ghcr.io hunter2 --json",
        "login ghcr.io --username me hunter2",
        "login ghcr.io --password-stdin hunter2",
        "login ghcr.io --password-stdin=hunter2",
        "login ghcr.io --username me:hunter2",
        "push dist ghcr.io/acme/widget --password-stdin hunter2",
        "push dist ghcr.io/acme/widget --sign-key k --key-password-stdin hunter2",
        "sign ghcr.io/acme/widget:1.4.0 --key k --key-password-stdin hunter2",
        "outdated --username me hunter2",
        "auth explain ghcr.io/acme/widget hunter2",
    ] {
        let said = scene.run(line);
        assert_eq!(said.code, Some(2), "{}", said.text);
        assert!(!said.text.contains("hunter2"), "{}", said.text);
    }
    let said = scene.refuse("login ghcr.io hunter2");
    let want = "error: one argument is too many; it may be a password, so it is not shown\n";
    assert!(said.contains(want), "{said}");
}
