//! Where credential files lie.

use std::ffi::OsString;
use std::path::{Path, PathBuf};

/// A place to look for a credential file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SearchPath {
    /// The file; relative to the working directory where a variable is relative.
    pub path: PathBuf,
    /// Why it is looked for: the variable (`$XDG_RUNTIME_DIR`) or the folder (`~/.docker`).
    pub because: String,
    /// Whether `OpenTofu` looks there too.
    pub known_to_opentofu: bool,
}

/// The files to read, the most important first; each may be missing. `os` is a Rust or Go OS name such as `linux`.
///
/// ```text
/// $REGISTRY_AUTH_FILE                        not known to OpenTofu
/// $XDG_RUNTIME_DIR/containers/auth.json      linux
/// ~/.config/containers/auth.json             macos, windows
/// $XDG_CONFIG_HOME/containers/auth.json      ~/.config where it is not set
/// $DOCKER_CONFIG/config.json                 not known to OpenTofu
/// ~/.docker/config.json
/// ~/.dockercfg
/// ```
///
/// A variable adds a file and hides none, but for `XDG_CONFIG_HOME`, as `OpenTofu` has it. An empty variable counts as
/// not set. `home` is the home folder: of `HOME` (`USERPROFILE`), or where that is unset or empty, of the user database.
/// A file that two rules name one after the other is there once.
///
/// Spec: `OpenTofu` 1.12, ociauthconfig; containers-auth.json(5); docker's config file.
pub fn auth_file_paths(env: &dyn Fn(&str) -> Option<OsString>, home: Option<&Path>, os: &str) -> Vec<SearchPath> {
    let variable = |name: &str| env(name).filter(|value| !value.is_empty()).map(PathBuf::from);
    let mut paths = Paths(Vec::new());
    let mut in_home = |paths: &mut Paths, folder: &str, file: &str, because: &str| {
        if let Some(home) = home {
            paths.add(home.join(folder).join(file), because, true);
        }
    };
    if let Some(path) = variable("REGISTRY_AUTH_FILE") {
        paths.add(path, "$REGISTRY_AUTH_FILE", false);
    }
    match os {
        "linux" => {
            if let Some(folder) = variable("XDG_RUNTIME_DIR") {
                paths.add(folder.join(CONTAINERS), "$XDG_RUNTIME_DIR", true);
            }
        }
        "macos" | "darwin" | "windows" => in_home(&mut paths, ".config", CONTAINERS, "~/.config"),
        _ => {}
    }
    match variable("XDG_CONFIG_HOME") {
        Some(folder) => paths.add(folder.join(CONTAINERS), "$XDG_CONFIG_HOME", true),
        None => in_home(&mut paths, ".config", CONTAINERS, "~/.config"),
    }
    if let Some(folder) = variable("DOCKER_CONFIG") {
        paths.add(folder.join("config.json"), "$DOCKER_CONFIG", false);
    }
    in_home(&mut paths, ".docker", "config.json", "~/.docker");
    in_home(&mut paths, "", ".dockercfg", "~/.dockercfg");
    paths.0
}

const CONTAINERS: &str = "containers/auth.json";

struct Paths(Vec<SearchPath>);

impl Paths {
    fn add(&mut self, path: PathBuf, because: &str, known_to_opentofu: bool) {
        match self.0.last_mut() {
            Some(last) if last.path == path => last.known_to_opentofu |= known_to_opentofu,
            _ => self.0.push(SearchPath { path, because: because.to_owned(), known_to_opentofu }),
        }
    }
}
