//! SIGINT or SIGHUP in the middle: nothing half-done stays, and running again succeeds.
#![cfg(unix)]

use std::process::{Child, Command, Output, Stdio};

use tofu_oci_testkit::{Behaviour, Deletion, Fault, Gate, ProviderZip, Registry, ReleaseFolder, Rule};

use crate::setup::stall::StalledWire;
use crate::setup::{Scene, State, WIDGET};

fn start(command: &mut Command) -> Child {
    command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().expect("the program starts")
}

/// Interrupts a program and waits for its end.
fn interrupt(child: Child) -> Output {
    send("INT", &child);
    child.wait_with_output().expect("the program ends")
}

fn send(signal: &str, child: &Child) {
    let status = Command::new("sh").args(["-c", "kill -\"$0\" \"$1\"", signal, &child.id().to_string()]).status();
    assert!(status.expect("a shell is there").success());
}

fn held(gate: &Gate) {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().expect("a runtime can be made");
    runtime.block_on(gate.arrived(1));
}

fn stderr(output: &Output) -> String {
    String::from_utf8_lossy(&output.stderr).into_owned()
}

/// A release of 2 MB, published.
fn large() -> Scene {
    let scene = Scene::new();
    let package = ProviderZip::new("widget", "1.4.0", "linux_amd64").random_file("data.bin", 2_000_000);
    ReleaseFolder::new("widget", "1.4.0", &[]).package(package).write_zips(&scene.path("dist"));
    scene.run(&format!("push dist REGISTRY/acme/widget --address {WIDGET}")).success();
    scene
}

#[test]
fn a_download_that_is_interrupted_leaves_nothing() {
    let scene = large();
    let before = State::of(&scene);
    for target in ["", "--vendor", "--into mirror", "--into mirror --packed"] {
        let wire = StalledWire::before(scene.registry.address(), 1_000_000);
        let from = format!("{}/acme/widget", wire.address());
        let line = format!("install {WIDGET} --from {from} --platform linux_amd64 {target}");
        let child = start(&mut scene.command(&line));
        wire.wait();
        let output = interrupt(child);
        assert_eq!(output.status.code(), Some(130), "{}", stderr(&output));
        let words = "error: interrupted\n\nhint: nothing is half-done; run the same command again to go on\n";
        assert!(stderr(&output).ends_with(words), "{}", stderr(&output));
        assert_eq!(State::of(&scene), before, "{target}");
    }
    scene.run(&format!("install {WIDGET} --from REGISTRY/acme/widget --platform linux_amd64")).success();
}

#[test]
fn a_download_of_image_layers_that_is_interrupted_leaves_nothing() {
    let scene = large();
    scene.run(&format!("push dist REGISTRY/acme/widget --address {WIDGET} --layout image --replace-tag")).success();
    let before = State::of(&scene);
    let wire = StalledWire::before(scene.registry.address(), 1_000_000);
    let line = format!("install {WIDGET} --from {}/acme/widget --platform linux_amd64", wire.address());
    let child = start(&mut scene.command(&line));
    wire.wait();
    let output = interrupt(child);
    assert_eq!(output.status.code(), Some(130), "{}", stderr(&output));
    assert_eq!(State::of(&scene), before);
}

#[test]
fn a_lock_that_is_interrupted_leaves_nothing() {
    let scene = large();
    let text = format!("terraform {{\n  required_providers {{\n    widget = {{ source = \"{WIDGET}\" }}\n  }}\n}}\n");
    scene.context.write("main.tf", text);
    let before = State::of(&scene);
    let wire = StalledWire::before(scene.registry.address(), 1_000_000);
    let child = start(&mut scene.command(&format!("lock --from {}/acme/widget", wire.address())));
    wire.wait();
    let output = interrupt(child);
    assert_eq!(output.status.code(), Some(130), "{}", stderr(&output));
    assert_eq!(State::of(&scene), before, "neither a lock file nor pins nor anything in the temp folder");
    scene.run("lock --from REGISTRY/acme/widget").success();
}

#[test]
fn a_push_that_is_interrupted_leaves_no_tag() {
    for held_request in
        ["/v2/acme/widget/blobs/uploads/*", "/v2/acme/widget/manifests/sha256:*", "/v2/acme/widget/manifests/1.4.0"]
    {
        for layout in ["artifact", "image"] {
            let scene = Scene::with_dist();
            let gate = Gate::closed();
            scene.registry.fault(Rule::on("PUT", held_request).then(Fault::Hold(gate.clone())));
            let line = format!("push dist REGISTRY/acme/widget --address {WIDGET} --layout {layout}");
            let child = start(&mut scene.command(&line));
            held(&gate);
            let output = interrupt(child);
            assert_eq!(output.status.code(), Some(130), "{}", stderr(&output));
            assert!(stderr(&output).contains("error: interrupted\n"), "{}", stderr(&output));
            assert_eq!(scene.registry.tags("acme/widget"), []);
            assert_eq!(State::of(&scene).temp(), Vec::<&str>::new());
            scene.registry.clear_faults();
            scene.run(&line).success();
            assert_eq!(scene.registry.tags("acme/widget").len(), 1);
        }
    }
}

/// The program, with a signal as this option of `env` says.
#[cfg(target_os = "linux")]
fn by_env(option: &str, program: &Command) -> Command {
    let mut env = Command::new("env");
    env.arg(option).arg(program.get_program()).args(program.get_args());
    env.env_clear().envs(program.get_envs().filter_map(|(name, value)| Some((name, value?))));
    env.current_dir(program.get_current_dir().expect("a scene has a folder"));
    env
}

#[test]
#[cfg(target_os = "linux")]
fn the_end_of_a_terminal_ended_a_push_without_a_word_and_left_its_temporary_folder() {
    let scene = Scene::with_dist();
    let gate = Gate::closed();
    scene.registry.fault(Rule::on("PUT", "/v2/acme/widget/manifests/1.4.0").then(Fault::Hold(gate.clone())));
    let line = format!("push dist REGISTRY/acme/widget --address {WIDGET} --layout image");
    // Whatever has started this test.
    let child = start(&mut by_env("--default-signal=HUP", &scene.command(&line)));
    held(&gate);
    send("HUP", &child);
    let output = child.wait_with_output().expect("the program ends");
    assert_eq!(output.status.code(), Some(130), "{}", stderr(&output));
    assert!(stderr(&output).contains("error: interrupted\n"), "{}", stderr(&output));
    assert_eq!(State::of(&scene).temp(), Vec::<&str>::new());
}

#[test]
#[cfg(target_os = "linux")]
fn what_nohup_started_goes_on_after_the_end_of_the_terminal() {
    let scene = Scene::with_dist();
    let gate = Gate::closed();
    scene.registry.fault(Rule::on("PUT", "/v2/acme/widget/manifests/1.4.0").once().then(Fault::Hold(gate.clone())));
    let program = scene.command(&format!("push dist REGISTRY/acme/widget --address {WIDGET}"));
    let child = start(&mut by_env("--ignore-signal=HUP", &program));
    held(&gate);
    send("HUP", &child);
    gate.open();
    let output = child.wait_with_output().expect("the program ends");
    assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
    assert_eq!(scene.registry.tags("acme/widget").len(), 1);
}

#[test]
fn a_copy_that_is_interrupted_leaves_no_tag_and_no_temporary_file() {
    let scene = large();
    let wire = StalledWire::before(scene.registry.address(), 1_000_000);
    let child = start(&mut scene.command(&format!("copy {}/acme/widget oci:layout", wire.address())));
    wire.wait();
    let output = interrupt(child);
    assert_eq!(output.status.code(), Some(130), "{}", stderr(&output));
    let left: Vec<String> =
        scene.context.files().into_iter().filter(|name| name.starts_with("layout/.tofu-oci-")).collect();
    assert_eq!(left, [""; 0]);
    assert_eq!(scene.run("versions oci:layout").stdout, "");
    scene.run("copy REGISTRY/acme/widget oci:layout").success();
    assert_eq!(scene.run("versions oci:layout").stdout, "1.4.0\n");
}

#[test]
fn with_json_the_interruption_is_the_last_line() {
    let scene = large();
    let wire = StalledWire::before(scene.registry.address(), 1_000_000);
    let line = format!("install {WIDGET} --from {}/acme/widget --platform linux_amd64 --json", wire.address());
    let child = start(&mut scene.command(&line));
    wire.wait();
    let output = interrupt(child);
    let stdout = String::from_utf8_lossy(&output.stdout).into_owned();
    let last = stdout.lines().last().unwrap_or_default();
    assert!(last.starts_with(r#"{"event":"error","code":"interrupted","text":"interrupted""#), "{stdout}");
}

#[test]
#[cfg(target_os = "linux")]
fn a_command_that_waits_for_a_password_can_be_interrupted() {
    use std::io::Write as _;
    let scene = Scene::published();
    let (reader, mut writer) = std::io::pipe().expect("the system has a pipe left");
    rustix::pipe::fcntl_setpipe_size(&writer, 4096).expect("a pipe can be small");
    let line = "versions REGISTRY/acme/widget --username ada --password-stdin";
    let child = start(scene.command(line).stdin(reader));
    // More than the pipe holds: once it is written, the test has begun to read.
    writer.write_all(&[b'x'; 3 * 4096]).expect("the program reads");
    let output = interrupt(child);
    assert_eq!(output.status.code(), Some(130), "{}", stderr(&output));
    assert_eq!(scene.conversation(), Vec::<String>::new());
}

#[test]
fn a_probe_that_is_interrupted_deletes_what_it_had_written() {
    for (held_request, deletes) in [
        ("/v2/scratch/probe/manifests/tofu-oci-probe-c", Deletion::Enabled),
        ("/v2/scratch/probe/blobs/uploads/*", Deletion::Enabled),
        ("/v2/scratch/probe/manifests/tofu-oci-probe-c", Deletion::Disabled),
    ] {
        let behaviour = Behaviour { deletion: deletes, ..Behaviour::default() };
        let scene = Scene::with(Registry::builder().behaviour(behaviour));
        let gate = Gate::closed();
        scene.registry.fault(Rule::on("PUT", held_request).then(Fault::Hold(gate.clone())));
        let child = start(&mut scene.command("check REGISTRY/scratch/probe --registry"));
        held(&gate);
        let output = interrupt(child);
        let said = stderr(&output);
        assert_eq!(output.status.code(), Some(130), "{said}");
        assert!(said.starts_with("error: interrupted\n"), "{said}");
        if deletes == Deletion::Enabled {
            assert!(said.contains("everything that the probe had written is deleted again"), "{said}");
            assert_eq!(scene.registry.digests("scratch/probe"), Vec::<String>::new());
            assert_eq!(scene.registry.tags("scratch/probe"), []);
        } else {
            assert!(said.contains("left in "), "{said}");
            assert!(said.contains("tofu-oci-probe-a"), "{said}");
            assert!(!said.contains("nothing is half-done"), "{said}");
        }
    }
}
