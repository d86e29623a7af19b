//! Releases that are not trusted, and what trust is read from.

use tofu_oci_installer::pin_file::PinFileError;
use tofu_oci_trust::Refusal;
use tofu_oci_types::{ProviderAddr, Version};

use super::Complaint;
use crate::again;
use crate::exit::Exit;

/// The release that is complained of.
pub(crate) struct Release<'a> {
    pub(crate) address: &'a ProviderAddr,
    pub(crate) version: &'a Version,
    pub(crate) place: &'a str,
}

impl From<PinFileError> for Complaint {
    fn from(error: PinFileError) -> Self {
        match error {
            PinFileError::File(error) => Self::from(error),
            PinFileError::Invalid { .. } => Self::of(Exit::Usage, &error)
                .code("pins-invalid")
                .hint("take the file back from version control")
                .hint("without it, what was trusted before would be forgotten, so it is never passed over"),
            PinFileError::Conflict(conflict) => {
                let pin = &conflict.ours;
                Self::of(Exit::Fixable, &conflict).code("moved-tag").hint(format!(
                    "the version moved between two commands: `{}` shows what is there now",
                    again::command(&format!("verify {}@{}", pin.address, pin.version))
                ))
            }
            error => Self::of(Exit::Fixable, &error),
        }
    }
}

impl Complaint {
    /// The same with what to do about a release that is not trusted, for verbs that do not tell of its signatures.
    pub(crate) fn untrusted(self, refusal: &Refusal, release: &Release<'_>) -> Self {
        let verify = again::command(&format!("verify {}@{}", release.address, release.version));
        self.not_trusted(refusal, release).hint(format!("`{verify}` shows every signature, and why it does not count"))
    }

    /// The same with what to do about a release that is not trusted.
    pub(crate) fn not_trusted(self, refusal: &Refusal, release: &Release<'_>) -> Self {
        let Release { address, version, place } = release;
        let accept = again::command(&format!("verify {address}@{version} --accept"));
        let sign = again::command_for_others(&format!("sign {place}:{version} --key KEY"));
        let complaint = self.code(refusal.code()).cause(format!("it came from {place}"));
        match refusal {
            Refusal::MovedTag { .. } => complaint
                .hint("somebody has pushed another release under the same version; ask its publisher why")
                .hint(format!("if it was moved on purpose: {accept}")),
            Refusal::OtherProvider { .. } | Refusal::OtherVersion { .. } | Refusal::OtherPackage { .. } => {
                complaint.hint("this is not what it is offered as: check the address, --from and the repository")
            }
            Refusal::Unsigned => complaint
                .hint(format!("its publisher signs it: {sign}"))
                .hint("to let unsigned releases in, write unsigned = \"warn\" into the rule of trust.toml"),
            Refusal::WasSigned { .. } => complaint
                .hint(format!("its publisher signs it: {sign}"))
                .hint(format!("to take this one release as it is: {accept}")),
            Refusal::UnknownKey { .. } => {
                complaint.hint("if the key is its publisher's, add a [[key]] to trust.toml and name it in the rule")
            }
            Refusal::Threshold { .. } => complaint.hint(format!("the owners of the other keys sign it too: {sign}")),
            Refusal::UnnamedSignature { .. } => complaint
                .hint(format!("a signature that names both: {sign}"))
                .hint("with cosign: -a org.opentofu.provider.address=ADDR -a org.opentofu.provider.version=VERSION")
                .hint("to let such signatures in, write unnamed = \"warn\" into the rule of trust.toml"),
            Refusal::PredicateType { .. } => {
                complaint.hint("what must be signed is `predicate_types` in the rule of trust.toml")
            }
            Refusal::ExpiredKey { .. } => {
                complaint.hint("if its owner has prolonged the key, put the new public key into the file of trust.toml")
            }
            Refusal::RevokedKey { .. } | Refusal::WeakDigest { .. } => {
                complaint.hint("its publisher must sign the release anew, with a good key")
            }
            _ => complaint.hint("its publisher must sign the release anew"),
        }
    }
}
