//! Files and variables in which people expect logins. Neither `OpenTofu` nor tofu-oci reads them.

use std::fmt;
use std::io::Read as _;
use std::path::{Path, PathBuf};

use serde::Deserialize;
use serde_json::{Map, Value};
use zeroize::Zeroizing;

use crate::machine::HostMachine;

/// The most that is read of a file, in bytes.
const FILE_LIMIT: u64 = 4 << 20;

/// Something that exists and is not read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OverlookedLogin {
    /// Its path, or the variable's name with `$`.
    pub name: String,
    pub kind: OverlookedKind,
}

/// What is not read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum OverlookedKind {
    /// podman's file of a session, and the variable that names the session's folder is not set.
    SessionFile {
        /// The user's number.
        user: String,
    },
    /// podman's file of a user without a session.
    UserFile,
    /// A variable that holds a whole file.
    Variable,
}

impl fmt::Display for OverlookedLogin {
    /// That it is not read, and what to do about it.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let name = &self.name;
        f.write_str("it is there and is not read, as in OpenTofu: ")?;
        match &self.kind {
            OverlookedKind::SessionFile { user } => {
                write!(f, "set XDG_RUNTIME_DIR=/run/user/{user}, or for tofu-oci alone REGISTRY_AUTH_FILE={name}")
            }
            OverlookedKind::UserFile => {
                write!(f, "set REGISTRY_AUTH_FILE={name}, which tofu-oci alone reads, or log in with `tofu-oci login`")
            }
            OverlookedKind::Variable => f.write_str(
                "write what it holds to a file, and set REGISTRY_AUTH_FILE=FILE, or log in with `tofu-oci login`",
            ),
        }
    }
}

/// What this machine has of it.
pub(crate) fn find(machine: &dyn HostMachine) -> Vec<OverlookedLogin> {
    overlooked(machine, &holds_logins)
}

/// Whether a file names a login or a helper. A file that this user must not read may.
fn holds_logins(path: &Path) -> bool {
    let mut bytes = Zeroizing::new(Vec::new());
    let read = tofu_oci_disk::open_file(path).and_then(|file| file.take(FILE_LIMIT).read_to_end(&mut bytes));
    match read {
        Ok(_) => !is_empty(&bytes),
        Err(error) => error.kind() == std::io::ErrorKind::PermissionDenied,
    }
}

/// Whether a credential file names neither a login nor a helper, as after `podman logout`.
fn is_empty(bytes: &[u8]) -> bool {
    #[derive(Default, Deserialize)]
    #[serde(rename_all = "camelCase", default)]
    struct Logins {
        auths: Map<String, Value>,
        cred_helpers: Map<String, Value>,
        creds_store: String,
    }
    let Ok(held) = serde_json::from_slice::<Logins>(bytes) else { return bytes.trim_ascii().is_empty() };
    held.auths.is_empty() && held.cred_helpers.is_empty() && held.creds_store.is_empty()
}

fn overlooked(machine: &dyn HostMachine, exists: &dyn Fn(&Path) -> bool) -> Vec<OverlookedLogin> {
    let set = |name: &str| machine.variable(name).filter(|value| !value.is_empty());
    let named = set("REGISTRY_AUTH_FILE").map(PathBuf::from);
    let mut found = Vec::new();
    let mut look = |name: String, kind| {
        let path = Path::new(&name);
        if named.as_deref() != Some(path) && exists(path) {
            found.push(OverlookedLogin { name, kind });
        }
    };
    if let Some(user) = machine.user() {
        look(format!("/run/containers/{user}/auth.json"), OverlookedKind::UserFile);
        if set("XDG_RUNTIME_DIR").is_none() {
            look(format!("/run/user/{user}/containers/auth.json"), OverlookedKind::SessionFile { user });
        }
    }
    if set("DOCKER_AUTH_CONFIG").is_some() {
        found.push(OverlookedLogin { name: "$DOCKER_AUTH_CONFIG".to_owned(), kind: OverlookedKind::Variable });
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    use crate::machine::doubles::Doubles;

    #[track_caller]
    fn check(variables: &[(&str, &str)], files: &[&str], want: &[&str]) {
        let machine = Doubles::of_variables(variables);
        let exists = |path: &Path| files.iter().any(|file| Path::new(file) == path);
        let names: Vec<String> = overlooked(&machine, &exists).into_iter().map(|one| one.name).collect();
        assert_eq!(names, want);
    }

    #[test]
    fn podmans_file_without_a_session_is_reported() {
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
    fn a_file_without_logins_is_not_reported() {
        for text in ["", "\n", "{}", r#"{"auths": {}}"#, r#"{"auths":{},"credsStore":""}"#] {
            assert!(is_empty(text.as_bytes()), "{text}");
        }
        for text in [r#"{"auths": {"ghcr.io": {}}}"#, r#"{"credsStore": "pass"}"#, r#"{"credHelpers":{"a":"b"}}"#, "{"]
        {
            assert!(!is_empty(text.as_bytes()), "{text}");
        }
    }
}
