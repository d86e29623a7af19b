//! Docker and containers credential files.

use std::fmt;

use serde_json::Value;

use crate::credential::wipe;
use crate::entry::{self, member};
use crate::key::Key;
use crate::{Credential, valid_helper_name};

/// A credential file: `~/.docker/config.json`, `auth.json` and the like.
///
/// Reads `auths` (`auth`, `username` with `password`, `identitytoken`, `registrytoken`), `credHelpers` and
/// `credsStore`. A broken entry is left out with a warning and does no harm to the others.
#[derive(Clone, Debug)]
pub struct AuthFile {
    origin: String,
    pub(crate) auths: Vec<Entry<Credential>>,
    pub(crate) helpers: Vec<Entry<String>>,
    pub(crate) store: Option<String>,
    warnings: Vec<FileWarning>,
}

/// Something under its key.
#[derive(Clone, Debug)]
pub(crate) struct Entry<T> {
    pub(crate) text: String,
    pub(crate) key: Key,
    pub(crate) value: T,
}

/// A file, or a part of one, that was left out. Never contains a secret.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FileWarning {
    /// Where the file lies.
    pub origin: String,
    /// What is wrong with it.
    pub problem: String,
}

/// A file that is no credential file at all.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum AuthFileError {
    /// Not JSON.
    #[error("{origin} is not JSON: it breaks at line {line}, column {column}")]
    NotJson {
        /// Where the file lies.
        origin: String,
        /// From 1.
        line: usize,
        /// From 1.
        column: usize,
    },
    /// JSON of another shape.
    #[error("{origin} is not a credential file: {problem}")]
    Shape {
        /// Where the file lies.
        origin: String,
        /// What is wrong with it.
        problem: &'static str,
    },
}

impl AuthFile {
    /// Reads a file's bytes. `origin` names the file in messages.
    ///
    /// # Errors
    /// When the whole file cannot be read as one. A broken entry is no error: see [`AuthFile::warnings`].
    pub fn parse(origin: &str, bytes: &[u8]) -> Result<Self, AuthFileError> {
        let bytes = bytes.strip_prefix(b"\xef\xbb\xbf").unwrap_or(bytes);
        // The JSON error's own text may quote a value, so only its position is kept.
        let mut value: Value = serde_json::from_slice(bytes).map_err(|error| AuthFileError::NotJson {
            origin: origin.to_owned(),
            line: error.line(),
            column: error.column(),
        })?;
        let file = Self::read(origin, &value);
        wipe(&mut value);
        file
    }

    fn read(origin: &str, value: &Value) -> Result<Self, AuthFileError> {
        let shape = |problem| AuthFileError::Shape { origin: origin.to_owned(), problem };
        let mut file = Self {
            origin: origin.to_owned(),
            auths: Vec::new(),
            helpers: Vec::new(),
            store: None,
            warnings: Vec::new(),
        };
        let members = match value {
            Value::Null => return Ok(file),
            Value::Object(members) => members,
            _ => return Err(shape("it is not an object")),
        };
        match member(members, "auths") {
            None => {}
            Some(Value::Object(auths)) => {
                for (key, value) in auths {
                    file.add_auth(key, value);
                }
            }
            Some(_) => file.warn("its `auths` is not an object".to_owned()),
        }
        match member(members, "credHelpers") {
            None => {}
            Some(Value::Object(helpers)) => {
                for (key, value) in helpers {
                    file.add_helper(key, value);
                }
            }
            Some(_) => file.warn("its `credHelpers` is not an object".to_owned()),
        }
        match member(members, "credsStore") {
            None => {}
            Some(Value::String(name)) if name.is_empty() => {}
            Some(Value::String(name)) if valid_helper_name(name) => file.store = Some(name.clone()),
            Some(_) => file.warn("its `credsStore` is not the name of a helper".to_owned()),
        }
        Ok(file)
    }

    fn add_auth(&mut self, text: &str, value: &Value) {
        let Some(key) = Key::parse(text) else { return };
        match entry::read(value) {
            Ok(Some(value)) => self.auths.push(Entry { text: text.to_owned(), key, value }),
            Ok(None) => {}
            Err(problem) => self.warn(format!("its entry for {text} is left out: {problem}")),
        }
    }

    fn add_helper(&mut self, text: &str, value: &Value) {
        // A helper knows registries only: a key with a path names none.
        let Some(key) = Key::parse(text).filter(Key::is_registry) else { return };
        match value {
            Value::Null => {}
            Value::String(name) if name.is_empty() => {}
            Value::String(name) if valid_helper_name(name) => {
                self.helpers.push(Entry { text: text.to_owned(), key, value: name.clone() });
            }
            _ => self.warn(format!("its helper for {text} is left out: that is not the name of a helper")),
        }
    }

    fn warn(&mut self, problem: String) {
        self.warnings.push(FileWarning { origin: self.origin.clone(), problem });
    }

    /// The name of the file, as handed to [`AuthFile::parse`].
    pub fn origin(&self) -> &str {
        &self.origin
    }

    /// What was left out.
    pub fn warnings(&self) -> &[FileWarning] {
        &self.warnings
    }
}

impl fmt::Display for FileWarning {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.origin, self.problem)
    }
}

impl From<AuthFileError> for FileWarning {
    fn from(error: AuthFileError) -> Self {
        match error {
            AuthFileError::NotJson { origin, line, column } => Self {
                origin,
                problem: format!("it is not JSON and left out: it breaks at line {line}, column {column}"),
            },
            AuthFileError::Shape { origin, problem } => Self { origin, problem: format!("it is left out: {problem}") },
        }
    }
}
