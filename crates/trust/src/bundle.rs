//! Sigstore bundles v0.3 by a key.

use crate::fault::{Peek, SignatureFault, Signed};
use crate::keys::PublicKey;
use crate::signer::PrivateKey;
use crate::statement::SignedSubject;

/// What the bundle says, when one of `keys` signed it.
pub fn open_bundle(_bytes: &[u8], _keys: &[PublicKey]) -> Result<Signed, SignatureFault> {
    Err(SignatureFault::Keyless)
}

/// What the bundle claims, unverified.
pub fn peek_bundle(_bytes: &[u8]) -> Result<Peek, SignatureFault> {
    Err(SignatureFault::Keyless)
}

/// A bundle that says that `subject` is signed by `key`: the same bytes for the same arguments.
pub fn sign_bundle(_key: &PrivateKey, _subject: &SignedSubject<'_>) -> Vec<u8> {
    Vec::new()
}
