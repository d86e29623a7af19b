//! Whether a signature over some bytes was made by a key.

use ring::signature::{
    ECDSA_P256_SHA256_ASN1, ECDSA_P384_SHA256_ASN1, ECDSA_P384_SHA384_ASN1, ED25519, RSA_PKCS1_2048_8192_SHA256,
    RSA_PSS_2048_8192_SHA256, UnparsedPublicKey, VerificationAlgorithm,
};

use crate::fault::SignatureFault;
use crate::key_id::KeyId;
use crate::keys::{KeyKind, PublicKey};

/// The key that made `signature` over `message`. Every key is tried, the hinted one first, because a hint is not signed:
/// it only decides which of the two faults is reported.
pub(crate) fn signer(
    keys: &[PublicKey],
    hint: Option<&str>,
    message: &[u8],
    signature: &[u8],
) -> Result<KeyId, SignatureFault> {
    let hinted = hint.and_then(|hint| keys.iter().find(|key| key.id().hint().as_deref() == Some(hint)));
    let others = keys.iter().filter(|key| hinted != Some(key));
    if let Some(key) = hinted.into_iter().chain(others).find(|key| key.verifies(message, signature)) {
        return Ok(key.id());
    }
    match hinted {
        Some(key) => Err(SignatureFault::BadSignature { key: key.id() }),
        None => Err(SignatureFault::UnknownKey { hint: hint.map(str::to_owned) }),
    }
}

impl PublicKey {
    /// Whether this key's owner made `signature` over `message`.
    ///
    /// Each kind of key has the schemes that cosign 3 writes or reads: ECDSA in ASN.1, P-256 with SHA-256, P-384 with
    /// SHA-256 (what `cosign verify` asks for by default) or SHA-384 (what `cosign sign` writes); Ed25519 pure or
    /// pre-hashed (what `cosign sign` writes); RSA with SHA-256, PKCS#1 v1.5 or PSS.
    pub(crate) fn verifies(&self, message: &[u8], signature: &[u8]) -> bool {
        let with = |algorithm: &'static dyn VerificationAlgorithm| {
            UnparsedPublicKey::new(algorithm, self.material()).verify(message, signature).is_ok()
        };
        match self.kind() {
            KeyKind::EcdsaP256 => with(&ECDSA_P256_SHA256_ASN1),
            KeyKind::EcdsaP384 => with(&ECDSA_P384_SHA256_ASN1) || with(&ECDSA_P384_SHA384_ASN1),
            KeyKind::Ed25519 => with(&ED25519) || self.verifies_prehashed(message, signature),
            KeyKind::Rsa { .. } => with(&RSA_PKCS1_2048_8192_SHA256) || with(&RSA_PSS_2048_8192_SHA256),
        }
    }

    /// Ed25519ph with an empty context, which ring does not have.
    ///
    /// Spec: RFC 8032, section 5.1.
    fn verifies_prehashed(&self, message: &[u8], signature: &[u8]) -> bool {
        use ed25519_dalek::{Digest as _, Sha512, Signature, VerifyingKey};

        let key = self.material().try_into().ok().and_then(|bytes| VerifyingKey::from_bytes(bytes).ok());
        let signature = Signature::from_slice(signature).ok();
        let hash = Sha512::new_with_prefix(message);
        key.zip(signature).is_some_and(|(key, signature)| key.verify_prehashed_strict(hash, None, &signature).is_ok())
    }
}
