//! What the CLI configuration depends on: this process's environment, home directory and files.

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use tofu_oci_installer::PluginCache;
use tofu_oci_mapper::config::{self, CliConfigReading, ConfigFiles, Environment, NamedFile, Os};
use tofu_oci_types::TofuRelease;

use crate::diagnostic::Diagnostic;
use crate::invocation;

/// The environment of this process. `chdir` is where `--chdir` says that the work is done.
pub(crate) fn environment(chdir: Option<&Path>) -> Result<Environment, Diagnostic> {
    let launch_dir = std::env::current_dir().map_err(|error| {
        Diagnostic::usage(format!("cannot tell the current directory: {error}")).io_hint("read", Path::new("."), &error)
    })?;
    let working_dir = chdir.map_or_else(|| launch_dir.clone(), |dir| launch_dir.join(dir));
    Ok(Environment {
        os: os(),
        home: home(),
        app_data: path("APPDATA"),
        launch_dir,
        working_dir,
        named: None,
        vars: vars(),
    })
}

/// Starts the program again without the variables of certificates that are set and empty. Programs in Go take those as unset; what
/// reads the system's certificates here would find none.
#[cfg(unix)]
pub(crate) fn without_empty_variables() {
    use std::os::unix::process::CommandExt as _;

    let is_empty = |name: &&str| std::env::var_os(name).is_some_and(|value| value.is_empty());
    let empty: Vec<&str> = ["SSL_CERT_FILE", "SSL_CERT_DIR"].into_iter().filter(is_empty).collect();
    let Some(program) = std::env::current_exe().ok().filter(|_| !empty.is_empty()) else { return };
    let mut command = std::process::Command::new(program);
    let mut arguments = std::env::args_os();
    if let Some(name) = arguments.next() {
        command.arg0(name);
    }
    for name in empty {
        command.env_remove(name);
    }
    // If the program cannot be started, this one goes on: it may need no certificates.
    let _ = command.args(arguments).exec();
}

/// A folder of this program in the user's cache. It may be missing; `None` if the environment names none.
pub(crate) fn cache_folder(name: &str) -> Option<PathBuf> {
    cache_root().map(|root| root.join(name))
}

/// The folder of this program in the user's cache, by the environment.
pub(crate) fn cache_root() -> Option<PathBuf> {
    cache_home(os(), &path).map(|dir| dir.join("tofu-oci"))
}

/// The user's cache folder. A relative path in a variable counts as unset.
///
/// Spec: XDG Base Directory Specification 0.8, "Basics": programs ignore relative paths.
fn cache_home(os: Os, path: &dyn Fn(&str) -> Option<PathBuf>) -> Option<PathBuf> {
    let variable = |name: &str| path(name).filter(|dir| dir.is_absolute());
    match os {
        Os::Windows => variable("LOCALAPPDATA"),
        Os::Mac => variable("HOME").map(|home| home.join("Library/Caches")),
        Os::Unix => variable("XDG_CACHE_HOME").or_else(|| variable("HOME").map(|home| home.join(".cache"))),
    }
}

fn os() -> Os {
    match std::env::consts::OS {
        "windows" => Os::Windows,
        "macos" => Os::Mac,
        _ => Os::Unix,
    }
}

/// `$HOME`; if it is unset or empty, what the user database says.
fn home() -> Option<PathBuf> {
    std::env::home_dir().filter(|home| !home.as_os_str().is_empty()).or_else(home_of_user)
}

/// The home folder of this user in `/etc/passwd`.
#[cfg(unix)]
fn home_of_user() -> Option<PathBuf> {
    let user = rustix::process::getuid().as_raw().to_string();
    let database = std::fs::read("/etc/passwd").ok()?;
    home_in(&String::from_utf8_lossy(&database), &user)
}

/// The sixth field of the line whose third is the user's number.
#[cfg(unix)]
fn home_in(database: &str, user: &str) -> Option<PathBuf> {
    let home = |line: &str| {
        let fields: Vec<&str> = line.split(':').collect();
        (fields.get(2) == Some(&user)).then(|| fields.get(5).map(PathBuf::from)).flatten()
    };
    database.lines().find_map(home).filter(|home| home.is_absolute())
}

#[cfg(not(unix))]
fn home_of_user() -> Option<PathBuf> {
    None
}

/// The path in a variable; an empty one counts as unset.
pub(crate) fn path(name: &str) -> Option<PathBuf> {
    std::env::var_os(name).filter(|value| !value.is_empty()).map(PathBuf::from)
}

/// The absolute path in a variable; an empty one counts as unset.
/// A relative path is refused, also one that begins with `~`: it would mean another folder in each directory.
pub(crate) fn absolute_path(name: &str) -> Result<Option<PathBuf>, Diagnostic> {
    let Some(named) = path(name) else { return Ok(None) };
    if named.is_absolute() {
        return Ok(Some(named));
    }
    let meant = match named.strip_prefix("~") {
        Ok(rest) => home().map(|home| home.join(rest)),
        // The home folder of another user.
        Err(_) if named.as_os_str().as_encoded_bytes().starts_with(b"~") => None,
        Err(_) => std::path::absolute(&named).ok(),
    };
    let text = format!("{name} names {}, which is not an absolute path", named.display());
    let example = meant.map_or_else(|| "/PATH".to_owned(), |path| invocation::quoted(&path.to_string_lossy()));
    Err(Diagnostic::usage(text).hint(format!("write an absolute path: {name}={example}")))
}

/// Every variable. A value that is not Unicode gets replacement marks: the run then reports that no file has this name.
fn vars() -> BTreeMap<String, String> {
    let text = |value: OsString| value.to_string_lossy().into_owned();
    std::env::vars_os().map(|(name, value)| (text(name), text(value))).collect()
}

/// The plugin cache that `TF_PLUGIN_CACHE_DIR` names, relative to the working directory.
/// It must exist, as in the CLI configuration: a misspelt name is not a cache.
pub(crate) fn plugin_cache_variable(working_dir: &Path) -> Result<Option<PluginCache>, Diagnostic> {
    let Some(dir) = path("TF_PLUGIN_CACHE_DIR") else { return Ok(None) };
    if !working_dir.join(&dir).exists() {
        let text = format!("TF_PLUGIN_CACHE_DIR names {}, which is not there", dir.display());
        let shown = invocation::quoted(&working_dir.join(&dir).to_string_lossy());
        return Err(Diagnostic::usage(text)
            .code("plugin-cache-dir")
            .hint(format!("create the folder, mkdir -p {shown}; or unset TF_PLUGIN_CACHE_DIR")));
    }
    let may_break = std::env::var("TF_PLUGIN_CACHE_MAY_BREAK_DEPENDENCY_LOCK_FILE").unwrap_or_default();
    let may_break_lock = !may_break.is_empty() && may_break != "0";
    Ok(Some(PluginCache { dir: working_dir.join(dir), may_break_lock }))
}

/// The release of `OpenTofu` that this program behaves as.
const RELEASE: TofuRelease = TofuRelease::V1_13;

/// The user's files as a release of `OpenTofu` reads them.
#[derive(Clone)]
pub(crate) struct ReadConfig {
    pub(crate) environment: Arc<Environment>,
    pub(crate) reading: Arc<CliConfigReading>,
}

impl ReadConfig {
    /// Reads them.
    pub(crate) fn read(chdir: Option<&Path>) -> Result<Self, Diagnostic> {
        Self::read_as(RELEASE, chdir)
    }

    /// Reads only the file that `--cli-config` names, if it names one; otherwise as [`ReadConfig::read`].
    pub(crate) fn of_file(file: Option<&Path>, chdir: Option<&Path>) -> Result<Self, Diagnostic> {
        let mut environment = environment(chdir)?;
        environment.named = file.map(|path| NamedFile { option: "--cli-config", path: path.to_owned() });
        let reading = config::read(&environment, &RealFiles, RELEASE);
        Ok(Self { environment: Arc::new(environment), reading: Arc::new(reading) })
    }

    /// Reads them as another release does.
    pub(crate) fn read_as(release: TofuRelease, chdir: Option<&Path>) -> Result<Self, Diagnostic> {
        let environment = environment(chdir)?;
        let reading = config::read(&environment, &RealFiles, release);
        Ok(Self { environment: Arc::new(environment), reading: Arc::new(reading) })
    }
}

pub(crate) struct RealFiles;

/// No configuration of a person is larger.
const FILE_LIMIT: u64 = 16 << 20;

impl ConfigFiles for RealFiles {
    fn read(&self, path: &Path) -> io::Result<Vec<u8>> {
        tofu_oci_disk::read_file(path, FILE_LIMIT)
    }

    fn list(&self, path: &Path) -> io::Result<Vec<OsString>> {
        std::fs::read_dir(path)?.map(|entry| Ok(entry?.file_name())).collect()
    }

    fn is_dir(&self, path: &Path) -> bool {
        path.is_dir()
    }

    fn exists(&self, path: &Path) -> bool {
        path.exists()
    }

    fn is_link(&self, path: &Path) -> bool {
        path.is_symlink()
    }
}

#[cfg(all(test, unix))]
mod tests {
    use super::*;

    #[track_caller]
    fn check(user: &str, want: Option<&str>) {
        let database =
            "root:x:0:0:root:/root:/bin/sh\n# 7:7\nada:x:1000:1000:Ada,,,:/home/ada:/bin/sh\nbob:x:1001:1001::\n";
        assert_eq!(home_in(database, user), want.map(PathBuf::from), "{user}");
    }

    #[test]
    fn the_user_database_knows_the_home_of_a_user() {
        check("0", Some("/root"));
        check("1000", Some("/home/ada"));
        check("1001", None);
        check("7", None);
    }

    #[track_caller]
    fn check_cache(os: Os, variables: &[(&str, &str)], want: Option<&str>) {
        let variable =
            |name: &str| variables.iter().find(|(known, _)| *known == name).map(|(_, value)| PathBuf::from(value));
        assert_eq!(cache_home(os, &variable), want.map(PathBuf::from), "{variables:?}");
    }

    #[test]
    fn a_relative_cache_folder_does_not_count() {
        let home = ("HOME", "/home/ada");
        check_cache(Os::Unix, &[home], Some("/home/ada/.cache"));
        check_cache(Os::Unix, &[home, ("XDG_CACHE_HOME", "/c")], Some("/c"));
        for relative in ["c", "./c", "~/c"] {
            check_cache(Os::Unix, &[home, ("XDG_CACHE_HOME", relative)], Some("/home/ada/.cache"));
            check_cache(Os::Unix, &[("HOME", relative)], None);
        }
        check_cache(Os::Mac, &[home, ("XDG_CACHE_HOME", "/c")], Some("/home/ada/Library/Caches"));
    }
}
