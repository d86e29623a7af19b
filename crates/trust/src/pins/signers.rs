//! Who has signed, and what.

use std::collections::BTreeSet;

use serde::Serialize;
use tofu_oci_types::{PackageHash, ProviderAddr};

use crate::verdict::add_statements;
use crate::{
    Archives, DemandedBuild, HostNumbers, Identity, KeyId, Material, PublicKey, ReleaseFacts, SignedStatement, Signer,
    Verdict,
};

/// A signer of a pinned release.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct PinnedSigner {
    /// What the key was called.
    pub name: String,
    pub key: KeyId,
    /// The key itself; an `OpenPGP` key is remembered by its fingerprint alone.
    #[serde(skip)]
    pub public_key: Option<PublicKey>,
    /// The material of an `OpenPGP` key; empty for another key, and if an earlier program wrote the pin.
    #[serde(skip)]
    pub materials: BTreeSet<Material>,
    /// The identity, if it is one and not a key.
    #[serde(skip)]
    pub identity: Option<Identity>,
    /// What was signed with it, sorted; at least one statement.
    #[serde(skip)]
    pub statements: Vec<SignedStatement>,
}

impl PinnedSigner {
    /// The signer with what it has signed of what is offered, or `None` if that is nothing: a list of other archives
    /// vouches for no package of this release.
    pub(super) fn of(signer: &Signer, facts: &ReleaseFacts<'_>, verdict: &Verdict) -> Option<Self> {
        let is_offered = |zip: &PackageHash| match facts.archives {
            Archives::Unknown | Archives::Annotated(_) => true,
            Archives::Read { zips, .. } => {
                zips.iter().any(|(platform, offered)| offered == zip && verdict.covers(platform, Some(zip)))
            }
        };
        let mut statements = signer.statements.clone();
        for zips in statements.iter_mut().filter_map(|statement| statement.zips.as_mut()) {
            zips.retain(is_offered);
        }
        statements.retain(|statement| statement.zips.as_ref().is_none_or(|zips| !zips.is_empty()));
        let (name, key) = (signer.name.clone(), signer.key.clone());
        let (public_key, materials) = (signer.public_key.clone(), signer.materials.clone());
        let identity = signer.identity.clone();
        (!statements.is_empty()).then_some(Self { name, key, public_key, materials, identity, statements })
    }

    /// Whether the index was signed, and not archives only.
    pub(super) fn signed_the_index(&self) -> bool {
        self.statements.iter().any(|statement| statement.zips.is_none())
    }
}

/// A provider that was signed. It only grows, also if pins of its versions are removed.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct SignedProvider {
    pub address: ProviderAddr,
    /// The highest threshold that a release of it has reached.
    pub threshold: usize,
    /// What its signers had to say, by the rules that accepted its releases.
    pub predicate_types: BTreeSet<String>,
    /// How they had to be built, by the last rule that demanded a build.
    pub build: Option<DemandedBuild>,
    /// Whose signatures counted, sorted by key.
    pub signers: Vec<ProviderSigner>,
}

/// A signer of a provider's releases.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct ProviderSigner {
    /// What the key was called.
    pub name: String,
    pub key: KeyId,
    /// The key itself; an `OpenPGP` key is remembered by its fingerprint alone.
    pub public_key: Option<PublicKey>,
    /// The material of an `OpenPGP` key; empty for another key, and if an earlier program wrote the pin.
    pub materials: BTreeSet<Material>,
    /// The identity, if it is one and not a key.
    pub identity: Option<Identity>,
    /// The numbers of the repositories that an identity signed for, and of their owners.
    pub numbers: HostNumbers,
}

/// Adds a signer, or what it has signed besides.
pub(super) fn add_signer(signers: &mut Vec<PinnedSigner>, signer: &PinnedSigner) {
    match signers.iter_mut().find(|have| have.key == signer.key) {
        Some(have) => {
            add_statements(&mut have.statements, &signer.statements);
            have.materials.extend(signer.materials.iter().cloned());
        }
        None => signers.push(signer.clone()),
    }
}

/// Adds what is known of a provider, and returns whether any of it is new.
pub(super) fn add_provider(providers: &mut Vec<SignedProvider>, other: &SignedProvider) -> bool {
    let at = match providers.binary_search_by(|have| have.address.cmp(&other.address)) {
        Ok(at) => at,
        Err(at) => {
            providers.insert(at, other.clone());
            return true;
        }
    };
    let Some(have) = providers.get_mut(at) else { return false };
    let before = have.clone();
    have.threshold = have.threshold.max(other.threshold);
    have.predicate_types.extend(other.predicate_types.iter().cloned());
    have.build = other.build.clone().or_else(|| have.build.take());
    for signer in &other.signers {
        match have.signers.iter_mut().find(|known| known.key == signer.key) {
            Some(known) => {
                known.materials.extend(signer.materials.iter().cloned());
                known.numbers.learn(&signer.numbers);
            }
            None => have.signers.push(signer.clone()),
        }
    }
    have.signers.sort_by(|one, other| one.key.cmp(&other.key));
    *have != before
}

impl SignedProvider {
    /// What a verdict that found enough signatures shows: these signers, of what is offered.
    pub(super) fn of(address: &ProviderAddr, verdict: &Verdict, signers: &[PinnedSigner]) -> Self {
        let mut signed = Self::of_signers(address, signers);
        for signer in &mut signed.signers {
            let found = verdict.signers.iter().find(|found| found.key == signer.key);
            signer.numbers = found.map(|found| found.numbers.clone()).unwrap_or_default();
        }
        signed.signers.sort_by(|one, other| one.key.cmp(&other.key));
        signed.threshold = verdict.threshold;
        signed.predicate_types = verdict.predicate_types.iter().cloned().collect();
        signed.build.clone_from(&verdict.build);
        signed
    }

    /// The little that the pin of one version shows.
    pub(super) fn of_signers(address: &ProviderAddr, signers: &[PinnedSigner]) -> Self {
        let signer = |signer: &PinnedSigner| ProviderSigner {
            name: signer.name.clone(),
            key: signer.key.clone(),
            public_key: signer.public_key.clone(),
            materials: signer.materials.clone(),
            identity: signer.identity.clone(),
            numbers: HostNumbers::default(),
        };
        let signers = signers.iter().map(signer).collect();
        Self { address: address.clone(), threshold: 1, predicate_types: BTreeSet::new(), build: None, signers }
    }
}

impl ProviderSigner {
    /// The key, with what is known of its material.
    pub(super) fn key_with_materials(&self) -> (KeyId, BTreeSet<Material>) {
        let mut materials = self.materials.clone();
        materials.extend(self.public_key.as_ref().map(PublicKey::numbers));
        materials.extend(self.identity.iter().flat_map(Identity::party));
        (self.key.clone(), materials)
    }
}
