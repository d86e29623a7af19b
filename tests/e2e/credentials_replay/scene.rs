//! One case brought about: folders, environment, helpers, the CLI configuration, the mock, and the program.

use std::fs;
use std::os::unix::fs::{PermissionsExt as _, chown};
use std::os::unix::process::CommandExt as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use serde_json::{Value, json};
use tempfile::TempDir;
use tofu_oci_testkit::{Arrival, Certificates, MockAuth, MockReleases, MockSite};

use super::case::{Case, replaced};
use super::files::{self, Call};
use crate::setup::schema::check_line;

/// The namespace of every provider.
const NAMESPACE: &str = "providers.example.test/acme";
/// The user `nobody`.
const UNPRIVILEGED: u32 = 65_534;

/// The folders of the cases' words.
const FOLDERS: [(&str, &str); 7] = [
    ("$CONFIGDIR", "config"),
    ("$HOME", "home"),
    ("$WORK", "work"),
    ("$RUN", "run"),
    ("$XC", "xc"),
    ("$XR", "xr"),
    ("$DC", "dc"),
];

/// How a command says what it does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Telling {
    /// `--json -vv`.
    Machines,
    /// `-vv`.
    People,
}

/// A case ready to be run, as often as one likes.
pub(super) struct Scene {
    pub(super) case: Case,
    folder: TempDir,
    pub(super) mock: MockAuth,
    config: PathBuf,
}

/// What a run came to.
pub(super) struct Run {
    pub(super) code: Option<i32>,
    pub(super) stdout: String,
    pub(super) stderr: String,
    pub(super) arrivals: Vec<Arrival>,
    pub(super) calls: Vec<Call>,
    /// Whether what was asked for is there now.
    pub(super) is_there: bool,
}

impl Scene {
    pub(super) fn new(raw: &Value, releases: &MockReleases) -> Self {
        let folder = tempfile::tempdir().unwrap();
        for name in ["bin", "calls", "tmp", "home", "work", "config"] {
            fs::create_dir(folder.path().join(name)).unwrap();
        }
        // The certificate comes before the port, and the names before the certificate: they hold no port.
        let names = hosts(&raw.to_string());
        let certificates = Certificates::for_names(&names.iter().map(|name| bare(name)).collect::<Vec<_>>());
        let site = MockSite::open(&certificates);
        let mut words: Vec<(&str, String)> =
            FOLDERS.iter().map(|(word, name)| (*word, folder.path().join(name).display().to_string())).collect();
        words.push(("{port}", site.port().to_owned()));
        let case = Case::read(&replaced(raw, &words));

        let path_of = |repository: &str| repository.split_once('/').map_or("", |(_, path)| path).to_owned();
        let holds = case.providers().into_iter().map(|(kind, at)| (path_of(at), kind.to_owned())).collect();
        let mock = site.serve(case.registry.clone(), releases, holds, &names);
        fs::write(folder.path().join("ca.pem"), certificates.ca_pem()).unwrap();
        let scene = Self { config: write_config(&case, &folder.path().join("config")), case, folder, mock };
        scene.write();
        scene
    }

    fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    fn write(&self) {
        for (path, content) in &self.case.files {
            let path = Path::new(path);
            assert!(path.starts_with(self.folder.path()), "a file outside: {}", path.display());
            files::put(path, content);
        }
        for (name, helper) in &self.case.helpers {
            files::put_helper(name, helper, &self.path("bin"), &self.path("calls"));
        }
        if self.case.as_user.is_some() && is_root() {
            files::copy_program(Path::new(env!("CARGO_BIN_EXE_tofu-oci")), &self.path("tofu-oci"));
            fs::set_permissions(self.folder.path(), fs::Permissions::from_mode(0o755)).unwrap();
            give_away(self.folder.path());
        }
    }

    /// Runs the case once, with nothing left of an earlier run.
    pub(super) fn run(&self, telling: Telling) -> Run {
        self.mock.forget();
        let output = self.command(telling).output().unwrap();
        let run = Run {
            code: output.status.code(),
            stdout: String::from_utf8_lossy(&output.stdout).into_owned(),
            stderr: String::from_utf8_lossy(&output.stderr).into_owned(),
            arrivals: self.mock.arrivals(),
            calls: files::take_calls(&self.path("calls")),
            is_there: self.results().iter().all(|path| path.exists()),
        };
        for made in [".terraform", ".terraform.lock.hcl", "copied"] {
            let path = self.path("work").join(made);
            // Most runs leave not all of them.
            let _ = if path.is_dir() { fs::remove_dir_all(path) } else { fs::remove_file(path) };
        }
        run
    }

    /// Runs `auth explain` for each repository, in both forms; gives the last lines for machines, each with its
    /// `exit` code, and everything that was said.
    pub(super) fn explain(&self) -> (Vec<Value>, String) {
        let (mut lines, mut said) = (Vec::new(), String::new());
        for (_, repository) in self.case.providers() {
            for telling in [Telling::Machines, Telling::People] {
                self.mock.forget();
                let mut command = self.program();
                command.args(["auth", "explain", repository]);
                let output = self.finish(command, telling).output().unwrap();
                let stdout = String::from_utf8_lossy(&output.stdout);
                if telling == Telling::Machines {
                    // An error that is about no access has its code in its own line.
                    let mut parsed = stdout.lines().filter_map(|line| serde_json::from_str::<Value>(line).ok());
                    let mut line = parsed.next_back().inspect(check_line).unwrap_or_default();
                    line["exit"] = output.status.code().into();
                    lines.push(line);
                }
                said.extend([&stdout, &*String::from_utf8_lossy(&output.stderr)]);
            }
        }
        (lines, said)
    }

    /// What is there when all went well.
    fn results(&self) -> Vec<PathBuf> {
        let work = self.path("work");
        if self.case.via.is_some() {
            return vec![work.join("copied/index.json")];
        }
        let installed =
            |(kind, _): (&str, &str)| work.join(format!(".terraform/providers/{NAMESPACE}/{kind}/1.0.0/linux_amd64"));
        self.case.providers().into_iter().map(installed).collect()
    }

    /// The program, or a copy that anybody may run.
    fn program(&self) -> Command {
        let own = self.path("tofu-oci");
        Command::new(if own.exists() { own.as_os_str() } else { env!("CARGO_BIN_EXE_tofu-oci").as_ref() })
    }

    fn command(&self, telling: Telling) -> Command {
        let case = &self.case;
        assert!(case.command.is_none(), "a command that nobody knows: {:?}", case.command);
        let mut command = self.program();
        match case.via.as_deref() {
            None => {
                command.arg("install").args(case.providers().iter().map(|(kind, _)| format!("{NAMESPACE}/{kind}")));
                command.args(["--platform", "linux_amd64"]);
            }
            // Modules cannot be installed yet: a copy of the repository reads tags, manifests and blobs as well.
            Some("module") => drop(command.args(["copy", &case.repository, "oci:copied"])),
            Some(other) => panic!("a way that nobody knows: via {other}"),
        }
        self.finish(command, telling)
    }

    /// Whatever the verb: options of the network, the environment and the user.
    fn finish(&self, mut command: Command, telling: Telling) -> Command {
        let case = &self.case;
        command.args(["--attempts", "1", "-vv", "--ca-file"]).arg(self.path("ca.pem"));
        if telling == Telling::Machines {
            command.arg("--json");
        }
        command.current_dir(self.path("work")).env_clear().stdin(Stdio::null());
        command.env("PATH", format!("{}:/usr/bin:/bin", self.path("bin").display()));
        command.env("HOME", self.path("home")).env("TMPDIR", self.path("tmp"));
        // Instead of the roots of the machine, which take longer to read than most cases to run.
        command.env("SSL_CERT_FILE", self.path("ca.pem"));
        command.env("TZ", "UTC").env("LANG", "C.UTF-8").env("NO_COLOR", "1");
        command.env("TF_CLI_CONFIG_FILE", &self.config).envs(self.mock.environment());
        for (name, value) in &case.env {
            match value {
                Some(value) => command.env(name, value),
                None => command.env_remove(name),
            };
        }
        match case.as_user.as_deref() {
            Some("unprivileged") if is_root() => drop(command.uid(UNPRIVILEGED).gid(UNPRIVILEGED)),
            // A file of mode 000 is closed to its owner as well.
            None | Some("unprivileged") => {}
            Some(other) => panic!("a user that nobody knows: {other}"),
        }
        command
    }
}

/// The CLI configuration of the case, with a mirror for every provider.
fn write_config(case: &Case, folder: &Path) -> PathBuf {
    let providers = case.providers();
    if let Some(config) = &case.cli_json {
        let mirror = |(kind, repository): &(&str, &str)| json!({"repository_template": repository, "include": [format!("{NAMESPACE}/{kind}")]});
        let mut config = config.clone();
        config["provider_installation"] = json!({"oci_mirror": providers.iter().map(mirror).collect::<Vec<_>>()});
        let path = folder.join("cli.tfrc.json");
        fs::write(&path, config.to_string()).unwrap();
        return path;
    }
    let mut text = format!("{}\nprovider_installation {{\n", case.cli_config);
    for (kind, repository) in &providers {
        text.push_str(&format!(
            "  oci_mirror {{\n    repository_template = \"{repository}\"\n    include = [\"{NAMESPACE}/{kind}\"]\n  }}\n"
        ));
    }
    text.push_str("}\n");
    let path = folder.join("cli.tfrc");
    fs::write(&path, text).unwrap();
    path
}

/// Every `HOST:PORT` that a case may lead to: of its repositories, and of the addresses in it.
fn hosts(case: &str) -> Vec<String> {
    let own = case.split('"').filter(|text| !text.contains("://") && text.contains('/')).map(|text| (text, "443"));
    let urls = case.match_indices("https://").map(|(at, mark)| (&case[at + mark.len()..], "443"));
    // What the mock names by itself, and where Docker Hub is asked.
    let known = ["auth.example.test:5001", "registry-1.docker.io", "index.docker.io", "auth.docker.io"];
    let mut names = Vec::new();
    for (text, port) in own.chain(urls).chain(known.map(|name| (name, "443"))) {
        let end = text.find(|letter: char| !letter.is_ascii_alphanumeric() && !".-:@".contains(letter));
        let name = text[..end.unwrap_or(text.len())].rsplit('@').next().unwrap_or_default().to_ascii_lowercase();
        let (host, port) = name.split_once(':').unwrap_or((name.as_str(), port));
        if host.contains('.')
            && port.parse::<u16>().is_ok()
            && host.ends_with(|letter: char| letter.is_ascii_alphanumeric())
        {
            names.push(format!("{host}:{port}"));
        }
    }
    names.sort();
    names.dedup();
    names
}

/// A name without its port.
fn bare(name: &str) -> &str {
    name.split(':').next().unwrap_or(name)
}

fn is_root() -> bool {
    fs::metadata("/proc/self").is_ok_and(|own| std::os::unix::fs::MetadataExt::uid(&own) == 0)
}

/// Gives everything below a folder to another user.
fn give_away(path: &Path) {
    chown(path, Some(UNPRIVILEGED), Some(UNPRIVILEGED)).unwrap();
    if path.is_dir() && !path.is_symlink() {
        for entry in fs::read_dir(path).unwrap().flatten() {
            give_away(&entry.path());
        }
    }
}
