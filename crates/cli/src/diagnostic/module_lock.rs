//! Errors of `module lock`.

use tofu_oci_fetch::ModuleFetchError;
use tofu_oci_installer::ModulePinError;
use tofu_oci_tfconfig::CallFileError;
use tofu_oci_trust::TrustRefusal;
use tofu_oci_types::Version;

use super::{Diagnostic, versions};
use crate::exit::Exit;
use crate::invocation;

impl From<ModulePinError> for Diagnostic {
    fn from(error: ModulePinError) -> Self {
        let code = error.code();
        let diagnostic = match error {
            ModulePinError::Fetch(ModuleFetchError::Untrusted { place, refusal, rule })
                if matches!(*refusal, TrustRefusal::Withdrawn { .. }) =>
            {
                let hint =
                    format!("to take the newest version instead: {} --upgrade", invocation::this_without("check"));
                return Self::from(ModuleFetchError::Untrusted { place, refusal, rule }).hint(hint);
            }
            ModulePinError::Fetch(error) => return Self::from(error),
            ModulePinError::Missing { place, reference, offered, source } => {
                return Self::missing_module(*source, &place, &reference, &offered);
            }
            ModulePinError::Withdrawn { place, version, reason, offered } => {
                return Self::withdrawn(&place, &version, reason, &offered);
            }
            ref error => Self::of(Exit::Fixable, error),
        };
        match error {
            ModulePinError::TagMoved { .. } => diagnostic
                .hint("a version was replaced, or the comment names another one; ask its publisher why")
                .hint(format!("to accept what it names now: {} --accept-moved", invocation::this_without("check"))),
            ModulePinError::ConstraintUnmet { .. } => diagnostic.hint(format!(
                "correct the constraint in the comment, or take the newest version that it admits: {} --upgrade",
                invocation::this_without("check")
            )),
            ModulePinError::NoMatchingVersion { offered, .. } => {
                let diagnostic = diagnostic.hint(versions("it has", &offered));
                if offered.iter().any(Version::is_prerelease) {
                    diagnostic.hint("a prerelease is chosen only if the source or the constraint names it exactly")
                } else {
                    diagnostic
                }
            }
            _ => diagnostic,
        }
        .or_code(code)
    }
}

impl From<CallFileError> for Diagnostic {
    fn from(error: CallFileError) -> Self {
        let code = error.code();
        let exit = match &error {
            CallFileError::Io { source, .. } => super::io::io_exit(source),
            CallFileError::Unsound { .. } => Exit::Unexpected,
            _ => Exit::Fixable,
        };
        let diagnostic = Self::of(exit, &error);
        match &error {
            CallFileError::Changed { .. } => diagnostic.hint("run the same command again"),
            CallFileError::Unsound { .. } => {
                diagnostic.hint("the file is as it was; write the source as one string in quotes on a line of its own")
            }
            CallFileError::Io { action, path, source } => diagnostic.io_hint(action, path, source),
            _ => diagnostic,
        }
        .or_code(code)
    }
}
