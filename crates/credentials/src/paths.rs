//! Where credential files lie.

use std::ffi::OsString;
use std::path::{Path, PathBuf};

/// The files to read, the most important first; each may be missing. `os` is a Rust OS name such as `linux`.
///
/// ```text
/// $REGISTRY_AUTH_FILE                        where set, in place of the next two groups
/// $XDG_RUNTIME_DIR/containers/auth.json      linux
/// ~/.config/containers/auth.json             macos, windows
/// $XDG_CONFIG_HOME/containers/auth.json      ~/.config where it is not set
/// $DOCKER_CONFIG/config.json                 ~/.docker/config.json where it is not set
/// ~/.dockercfg
/// ```
///
/// `OpenTofu` knows neither `REGISTRY_AUTH_FILE` nor `DOCKER_CONFIG`; podman and docker do. An empty variable counts
/// as not set.
///
/// Spec: `OpenTofu` 1.12, ociauthconfig; containers-auth.json(5); docker's config file.
pub fn auth_file_paths(env: &dyn Fn(&str) -> Option<OsString>, os: &str) -> Vec<PathBuf> {
    let variable = |name: &str| env(name).filter(|value| !value.is_empty()).map(PathBuf::from);
    let home = variable(if os == "windows" { "USERPROFILE" } else { "HOME" });
    let in_home = |path: &str| home.as_ref().map(|home| home.join(path));
    let containers = |folder: &Path| folder.join("containers").join("auth.json");

    let mut paths: Vec<PathBuf> = Vec::new();
    if let Some(path) = variable("REGISTRY_AUTH_FILE") {
        paths.push(path);
    } else {
        match os {
            "linux" => paths.extend(variable("XDG_RUNTIME_DIR").map(|folder| containers(&folder))),
            "macos" | "windows" => paths.extend(in_home(".config").map(|folder| containers(&folder))),
            _ => {}
        }
        let config = variable("XDG_CONFIG_HOME").or_else(|| in_home(".config"));
        paths.extend(config.map(|folder| containers(&folder)));
    }
    let docker = variable("DOCKER_CONFIG").or_else(|| in_home(".docker"));
    paths.extend(docker.map(|folder| folder.join("config.json")));
    paths.extend(in_home(".dockercfg"));
    let mut seen = std::collections::BTreeSet::new();
    paths.retain(|path| seen.insert(path.clone()));
    paths
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(os: &str, variables: &[(&str, &str)], want: &[&str]) {
        let env = |name: &str| variables.iter().find(|(key, _)| *key == name).map(|(_, value)| OsString::from(value));
        let got: Vec<PathBuf> = auth_file_paths(&env, os);
        let want: Vec<PathBuf> = want.iter().map(PathBuf::from).collect();
        assert_eq!(got, want);
    }

    #[test]
    fn linux() {
        check("linux", &[], &[]);
        check(
            "linux",
            &[("HOME", "/h")],
            &["/h/.config/containers/auth.json", "/h/.docker/config.json", "/h/.dockercfg"],
        );
        check(
            "linux",
            &[("HOME", "/h"), ("XDG_RUNTIME_DIR", "/run/user/1"), ("XDG_CONFIG_HOME", "/xc")],
            &[
                "/run/user/1/containers/auth.json",
                "/xc/containers/auth.json",
                "/h/.docker/config.json",
                "/h/.dockercfg",
            ],
        );
        check(
            "linux",
            &[("HOME", "/h"), ("XDG_RUNTIME_DIR", ""), ("XDG_CONFIG_HOME", ""), ("DOCKER_CONFIG", "")],
            &["/h/.config/containers/auth.json", "/h/.docker/config.json", "/h/.dockercfg"],
        );
    }

    #[test]
    fn variables_of_docker_and_podman_stand_in_for_their_files() {
        check(
            "linux",
            &[("HOME", "/h"), ("DOCKER_CONFIG", "/d"), ("XDG_RUNTIME_DIR", "/r"), ("REGISTRY_AUTH_FILE", "/a.json")],
            &["/a.json", "/d/config.json", "/h/.dockercfg"],
        );
        check("linux", &[("DOCKER_CONFIG", "/d")], &["/d/config.json"]);
    }

    #[test]
    fn other_systems() {
        check(
            "macos",
            &[("HOME", "/h"), ("XDG_CONFIG_HOME", "/xc"), ("XDG_RUNTIME_DIR", "/unused")],
            &["/h/.config/containers/auth.json", "/xc/containers/auth.json", "/h/.docker/config.json", "/h/.dockercfg"],
        );
        check(
            "windows",
            &[("USERPROFILE", "/u"), ("HOME", "/unused")],
            &["/u/.config/containers/auth.json", "/u/.docker/config.json", "/u/.dockercfg"],
        );
        check(
            "freebsd",
            &[("HOME", "/h"), ("XDG_RUNTIME_DIR", "/unused")],
            &["/h/.config/containers/auth.json", "/h/.docker/config.json", "/h/.dockercfg"],
        );
    }
}
