//! Private keys that make signatures.

use std::fmt;

use crate::keys::{KeyError, PublicKey};

/// A private key. Its memory is wiped when it is dropped, and nothing shows it.
pub struct PrivateKey {
    public: PublicKey,
}

impl PrivateKey {
    /// The key in a PEM file: PKCS#8, SEC1, PKCS#1, or cosign's encrypted form, which needs `password`.
    pub fn from_pem(_pem: &[u8], _password: Option<&[u8]>) -> Result<Self, KeyError> {
        Err(KeyError::Malformed { problem: "not yet".to_owned() })
    }

    /// Whether the key in this PEM file is encrypted.
    pub fn needs_password(_pem: &[u8]) -> bool {
        false
    }

    /// Its public half.
    pub fn public(&self) -> &PublicKey {
        &self.public
    }
}

impl fmt::Debug for PrivateKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "PrivateKey({:?} {}, secret masked)", self.public.kind(), self.public.id())
    }
}
