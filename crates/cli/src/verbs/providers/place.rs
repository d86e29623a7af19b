//! Where a provider would be installed from, and how a place in the configuration is written.

use std::path::Path;

use tofu_oci_tfconfig::Declared;

/// Where a provider would be installed from.
pub(super) enum InstallPlace {
    /// A place, and the rule that names it.
    Place { place: String, rule: String },
    /// It is part of the program.
    BuiltIn,
    /// No rule names a place: the reason, and what to do.
    Unknown { reason: String, hints: Vec<String> },
}

/// A place without the `./` of the current directory.
pub(in crate::verbs) fn place(declared: &Declared, dir: &Path) -> String {
    let text = declared.to_string();
    if dir == Path::new(".") { text.strip_prefix("./").map(str::to_owned).unwrap_or(text) } else { text }
}
