//! Whether a certificate supports a signature: bound, meant for signing, not revoked, not expired.
//!
//! The signatures have been verified before; this file compares dates and what the signatures say.

use std::time::{Duration, SystemTime};

use pgp::types::KeyDetails as _;

use super::algorithms::weak_key;
use super::fault::{KeyPart, OpenPgpFault, Reason, WeakPart};
use super::issuer::upper_hex;
use super::key::{CertifiedUser, OpenPgpKey, Subkey};
use super::self_signature::{Back, Binding, KeyPurpose, Revocation, SelfSignature, Validity, moment};
use super::standing::{Expired, KeyStanding};

/// How far the clocks of two machines may differ.
const SKEW: Duration = Duration::from_mins(5);

/// When a signature was made, and when it is looked at.
#[derive(Clone, Copy, Debug)]
pub(super) struct Times {
    pub(super) signed: SystemTime,
    pub(super) now: SystemTime,
}

impl Times {
    /// Whether something dated so exists by now.
    fn exists(self, dated: SystemTime) -> bool {
        dated <= self.now + SKEW
    }
}

/// A key of a certificate.
#[derive(Clone, Copy, Debug)]
pub(super) enum Component<'a> {
    Primary,
    Subkey(&'a Subkey),
}

/// What the primary key says of itself.
struct PrimaryKeyInfo {
    purpose: KeyPurpose,
    key_validity: Validity,
    /// When what it says expires.
    end: Option<SystemTime>,
}

/// Judges one key of a certificate.
pub(super) struct Judge<'a> {
    pub(super) key: &'a OpenPgpKey,
    pub(super) component: Component<'a>,
    pub(super) times: Times,
}

/// The reserves under which a signature counts.
#[derive(Default)]
struct Reserves {
    expired: Option<(SystemTime, Expired)>,
    retired: Option<(SystemTime, KeyPart, Reason)>,
}

impl Judge<'_> {
    /// Whether the key could make a signature then, which itself lasts so long, and its state now.
    pub(super) fn standing(&self, signature_validity: Validity) -> Result<KeyStanding, OpenPgpFault> {
        let mut reserves = Reserves::default();
        self.strong()?;
        self.revoked(KeyPart::Primary, &self.key.revocations, &mut reserves)?;
        let own = self.own()?;
        let purpose = match self.component {
            Component::Primary => own.purpose,
            Component::Subkey(subkey) => self.subkey(subkey, &mut reserves)?,
        };
        if purpose != KeyPurpose::Signing {
            return Err(OpenPgpFault::NotForSigning { key: self.key.id(), part: self.part() });
        }
        let made = moment(self.key.primary.created_at());
        self.dated(KeyPart::Primary, made)?;
        if let Component::Subkey(subkey) = self.component {
            self.dated(self.part(), moment(subkey.key.created_at()))?;
        }
        self.expiry(Expired::Key(KeyPart::Primary), own.key_validity.end(made), &mut reserves)?;
        self.expiry(Expired::Binding(KeyPart::Primary), own.end, &mut reserves)?;
        self.expiry(Expired::Signature, signature_validity.end(self.times.signed), &mut reserves)?;
        Ok(reserves.standing())
    }

    fn part(&self) -> KeyPart {
        match self.component {
            Component::Primary => KeyPart::Primary,
            Component::Subkey(subkey) => {
                KeyPart::Subkey { fingerprint: upper_hex(subkey.key.fingerprint().as_bytes()) }
            }
        }
    }

    fn strong(&self) -> Result<(), OpenPgpFault> {
        let weak = |part, problem| OpenPgpFault::WeakKey { key: self.key.id(), part, problem };
        if let Some(problem) = weak_key(&self.key.primary) {
            return Err(weak(KeyPart::Primary, problem));
        }
        match self.component {
            Component::Primary => Ok(()),
            Component::Subkey(subkey) => {
                weak_key(&subkey.key).map_or(Ok(()), |problem| Err(weak(self.part(), problem)))
            }
        }
    }

    /// A revocation for a grave reason, or for none, counts for every signature; one of a key that was superseded or
    /// retired counts for the signatures dated since.
    ///
    /// Spec: RFC 9580, section 5.2.3.31.
    fn revoked(&self, part: KeyPart, revocations: &[Revocation], reserves: &mut Reserves) -> Result<(), OpenPgpFault> {
        for revocation in revocations {
            let Revocation { when, reason } = *revocation;
            if self.counts(*revocation) {
                return Err(OpenPgpFault::Revoked { key: self.key.id(), part, when, reason });
            }
            if reserves.retired.as_ref().is_none_or(|(earliest, ..)| when < *earliest) {
                reserves.retired = Some((when, part.clone(), reason));
            }
        }
        Ok(())
    }

    fn counts(&self, revocation: Revocation) -> bool {
        match revocation.reason {
            Reason::Unknown | Reason::Compromised => true,
            Reason::Superseded | Reason::Retired | Reason::UserIdInvalid => revocation.when <= self.times.signed,
        }
    }

    /// What the primary key says of itself: in version 6 directly; in version 4 with the user id that speaks for it,
    /// and directly if that says nothing or does not exist.
    ///
    /// Spec: RFC 9580, sections 5.2.3.10 and 10.1.
    fn own(&self) -> Result<PrimaryKeyInfo, OpenPgpFault> {
        let direct = self.newest(&self.key.direct);
        let version = self.key.primary.version();
        let user = match version {
            pgp::types::KeyVersion::V6 => None,
            _ => self.speaker()?,
        };
        let end = |signature: &SelfSignature| signature.validity.end(signature.created);
        match (user, direct) {
            (Some(user), direct) => Ok(PrimaryKeyInfo {
                purpose: user.purpose.or(direct.map_or(KeyPurpose::Unsaid, |direct| direct.purpose)),
                key_validity: user.key_validity.or(direct.map_or(Validity::Unsaid, |direct| direct.key_validity)),
                end: end(user),
            }),
            (None, Some(direct)) => {
                Ok(PrimaryKeyInfo { purpose: direct.purpose, key_validity: direct.key_validity, end: end(direct) })
            }
            (None, None) => Err(self.unsigned()),
        }
    }

    /// Why the primary key says nothing of itself that counts.
    fn unsigned(&self) -> OpenPgpFault {
        let mut all = self.key.direct.iter().chain(self.key.users.iter().flat_map(|user| &user.signatures));
        match all.find_map(|signature| signature.weak.clone()) {
            Some(algorithm) => OpenPgpFault::WeakDigest { algorithm, of: WeakPart::SelfSignature },
            None => OpenPgpFault::NotBound {
                key: self.key.id(),
                part: KeyPart::Primary,
                problem: "the key has not signed itself",
            },
        }
    }

    /// The newest signature with a good digest that exists by now.
    fn newest<'a>(&self, signatures: &'a [SelfSignature]) -> Option<&'a SelfSignature> {
        signatures
            .iter()
            .filter(|signature| signature.weak.is_none() && self.times.exists(signature.created))
            .max_by_key(|signature| signature.created)
    }

    /// The newest signature of the user id that speaks for the key; `None` if no user id has any.
    fn speaker(&self) -> Result<Option<&SelfSignature>, OpenPgpFault> {
        let mut revoked = None;
        let mut best: Option<&SelfSignature> = None;
        for user in &self.key.users {
            let Some(signature) = self.newest(&user.signatures) else { continue };
            if let Some(revocation) = self.revocation(user, signature) {
                revoked = Some(revocation);
            } else if best.is_none_or(|best| (best.rank, best.created) < (signature.rank, signature.created)) {
                best = Some(signature);
            }
        }
        match (best, revoked) {
            (None, Some(Revocation { when, reason })) => {
                Err(OpenPgpFault::Revoked { key: self.key.id(), part: KeyPart::UserId, when, reason })
            }
            (best, _) => Ok(best),
        }
    }

    /// The revocation of a user id that counts; one that is older than its newest signature does not.
    fn revocation(&self, user: &CertifiedUser, signature: &SelfSignature) -> Option<Revocation> {
        let counting = |revocation: &&Revocation| revocation.when >= signature.created && self.counts(**revocation);
        user.revocations.iter().find(counting).copied()
    }

    /// What a subkey is for, if it belongs to the certificate.
    fn subkey(&self, subkey: &Subkey, reserves: &mut Reserves) -> Result<KeyPurpose, OpenPgpFault> {
        self.revoked(self.part(), &subkey.revocations, reserves)?;
        let binding = self.binding(subkey)?;
        let purpose = binding.signature.purpose;
        let end = binding.signature.key_validity.end(moment(subkey.key.created_at()));
        if purpose == KeyPurpose::Signing {
            let back = self.back(binding)?;
            self.expiry(Expired::Binding(self.part()), back.validity.end(back.created), reserves)?;
        }
        self.expiry(Expired::Key(self.part()), end, reserves)?;
        let signature = &binding.signature;
        self.expiry(Expired::Binding(self.part()), signature.validity.end(signature.created), reserves)?;
        Ok(purpose)
    }

    fn binding<'a>(&self, subkey: &'a Subkey) -> Result<&'a Binding, OpenPgpFault> {
        let bindings = &subkey.bindings.0;
        let good =
            |binding: &&Binding| binding.signature.weak.is_none() && self.times.exists(binding.signature.created);
        let newest = bindings.iter().filter(good).max_by_key(|binding| binding.signature.created);
        newest.ok_or_else(|| match bindings.iter().find_map(|binding| binding.signature.weak.clone()) {
            Some(algorithm) => OpenPgpFault::WeakDigest { algorithm, of: WeakPart::Binding },
            None => self.not_bound("the primary key has not signed it"),
        })
    }

    /// What the subkey says of its primary key; without it, anybody could take the subkey of somebody else.
    ///
    /// Spec: RFC 9580, section 5.2.1.9 (type 0x19).
    fn back<'a>(&self, binding: &'a Binding) -> Result<&'a SelfSignature, OpenPgpFault> {
        match &binding.back {
            Back::Missing => Err(self.not_bound("it has not signed the primary key in return")),
            Back::Bad => Err(self.not_bound("its signature of the primary key does not fit")),
            Back::Good(back) => match &back.weak {
                Some(algorithm) => {
                    Err(OpenPgpFault::WeakDigest { algorithm: algorithm.clone(), of: WeakPart::BackSignature })
                }
                None => Ok(back),
            },
        }
    }

    fn not_bound(&self, problem: &'static str) -> OpenPgpFault {
        OpenPgpFault::NotBound { key: self.key.id(), part: self.part(), problem }
    }

    /// Refuses a signature from before the key was made, or from the future.
    fn dated(&self, part: KeyPart, made: SystemTime) -> Result<(), OpenPgpFault> {
        let Times { signed, .. } = self.times;
        let key = self.key.id();
        if signed < made {
            return Err(OpenPgpFault::BeforeKey { key, part, signed, made });
        }
        if !self.times.exists(signed) {
            return Err(OpenPgpFault::Future { key, signed });
        }
        Ok(())
    }

    /// Refuses a signature that was made when its key had expired, and notes what has expired since.
    fn expiry(&self, what: Expired, end: Option<SystemTime>, reserves: &mut Reserves) -> Result<(), OpenPgpFault> {
        let Some(end) = end else { return Ok(()) };
        let Times { signed, now } = self.times;
        if let Expired::Key(part) = &what
            && end <= signed
        {
            return Err(OpenPgpFault::AfterExpiry { key: self.key.id(), part: part.clone(), signed, expired: end });
        }
        if end <= now && reserves.expired.as_ref().is_none_or(|(earliest, _)| end < *earliest) {
            reserves.expired = Some((end, what));
        }
        Ok(())
    }
}

impl Reserves {
    /// What has expired comes before what is retired: a policy may refuse it.
    fn standing(self) -> KeyStanding {
        match (self.expired, self.retired) {
            (Some((when, what)), _) => KeyStanding::Expired { what, when },
            (None, Some((when, part, reason))) => KeyStanding::Retired { part, when, reason },
            (None, None) => KeyStanding::Good,
        }
    }
}
