//! What to do about an archive that was refused.

use tofu_oci_archive::{ArchiveError, FoundSecret};

use super::Diagnostic;
use super::module::ignore_file;
use crate::invocation;

/// How many files with secrets are named beside the first.
const NAMED: usize = 10;

impl Diagnostic {
    /// The same with the advice for whoever packs a module.
    pub(super) fn archive_hint(self, error: &ArchiveError) -> Self {
        match error {
            ArchiveError::UnsafeName { .. } if invocation::verb() == "module push" => {
                self.instead(format!("rename it, or leave it out: a line in {}", ignore_file()))
            }
            ArchiveError::Empty if invocation::verb() == "module push" => self.hint(format!(
                "name the folder with the module's .tf files, and see what {} leaves out",
                ignore_file()
            )),
            ArchiveError::Secrets { found } => self.secrets_hint(found),
            _ => self,
        }
    }

    /// What to do about secrets in the files of a module.
    fn secrets_hint(self, found: &[FoundSecret]) -> Self {
        let others = found.iter().skip(1);
        let named = others.clone().take(NAMED).map(|other| format!("{} holds {} too", other.place(), other.kind));
        let diagnostic = self.more_causes(named);
        let unnamed = others.count().saturating_sub(NAMED);
        let diagnostic = diagnostic.more_causes((unnamed > 0).then(|| format!("so do {unnamed} more files")));
        let file = ignore_file();
        // A bracket would begin a set of characters.
        let name = found.first().map_or("FILE".into(), |first| first.name.replace('[', "\\["));
        diagnostic
            .hint(format!("remove it from the file, or exclude the file: the line /{name} in {file}"))
            .hint(format!("to publish a file as it is, since it holds no secret, write the line !/{name}"))
    }
}
