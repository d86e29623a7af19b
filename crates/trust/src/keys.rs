//! Public keys that signatures are verified with.

use std::fmt;

use crate::key_id::KeyId;

/// A public key: ECDSA over P-256 or P-384, Ed25519, or RSA of at least 2048 bits.
#[derive(Clone, PartialEq, Eq)]
pub struct PublicKey {
    kind: KeyKind,
    spki: Vec<u8>,
    id: KeyId,
}

/// The algorithm of a key.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum KeyKind {
    /// ECDSA over NIST P-256.
    EcdsaP256,
    /// ECDSA over NIST P-384.
    EcdsaP384,
    /// Ed25519.
    Ed25519,
    /// RSA with a modulus of so many bits.
    Rsa {
        /// The length of the modulus.
        bits: u32,
    },
}

/// A key that cannot be used.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum KeyError {
    /// It is not what it should be.
    #[error("the key is malformed: {problem}")]
    Malformed {
        /// What is wrong; never a part of a private key.
        problem: String,
    },
    /// A private key was given where a public one belongs.
    #[error("this is a private key; what verifies signatures is its public key")]
    Private,
    /// A public key was given where a private one belongs.
    #[error("this is a public key; what signs is a private key")]
    Public,
    /// A key of an algorithm or curve that is not supported.
    #[error("{algorithm} is not supported; use ECDSA P-256 or P-384, Ed25519, or RSA of 2048 bits or more")]
    Unsupported {
        /// Its name, or its object identifier.
        algorithm: String,
    },
    /// An RSA key that is too short.
    #[error("the RSA key has {bits} bits; at least 2048 are needed")]
    WeakRsa {
        /// The length of its modulus.
        bits: u32,
    },
    /// The private key is encrypted and no password was given.
    #[error("the private key is encrypted, and no password was given")]
    PasswordNeeded,
    /// The private key is encrypted with another password.
    #[error("the password of the private key is wrong")]
    WrongPassword,
}

impl PublicKey {
    /// The key in a PEM file: `PUBLIC KEY` or `RSA PUBLIC KEY`.
    pub fn from_pem(_pem: &[u8]) -> Result<Self, KeyError> {
        Err(KeyError::Malformed { problem: "not yet".to_owned() })
    }

    /// The key in a `SubjectPublicKeyInfo` in DER.
    pub fn from_spki_der(_der: &[u8]) -> Result<Self, KeyError> {
        Err(KeyError::Malformed { problem: "not yet".to_owned() })
    }

    /// The `SubjectPublicKeyInfo` in DER.
    pub fn spki_der(&self) -> &[u8] {
        &self.spki
    }

    /// The key as a PEM file.
    pub fn to_pem(&self) -> String {
        String::new()
    }

    /// Its identity.
    pub fn id(&self) -> KeyId {
        self.id.clone()
    }

    /// Its algorithm.
    pub fn kind(&self) -> KeyKind {
        self.kind
    }
}

impl fmt::Debug for PublicKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "PublicKey({:?} {})", self.kind, self.id)
    }
}
