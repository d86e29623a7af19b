//! Calls of modules in a configuration: found, and rewritten in place.
//!
//! ```text
//! root folder, local modules --files--> text --source_call--> SourceCall { source, note }
//! SourceCall + PinnedSource  --rewrite--> bytes of the source and of its comment
//! CallFile                   --write-->   the file replaced as a whole, unless it has changed
//! ```
//!
//! No value is evaluated, and what `tofu init` has installed is neither read nor written.

mod json_note;
mod note;
mod rewrite;
mod source_call;
mod tail;
mod walk;
mod write;

pub use note::{NotedConstraint, PinNote};
pub use rewrite::PinnedSource;
pub use source_call::{CallSource, SourceCall};
pub use walk::{CallFile, module_calls};
pub use write::{CallFileError, CallFileWrite};

#[cfg(test)]
mod tests;
