//! The reader of what git answers, for the fuzz target.

pub use crate::module::git::fuzzing::git_answers;
