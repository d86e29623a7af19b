//! The outcome of each signature.

use std::collections::BTreeSet;
use std::fmt;

use serde::{Serialize, Serializer};
use tofu_oci_fault::Fault;
use tofu_oci_types::{Digest, PackageHash};

use super::flaw::{Flaw, Missing, Sought};
use super::refusal::TrustRefusal;
use crate::{KeyId, ProvenIdentity, SignatureForm};

/// One signature that was looked at. Its texts are as the signer wrote them: the caller cleans them before showing them.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct Examined {
    /// How it was written down; `None` if that could not be read.
    pub form: Option<SignatureForm>,
    /// The manifest that it was found in.
    pub origin: Digest,
    /// The key that made it, if that is certain.
    pub key: Option<KeyId>,
    /// What the policy or the pins call that key.
    pub key_name: Option<String>,
    /// What the signature says about its key.
    pub claimed_key: Option<String>,
    /// Who is proven to have made it with a certificate.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub identity: Option<Box<ProvenIdentity>>,
    /// The provider that it names.
    pub address: Option<String>,
    /// The version that it names.
    pub version: Option<String>,
    /// What its signer says besides.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub note: Option<String>,
    /// What it says about its subject.
    pub predicate_type: Option<String>,
    /// The archives of this release that a signed `SHA256SUMS` lists.
    pub zips: BTreeSet<PackageHash>,
    #[serde(serialize_with = "code_and_text")]
    pub outcome: SignatureOutcome,
}

fn code_and_text<S: Serializer>(outcome: &SignatureOutcome, serializer: S) -> Result<S::Ok, S::Error> {
    #[derive(Serialize)]
    struct CodeAndText {
        code: &'static str,
        text: String,
    }
    CodeAndText { code: outcome.code(), text: outcome.to_string() }.serialize(serializer)
}

impl Examined {
    pub(crate) fn new(form: Option<SignatureForm>, origin: &Digest, flaw: Flaw) -> Self {
        Self {
            form,
            origin: origin.clone(),
            key: None,
            key_name: None,
            claimed_key: None,
            identity: None,
            address: None,
            version: None,
            note: None,
            predicate_type: None,
            zips: BTreeSet::new(),
            outcome: flaw.into(),
        }
    }

    /// The refusal of the release for a flaw of this signature.
    pub(crate) fn refusal(&self, flaw: &Flaw) -> TrustRefusal {
        let key = || self.key.as_ref().map(ToString::to_string);
        let by = self.key_name.clone().or_else(key).unwrap_or_else(|| "an unknown key".to_owned());
        TrustRefusal::Signature { by, flaw: flaw.clone() }
    }
}

/// The flaw that best explains why signatures do not count; `None` if no signature was found. `sought` is who may sign.
pub(crate) fn best(examined: &[Examined], sought: Sought) -> Option<TrustRefusal> {
    let flaws = examined.iter().filter_map(|found| {
        let flaw = found.outcome.flaw()?;
        Some((flaw.rank(found.key.is_some(), sought)?, found, flaw))
    });
    flaws.min_by_key(|(rank, ..)| *rank).map(|(_, found, flaw)| found.refusal(flaw))
}

/// What became of a signature. `Display` is one sentence without its subject, lower case, no full stop.
#[derive(Clone, Debug, PartialEq, Eq, Fault)]
#[non_exhaustive]
pub enum SignatureOutcome {
    /// `verify` only: the signature counts
    #[fault("counts", todo = "nothing")]
    Counts,
    /// `verify` only: the signature counts although it names no provider or version
    #[fault("counts-unnamed", todo = "the publisher signs with both names")]
    CountsUnnamed { missing: Missing },
    /// `verify` only: the signature counts although its key has expired since
    #[fault("counts-expired", todo = "renew the key in `trust.toml`")]
    CountsExpired { what: String },
    #[fault(of = _0)]
    DoesNotCount(Flaw),
}

impl SignatureOutcome {
    /// Whether it vouches for the release.
    pub fn counts(&self) -> bool {
        self.flaw().is_none()
    }

    /// Why it does not count; `None` if it does.
    pub fn flaw(&self) -> Option<&Flaw> {
        if let Self::DoesNotCount(flaw) = self { Some(flaw) } else { None }
    }
}

impl fmt::Display for SignatureOutcome {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Counts => f.write_str("counts"),
            Self::CountsUnnamed { missing } => write!(f, "counts, although it does not name {missing}"),
            Self::CountsExpired { what } => write!(f, "counts, although {what}"),
            Self::DoesNotCount(flaw) => flaw.fmt(f),
        }
    }
}

impl From<Flaw> for SignatureOutcome {
    fn from(flaw: Flaw) -> Self {
        Self::DoesNotCount(flaw)
    }
}
