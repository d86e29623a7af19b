//! Programs that work in one directory at once.

use std::process::Stdio;

use insta::assert_snapshot;
use tofu_oci_testkit::ReleaseFolder;

use crate::setup::{Scene, WIDGET};

const MANY: usize = 10;
const FROM: &str = "--from 'REGISTRY/${namespace}/${type}'";

/// Ten providers, published.
fn scene() -> (Scene, Vec<String>) {
    let scene = Scene::new();
    let addresses = (0..MANY).map(|number| {
        let name = format!("widget{number}");
        let address = format!("registry.example.com/acme/{name}");
        ReleaseFolder::new(&name, "1.4.0", &["linux_amd64"]).write_zips(&scene.path(&format!("dist-{name}")));
        scene.run(&format!("push dist-{name} REGISTRY/acme/{name} --address {address}")).success();
        address
    });
    let addresses = addresses.collect();
    (scene, addresses)
}

/// Runs all at once; each must succeed.
#[track_caller]
fn at_once(scene: &Scene, lines: &[String]) {
    let start = |line: &String| {
        let mut command = scene.command(line);
        command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().expect("the program starts")
    };
    let children: Vec<_> = lines.iter().map(start).collect();
    for (child, line) in children.into_iter().zip(lines) {
        let output = child.wait_with_output().expect("it ends");
        assert!(output.status.success(), "{line}: {}", String::from_utf8_lossy(&output.stderr));
    }
}

fn locked(scene: &Scene) -> usize {
    scene.context.read(".terraform.lock.hcl").matches("provider \"").count()
}

fn pinned(scene: &Scene) -> usize {
    scene.context.read(".tofu-oci.pins.json").matches("\"index\"").count()
}

#[test]
fn ten_installs_and_ten_locks_of_ten_providers_lose_no_entry() {
    let (scene, addresses) = scene();
    for verb in ["install --platform linux_amd64", "lock"] {
        std::fs::remove_file(scene.path(".terraform.lock.hcl")).ok();
        std::fs::remove_file(scene.path(".tofu-oci.pins.json")).ok();
        let lines: Vec<String> = addresses.iter().map(|address| format!("{verb} {address} {FROM}")).collect();
        at_once(&scene, &lines);
        assert_eq!((locked(&scene), pinned(&scene)), (MANY, MANY), "{verb}");
    }
    let left: Vec<String> = scene.context.files().into_iter().filter(|name| name.contains(".tofu-oci-")).collect();
    assert_eq!(left, [""; 0], "nothing stays in the folder of the configuration");
}

#[test]
fn ten_installs_and_ten_locks_of_one_provider_all_succeed() {
    let (scene, addresses) = scene();
    for verb in ["install --platform linux_amd64", "lock"] {
        std::fs::remove_file(scene.path(".terraform.lock.hcl")).ok();
        at_once(&scene, &vec![format!("{verb} {} {FROM}", addresses[0]); MANY]);
        assert_eq!(locked(&scene), 1, "{verb}");
    }
}

#[test]
fn ten_packs_of_ten_versions_into_one_directory_lose_none() {
    let scene = Scene::new();
    let lines: Vec<String> = (0..MANY)
        .map(|number| {
            scene.dist(&format!("dist-{number}"), &format!("1.{number}.0"));
            format!("pack dist-{number} oci:layout --address {WIDGET}")
        })
        .collect();
    at_once(&scene, &lines);
    assert_eq!(scene.run("versions oci:layout").success().stdout.lines().count(), MANY);
}

#[cfg(unix)]
#[test]
fn a_directory_that_another_program_has_locked_is_waited_for_aloud_and_not_for_ever() {
    let scene = Scene::published();
    scene.run(&format!("pack dist oci:layout --address {WIDGET}")).success();
    scene.dist("next", "1.5.0");
    let lock = std::fs::File::options().write(true).open(scene.path("layout/.tofu-oci-lock")).expect("it was made");
    lock.lock().expect("nobody has it");
    let line = format!("pack next oci:layout --address {WIDGET} --timeout 1200ms");
    let said = scene.run(&line);
    assert_eq!(said.code, Some(1), "{}", said.text);
    let words: Vec<&str> = said.stderr.lines().filter(|line| !line.contains(": packed")).collect();
    assert_snapshot!(words.join("\n"), @"
    note: waiting up to 1.2 s: layout/.tofu-oci-lock is locked by another program
    error: layout/.tofu-oci-lock is locked by another program, and was not released within 1.2 s

    hint: wait until the other program has ended, or end it, and run the same command again
    hint: --timeout 2400ms waits longer
    ");
    drop(lock);
    scene.run(&line).success();
    let folder = std::fs::File::open(scene.context.work()).expect("the work folder");
    folder.lock().expect("nobody has it");
    // No registry is asked, so that only the wait for the lock is short.
    let line = format!("lock {WIDGET} --from oci:layout --timeout 1200ms");
    let said = scene.run(&line);
    assert_eq!(said.code, Some(1), "{}", said.text);
    let words: Vec<&str> = said.stderr.lines().filter(|line| !line.contains(": verified")).collect();
    assert_snapshot!(words.join("\n"), @"
    note: waiting up to 1.2 s: the current directory is locked by another program
    error: the current directory is locked by another program, and was not released within 1.2 s

    hint: wait until the other program has ended, or end it, and run the same command again
    hint: --timeout 2400ms waits longer
    hint: the lock file is as it was
    ");
    assert!(!scene.path(".terraform.lock.hcl").exists());
    drop(folder);
    scene.run(&line).success();
}

#[cfg(unix)]
#[test]
fn a_program_that_waits_for_a_lock_can_be_interrupted() {
    use std::io::{BufRead as _, BufReader};
    let scene = Scene::published();
    let folder = std::fs::File::open(scene.context.work()).expect("the work folder");
    folder.lock().expect("nobody has it");
    let mut command = scene.command(&format!("lock {WIDGET} {FROM}"));
    let mut child = command.stdout(Stdio::null()).stderr(Stdio::piped()).spawn().expect("the program starts");
    let mut stderr = BufReader::new(child.stderr.take().expect("it is piped")).lines().map_while(Result::ok);
    assert!(stderr.any(|line| line.starts_with("note: waiting up to 120 s: the current directory is locked")));
    let status = std::process::Command::new("sh").args(["-c", "kill -INT \"$0\"", &child.id().to_string()]).status();
    assert!(status.expect("a shell is there").success());
    assert_eq!(child.wait().expect("it ends").code(), Some(130));
    assert!(!scene.path(".terraform.lock.hcl").exists());
}
