//! What a primary key says about itself, its names and its subkeys.

use std::time::{Duration, SystemTime, UNIX_EPOCH};

use pgp::packet::{PublicKey, PublicSubkey, RevocationCode, Signature, SubpacketData};
use pgp::types::Timestamp;

use super::algorithms::{not_understood, weak_digest};
use super::fault::Reason;

/// A self-signature or a binding.
#[derive(Clone, Debug)]
pub(super) struct SelfSignature {
    pub(super) created: SystemTime,
    /// How long the signature itself lasts.
    pub(super) validity: Validity,
    /// How long the key lasts, from when the key was made.
    pub(super) key_validity: Validity,
    pub(super) purpose: KeyPurpose,
    pub(super) rank: Rank,
    /// The name of its digest, if that can be forged.
    pub(super) weak: Option<String>,
    /// The fingerprints of those who may revoke the key.
    revokers: Vec<Vec<u8>>,
}

/// How long something lasts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Validity {
    Always,
    For(Duration),
    /// The signature does not say.
    Unsaid,
}

/// What a key is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum KeyPurpose {
    Signing,
    Other,
    /// The signature does not say.
    Unsaid,
}

/// The rank of a user id among others; the greatest speaks for the key.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Rank {
    Ordinary,
    /// Marked as the first.
    Primary,
}

/// A revocation.
#[derive(Clone, Copy, Debug)]
pub(super) struct Revocation {
    pub(super) when: SystemTime,
    pub(super) reason: Reason,
}

/// The signatures that bind a subkey.
#[derive(Clone, Debug)]
pub(super) struct Bindings(pub(super) Vec<Binding>);

/// A signature that binds a subkey, with what the subkey signed in return.
#[derive(Clone, Debug)]
pub(super) struct Binding {
    pub(super) signature: SelfSignature,
    pub(super) back: Back,
}

/// What a subkey says about its primary key.
#[derive(Clone, Debug)]
pub(super) enum Back {
    /// Nothing.
    Missing,
    /// Something that does not verify.
    Bad,
    /// That it belongs to it; if the digest is good.
    Good(SelfSignature),
}

impl SelfSignature {
    /// What a signature says; `None` if it has no date or demands what is not understood.
    pub(super) fn read(signature: &Signature) -> Option<Self> {
        let config = signature.config()?;
        if not_understood(signature).is_some() {
            return None;
        }
        let flags = config.hashed_subpackets().find_map(|subpacket| match &subpacket.data {
            SubpacketData::KeyFlags(flags) => Some(flags),
            _ => None,
        });
        let revokers = config.hashed_subpackets().filter_map(|subpacket| match &subpacket.data {
            SubpacketData::RevocationKey(revoker) => Some(revoker.fingerprint.to_vec()),
            _ => None,
        });
        Some(Self {
            created: moment(signature.created()?),
            validity: Validity::of(signature.signature_expiration_time()),
            key_validity: Validity::of(signature.key_expiration_time()),
            purpose: match flags {
                Some(flags) if flags.sign() => KeyPurpose::Signing,
                Some(_) => KeyPurpose::Other,
                None => KeyPurpose::Unsaid,
            },
            rank: if signature.is_primary() { Rank::Primary } else { Rank::Ordinary },
            weak: weak_digest(signature),
            revokers: revokers.collect(),
        })
    }

    pub(super) fn revokers(&self) -> impl Iterator<Item = &[u8]> {
        self.revokers.iter().map(Vec::as_slice)
    }
}

impl Validity {
    /// Zero is for ever.
    ///
    /// Spec: RFC 9580, sections 5.2.3.13 and 5.2.3.18.
    pub(super) fn of(duration: Option<pgp::types::Duration>) -> Self {
        match duration.map(pgp::types::Duration::as_secs) {
            None => Self::Unsaid,
            Some(0) => Self::Always,
            Some(seconds) => Self::For(Duration::from_secs(seconds.into())),
        }
    }

    /// What is said here, or else there.
    pub(super) fn or(self, other: Self) -> Self {
        if self == Self::Unsaid { other } else { self }
    }

    /// When it ends, if it does.
    pub(super) fn end(self, begin: SystemTime) -> Option<SystemTime> {
        match self {
            Self::Always | Self::Unsaid => None,
            Self::For(duration) => begin.checked_add(duration),
        }
    }
}

impl KeyPurpose {
    /// What is said here, or else there.
    pub(super) fn or(self, other: Self) -> Self {
        if self == Self::Unsaid { other } else { self }
    }
}

impl Revocation {
    /// What a revocation says. One that demands what is not understood counts all the same.
    pub(super) fn read(signature: &Signature) -> Option<Self> {
        let reason = match signature.revocation_reason_code() {
            Some(RevocationCode::KeySuperseded) => Reason::Superseded,
            Some(RevocationCode::KeyCompromised) => Reason::Compromised,
            Some(RevocationCode::KeyRetired) => Reason::Retired,
            Some(RevocationCode::CertUserIdInvalid) => Reason::UserIdInvalid,
            _ => Reason::Unknown,
        };
        Some(Self { when: moment(signature.created()?), reason })
    }
}

impl Bindings {
    /// What the signatures say that bind a subkey; each has verified, or has a digest that can be forged.
    pub(super) fn read(primary: &PublicKey, subkey: &PublicSubkey, signatures: &[&Signature]) -> Self {
        let fits = |back: &Signature| back.verify_primary_key_binding(subkey, primary).is_ok();
        let binding = |signature: &&Signature| {
            let back = match signature.embedded_signature() {
                None => Back::Missing,
                Some(back) if weak_digest(back).is_some() || fits(back) => {
                    SelfSignature::read(back).map_or(Back::Bad, Back::Good)
                }
                Some(_) => Back::Bad,
            };
            Some(Binding { signature: SelfSignature::read(signature)?, back })
        };
        Self(signatures.iter().filter_map(binding).collect())
    }
}

/// A moment on the clock.
pub(super) fn moment(timestamp: Timestamp) -> SystemTime {
    UNIX_EPOCH + Duration::from_secs(timestamp.as_secs().into())
}
