//! Where credential files lie.

use std::ffi::OsString;
use std::path::{Path, PathBuf};

/// A place to look for a credential file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SearchPath {
    /// The file; relative to the working directory if a variable is relative.
    pub path: PathBuf,
    /// Why it is looked for: the variable (`$XDG_RUNTIME_DIR`) or the folder (`~/.docker`).
    pub because: String,
    /// Whether `OpenTofu` looks there too.
    pub known_to_opentofu: bool,
    pub kind: FileKind,
}

/// Whose file a credential file is. Both are read alike; their logins are stored differently.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FileKind {
    /// Docker's: `docker login` leaves a mark in `auths` if a helper holds the login.
    Docker,
    /// That of podman, skopeo and buildah: their logins through `credHelpers` leave no mark.
    Containers,
}

impl FileKind {
    /// The kind of a file that somebody named: `containers/auth.json` at its end makes it one of podman's.
    pub fn of(path: &Path) -> Self {
        if path.ends_with(CONTAINERS) { Self::Containers } else { Self::Docker }
    }
}

/// The files to read, the most important first; each may be missing. `os` is a Rust or Go OS name such as `linux`.
///
/// ```text
/// $REGISTRY_AUTH_FILE                        not known to OpenTofu
/// $XDG_RUNTIME_DIR/containers/auth.json      linux
/// ~/.config/containers/auth.json             macos, windows
/// $XDG_CONFIG_HOME/containers/auth.json      ~/.config if it is not set
/// $DOCKER_CONFIG/config.json                 not known to OpenTofu
/// ~/.docker/config.json
/// ~/.dockercfg
/// ```
///
/// A variable adds a file and hides none, except `XDG_CONFIG_HOME`, as in `OpenTofu`. An empty variable counts as
/// not set. `home` is the home folder: of `HOME` (`USERPROFILE`), or where that is unset or empty, of the user database.
/// A file that two rules name one after the other is there once.
///
/// Spec: `OpenTofu` 1.12, ociauthconfig; containers-auth.json(5); docker's config file.
pub fn auth_file_paths(env: &dyn Fn(&str) -> Option<OsString>, home: Option<&Path>, os: &str) -> Vec<SearchPath> {
    let variable = |name: &str| env(name).filter(|value| !value.is_empty()).map(PathBuf::from);
    let mut paths = Paths(Vec::new());
    let in_home = |paths: &mut Paths, folder: &str, file: &str, because: &str| {
        if let Some(home) = home {
            paths.add(home.join(folder).join(file), because, true);
        }
    };
    if let Some(path) = variable("REGISTRY_AUTH_FILE") {
        paths.add(path, REGISTRY_AUTH_FILE, false);
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

/// Why the first file is looked for.
pub(crate) const REGISTRY_AUTH_FILE: &str = "$REGISTRY_AUTH_FILE";

const CONTAINERS: &str = "containers/auth.json";

struct Paths(Vec<SearchPath>);

impl Paths {
    fn add(&mut self, path: PathBuf, because: &str, known_to_opentofu: bool) {
        match self.0.last_mut() {
            Some(last) if last.path == path => last.known_to_opentofu |= known_to_opentofu,
            _ => {
                let kind = if because == REGISTRY_AUTH_FILE { FileKind::Containers } else { FileKind::of(&path) };
                self.0.push(SearchPath { path, because: because.to_owned(), known_to_opentofu, kind });
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// `BECAUSE PATH` of each place, with `+` before those that `OpenTofu` does not know.
    #[track_caller]
    fn check(os: &str, home: Option<&str>, variables: &[(&str, &str)], want: &[&str]) {
        let env = |name: &str| variables.iter().find(|(key, _)| *key == name).map(|(_, value)| OsString::from(value));
        let got: Vec<String> = auth_file_paths(&env, home.map(Path::new), os)
            .into_iter()
            .map(|found| {
                let beyond = if found.known_to_opentofu { "" } else { "+" };
                format!("{beyond}{} {}", found.because, found.path.display())
            })
            .collect();
        assert_eq!(got, want);
    }

    #[test]
    fn linux() {
        check("linux", None, &[], &[]);
        let plain = [
            "~/.config /h/.config/containers/auth.json",
            "~/.docker /h/.docker/config.json",
            "~/.dockercfg /h/.dockercfg",
        ];
        check("linux", Some("/h"), &[], &plain);
        check(
            "linux",
            Some("/h"),
            &[("XDG_RUNTIME_DIR", "/run/user/1"), ("XDG_CONFIG_HOME", "xc")],
            &[
                "$XDG_RUNTIME_DIR /run/user/1/containers/auth.json",
                "$XDG_CONFIG_HOME xc/containers/auth.json",
                "~/.docker /h/.docker/config.json",
                "~/.dockercfg /h/.dockercfg",
            ],
        );
        let empty =
            [("XDG_RUNTIME_DIR", ""), ("XDG_CONFIG_HOME", ""), ("DOCKER_CONFIG", ""), ("REGISTRY_AUTH_FILE", "")];
        check("linux", Some("/h"), &empty, &plain);
        // Variables that tofu-oci does not read.
        check("linux", Some("/h"), &[("DOCKER_AUTH_CONFIG", "{}"), ("NETRC", "/n")], &plain);
    }

    #[test]
    fn variables_of_docker_and_podman_add_files_and_hide_none() {
        check(
            "linux",
            Some("/h"),
            &[("DOCKER_CONFIG", "/d"), ("XDG_RUNTIME_DIR", "/r"), ("REGISTRY_AUTH_FILE", "/a.json")],
            &[
                "+$REGISTRY_AUTH_FILE /a.json",
                "$XDG_RUNTIME_DIR /r/containers/auth.json",
                "~/.config /h/.config/containers/auth.json",
                "+$DOCKER_CONFIG /d/config.json",
                "~/.docker /h/.docker/config.json",
                "~/.dockercfg /h/.dockercfg",
            ],
        );
        check("linux", None, &[("DOCKER_CONFIG", "/d")], &["+$DOCKER_CONFIG /d/config.json"]);
    }

    #[test]
    fn the_kind_of_a_file_is_known() {
        let variables = [("REGISTRY_AUTH_FILE", "/a.json"), ("XDG_RUNTIME_DIR", "/r"), ("DOCKER_CONFIG", "/d")];
        let env = |name: &str| variables.iter().find(|(key, _)| *key == name).map(|(_, value)| OsString::from(value));
        let kinds: Vec<FileKind> =
            auth_file_paths(&env, Some(Path::new("/h")), "linux").into_iter().map(|found| found.kind).collect();
        let (containers, docker) = (FileKind::Containers, FileKind::Docker);
        assert_eq!(kinds, [containers, containers, containers, docker, docker, docker]);
        assert_eq!(FileKind::of(Path::new("x/containers/auth.json")), containers);
        assert_eq!(FileKind::of(Path::new("auth.json")), docker);
    }

    #[test]
    fn a_file_named_by_two_rules_in_a_row_is_read_once() {
        check(
            "linux",
            Some("/h"),
            &[
                ("DOCKER_CONFIG", "/h/.docker/"),
                ("XDG_RUNTIME_DIR", "/r"),
                ("REGISTRY_AUTH_FILE", "/r/containers/auth.json"),
            ],
            &[
                "$REGISTRY_AUTH_FILE /r/containers/auth.json",
                "~/.config /h/.config/containers/auth.json",
                "$DOCKER_CONFIG /h/.docker/config.json",
                "~/.dockercfg /h/.dockercfg",
            ],
        );
    }

    #[test]
    fn other_systems() {
        let xdg = [("XDG_CONFIG_HOME", "/xc"), ("XDG_RUNTIME_DIR", "/unused")];
        for os in ["macos", "darwin", "windows"] {
            check(
                os,
                Some("/h"),
                &xdg,
                &[
                    "~/.config /h/.config/containers/auth.json",
                    "$XDG_CONFIG_HOME /xc/containers/auth.json",
                    "~/.docker /h/.docker/config.json",
                    "~/.dockercfg /h/.dockercfg",
                ],
            );
        }
        check(
            "macos",
            Some("/h"),
            &[],
            &[
                "~/.config /h/.config/containers/auth.json",
                "~/.docker /h/.docker/config.json",
                "~/.dockercfg /h/.dockercfg",
            ],
        );
        check(
            "freebsd",
            Some("/h"),
            &[("XDG_RUNTIME_DIR", "/unused")],
            &[
                "~/.config /h/.config/containers/auth.json",
                "~/.docker /h/.docker/config.json",
                "~/.dockercfg /h/.dockercfg",
            ],
        );
    }
}
