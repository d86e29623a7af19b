//! The verdict on a release: its words, which the judge says and the pins remember.

mod examined;
mod flaw;
mod platforms;
mod refusal;
mod signed_statement;

use std::collections::BTreeSet;

use serde::Serialize;
use tofu_oci_types::{Digest, Level, PackageHash, Platform};

pub(crate) use examined::best;
pub use examined::{Examined, SignatureOutcome};
pub(crate) use flaw::Sought;
pub use flaw::{Flaw, Missing};
pub(crate) use platforms::{By, ListedArchive, Platforms};
pub use refusal::TrustRefusal;
pub use signed_statement::SignedStatement;
pub(crate) use signed_statement::add_statements;

use crate::{
    DemandedBuild, HostNumbers, Identity, KeyId, Material, Notice, ProvenIdentity, PublicKey, ReleaseState,
    SignatureForm,
};

/// Whether a release may be used, and who vouches for what of it.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Verdict {
    /// What the release rests on.
    pub standing: Standing,
    /// Why it must not be used; `None` if it may be.
    pub refusal: Option<TrustRefusal>,
    /// Whether a person can settle the refusal by accepting the release.
    pub by_hand: ManualAcceptance,
    /// The keys whose signatures count, each once, also if they are too few.
    pub signers: Vec<Signer>,
    /// Each signature that was looked at, in the order in which it was found.
    pub examined: Vec<Examined>,
    /// The manifests with a notice that counts.
    pub notices: BTreeSet<Digest>,
    /// What people should know.
    pub remarks: Vec<TrustRemark>,
    /// Who has still to sign; `None` if it is not refused, or no signature would change that.
    pub still_to_sign: Option<StillToSign>,
    /// What is vouched for.
    pub covered: Covered,
    /// How many keys had to sign.
    pub(crate) threshold: usize,
    /// What each of them had to say.
    pub(crate) predicate_types: Vec<String>,
    /// How it had to be built.
    pub(crate) build: Option<DemandedBuild>,
    /// Whose signatures count.
    pub(crate) sought: Sought,
    /// What is said of single archives.
    pub(crate) platforms: Platforms,
    /// What becomes of an archive that is not covered.
    pub(crate) otherwise: Option<TrustRefusal>,
    /// What people should know of an archive that is not covered and is used all the same.
    pub(crate) uncovered: Option<TrustRemark>,
}

/// Whose signatures a refused release lacks.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct StillToSign {
    /// How many signatures are still needed.
    pub count: usize,
    /// What the rule calls each one whose signature would count as one: a key may have several names, and several
    /// repositories one owner.
    pub parties: Vec<Vec<String>>,
}

/// Whether a person can accept a refused release by hand.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum ManualAcceptance {
    Settles,
    /// A person cannot: a rule of the policy demands a signature all the same, or a signature is wrong.
    #[default]
    DoesNot,
}

/// What a release rests on.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Standing {
    /// Enough keys have signed it, or some of its archives: see [`Covered`].
    Signed,
    /// The signatures are not there now, and were when this index was trusted before.
    Pinned,
    /// Nothing.
    Unsigned,
}

/// What is vouched for by signatures.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Covered {
    /// The index itself: `ch:` of its leaves, and every checksum that it is annotated with.
    pub index: bool,
    /// `zh:` of the archives that are vouched for one by one.
    pub zips: BTreeSet<PackageHash>,
}

/// A key whose signature counts.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct Signer {
    /// What the policy calls the key, or called it.
    pub name: String,
    pub key: KeyId,
    /// The key itself; `None` for `OpenPGP`.
    #[serde(skip)]
    pub public_key: Option<PublicKey>,
    /// The material of an `OpenPGP` key; empty if another form of the key is here.
    #[serde(skip)]
    pub materials: BTreeSet<Material>,
    /// The identity, if it is one and not a key.
    #[serde(skip)]
    pub identity: Option<Identity>,
    /// The numbers of the repositories that it signed for, and of their owners.
    #[serde(skip)]
    pub numbers: HostNumbers,
    /// How it has signed.
    pub forms: BTreeSet<SignatureForm>,
    /// What it has signed.
    #[serde(rename = "zips")]
    pub covers: Covers,
    /// What its signatures said, sorted.
    #[serde(skip)]
    pub statements: Vec<SignedStatement>,
}

/// What a signature covers.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(untagged)]
pub enum Covers {
    /// The index, and so everything in it.
    Index,
    Zips(BTreeSet<PackageHash>),
}

/// Something that people should know.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct TrustRemark {
    /// How much it matters.
    pub level: Level,
    /// A stable kebab-case name.
    pub code: &'static str,
    /// One sentence, lower case, no full stop.
    pub text: String,
}

impl TrustRemark {
    pub(crate) fn note(code: &'static str, text: String) -> Self {
        Self { level: Level::Note, code, text }
    }

    /// What a notice says that is not judged: of a release whose signatures do not matter. `None` if the release is available.
    pub fn noticed(notice: &Notice) -> Option<Self> {
        Self::said_by(&notice.writer.to_string(), notice)
    }

    /// What a notice says; `by` is who says it.
    pub(crate) fn said_by(by: &str, notice: &Notice) -> Option<Self> {
        let reason = &notice.reason;
        match notice.state {
            ReleaseState::Available => None,
            ReleaseState::Deprecated => Some(Self::warning("deprecated", format!("{by} has deprecated it: {reason}"))),
            ReleaseState::Withdrawn => Some(Self::warning("withdrawn", format!("{by} has withdrawn it: {reason}"))),
        }
    }

    pub(crate) fn warning(code: &'static str, text: String) -> Self {
        Self { level: Level::Warning, code, text }
    }
}

impl Verdict {
    /// Who built the release, by a signature that counts; `None` if the release is refused.
    pub fn builder<'a>(&self, examined: &'a Examined) -> Option<&'a ProvenIdentity> {
        examined.identity.as_deref().filter(|_| self.refusal.is_none() && examined.outcome.counts())
    }

    /// What best explains why the signatures that were found do not count; `None` if there are none.
    pub fn best_flaw(&self) -> Option<TrustRefusal> {
        best(&self.examined, self.sought)
    }

    /// Why the package of a platform must not be used: `zip` is the checksum of its archive as read, or `None` for a
    /// package that is not an archive. If only a `SHA256SUMS` vouches, one platform can be signed and another not.
    pub fn refusal_for(&self, platform: &Platform, zip: Option<&PackageHash>) -> Option<&TrustRefusal> {
        if self.refusal.is_some() || self.covers(platform, zip) {
            return self.refusal.as_ref();
        }
        zip.and_then(|zip| self.platforms.refusal(platform, zip)).or(self.otherwise.as_ref())
    }

    /// What people should know of the package of a platform that may be used although no signature covers it, if
    /// signatures cover others of the release. What holds for the whole release is in `remarks`.
    pub fn remark_for(&self, platform: &Platform, zip: Option<&PackageHash>) -> Option<&TrustRemark> {
        let used = self.standing != Standing::Unsigned && self.refusal_for(platform, zip).is_none();
        self.uncovered.as_ref().filter(|_| used && !self.covers(platform, zip))
    }

    /// Whether signatures vouch for the package of a platform. An archive that is listed for another platform, or beside
    /// another one for this platform, is not vouched for.
    pub fn covers(&self, platform: &Platform, zip: Option<&PackageHash>) -> bool {
        self.covered.index || zip.is_some_and(|zip| self.platforms.covers(platform, zip))
    }
}
