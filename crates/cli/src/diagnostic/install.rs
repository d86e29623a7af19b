//! Errors of packages, lock files and installations.

use tofu_oci_disk::LockError;
use tofu_oci_fetch::FetchError;
use tofu_oci_installer::InstallError;
use tofu_oci_lockfile::LockFileError;
use tofu_oci_source::SourceError;

use super::{Diagnostic, Plain, Refused};
use crate::invocation;

impl Plain for LockFileError {}
impl Plain for LockError {}

/// What chooses a new version. `--locked` and `--upgrade` exclude each other.
fn upgrade() -> String {
    if invocation::says("locked") || invocation::says("lockfile") {
        return format!("`{}`", invocation::command("lock --upgrade"));
    }
    "--upgrade".to_owned()
}

impl From<InstallError> for Diagnostic {
    fn from(error: InstallError) -> Self {
        let plain = Self::fault(&error);
        match error {
            InstallError::Fetch(error) => error.into(),
            InstallError::Pins(error) => error.into(),
            InstallError::LockedVersionNotAdmitted { .. } => {
                plain.hint(format!("choose a new version with {}, or change the constraint", upgrade()))
            }
            InstallError::LockedVersionGone { .. } => plain.hint(format!("choose one of them with {}", upgrade())),
            _ => plain,
        }
    }
}

impl From<FetchError> for Diagnostic {
    fn from(error: FetchError) -> Self {
        let plain = Self::fault(&error);
        match error {
            FetchError::Source(error @ (SourceError::Layout { .. } | SourceError::Unusable { .. })) => {
                Self::from(error).hint("nothing of it was installed")
            }
            FetchError::Source(error) => error.into(),
            FetchError::Untrusted { address, version, place, refusal, rule, by_hand } => {
                let (address, version, place) = (&address, &version, &place);
                plain.untrusted(&Refused { refusal: &refusal, rule: &rule, by_hand, address, version, place })
            }
            FetchError::OtherAddress { address, published_as, .. } => plain.renaming(&address, &published_as),
            _ => plain,
        }
    }
}
