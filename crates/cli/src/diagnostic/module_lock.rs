//! Errors of `module lock`.

use tofu_oci_fetch::ModuleFetchError;
use tofu_oci_installer::ModulePinError;
use tofu_oci_tfconfig::CallFileError;
use tofu_oci_trust::TrustRefusal;

use super::{Diagnostic, Plain};
use crate::invocation;

impl From<ModulePinError> for Diagnostic {
    fn from(error: ModulePinError) -> Self {
        let plain = Self::fault(&error);
        let run = || invocation::this_without("check");
        match error {
            ModulePinError::Fetch(error) => {
                let is_withdrawn = matches!(&error, ModuleFetchError::Untrusted { refusal, .. } if matches!(**refusal, TrustRefusal::Withdrawn { .. }));
                let hint = is_withdrawn.then(|| format!("to take the newest version instead: {} --upgrade", run()));
                Self::from(error).more_hints(hint)
            }
            ModulePinError::Missing { place, reference, offered, source } => {
                Self::missing_module(*source, &place, &reference, &offered)
            }
            ModulePinError::TagMoved { .. } => {
                plain.hint(format!("to accept what it names now: {} --accept-moved", run()))
            }
            ModulePinError::ConstraintUnmet { .. } => plain.hint(format!(
                "correct the constraint in the comment, or take the newest version that it admits: {} --upgrade",
                run()
            )),
            _ => plain,
        }
    }
}

impl Plain for CallFileError {}
