//! The files of a case, as they would be found.

use std::ffi::OsString;
use std::path::Path;

use serde_json::Value;

use super::{Case, with_port};
use crate::{AuthFile, FileState, FoundFile, SearchScope, auth_file_paths};

impl Case {
    /// The files that are searched without a list.
    pub(super) fn ambient(&self) -> Vec<FoundFile> {
        let env = |name: &str| self.get("env")[name].as_str().map(OsString::from);
        let home = match self.get("env")["HOME"].as_str() {
            None => "$HOME",
            Some("") => "$DATABASE",
            Some(home) => home,
        };
        let paths = auth_file_paths(&env, Some(Path::new(home)), "linux");
        let found = paths.into_iter().map(|path| FoundFile {
            known_to_opentofu: path.known_to_opentofu,
            ..self.found(path.path.to_str().expect("a text"), &path.because)
        });
        found.collect()
    }

    /// The files of a list, which are relative to the configuration.
    pub(super) fn listed(&self, names: &[Value]) -> Vec<FoundFile> {
        let path = |name: &str| if name.starts_with('$') { name.to_owned() } else { format!("$CONFIGDIR/{name}") };
        names.iter().map(|name| self.found(&path(name.as_str().expect("a text")), "listed")).collect()
    }

    fn found(&self, path: &str, because: &str) -> FoundFile {
        FoundFile { state: self.state(path), ..FoundFile::for_test(path, because) }
    }

    fn state(&self, path: &str) -> FileState {
        let unreadable = |reason: &str| FileState::Unreadable { reason: reason.to_owned() };
        let files = self.get("files").as_object().expect("an object");
        let not_a_folder = |file: &str| path.strip_prefix(file).is_some_and(|rest| rest.starts_with('/'));
        if not_a_folder("/dev/null") || files.keys().any(|file| not_a_folder(file)) {
            return unreadable("Not a directory");
        }
        match files.get(path) {
            None if path.ends_with('/') => unreadable("Is a directory"),
            None => FileState::Missing,
            Some(Value::Object(special)) if special.contains_key("@dir") => unreadable("Is a directory"),
            Some(Value::Object(special)) if special.contains_key("@link") => {
                self.state(special["@link"].as_str().expect("a path"))
            }
            Some(Value::Object(special)) if special.contains_key("@mode") => {
                if self.text("as_user").is_empty() {
                    parse(path, &special["content"])
                } else {
                    unreadable("Permission denied")
                }
            }
            Some(content) => parse(path, content),
        }
    }
}

fn parse(path: &str, content: &Value) -> FileState {
    let text = content.as_str().map_or_else(|| content.to_string(), str::to_owned);
    match AuthFile::parse(path, with_port(&text).as_bytes()) {
        Ok(file) => FileState::Read(file),
        Err(error) => FileState::Malformed(error),
    }
}

impl FoundFile {
    /// A file that is missing.
    pub(in crate::opentofu) fn for_test(path: &str, because: &str) -> Self {
        Self {
            name: path.to_owned(),
            because: because.to_owned(),
            known_to_opentofu: true,
            kind: crate::FileKind::of(std::path::Path::new(path)),
            state: FileState::Missing,
        }
    }
}

/// Which files count, and those.
pub(super) type Searched = (SearchScope, Vec<FoundFile>);
