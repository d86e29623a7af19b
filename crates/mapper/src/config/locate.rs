//! Which files are the CLI configuration.

use std::path::PathBuf;

use super::{Environment, Files};

/// The files that count.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Located {
    /// The main file, whether or not it is there; nothing where no home folder is known.
    pub main: Option<MainFile>,
    /// The files of the configuration directory in the order of their names.
    pub directory: Vec<PathBuf>,
    /// What one might think is read and is not.
    pub passed_over: Vec<PassedOver>,
}

/// The main file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MainFile {
    /// Where it is.
    pub path: PathBuf,
    /// Why this one.
    pub origin: Origin,
    /// Whether it is there.
    pub exists: bool,
}

/// Why a file is the main one.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Origin {
    /// A variable of this name says so.
    Variable(&'static str),
    /// It is the usual place.
    Usual,
    /// It has the name from before `OpenTofu`, and there is none with the new one.
    Legacy,
    /// `XDG_CONFIG_HOME` is set, and there is none in the home folder.
    Xdg,
}

/// A file or folder that is there and is not read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PassedOver {
    /// Where it is.
    pub path: PathBuf,
    /// Why it is not read, as the end of a sentence.
    pub why: String,
}

/// Finds the files.
#[expect(clippy::unimplemented, reason = "the body comes with the next commit")]
pub fn locate(_environment: &Environment, _files: &dyn Files) -> Located {
    unimplemented!()
}
