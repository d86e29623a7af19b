//! Keys that sign `SHA256SUMS`.

use std::sync::Arc;

use pgp::composed::{ArmorOptions, DetachedSignature, KeyType, SecretKeyParamsBuilder, SignedSecretKey};
use pgp::crypto::hash::HashAlgorithm;
use pgp::packet::{Subpacket, SubpacketData};
use pgp::ser::Serialize as _;
use pgp::types::{Duration, KeyDetails as _, Password, Tag, Timestamp};
use rand::SeedableRng as _;
use rand::rngs::StdRng;

/// 2024-01-01 00:00 UTC.
const MADE: u32 = 1_704_067_200;

/// An `OpenPGP` key (Ed25519, version 4) that was made in 2024 and never expires. It protects nothing.
#[derive(Clone, Debug)]
pub struct ScratchOpenPgpKey(Arc<SignedSecretKey>);

impl ScratchOpenPgpKey {
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

    /// The same key, which expired on the day after it was made.
    pub fn expired(number: u8) -> Self {
        let mut key = (*Self::of(number).0).clone();
        let user = key.details.users.first_mut().expect("a fixture's key has a user");
        let mut config = user.signatures[0].config().expect("a signature of our own is of a known kind").clone();
        let expiry = SubpacketData::KeyExpirationTime(Duration::from_secs(24 * 60 * 60));
        config.hashed_subpackets.push(Subpacket::regular(expiry).expect("a subpacket of fixed size"));
        let public = key.primary_key.public_key();
        let signed = config.sign_certification(&key.primary_key, public, &Password::empty(), Tag::UserId, &user.id);
        user.signatures = vec![signed.expect("a key of our own can sign")];
        Self(Arc::new(key))
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
        let (key, other) = (ScratchOpenPgpKey::of(1), ScratchOpenPgpKey::of(2));
        assert_eq!((key.id().len(), key.id()), (16, ScratchOpenPgpKey::of(1).id()));
        assert_ne!(key.id(), other.id());
        let signature = DetachedSignature::from_bytes(key.sign(b"sums").as_slice()).unwrap();
        let public = |key: &ScratchOpenPgpKey| SignedPublicKey::from_string(&key.armored()).unwrap().0;
        assert!(signature.verify(&public(&key), b"sums").is_ok());
        assert!(signature.verify(&public(&key), b"other").is_err());
        assert!(signature.verify(&public(&other), b"sums").is_err());
    }

    #[test]
    fn an_expired_key_says_so_and_has_the_same_id() {
        let expired = ScratchOpenPgpKey::expired(1);
        let read = SignedPublicKey::from_string(&expired.armored()).unwrap().0;
        read.verify_bindings().unwrap();
        let expiry = read.details.users[0].signatures[0].key_expiration_time();
        assert_eq!((expired.id(), expiry), (ScratchOpenPgpKey::of(1).id(), Some(Duration::from_secs(86_400))));
    }
}
