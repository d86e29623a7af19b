//! Certificates.

use std::collections::{BTreeMap, BTreeSet};

use pgp::packet::{Packet, PublicKey, PublicSubkey, Signature, SignatureType};
use pgp::ser::Serialize as _;
use pgp::types::{
    EcdsaPublicParams, EddsaLegacyPublicParams, Fingerprint, KeyDetails, KeyId as ShortId, PublicParams, Tag,
};

use super::KEYS_LIMIT;
use super::algorithms::weak_digest;
use super::armor::{self, Block, Unframed};
use super::fault::OpenPgpError;
use super::self_signature::{Bindings, Purpose, Revocation, SelfSignature};
use super::work::Work;
use crate::{KeyId, Material};

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
    pub(super) users: Vec<User>,
    pub(super) subkeys: Vec<Subkey>,
    pub(super) revocations: Vec<Revocation>,
}

/// A user id.
#[derive(Clone, Debug)]
pub(super) struct User {
    name: String,
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

/// A certificate as it stands in the file, with nothing verified.
struct Raw {
    primary: PublicKey,
    signatures: Vec<Signature>,
    users: Vec<(pgp::packet::UserId, Vec<Signature>)>,
    subkeys: Vec<(PublicSubkey, Vec<Signature>)>,
    /// Where each user id and each subkey is, by its bytes: a copy is the same one.
    known: BTreeMap<Vec<u8>, Place>,
    /// The signatures that are there, with what they belong to.
    signed: BTreeSet<(Place, Vec<u8>)>,
    /// What the next signature belongs to.
    place: Place,
}

#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Place {
    Primary,
    User(usize),
    Subkey(usize),
    /// Something that is skipped, with its signatures.
    Skipped,
}

impl OpenPgpKey {
    /// The certificates in a file of at most [`KEYS_LIMIT`] bytes, armored or binary, one behind the other.
    ///
    /// Subkeys of unknown kinds, photographs and signatures by others are skipped. Everything that is no part of a
    /// certificate is an error, and so is a secret key. Copies of one certificate are one, with all that any of them
    /// holds.
    pub fn parse(bytes: &[u8]) -> Result<Vec<Self>, OpenPgpError> {
        Ok(raw(bytes)?.into_iter().map(Raw::verified).collect())
    }

    /// The certificates in a file by a stranger, as far as there is work left for them.
    pub(crate) fn parse_within(bytes: &[u8], work: &mut Work) -> Vec<Self> {
        if !work.read(bytes.len()) {
            return Vec::new();
        }
        let certificates = raw(bytes).unwrap_or_default();
        certificates.into_iter().filter(|raw| work.certificate(raw.signed.len())).map(Raw::verified).collect()
    }

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
            let grave =
                |found: &&Revocation| matches!(found.reason, crate::Reason::Unknown | crate::Reason::Compromised);
            revocations.iter().find(grave).map(|found| found.reason)
        };
        let told = |reason| format!("the same key was revoked in the certificate {}: {reason}", self.id());
        if let Some(reason) = grave(&self.revocations) {
            return self.materials().into_iter().map(|material| (material, told(reason))).collect();
        }
        let subkey = |subkey: &Subkey| Some((numbers(subkey.key.public_params())?, told(grave(&subkey.revocations)?)));
        self.subkeys.iter().filter_map(subkey).collect()
    }

    /// The material of its key with this fingerprint, in capitals.
    pub(crate) fn material_of(&self, fingerprint: &str) -> Option<Material> {
        let is_this = |found: Fingerprint| super::upper_hex(found.as_bytes()) == fingerprint;
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
        let signs = |subkey: &&Subkey| subkey.bindings.0.iter().any(|bound| bound.signature.purpose != Purpose::Other);
        self.subkeys.iter().filter(signs)
    }

    /// Why its primary key, or a subkey that can sign, was revoked, each time.
    pub(crate) fn revoked(&self) -> impl Iterator<Item = crate::Reason> {
        let subkeys = self.signing_subkeys().flat_map(|subkey| &subkey.revocations);
        self.revocations.iter().chain(subkeys).map(|revocation| revocation.reason)
    }

    /// The names that the primary key signed, in the order of the file; revoked ones too.
    pub fn user_ids(&self) -> Vec<String> {
        let signed = |user: &&User| user.signatures.iter().any(|signature| signature.weak.is_none());
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
        // The name of the curve stands before the point.
        PublicParams::ECDSA(EcdsaPublicParams::P256 { .. }) => last("p256", 65),
        PublicParams::ECDSA(EcdsaPublicParams::P384 { .. }) => last("p384", 97),
        PublicParams::EdDSALegacy(EddsaLegacyPublicParams::Ed25519 { .. }) | PublicParams::Ed25519(_) => {
            last("ed25519", 32)
        }
        PublicParams::ECDH(_) | PublicParams::X25519(_) | PublicParams::X448(_) | PublicParams::Elgamal(_) => None,
        _ => Some(Material::of("openpgp", &bytes)),
    }
}

/// The certificates in a file as they stand there, each once.
fn raw(bytes: &[u8]) -> Result<Vec<Raw>, OpenPgpError> {
    if bytes.len() > KEYS_LIMIT {
        return Err(OpenPgpError::TooLarge { bytes: bytes.len(), limit: KEYS_LIMIT });
    }
    let bytes = armor::bytes(bytes, Block::Keys).map_err(|error| match error {
        Unframed::Secret => OpenPgpError::Secret,
        Unframed::Malformed(problem) => OpenPgpError::Malformed { problem },
    })?;
    let mut keys: Vec<Raw> = Vec::new();
    let mut places = BTreeMap::new();
    let mut current = 0;
    for packet in armor::packets(&bytes) {
        let (tag, packet) = packet.map_err(|problem| OpenPgpError::Malformed { problem })?;
        match (tag, packet) {
            (Tag::SecretKey | Tag::SecretSubkey, _) => return Err(OpenPgpError::Secret),
            (Tag::PublicKey, Ok(Packet::PublicKey(primary))) => {
                current = *places.entry(primary.fingerprint().as_bytes().to_vec()).or_insert(keys.len());
                match keys.get_mut(current) {
                    Some(raw) => raw.place = Place::Primary,
                    None => keys.push(Raw::new(primary)?),
                }
            }
            // The library's own words are for programmers, and may hold a backtrace.
            (Tag::PublicKey, _) => {
                let problem = "its primary key cannot be read: another version or algorithm, or no key".to_owned();
                return Err(OpenPgpError::Unsupported { problem });
            }
            (Tag::Marker | Tag::Padding | Tag::Trust, _) => {}
            (tag, packet) => {
                // Bytes that are no key at all often look like some packet.
                let Some(raw) = keys.get_mut(current) else {
                    let problem = "it does not begin with a public key".to_owned();
                    return Err(OpenPgpError::Malformed { problem });
                };
                raw.take(tag, packet.ok())?;
            }
        }
    }
    if keys.is_empty() {
        return Err(OpenPgpError::Malformed { problem: "it holds no key".to_owned() });
    }
    Ok(keys)
}

impl Raw {
    fn new(primary: PublicKey) -> Result<Self, OpenPgpError> {
        if !matches!(primary.fingerprint(), Fingerprint::V4(_) | Fingerprint::V6(_)) {
            let problem = format!("a key of version {}", u8::from(primary.version()));
            return Err(OpenPgpError::Unsupported { problem });
        }
        let (known, signed) = (BTreeMap::new(), BTreeSet::new());
        Ok(Self { primary, signatures: vec![], users: vec![], subkeys: vec![], known, signed, place: Place::Primary })
    }

    /// Takes the next packet; nothing stands for one that cannot be read.
    fn take(&mut self, tag: Tag, packet: Option<Packet>) -> Result<(), OpenPgpError> {
        match (tag, packet) {
            (_, Some(Packet::UserId(user))) => {
                let place = Place::User(self.users.len());
                if self.go_to(b'u', user.id(), place) == place {
                    self.users.push((user, vec![]));
                }
            }
            (_, Some(Packet::PublicSubkey(subkey))) => {
                let place = Place::Subkey(self.subkeys.len());
                if self.go_to(b's', subkey.fingerprint().as_bytes(), place) == place {
                    self.subkeys.push((subkey, vec![]));
                }
            }
            (_, Some(Packet::Signature(signature))) => self.sign(signature),
            // It cannot be read, so it proves nothing.
            (Tag::Signature, _) => {}
            (Tag::PublicSubkey | Tag::UserAttribute | Tag::UnassignedNonCritical(_) | Tag::Experimental(_), _) => {
                self.place = Place::Skipped;
            }
            (tag, _) => return Err(misplaced(tag)),
        }
        Ok(())
    }

    /// Goes to where this part is, or to `place`, where it will be.
    fn go_to(&mut self, kind: u8, bytes: &[u8], place: Place) -> Place {
        let name = [&[kind], bytes].concat();
        self.place = *self.known.entry(name).or_insert(place);
        self.place
    }

    fn sign(&mut self, signature: Signature) {
        let signatures = match self.place {
            Place::Primary => Some(&mut self.signatures),
            Place::User(nth) => self.users.get_mut(nth).map(|(_, signatures)| signatures),
            Place::Subkey(nth) => self.subkeys.get_mut(nth).map(|(_, signatures)| signatures),
            Place::Skipped => None,
        };
        // Of signatures by others nothing is believed, except that a revocation may be one.
        let revokes = matches!(signature.typ(), Some(SignatureType::KeyRevocation | SignatureType::SubkeyRevocation));
        let counts = revokes || names(&signature, &self.primary) != Named::Another;
        let new = |bytes: Vec<u8>| self.signed.insert((self.place, bytes));
        if let Some(signatures) = signatures.filter(|_| counts)
            && signature.to_bytes().is_ok_and(new)
        {
            signatures.push(signature);
        }
    }

    /// Keeps what the primary key's signatures prove.
    fn verified(self) -> OpenPgpKey {
        let primary = self.primary;
        let direct: Vec<_> = self
            .signatures
            .iter()
            .filter(|signature| signature.typ() == Some(SignatureType::Key))
            .filter(|signature| weak_digest(signature).is_some() || signature.verify_key(&primary).is_ok())
            .filter_map(SelfSignature::read)
            .collect();
        let users: Vec<_> =
            self.users.iter().filter_map(|(user, signatures)| User::verified(&primary, user, signatures)).collect();
        let appointed: Vec<&[u8]> = direct
            .iter()
            .chain(users.iter().flat_map(|user| &user.signatures))
            .flat_map(SelfSignature::revokers)
            .collect();
        let subkeys = self.subkeys.into_iter();
        let subkeys =
            subkeys.map(|(key, signatures)| Subkey::verified(&primary, key, &signatures, &appointed)).collect();
        let revocations = self
            .signatures
            .iter()
            .filter(|signature| signature.typ() == Some(SignatureType::KeyRevocation))
            // The certificate of an appointed revoker is not at hand; the safe side is to believe what bears its name.
            .filter(|signature| signature.verify_key(&primary).is_ok() || names_any(signature, &appointed))
            .filter_map(Revocation::read)
            .collect();
        OpenPgpKey { primary, direct, users, subkeys, revocations }
    }
}

impl User {
    /// The user id with the signatures that verified; none when the primary key never signed it.
    fn verified(primary: &PublicKey, user: &pgp::packet::UserId, signatures: &[Signature]) -> Option<Self> {
        let verifies = |signature: &&Signature| signature.verify_certification(primary, Tag::UserId, user).is_ok();
        let (revoking, certifying): (Vec<&Signature>, Vec<&Signature>) =
            signatures.iter().partition(|signature| signature.typ() == Some(SignatureType::CertRevocation));
        let revoking = revoking.into_iter().filter(verifies);
        let certifying = certifying.into_iter().filter(|signature| {
            signature.is_certification() && (weak_digest(signature).is_some() || verifies(signature))
        });
        let signatures: Vec<_> = certifying.filter_map(SelfSignature::read).collect();
        let revocations = revoking.filter_map(Revocation::read).collect();
        let name = String::from_utf8_lossy(user.id()).into_owned();
        (!signatures.is_empty()).then_some(Self { name, signatures, revocations })
    }
}

impl Subkey {
    fn verified(primary: &PublicKey, key: PublicSubkey, signatures: &[Signature], appointed: &[&[u8]]) -> Self {
        let verifies = |signature: &&Signature| signature.verify_subkey_binding(primary, &key).is_ok();
        let of = |kind| signatures.iter().filter(move |signature| signature.typ() == Some(kind));
        let bindings: Vec<_> = of(SignatureType::SubkeyBinding)
            .filter(|signature| weak_digest(signature).is_some() || verifies(signature))
            .collect();
        let revocations = of(SignatureType::SubkeyRevocation)
            .filter(|signature| verifies(signature) || names_any(signature, appointed))
            .filter_map(Revocation::read)
            .collect();
        let bindings = Bindings::read(primary, &key, &bindings);
        Self { key, bindings, revocations }
    }
}

/// Whether a signature names a key as its maker.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Named {
    /// This one.
    This,
    /// Another one.
    Another,
    /// None at all.
    Nobody,
}

/// Whether a signature names this key: every fingerprint and every short id in it must be the key's.
pub(super) fn names(signature: &Signature, key: &impl KeyDetails) -> Named {
    let (fingerprints, ids) = (signature.issuer_fingerprint(), signature.issuer_key_id());
    if fingerprints.is_empty() && ids.is_empty() {
        return Named::Nobody;
    }
    let (fingerprint, id) = (key.fingerprint(), key.legacy_key_id());
    let this = fingerprints.iter().all(|named| **named == fingerprint) && ids.iter().all(|named| **named == id);
    if this { Named::This } else { Named::Another }
}

/// Whether a signature names one of these fingerprints.
fn names_any(signature: &Signature, fingerprints: &[&[u8]]) -> bool {
    // The short id of version 4 is the end of the fingerprint.
    let short = |id: &&ShortId| fingerprints.iter().any(|fingerprint| fingerprint.ends_with(id.as_ref()));
    signature.issuer_fingerprint().iter().any(|named| fingerprints.contains(&named.as_bytes()))
        || signature.issuer_key_id().iter().any(short)
}

fn misplaced(tag: Tag) -> OpenPgpError {
    OpenPgpError::Malformed { problem: format!("it has a packet that is no part of a key ({tag:?})") }
}
