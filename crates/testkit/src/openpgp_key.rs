//! Keys that sign `SHA256SUMS`.

use std::sync::Arc;

use pgp::composed::{ArmorOptions, DetachedSignature, KeyType, SecretKeyParamsBuilder, SignedSecretKey};
use pgp::crypto::hash::HashAlgorithm;
use pgp::ser::Serialize as _;
use pgp::types::{KeyDetails as _, Password, Timestamp};
use rand::SeedableRng as _;
use rand::rngs::StdRng;

/// 2024-01-01 00:00 UTC.
const MADE: u32 = 1_704_067_200;

/// An `OpenPGP` key (Ed25519, version 4) that was made in 2024 and never expires. It protects nothing.
#[derive(Clone, Debug)]
pub struct OpenPgpKey(Arc<SignedSecretKey>);

impl OpenPgpKey {
    /// The key of a number: it has the same fingerprint every time.
    pub fn of(number: u8) -> Self {
        let params = SecretKeyParamsBuilder::default()
            .key_type(KeyType::Ed25519Legacy)
            .can_sign(true)
            .can_certify(true)
            .created_at(Timestamp::from_secs(MADE))
            .primary_user_id(format!("Publisher {number} <{number}@example.test>"))
            .build()
            .expect("the parameters of a fixture are complete");
        Self(Arc::new(params.generate(StdRng::from_seed([number; 32])).expect("an Ed25519 key can be made")))
    }

    /// The public key in ASCII armor.
    pub fn armored(&self) -> String {
        let public = self.0.to_public_key();
        public.to_armored_string(ArmorOptions::default()).expect("a key of our own can be written")
    }

    /// The id: 16 hexadecimal digits in capitals, as registries write it.
    pub fn id(&self) -> String {
        self.0.primary_key.legacy_key_id().to_string().to_uppercase()
    }

    /// A binary detached signature over the bytes, made now.
    pub fn sign(&self, bytes: &[u8]) -> Vec<u8> {
        let rng = StdRng::from_seed([0; 32]);
        let (key, password) = (&self.0.primary_key, Password::empty());
        DetachedSignature::sign_binary_data(rng, key, &password, HashAlgorithm::Sha256, bytes)
            .and_then(|signature| signature.to_bytes())
            .expect("a key of our own can sign")
    }
}

#[cfg(test)]
mod tests {
    use pgp::composed::{Deserializable as _, SignedPublicKey};

    use super::*;

    #[test]
    fn the_public_key_verifies_what_was_signed() {
        let (key, other) = (OpenPgpKey::of(1), OpenPgpKey::of(2));
        assert_eq!((key.id().len(), key.id()), (16, OpenPgpKey::of(1).id()));
        assert_ne!(key.id(), other.id());
        let signature = DetachedSignature::from_bytes(key.sign(b"sums").as_slice()).unwrap();
        let public = |key: &OpenPgpKey| SignedPublicKey::from_string(&key.armored()).unwrap().0;
        assert!(signature.verify(&public(&key), b"sums").is_ok());
        assert!(signature.verify(&public(&key), b"other").is_err());
        assert!(signature.verify(&public(&other), b"sums").is_err());
    }
}
