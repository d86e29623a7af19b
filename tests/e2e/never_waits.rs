//! A pipe in the place of a file: an error that names it, and no command that waits for ever.
#![cfg(unix)]

use std::io::Read as _;
use std::path::Path;
use std::process::{Command, Stdio};
use std::sync::mpsc;
use std::time::Duration;

use crate::setup::{Scene, WIDGET};

/// Far longer than any of these commands takes; only a command that waits for ever meets it.
const GUARD: Duration = Duration::from_mins(2);

fn pipe(path: &Path) {
    std::fs::create_dir_all(path.parent().expect("a folder")).expect("it can be made");
    let _ = std::fs::remove_file(path);
    let mode = rustix::fs::Mode::from_raw_mode(0o600);
    rustix::fs::mkfifoat(rustix::fs::CWD, path, mode).expect("a pipe can be made");
}

/// Exit code and what was said.
#[track_caller]
fn ended(command: &mut Command) -> (Option<i32>, String) {
    let mut child =
        command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::piped()).spawn().expect("the program starts");
    let mut stderr = child.stderr.take().expect("a pipe");
    let (sender, said) = mpsc::channel();
    std::thread::spawn(move || {
        let mut text = String::new();
        let _ = stderr.read_to_string(&mut text);
        let _ = sender.send(text);
    });
    let Ok(said) = said.recv_timeout(GUARD) else {
        child.kill().expect("it is running");
        child.wait().expect("it ends");
        panic!("it waits for ever: {command:?}");
    };
    (child.wait().expect("it ends").code(), said)
}

/// Runs a command where it meets the pipe, which it refuses or warns of.
#[track_caller]
fn check(scene: &Scene, line: &str) {
    let (code, said) = ended(&mut scene.command(line));
    assert!(said.contains("not a regular file"), "{line}: {code:?}\n{said}");
}

const INSTALL: &str = "install registry.example.com/acme/widget --from REGISTRY/acme/widget --platform linux_amd64";
const LOCK: &str = "lock registry.example.com/acme/widget --from REGISTRY/acme/widget --platform linux_amd64";

#[test]
fn a_pipe_as_lock_file_ends_every_verb_that_reads_it() {
    let scene = Scene::published();
    pipe(&scene.path(".terraform.lock.hcl"));
    let resolve = format!("resolve {WIDGET} --explain");
    for line in [INSTALL, LOCK, &format!("{LOCK} --check"), "check .", "check .terraform.lock.hcl", &resolve] {
        check(&scene, line);
    }
    check(&scene, "config check");
    ended(&mut scene.command("providers"));
}

#[test]
fn a_pipe_as_pin_file_or_policy_ends_every_verb_that_reads_it() {
    for name in [".tofu-oci.pins.json", "trust.toml"] {
        let scene = Scene::published();
        pipe(&scene.path(name));
        for line in [INSTALL, LOCK, &format!("verify {WIDGET}@1.4.0 --from REGISTRY/acme/widget")] {
            check(&scene, line);
        }
    }
}

#[test]
fn a_pipe_among_the_users_files_is_warned_of_or_refused() {
    let scene = Scene::published();
    let home = scene.context.home();
    pipe(&home.join(".tofurc"));
    check(&scene, &format!("resolve {WIDGET}"));
    ended(&mut scene.command("config check"));
    std::fs::remove_file(home.join(".tofurc")).expect("it is ours");
    pipe(&home.join("cli.tfrc"));
    let mut named = scene.command(&format!("resolve {WIDGET}"));
    let (_, said) = ended(named.env("TF_CLI_CONFIG_FILE", home.join("cli.tfrc")));
    assert!(said.contains("not a regular file"), "{said}");
    for name in [".docker/config.json", ".dockercfg", ".config/containers/auth.json"] {
        pipe(&home.join(name));
        check(&scene, "versions REGISTRY/acme/widget");
        let (_, said) = ended(&mut scene.command("auth explain REGISTRY/acme/widget --json"));
        assert!(!said.contains("a bug in tofu-oci"), "{said}");
        std::fs::remove_file(home.join(name)).expect("it is ours");
    }
    pipe(&home.join(".docker/config.json"));
    ended(&mut scene.command("login REGISTRY"));
    check(&scene, "logout REGISTRY");
}

#[test]
fn a_pipe_that_an_option_names_is_refused() {
    let scene = Scene::published();
    pipe(&scene.path("pipe"));
    let verify = format!("verify {WIDGET}@1.4.0 --from REGISTRY/acme/widget --key pipe");
    let policy = format!("{INSTALL} --trust-policy pipe");
    for line in [
        "versions REGISTRY/acme/widget --ca-file pipe",
        "versions REGISTRY/acme/widget --client-cert pipe",
        "login REGISTRY --username ada --password-stdin --auth-file pipe",
        "sign REGISTRY/acme/widget --version 1.4.0 --key pipe",
        &verify,
        &policy,
    ] {
        check(&scene, line);
    }
}

#[test]
fn a_descriptor_that_a_shell_hands_over_and_the_null_device_are_read() {
    use std::io::Write as _;
    let scene = Scene::published();
    let mut command = scene.command("versions REGISTRY/acme/widget --ca-file /dev/stdin");
    let mut child = command.stdin(Stdio::piped()).stderr(Stdio::piped()).spawn().expect("the program starts");
    child.stdin.take().expect("a pipe").write_all(b"no certificate").expect("it reads");
    let output = child.wait_with_output().expect("it ends");
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(said.contains("holds no PEM certificate"), "{said}");
    scene.key("p256.pem");
    let key = std::fs::read(scene.path("p256.pem")).expect("a key");
    for line in ["sign REGISTRY/acme/widget:1.4.0 --key /dev/stdin", "sign REGISTRY/acme/widget:1.4.0 --key /dev/fd/0"]
    {
        let mut command = scene.command(line);
        let mut child = command.stdin(Stdio::piped()).spawn().expect("the program starts");
        child.stdin.take().expect("a pipe").write_all(&key).expect("it reads");
        assert!(child.wait().expect("it ends").success(), "{line}");
    }
    let mut command = scene.command("versions REGISTRY/acme/widget");
    command.env("TF_CLI_CONFIG_FILE", "/dev/null").env("REGISTRY_AUTH_FILE", "/dev/null");
    assert_eq!(ended(&mut command).0, Some(0));
}

#[test]
fn a_pipe_in_a_folder_of_release_files_or_a_layout_ends_the_run() {
    let scene = Scene::published();
    for name in ["SHA256SUMS", "artifacts.json", "metadata.json", "terraform-provider-widget_1.5.0_linux_arm64.zip"] {
        scene.dist("dist", "1.5.0");
        pipe(&scene.path(&format!("dist/{name}")));
        ended(&mut scene.command(&format!("push dist REGISTRY/acme/widget --address {WIDGET}")));
        std::fs::remove_file(scene.path(&format!("dist/{name}"))).expect("it is ours");
    }
    scene.run("copy REGISTRY/acme/widget oci:layout").success();
    for file in scene.context.files().iter().filter(|name| name.starts_with("layout/") && !name.contains(".tofu-oci")) {
        let path = scene.path(file);
        if !path.is_file() {
            continue;
        }
        let before = std::fs::read(&path).expect("a file");
        pipe(&path);
        ended(&mut scene.command("versions oci:layout"));
        ended(&mut scene.command("check oci:layout --deep"));
        ended(&mut scene.command(&INSTALL.replace("REGISTRY/acme/widget --platform", "oci:layout --platform")));
        std::fs::remove_file(&path).expect("it is ours");
        std::fs::write(&path, before).expect("it is ours");
    }
}

#[test]
fn a_pipe_in_an_installed_package_is_not_waited_for() {
    let scene = Scene::published();
    scene.run(INSTALL).success();
    let program = scene.context.files().into_iter().find(|name| name.contains("linux_amd64/")).expect("it is there");
    pipe(&scene.path(&program));
    ended(&mut scene.command(INSTALL));
}

#[test]
fn a_file_that_is_far_too_large_is_not_read() {
    for name in [".terraform.lock.hcl", ".tofu-oci.pins.json", "trust.toml"] {
        let scene = Scene::published();
        let file = std::fs::File::create(scene.path(name)).expect("a file");
        file.set_len(10 << 30).expect("a sparse file");
        let (code, said) = ended(&mut scene.command(INSTALL));
        assert!(code != Some(0) && said.contains("larger than"), "{name}: {said}");
        std::fs::remove_file(scene.path(name)).expect("it is ours");
    }
}
