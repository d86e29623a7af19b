//! A line of a file.

use std::fmt;

/// A file, and perhaps a line of it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FilePlace {
    /// The file's name, for people.
    pub file: String,
    /// From 1; `None` for the file as a whole.
    pub line: Option<usize>,
}

impl fmt::Display for FilePlace {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.line {
            Some(line) => write!(f, "{}:{line}", self.file),
            None => f.write_str(&self.file),
        }
    }
}
