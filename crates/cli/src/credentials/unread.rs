//! Files and variables in which people expect logins, and that nobody here reads, as in `OpenTofu`.

use std::ffi::OsString;
use std::path::{Path, PathBuf};

/// Something that is there and is not read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Unread {
    /// Its path, or the variable's name with `$`.
    pub(crate) name: String,
    remedy: String,
}

impl Unread {
    /// That it is not read, and what to do.
    pub(crate) fn told(&self) -> String {
        format!("it is there and is not read, as in OpenTofu: {}", self.remedy)
    }
}

/// What is there of it on this machine.
pub(super) fn find() -> Vec<Unread> {
    match user() {
        Some(user) => unread(&|name| std::env::var_os(name), &user, &|path| path.exists()),
        None => Vec::new(),
    }
}

#[cfg(target_os = "linux")]
fn user() -> Option<String> {
    Some(rustix::process::getuid().as_raw().to_string())
}

#[cfg(not(target_os = "linux"))]
fn user() -> Option<String> {
    Some(String::new())
}

fn unread(
    variable: &dyn Fn(&str) -> Option<OsString>,
    user: &str,
    exists: &dyn Fn(&Path) -> bool,
) -> Vec<Unread> {
    let set = |name: &str| variable(name).filter(|value| !value.is_empty());
    let mut found = Vec::new();
    let mut files = vec![format!("/run/containers/{user}/auth.json")];
    if set("XDG_RUNTIME_DIR").is_none() {
        files.push(format!("/run/user/{user}/containers/auth.json"));
    }
    let named = set("REGISTRY_AUTH_FILE").map(PathBuf::from);
    for file in files {
        let path = Path::new(&file);
        if user.is_empty() || named.as_deref() == Some(path) || !exists(path) {
            continue;
        }
        let remedy = if path.starts_with("/run/user") {
            format!("set XDG_RUNTIME_DIR=/run/user/{user}, or for tofu-oci alone REGISTRY_AUTH_FILE={file}")
        } else {
            format!("set REGISTRY_AUTH_FILE={file}, which tofu-oci alone reads, or log in with `tofu-oci login`")
        };
        found.push(Unread { name: file, remedy });
    }
    if set("DOCKER_AUTH_CONFIG").is_some() {
        let remedy = "write what it holds to a file, and set REGISTRY_AUTH_FILE=FILE, or log in with `tofu-oci login`";
        found.push(Unread { name: "$DOCKER_AUTH_CONFIG".to_owned(), remedy: remedy.to_owned() });
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(variables: &[(&str, &str)], files: &[&str], want: &[&str]) {
        let variable = |name: &str| {
            variables.iter().find(|(known, _)| *known == name).map(|(_, value)| OsString::from(value))
        };
        let exists = |path: &Path| files.iter().any(|file| Path::new(file) == path);
        let names: Vec<String> = unread(&variable, "1000", &exists).into_iter().map(|one| one.name).collect();
        assert_eq!(names, want);
    }

    #[test]
    fn the_file_of_podman_without_a_session_is_told_of() {
        let (root, session) = ("/run/containers/1000/auth.json", "/run/user/1000/containers/auth.json");
        check(&[], &[root, session], &[root, session]);
        check(&[("XDG_RUNTIME_DIR", "/run/user/1000")], &[root, session], &[root]);
        check(&[("XDG_RUNTIME_DIR", "")], &[session], &[session]);
        check(&[("REGISTRY_AUTH_FILE", root)], &[root], &[]);
        check(&[], &["/run/containers/7/auth.json"], &[]);
        check(&[("DOCKER_AUTH_CONFIG", "{}")], &[], &["$DOCKER_AUTH_CONFIG"]);
        check(&[("DOCKER_AUTH_CONFIG", "")], &[], &[]);
    }
}
