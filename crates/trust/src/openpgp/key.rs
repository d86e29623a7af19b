//! Certificates.

use std::collections::{BTreeMap, BTreeSet};

use pgp::packet::{PublicKey, PublicSubkey};
use pgp::ser::Serialize as _;
use pgp::types::{EcdsaPublicParams, EddsaLegacyPublicParams, Fingerprint, KeyDetails as _, PublicParams};

use super::fault::Reason;
use super::issuer::upper_hex;
use super::self_signature::{Bindings, KeyPurpose, Revocation, SelfSignature};
use crate::key_id::KeyId;
use crate::material::Material;

/// An `OpenPGP` certificate: a primary key, its subkeys and what it says about them.
///
/// What is kept of it are the signatures that verified, and those with a digest that can be forged, of which nothing
/// is believed; whether they make the key usable at some moment is asked when it is used.
///
/// Spec: RFC 9580, section 10.1 (version 4 and 6).
#[derive(Clone, Debug)]
pub struct OpenPgpKey {
    pub(super) primary: PublicKey,
    /// What the primary key says of itself, without a name.
    pub(super) direct: Vec<SelfSignature>,
    pub(super) users: Vec<CertifiedUser>,
    pub(super) subkeys: Vec<Subkey>,
    pub(super) revocations: Vec<Revocation>,
}

/// A user id.
#[derive(Clone, Debug)]
pub(super) struct CertifiedUser {
    pub(super) name: String,
    pub(super) signatures: Vec<SelfSignature>,
    pub(super) revocations: Vec<Revocation>,
}

/// A subkey.
#[derive(Clone, Debug)]
pub(super) struct Subkey {
    pub(super) key: PublicSubkey,
    pub(super) bindings: Bindings,
    pub(super) revocations: Vec<Revocation>,
}

impl OpenPgpKey {
    /// Each certificate once, with all that any copy of it holds.
    pub(crate) fn merged(keys: impl IntoIterator<Item = Self>) -> Vec<Self> {
        let mut merged: Vec<Self> = Vec::new();
        let mut places = BTreeMap::new();
        for key in keys {
            let place = *places.entry(key.id()).or_insert(merged.len());
            match merged.get_mut(place) {
                Some(first) => first.take(key),
                None => merged.push(key),
            }
        }
        merged
    }

    fn take(&mut self, copy: Self) {
        self.direct.extend(copy.direct);
        self.revocations.extend(copy.revocations);
        for user in copy.users {
            match self.users.iter_mut().find(|known| known.name == user.name) {
                Some(known) => {
                    known.signatures.extend(user.signatures);
                    known.revocations.extend(user.revocations);
                }
                None => self.users.push(user),
            }
        }
        for subkey in copy.subkeys {
            match self.subkeys.iter_mut().find(|known| known.key == subkey.key) {
                Some(known) => {
                    known.bindings.0.extend(subkey.bindings.0);
                    known.revocations.extend(subkey.revocations);
                }
                None => self.subkeys.push(subkey),
            }
        }
    }

    /// The numbers of its keys that can sign, those of the primary key always: the same under another date, and for the same
    /// key in PEM.
    pub(crate) fn materials(&self) -> BTreeSet<Material> {
        let subkeys = self.signing_subkeys().map(|subkey| subkey.key.public_params());
        std::iter::once(self.primary.public_params()).chain(subkeys).filter_map(numbers).collect()
    }

    /// The materials that may not sign any more, each with why: of all its keys if the primary key was revoked for a
    /// grave reason, else of the subkeys that were.
    pub(crate) fn compromised(&self) -> Vec<(Material, String)> {
        let grave = |revocations: &[Revocation]| {
            let grave = |found: &&Revocation| matches!(found.reason, Reason::Unknown | Reason::Compromised);
            revocations.iter().find(grave).map(|found| found.reason)
        };
        let text = |reason| format!("the same key was revoked in the certificate {}: {reason}", self.id());
        if let Some(reason) = grave(&self.revocations) {
            return self.materials().into_iter().map(|material| (material, text(reason))).collect();
        }
        let subkey = |subkey: &Subkey| Some((numbers(subkey.key.public_params())?, text(grave(&subkey.revocations)?)));
        self.subkeys.iter().filter_map(subkey).collect()
    }

    /// The material of its key with this fingerprint, in capitals.
    pub(crate) fn material_of(&self, fingerprint: &str) -> Option<Material> {
        let is_this = |found: Fingerprint| upper_hex(found.as_bytes()) == fingerprint;
        if is_this(self.primary.fingerprint()) {
            return numbers(self.primary.public_params());
        }
        let subkey = self.subkeys.iter().find(|subkey| is_this(subkey.key.fingerprint()))?;
        numbers(subkey.key.public_params())
    }

    /// The fingerprint of its primary key.
    pub fn id(&self) -> KeyId {
        KeyId::of_openpgp(self.primary.fingerprint().as_bytes())
    }

    /// Its subkeys that can sign, now or once.
    fn signing_subkeys(&self) -> impl Iterator<Item = &Subkey> {
        let signs =
            |subkey: &&Subkey| subkey.bindings.0.iter().any(|bound| bound.signature.purpose != KeyPurpose::Other);
        self.subkeys.iter().filter(signs)
    }

    /// Why its primary key, or a subkey that can sign, was revoked, each time.
    pub(crate) fn revoked(&self) -> impl Iterator<Item = Reason> {
        let subkeys = self.signing_subkeys().flat_map(|subkey| &subkey.revocations);
        self.revocations.iter().chain(subkeys).map(|revocation| revocation.reason)
    }

    /// The names that the primary key signed, in the order of the file; revoked ones too.
    pub fn user_ids(&self) -> Vec<String> {
        let signed = |user: &&CertifiedUser| user.signatures.iter().any(|signature| signature.weak.is_none());
        self.users.iter().filter(signed).map(|user| user.name.clone()).collect()
    }
}

/// The numbers of a key, or `None` if its algorithm cannot sign.
///
/// Spec: RFC 9580, section 5.5.5.
fn numbers(parameters: &PublicParams) -> Option<Material> {
    let bytes = parameters.to_bytes().ok()?;
    let last = |name, length: usize| Some(Material::of(name, bytes.get(bytes.len().checked_sub(length)?..)?));
    match parameters {
        // The modulus is the first number, after its length in bits.
        PublicParams::RSA(_) => {
            let (bits, rest) = bytes.split_first_chunk()?;
            Some(Material::rsa(rest.get(..usize::from(u16::from_be_bytes(*bits)).div_ceil(8))?))
        }
        // The name of the curve comes before the point.
        PublicParams::ECDSA(EcdsaPublicParams::P256 { .. }) => last("p256", 65),
        PublicParams::ECDSA(EcdsaPublicParams::P384 { .. }) => last("p384", 97),
        PublicParams::EdDSALegacy(EddsaLegacyPublicParams::Ed25519 { .. }) | PublicParams::Ed25519(_) => {
            last("ed25519", 32)
        }
        PublicParams::ECDH(_) | PublicParams::X25519(_) | PublicParams::X448(_) | PublicParams::Elgamal(_) => None,
        _ => Some(Material::of("openpgp", &bytes)),
    }
}
