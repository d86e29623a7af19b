//! Errors of `mirror`.

use tofu_oci_mirror::{MirrorError, ModuleMirrorError};
use tofu_oci_types::versions_in_words;

use super::Diagnostic;
use crate::invocation;

/// What the user does if a repository is to hold two providers, or two modules.
const BOTH_THERE: &str = "if both belong there, add --rename";

impl From<MirrorError> for Diagnostic {
    fn from(error: MirrorError) -> Self {
        let plain = Self::fault(&error);
        match error {
            MirrorError::Source(error) => error.into(),
            MirrorError::Fetch(error) => error.into(),
            MirrorError::Pack(error) => error.into(),
            MirrorError::Store(error) => error.into(),
            MirrorError::Copy(error) => (&error.error).into(),
            MirrorError::SharedRepository { first, second, .. } => plain.preceding(&*second, &*first),
            MirrorError::OtherProvider { kept, address, .. } => plain.preceding(&*address, &*kept).hint(BOTH_THERE),
            _ => plain,
        }
    }
}

impl From<ModuleMirrorError> for Diagnostic {
    fn from(error: ModuleMirrorError) -> Self {
        let plain = Self::fault(&error);
        match error {
            ModuleMirrorError::Module(error) => error.into(),
            ModuleMirrorError::Fetch(error) => error.into(),
            ModuleMirrorError::Pack(error) => error.into(),
            ModuleMirrorError::Store(error) => error.into(),
            ModuleMirrorError::Bundle(error) => error.into(),
            ModuleMirrorError::Unmet { offered, .. } if !offered.is_empty() => {
                plain.hint(versions_in_words("it has", &offered))
            }
            ModuleMirrorError::OtherAddress { address, published_as, .. } => plain.renaming(&address, &*published_as),
            ModuleMirrorError::OtherModule { address, kept, .. } => plain.preceding(&*address, &*kept).hint(BOTH_THERE),
            ModuleMirrorError::TooMany { .. } => plain.hint(match invocation::verb() {
                "module mirror" => "mirror fewer modules at a time, or add --latest 1",
                _ => "put fewer modules into one bundle",
            }),
            _ => plain,
        }
    }
}
