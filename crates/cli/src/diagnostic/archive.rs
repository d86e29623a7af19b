//! What to do about an archive that was refused.

use tofu_oci_archive::{ArchiveError, FoundSecret};

use super::Diagnostic;
use super::module::ignore_file;
use crate::invocation;

/// How many files with secrets are named beside the first.
const NAMED: usize = 10;

impl Diagnostic {
    /// The same with the advice for whoever makes the archive.
    pub(super) fn archive_hint(self, error: &ArchiveError) -> Self {
        match error {
            ArchiveError::NotAZip | ArchiveError::NotALayer { .. } | ArchiveError::Truncated => {
                self.hint("the file may be an interrupted download or build; make it again")
            }
            ArchiveError::Malformed { .. }
            | ArchiveError::Damaged { .. }
            | ArchiveError::BadChecksum { .. }
            | ArchiveError::Mismatch { .. } => {
                self.hint("`unzip -t` shows what is damaged; build the archive again, or fetch it again")
            }
            ArchiveError::UnsafeName { .. } if invocation::verb() == "module push" => {
                self.hint(format!("rename it, or leave it out: a line in {}", ignore_file()))
            }
            ArchiveError::UnsafeName { .. } => {
                self.hint("names in a package are relative, separated by /, and stay inside it: zip from its folder")
            }
            ArchiveError::EmbeddedRepository { .. } => {
                self.hint("omit it from the package: git, a prompt or an editor would run the commands that it names")
            }
            ArchiveError::Secrets { found } => self.secrets_hint(found),
            ArchiveError::DuplicateName { .. } | ArchiveError::NameCollision { .. } => {
                self.hint("remove one of the two, so that the package is the same on every system")
            }
            ArchiveError::Symlink { .. }
            | ArchiveError::DanglingHardLink { .. }
            | ArchiveError::UnsupportedEntry { .. } => {
                self.hint("a package consists of plain files: put a copy of the file in its place, or leave it out")
            }
            ArchiveError::LinkOutside { .. } => {
                self.hint("put a copy of the file in its place, or leave it out: a line in .tofuignore")
            }
            ArchiveError::LinkToNothing { .. } | ArchiveError::LinkInCircle { .. } => {
                self.hint("remove the link, or leave it out: a line in .tofuignore")
            }
            ArchiveError::IgnoreLine { .. } => self
                .hint("a pattern is a path with *, **, ? and [a-z]; ! in front takes files back, # begins a comment"),
            ArchiveError::Encrypted { .. } | ArchiveError::UnsupportedMethod { .. } => {
                self.hint("make the archive with plain `zip`: stored or deflated, and not encrypted")
            }
            ArchiveError::Oversized { .. }
            | ArchiveError::TooLarge { .. }
            | ArchiveError::TooManyEntries { .. }
            | ArchiveError::TooManyMembers { .. }
            | ArchiveError::RatioExceeded { .. } => {
                self.hint("this is far more than a provider or a module needs; check what it holds")
            }
            ArchiveError::NoExecutable { provider_type, found } => {
                let hint =
                    format!("the program lies in the package's root as terraform-provider-{provider_type}[_vVERSION]");
                let diagnostic = self.hint(hint);
                if found.is_empty() {
                    diagnostic
                } else {
                    diagnostic.hint(format!("the root holds {}", found.join(", ")))
                }
            }
            ArchiveError::Changed { .. } => self.hint("wait until the build is done, and run the same command again"),
            ArchiveError::Io { action, path, source } => self.io_hint(action, path, source),
            _ => self,
        }
    }

    /// What to do about secrets in the files of a module.
    fn secrets_hint(self, found: &[FoundSecret]) -> Self {
        let others = found.iter().skip(1);
        let named = others.clone().take(NAMED).map(|other| format!("{} holds {} too", other.place(), other.kind));
        let diagnostic = named.fold(self, Self::cause);
        let unnamed = others.count().saturating_sub(NAMED);
        let diagnostic =
            if unnamed == 0 { diagnostic } else { diagnostic.cause(format!("so do {unnamed} more files")) };
        let file = ignore_file();
        // A bracket would begin a set of characters.
        let name = found.first().map_or("FILE".into(), |first| first.name.replace('[', "\\["));
        diagnostic
            .hint(format!("remove it from the file, or exclude the file: the line /{name} in {file}"))
            .hint(format!("to publish a file as it is, since it holds no secret, write the line !/{name}"))
    }
}
