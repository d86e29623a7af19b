//! The verbs: what each run needs, its command line, and what must be true afterwards.

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Duration;

use serde_json::json;
use tofu_oci_testkit::{Login, ProviderZip, ReleaseFolder};

use super::super::content;
use super::super::lab::{Lab, text};
use super::super::registries::{ADDRESS, PLATFORM, unzip};
use super::proxy::Proxy;
use crate::failure::{ChoreFailure, ChoreResult};
use crate::paths;
use crate::process::{Printed, ProgramRun};
use crate::registry::Guard;

const LOCK_FILE: &str = ".terraform.lock.hcl";
/// The release that every reading verb finds.
const READY: &str = "acme/widget";
const VERSION: &str = "1.0.0";
/// The module that `module pull` finds, under the tag [`VERSION`].
const MODULE: &str = "acme/network";
/// What lies in the folder of `module pull` before.
const OLD_FILE: &str = "old.tf";
const WITHDRAW: &[&str] = &["--reason", "it deletes state"];
const UNDO: &[&str] = &["--undo"];
/// The size of a file in each package, in bytes: a connection that is cut every 20 kB breaks more often than there are attempts.
const LARGE: usize = 200_000;

/// One command of the program that speaks to a registry.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum FaultVerb {
    Versions,
    Install,
    InstallLocked,
    Lock,
    Verify,
    Check,
    CheckDeep,
    CopyOut,
    AuthExplain,
    Login,
    Push,
    PushSigned,
    Sign,
    CopyIn,
    CopyBoth,
    Withdraw,
    Undo,
    ModulePull,
}

pub(super) const VERBS: &[FaultVerb] = &[
    FaultVerb::Versions,
    FaultVerb::Install,
    FaultVerb::InstallLocked,
    FaultVerb::Lock,
    FaultVerb::Verify,
    FaultVerb::Check,
    FaultVerb::CheckDeep,
    FaultVerb::CopyOut,
    FaultVerb::AuthExplain,
    FaultVerb::Login,
    FaultVerb::Push,
    FaultVerb::PushSigned,
    FaultVerb::Sign,
    FaultVerb::CopyIn,
    FaultVerb::CopyBoth,
    FaultVerb::Withdraw,
    FaultVerb::Undo,
    FaultVerb::ModulePull,
];

impl FaultVerb {
    /// The words by which a table names it; the first is the subcommand.
    pub(super) fn words(self) -> &'static [&'static str] {
        match self {
            Self::Versions => &["versions"],
            Self::Install => &["install"],
            Self::InstallLocked => &["install", "(locked)"],
            Self::Lock => &["lock"],
            Self::Verify => &["verify"],
            Self::Check => &["check"],
            Self::CheckDeep => &["check", "--deep"],
            Self::CopyOut => &["copy", "(to a directory)"],
            Self::AuthExplain => &["auth", "explain"],
            Self::Login => &["login"],
            Self::Push => &["push"],
            Self::PushSigned => &["push", "--sign-key"],
            Self::Sign => &["sign"],
            Self::CopyIn => &["copy", "(from a directory)"],
            Self::CopyBoth => &["copy", "(registry to registry)"],
            Self::Withdraw => &["withdraw"],
            Self::Undo => &["withdraw", "--undo"],
            Self::ModulePull => &["module", "pull", "--force"],
        }
    }

    /// Whether it writes into the registry.
    pub(super) fn writes(self) -> bool {
        matches!(self, Self::Push | Self::PushSigned | Self::Sign | Self::CopyIn | Self::CopyBoth) || self.takes_away()
    }

    /// Whether it takes a version away or brings it back.
    fn takes_away(self) -> bool {
        matches!(self, Self::Withdraw | Self::Undo)
    }
}

/// What all cells share: the registry with its login, a signed release in it and in a directory, and a key.
pub(super) struct FaultSite {
    registry: Guard,
    login: Login,
    /// The release files.
    dist: PathBuf,
    release: PathBuf,
    /// The files of the module.
    module: PathBuf,
    locked: String,
    layout: String,
    key: PathBuf,
    public: PathBuf,
    repositories: AtomicU32,
}

/// The inputs of one run.
pub(super) struct FaultScene<'a> {
    site: &'a FaultSite,
    lab: &'a Lab,
    verb: FaultVerb,
    work: PathBuf,
    /// `127.0.0.1:PORT` of the proxy.
    address: String,
    /// The repository that the verb works on, without the registry.
    repository: String,
}

impl FaultSite {
    /// Starts the registry and publishes the release.
    pub(super) fn new(lab: &Lab) -> ChoreResult<Self> {
        let registry = Guard::deletable_with_password()?;
        let keys = paths::testdata().join("trust/cosign/test-keys");
        let (key, public) = (keys.join("p256.pem"), keys.join("p256.pub"));
        let here = format!("{}/{READY}", registry.address());
        let layout = format!("oci:{}", text(&lab.new_folder("layout")?.join("packages")));
        let dist = lab.new_folder("dist")?;
        let package = |platform| ProviderZip::new("widget", VERSION, platform).random_file("data.bin", LARGE);
        let release = ReleaseFolder::new("widget", VERSION, &[]).package(package(PLATFORM));
        release.package(package("darwin_arm64")).write_zips(&dist);
        let push = ["push", &text(&dist), &here, "--address", ADDRESS, "--sign-key", &text(&key)];
        lab.tofu_oci(&registry, &push).success()?;
        lab.tofu_oci(&registry, &["copy", &here, &layout, "--all"]).success()?;
        let release = lab.new_folder("release")?;
        unzip(&dist.join(format!("terraform-provider-widget_{VERSION}_{PLATFORM}.zip")), &release)?;
        let module = lab.new_folder("module")?;
        paths::write(&module.join("main.tf"), "output \"version\" {\n  value = 1\n}\n")?;
        fs::copy(release.join("data.bin"), module.join("data.bin"))?;
        let network = format!("{}/{MODULE}", registry.address());
        lab.tofu_oci(&registry, &["module", "push", &text(&module), &network, "--version", VERSION]).success()?;
        let work = lab.new_folder("lock")?;
        project(&work)?;
        lab.tofu_oci(&registry, &["lock", "--from", &here, "--chdir", &text(&work)]).success()?;
        let locked = fs::read_to_string(work.join(LOCK_FILE))?;
        Ok(Self {
            registry,
            login: Login::new("tester", "secret"),
            dist,
            release,
            module,
            locked,
            layout,
            key,
            public,
            repositories: AtomicU32::new(0),
        })
    }

    /// `HOST:PORT` of the registry itself.
    pub(super) fn upstream(&self) -> &str {
        self.registry.address()
    }

    /// Texts that no run may print.
    pub(super) fn secrets(&self) -> Vec<String> {
        let header = self.login.basic_header();
        let encoded = header.strip_prefix("Basic ").unwrap_or(&header).to_owned();
        vec![encoded]
    }

    /// Prepares one run of `verb` through `proxy` in `folder`.
    pub(super) fn scene<'a>(
        &'a self,
        lab: &'a Lab,
        verb: FaultVerb,
        proxy: &Proxy,
        folder: &Path,
    ) -> ChoreResult<FaultScene<'a>> {
        let number = self.repositories.fetch_add(1, Ordering::Relaxed) + 1;
        let repository = if verb.writes() { format!("cells/n{number}") } else { READY.to_owned() };
        let scene = FaultScene {
            site: self,
            lab,
            verb,
            work: folder.join("work"),
            address: proxy.address().to_owned(),
            repository,
        };
        fs::create_dir_all(&scene.work)?;
        project(&scene.work)?;
        if verb == FaultVerb::InstallLocked {
            paths::write(&scene.work.join(LOCK_FILE), &self.locked)?;
        }
        if verb == FaultVerb::Sign || verb.takes_away() {
            let direct = scene.direct();
            lab.tofu_oci(&self.registry, &["push", &text(&self.dist), &direct, "--address", ADDRESS]).success()?;
        }
        if verb == FaultVerb::Undo {
            scene.withdraw(WITHDRAW)?;
        }
        if verb == FaultVerb::ModulePull {
            paths::write(&scene.module_dir().join(OLD_FILE), "old")?;
        }
        let auths = json!({"auths": {&scene.address: {"auth": self.secrets()[0]}}});
        paths::write(&scene.work.join("docker/config.json"), auths.to_string())?;
        Ok(scene)
    }
}

impl FaultScene<'_> {
    /// The run, ended from outside after `limit` with exit code 124.
    pub(super) fn command(&self, limit: Duration, timeout: u32) -> ProgramRun {
        let through = format!("{}/{}", self.address, self.repository);
        let source = format!("{}/{READY}", self.address);
        let wanted = format!("{ADDRESS}@{VERSION}");
        let tagged = format!("{through}:{VERSION}");
        let work = text(&self.work);
        let dist = text(&self.site.dist);
        let (key, public) = (text(&self.site.key), text(&self.site.public));
        let out = self.directory();
        let (module, dir) = (format!("oci://{}/{MODULE}?tag={VERSION}", self.address), text(&self.module_dir()));
        let address = ["--address", ADDRESS];
        let arguments: Vec<&str> = match self.verb {
            FaultVerb::Versions => vec!["versions", &through],
            FaultVerb::Install | FaultVerb::InstallLocked => {
                vec!["install", "--from", &through, "--chdir", &work, "--platform", PLATFORM]
            }
            FaultVerb::Lock => vec!["lock", "--from", &through, "--chdir", &work],
            FaultVerb::Verify => vec!["verify", &wanted, "--from", &through, "--chdir", &work, "--key", &public],
            FaultVerb::Check => vec!["check", &through, "--platform", PLATFORM],
            FaultVerb::CheckDeep => vec!["check", &through, "--deep", "--platform", PLATFORM],
            FaultVerb::CopyOut => vec!["copy", &through, &out, "--all"],
            FaultVerb::AuthExplain => vec!["auth", "explain", &through],
            FaultVerb::Login => vec!["login", &self.address],
            FaultVerb::Push => [&["push", &dist, &through][..], &address].concat(),
            FaultVerb::PushSigned => [&["push", &dist, &through, "--sign-key", &key][..], &address].concat(),
            FaultVerb::Sign => vec!["sign", &tagged, "--key", &key],
            FaultVerb::CopyIn => vec!["copy", &self.site.layout, &through, "--all"],
            FaultVerb::CopyBoth => vec!["copy", &source, &through, "--all"],
            FaultVerb::Withdraw => [&["withdraw", &tagged][..], WITHDRAW].concat(),
            FaultVerb::Undo => [&["withdraw", &tagged][..], UNDO].concat(),
            FaultVerb::ModulePull => vec!["module", "pull", &module, &dir, "--force"],
        };
        let program = self.lab.program();
        self.lab
            .program_at(Path::new("timeout"))
            .arg(limit.as_secs().to_string())
            .arg(program)
            .args(arguments)
            .args(["--timeout", &timeout.to_string(), "-vv"])
            .variable("DOCKER_CONFIG", self.work.join("docker"))
    }

    /// A failure if something is half-done, or if a success is a false one.
    pub(super) fn inspect(&self, printed: &Printed) -> ChoreResult {
        let success = printed.code == Some(0);
        match self.verb {
            FaultVerb::Install | FaultVerb::InstallLocked => self.installed(success),
            FaultVerb::Lock => self.locked(success),
            FaultVerb::CopyOut => self.readable(&self.directory(), success),
            FaultVerb::ModulePull => self.pulled(success),
            FaultVerb::Withdraw => self.taken_away(success),
            FaultVerb::Undo => {
                if success {
                    self.readable(&self.direct(), true)?;
                }
                self.taken_away(false)
            }
            FaultVerb::Push | FaultVerb::CopyIn | FaultVerb::CopyBoth => self.readable(&self.direct(), success),
            FaultVerb::PushSigned | FaultVerb::Sign => {
                self.readable(&self.direct(), success || self.verb == FaultVerb::Sign)?;
                if success { self.signed() } else { Ok(()) }
            }
            FaultVerb::Versions
            | FaultVerb::Verify
            | FaultVerb::Check
            | FaultVerb::CheckDeep
            | FaultVerb::AuthExplain
            | FaultVerb::Login
                if success =>
            {
                if printed.all().contains(self.must_say()) {
                    Ok(())
                } else {
                    Err(ChoreFailure::new(format!("the run succeeded, and its output lacks `{}`", self.must_say())))
                }
            }
            FaultVerb::Versions
            | FaultVerb::Verify
            | FaultVerb::Check
            | FaultVerb::CheckDeep
            | FaultVerb::AuthExplain
            | FaultVerb::Login => Ok(()),
        }
    }

    /// What a run that only reads prints if it succeeds.
    fn must_say(&self) -> &'static str {
        match self.verb {
            FaultVerb::Verify => "result    signed by",
            FaultVerb::Check | FaultVerb::CheckDeep => "1 version looked at",
            FaultVerb::AuthExplain => "a pull works",
            FaultVerb::Login => "works at",
            _ => VERSION,
        }
    }

    fn installed(&self, success: bool) -> ChoreResult {
        let package = self.work.join(".terraform/providers").join(ADDRESS).join(VERSION).join(PLATFORM);
        if success || package.exists() {
            content::must_be_equal(&package, &self.site.release)?;
        }
        let before = if self.verb == FaultVerb::InstallLocked { Some(&self.site.locked) } else { None };
        let after = fs::read_to_string(self.work.join(LOCK_FILE)).ok();
        if !success && after.as_ref() != before {
            return Err(ChoreFailure::new("the run failed, and the lock file has changed"));
        }
        if success && after.is_none() { Err(ChoreFailure::new("there is no lock file")) } else { Ok(()) }
    }

    /// The folder has the module or what it had before, and nothing lies beside it.
    fn pulled(&self, success: bool) -> ChoreResult {
        let dir = self.module_dir();
        if success {
            content::must_be_equal(&dir, &self.site.module)?;
        } else if paths::files_below(&dir)? != [Path::new(OLD_FILE)] {
            return Err(ChoreFailure::new("the run failed, and the folder has changed"));
        }
        let beside = fs::read_dir(dir.with_file_name(""))?.count();
        if beside == 1 { Ok(()) } else { Err(ChoreFailure::new("something is left beside the folder")) }
    }

    fn locked(&self, success: bool) -> ChoreResult {
        let after = fs::read_to_string(self.work.join(LOCK_FILE)).ok();
        let wanted = success.then_some(&self.site.locked);
        if after.as_ref() == wanted { Ok(()) } else { Err(ChoreFailure::new(format!("the lock file is {after:?}"))) }
    }

    /// If the tag is there (as it must be after a success), the release installs and has the right bytes.
    fn readable(&self, place: &str, success: bool) -> ChoreResult {
        if !success {
            let listed = self.lab.tofu_oci(&self.site.registry, &["versions", place]).output()?;
            if !listed.stdout.lines().any(|line| line.starts_with(VERSION)) {
                return Ok(());
            }
        }
        let work = self.work.join("afterwards");
        fs::create_dir_all(&work)?;
        let (wanted, directory) = (format!("{ADDRESS}@{VERSION}"), text(&work));
        let install = ["install", &wanted, "--from", place, "--chdir", &directory, "--platform", PLATFORM];
        self.lab.tofu_oci(&self.site.registry, &install).success()?;
        let package = work.join(".terraform/providers").join(ADDRESS).join(VERSION).join(PLATFORM);
        content::must_be_equal(&package, &self.site.release)
    }

    fn signed(&self) -> ChoreResult {
        let (wanted, direct, work) = (format!("{ADDRESS}@{VERSION}"), self.direct(), text(&self.work));
        let public = text(&self.site.public);
        let verify = ["verify", &wanted, "--from", &direct, "--chdir", &work, "--key", &public];
        self.lab.tofu_oci(&self.site.registry, &verify).success().map(drop)
    }

    /// The release is there, under its tag or withdrawn, and the same command can be repeated and taken back.
    fn taken_away(&self, success: bool) -> ChoreResult {
        if success {
            let listed = self.lab.tofu_oci(&self.site.registry, &["versions", &self.direct()]).output()?;
            if !listed.all().contains("withdrawn") {
                return Err(ChoreFailure::new(format!(
                    "the run succeeded, and the version is there: {}",
                    listed.all()
                )));
            }
        }
        self.withdraw(WITHDRAW)?;
        self.withdraw(UNDO)?;
        self.readable(&self.direct(), true)
    }

    fn withdraw(&self, how: &[&str]) -> ChoreResult {
        let tagged = format!("{}:{VERSION}", self.direct());
        self.lab.tofu_oci(&self.site.registry, &[&["withdraw", &tagged][..], how].concat()).success().map(drop)
    }

    /// The repository, past the proxy.
    fn direct(&self) -> String {
        format!("{}/{}", self.site.upstream(), self.repository)
    }

    fn module_dir(&self) -> PathBuf {
        self.work.join("modules/network")
    }

    fn directory(&self) -> String {
        format!("oci:{}", text(&self.work.join("packages")))
    }
}

/// Writes a configuration that requires the provider.
fn project(directory: &Path) -> ChoreResult {
    let configuration = format!(
        "terraform {{\n  required_providers {{\n    widget = {{\n      source  = \"{ADDRESS}\"\n      version = \"{VERSION}\"\n    }}\n  }}\n}}\n"
    );
    paths::write(&directory.join("main.tf"), configuration)
}
