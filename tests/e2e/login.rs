//! `login`: shown to the registry first, then stored as docker stores it.
#![cfg(unix)]

use std::io::Write as _;
use std::os::unix::fs::{MetadataExt as _, PermissionsExt as _, symlink};
use std::process::{Child, Command, Stdio};

use insta::assert_snapshot;
use tofu_oci_testkit::{Answer, Auth, Fault, Gate, Login, Registry, Rule, Tunnel, WebServer};

use crate::setup::logins::{PASSWORD, basic, bearer};
use crate::setup::{Said, Scene, WIDGET};

/// Starts a command, with this on its standard input.
pub(crate) fn started(command: &mut Command, input: &str) -> Child {
    let mut child =
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().expect("it starts");
    // A command that reads nothing hangs up first.
    let _ = child.stdin.take().expect("a pipe").write_all(input.as_bytes());
    child
}

impl Scene {
    /// Runs a command with this on its standard input.
    pub(crate) fn run_with(&self, line: &str, input: &str) -> Said {
        std::fs::write(self.context.home().join("input"), input).expect("home is ours");
        let file = std::fs::File::open(self.context.home().join("input")).expect("it was written");
        let said = self.output(self.command(line).stdin(file));
        std::fs::remove_file(self.context.home().join("input")).expect("it is ours");
        for secret in [PASSWORD, "YWRhOmNvcnJlY3Q", "hunter2"] {
            assert!(!format!("{}{}", said.stdout, said.stderr).contains(secret), "{secret} was said\n{}", said.text);
        }
        said
    }

    /// Logs ada in with the right password.
    pub(crate) fn log_in(&self, options: &str) -> Said {
        self.run_with(&format!("login REGISTRY --username ada --password-stdin {options}"), &format!("{PASSWORD}\n"))
    }

    /// Everything below the home folder that a login may have written, by name.
    pub(crate) fn home_files(&self) -> Vec<String> {
        let mut found = Vec::new();
        list(&self.context.home(), "", &mut found);
        found.sort();
        found
    }

    fn mode(&self, name: &str) -> u32 {
        let data = std::fs::metadata(self.context.home().join(name)).expect("it is there");
        data.permissions().mode() & 0o777
    }
}

fn list(folder: &std::path::Path, prefix: &str, found: &mut Vec<String>) {
    for entry in std::fs::read_dir(folder).expect("a folder") {
        let entry = entry.expect("an entry");
        let name = format!("{prefix}{}", entry.file_name().to_string_lossy());
        if entry.path().is_dir() && !entry.path().is_symlink() {
            list(&entry.path(), &format!("{name}/"), found);
        }
        found.push(name);
    }
}

/// What docker writes for ada.
const CONFIG: &str =
    "{\n\t\"auths\": {\n\t\t\"REGISTRY\": {\n\t\t\t\"auth\": \"YWRhOmNvcnJlY3QtaG9yc2UtYmF0dGVyeQ==\"\n\t\t}\n\t}\n}";

#[test]
fn a_login_is_shown_to_the_registry_and_stored_as_docker_stores_it() {
    for registry in [basic(), bearer()] {
        let scene = Scene::with(registry);
        scene.dist("dist", "1.4.0");
        insta::allow_duplicates! {
            assert_snapshot!(scene.log_in("").text, @r#"
            exit code: 0
            ----- stdout -----
            logged in to [REGISTRY] as ada
              stored in ~/.docker/config.json as "[REGISTRY]"

            ----- stderr -----
            warning: the password is not encrypted in ~/.docker/config.json
              hint: a credential helper keeps it safer: name one as "credsStore" in the file, and log in again
            "#);
        }
        assert_eq!(scene.home_text(".docker/config.json").as_deref(), Some(CONFIG));
        assert_eq!((scene.mode(".docker"), scene.mode(".docker/config.json")), (0o700, 0o600));
        assert_eq!(scene.home_files(), [".docker", ".docker/config.json"]);
        scene.run(&format!("push dist REGISTRY/acme/widget --address {WIDGET}")).success();
    }
}

#[test]
fn the_same_login_twice_changes_nothing_and_another_one_replaces_it() {
    let scene = Scene::with(basic());
    let other = "{\"auths\": {\"REGISTRY\": {\"auth\": \"Ym9iOmh1bnRlcjI=\"}, \"z.example\": {\"email\": \"z\"}},\n\"psFormat\": \"kept\"}";
    scene.context.write_home(".docker/config.json", other.replace("REGISTRY", scene.registry.address()));
    scene.log_in("").success();
    let config = scene.home_text(".docker/config.json").expect("it is there");
    assert!(config.contains("YWRhOmNvcnJlY3Q") && !config.contains("Ym9iOmh1bnRlcjI="), "{config}");
    assert!(config.contains("{\"email\": \"z\"}") && config.ends_with("\n\"psFormat\": \"kept\"}"), "{config}");
    let before = std::fs::metadata(scene.context.home().join(".docker/config.json")).expect("it is there");
    let said = scene.log_in("--json").success();
    assert_eq!(said.json().last().expect("a line")["stored"]["change"], "unchanged");
    let after = std::fs::metadata(scene.context.home().join(".docker/config.json")).expect("it is there");
    assert_eq!((before.ino(), before.mtime_nsec()), (after.ino(), after.mtime_nsec()), "it was written again");
}

#[test]
fn the_password_is_all_of_the_input_but_one_line_break() {
    for (password, input) in [("a b\n", "a b\n\n"), ("a b", "a b\r\n"), (" ", " "), ("ü:x", "ü:x")] {
        let scene = Scene::with(Registry::builder().auth(Auth::Basic(Login::new("ada", password))));
        scene.run_with("login REGISTRY -u ada --password-stdin", input).success();
        scene.run("login REGISTRY").success();
    }
}

#[test]
fn a_registry_that_asks_nobody_cannot_check() {
    let scene = Scene::new();
    assert_snapshot!(scene.log_in("").text, @r#"
    exit code: 0
    ----- stdout -----
    the login of ada at [REGISTRY] was not checked
      stored in ~/.docker/config.json as "[REGISTRY]"

    ----- stderr -----
    note: [REGISTRY] lets everybody in, so that the login could not be checked
    warning: the password is not encrypted in ~/.docker/config.json
      hint: a credential helper keeps it safer: name one as "credsStore" in the file, and log in again
    "#);
    assert_eq!(scene.home_text(".docker/config.json").as_deref(), Some(CONFIG));
}

#[test]
fn without_a_name_the_login_that_is_stored_is_checked() {
    let scene = Scene::with(bearer());
    assert_snapshot!(scene.refuse("login REGISTRY"), @"
    exit code: 1
    ----- stdout -----

    ----- stderr -----
    error: there is no login for [REGISTRY]

    hint: log in with `tofu-oci login [REGISTRY] --username NAME`
    ");
    scene.log_in("").success();
    let before = scene.home_text(".docker/config.json");
    assert_snapshot!(scene.run("login REGISTRY").text, @r#"
    exit code: 0
    ----- stdout -----
    the login of ada works at [REGISTRY]
      it is that of auths "[REGISTRY]" in ~/.docker/config.json:3

    ----- stderr -----
    "#);
    let wrong = format!("{{\"auths\": {{\"{}\": {{\"auth\": \"Ym9iOmh1bnRlcjI=\"}}}}}}", scene.registry.address());
    scene.context.write_home(".config/containers/auth.json", wrong);
    assert_snapshot!(scene.refuse("login REGISTRY"), @r#"
    exit code: 1
    ----- stdout -----

    ----- stderr -----
    error: [REGISTRY] refuses the login of bob
      cause: the token server [REGISTRY] refused the credentials (status 401): bad credentials (UNAUTHORIZED)

    hint: check the name and the password; many registries want an access token in the password's place
    hint: this login is that of auths "[REGISTRY]" in ~/.config/containers/auth.json:1
    hint: log in with `tofu-oci login [REGISTRY] --username NAME --auth-file ~/.config/containers/auth.json`
    "#);
    assert_eq!(scene.home_text(".docker/config.json"), before);
}

#[test]
fn docker_hub_is_stored_under_the_name_that_docker_uses() {
    let hub = WebServer::start(&["registry-1.docker.io"]);
    hub.fault(Rule::when(|request| !request.headers.contains_key("authorization")).then(Fault::Answer(
        Answer::error(401, "UNAUTHORIZED", "who asks?").header("WWW-Authenticate", "Basic realm=\"hub\""),
    )));
    hub.page("/v2/", Answer::new(200));
    let tunnel = Tunnel::start([("registry-1.docker.io:443", hub.address())]);
    for name in ["docker.io", "index.docker.io", "registry-1.docker.io"] {
        let mut scene = Scene::new();
        scene.context.env("HTTPS_PROXY", tunnel.url());
        scene.context.write("ca.pem", hub.ca_pem().expect("it speaks TLS"));
        let line = format!("login {name} -u ada --password-stdin --ca-file ca.pem");
        let said = scene.run_with(&line, PASSWORD).success();
        assert_eq!(said.stderr.lines().count(), 2, "{}", said.text);
        let want = CONFIG.replace("REGISTRY", "https://index.docker.io/v1/");
        assert_eq!(scene.home_text(".docker/config.json"), Some(want));
        insta::allow_duplicates! {
            assert_snapshot!(scene.run("login docker.io --ca-file ca.pem").text, @r#"
            exit code: 0
            ----- stdout -----
            the login of ada works at docker.io
              it is that of auths "https://index.docker.io/v1/" in ~/.docker/config.json:3

            ----- stderr -----
            "#);
        }
    }
}

#[test]
fn every_line_of_json_is_documented() {
    let scene = Scene::with(basic());
    let check = |said: &Said, code: i32, last: &str| {
        assert_eq!(said.code, Some(code), "{}", said.text);
        assert_eq!(crate::json::check(said).last().map(String::as_str), Some(last), "{}", said.text);
    };
    check(&scene.run("login REGISTRY --json"), 1, "error");
    check(&scene.log_in("--json"), 0, "login");
    check(&scene.run("login REGISTRY --json"), 0, "login");
    let said = scene.log_in("--json --quiet");
    assert_snapshot!(said.text, @r#"
    exit code: 0
    ----- stdout -----
    {"event":"login","registry":"[REGISTRY]","username":"ada","check":"accepted","stored":{"file":"~/.docker/config.json","key":"[REGISTRY]","helper":null,"change":"unchanged"},"used":"auths \"[REGISTRY]\" in ~/.docker/config.json:3"}

    ----- stderr -----
    "#);
    check(&scene.run("logout REGISTRY --json"), 0, "logout");
    check(&scene.run("logout REGISTRY --json"), 0, "logout");
    check(&scene.run("logout REGISTRY/acme --json"), 2, "error");
}

#[test]
fn podmans_file_is_written_when_it_is_named() {
    let mut scene = Scene::with(basic());
    scene.context.env("XDG_RUNTIME_DIR", scene.context.home().join("run").display().to_string());
    let file = scene.context.home().join("run/containers/auth.json");
    let said = scene.log_in(&format!("--auth-file {}", file.display()));
    assert_snapshot!(said.text, @r#"
    exit code: 0
    ----- stdout -----
    logged in to [REGISTRY] as ada
      stored in ~/run/containers/auth.json as "[REGISTRY]"

    ----- stderr -----
    warning: the password is not encrypted in ~/run/containers/auth.json
      hint: a credential helper keeps it safer: name one as "credsStore" in the file, and log in again
    "#);
    assert_eq!(scene.home_text("run/containers/auth.json").as_deref(), Some(CONFIG));
    assert_eq!(scene.home_text(".docker/config.json"), None);
}

#[test]
fn links_and_modes_stay_and_a_file_that_others_may_read_is_told() {
    let scene = Scene::with(basic());
    let real = scene.context.write_home("dotfiles/docker.json", "{\n\t\"auths\": {}\n}");
    std::fs::set_permissions(&real, std::fs::Permissions::from_mode(0o644)).expect("it is ours");
    std::fs::create_dir(scene.context.home().join(".docker")).expect("home is ours");
    symlink("../dotfiles/docker.json", scene.context.home().join(".docker/config.json")).expect("a link");
    assert_snapshot!(scene.log_in("").text, @r#"
    exit code: 0
    ----- stdout -----
    logged in to [REGISTRY] as ada
      stored in ~/.docker/config.json as "[REGISTRY]"

    ----- stderr -----
    warning: the password is not encrypted in ~/.docker/config.json
      hint: a credential helper keeps it safer: name one as "credsStore" in the file, and log in again
    warning: others than its owner may read ~/.docker/config.json
      hint: chmod 600 ~/.docker/config.json
    "#);
    assert_eq!(scene.home_text("dotfiles/docker.json").as_deref(), Some(CONFIG));
    assert!(scene.context.home().join(".docker/config.json").is_symlink());
    assert_eq!(scene.mode("dotfiles/docker.json"), 0o644);
}

#[test]
fn logins_at_the_same_time_lose_nothing() {
    let scenes: Vec<Scene> = (0..6).map(|_| Scene::with(basic())).collect();
    let home = scenes[0].context.home();
    let line = "login REGISTRY -u ada --password-stdin";
    let mut running: Vec<Child> =
        scenes.iter().map(|scene| started(scene.command(line).env("HOME", &home), PASSWORD)).collect();
    assert!(running.iter_mut().all(|child| child.wait().expect("it ends").success()));
    let config = scenes[0].home_text(".docker/config.json").expect("it is there");
    assert!(
        config.contains("\"REGISTRY\"") && scenes[1..].iter().all(|scene| config.contains(scene.registry.address())),
        "{config}"
    );
    assert_eq!(scenes[0].home_files(), [".docker", ".docker/config.json"]);
}

#[test]
fn an_interrupted_login_stores_nothing() {
    let scene = Scene::with(basic());
    let gate = Gate::closed();
    scene.registry.fault(Rule::on("GET", "/v2/").then(Fault::Hold(gate.clone())));
    let child = started(&mut scene.command("login REGISTRY -u ada --password-stdin"), PASSWORD);
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().expect("a runtime can be made");
    runtime.block_on(gate.arrived(1));
    let status = Command::new("sh").args(["-c", "kill -INT \"$0\"", &child.id().to_string()]).status();
    assert!(status.expect("a shell is there").success());
    assert_eq!(child.wait_with_output().expect("it ends").status.code(), Some(130));
    assert_eq!(scene.home_files(), Vec::<String>::new());
    scene.registry.clear_faults();
    scene.log_in("").success();
}

/// A login that is killed when its file beside docker's is there: another program has the folder locked.
fn killed_login(scene: &Scene) -> String {
    let docker = scene.context.home().join(".docker");
    let held = std::fs::File::open(&docker).expect("a folder");
    held.lock().expect("no other program has it");
    let line = "login REGISTRY --username ada --password-stdin";
    let mut child = started(&mut scene.command(line), &format!("{PASSWORD}\n"));
    let is_ours = |name: &String| name.starts_with(".docker/.tofu-oci-");
    let stray = loop {
        if let Some(stray) = scene.home_files().into_iter().find(is_ours) {
            break stray;
        }
        assert!(child.try_wait().expect("it was started").is_none(), "it ended by itself");
        std::thread::yield_now();
    };
    child.kill().expect("it is running");
    child.wait().expect("it ends");
    stray
}

#[test]
fn what_a_killed_login_left_is_private_and_the_next_login_or_logout_removes_it() {
    for next in ["login", "logout"] {
        let scene = Scene::with(basic());
        scene.context.write_home(".docker/config.json", "{}");
        let path = scene.context.home().join(".docker/config.json");
        std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o644)).expect("it is ours");
        let stray = killed_login(&scene);
        assert_eq!(scene.mode(&stray), 0o600);
        // What the run would have written next.
        std::fs::write(scene.context.home().join(&stray), PASSWORD).expect("it is ours");
        let similar = ".docker/.tofu-oci-of-ada.json";
        scene.context.write_home(similar, "ada's");
        assert!(scene.home_files().contains(&stray), "a killed program cannot clean up");
        if next == "login" {
            scene.log_in("").success()
        } else {
            scene.run("logout REGISTRY").success()
        };
        assert_eq!(scene.home_files(), [".docker", similar, ".docker/config.json"], "{next}");
        assert_eq!((scene.mode(".docker/config.json"), scene.home_text(similar).as_deref()), (0o644, Some("ada's")));
    }
}
