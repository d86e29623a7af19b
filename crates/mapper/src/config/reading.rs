//! A reading: the files, what they say and what is wrong with them.

use std::ops::Range;
use std::path::PathBuf;

use super::{CliConfig, Environment, Files, Located, Methods, Problem, Severity};
use crate::TofuRelease;

/// What a release of `OpenTofu` makes of the user's files.
#[derive(Clone, Debug)]
pub struct Reading {
    /// The release.
    pub release: TofuRelease,
    /// Which files count.
    pub located: Located,
    /// The files that count, in the order of reading.
    pub files: Vec<ConfigFile>,
    /// What `OpenTofu` goes on with.
    pub config: CliConfig,
    /// What is wrong, in the order in which it is told.
    pub problems: Vec<Problem>,
    /// Names that nobody knows and that `OpenTofu` ignores without a word.
    pub unknown: Vec<Unknown>,
}

/// A file of the configuration. `Debug` leaves its text out, which may hold secrets.
#[derive(Clone, PartialEq, Eq)]
pub struct ConfigFile {
    /// Where it is.
    pub path: PathBuf,
    /// Its text; empty where it could not be read.
    pub text: String,
    /// What became of it.
    pub state: FileState,
}

impl std::fmt::Debug for ConfigFile {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("ConfigFile").field("path", &self.path).field("state", &self.state).finish_non_exhaustive()
    }
}

/// What became of a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FileState {
    /// It was read; single blocks may be dropped.
    Read,
    /// Nothing in it counts, because of an error.
    Dropped,
    /// A variable names it and it is not there.
    Missing,
    /// It is there and cannot be read.
    Unreadable,
}

/// A name that nobody knows.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Unknown {
    /// The file, as its place in [`Reading::files`].
    pub file: usize,
    /// The bytes of the name.
    pub span: Range<usize>,
    /// The name as it was written.
    pub name: String,
    /// The block around it; nothing at the top of the file.
    pub inside: Option<String>,
    /// A known name that is spelt nearly so.
    pub near: Option<&'static str>,
}

impl Reading {
    /// What is wrong by this program's measure: errors, and files that are named and not there.
    pub fn errors(&self) -> impl Iterator<Item = &Problem> {
        self.problems
            .iter()
            .filter(|problem| problem.severity == Severity::Error || problem.code == "cli-config-missing")
    }

    /// The configuration, if nothing is wrong with it.
    ///
    /// # Errors
    /// The first of [`Reading::errors`].
    pub fn refuse(&self) -> Result<&CliConfig, &Problem> {
        match self.errors().next() {
            Some(problem) => Err(problem),
            None => Ok(&self.config),
        }
    }
}

/// Reads the CLI configuration as `release` does.
#[expect(clippy::unimplemented, reason = "the body comes with the next commit")]
pub fn read(_environment: &Environment, _files: &dyn Files, _release: TofuRelease) -> Reading {
    unimplemented!()
}

impl Reading {
    /// The methods that `OpenTofu` would install by: those of the file, or the implicit ones.
    #[expect(clippy::unimplemented, reason = "the body comes with the next commit")]
    pub fn methods(&self, _environment: &Environment, _files: &dyn Files) -> Methods {
        unimplemented!()
    }
}
