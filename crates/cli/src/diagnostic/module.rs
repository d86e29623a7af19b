//! What to do about a module that is not published.

use std::path::Path;

use tofu_oci_packer::{KeptForOther, ModuleFault, ModuleTagTaken, PackageDifference, UnreadableModule};
use tofu_oci_trust::VersionOf;

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
            ModuleFault::NoFolder { .. } | ModuleFault::NotAFolder { .. } => {
                self.hint("name the folder with the module's .tf files")
            }
            ModuleFault::Repository { .. } => {
                self.hint("name a repository of another name: with this one every call would need archive=false")
            }
            ModuleFault::Unreadable(unreadable) => self.unreadable_hint(unreadable),
            ModuleFault::OwnAnnotation { .. } => self.hint("omit it; --version and the files say what it holds"),
            ModuleFault::TagTaken(taken) => self.module_taken_hint(taken),
            ModuleFault::OtherModule(found) => self.renaming(&found.given, &found.kept),
            _ => self,
        }
    }

    /// What to do about a repository that holds versions of another kind.
    pub(super) fn kept_for_hint(self, kept: &KeptForOther) -> Self {
        self.hint(match kept.kept {
            VersionOf::Provider { .. } => {
                "give the module a repository of its own: OpenTofu takes each tag here for a version of the provider"
            }
            VersionOf::Module => {
                "give the provider a repository of its own: no client could install a module as a provider"
            }
        })
    }

    fn unreadable_hint(self, unreadable: &UnreadableModule) -> Self {
        let diagnostic =
            unreadable.others.iter().fold(self, |diagnostic, other| diagnostic.cause(format!("also {other}")));
        let diagnostic = if unreadable.leads_out {
            diagnostic.hint("push the folder above, so that the package has both, and call this one with //FOLDER")
        } else if unreadable.first.split(':').next().is_some_and(|file| file.contains('/')) {
            diagnostic.hint(format!("correct the file, or leave its folder out: a line in {}", ignore_file()))
        } else {
            diagnostic.hint("correct the file; it is in the root of the package")
        };
        diagnostic.hint("to publish it all the same, add --skip-checks")
    }

    fn module_taken_hint(self, taken: &ModuleTagTaken) -> Self {
        let diagnostic = match taken.difference {
            PackageDifference::Files => self.hint("publish the change as a new version: others have this one already"),
            PackageDifference::Annotations => {
                self.hint("push with the same annotations as before, and nothing has to be sent")
            }
            PackageDifference::NotAModule => self.hint("check that this is the repository you mean"),
        };
        diagnostic.hint("to move the tag all the same, add --replace-tag")
    }
}
