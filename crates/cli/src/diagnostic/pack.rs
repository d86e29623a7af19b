//! Errors of `push`, `pack`, `copy`, `sign`, `withdraw` and `deprecate`.

use tofu_oci_packer::{OtherAddress, PackError, ReleaseDifference, SignError, TagTaken, WithdrawnVersion};
use tofu_oci_store::CopyError;

use super::Diagnostic;
use crate::invocation;

impl From<PackError> for Diagnostic {
    fn from(error: PackError) -> Self {
        let diagnostic = Self::fault(&error);
        match &error {
            PackError::Store(error) => Self::from(error),
            PackError::Copy(CopyError { side, error }) => {
                Self::from(error).cause(format!("it happened at the {side} of the copy"))
            }
            PackError::OtherAddress(found) => diagnostic.address_hint(found),
            PackError::Archive { source, .. } => diagnostic.archive_hint(source),
            PackError::Module(fault) => diagnostic.module_hint(fault),
            PackError::State(error) => diagnostic.state_hint(error),
            PackError::Withdrawn(withdrawn) => diagnostic.withdrawn_hint(withdrawn),
            PackError::TagTaken(taken) => diagnostic.taken_hint(taken),
            PackError::Sign(error)
                if matches!(**error, SignError::Keyless { .. })
                    && ["push", "module push"].contains(&invocation::verb()) =>
            {
                diagnostic.hint("the version's tag is as it was before this command")
            }
            _ => diagnostic,
        }
    }
}

impl Diagnostic {
    /// What to do about a version that was withdrawn.
    fn withdrawn_hint(self, withdrawn: &WithdrawnVersion) -> Self {
        let undo = invocation::command(&format!("withdraw {}:{} --undo", withdrawn.place, withdrawn.version));
        let (who, what) =
            if invocation::is_about_modules() { ("configurations", "module") } else { ("lock files", "release") };
        self.cause(format!("its content is still there, under the tag {}", withdrawn.tag))
            .hint(format!("publish the change as another version: {who} may still name this one"))
            .hint(format!("if it was withdrawn by mistake: {undo} (with --sign-key KEY if its notice is signed)"))
            .hint(format!("to publish this {what} under the version all the same, add --replace-tag"))
    }

    /// What to do about a tag that another release has.
    fn taken_hint(self, taken: &TagTaken) -> Self {
        let diagnostic = self.hint(move_hint(taken));
        if !matches!(taken.difference, ReleaseDifference::Layers) {
            return diagnostic;
        }
        diagnostic.hint(
            "--replace-tag marks the old index as withdrawn, and `ch:` lines of lock files no longer match; `zh:` and `h1:` still do",
        )
    }

    /// The same with the ways on for a repository that is kept for another address.
    fn address_hint(self, found: &OtherAddress) -> Self {
        if !["push", "pack"].contains(&invocation::verb()) {
            return self.renaming(&found.given, &found.kept);
        }
        let diagnostic = if found.kept.provider_type() == found.given.provider_type() {
            self.hint(format!("publish it as the others: --address {}", found.kept))
        } else {
            self.hint("check that this is the repository that you mean: each provider has its own")
        };
        diagnostic.hint(format!("to publish as {} all the same, add --rename", found.given))
    }
}

/// How a tag is moved, with the provider that it is taken from.
fn move_hint(taken: &TagTaken) -> String {
    match &taken.of {
        // These verbs move no tag.
        _ if ["mirror", "bundle load"].contains(&invocation::verb()) => {
            "name another repository: the release there stays".to_owned()
        }
        Some(address) => {
            format!("the tag points at a release of {address}; to move it all the same, add --replace-tag")
        }
        None => "to move the tag all the same, add --replace-tag".to_owned(),
    }
}
