//! `module pull` and `module lock` that end in the middle or meet another run: nothing half-done stays, the next run completes,
//! and git ends with the program.
#![cfg(unix)]

use std::process::{Child, Stdio};

use tofu_oci_testkit::{Fault, Gate, Rule};

use crate::module_large::noise;
use crate::setup::stall::StalledWire;
use crate::setup::{Said, Scene, State};

impl Scene {
    /// With a module of 2 MB at `REGISTRY/acme/network:1.4.0`.
    fn with_large_module() -> Self {
        let scene = Self::new();
        scene.context.write("network/main.tf", "# 1.4.0\n");
        scene.context.write("network/data.bin", noise(2_000_000));
        scene.run("module push network REGISTRY/acme/network --version 1.4.0").success();
        scene
    }

    /// Starts a run, of which nothing is read.
    fn started(&self, line: &str) -> Child {
        self.command(line).stdout(Stdio::null()).stderr(Stdio::null()).spawn().expect("the program starts")
    }

    /// What is left of a run in the temporary folder and beside the user's files.
    fn remains(&self) -> Vec<String> {
        let temporary: Vec<String> = State::of(self).temp().iter().map(ToString::to_string).collect();
        let ours = |name: &String| name.contains(".tofu-oci-") && !name.ends_with(".tofu-oci-holder");
        temporary.into_iter().chain(self.context.files().into_iter().filter(ours)).collect()
    }

    /// Runs these at once, and waits for all of them.
    fn at_once(&self, lines: &[&str]) -> Vec<Said> {
        std::thread::scope(|scope| {
            let runs: Vec<_> = lines.iter().map(|line| scope.spawn(|| self.run(line))).collect();
            runs.into_iter().map(|run| run.join().expect("no run panics")).collect()
        })
    }
}

fn signal(child: &Child, name: &str) {
    let mut kill = std::process::Command::new("sh");
    kill.args(["-c", "kill -\"$0\" \"$1\"", name, &child.id().to_string()]);
    assert!(kill.status().expect("a shell is there").success());
}

const PULL: &str = "module pull oci://REGISTRY/acme/network?tag=1.4.0 out";

#[test]
fn a_pull_that_ends_in_the_middle_leaves_no_folder_and_the_next_one_is_whole() {
    for by in ["INT", "TERM", "KILL"] {
        let scene = Scene::with_large_module();
        let before = State::of(&scene);
        let wire = StalledWire::before(scene.registry.address(), 1_000_000);
        let mut child = scene.started(&PULL.replace("REGISTRY", wire.address()));
        wire.wait();
        signal(&child, by);
        child.wait().expect("it ends");
        assert!(!scene.path("out").exists(), "{by}");
        if by != "KILL" {
            assert_eq!(State::of(&scene), before, "{by}");
        }
        scene.run(PULL).success();
        assert_eq!(scene.remains(), [""; 0], "{by}");
        let data = std::fs::read(scene.path("out/data.bin")).expect("a file of the module");
        assert_eq!(data, std::fs::read(scene.path("network/data.bin")).expect("the file"), "{by}");
    }
}

#[test]
fn a_lock_that_is_killed_in_the_middle_changes_no_file_and_the_next_one_pins() {
    let scene = Scene::with_large_module();
    let at = scene.registry.address();
    let text = format!("module \"x\" {{\n  source = \"oci://{at}/acme/network?tag=1.4.0\"\n}}\n");
    scene.context.write("live/main.tf", &text);
    let gate = Gate::closed();
    scene.registry.fault(Rule::on("GET", "/v2/acme/network/manifests/*").once().then(Fault::Hold(gate.clone())));
    let mut child = scene.started("module lock live");
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().expect("a runtime can be made");
    runtime.block_on(gate.arrived(1));
    signal(&child, "KILL");
    child.wait().expect("it ends");
    assert_eq!(scene.context.read("live/main.tf"), text);
    scene.run("module lock live").success();
    assert!(scene.context.read("live/main.tf").contains("?digest=sha256:"), "{}", scene.context.read("live/main.tf"));
    scene.run("module lock live --check").success();
    assert_eq!(scene.remains(), [""; 0]);
}

#[test]
fn pulls_at_once_into_one_folder_leave_one_whole_module() {
    let scene = Scene::with_large_module();
    for line in [PULL.to_owned(), format!("{PULL} --force")] {
        for said in scene.at_once(&[line.as_str(); 4]) {
            said.success();
        }
        assert_eq!(scene.remains(), [""; 0], "{line}");
        scene.run(PULL).success();
    }
    scene.context.write("network/data.bin", "another");
    scene.run("module push network REGISTRY/acme/network --version 1.5.0").success();
    let newer = format!("{} --force", PULL.replace("1.4.0", "1.5.0"));
    for said in scene.at_once(&[newer.as_str(); 4]) {
        said.success();
    }
    assert_eq!(scene.remains(), [""; 0]);
    assert_eq!(scene.context.read("out/data.bin"), "another");
}

#[test]
fn pulls_by_force_of_several_versions_at_once_leave_one_of_them_whole() {
    let scene = Scene::new();
    let versions = ["1.0.0", "1.1.0", "1.2.0"];
    for version in versions {
        scene.context.write(&format!("network-{version}/main.tf"), format!("# {version}\n"));
        scene.run(&format!("module push network-{version} REGISTRY/acme/network --version {version}")).success();
    }
    let lines = versions.map(|version| format!("{} --force", PULL.replace("1.4.0", version)));
    let lines: Vec<&str> = lines.iter().cycle().take(9).map(String::as_str).collect();
    for _ in 0..3 {
        for said in scene.at_once(&lines) {
            said.success();
        }
        let text = scene.context.read("out/main.tf");
        assert!(versions.iter().any(|version| text == format!("# {version}\n")), "{text}");
        assert_eq!(scene.context.files().iter().filter(|name| name.starts_with("out/")).count(), 1);
        assert_eq!(scene.remains(), [""; 0]);
    }
}

/// The processes that one has started, and those that these have, while they run.
#[cfg(target_os = "linux")]
fn descendants(of: u32) -> Vec<u32> {
    let mut parents = Vec::new();
    for process in std::fs::read_dir("/proc").expect("the system has /proc").flatten() {
        let Some(id) = process.file_name().to_str().and_then(|name| name.parse::<u32>().ok()) else { continue };
        if let Some((_, parent)) = state(id) {
            parents.push((id, parent));
        }
    }
    let mut found = vec![of];
    loop {
        let is_new = |(id, parent): &&(u32, u32)| found.contains(parent) && !found.contains(id);
        let more: Vec<u32> = parents.iter().filter(is_new).map(|(id, _)| *id).collect();
        if more.is_empty() {
            found.remove(0);
            return found;
        }
        found.extend(more);
    }
}

/// The state of a process, such as `S`, and its parent.
#[cfg(target_os = "linux")]
fn state(id: u32) -> Option<(String, u32)> {
    let text = std::fs::read_to_string(format!("/proc/{id}/stat")).ok()?;
    let mut words = text.rsplit_once(')')?.1.split_whitespace();
    Some((words.next()?.to_owned(), words.next()?.parse().ok()?))
}

/// Waits until a condition holds; a minute is longer than anything takes here.
#[cfg(target_os = "linux")]
#[track_caller]
fn until(what: &str, holds: impl Fn() -> bool) {
    let begun = std::time::Instant::now();
    while !holds() {
        assert!(begun.elapsed() < std::time::Duration::from_mins(1), "{what}");
        std::thread::yield_now();
    }
}

/// The program that speaks ssh for git is deaf: it hears no signal that can be ignored, and not that its streams have ended.
#[cfg(target_os = "linux")]
#[test]
fn git_was_left_running_when_the_program_was_killed() {
    for by in ["INT", "TERM", "HUP", "QUIT", "KILL"] {
        let mut scene = Scene::new();
        let started = scene.path("started");
        let script = format!("trap '' INT TERM HUP QUIT PIPE\n: > {}\nexec sleep 300\n", started.display());
        let deaf = scene.context.write_home("deaf.sh", script);
        scene.context.env("GIT_SSH_COMMAND", format!("sh {}", deaf.display()));
        let mut child = scene.started("module pull git::ssh://git@example.test/a.git out");
        until("ssh was never started", || started.exists());
        let running = descendants(child.id());
        assert!(running.len() >= 3, "the guard, git and ssh: {running:?}");
        signal(&child, by);
        child.wait().expect("it ends");
        let ended = |id: &u32| state(*id).is_none_or(|(state, _)| state == "Z");
        until(&format!("{by}: something of git runs on"), || running.iter().all(ended));
        assert!(!scene.path("out").exists());
    }
}

#[cfg(target_os = "linux")]
#[test]
fn the_guard_of_git_is_gone_after_a_run_that_goes_well() {
    let scene = Scene::new();
    let git = |line: &str| {
        let mut command = std::process::Command::new("git");
        command.args(["-c", "user.name=x", "-c", "user.email=x@example.test"]).args(line.split(' '));
        let output = command.current_dir(scene.path("repo")).output().expect("git is installed");
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    };
    scene.context.write("repo/main.tf", "# m\n");
    git("init -q -b main");
    git("add -A");
    git("commit -q -m x");
    let address = format!("git::file://{}", scene.path("repo").display());
    let mut child =
        scene.command("module pull").args([&address, "out"]).stdout(Stdio::piped()).spawn().expect("it starts");
    let mut seen = std::collections::BTreeSet::new();
    while child.try_wait().expect("it was started").is_none() {
        seen.extend(descendants(child.id()));
    }
    assert!(!seen.is_empty(), "no program was seen to be started");
    until("something of git runs on", || seen.iter().all(|id| state(*id).is_none_or(|(state, _)| state == "Z")));
    assert_eq!(scene.context.read("out/main.tf"), "# m\n");
}
