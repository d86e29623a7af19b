//! Docker and containers credential files.

mod reading;

use std::fmt;

pub(crate) use crate::entry::{AuthEntry, EntryAuth};
use crate::opentofu_file::OpenTofuFile;
use crate::paths::REGISTRY_AUTH_FILE;
use crate::{FileKind, HelperName};

/// A file that was looked for.
#[derive(Clone, Debug)]
pub struct FoundFile {
    /// Its name, for people: the home folder as `~`.
    pub name: String,
    /// Why it was looked for, such as `$XDG_RUNTIME_DIR` or `~/.docker`.
    pub because: String,
    /// Whether `OpenTofu` looks for it too.
    pub known_to_opentofu: bool,
    pub kind: FileKind,
    pub state: FileState,
}

/// What the search for a file found.
#[derive(Clone, Debug)]
pub enum FileState {
    /// No file.
    Missing,
    /// A file or another entry that cannot be read.
    Unreadable {
        /// Why not, in the system's words.
        reason: String,
    },
    /// A file that is too large to be read here; `OpenTofu` knows no such limit.
    TooLarge {
        /// The most that is read, in bytes.
        limit: u64,
    },
    /// A credential file; some of its entries may be left out.
    Read(AuthFile),
    /// A file that is not a credential file.
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
    /// The same bytes as `OpenTofu` decodes them.
    pub(crate) as_opentofu: Box<OpenTofuFile>,
    warnings: Vec<FileWarning>,
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
    /// The name, or `None` if it is not a helper's.
    pub(crate) fn helper(&self) -> Option<HelperName> {
        HelperName::parse(&self.name).ok()
    }

    /// Whether there is a name, and it is not a helper's.
    pub(crate) fn is_misnamed(&self) -> bool {
        !self.name.is_empty() && self.helper().is_none()
    }
}

impl FoundFile {
    /// What people should know about it.
    pub(crate) fn warnings(&self) -> Vec<FileWarning> {
        let (line, problem, opentofu) = match &self.state {
            FileState::Read(file) => return file.warnings.clone(),
            FileState::Missing if self.because == REGISTRY_AUTH_FILE => {
                (None, format!("{REGISTRY_AUTH_FILE} names it, and there is no such file"), OpenTofuEffect::Nothing)
            }
            FileState::Missing => return Vec::new(),
            FileState::Unreadable { reason } => {
                (None, format!("it is left out, since it cannot be read: {reason}"), OpenTofuEffect::AllFilesOff)
            }
            FileState::TooLarge { limit } => {
                let problem = format!("it is left out: it is larger than {} MiB", limit >> 20);
                (None, problem, OpenTofuEffect::Nothing)
            }
            FileState::Malformed(error) => {
                (error.line(), format!("it is left out: {}", error.problem()), OpenTofuEffect::AllFilesOff)
            }
        };
        vec![FileWarning { file: self.name.clone(), line, problem, opentofu }]
    }
}

/// A problem of a file, for people. Never contains a secret.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FileWarning {
    pub file: String,
    /// From 1; `None` for the file as a whole.
    pub line: Option<usize>,
    pub problem: String,
    /// What `OpenTofu` makes of it.
    pub opentofu: OpenTofuEffect,
}

/// What `OpenTofu` makes of something that is wrong in an ambient file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum OpenTofuEffect {
    /// Nothing, or the same as here.
    Nothing,
    /// It silently reads no ambient file at all.
    AllFilesOff,
}

/// Why a file is not a credential file.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum AuthFileError {
    #[error("{file} is not JSON: {reason} at line {line}, column {column}")]
    NotJson {
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
    Shape { file: String, problem: &'static str },
}

impl AuthFile {
    /// The name of the file, as handed to [`AuthFile::parse`].
    pub fn name(&self) -> &str {
        &self.name
    }

    pub(crate) fn note(&self, line: usize, problem: String) -> FileWarning {
        FileWarning { file: self.name.clone(), line: Some(line), problem, opentofu: OpenTofuEffect::Nothing }
    }

    /// What was left out.
    pub fn warnings(&self) -> &[FileWarning] {
        &self.warnings
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
