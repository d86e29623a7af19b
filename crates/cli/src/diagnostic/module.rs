//! What to do about a module that is not published.

use std::path::Path;

use tofu_oci_packer::{ModuleFault, UnreadableModule};

use super::Diagnostic;
use crate::invocation;

/// The file of the folder whose lines keep files out of the package: `.terraformignore` counts only if `.tofuignore` is missing.
pub(super) fn ignore_file() -> &'static str {
    let has = |name: &str| invocation::first_word().is_some_and(|dir| Path::new(dir).join(name).exists());
    if has(".terraformignore") && !has(".tofuignore") { ".terraformignore" } else { ".tofuignore" }
}

impl Diagnostic {
    /// The same with the advice for whoever publishes a module.
    pub(super) fn module_hint(self, fault: &ModuleFault) -> Self {
        match fault {
            ModuleFault::Unreadable(unreadable) => self.unreadable_hint(unreadable),
            ModuleFault::OtherModule(found) => self.renaming(&found.given, &found.kept),
            _ => self,
        }
    }

    fn unreadable_hint(self, unreadable: &UnreadableModule) -> Self {
        let diagnostic = self.more_causes(unreadable.others.iter().map(|other| format!("also {other}")));
        let diagnostic = if unreadable.leads_out {
            diagnostic.hint("push the folder above, so that the package has both, and call this one with //FOLDER")
        } else if unreadable.first.split(':').next().is_some_and(|file| file.contains('/')) {
            diagnostic.hint(format!("correct the file, or leave its folder out: a line in {}", ignore_file()))
        } else {
            diagnostic.hint("correct the file; it is in the root of the package")
        };
        diagnostic.hint("to publish it all the same, add --skip-checks")
    }
}
