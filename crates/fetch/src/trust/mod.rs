//! Who vouches for a release, asked once, before a package is downloaded; what becomes of a release that names another
//! address than the one it is asked for.
//!
//! ```text
//! Policy, Pins  --wants_evidence?-->  no: the tag is compared with its pin, without a request
//!                                     yes: Release, Evidence (where it usually is, then everywhere)
//!       --judge-->  Verdict  --refused-->  FetchError::Untrusted
//!                            --signed-->   the checksums that the signature covers, for all platforms
//! at the end: the pins, then the lock file
//! ```

mod check;
mod judged;
mod known;
mod module;
mod pinned_release;
mod trust_checker;
mod with_evidence;

use std::fmt::Display;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::SystemTime;

use serde::Serialize;
use tofu_oci_source::Release;
use tofu_oci_trust::{Covers, KeyId, Pins, Policy, Signer, Standing, Verdict};
use tofu_oci_types::{Event, PackageHash, Platform, ProviderAddr};

pub use check::real_zips;
pub use judged::SignatureStanding;
pub use known::OfflineScope;
pub use module::{ModuleStanding, judge_module, module_says_another};
pub use trust_checker::{Judgement, TrustChecker};
pub use with_evidence::{Conclusion, ReleaseWithEvidence, judged};

/// What is trusted, and what was trusted before.
#[derive(Clone, Debug)]
pub struct Trust {
    pub policy: Arc<Policy>,
    /// What was trusted before.
    pub pins: Pins,
    /// The file of the pins, beside the lock file. It is written with the lock file.
    pub pins_path: PathBuf,
    /// The time that expiry is compared with.
    pub now: SystemTime,
    /// What becomes of releases that name another address than the one they are asked for.
    pub renamed: RenamedReleases,
}

/// What becomes of a release that names another provider than the one it is asked for.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum RenamedReleases {
    /// It is refused: rights, rules and marks go by the address.
    #[default]
    Refuse,
    /// It is refused if the policy or the pins decide otherwise about the provider that it names
    /// ([`Policy::decides_alike`]). If not, it is used with a note.
    ByPolicy,
    /// It is used with a note: a person wants it under another address.
    Accept,
}

impl Trust {
    /// The provider that a release names, if it counts as one with the provider that was asked for and the policy or
    /// the pins decide otherwise about it. A refusal of one is a refusal of the other, too.
    pub fn judged_as_well<'r>(&self, release: &'r dyn Release) -> Option<&'r ProviderAddr> {
        let asked = &release.id().address;
        let said = release.published_as().filter(|_| self.renamed != RenamedReleases::Accept)?;
        let is_one = said != asked && self.policy.predecessors().same_provider(said, asked);
        (is_one && !self.policy.decides_alike(&self.pins, asked, said)).then_some(said)
    }
}

/// The note for a release or module that names another address; `text` names both.
pub fn other_address_note<A: Display>(text: String, asked: &A, said: &A) -> Event {
    // A mirror has its own hosts and namespaces: the type of a provider, or name and system of a module, stay.
    let kept = |address: &A| address.to_string().splitn(3, '/').nth(2).map(str::to_owned);
    let otherwise = if kept(asked) == kept(said) { "right for a mirror; otherwise " } else { "" };
    Event::note("other-address", text).with_hint(format!("{otherwise}check the address and the place"))
}

/// Who vouches for a package.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct VouchedBy {
    /// What the package rests on.
    pub standing: Standing,
    /// Whose signatures count, or counted when the index was pinned; sorted by name.
    pub signers: Vec<SignedBy>,
}

/// Whose signature it is.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
pub struct SignedBy {
    /// What the policy calls the key.
    pub name: String,
    /// The key.
    pub key: KeyId,
}

impl VouchedBy {
    /// Who vouches for the package with this archive; `zip` is `None` for another form of package. The signers in
    /// `pinned` have signed the index before.
    pub(super) fn of(verdict: &Verdict, pinned: &[SignedBy], platform: &Platform, zip: Option<&PackageHash>) -> Self {
        let standing = if verdict.covers(platform, zip) { verdict.standing } else { Standing::Unsigned };
        let has_signed = |signer: &&Signer| match &signer.covers {
            Covers::Index => true,
            Covers::Zips(zips) => zip.is_some_and(|zip| zips.contains(zip)),
        };
        let name = |signer: &Signer| SignedBy { name: signer.name.clone(), key: signer.key.clone() };
        let mut signers: Vec<SignedBy> = match standing {
            Standing::Signed => verdict.signers.iter().filter(has_signed).map(name).collect(),
            Standing::Pinned => pinned.to_vec(),
            Standing::Unsigned => Vec::new(),
        };
        signers.sort();
        signers.dedup();
        Self { standing, signers }
    }
}
