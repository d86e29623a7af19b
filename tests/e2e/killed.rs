//! SIGKILL in the middle: the next run removes what was left, and leaves alone what another run still uses.
#![cfg(unix)]

use std::process::{Child, Stdio};

use tofu_oci_testkit::{Fault, Gate, ProviderZip, ReleaseFolder, Rule};

use crate::setup::stall::StalledWire;
use crate::setup::{Scene, State, WIDGET};

fn start(scene: &Scene, line: &str) -> Child {
    scene.command(line).stdout(Stdio::null()).stderr(Stdio::null()).spawn().expect("the program starts")
}

/// Waits until the program has made something temporary.
#[track_caller]
fn begun(scene: &Scene, child: &mut Child) -> Vec<String> {
    loop {
        let left = left(scene);
        if !left.is_empty() {
            return left;
        }
        assert!(child.try_wait().expect("it was started").is_none(), "it ended by itself");
        std::thread::yield_now();
    }
}

/// Waits until the download that stalls lies on disk in part; its names. A small file would be on its way to its place.
#[track_caller]
fn stalled(scene: &Scene, child: &mut Child) -> Vec<String> {
    loop {
        let state = State::of(scene);
        let large = state.at_least(100_000);
        let begun: Vec<String> = left(scene).into_iter().filter(|name| large.contains(&name.as_str())).collect();
        if !begun.is_empty() {
            return begun;
        }
        assert!(child.try_wait().expect("it was started").is_none(), "it ended by itself");
        std::thread::yield_now();
    }
}

fn kill(mut child: Child) {
    child.kill().expect("it is running");
    child.wait().expect("it ends");
}

/// A release of 2 MB, published.
fn large() -> Scene {
    let scene = Scene::new();
    let package = ProviderZip::new("widget", "1.4.0", "linux_amd64").random_file("data.bin", 2_000_000);
    ReleaseFolder::new("widget", "1.4.0", &[]).package(package).write_zips(&scene.path("dist"));
    scene.run(&format!("push dist REGISTRY/acme/widget --address {WIDGET}")).success();
    scene
}

/// What is left of a run: in the temporary folder, and in the work folder.
fn left(scene: &Scene) -> Vec<String> {
    let mut left: Vec<String> = State::of(scene).temp().iter().map(ToString::to_string).collect();
    let is_lock = |name: &String| {
        [".tofu-oci-lock", ".tofu-oci-holder", ".tofu-oci-index.json"].iter().any(|lock| name.ends_with(lock))
    };
    let ours = |name: &String| name.contains(".tofu-oci-") && !is_lock(name);
    left.extend(scene.context.files().into_iter().filter(ours));
    left
}

/// Kills the command in the middle of a download through a wire that stalls; then a good run.
#[track_caller]
fn check_download(command: &str) {
    let scene = large();
    let wire = StalledWire::before(scene.registry.address(), 1_000_000);
    let mut child = start(&scene, &command.replace("REGISTRY", wire.address()));
    wire.wait();
    let while_it_runs = stalled(&scene, &mut child);
    // Another run at the same time touches nothing of it.
    scene.run(command).success();
    let still = left(&scene);
    assert!(while_it_runs.iter().all(|name| still.contains(name)), "{while_it_runs:?} {still:?}");
    kill(child);
    assert_ne!(left(&scene), [""; 0], "a killed program cannot clean up");
    // As if that other run had not been: there is work to do again.
    for name in [".terraform.lock.hcl", ".tofu-oci.pins.json", "layout/index.json", "layout/oci-layout", "layout/blobs"]
    {
        let path = scene.path(name);
        std::fs::remove_file(&path).or_else(|_| std::fs::remove_dir_all(&path)).ok();
    }
    scene.run(command).success();
    assert_eq!(left(&scene), [""; 0], "{command}");
}

#[test]
fn a_killed_lock_leaves_nothing_that_the_next_one_does_not_remove() {
    check_download(&format!("lock {WIDGET} --from REGISTRY/acme/widget"));
}

#[test]
fn a_killed_copy_to_a_directory_leaves_nothing_that_the_next_one_does_not_remove() {
    check_download("copy REGISTRY/acme/widget oci:layout");
}

#[test]
fn a_killed_deep_check_leaves_nothing_that_the_next_one_does_not_remove() {
    check_download("check REGISTRY/acme/widget --deep");
}

#[test]
fn a_killed_install_leaves_nothing_that_the_next_one_does_not_remove() {
    let scene = large();
    let wire = StalledWire::before(scene.registry.address(), 1_000_000);
    let line = format!("install {WIDGET} --from REGISTRY/acme/widget --platform linux_amd64");
    let mut child = start(&scene, &line.replace("REGISTRY", wire.address()));
    wire.wait();
    begun(&scene, &mut child);
    kill(child);
    assert_ne!(left(&scene), [""; 0], "a killed program cannot clean up");
    scene.run(&line).success();
    assert_eq!(left(&scene), [""; 0]);
}

#[test]
fn a_killed_push_leaves_nothing_that_the_next_one_does_not_remove() {
    let scene = Scene::with_dist();
    let gate = Gate::closed();
    scene.registry.fault(Rule::on("PUT", "/v2/acme/widget/manifests/*").then(Fault::Hold(gate.clone())));
    let line = format!("push dist REGISTRY/acme/widget --address {WIDGET} --layout image");
    let child = start(&scene, &line);
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().expect("a runtime can be made");
    runtime.block_on(gate.arrived(1));
    let packing = left(&scene);
    assert_ne!(packing, [""; 0]);
    // A run beside it, which makes a folder of its own, leaves that one alone.
    scene.run(&format!("pack dist oci:elsewhere --address {WIDGET} --layout image")).success();
    assert_eq!(left(&scene), packing);
    kill(child);
    assert_eq!(left(&scene), packing);
    scene.registry.clear_faults();
    scene.run(&line).success();
    assert_eq!(left(&scene), [""; 0]);
}
