//! Files and variables in which people expect logins, and that nobody here reads, as in `OpenTofu`.

use std::ffi::OsString;
use std::io::Read as _;
use std::path::{Path, PathBuf};

use serde::Deserialize;
use serde_json::{Map, Value};
use zeroize::Zeroizing;

/// No credential file is larger.
const FILE_LIMIT: u64 = 4 << 20;

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
    unread(&|name| std::env::var_os(name), &user(), &holds_logins)
}

/// Whether a file is there with anything in it; one that cannot be read may have.
fn holds_logins(path: &Path) -> bool {
    let mut bytes = Zeroizing::new(Vec::new());
    let read = tofu_oci_disk::open_file(path).and_then(|file| file.take(FILE_LIMIT).read_to_end(&mut bytes));
    match read {
        Ok(_) => !is_empty(&bytes),
        Err(error) => error.kind() == std::io::ErrorKind::PermissionDenied,
    }
}

/// Whether it is a credential file that names no login and no helper, as `podman logout` leaves one.
fn is_empty(bytes: &[u8]) -> bool {
    #[derive(Default, Deserialize)]
    #[serde(rename_all = "camelCase", default)]
    struct Held {
        auths: Map<String, Value>,
        cred_helpers: Map<String, Value>,
        creds_store: String,
    }
    let Ok(held) = serde_json::from_slice::<Held>(bytes) else { return bytes.trim_ascii().is_empty() };
    held.auths.is_empty() && held.cred_helpers.is_empty() && held.creds_store.is_empty()
}

#[cfg(target_os = "linux")]
fn user() -> String {
    rustix::process::getuid().as_raw().to_string()
}

#[cfg(not(target_os = "linux"))]
fn user() -> String {
    String::new()
}

fn unread(variable: &dyn Fn(&str) -> Option<OsString>, user: &str, exists: &dyn Fn(&Path) -> bool) -> Vec<Unread> {
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
        let variable =
            |name: &str| variables.iter().find(|(known, _)| *known == name).map(|(_, value)| OsString::from(value));
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

    #[test]
    fn a_file_without_logins_is_not_worth_a_word() {
        for text in ["", "\n", "{}", r#"{"auths": {}}"#, r#"{"auths":{},"credsStore":""}"#] {
            assert!(is_empty(text.as_bytes()), "{text}");
        }
        for text in [r#"{"auths": {"ghcr.io": {}}}"#, r#"{"credsStore": "pass"}"#, r#"{"credHelpers":{"a":"b"}}"#, "{"]
        {
            assert!(!is_empty(text.as_bytes()), "{text}");
        }
    }
}
