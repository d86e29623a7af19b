//! Answers of the file system.

use std::io::Error;
use std::ops::Range;
use std::path::Path;

use tofu_oci_disk::FileError;
use tofu_oci_types::printable;

use super::{Diagnostic, Plain};
use crate::excerpt::excerpt;

/// Most bytes of a file of settings.
const SETTINGS_LIMIT: u64 = 1 << 20;

/// The text of a file of settings. `what` it is begins the message; `hint` says where it is looked for.
/// It fails with this code if it cannot be read, or is not text.
pub(crate) fn settings_text(path: &Path, what: &str, code: &'static str, hint: &str) -> Result<String, Diagnostic> {
    let unreadable = |error: &dyn std::fmt::Display| {
        Diagnostic::usage(format!("{what} {} cannot be read", path.display())).cause(error.to_string()).code(code)
    };
    let bytes = tofu_oci_disk::read_file(path, SETTINGS_LIMIT).map_err(|error| unreadable(&error).hint(hint))?;
    String::from_utf8(bytes).map_err(|error| unreadable(&error.utf8_error()))
}

/// The fault of a file of settings, with its line.
pub(crate) fn settings_fault(path: &Path, text: &str, span: Option<&Range<usize>>, fault: &str) -> Diagnostic {
    let shown = path.display().to_string();
    let place = match span {
        Some(span) => excerpt(&shown, text, span),
        None => format!("  --> {}\n", printable(&shown)),
    };
    Diagnostic::usage(fault).excerpt(place)
}

impl Plain for FileError {}

impl Diagnostic {
    /// The same with the advice that fits what the file system said when this was done to the path.
    pub(crate) fn io_hint(self, action: &str, path: &Path, error: &Error) -> Self {
        self.more_hints(FileError::hint(action, path, error))
    }
}
