//! Certificates as a file holds them, and what their signatures prove.

use std::collections::{BTreeMap, BTreeSet};

use pgp::packet::{Packet, PublicKey, PublicSubkey, Signature, SignatureType};
use pgp::ser::Serialize as _;
use pgp::types::{Fingerprint, KeyDetails as _, Tag};

use super::algorithms::weak_digest;
use super::armor::{self, ArmorBlock, Unframed};
use super::fault::OpenPgpError;
use super::issuer::{IssuerMatch, names, names_any};
use super::key::{CertifiedUser, OpenPgpKey, Subkey};
use super::self_signature::{Bindings, Revocation, SelfSignature};
use super::work::{KEYS_LIMIT, VerifyBudget};

/// A certificate as the file holds it, with nothing verified.
struct RawCertificate {
    primary: PublicKey,
    signatures: Vec<Signature>,
    users: Vec<(pgp::packet::UserId, Vec<Signature>)>,
    subkeys: Vec<(PublicSubkey, Vec<Signature>)>,
    /// Where each user id and each subkey is, by its bytes: a copy is the same one.
    known: BTreeMap<Vec<u8>, CertificatePart>,
    /// The signatures that are there, with what they belong to.
    signed: BTreeSet<(CertificatePart, Vec<u8>)>,
    /// What the next signature belongs to.
    place: CertificatePart,
}

#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum CertificatePart {
    Primary,
    User(usize),
    Subkey(usize),
    /// Something that is skipped, with its signatures.
    Skipped,
}

impl OpenPgpKey {
    /// The certificates in a file of at most [`KEYS_LIMIT`] bytes, armored or binary, one after the other.
    ///
    /// Subkeys of unknown kinds, photographs and signatures by others are skipped. Everything that is no part of a
    /// certificate is an error, and so is a secret key. Copies of one certificate are one, with all that any of them
    /// holds.
    pub fn parse(bytes: &[u8]) -> Result<Vec<Self>, OpenPgpError> {
        Ok(raw(bytes)?.into_iter().map(RawCertificate::verified).collect())
    }

    /// The certificates in a file by a stranger, until the work for strangers is used up.
    pub(crate) fn parse_within(bytes: &[u8], work: &mut VerifyBudget) -> Vec<Self> {
        if !work.read(bytes.len()) {
            return Vec::new();
        }
        let certificates = raw(bytes).unwrap_or_default();
        certificates
            .into_iter()
            .filter(|raw| work.certificate(raw.signed.len()))
            .map(RawCertificate::verified)
            .collect()
    }
}

/// The certificates in a file as it holds them, each once.
fn raw(bytes: &[u8]) -> Result<Vec<RawCertificate>, OpenPgpError> {
    if bytes.len() > KEYS_LIMIT {
        return Err(OpenPgpError::TooLarge { bytes: bytes.len(), limit: KEYS_LIMIT });
    }
    let bytes = armor::bytes(bytes, ArmorBlock::Keys).map_err(|error| match error {
        Unframed::Secret => OpenPgpError::Secret,
        Unframed::Malformed(problem) => OpenPgpError::Malformed { problem },
    })?;
    let mut keys: Vec<RawCertificate> = Vec::new();
    let mut places = BTreeMap::new();
    let mut current = 0;
    for packet in armor::packets(&bytes) {
        let (tag, packet) = packet.map_err(|fault| OpenPgpError::Malformed { problem: fault.to_string() })?;
        match (tag, packet) {
            (Tag::SecretKey | Tag::SecretSubkey, _) => return Err(OpenPgpError::Secret),
            (Tag::PublicKey, Ok(Packet::PublicKey(primary))) => {
                current = *places.entry(primary.fingerprint().as_bytes().to_vec()).or_insert(keys.len());
                match keys.get_mut(current) {
                    Some(raw) => raw.place = CertificatePart::Primary,
                    None => keys.push(RawCertificate::new(primary)?),
                }
            }
            // The library's own words are for programmers, and may hold a backtrace.
            (Tag::PublicKey, _) => {
                let problem = "its primary key cannot be read: another version or algorithm, or no key".to_owned();
                return Err(OpenPgpError::Unsupported { problem });
            }
            (Tag::Marker | Tag::Padding | Tag::Trust, _) => {}
            (tag, packet) => {
                // Bytes that are not a key often look like some packet.
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

impl RawCertificate {
    fn new(primary: PublicKey) -> Result<Self, OpenPgpError> {
        if !matches!(primary.fingerprint(), Fingerprint::V4(_) | Fingerprint::V6(_)) {
            let problem = format!("a key of version {}", u8::from(primary.version()));
            return Err(OpenPgpError::Unsupported { problem });
        }
        let (known, signed) = (BTreeMap::new(), BTreeSet::new());
        Ok(Self {
            primary,
            signatures: vec![],
            users: vec![],
            subkeys: vec![],
            known,
            signed,
            place: CertificatePart::Primary,
        })
    }

    /// Takes the next packet; `None` if it cannot be read.
    fn take(&mut self, tag: Tag, packet: Option<Packet>) -> Result<(), OpenPgpError> {
        match (tag, packet) {
            (_, Some(Packet::UserId(user))) => {
                let place = CertificatePart::User(self.users.len());
                if self.go_to(b'u', user.id(), place) == place {
                    self.users.push((user, vec![]));
                }
            }
            (_, Some(Packet::PublicSubkey(subkey))) => {
                let place = CertificatePart::Subkey(self.subkeys.len());
                if self.go_to(b's', subkey.fingerprint().as_bytes(), place) == place {
                    self.subkeys.push((subkey, vec![]));
                }
            }
            (_, Some(Packet::Signature(signature))) => self.sign(signature),
            // It cannot be read, so it proves nothing.
            (Tag::Signature, _) => {}
            (Tag::PublicSubkey | Tag::UserAttribute | Tag::UnassignedNonCritical(_) | Tag::Experimental(_), _) => {
                self.place = CertificatePart::Skipped;
            }
            (tag, _) => return Err(misplaced(tag)),
        }
        Ok(())
    }

    /// Goes to the place of this part, or to `place` if it is new.
    fn go_to(&mut self, kind: u8, bytes: &[u8], place: CertificatePart) -> CertificatePart {
        let name = [&[kind], bytes].concat();
        self.place = *self.known.entry(name).or_insert(place);
        self.place
    }

    fn sign(&mut self, signature: Signature) {
        let signatures = match self.place {
            CertificatePart::Primary => Some(&mut self.signatures),
            CertificatePart::User(nth) => self.users.get_mut(nth).map(|(_, signatures)| signatures),
            CertificatePart::Subkey(nth) => self.subkeys.get_mut(nth).map(|(_, signatures)| signatures),
            CertificatePart::Skipped => None,
        };
        // Of signatures by others nothing is believed, except that a revocation may be one.
        let revokes = matches!(signature.typ(), Some(SignatureType::KeyRevocation | SignatureType::SubkeyRevocation));
        let counts = revokes || names(&signature, &self.primary) != IssuerMatch::Another;
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
        let users: Vec<_> = self
            .users
            .iter()
            .filter_map(|(user, signatures)| CertifiedUser::verified(&primary, user, signatures))
            .collect();
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
            // The certificate of an appointed revoker is not available, so a revocation that names it is believed, to be safe.
            .filter(|signature| signature.verify_key(&primary).is_ok() || names_any(signature, &appointed))
            .filter_map(Revocation::read)
            .collect();
        OpenPgpKey { primary, direct, users, subkeys, revocations }
    }
}

impl CertifiedUser {
    /// The user id with the signatures that verified; `None` if the primary key never signed it.
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

fn misplaced(tag: Tag) -> OpenPgpError {
    OpenPgpError::Malformed { problem: format!("it has a packet that is not part of a key ({tag:?})") }
}
