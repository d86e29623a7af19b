//! cosign's `.sig` form: a payload, and its signature in an annotation of the layer that holds it.

use crate::fault::{Peek, SignatureFault, Signed};
use crate::keys::PublicKey;
use crate::signer::PrivateKey;
use crate::statement::SignedSubject;

/// The two halves of a signature in cosign's `.sig` form.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CosignTagSignature {
    /// The layer's content.
    pub payload: Vec<u8>,
    /// The value of the layer's annotation [`SIGNATURE_ANNOTATION`](crate::SIGNATURE_ANNOTATION), in base64.
    pub signature: String,
}

/// What the payload says, when one of `keys` signed it.
pub fn open_cosign_tag(
    _payload: &[u8],
    _signature_base64: &str,
    _keys: &[PublicKey],
) -> Result<Signed, SignatureFault> {
    Err(SignatureFault::Keyless)
}

/// What the payload claims, unverified.
pub fn peek_cosign_tag(_payload: &[u8]) -> Result<Peek, SignatureFault> {
    Err(SignatureFault::Keyless)
}

/// Payload and signature that say that `subject` is signed by `key`: the same bytes for the same arguments.
/// `docker_reference` is the repository that the payload names (`HOST/PATH`), for readers that compare it.
pub fn sign_cosign_tag(_key: &PrivateKey, _subject: &SignedSubject<'_>, _docker_reference: &str) -> CosignTagSignature {
    CosignTagSignature { payload: Vec::new(), signature: String::new() }
}
