//! What refers to a release: its signatures, the signed checksum file of its origin, and notices about it.
//!
//! ```text
//! look     what there is already: ours, of the same key, of others        seen.rs
//! want     referrers and signature images, byte for byte                  artifact.rs, image.rs, plan.rs
//! attach   blobs, manifest, read back; all of it before the tag           attach.rs
//! ```

mod artifact;
mod attach;
mod copier;
mod docs;
mod image;
mod keyless;
mod notice;
mod plan;
mod seen;
#[cfg(test)]
mod tests;

use tofu_oci_trust::{PrivateKey, SignatureForm};

pub(crate) use copier::{SignatureCopier, SourceTags, at_destination};
pub(crate) use docs::DocsPlan;
pub use keyless::{KeylessSigner, Signer};
pub(crate) use notice::can_be_ended;
pub use notice::{NoticeReport, NoticeRequest, put_notice};
pub(crate) use plan::{AttachPlan, AttachRequest};

/// How often a tag is written if others write it at the same time.
const WRITES: usize = 20;

/// Who signs, and how.
#[derive(Clone, Copy, Debug)]
pub struct Signing<'a> {
    pub key: &'a PrivateKey,
    /// The forms that are written.
    pub forms: Forms,
}

/// In which forms a signature is written.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Forms {
    /// As a Sigstore bundle in a referrer of the index, as cosign 3 writes it.
    #[default]
    Bundle,
    /// Under the tag `sha256-HEX.sig`, as cosign 2 wrote it: for registries that take no referrers, and old verifiers.
    CosignTag,
    Both,
}

/// Whether the signed checksum file of a folder goes with the release.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum SumsMode {
    /// It goes with the release if it has a signature beside it.
    #[default]
    Attach,
    /// It does not go with the release.
    Skip,
}

impl Forms {
    /// Whether this form is among them.
    pub fn has(self, form: SignatureForm) -> bool {
        match form {
            SignatureForm::Bundle => self != Self::CosignTag,
            SignatureForm::CosignTag => self != Self::Bundle,
            SignatureForm::Sums | SignatureForm::Notice | SignatureForm::File => false,
        }
    }
}
