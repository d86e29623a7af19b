//! A case brought about: its files in a temporary folder, its environment, its servers, and the built program.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use serde_json::Value;
use tempfile::TempDir;

use super::case::{Case, Offered};
use super::packages::{SOURCE, Translation, maker, package};
use super::world::{World, certificates};
use crate::setup::schema::check_line;

/// The platform that everything was measured on.
pub(super) const PLATFORM: &str = "linux_amd64";

/// The closed port of the measured world, and a closed port here.
const CLOSED: (&str, &str) = ("127.0.0.1:8799", "127.0.0.1:1");

const LOCK_FILE: &str = ".terraform.lock.hcl";

/// A case, made real.
pub(super) struct Scene {
    pub(super) case: Case,
    base: TempDir,
    pub(super) translation: Translation,
    pub(super) world: World,
}

/// What lies in the working directory.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct State {
    /// `HOST/NAMESPACE/TYPE/VERSION/OS_ARCH` of everything that is installed, each with what its package says of its
    /// maker.
    pub(super) installed: BTreeMap<String, String>,
    /// The whole lock file.
    pub(super) lock: Option<String>,
}

/// What the program did when it was run last.
#[derive(Debug)]
pub(super) struct Run {
    pub(super) arguments: Vec<String>,
    pub(super) exit: Option<i32>,
    /// The code of the error, if it has one.
    pub(super) code: Option<String>,
    pub(super) stderr: String,
    pub(super) before: State,
    pub(super) after: State,
    /// The servers that sent a package.
    pub(super) served: Vec<String>,
    /// Whose packages the program says it installed.
    pub(super) places: BTreeSet<String>,
    /// How often it wanted to reach a host.
    pub(super) connections: usize,
}

impl Scene {
    pub(super) fn new(raw: &Value) -> Result<Self, String> {
        let text = raw.to_string().replace(CLOSED.0, CLOSED.1);
        let raw: Value = serde_json::from_str(&text).map_err(|error| error.to_string())?;
        let case = Case::read(&raw)?;
        let base = tempfile::tempdir().unwrap();
        let (translation, world) = (Translation::of(&case), World::of(&case));
        let scene = Self { case, base, translation, world };
        for folder in ["home", "w", "tmp"] {
            fs::create_dir(scene.base().join(folder)).unwrap();
        }
        fs::write(scene.base().join("ca.pem"), certificates().ca_pem()).unwrap();
        scene.write();
        Ok(scene)
    }

    fn write(&self) {
        let case = &self.case;
        if case.env.values().any(|value| value == "$BASE/cache") {
            fs::create_dir(self.base().join("cache")).unwrap();
        }
        for (name, text) in &case.files {
            put(&self.base().join(self.substitute(name)), &self.paths_in(text));
        }
        if let Some(text) = &case.cli_config {
            put(&self.main_file(), &self.paths_in(text));
        }
        if let Some(lock) = &case.lock {
            put(&self.work().join(LOCK_FILE), &self.translation.apply(lock));
        }
        put(&self.work().join("main.tf"), &required(case));
        for (name, offer) in &case.offers {
            if let Some(folder) = name.strip_prefix("fs:") {
                self.fill(&self.work().join(self.substitute(folder)), offer);
            }
        }
    }

    fn base(&self) -> &Path {
        self.base.path()
    }

    fn work(&self) -> PathBuf {
        self.base().join("w")
    }

    fn main_file(&self) -> PathBuf {
        self.base().join(self.case.cli_config_name.as_deref().unwrap_or("rc.tfrc"))
    }

    /// Values of variables, and names of files.
    fn substitute(&self, text: &str) -> String {
        self.paths_in(text).replace("$HOME", &self.base().join("home").display().to_string())
    }

    /// Texts of files. `$HOME` in them is what the case is about.
    fn paths_in(&self, text: &str) -> String {
        text.replace("$BASE", &self.base().display().to_string()).replace("$WORK", &self.work().display().to_string())
    }

    /// How the program names the folder of an `fs:` offer; `None` if it is not there.
    pub(super) fn folder(&self, offer: &str) -> Option<String> {
        self.place(&format!("the folder {}", self.substitute(offer.strip_prefix("fs:")?)))
    }

    /// What the program says of a place, with the one spelling of a folder, and of a mirror without the marks of what is
    /// not shown; `None` for a folder that is not there.
    fn place(&self, said: &str) -> Option<String> {
        if let Some((start, end)) = said.split_once("***@") {
            return Some(format!("{start}{end}"));
        }
        let said = said.split('?').next().unwrap_or_default();
        let Some(folder) = said.strip_prefix("the folder ") else { return Some(said.to_owned()) };
        Some(format!("the folder {}", self.work().join(folder).canonicalize().ok()?.display()))
    }

    /// Fills a folder with packages.
    fn fill(&self, folder: &Path, offer: &Offered) {
        offer.assert_known("fs", &["x"], &[], &[]);
        match offer.fails.as_deref() {
            Some("missing-dir") => return,
            None | Some("corrupt") => fs::create_dir_all(folder).unwrap(),
            Some("empty-dir") => return fs::create_dir_all(folder).unwrap(),
            Some(word) => panic!("an unknown fault of a folder: {word}"),
        }
        let provider = folder.join(&self.case.provider);
        let provider_type = self.case.provider.rsplit('/').next().unwrap_or_default();
        for version in &offer.versions {
            for platform in offer.platforms(version) {
                let package = package(&maker("fs", offer.content.as_deref()), provider_type, version, platform);
                if offer.unpacked {
                    package.unpack(&provider.join(version).join(platform));
                    continue;
                }
                let name = format!("terraform-provider-{provider_type}_{version}_{platform}.zip");
                fs::create_dir_all(&provider).unwrap();
                let corrupt = offer.fails.as_deref() == Some("corrupt");
                fs::write(provider.join(name), if corrupt { &b"no zip at all"[..] } else { &package.zip[..] }).unwrap();
            }
        }
    }

    /// Runs the case's commands, or `install` alone, and gives what the last run of the program did.
    pub(super) fn run(&self) -> Result<Run, String> {
        let init = vec![vec!["tofu".to_owned(), "init".to_owned()]];
        let mut run = None;
        for command in self.case.commands.as_ref().unwrap_or(&init) {
            match &command[..] {
                [shell, script] if shell == "sh" => self.shell(script),
                [tofu, arguments @ ..] if tofu == "tofu" => run = Some(self.program(&ours(arguments)?)),
                _ => return Err(format!("an unknown command: {command:?}")),
            }
        }
        let mut run = run.ok_or("the case runs no program")?;
        // A script after the last command may move things.
        run.after.installed = self.installed();
        Ok(run)
    }

    /// Runs a script. As in the measurement it may fail if the command before it has left nothing.
    fn shell(&self, script: &str) {
        let mut command = Command::new("sh");
        command.arg("-c").arg(self.translation.apply(script)).current_dir(self.work());
        command.envs([("HOME", self.base().join("home")), ("WORK", self.work()), ("BASE", self.base().to_owned())]);
        command.stdin(Stdio::null()).output().unwrap();
    }

    fn program(&self, arguments: &[String]) -> Run {
        let mut command = Command::new(env!("CARGO_BIN_EXE_tofu-oci"));
        command.args(arguments);
        if self.case.offers.values().any(|offer| offer.fails.as_deref() == Some("timeout")) {
            // A quarter of the usual time.
            command.arg("--timeout=30s");
        }
        command.current_dir(self.work()).env_clear().stdin(Stdio::null());
        command.env("PATH", "/usr/bin:/bin").env("HOME", self.base().join("home"));
        command.env("TMPDIR", self.base().join("tmp")).env("TZ", "UTC").env("LANG", "C.UTF-8").env("NO_COLOR", "1");
        // Instead of the roots of the machine, which take longer to read than most cases to run.
        command.env("SSL_CERT_FILE", self.base().join("ca.pem")).envs(self.world.environment());
        if self.case.cli_config.is_some() {
            command.env("TF_CLI_CONFIG_FILE", self.main_file());
        }
        command.envs(self.case.env.iter().map(|(name, value)| (name, self.substitute(value))));

        let dir = arguments.iter().find_map(|argument| argument.strip_prefix("--chdir="));
        let dir = dir.map_or_else(|| self.work(), |dir| self.work().join(dir));
        let before = self.state(&dir);
        let (served_before, connections_before) = (self.world.served().len(), self.world.connections());
        let output = command.output().unwrap();
        let stdout = String::from_utf8_lossy(&output.stdout).into_owned();
        let events: Vec<Value> = stdout.lines().filter_map(|line| serde_json::from_str(line).ok()).collect();
        events.iter().for_each(check_line);
        let error = events.iter().rfind(|event| event["event"] == "error");
        let text = |event: &Value, name: &str| event[name].as_str().map(ToOwned::to_owned);
        let installed = events.iter().filter(|event| event["event"] == "installed");
        Run {
            arguments: arguments.to_vec(),
            exit: output.status.code(),
            code: error.and_then(|error| text(error, "code")),
            stderr: self.steady(&String::from_utf8_lossy(&output.stderr)),
            before,
            after: self.state(&dir),
            served: self.world.served().split_off(served_before),
            places: installed.filter_map(|event| self.place(&text(event, "place")?)).collect(),
            connections: self.world.connections() - connections_before,
        }
    }

    fn state(&self, dir: &Path) -> State {
        State { installed: self.installed(), lock: fs::read_to_string(dir.join(LOCK_FILE)).ok() }
    }

    fn installed(&self) -> BTreeMap<String, String> {
        let mut found = BTreeMap::new();
        for data in [self.work().join(".terraform"), self.work().join("sub/.terraform")] {
            walk(&data.join("providers"), "", 5, &mut found);
        }
        found
    }

    /// A text with the same words in every run, on every machine.
    fn steady(&self, text: &str) -> String {
        let text = text.replace(&self.base().display().to_string(), "$BASE");
        let mut pieces = text.split("sha256:");
        let first = pieces.next().unwrap_or_default().to_owned();
        let rest = pieces.map(|piece| piece.trim_start_matches(|letter: char| letter.is_ascii_hexdigit()));
        rest.fold(first, |shown, piece| shown + "[DIGEST]" + piece)
    }
}

/// Packages below a folder: so many folders deep, each with what its package says of its maker.
fn walk(folder: &Path, name: &str, depth: usize, found: &mut BTreeMap<String, String>) {
    if depth == 0 {
        let source = fs::read_to_string(folder.join(SOURCE)).unwrap_or_else(|error| error.to_string());
        found.insert(name.trim_start_matches('/').to_owned(), source.trim().to_owned());
        return;
    }
    for entry in fs::read_dir(folder).into_iter().flatten().flatten() {
        let own = entry.file_name().to_string_lossy().into_owned();
        // Locks and temporary folders of the program are hidden, and no packages.
        if entry.path().is_dir() && !own.starts_with('.') {
            walk(&entry.path(), &format!("{name}/{own}"), depth - 1, found);
        }
    }
}

/// The program's arguments for what was given to `tofu`.
fn ours(arguments: &[String]) -> Result<Vec<String>, String> {
    let (verb, given): (Vec<&String>, Vec<&String>) = arguments.iter().partition(|argument| !argument.starts_with('-'));
    let words: Vec<&str> = verb.iter().map(|word| word.as_str()).collect();
    let verb: &[&str] = match words[..] {
        ["init"] => &["install", "--platform", PLATFORM, "--attempts=1", "--json"],
        ["providers", "lock"] => &["lock", "--attempts=1", "--json"],
        ["version"] => &["--version"],
        // The program has no such verbs, and says so.
        ["fmt"] => &["fmt"],
        ["validate"] => &["validate"],
        _ => return Err(format!("an unknown verb: {words:?}")),
    };
    let mut own: Vec<String> = verb.iter().map(ToString::to_string).collect();
    for option in given {
        own.push(match option.split_once('=') {
            None if option == "-upgrade" => "--upgrade".to_owned(),
            Some(("-chdir", value)) => format!("--chdir={value}"),
            Some(("-platform", value)) => format!("--platform={value}"),
            Some(("-oci-mirror", value)) => format!("--from={value}"),
            Some(("-plugin-dir", value)) => format!("--plugin-dir={value}"),
            Some(("-lockfile", "readonly")) => "--lockfile=readonly".to_owned(),
            // OpenTofu takes every other value and ignores it.
            Some(("-lockfile", _)) => continue,
            _ => return Err(format!("an unknown option: {option}")),
        });
    }
    Ok(own)
}

fn put(path: &Path, text: &str) {
    fs::create_dir_all(path.parent().expect("a file lies in a folder")).unwrap();
    fs::write(path, text).unwrap();
}

/// A configuration that requires the case's provider.
fn required(case: &Case) -> String {
    let version = case.constraint.as_ref().map(|constraint| format!("      version = \"{constraint}\"\n"));
    format!(
        "terraform {{\n  required_providers {{\n    own = {{\n      source = \"{}\"\n{}    }}\n  }}\n}}\n",
        case.provider,
        version.unwrap_or_default()
    )
}
