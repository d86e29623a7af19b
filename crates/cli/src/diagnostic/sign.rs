//! Advice where something could not be attached to a release.

use tofu_oci_packer::SignError;
use tofu_oci_trust::SignatureForm;

use super::Diagnostic;

impl Diagnostic {
    /// The same with what helps against it.
    pub(super) fn sign_hint(self, error: &SignError) -> Self {
        match error {
            SignError::NotARelease { .. } => {
                self.hint("name the tag of a provider release; `tofu-oci push` and `tofu-oci pack` write them")
                    .hint("or that of a module; `tofu-oci module push` writes them")
            }
            SignError::NotAModule { .. } => self.hint("publish the module again: `tofu-oci module push` writes one that can be read"),
            SignError::ModuleWithAddress { .. } => self.hint("omit --address, and name the place alone: REPOSITORY:VERSION"),
            SignError::AddressUnknown { .. } => {
                self.hint("say it: --address HOST/NAMESPACE/TYPE, as `source` in required_providers says it")
            }
            SignError::OtherProvider { annotated, .. } => {
                self.hint(format!("leave --address out to sign it as {annotated}"))
            }
            SignError::OtherAddress { kept, address, tag, .. } => {
                let diagnostic = if kept.provider_type() == address.provider_type() {
                    self.hint(format!("publish {tag} again with --address {kept} --replace-tag, and sign that"))
                        .hint(format!("or sign this one under the address of the others: --address {kept}"))
                } else {
                    self.hint("check that this is the repository that you mean: each provider has its own")
                };
                diagnostic.hint(format!("to sign it as {address} all the same, add --rename"))
            }
            SignError::OtherVersion { annotated, .. } => {
                self.hint(format!("the tag was moved or written by hand: sign {annotated} under its own tag"))
            }
            SignError::Refused { form, .. } | SignError::NotListed { form, .. } => self.without_referrers(*form),
            SignError::NotGivenBack { form, .. } => self
                .hint("run the same command again; where it happens again, the registry changes or loses what it takes")
                .without_referrers(*form),
            SignError::TagRefused { tag, form, .. } => {
                let diagnostic = self.hint(format!(
                    "where tags are immutable there, let those that begin with `sha256-` be changed, such as {tag}"
                ));
                if *form == SignatureForm::CosignTag { diagnostic } else { diagnostic.without_referrers(*form) }
            }
            SignError::NotSignatures { tag, .. } => {
                self.hint(format!("nothing was changed; look at the tag {tag}, and delete it if it is not needed"))
            }
            SignError::Full { tag, .. } => self.hint(format!(
                "nothing was written under {tag}; delete it when its signatures are not needed any more, or sign as a referrer"
            )),
            SignError::NotFound { subject, .. } => {
                self.hint(format!("delete what refers to {subject} and is not needed, and run the same command again"))
            }
            SignError::Race { .. } => self.hint("nothing was lost; run the same command again"),
            _ => self,
        }
    }

    /// What works with a registry that takes no referrers.
    fn without_referrers(self, form: SignatureForm) -> Self {
        match form {
            SignatureForm::Bundle => self.hint("sign in the form that needs no referrers: --sign-format cosign-tag"),
            SignatureForm::Sums => self.hint("publish without the SHA256SUMS of the folder: --sums skip"),
            SignatureForm::CosignTag | SignatureForm::Notice => self,
        }
    }
}
