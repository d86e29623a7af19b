//! `completions`: what the script of a shell gets, and what real shells make of it.

#[cfg(unix)]
use std::path::Path;

#[cfg(unix)]
use crate::credentials::basic;
use crate::setup::{Scene, WIDGET};

impl Scene {
    /// The candidates for the last word of a line, without what they mean.
    #[track_caller]
    fn candidates(&self, line: &str) -> Vec<String> {
        let line = line.replace("REGISTRY", self.registry.address());
        let mut command = self.command("");
        command.arg("--").args(line.split(' ')).env("TOFU_OCI_COMPLETE", "zsh");
        let said = self.output(&mut command);
        assert_eq!((said.code, said.stderr.as_str()), (Some(0), ""), "{line}: {}", said.text);
        let value =
            |line: &str| line.split('\t').next().unwrap_or_default().replace(self.registry.address(), "REGISTRY");
        said.stdout.lines().map(value).collect()
    }
}

fn with_two_versions() -> Scene {
    let scene = Scene::published();
    scene.publish("1.10.0");
    scene.registry.clear_requests();
    scene
}

#[test]
fn verbs_options_topics_rules_and_platforms() {
    let scene = Scene::new();
    assert_eq!(scene.candidates("tofu-oci ver"), ["verify", "versions", "version"]);
    assert_eq!(scene.candidates("tofu-oci install --plat"), ["--platform"]);
    assert_eq!(scene.candidates("tofu-oci install --platform darwin"), ["darwin_arm64", "darwin_amd64"]);
    assert_eq!(scene.candidates("tofu-oci check x --rule uns"), ["unsafe-entry", "unsigned"]);
    assert_eq!(scene.candidates("tofu-oci help regist"), ["registries", "registry-access"]);
    assert_eq!(scene.candidates("tofu-oci help check unsi"), ["unsigned"]);
    assert_eq!(scene.candidates("tofu-oci help error moved-t"), ["moved-tag"]);
    assert_eq!(scene.candidates("tofu-oci help config sni"), ["snippet"]);
    assert_eq!(scene.candidates("tofu-oci push x oci"), ["oci:"]);
}

#[test]
fn the_versions_of_a_repository_newest_first() {
    let scene = with_two_versions();
    let both = ["REGISTRY/acme/widget:1.10.0", "REGISTRY/acme/widget:1.4.0"];
    assert_eq!(scene.candidates("tofu-oci check REGISTRY/acme/widget:"), both);
    assert_eq!(scene.candidates("tofu-oci check REGISTRY/acme/widget:1.4"), both[1..]);
    assert_eq!(scene.candidates("tofu-oci copy REGISTRY/acme/widget oci:x --version 1.1"), ["1.10.0"]);
    let line = format!("tofu-oci verify --from REGISTRY/acme/widget {WIDGET}@");
    assert_eq!(scene.candidates(&line), [format!("{WIDGET}@1.10.0"), format!("{WIDGET}@1.4.0")]);
    // A port is no version.
    scene.registry.clear_requests();
    assert_eq!(scene.candidates("tofu-oci check 127.0.0.1:50"), Vec::<String>::new());
    assert_eq!(scene.registry.requests().len(), 0);
}

#[test]
fn directories_and_the_versions_in_them() {
    let scene = with_two_versions();
    scene.run("copy REGISTRY/acme/widget oci:layout --all").success();
    assert_eq!(scene.candidates("tofu-oci check oci:lay"), ["oci:layout/"]);
    assert_eq!(scene.candidates("tofu-oci check oci:layout:1.1"), ["oci:layout:1.10.0"]);
}

/// A registry that is down, one that asks for a login, a wrong configuration: no candidates, no words, and in time.
#[cfg(unix)]
#[test]
fn what_goes_wrong_leaves_no_candidates() {
    let mut scene = Scene::with(basic());
    assert_eq!(scene.candidates("tofu-oci check REGISTRY/acme/widget:"), Vec::<String>::new());
    assert_eq!(scene.candidates("tofu-oci check 127.0.0.1:1/acme/widget:"), Vec::<String>::new());
    scene.context.write_home(".tofurc", "oci_credentials {");
    assert_eq!(scene.candidates(&format!("tofu-oci verify {WIDGET}@")), Vec::<String>::new());
    scene.context.env("TOFU_OCI_TIMEOUT", "soon");
    assert_eq!(scene.candidates("tofu-oci check REGISTRY/acme/widget:"), Vec::<String>::new());
}

#[cfg(unix)]
#[test]
fn no_credential_helper_is_asked_for_a_candidate() {
    let mut scene = Scene::with(basic());
    scene.helper_with("vault", "ada", "secret");
    scene.context.write_home(".docker/config.json", r#"{"credsStore": "vault"}"#);
    assert_eq!(scene.candidates("tofu-oci check REGISTRY/acme/widget:"), Vec::<String>::new());
    assert_eq!(scene.helper_calls(), Vec::<String>::new());
}

/// Real bash, with the words as it breaks them at `:` and `@`.
#[cfg(unix)]
#[test]
fn bash_completes() {
    let scene = with_two_versions();
    let address = scene.registry.address().to_owned();
    let (host, port) = address.split_once(':').expect("host and port");
    let check = |words: &[&str], current: &str, line: &str, want: &str| {
        let program = Path::new(env!("CARGO_BIN_EXE_tofu-oci"));
        let folder = program.parent().expect("a folder").display();
        let script = format!(
            "PATH={folder}:$PATH; source <(tofu-oci completions bash); line=$1; current=$2; shift 2; COMP_WORDS=(\"$@\"); \
             COMP_CWORD=$(($# - 1)); COMP_LINE=$line; COMP_POINT=${{#line}}; _tofu_oci tofu-oci \"$current\" x; \
             printf '%s\\n' \"${{COMPREPLY[@]}}\""
        );
        let mut bash = scene.context.command("bash");
        bash.args(["--norc", "-c", &script, "bash", line, current]).args(words);
        let said = scene.output(&mut bash);
        assert_eq!((said.stdout.trim_end(), said.stderr.as_str()), (want, ""), "{line}");
    };
    check(&["tofu-oci", "ver"], "ver", "tofu-oci ver", "verify\nversions\nversion");
    let path = format!("{port}/acme/widget");
    let line = format!("tofu-oci check {address}/acme/widget:");
    check(&["tofu-oci", "check", host, ":", &path, ":"], "", &line, "1.10.0\n1.4.0");
    check(&["tofu-oci", "check", host, ":", &path, ":", "1.4"], "1.4", &format!("{line}1.4"), "1.4.0");
    let from = format!("tofu-oci verify --from={address}/acme/widget {WIDGET}@1.4");
    let words = ["tofu-oci", "verify", "--from", "=", host, ":", &path, WIDGET, "@", "1.4"];
    check(&words, "@1.4", &from, "@1.4.0");
}

/// What bash reads after TAB and Enter is the name, whatever it holds and whichever quote is open.
#[cfg(unix)]
#[test]
fn no_name_of_a_file_runs_as_a_command_after_a_tab_in_bash() {
    const NAMES: &[&str] = &[
        "$(touch ran)",
        "`touch ran`",
        "a;touch ran",
        "a|touch ran",
        "a&touch ran",
        "a>ran",
        "a b",
        "it's",
        "a\"b",
        "'$(touch ran)'",
        "\"$(touch ran)\"",
        "a\\",
        "a\\;touch ran",
        "${HOME}",
        "~a",
        "{a,b}",
        "[a]*?",
        "!a",
        "#a",
        "é漢 $(touch ran)",
        "a@b=c:d+e,f%g",
    ];
    let scene = Scene::new();
    for (nth, name) in NAMES.iter().enumerate() {
        scene.context.write(&format!("names/{nth:02}/{name}"), "");
    }
    let folder = Path::new(env!("CARGO_BIN_EXE_tofu-oci")).parent().expect("a folder").display().to_string();
    // The word on the line before the cursor, and the quote that is open in it. bash closes it unless the text ends with one.
    let script = r#"
PATH=$1:$PATH; source <(tofu-oci completions bash)
for folder in "$PWD"/names/*/; do
    cd "$folder" || exit 1
    for open in '' "'" '"'; do
        COMP_WORDS=(tofu-oci check "$open./"); COMP_CWORD=2; COMP_LINE="tofu-oci check $open./"; COMP_POINT=${#COMP_LINE}
        _tofu_oci tofu-oci ./ check
        word=$open${COMPREPLY[0]}
        if [[ -n $open && $word != *"$open" ]]; then word+=$open; fi
        eval "printf '%s\n' $word"
    done
done"#;
    let mut bash = scene.context.command("bash");
    bash.args(["--norc", "-c", script, "bash", &folder]);
    let said = scene.output(&mut bash);
    let want: String = NAMES.iter().map(|name| format!("./{name}\n").repeat(3)).collect();
    assert_eq!((said.stdout.as_str(), said.stderr.as_str()), (want.as_str(), ""));
    for (nth, name) in NAMES.iter().enumerate() {
        let there = std::fs::read_dir(scene.path(&format!("names/{nth:02}"))).expect("a folder").count();
        assert_eq!(there, 1, "a command in {name} ran");
    }
}

/// PowerShell is not on every machine: what its script does not do can be read.
#[test]
fn the_script_for_powershell_evaluates_nothing_and_quotes_what_is_not_plain() {
    let script = Scene::new().run("completions powershell").success().stdout;
    for evaluates in ["Invoke-Expression", "iex ", "@\"", "$args", "[scriptblock]", "ExpandString"] {
        assert!(!script.contains(evaluates), "{evaluates}: {script}");
    }
    assert!(script.contains("EscapeSingleQuotedStringContent($value)"), "{script}");
    assert!(script.contains("CompletionResult]::new($text, $value,"), "{script}");
}

/// No shell gets a name that acts on the terminal, or that is two candidates.
#[cfg(unix)]
#[test]
fn no_candidate_has_characters_that_act_on_a_terminal() {
    let scene = Scene::new();
    for name in ["plain", "two\nlines", "a\ttab", "bell\u{7}", "clear\u{1b}[2J", "right\u{202e}to left"] {
        scene.context.write(&format!("odd/{name}"), "");
    }
    for shell in ["bash", "zsh", "fish", "powershell"] {
        let mut command = scene.command("");
        command.args(["--", "tofu-oci", "check", "./odd/"]).env("TOFU_OCI_COMPLETE", shell);
        let said = scene.output(&mut command);
        let values: Vec<&str> = said.stdout.lines().map(|line| line.split('\t').next().unwrap_or_default()).collect();
        assert_eq!(values, ["./odd/plain"], "{shell}");
    }
}

/// The other shells read their script without an error.
#[cfg(unix)]
#[test]
fn every_shell_reads_its_script() {
    let scene = Scene::new();
    for (shell, check) in [("bash", "-n"), ("zsh", "-n"), ("fish", "--no-execute")] {
        let script = scene.run(&format!("completions {shell}")).success().stdout;
        assert!(script.contains("TOFU_OCI_COMPLETE"), "{script}");
        let path = scene.context.write("script", script);
        let mut command = scene.context.command(shell);
        command.arg(check).arg(&path);
        if std::process::Command::new(shell).arg("--version").output().is_err() {
            assert!(std::env::var_os("CI").is_none(), "{shell} is missing: .ci/run installs it");
            continue;
        }
        let said = scene.output(&mut command);
        assert_eq!((said.code, said.stderr.as_str()), (Some(0), ""), "{shell}");
    }
    assert!(scene.run("completions powershell").success().stdout.contains("Register-ArgumentCompleter"));
}
