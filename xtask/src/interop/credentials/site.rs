//! The registries of the sub-stage, their users, and the helpers on the users' PATH.

use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};
use std::{env, fs};

use tofu_oci_testkit::{Auth, Bearer, Login, Rights, TokenAddress};

use crate::failure::{ChoreFailure, ChoreResult, Doing};
use crate::interop::content;
use crate::interop::lab::{Lab, text};
use crate::interop::registries::{ADDRESS, PLATFORM, published};
use crate::paths;
use crate::process::{Printed, ProgramRun};
use crate::registry::Guard;

/// The helper of this stage: `docker-credential-stagefile`.
pub(super) const HELPER: &str = "stagefile";
const HELPER_SCRIPT: &str = include_str!("helper.py");

/// Who guards a registry.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Guardian {
    /// A token server, which knows what each user may do.
    Tokens,
    /// A password file.
    Passwords,
}

/// A registry over TLS and its users.
pub(super) struct Site<'lab> {
    pub(super) guardian: Guardian,
    pub(super) name: &'static str,
    pub(super) lab: &'lab Lab,
    pub(super) registry: Guard,
    /// May do everything.
    pub(super) right: Login,
    /// The right name with a wrong password.
    pub(super) wrong: Login,
    /// Another user: one whose tokens grant nothing, or one whom the password file does not have.
    pub(super) other: Login,
    /// May only read. The password file has no such right, and not this user.
    pub(super) reader: Login,
    helpers: PathBuf,
}

impl<'lab> Site<'lab> {
    /// With a token server.
    pub(super) fn token(lab: &'lab Lab) -> ChoreResult<Self> {
        // crane takes no address of this machine for a token server, but a name.
        let address = TokenAddress::OwnListenerByName;
        Self::start(lab, "token server", |users| Auth::Bearer(Bearer { users, address, ..Bearer::new(right()) }))
    }

    /// With a password file.
    pub(super) fn htpasswd(lab: &'lab Lab) -> ChoreResult<Self> {
        Self::start(lab, "htpasswd", |_| Auth::Basic(right()))
    }

    /// With a token server of this kind.
    pub(super) fn with_tokens(lab: &'lab Lab, name: &'static str, bearer: Bearer) -> ChoreResult<Self> {
        Self::start(lab, name, |_| Auth::Bearer(bearer))
    }

    fn start(lab: &'lab Lab, name: &'static str, auth: impl FnOnce(Vec<Login>) -> Auth) -> ChoreResult<Self> {
        let wrong = Login::new("tester", "wrong-Pa55word");
        let other = Login { rights: Rights::Nothing, ..Login::new("somebody-else", "others-Pa55word") };
        let reader = Login { rights: Rights::Pull, ..Login::new("reader", "readers-Pa55word") };
        let auth = auth(vec![right(), other.clone(), reader.clone()]);
        let guardian = if matches!(auth, Auth::Bearer(_)) { Guardian::Tokens } else { Guardian::Passwords };
        let registry = Guard::closed(auth)?;
        let helpers = lab.new_folder("helpers")?;
        let helper = helpers.join(format!("docker-credential-{HELPER}"));
        // By its own path: a wrapper on the PATH may take longer than the helper itself.
        let python = lab.tool("python3")?.args(["-c", "import sys; print(sys.executable)"]).success()?;
        let (_, script) = HELPER_SCRIPT.split_once('\n').unwrap_or_default();
        paths::write(&helper, format!("#!{} -IS\n{script}", python.stdout.trim()))?;
        fs::set_permissions(&helper, fs::Permissions::from_mode(0o755))?;
        Ok(Self { guardian, name, lab, registry, right: right(), wrong, other, reader, helpers })
    }

    /// `127.0.0.1:PORT`.
    pub(super) fn address(&self) -> &str {
        self.registry.address()
    }

    /// A repository on the registry.
    pub(super) fn repository(&self, path: &str) -> String {
        format!("{}/{path}", self.address())
    }

    /// A user with an empty home folder.
    pub(super) fn person(&self) -> ChoreResult<Person<'_>> {
        let home = self.lab.new_folder("home")?;
        fs::create_dir(home.join("run"))?;
        Ok(Person { site: self, home, variables: Vec::new() })
    }

    /// What no program may print.
    fn secrets(&self) -> Vec<String> {
        let logins = [&self.right, &self.wrong, &self.other, &self.reader];
        logins.into_iter().flat_map(|login| [login.password.clone(), encoded(login)]).collect()
    }
}

/// Who may do everything at each site.
pub(super) fn right() -> Login {
    Login::new("tester", "right-Pa55word")
}

/// A login as the member `auth` has it.
pub(super) fn encoded(login: &Login) -> String {
    let header = login.basic_header();
    header.strip_prefix("Basic ").unwrap_or(&header).to_owned()
}

/// A user with a home folder, which holds only what the stage put there.
pub(super) struct Person<'site> {
    site: &'site Site<'site>,
    home: PathBuf,
    variables: Vec<(&'static str, PathBuf)>,
}

impl Person<'_> {
    /// A path below the home folder.
    pub(super) fn path(&self, name: &str) -> PathBuf {
        self.home.join(name)
    }

    /// Writes a file below the home folder.
    pub(super) fn write(&self, name: &str, content: impl AsRef<[u8]>) -> ChoreResult {
        paths::write(&self.path(name), content)
    }

    /// Reads a file below the home folder.
    pub(super) fn read(&self, name: &str) -> ChoreResult<String> {
        fs::read_to_string(self.path(name)).doing(|| format!("reading {name} of a home folder"))
    }

    /// Sets a variable for everything that this user runs.
    pub(super) fn set(&mut self, name: &'static str, value: impl Into<PathBuf>) {
        self.variables.push((name, value.into()));
    }

    /// `tofu-oci` without any setting, not even a certificate to trust: for verbs that ask no registry.
    pub(super) fn tofu_oci_alone(&self, arguments: &[&str]) -> ProgramRun {
        self.own(self.site.lab.stranger(arguments))
    }

    /// `tofu-oci` with the certificate to trust, and no other setting.
    pub(super) fn tofu_oci(&self, arguments: &[&str]) -> ProgramRun {
        let run = self.tofu_oci_alone(arguments);
        match self.site.registry.ca_file() {
            Some(file) => run.arg("--ca-file").arg(file),
            None => run,
        }
    }

    /// Another program, from the helpers of this stage or from the `PATH`, trusting the same authority.
    pub(super) fn tool(&self, name: &str) -> ChoreResult<ProgramRun> {
        let (lab, helper) = (self.site.lab, self.site.helpers.join(name));
        let run = self.own(if helper.exists() { lab.program_at(&helper) } else { lab.tool(name)? });
        Ok(match self.site.registry.ca_file() {
            Some(file) => run.variable("SSL_CERT_FILE", file),
            None => run,
        })
    }

    fn own(&self, run: ProgramRun) -> ProgramRun {
        let path = env::var_os("PATH").unwrap_or_default();
        let path = env::join_paths([self.site.helpers.clone()].into_iter().chain(env::split_paths(&path)));
        let run = run
            .variable("HOME", &self.home)
            .variable("XDG_RUNTIME_DIR", self.path("run"))
            .variable("HELPER_FOLDER", self.path("helper"))
            .variable("PATH", path.unwrap_or_default());
        self.variables.iter().fold(run, |run, (name, value)| run.variable(name, value))
    }

    /// Stores a login with a helper by its own `store`.
    pub(super) fn helper_store(&self, helper: &str, server: &str, login: &Login) -> ChoreResult {
        let login = serde_json::json!({"ServerURL": server, "Username": login.username, "Secret": login.password});
        self.tool(&format!("docker-credential-{helper}"))?.arg("store").input(login.to_string()).success()?;
        Ok(())
    }

    /// The questions to the helper of this stage since the last call: `ACTION SERVER` each.
    pub(super) fn helper_calls(&self) -> ChoreResult<Vec<String>> {
        let file = self.path("helper/calls");
        if !file.exists() {
            return Ok(Vec::new());
        }
        let calls = self.read("helper/calls")?.lines().map(str::to_owned).collect();
        fs::remove_file(file)?;
        Ok(calls)
    }

    /// Runs `tofu-oci` to the end; another exit code than this one is a failure, and so is a secret in what it prints.
    pub(super) fn must_end(&self, code: i32, arguments: &[&str]) -> ChoreResult<Printed> {
        self.keeps_secrets(code, &self.tofu_oci(arguments))
    }

    /// The same for a run that was put together elsewhere.
    pub(super) fn keeps_secrets(&self, code: i32, run: &ProgramRun) -> ChoreResult<Printed> {
        let printed = if code == 0 { run.success()? } else { run.refused_with(code)? };
        self.must_keep_secrets(&printed)?;
        Ok(printed)
    }

    /// A failure if the output contains a password of the site.
    pub(super) fn must_keep_secrets(&self, printed: &Printed) -> ChoreResult {
        let all = printed.all();
        match self.site.secrets().iter().find(|secret| all.contains(*secret)) {
            Some(_) => Err(ChoreFailure::new(format!("`{}` prints a secret", printed.command))),
            None => Ok(()),
        }
    }

    /// Publishes the release of the fixtures.
    pub(super) fn push(&self, repository: &str) -> ChoreResult {
        let dist = text(&paths::testdata().join("dist"));
        self.must_end(0, &["push", &dist, repository, "--address", ADDRESS])?;
        Ok(())
    }

    /// A push that ends with 1.
    pub(super) fn push_refused(&self, repository: &str) -> ChoreResult<Printed> {
        let dist = text(&paths::testdata().join("dist"));
        self.must_end(1, &["push", &dist, repository, "--address", ADDRESS])
    }

    /// Installs what was published and compares every byte.
    pub(super) fn install(&self, repository: &str) -> ChoreResult {
        let lab = self.site.lab;
        let work = lab.new_folder("work")?;
        self.must_end(0, &install(repository, &text(&work)))?;
        content::must_be_equal(&package(&work), &published(lab, "1.0.0")?)?;
        content::must_contain(&work.join(".terraform.lock.hcl"), "\"h1:")
    }

    /// An install that ends with 1 and leaves nothing.
    pub(super) fn install_refused(&self, repository: &str) -> ChoreResult<Printed> {
        let work = self.site.lab.new_folder("work")?;
        let printed = self.must_end(1, &install(repository, &text(&work)))?;
        if package(&work).exists() {
            return Err(printed.failure("a refused install left a package"));
        }
        Ok(printed)
    }

    /// Pushes, lists and installs.
    pub(super) fn round_trip(&self, repository: &str) -> ChoreResult {
        self.push(repository)?;
        self.must_end(0, &["versions", repository])?.must_show("1.0.0")?;
        self.install(repository)
    }
}

fn install<'a>(repository: &'a str, directory: &'a str) -> [&'a str; 8] {
    const WANTED: &str = "registry.example.test/acme/widget@1.0.0";
    ["install", WANTED, "--from", repository, "--chdir", directory, "--platform", PLATFORM]
}

fn package(work: &Path) -> PathBuf {
    work.join(".terraform/providers").join(ADDRESS).join("1.0.0").join(PLATFORM)
}
