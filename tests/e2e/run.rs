//! `run`: what the command gets, how it ends, and what stays.
#![cfg(unix)]

mod patterns;
mod said;

use std::io::{BufRead as _, BufReader, Read as _};
use std::process::{Child, Command, Stdio};

use insta::assert_snapshot;

use crate::setup::logins::basic;
use crate::setup::{Scene, State, WIDGET};

const MIRROR: &str = r#"# kept
provider_installation {
  oci_mirror {
    repository_template = "REGISTRY/${namespace}/${type}"
    include             = ["registry.example.com/*/*"]
  }
  direct {
    exclude = ["registry.example.com/*/*"]
  }
}
"#;

/// Shell functions: `mirror PATH` asks the mirror as the clients do, `status PATH` as somebody without the password.
const CLIENT: &str = r#"
url=$(sed -n 's/^ *url *= "\(.*\)"/\1/p' "$TF_CLI_CONFIG_FILE")
token=$(sed -n 's/^ *token *= "\(.*\)"/\1/p' "$TF_CLI_CONFIG_FILE")
authority="${SSL_CERT_DIR%%:*}/ca.pem"
mirror() { curl -sS --noproxy '*' --cacert "$authority" -H "Authorization: Bearer $token" "$url$1"; }
status() { curl -sS --noproxy '*' --cacert "$authority" -o /dev/null -w '%{http_code}\n' "$url$1"; }
"#;

impl Scene {
    /// Widget 1.4.0, published, and a CLI configuration that leads to it.
    fn with_mirror() -> Self {
        let scene = Self::published();
        scene.home_file(".tofurc", MIRROR);
        scene
    }

    /// Writes the script `client.sh`.
    fn client(&self, script: &str) {
        self.context.write("client.sh", format!("{CLIENT}{script}"));
    }

    /// What lies in the folder for temporary files.
    fn left(&self) -> Vec<String> {
        State::of(self).temp().iter().map(ToString::to_string).collect()
    }
}

#[test]
fn an_empty_variable_of_certificates_hid_those_of_the_system() {
    let scene = Scene::with_mirror();
    scene.context.write("show.sh", "echo \"${SSL_CERT_FILE-unset}\"");
    let said = scene.output(scene.command("run -- sh show.sh").env("SSL_CERT_FILE", ""));
    assert_eq!((said.code, said.stdout.as_str()), (Some(0), "unset\n"), "{}", said.text);
}

/// Starts the program in a session without a terminal.
fn start(scene: &Scene, line: &str) -> (Child, BufReader<std::process::ChildStdout>) {
    let prepared = scene.command(line);
    let mut command = Command::new("setsid");
    command.arg(prepared.get_program()).args(prepared.get_args()).env_clear();
    command.envs(prepared.get_envs().filter_map(|(name, value)| Some((name, value?))));
    command.current_dir(prepared.get_current_dir().expect("the work folder"));
    let mut child = command.stdout(Stdio::piped()).stderr(Stdio::null()).spawn().expect("the program starts");
    let output = BufReader::new(child.stdout.take().expect("it is piped"));
    (child, output)
}

fn line(output: &mut impl std::io::BufRead) -> String {
    let mut line = String::new();
    output.read_line(&mut line).expect("the command writes a line");
    line
}

fn kill(signal: &str, process: &str) {
    let status = Command::new("sh").args(["-c", "kill \"$0\" \"$1\"", signal, process]).status();
    assert!(status.expect("a shell is there").success());
}

#[test]
fn a_command_finds_the_repositories_as_a_network_mirror_and_nothing_stays() {
    let scene = Scene::with_mirror();
    scene.client(
        "mirror registry.example.com/acme/widget/index.json; echo
         mirror registry.example.com/acme/widget/1.4.0.json | grep -o 'zh:' | wc -l
         status registry.example.com/acme/widget/index.json
         mirror registry.example.org/acme/widget/index.json; echo
         grep -c '# kept' \"$TF_CLI_CONFIG_FILE\"
         ls -l \"$TF_CLI_CONFIG_FILE\" | cut -c1-10
         grep -c oci_mirror \"$TF_CLI_CONFIG_FILE\"",
    );
    assert_snapshot!(scene.run("run -- sh client.sh").text, @r#"
    exit code: 1
    ----- stdout -----
    {"versions":{"1.4.0":{}}}
    2
    401
    {"errors":["the client run may not use registry.example.org/acme/widget: no pattern of its `providers` matches"]}
    1
    -rw-------
    0

    ----- stderr -----
    "#);
    assert_eq!(scene.left(), Vec::<String>::new());
}

#[test]
fn every_user_of_the_machine_read_the_metrics_of_run() {
    let scene = Scene::with_mirror();
    scene.client("below=$url url=$(echo \"$url\" | cut -d/ -f1-3); status /metrics; url=$below; status metrics");
    let said = scene.run("run -- sh client.sh").success();
    assert_eq!(said.stdout, "404\n404\n", "{}", said.text);
}

#[test]
fn a_template_takes_the_place_of_a_configuration() {
    let scene = Scene::published();
    scene.client("mirror registry.example.com/acme/widget/index.json; echo; cat \"$TF_CLI_CONFIG_FILE\" | grep -v -e url -e token -e credentials");
    let run = "run --template 'REGISTRY/${namespace}/${type}' --include 'registry.example.com/*/*' -- sh client.sh";
    assert_snapshot!(scene.run(run).text, @r#"
    exit code: 0
    ----- stdout -----
    {"versions":{"1.4.0":{}}}
    provider_installation {
      network_mirror {
        include = ["registry.example.com/*/*"]
      }
      direct {
        exclude = ["registry.example.com/*/*"]
      }
    }

    }

    ----- stderr -----
    "#);
}

/// The hint named a pattern that leaves open more than the template mentions, and was refused when typed.
#[test]
fn the_command_that_a_refused_template_hints_at_is_not_refused() {
    let scene = Scene::published();
    for template in ["W", "ghcr.io", "ghcr.io/${typ}", "ghcr.io/${type}", "ghcr.io/types/x", "ghcr.io/${namespace}/x"] {
        let said = scene.refuse(&format!("run --template '{template}' -- true"));
        let line = said.lines().find_map(|line| line.split_once(": tofu-oci ")).unwrap_or_else(|| panic!("{said}")).1;
        scene.run(line).success();
    }
}

#[test]
fn without_repositories_the_command_is_not_started() {
    let scene = Scene::published();
    assert_snapshot!(scene.refuse("run -- sh -c 'touch started'"), @"
    exit code: 2
    ----- stdout -----

    ----- stderr -----
    error: there is no CLI configuration, so `run` does not know which repositories to serve

    hint: name them: tofu-oci run --template 'ghcr.io/acme/${namespace}/${type}' --include 'registry.example.com/*/*' -- sh -c 'touch started'
    hint: or write the block into ~/.tofurc: tofu-oci config add 'registry.example.com/*/*' 'ghcr.io/acme/${namespace}/${type}'
    hint: or say where modules of registries are: a [[module_mirror]] in modules.toml; see `tofu-oci help modules`
    ");
    scene.home_file(".tofurc", "provider_installation {\n  direct {}\n}\n");
    assert_snapshot!(scene.refuse("run -- terraform init"), @"
    exit code: 2
    ----- stdout -----

    ----- stderr -----
    error: [HOME]/.tofurc has no oci_mirror, so `run` does not know which repositories to serve

    hint: name them: tofu-oci run --template 'ghcr.io/acme/${namespace}/${type}' --include 'registry.example.com/*/*' -- terraform init
    hint: or write the block into ~/.tofurc: tofu-oci config add 'registry.example.com/*/*' 'ghcr.io/acme/${namespace}/${type}'
    hint: or say where modules of registries are: a [[module_mirror]] in modules.toml; see `tofu-oci help modules`
    ");
}

#[test]
fn a_missing_file_was_named_by_a_variable_that_the_user_did_not_set() {
    let scene = Scene::published();
    assert_snapshot!(scene.refuse("run --cli-config nosuch -- true"), @"
    exit code: 2
    ----- stdout -----

    ----- stderr -----
    error: --cli-config names [WORK]/nosuch, which is not there (cli-config-missing)
      --> [WORK]/nosuch
      = instead: name a file that is there, or omit --cli-config to read the usual files
      = OpenTofu 1.13: warns, and goes on without this file

    hint: `tofu-oci config check` says what each OpenTofu makes of these files
    ");
}

#[test]
fn without_a_command_there_was_no_example() {
    assert_snapshot!(Scene::published().refuse("run --no-lock --"), @"
    exit code: 2
    ----- stdout -----

    ----- stderr -----
    error: `run` needs the command that it runs

    hint: write it after the options and --: tofu-oci run -- terraform init
    hint: `tofu-oci run -h` has more examples
    ");
}

#[test]
fn the_exit_code_is_that_of_the_command() {
    let scene = Scene::with_mirror();
    for (command, code) in
        [("sh -c 'exit 42'", 42), ("true", 0), ("sh -c 'kill -9 $$'", 137), ("sh -c 'kill -TERM $$'", 143)]
    {
        assert_eq!(scene.run(&format!("run -- {command}")).code, Some(code), "{command}");
        assert_eq!(scene.left(), Vec::<String>::new());
    }
    assert_snapshot!(scene.run("run -- no-such-program init").text, @"
    exit code: 127
    ----- stdout -----

    ----- stderr -----
    error: no folder of PATH has a program no-such-program

    hint: write the program after --, as you would without tofu-oci: tofu-oci run -- terraform init
    ");
    scene.context.write("plain.txt", "text");
    assert_snapshot!(scene.run("run -- ./plain.txt").text, @"
    exit code: 126
    ----- stdout -----

    ----- stderr -----
    error: ./plain.txt cannot be started
      cause: Permission denied (os error [N])

    hint: name a program that this user may execute
    ");
}

#[test]
fn the_first_word_starts_the_command_also_without_dashes() {
    let scene = Scene::with_mirror();
    assert_snapshot!(scene.run("run --no-lock echo init -upgrade --no-lock -- x").text, @r"
    exit code: 0
    ----- stdout -----
    init -upgrade --no-lock -- x

    ----- stderr -----
    ");
}

#[test]
fn providers_lock_is_explained_because_it_asks_no_mirror() {
    let scene = Scene::with_mirror();
    assert_snapshot!(scene.run("run -- sh -c 'exit 1' providers lock").text, @"
    exit code: 1
    ----- stdout -----

    ----- stderr -----
    note: `providers lock` asks the registries of the providers' hosts, and no mirror
      hint: lock every platform: tofu-oci lock
    ");
}

#[test]
fn a_signal_to_the_whole_group_reaches_the_command_once() {
    let scene = Scene::with_mirror();
    scene.context.write(
        "child.sh",
        "trap 'echo interrupted' INT; trap 'echo asked to end; exit 7' TERM; echo ready; while :; do sleep 0.02; done",
    );
    let (mut child, mut output) = start(&scene, "run -- sh child.sh");
    assert_eq!(line(&mut output), "ready\n");
    let (group, process) = (format!("-{}", child.id()), child.id().to_string());
    kill("-INT", &group);
    assert_eq!(line(&mut output), "interrupted\n");
    kill("-TERM", &process);
    let mut rest = String::new();
    output.read_to_string(&mut rest).expect("the command ends");
    assert_eq!(rest, "asked to end\n");
    assert_eq!(child.wait().expect("it ends").code(), Some(7));
    assert_eq!(scene.left(), Vec::<String>::new());
}

#[test]
fn the_next_run_removes_what_a_killed_one_left() {
    let scene = Scene::with_mirror();
    let (mut child, mut output) = start(&scene, "run -- sh -c 'echo $$; exec sleep 60'");
    let command = line(&mut output);
    assert!(!scene.left().is_empty());
    child.kill().expect("it is running");
    child.wait().expect("it ends");
    kill("-KILL", command.trim());
    scene.run("run -- true").success();
    assert_eq!(scene.left(), Vec::<String>::new());
}

#[test]
fn runs_side_by_side_do_not_meet() {
    let scene = Scene::with_mirror();
    scene.client("mirror registry.example.com/acme/widget/index.json; echo; read -r _");
    let mut runs: Vec<_> = (0..3)
        .map(|_| {
            let mut command = scene.command("run -- sh client.sh");
            command.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().expect("the program starts")
        })
        .collect();
    for run in &mut runs {
        let output = BufReader::new(run.stdout.take().expect("it is piped"));
        assert_eq!(output.lines().next().expect("a line").expect("text"), "{\"versions\":{\"1.4.0\":{}}}");
    }
    for mut run in runs {
        drop(run.stdin.take());
        run.wait().expect("it ends");
    }
    assert_eq!(scene.left(), Vec::<String>::new());
}

#[test]
fn what_the_registry_refused_is_printed_after_the_command_has_failed() {
    let scene = Scene::with(basic());
    scene.home_file(".tofurc", MIRROR);
    scene.client("status registry.example.com/acme/widget/index.json; mirror registry.example.com/acme/widget/index.json > /dev/null; exit 1");
    assert_snapshot!(scene.run("run -- sh client.sh").text, @"
    exit code: 1
    ----- stdout -----
    401

    ----- stderr -----
    error: registry.example.com/acme/widget: [REGISTRY]/acme/widget needs credentials: authentication required (UNAUTHORIZED)
      cause: there are no credentials for it: looked in ~/.config/containers/auth.json (not there), ~/.docker/config.json (not there), ~/.dockercfg (not there)

    hint: log in with `tofu-oci login [REGISTRY] --username USER`
    hint: `tofu-oci auth explain [REGISTRY]/acme/widget` shows every file, entry and helper, and what the registry answers
    ");
}

/// What a client does that has installed widget 1.4.0: a lock file with the checksum of one platform.
const INSTALLS: &str = r#"mirror registry.example.com/acme/widget/1.4.0.json > /dev/null
cat > .terraform.lock.hcl <<END
provider "registry.example.com/acme/widget" {
  version = "1.4.0"
  hashes = [
    "h1:5ZIaEXtuGPhNEHItKhFseWeAc56rKw42E9ZsSDCu/hw=",
  ]
}
END
"#;

#[test]
fn the_lock_file_gets_the_checksums_of_all_platforms_if_they_are_signed() {
    let scene = Scene::with_mirror();
    scene.client(INSTALLS);
    assert_snapshot!(scene.run("run -- sh client.sh").text, @"
    exit code: 0
    ----- stdout -----

    ----- stderr -----
    note: the lock file has registry.example.com/acme/widget for linux_amd64 only
      hint: to lock every platform: tofu-oci lock registry.example.com/acme/widget
    ");
    scene.trust("");
    scene.sign("acme/widget", WIDGET, "1.4.0");
    scene.run("run --no-lock -- sh client.sh").success();
    assert!(!scene.context.read(".terraform.lock.hcl").contains("zh:"));
    assert_snapshot!(scene.run("run -- sh client.sh").text, @"
    exit code: 0
    ----- stdout -----

    ----- stderr -----
    note: .terraform.lock.hcl now has 3 more checksums that are signed
    note: .terraform.lock.hcl now has 3 more checksums that are signed
    ");
    assert_snapshot!(scene.shown(".terraform.lock.hcl"), @r#"
    # This file is maintained automatically by "tofu init".
    # Manual edits may be lost in future updates.

    provider "registry.example.com/acme/widget" {
      version = "1.4.0"
      hashes = [
        "h1:5ZIaEXtuGPhNEHItKhFseWeAc56rKw42E9ZsSDCu/hw=",
        "h1:EpzOw67GZI3oJwc3WEsuZHoCvH952FVhRbU2OaEcQa0=",
        "zh:[ZIP]",
        "zh:[ZIP]",
      ]
    }
    "#);
}
