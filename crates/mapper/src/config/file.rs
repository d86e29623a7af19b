//! A file of the configuration, and the unknown names in it.

use std::ops::Range;
use std::path::PathBuf;

/// A file of the configuration. `Debug` leaves its text out, which may hold secrets.
#[derive(Clone, PartialEq, Eq)]
pub struct ConfigFile {
    pub path: PathBuf,
    /// Its text; empty if it could not be read.
    pub text: String,
    pub state: ConfigFileState,
}

impl std::fmt::Debug for ConfigFile {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("ConfigFile").field("path", &self.path).field("state", &self.state).finish_non_exhaustive()
    }
}

/// Whether a file counts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ConfigFileState {
    /// It was read; single blocks may be dropped.
    Read,
    /// Nothing in it counts, because of an error.
    Dropped,
    /// It does not exist: a variable names it, or a part of its path is not a folder.
    Missing,
    /// It exists and cannot be read.
    Unreadable,
}

/// An unknown name.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Unknown {
    /// The file, as its place in [`super::CliConfigReading::files`].
    pub file: usize,
    /// The bytes of the name.
    pub span: Range<usize>,
    /// The name as it was written.
    pub name: String,
    /// The block around it; `None` at the top of the file.
    pub inside: Option<String>,
    /// A known name with a similar spelling.
    pub near: Option<&'static str>,
}
