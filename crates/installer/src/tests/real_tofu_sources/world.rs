//! A case's world: its files in a temporary folder, its environment, its registries, and the program in it.

use std::collections::{BTreeMap, BTreeSet};
use std::ffi::OsString;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::{Arc, Mutex};

use tofu_oci_lockfile::LOCK_FILE_NAME;
use tofu_oci_mapper::config::read;
use tofu_oci_mapper::{Environment, Files, Os, Reading, TofuRelease};
use tofu_oci_source::{Chain, Kind};
use tofu_oci_trust::PIN_FILE_NAME;
use tofu_oci_types::{NoReporter, ProviderAddr};

use super::case::{Case, Offered};
use super::folder::Folder;
use super::packages::{SOURCE, Translation, maker, package};
use super::registry::{Clients, NOWHERE, Registries};
use super::watched::Served;
use crate::tests::fixture::trust;
use crate::{InstallError, Job, LockPolicy, Options, Outcome, PluginCache, Target, Upgrade, configuration, install};

/// The platform that everything was measured on.
const PLATFORM: &str = "linux_amd64";

/// The real file system.
pub(super) struct Disk;

impl Files for Disk {
    fn read(&self, path: &Path) -> io::Result<Vec<u8>> {
        fs::read(path)
    }

    fn list(&self, path: &Path) -> io::Result<Vec<OsString>> {
        fs::read_dir(path)?.map(|entry| Ok(entry?.file_name())).collect()
    }

    fn is_dir(&self, path: &Path) -> bool {
        path.is_dir()
    }

    fn exists(&self, path: &Path) -> bool {
        path.exists()
    }
}

/// What an installation came to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Came {
    /// A package was installed, served by a method (`cache`: by none).
    Installed { method: String, version: String, repository: Option<String> },
    /// There was nothing to install.
    Nothing,
    /// It was refused; the class of the refusal, and what a user is told.
    Refused { class: String, told: String },
}

/// What a command line of a case means here.
enum Step<'a> {
    Shell(&'a str),
    Init(&'a [String]),
    /// Another command, which is not this program's.
    Other,
}

/// A case, made real.
pub(super) struct World<'a> {
    pub(super) case: &'a Case,
    base: tempfile::TempDir,
    translation: Translation,
    pub(super) registries: Registries,
    pub(super) log: Arc<Mutex<Vec<Served>>>,
}

impl<'a> World<'a> {
    pub(super) fn new(case: &'a Case, clients: &Clients) -> Self {
        let world = Self {
            case,
            base: tempfile::tempdir().unwrap(),
            translation: Translation::of(case),
            registries: Registries::of(case, clients),
            log: Arc::default(),
        };
        fs::create_dir_all(world.home()).unwrap();
        fs::create_dir_all(world.work()).unwrap();
        if world.case.env.values().any(|value| value == "$BASE/cache") {
            fs::create_dir_all(world.base().join("cache")).unwrap();
        }
        for (name, text) in &case.files {
            write(&world.base().join(world.substitute(name)), &world.paths_in(text));
        }
        if let Some(text) = &case.cli_config {
            write(&world.main_file(), &world.paths_in(text));
        }
        if let Some(lock) = &case.lock {
            write(&world.lock_file(), &world.translation.apply(lock));
        }
        write(&world.work().join("main.tf"), &required(case));
        for (name, offer) in &case.offers {
            if let Some(folder) = name.strip_prefix("fs:") {
                world.fill(&world.work().join(world.substitute(folder)), offer);
            }
        }
        world
    }

    pub(super) fn base(&self) -> &Path {
        self.base.path()
    }

    fn home(&self) -> PathBuf {
        self.base().join("home")
    }

    pub(super) fn work(&self) -> PathBuf {
        self.base().join("w")
    }

    fn main_file(&self) -> PathBuf {
        self.base().join(self.case.cli_config_name.as_deref().unwrap_or("rc.tfrc"))
    }

    fn lock_file(&self) -> PathBuf {
        self.work().join(LOCK_FILE_NAME)
    }

    /// Variables and names of files.
    fn substitute(&self, text: &str) -> String {
        self.paths_in(text).replace("$HOME", self.home().to_str().unwrap())
    }

    /// Texts of files. `$HOME` in them is what the case is about.
    fn paths_in(&self, text: &str) -> String {
        let (base, work) = (self.base().to_owned(), self.work());
        text.replace("$BASE", base.to_str().unwrap()).replace("$WORK", work.to_str().unwrap())
    }

    pub(super) fn environment(&self, working_dir: &Path) -> Environment {
        let mut vars: BTreeMap<String, String> = BTreeMap::new();
        vars.insert("HOME".to_owned(), self.home().to_str().unwrap().to_owned());
        if self.case.cli_config.is_some() {
            vars.insert("TF_CLI_CONFIG_FILE".to_owned(), self.main_file().to_str().unwrap().to_owned());
        }
        for (name, value) in &self.case.env {
            vars.insert(name.clone(), self.substitute(value));
        }
        Environment {
            os: Os::Unix,
            home: Some(self.home()),
            app_data: None,
            launch_dir: self.work(),
            working_dir: working_dir.to_owned(),
            vars,
        }
    }

    /// What a release makes of the files as they are now.
    pub(super) fn reading(&self, release: TofuRelease) -> Reading {
        read(&self.environment(&self.work()), &Disk, release)
    }

    fn fill(&self, folder: &Path, offer: &Offered) {
        offer.assert_known("fs", &["x"], &[], &[]);
        match offer.fails.as_deref() {
            Some("missing-dir") => return,
            None | Some("empty-dir" | "corrupt") => fs::create_dir_all(folder).unwrap(),
            Some(word) => panic!("a fault of a folder that nobody knows: {word}"),
        }
        if offer.fails.as_deref() == Some("empty-dir") {
            return;
        }
        let Ok(address) = self.case.provider.parse::<ProviderAddr>() else { return };
        let host = folder.join(address.hostname().display());
        let provider = host.join(address.namespace()).join(address.provider_type());
        for version in &offer.versions {
            for platform in offer.platforms(version) {
                let maker = maker("fs", offer.content.as_deref());
                let package = package(&maker, address.provider_type(), version, platform);
                if offer.unpacked {
                    package.unpack(&provider.join(version).join(platform));
                    continue;
                }
                let name = format!("terraform-provider-{}_{version}_{platform}.zip", address.provider_type());
                fs::create_dir_all(&provider).unwrap();
                let corrupt = offer.fails.as_deref() == Some("corrupt");
                let bytes = if corrupt { &b"no zip at all"[..] } else { &package.zip[..] };
                fs::write(provider.join(name), bytes).unwrap();
            }
        }
    }

    /// Runs the case's commands, or the one `init` that it is about; what the last installation came to.
    pub(super) async fn run(&self) -> Came {
        let init = vec![vec!["tofu".to_owned(), "init".to_owned()]];
        let commands = self.case.commands.as_ref().unwrap_or(&init);
        let mut came = Came::Nothing;
        for command in commands {
            match step(command) {
                Step::Shell(script) => self.shell(script),
                Step::Init(arguments) => came = self.init(arguments).await,
                Step::Other => {}
            }
        }
        came
    }

    /// Runs a script; as in the measurement, it may fail where the command before it has left nothing.
    fn shell(&self, script: &str) {
        Command::new("sh")
            .arg("-c")
            .arg(self.translation.apply(script))
            .current_dir(self.work())
            .envs([("HOME", self.home()), ("WORK", self.work()), ("BASE", self.base().to_owned())])
            .output()
            .unwrap();
    }

    async fn init(&self, arguments: &[String]) -> Came {
        self.log.lock().unwrap().clear();
        match self.try_init(arguments).await {
            Ok(came) => came,
            Err(error) => {
                Came::Refused { class: error.code().to_owned(), told: self.shown(&super::super::fixture::told(&error)) }
            }
        }
    }

    /// A message with the same words in every run, on every machine: without ports, digests, and what the system says
    /// about a connection.
    fn shown(&self, text: &str) -> String {
        let text = text.replace(self.base().to_str().unwrap(), "$BASE").replace(NOWHERE, "127.0.0.1:");
        let text = without(&text.replace("localhost:", "127.0.0.1:"), "127.0.0.1:", "[REGISTRY]");
        let text = without(&text, "sha256:", "[DIGEST]");
        match text.split_once("cannot reach ") {
            Some((before, place)) => format!("{before}cannot reach {}: …", place.split(": ").next().unwrap_or(place)),
            None => text,
        }
    }

    async fn try_init(&self, arguments: &[String]) -> Result<Came, InstallError> {
        let flag = |name: &str| arguments.iter().find_map(|argument| argument.strip_prefix(name));
        let dir = flag("-chdir=").map_or_else(|| self.work(), |dir| self.work().join(dir));
        let environment = self.environment(&dir);
        let reading = read(&environment, &Disk, TofuRelease::V1_13);
        let data_dir = dir.join(".terraform");
        let Some(required) = configuration(&dir, &data_dir)?.requirements.pop() else { return Ok(Came::Nothing) };
        let links = match flag("-plugin-dir=") {
            Some(folder) => vec![self.watch(Kind::Filesystem, None, Arc::new(Folder { path: dir.join(folder) }))],
            None => self.links(&reading.methods(&environment, &Disk), &required.address),
        };
        let chain = match (links.is_empty(), &reading.methods(&environment, &Disk).list[..]) {
            (true, [_, ..]) => Chain::unmatched(),
            _ => Chain::new(links),
        };
        let cache = reading.config.plugin_cache_dir.clone();
        let may_break_lock = reading.config.plugin_cache_may_break_lock;
        let path = dir.join(LOCK_FILE_NAME);
        let lock = tofu_oci_lockfile::read(&path)?;
        let job = Job {
            address: required.address.clone(),
            constraints: required.constraints,
            platform: PLATFORM.parse().unwrap(),
            source: Arc::new(chain),
            target: Target::WorkingDir { data_dir, cache: cache.map(|dir| PluginCache { dir, may_break_lock }) },
            lock: lock.and_then(|lock| lock.guide(&required.address)),
            upgrade: if flag("-upgrade").is_some() { Upgrade::Newest } else { Upgrade::KeepLocked },
        };
        let policy = match flag("-lockfile=") {
            Some("readonly") => LockPolicy::Leave,
            _ => LockPolicy::Update(path),
        };
        let (mut installed, _) =
            install(vec![job], &Options::new(policy, trust(dir.join(PIN_FILE_NAME))), &NoReporter).await?;
        let installed = installed.remove(0);
        let (method, repository) = self.served(installed.outcome, &installed.path);
        Ok(Came::Installed { method, version: installed.version.to_string(), repository })
    }

    /// Who served the package: the source that was opened last, unless nothing was.
    fn served(&self, outcome: Outcome, path: &Path) -> (String, Option<String>) {
        let found = fs::read_to_string(path.join(SOURCE)).unwrap();
        let opened = self.log.lock().unwrap().last().cloned();
        match opened {
            Some(served) if outcome == Outcome::Installed => {
                let offer = self.case.offers.iter().find(|(name, _)| maker(name, None) == served.method);
                let content = offer.and_then(|(_, offer)| offer.content.as_deref());
                assert_eq!(found, maker(served.method, content), "{}: another's package", self.case.name);
                (served.method.to_owned(), served.repository)
            }
            _ if outcome == Outcome::Linked => ("cache".to_owned(), None),
            _ => (found, None),
        }
    }

    /// The checksums of the lock file; nothing where there is no entry.
    pub(super) fn locked(&self) -> Option<BTreeSet<String>> {
        let file = tofu_oci_lockfile::read(&self.lock_file()).ok()??;
        let entry = file.get(&self.case.provider.parse().ok()?)?;
        Some(entry.hashes.iter().map(ToString::to_string).collect())
    }

    /// The measured checksums as they are here.
    pub(super) fn translated(&self, hashes: &[String]) -> BTreeSet<String> {
        hashes.iter().map(|hash| self.translation.apply(hash)).collect()
    }
}

/// The text with a word for everything that begins so and goes on in hexadecimal digits.
fn without(text: &str, beginning: &str, word: &str) -> String {
    let mut pieces = text.split(beginning);
    let first = pieces.next().unwrap_or_default().to_owned();
    let rest = pieces.map(|piece| piece.trim_start_matches(|letter: char| letter.is_ascii_hexdigit()));
    rest.fold(first, |shown, piece| shown + word + piece)
}

fn step(command: &[String]) -> Step<'_> {
    match command {
        [program, script] if program == "sh" => Step::Shell(script),
        [_, arguments @ ..] if arguments.iter().any(|argument| argument == "init") => Step::Init(arguments),
        _ => Step::Other,
    }
}

fn write(path: &Path, text: &str) {
    fs::create_dir_all(path.parent().unwrap()).unwrap();
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
